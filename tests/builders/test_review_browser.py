"""The review page in a real browser: seen, heard, decided on, saved, and what was saved decides on the rows."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duplexkit.builders.cli import main
from duplexkit.builders.review.decisions import REASONS, read_decisions
from duplexkit.builders.review.page import ReviewItem, review_page
from duplexkit.builders.write import read_rows
from tests.browser import (
    ARROW_DOWN,
    ARROW_UP,
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
from tests.builders.two_channels import recording, write

pytestmark = [pytest.mark.slow, needs_chromium]

SPANS = {
    0: [(1.0, 6.0), (20.0, 25.5), (40.0, 46.0)],
    1: [(6.25, 11.0), (25.8, 30.0), (46.3, 50.9)],
}
"""Three turns that the other one takes after 0.25 to 0.3 s."""


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    write(tmp_path / "calls" / "a.wav", recording(SPANS, 60.0))
    return tmp_path / "calls"


def annotate(calls: Path, *more: str | Path) -> int:
    return main(["annotate", str(calls), "--select", "smooth_turn_taking", *map(str, more)])


@pytest.fixture
def page(calls: Path, browser: Any) -> Path:
    """The page of three excerpts, open."""
    path = calls.parent / "review.html"
    assert annotate(calls, "--review", path) == 0
    files_asked(browser)
    open_fresh(browser, path)
    return path


def state(browser: Any) -> str:
    return str(browser.find_element("id", "state").text)


def sections(browser: Any) -> list[Any]:
    return list(browser.find_elements("tag name", "section"))


def playing(browser: Any) -> list[int]:
    """Which excerpts sound now."""
    return list(
        browser.execute_script(
            "return [...document.querySelectorAll('audio')].flatMap((a, i) => a.paused ? [] : [i])"
        )
    )


def cursor_share(section: Any) -> float:
    """How far the cursor is over the waveform: 0 at its start, 1 at its end."""
    wave = section.find_element("tag name", "svg").rect
    cursor = section.find_element("class name", "cursor").rect
    return float((cursor["x"] - wave["x"]) / wave["width"])


def save(browser: Any, folder: Path) -> Path:
    return saved_by(browser, browser.find_element("id", "save").click, folder)


def test_both_waveforms_are_drawn_where_somebody_speaks(page: Path, browser: Any) -> None:
    first = sections(browser)[0]
    user, system = first.find_elements("tag name", "svg")
    ink = [(pixels(wave).sum(axis=2) < 350).sum(axis=0) for wave in (user, system)]  # dark pixels per column
    for heights in ink:
        assert heights.max() > 30
    # the user speaks for the first 5 s of 10 s, the system from 5.25 s on
    share = np.linspace(0, 1, ink[0].size)
    assert ink[0][share < 0.48].mean() > 10 * ink[0][share > 0.52].mean()
    share = np.linspace(0, 1, ink[1].size)
    assert ink[1][(share > 0.55) & (share < 0.95)].mean() > 10 * ink[1][share < 0.48].mean()
    asked = files_asked(browser)
    assert asked and all(url.startswith(("file:", "data:")) for url in asked)
    assert errors(browser) == []


def test_play_moves_the_cursor_and_one_excerpt_sounds_at_a_time(page: Path, browser: Any) -> None:
    first, second, _ = sections(browser)
    press(browser, " ")
    wait_for(lambda: browser.execute_script("return document.querySelector('audio').currentTime") > 1.0)
    at_s, duration_s = browser.execute_script(
        "const a = document.querySelector('audio'); return [a.currentTime, a.duration]"
    )
    assert cursor_share(first) == pytest.approx(at_s / duration_s, abs=0.05)
    second.find_element("tag name", "svg").click()  # the middle of the waveform
    wait_for(lambda: playing(browser) == [1])
    times = browser.execute_script(
        "const a = document.querySelectorAll('audio')[1]; return [a.currentTime, a.duration]"
    )
    assert times[0] / times[1] == pytest.approx(0.5, abs=0.1)
    press(browser, " ")  # the excerpt that was clicked on is now the one that keys are about
    wait_for(lambda: playing(browser) == [])


def test_every_place_near_the_end_can_be_heard(page: Path, browser: Any) -> None:
    for from_end_s in LAST_S:
        hear_the_end(browser, from_end_s)


def test_decisions_by_mouse_are_kept_saved_and_decide_on_the_rows(
    page: Path, calls: Path, browser: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two, three = sections(browser)
    assert state(browser) == "0 kept, 0 rejected, 3 open"
    one.find_element("class name", "keep").click()
    two.find_element("class name", "reject").click()
    assert state(browser) == "1 kept, 0 rejected, 2 open", "nothing is rejected without a reason"
    choose(browser, two, "noise or cross-talk")
    two.find_element("class name", "note").send_keys('a "door" & <b>steps</b>')
    two.find_element("class name", "reject").click()
    assert state(browser) == "1 kept, 1 rejected, 1 open"

    early = save(browser, tmp_path / "early")
    assert annotate(calls, "--licence", "CC0-1.0", "--decisions", early, "--out", tmp_path / "out") == 2
    assert "1 of 3 excerpts have no decision" in capsys.readouterr().err

    browser.refresh()  # decisions outlive the page
    assert state(browser) == "1 kept, 1 rejected, 1 open"
    one, two, three = sections(browser)
    assert two.find_element("class name", "note").get_attribute("value") == 'a "door" & <b>steps</b>'
    three.find_element("class name", "keep").click()
    one.find_element("class name", "keep").click()
    choose(browser, one, "other")  # a second thought
    one.find_element("class name", "note").send_keys("too quiet")
    one.find_element("class name", "reject").click()
    assert state(browser) == "1 kept, 2 rejected, 0 open"

    file = save(browser, tmp_path / "saved")
    assert file.name == "decisions.json"
    ids = [section.get_attribute("data-id") for section in sections(browser)]
    wanted = {
        ids[0]: (False, "other: too quiet"),
        ids[1]: (False, 'noise or cross-talk: a "door" & <b>steps</b>'),
        ids[2]: (True, ""),
    }
    assert {name: (d.keep, d.reason) for name, d in read_decisions(file).by_id.items()} == wanted

    assert annotate(calls, "--licence", "CC0-1.0", "--decisions", file, "--out", tmp_path / "out") == 0
    (row,) = [row for path in (tmp_path / "out").rglob("*.parquet") for row in read_rows(path)]
    assert ids[2] in row["id"]
    recipe = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))["recipe"]
    assert recipe["review"]["kept"] == [ids[2]]
    assert recipe["review"]["rejected"] == {
        name: reason for name, (keep, reason) in wanted.items() if not keep
    }
    rejects = (tmp_path / "out" / "review-rejects.jsonl").read_text("utf-8").splitlines()
    assert {r["id"]: r["reason"] for r in map(json.loads, rejects)} == recipe["review"]["rejected"]
    assert errors(browser) == []


def choose(browser: Any, section: Any, reason: str) -> None:
    from selenium.webdriver.support.select import Select

    Select(section.find_element("class name", "reason")).select_by_value(reason)


def test_decisions_by_keys_alone(page: Path, browser: Any, tmp_path: Path) -> None:
    press(browser, "k", ARROW_DOWN, "2")  # keep the first; reject the second for the second reason
    assert state(browser) == "1 kept, 1 rejected, 1 open"
    press(browser, ARROW_DOWN, str(REASONS.index("other") + 1))
    assert state(browser) == "1 kept, 1 rejected, 1 open", "'other' wants words, and the cursor stands there"
    press(browser, "k", "2", "!", "\ue007")  # letters in the field are text; enter rejects
    assert state(browser) == "1 kept, 2 rejected, 0 open"
    press(browser, ARROW_UP, "k")
    assert state(browser) == "2 kept, 1 rejected, 0 open"
    file = saved_by(browser, lambda: press(browser, "s"), tmp_path / "saved")
    decisions = [d for _, d in sorted(read_decisions(file).by_id.items())]
    reasons = {s.get_attribute("data-id"): s for s in sections(browser)}
    assert len(decisions) == len(reasons) == 3
    assert sorted(d.reason for d in decisions) == ["", "", "other: k2!"]
    assert errors(browser) == []


def test_saved_decisions_are_loaded_by_somebody_else(page: Path, browser: Any, tmp_path: Path) -> None:
    press(browser, "k", ARROW_DOWN, "1")
    file = save(browser, tmp_path / "saved")
    open_fresh(browser, page)
    assert state(browser) == "0 kept, 0 rejected, 3 open"
    browser.find_element("id", "load").send_keys(str(file))
    wait_for(lambda: state(browser) == "1 kept, 1 rejected, 1 open")
    wrong = tmp_path / "wrong.json"
    wrong.write_text("[1, 2]", encoding="utf-8")
    browser.find_element("id", "load").send_keys(str(wrong))
    wait_for(lambda: "wrong.json: no decisions of a review page" in browser.find_element("id", "said").text)
    assert state(browser) == "1 kept, 1 rejected, 1 open"
    assert errors(browser) == []


def test_four_hundred_excerpts_open_and_answer_in_time(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    sides = rng.integers(-8000, 8000, (2, 5 * 24_000), dtype=np.int16)
    items = [
        ReviewItem(
            id=f"excerpt {i}",
            sha256=f"{i:064x}",
            user=sides[0],
            system=sides[1],
            sample_rate_hz=24_000,
            marks_s=((1.0, 2.0),),
            text="what is said",
        )
        for i in range(400)
    ]
    page = tmp_path / "many.html"
    with page.open("w", encoding="utf-8") as file:
        file.writelines(review_page("many", items))
    begin_s = time.monotonic()
    open_fresh(browser, page)
    assert state(browser) == "0 kept, 0 rejected, 400 open"
    opened_s = time.monotonic() - begin_s
    begin_s = time.monotonic()
    for _ in range(20):
        press(browser, "k", ARROW_DOWN)
    assert state(browser) == "20 kept, 0 rejected, 380 open"
    answered_s = time.monotonic() - begin_s
    shown = browser.execute_script(
        "return document.querySelector('section.here').getBoundingClientRect().top"
    )
    assert 0 <= shown < 1000, "the excerpt that keys are about is in view"
    assert page.stat().st_size > 100e6 and opened_s < 60 and answered_s < 20
