"""The rating page in a real browser: heard, answered, tapped along to, saved, and taken into the folder."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from duplexkit.builders.cli import main
from duplexkit.builders.listen.page import drawn_ids
from tests.browser import (
    LAST_S,
    errors,
    files_asked,
    hear_the_end,
    needs_chromium,
    open_fresh,
    pixels,
    press,
    saved_by,
    wait_for,
)
from tests.conftest import build_tones, tone_recipe_text

pytestmark = [pytest.mark.slow, needs_chromium]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = tone_recipe_text("user_interruption", "mt_qa", "backchannel", count=1)
    return build_tones(tmp_path_factory.mktemp("listen"), text).folder


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "folder"))


@pytest.fixture
def ids(folder: Path, browser: Any) -> tuple[str, ...]:
    """The ids of the samples on the page, which is open."""
    assert main(["listen", str(folder), "--sample", "6"]) == 0
    files_asked(browser)
    open_fresh(browser, folder / "listen.html")
    return drawn_ids(folder, n=6, seed=1)


def text(browser: Any, id_: str) -> str:
    return str(browser.find_element("id", id_).text)


def go_to(browser: Any, at: int) -> None:
    while not text(browser, "count").startswith(f"sample {at + 1} of 6"):
        browser.find_element("id", "next").click()


def choose(browser: Any, question: str, answer: str) -> None:
    browser.find_element("css selector", f"input[name={question}][value='{answer}']").click()


def save(browser: Any, folder: Path) -> Path:
    return saved_by(browser, browser.find_element("id", "save").click, folder)


def audio(browser: Any, what: str) -> Any:
    return browser.execute_script(f"return document.getElementById('audio').{what}")


def hear_to_the_end(browser: Any) -> None:
    hear_the_end(browser, 0.6)
    wait_for(lambda: text(browser, "presses").endswith(", heard to the end"))


def test_marks_stand_where_the_row_says_and_the_cursor_moves_as_it_plays(
    ids: tuple[str, ...], folder: Path, browser: Any
) -> None:
    at = next(i for i, id_ in enumerate(ids) if id_.startswith("mt_qa/en"))
    go_to(browser, at)
    item = json.loads(browser.execute_script("return document.getElementById('data').textContent"))["items"][
        at
    ]
    speech, events = browser.find_elements("class name", "lane")
    for lane, spans in ((speech, item["turns"]), (events, item["events"])):
        shown = [span.rect for span in lane.find_elements("tag name", "span")]
        starts = [(span["x"] - lane.rect["x"]) / lane.rect["width"] for span in shown]
        assert starts == pytest.approx([s["onset_s"] / item["duration_s"] for s in spans], abs=0.003)
    coloured = (pixels(speech).max(axis=2).astype(int) - pixels(speech).min(axis=2) > 40).any(axis=0).mean()
    spoken = sum(turn["offset_s"] - turn["onset_s"] for turn in item["turns"]) / item["duration_s"]
    assert coloured == pytest.approx(
        spoken, abs=0.1
    )  # turns of two roles, each in its colour; they hardly overlap
    press(browser, "p")
    wait_for(lambda: audio(browser, "currentTime") > 0.7)
    cursor = speech.find_element("tag name", "i").rect["x"] - speech.rect["x"]
    assert cursor / speech.rect["width"] == pytest.approx(
        audio(browser, "currentTime") / item["duration_s"], abs=0.05
    )
    press(browser, "p")
    wait_for(lambda: audio(browser, "paused"))
    assert audio(browser, "duration") == pytest.approx(item["duration_s"], abs=0.01)
    assert all(url.startswith(("file:", "data:")) for url in files_asked(browser))
    assert errors(browser) == []


def test_every_place_near_the_end_can_be_heard(ids: tuple[str, ...], browser: Any) -> None:
    for from_end_s in LAST_S:
        hear_the_end(browser, from_end_s)


def test_answers_are_kept_saved_and_taken_in(
    ids: tuple[str, ...], folder: Path, browser: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "not human-validated" in (folder / "README.md").read_text("utf-8")
    browser.find_element("id", "save").click()
    assert text(browser, "said") == "Please give a name or pseudonym first."
    browser.find_element("id", "rater").send_keys("b n 4 ann")  # letters in the field are no commands
    assert text(browser, "count").startswith("sample 1 of 6, 0 answered")
    at = next(i for i, id_ in enumerate(ids) if id_.startswith("user_interruption/en"))
    go_to(browser, at)
    choose(browser, "naturalness", "2")
    choose(browser, "event", "yes")
    choose(browser, "times", "unsure")
    assert text(browser, "count") == f"sample {at + 1} of 6, 1 answered"
    browser.refresh()  # answers outlive the page
    assert text(browser, "count").endswith("1 answered")
    go_to(browser, at)
    press(browser, "4")
    assert browser.find_element("css selector", "input[value='4']").is_selected()
    file = save(browser, tmp_path / "saved")
    assert text(browser, "said") == "Saved; 5 samples are not answered yet."
    assert file.name == "answers-b_n_4_ann.json"

    capsys.readouterr()
    assert main(["listen", str(folder), "--answers", str(file)]) == 0
    said = capsys.readouterr().out
    assert "1 raters, 1 samples" in said and "times: unsure: 1" in said
    facts = json.loads((folder / "listening.json").read_text("utf-8"))
    assert facts["questions"]["naturalness"]["counts"] == {"4": 1}
    assert facts["questions"]["event"]["counts"] == {"yes": 1}
    assert "not human-validated" not in (folder / "README.md").read_text("utf-8")
    assert errors(browser) == []


def test_the_space_bar_says_mm_hm_and_becomes_q(
    ids: tuple[str, ...], folder: Path, browser: Any, tmp_path: Path
) -> None:
    at = next(i for i, id_ in enumerate(ids) if id_.startswith("backchannel/en"))
    browser.find_element("id", "rater").send_keys("ann")
    go_to(browser, at)
    press(browser, " ")  # nothing plays: no press
    assert text(browser, "presses") == "0 presses, not heard to the end yet"
    for question, answer in (("event", "no"), ("times", "yes"), ("naturalness", "3")):
        choose(browser, question, answer)  # the focus stands on an answer
    press(browser, "p")
    marks_s = []
    for wanted_s in (0.5, 1.3):
        wait_for(lambda wanted_s=wanted_s: audio(browser, "currentTime") > wanted_s)
        before_s = audio(browser, "currentTime")
        press(browser, " ")
        marks_s.append((before_s, audio(browser, "currentTime")))
    assert text(browser, "presses") == "2 presses, not heard to the end yet"
    assert not audio(browser, "paused"), "the bar marks, it does not pause"
    assert text(browser, "count").endswith("0 answered"), "it must be heard to the end"
    hear_to_the_end(browser)
    assert text(browser, "presses") == "2 presses, heard to the end"
    assert text(browser, "count").endswith("1 answered")

    file = save(browser, tmp_path / "saved")
    answers = json.loads(file.read_text("utf-8"))["answers"]
    assert list(answers) == [ids[at]] and answers[ids[at]]["naturalness"] == "3"
    presses_s = answers[ids[at]]["presses_s"]
    for press_s, (before_s, after_s) in zip(presses_s, marks_s, strict=True):
        assert before_s - 0.01 <= press_s <= after_s + 0.01
    assert main(["listen", str(folder), "--answers", str(file)]) == 0
    q = json.loads((folder / "listening.json").read_text("utf-8"))["backchannel_q"][ids[at]]
    assert q["n_listeners"] == 1
    assert [i for i, share in enumerate(q["q"]) if share] == sorted({int(s / 0.2) for s in presses_s})
    assert errors(browser) == []


def test_who_heard_all_and_pressed_nothing_is_a_listener_too(
    ids: tuple[str, ...], folder: Path, browser: Any, tmp_path: Path
) -> None:
    at = next(i for i, id_ in enumerate(ids) if id_.startswith("backchannel/ja"))
    browser.find_element("id", "rater").send_keys("ann")
    go_to(browser, at)
    press(browser, "p")
    wait_for(lambda: audio(browser, "currentTime") > 0.2)
    press(browser, " ")
    hear_to_the_end(browser)
    browser.find_element("xpath", "//button[text()='Start over']").click()
    assert text(browser, "presses") == "0 presses, not heard to the end yet"
    press(browser, "p")
    hear_to_the_end(browser)
    file = save(browser, tmp_path / "saved")
    assert main(["listen", str(folder), "--answers", str(file)]) == 0
    q = json.loads((folder / "listening.json").read_text("utf-8"))["backchannel_q"]
    assert list(q) == [ids[at]] and q[ids[at]]["n_listeners"] == 1 and not any(q[ids[at]]["q"])


def test_the_page_is_used_with_keys_alone(ids: tuple[str, ...], browser: Any) -> None:
    press(browser, "n", "n", "b")
    assert text(browser, "count").startswith("sample 2 of 6")
    press(browser, "5", "b", "b")
    assert text(browser, "count").startswith("sample 1 of 6")
    press(browser, "n")
    assert browser.find_element("css selector", "input[value='5']").is_selected()
    reached = set()
    for _ in range(60):  # tab comes to every control of the page
        press(browser, "\ue004")
        reached.add(
            browser.execute_script("const e = document.activeElement; return e.id || e.name || e.textContent")
        )
    assert {"rater", "back", "next", "save", "audio", "naturalness"} <= reached
    assert errors(browser) == []
