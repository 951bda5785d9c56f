"""The rating page holds what raters need, and their answers become numbers that can be checked by hand."""

import base64
import io
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from duplexkit import InputError
from duplexkit.builders.build import BuildResult
from duplexkit.builders.built import dataset_digest
from duplexkit.builders.cli import main
from duplexkit.builders.listen.answers import q_of_presses, take_in
from duplexkit.builders.listen.kappa import fleiss_kappa
from duplexkit.builders.listen.page import QUESTIONS, drawn_ids, write_page
from duplexkit.builders.side_files import read_side_files
from duplexkit.cards.quality_section import listening_line
from tests.builders.test_build import rows_of
from tests.conftest import build_tones, tone_recipe_text

PUBLISHED = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
"""Ten items, 14 raters, five answers: the worked example that goes round with Fleiss' kappa = 0.210."""


def test_kappa_is_that_of_the_worked_example() -> None:
    counts = [{str(k): n for k, n in enumerate(row) if n} for row in PUBLISHED]
    assert fleiss_kappa(counts) == pytest.approx(0.210, abs=0.0005)


def test_kappa_of_two_raters_by_hand() -> None:
    """Of four items they agree on three: 0.75; shares are 5/8 and 3/8, so chance is 34/64: kappa = 7/15."""
    counts = [{"yes": 2}, {"yes": 2}, {"no": 2}, {"yes": 1, "no": 1}]
    assert fleiss_kappa(counts) == pytest.approx((0.75 - 34 / 64) / (1 - 34 / 64)) == pytest.approx(7 / 15)


def test_kappa_is_not_defined_without_pairs_or_without_variety() -> None:
    assert fleiss_kappa([]) is None
    assert fleiss_kappa([{"yes": 1}, {"no": 1}]) is None
    assert fleiss_kappa([{"yes": 2}, {"yes": 3}]) is None


@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(1, 4), min_size=1), min_size=1, max_size=6)
)
def test_kappa_is_at_most_one_and_ignores_names(counts: list[dict[str, int]]) -> None:
    kappa = fleiss_kappa(counts)
    renamed = [{answer * 2: n for answer, n in item.items()} for item in counts]
    assert fleiss_kappa(renamed) == kappa
    if kappa is not None:
        assert kappa <= 1.0 + 1e-12
        assert (kappa == pytest.approx(1.0)) == all(len(i) == 1 for i in counts if sum(i.values()) > 1)


def test_q_is_the_share_of_listeners_per_window() -> None:
    assert q_of_presses([[0.0, 0.39], [0.25, 0.3], []], 1.0) == [1 / 3, 2 / 3, 0, 0, 0]
    assert len(q_of_presses([[]], 0.9)) == 5, "the last window may be shorter"
    assert q_of_presses([[0.9]], 0.9)[-1] == 1.0, "a press at the very end counts in the last window"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = tone_recipe_text("user_interruption", "mt_qa", "backchannel")
    return build_tones(tmp_path_factory.mktemp("listen"), text).folder


def data_of(page: Path) -> dict:
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.DOTALL
    )
    assert found
    return json.loads(found[1])


def sounds_of(page: Path) -> list[str]:
    found = re.findall(r'<script type="text/plain" id="sound-(\d+)">(.*?)</script>', page.read_text())
    assert [int(i) for i, _ in found] == list(range(len(found)))
    return [address for _, address in found]


def test_the_page_stands_alone_and_plays_what_the_rows_hold(built: Path, tmp_path: Path) -> None:
    page = write_page(built, tmp_path / "listen.html", n=6, seed=1)
    data, rows = data_of(page), rows_of(built)
    assert not re.search(r'(src|href)="(https?:)?//', page.read_text()), "nothing is fetched"
    assert len({item["id"] for item in data["items"]}) == 6
    assert {item["id"].rsplit("/", 2)[0] for item in data["items"]} == {
        f"{s}/{lang}" for s in ("user_interruption", "mt_qa", "backchannel") for lang in ("en", "ja")
    }, "evenly over scenarios and languages"
    for item, address in zip(data["items"], sounds_of(page), strict=True):
        row = rows[item["id"]]
        sound, rate = soundfile.read(io.BytesIO(base64.b64decode(address.split(",")[1])), dtype="int16")
        heard, _ = soundfile.read(io.BytesIO(row["input"]["bytes"]), dtype="int16")
        assert rate == row["sample_rate_hz"]
        user = sound[:, 0] if row["system"] else sound
        assert (user == heard).all()
        if row["system"]:
            system, _ = soundfile.read(io.BytesIO(row["system"]["bytes"]), dtype="int16")
            assert (sound[:, 1] == system).all()
        shown = [e for e in row["events"] if e["kind"] != "trp"]  # would tell listeners where to press
        assert [e["onset_s"] for e in item["events"]] == [e["onset_s"] for e in shown]
        assert item["backchannels"] == (row["scenario"] == "backchannel")


def test_the_draw_is_fixed_by_the_seed(built: Path) -> None:
    assert drawn_ids(built, n=7, seed=1) == drawn_ids(built, n=7, seed=1)
    assert drawn_ids(built, n=7, seed=1)[:3] == drawn_ids(built, n=3, seed=1), (
        "more raters' time, more samples"
    )
    assert any(drawn_ids(built, n=6, seed=1) != drawn_ids(built, n=6, seed=s) for s in (2, 3, 4))


def test_the_script_of_the_page_runs_and_saves_answers(built: Path, tmp_path: Path) -> None:
    """A few clicks on the page, without a browser: the real script on elements that keep what is done to them."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node to run the page's script")
    page = write_page(built, tmp_path / "listen.html", n=6, seed=1)
    text = page.read_text()
    script = text.split("<script>")[1].split("</script>")[0]
    (tmp_path / "data.json").write_text(json.dumps(data_of(page)))
    (tmp_path / "page.js").write_text(BROWSER + script + CLICKS)
    done = subprocess.run([node, "page.js"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    saved = json.loads(done.stdout)
    assert saved["rater"] == "anna" and saved["dataset"] == dataset_digest(built)
    first, *_, last = data_of(page)["items"]
    assert saved["answers"][first["id"]]["naturalness"] == "4"
    assert last["id"] not in saved["answers"], "what was not answered is not sent"
    target = tmp_path / "copy"
    shutil.copytree(built, target)
    (tmp_path / "anna.json").write_text(done.stdout)
    assert take_in(target, [tmp_path / "anna.json"])["n_items"] == 1


BROWSER = """
const made = {};
function node() {
  return { style: {}, children: [], listeners: {}, value: "", textContent: "", checked: false,
    addEventListener(kind, run) { this.listeners[kind] = run; }, focus() {}, click() {},
    append(...more) { this.children.push(...more); }, replaceChildren() { this.children = []; },
    querySelector() { return node(); } };
}
const document = { getElementById: id => made[id] = made[id] || node(), createElement: () => node(),
  addEventListener() {} };
document.getElementById("data").textContent = require("fs").readFileSync("data.json", "utf-8");
const localStorage = { getItem: () => null, setItem() {} };
"""
CLICKS = """
function inputs(box) { return box.children.flatMap(c => c && c.children ? [c, ...inputs(c)] : []); }
const choice = inputs(made.item).find(c => c.name === "naturalness" && c.value === "4");
choice.listeners.change();
made.rater.value = " anna ";
console.log(JSON.stringify(result()));
"""


def answers(built: Path, path: Path, rater: str, given: dict[str, dict]) -> Path:
    path.write_text(
        json.dumps({"format": 1, "dataset": dataset_digest(built), "rater": rater, "answers": given})
    )
    return path


def test_answers_become_counts_kappa_and_q(built: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(built, folder)
    one, two, three = drawn_ids(folder, n=3, seed=1)
    files = [
        answers(
            folder,
            tmp_path / "a.json",
            "a",
            {
                one: {
                    "naturalness": "4",
                    "event": "yes",
                    "times": "yes",
                    "listened": True,
                    "presses_s": [0.5],
                },
                two: {"naturalness": "2", "event": "no"},
                three: {"event": "yes"},
            },
        ),
        answers(
            folder,
            tmp_path / "b.json",
            "b",
            {
                one: {"naturalness": "5", "event": "yes", "listened": True, "presses_s": []},
                two: {"naturalness": "3", "event": "yes"},
            },
        ),
    ]
    facts = take_in(folder, files)
    assert facts["n_raters"] == 2 and facts["n_items"] == 3
    event = facts["questions"]["event"]
    assert event["counts"] == {"yes": 4, "no": 1} and event["n_items"] == 3
    # two items with two raters: agreement 1/2; shares 3/4 and 1/4, chance 10/16
    assert event["kappa"] == pytest.approx((0.5 - 0.625) / 0.375)
    assert facts["questions"]["times"]["kappa"] is None
    assert facts["questions"]["naturalness"]["mean"] == pytest.approx((4.5 + 2.5) / 2)
    q = facts["backchannel_q"][one]
    assert q["n_listeners"] == 2 and q["q"][2] == 0.5 and sum(q["q"]) == 0.5
    assert json.loads((folder / "listening.json").read_text())["n_raters"] == 2
    assert event["no_by_most"] == [] and event["no_by_half"] == [two]


def test_the_samples_that_failed_are_named(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(built, folder)
    most, half, unsure, one_rater, good = sorted(drawn_ids(folder, n=5, seed=1))
    said = {
        "a": {most: "no", half: "no", unsure: "no", one_rater: "no", good: "yes"},
        "b": {most: "no", half: "yes", unsure: "unsure", good: "yes"},
        "c": {most: "yes", unsure: "unsure", good: "no"},
    }
    files = [
        answers(
            folder, tmp_path / f"{rater}.json", rater, {id_: {"event": one} for id_, one in given.items()}
        )
        for rater, given in said.items()
    ]
    assert main(["listen", str(folder), *(f"--answers={file}" for file in files)]) == 0
    told = [line.strip() for line in capsys.readouterr().out.splitlines() if "of those who answered" in line]
    assert told == [
        *(f'"no" by most of those who answered: {id_}' for id_ in (most, one_rater)),
        f'"no" by half of those who answered: {half}',
    ]
    questions = json.loads((folder / "listening.json").read_text())["questions"]
    assert questions["event"]["no_by_most"] == [most, one_rater]
    assert questions["event"]["no_by_half"] == [half]
    assert questions["times"]["no_by_most"] == [] and "no_by_most" not in questions["naturalness"]
    line = listening_line(read_side_files(folder))
    assert line.startswith(
        "rated by 3 people, 5 samples: naturalness: no answers, κ not defined; event: yes 4, no 6"
    )
    assert line.endswith(
        "2 samples are not what their label says by most raters, 1 more by half of them (listening.json, "
        "event.no_by_most)."
    )
    assert "not marked where" not in line, "nobody was asked"


def test_ratings_from_before_the_failed_were_named_can_be_read(built: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(built, folder)
    (one,) = drawn_ids(folder, n=1, seed=1)
    take_in(folder, [answers(folder, tmp_path / "a.json", "a", {one: {"event": "no"}})])
    path = folder / "listening.json"
    facts = json.loads(path.read_text())
    assert "1 sample is not what its label says by most raters (" in listening_line(read_side_files(folder))
    for question in facts["questions"].values():
        question.pop("no_by_most", None), question.pop("no_by_half", None)
    path.write_text(json.dumps(facts))
    line = listening_line(read_side_files(folder))
    assert line.startswith("rated by 1 person, 1 sample: ") and "by most raters" not in line


def test_wrong_answers_are_refused(built: Path, tmp_path: Path) -> None:
    (id_,) = drawn_ids(built, n=1, seed=1)
    good = answers(built, tmp_path / "a.json", "a", {id_: {"event": "yes"}})
    with pytest.raises(InputError, match="rater 'a' stands twice"):
        take_in(built, [good, good])
    with pytest.raises(InputError, match=r"event = 'maybe': wanted one of yes, no, unsure"):
        take_in(built, [answers(built, tmp_path / "b.json", "b", {id_: {"event": "maybe"}})])
    with pytest.raises(InputError, match="there is no sample 'x'"):
        take_in(built, [answers(built, tmp_path / "c.json", "c", {"x": {"event": "yes"}})])
    other = json.loads(good.read_text()) | {"dataset": "0" * 64}
    (tmp_path / "d.json").write_text(json.dumps(other))
    with pytest.raises(InputError, match="answers about another dataset"):
        take_in(built, [tmp_path / "d.json"])
    (tmp_path / "e.json").write_text("[]")
    with pytest.raises(InputError, match="answers of the rating page"):
        take_in(built, [tmp_path / "e.json"])
    for name, said, message in (
        ("f", {}, r"rater 'f' has answered nothing"),
        ("g", {id_: {"event": None, "presses_s": [], "listened": False}}, r"rater 'g' has answered nothing"),
        ("h", {id_: {"evnt": "yes", "event": "yes"}}, r"evnt: unknown question; did you mean 'event'"),
        ("i", {id_: {"listened": "no"}}, r"listened = 'no': wanted true or false"),
        ("j", {id_: {"listened": True, "presses_s": [1e9]}}, r"presses_s has 1e\+09, but the sample is"),
        ("k", {id_: {"presses_s": [float("nan")]}}, r"presses_s = "),
    ):
        with pytest.raises(InputError, match=message):
            take_in(built, [answers(built, tmp_path / f"{name}.json", name, said)])
    assert not (built / "listening.json").exists()


def test_the_command_writes_a_page(tone_build: Callable[..., BuildResult], tmp_path: Path) -> None:
    folder = tone_build(tone_recipe_text("user_interruption")).folder
    assert main(["listen", str(folder), "--sample", "2"]) == 0
    assert len(data_of(folder / "listen.html")["items"]) == 2
    assert set(QUESTIONS) == {"naturalness", "event", "times"}
    file = answers(folder, tmp_path / "a.json", "a", {drawn_ids(folder, n=1, seed=1)[0]: {"event": "yes"}})
    assert main(["listen", str(folder), "--answers", str(file)]) == 0
    assert main(["listen", str(tmp_path)]) == 2
