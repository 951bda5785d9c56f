"""Writing scripts with a model: asked by cells, judged, filled, resumed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from duplexkit import ScriptError
from duplexkit.builders.writers.candidates import items_of
from duplexkit.builders.writers.cells import cell_of, wanted_cells
from duplexkit.builders.writers.endpoint import Endpoint, EndpointError
from duplexkit.builders.writers.fill_file import ANSWERS, Filled, fill_file
from duplexkit.builders.writers.prompts import SHIPPED as PROMPTS
from duplexkit.builders.writers.prompts import load_prompt
from duplexkit.builders.writers.script_lines import numbered, read_file, script_line, write_file
from duplexkit.builders.writers.script_schema import scripts_schema
from duplexkit.builders.writers.spending import Budget
from duplexkit.builders.writers.write_scripts import Job
from duplexkit.scenarios import SCENARIOS, user_interruption
from duplexkit.scenarios.bank import SHIPPED, load_scripts, read_script
from duplexkit.scenarios.lint.forms import DOMAINS
from duplexkit.scenarios.lint.language_rules import known_languages, load_rules
from duplexkit.scenarios.markup import shown
from tests.builders.writers_model import BankWriter, Model, Reply, asked_twice, model

KEY = "sk-test-fedcba9876543210"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def job(scenario: str = "user_interruption", language: str = "en", count: int = 12, **more: object) -> Job:
    return Job(
        **{
            "scenario": scenario,
            "language": language,
            "count": count,
            "prompt": load_prompt(scenario, language),
            "licence": "CC0-1.0",
            "domains": DOMAINS,
            **more,
        }
    )


def fill(running: Model, out: Path, asked: Job, *, budget: Budget | None = None, **more: object) -> Filled:
    where = Endpoint(
        **{
            "model": "m",
            "base_url": running.base_url,
            "timeout_s": 5.0,
            "first_wait_s": 0.01,
            "max_attempts": 6,
            **more,
        }
    )
    return fill_file(asked, where, out=out, budget=budget or Budget(), n_workers=4)


class Troubled(BankWriter):
    """Writes lines of the bank, but not at once, not always whole, and not always in the language."""

    def __init__(self, scenario: str, language: str, other: str) -> None:
        super().__init__(scenario, language)
        self.other = BankWriter(scenario, other)
        self.faults: Counter[str] = Counter()

    def __call__(self, request: dict, number: int) -> Reply:
        kind = ("fine", "429", "500", "late", "cut", "nonsense", "other", "again", "fine", "fine")[
            number % 10
        ]
        if number < 10:  # each at least once, then only those whose answer comes at once
            self.faults[kind] += 1
        elif kind in ("429", "500", "late"):
            kind = "fine"
        error = json.dumps({"error": {"message": kind}}).encode()
        match kind:
            case "429" | "500":
                return Reply(status=int(kind), raw=error)
            case "late":
                return Reply(text="{}", wait_s=1.5)
            case "nonsense":
                return Reply(text="I would love to help! Here are some lines: {scripts: [")
            case "other":
                return self.other(request, number)
            case "again":
                with self.lock:
                    items = self.given[:5]
                return Reply(text=json.dumps({"scripts": items}))
            case "cut":
                text = json.dumps({"scripts": self.items(request)}, ensure_ascii=False)
                return Reply(text=text[: len(text) * 2 // 3], finish_reason="length")
        return super().__call__(request, number)


@pytest.mark.parametrize(("language", "other"), [("ja", "en"), ("en", "ja")])
def test_fifty_scripts_are_filled_through_all_faults_within_the_quotas(tmp_path: Path, language, other):
    brain = Troubled("user_interruption", language, other)
    with model(brain) as running:
        filled = fill(running, tmp_path, job(language=language, count=50), timeout_s=1.0)
    assert set(brain.faults) == {"fine", "429", "500", "late", "cut", "nonsense", "other", "again"}
    written = read_file(tmp_path / language / "user_interruption.jsonl", "user_interruption", language)
    assert len(written) == 50 and filled.written.n_missing == 0
    intents = Counter(script.turns[1].intent for script in written)
    assert all(intents[intent] >= 5 for intent in user_interruption.INTENTS)  # 10 % each
    asking = [s for s in written if load_rules(language).question.search(shown(s.turns[1].text))]
    assert len(asking) <= 20  # 40 %
    assert filled.report.n_errors == 0, filled.report.findings
    assert len({script.turns[0].text for script in written}) == 50
    assert {"answer", "language", "duplicate"} <= set(filled.written.reasons)
    assert not asked_twice(running.answered)
    assert {s.language for s in written} == {language}


def test_each_line_says_where_it_is_from(tmp_path: Path):
    with model(BankWriter("user_interruption", "en")) as running:
        filled = fill(running, tmp_path, job(count=7))
    lines = [json.loads(line) for line in filled.path.read_text().splitlines()]
    prompt = load_prompt("user_interruption", "en")
    for line in lines:
        assert (
            line["licence"] == "CC0-1.0" and "model-written" in line["source"] and "m-2026" in line["source"]
        )
        said = line["provenance"]
        assert said["model"] == "m-2026" and said["prompt"] == "en/user_interruption@1"
        assert said["prompt_sha256"] == prompt.sha256 and said["date"] == "2026-09-21"
        assert said["response_id"].startswith("chatcmpl-")
    assert [line["id"] for line in lines] == [f"ui-{k:03d}" for k in range(1, 8)]


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_every_scenario_can_be_written(tmp_path: Path, scenario: str, language: str):
    count = 3 if scenario == "mt_qa" else 10
    with model(BankWriter(scenario, language)) as running:
        filled = fill(running, tmp_path, job(scenario, language, count))
    assert len(filled.written.scripts) == count and not filled.report.n_errors, filled.written.rejects
    if scenario != "mt_qa":  # there more dialogues than wished may switch their topic
        assert Counter(cell_of(s) for s in filled.written.scripts) == wanted_cells(scenario, count)


def test_a_file_grows_and_a_full_one_asks_nothing(tmp_path: Path):
    writer = BankWriter("smooth_turn_taking", "en")
    with model(writer) as running:
        fill(running, tmp_path, job("smooth_turn_taking", count=6))
        first = (tmp_path / "en/smooth_turn_taking.jsonl").read_text().splitlines()
        before = running.n_requests
        again = fill(running, tmp_path, job("smooth_turn_taking", count=6))
        assert running.n_requests == before and again.n_there == 6
        fill(running, tmp_path, job("smooth_turn_taking", count=9))
    lines = (tmp_path / "en/smooth_turn_taking.jsonl").read_text().splitlines()
    assert lines[:6] == first and [json.loads(line)["id"] for line in lines[6:]] == [
        "st-007",
        "st-008",
        "st-009",
    ]


def test_lines_of_another_bank_are_not_taken(tmp_path: Path):
    with model(BankWriter("smooth_turn_taking", "en")) as running:
        filled = fill_file(
            job("smooth_turn_taking", count=4),
            Endpoint(model="m", base_url=running.base_url, timeout_s=5.0),
            out=tmp_path,
            budget=Budget(),
            n_workers=2,
            against=(SHIPPED,),
        )
    assert not filled.written.scripts and set(filled.written.reasons) <= {"duplicate", "answer"}
    assert "brought nothing" in filled.written.stopped and not filled.path.exists()
    rejects = (tmp_path / ANSWERS / "en.smooth_turn_taking.rejects.jsonl").read_text().splitlines()
    assert json.loads(rejects[0])["reason"].startswith("duplicate: its script is like the script of smooth")


def test_the_budget_stops_a_job_and_a_larger_one_goes_on(tmp_path: Path):
    writer = BankWriter("smooth_turn_taking", "en")
    with model(writer) as running:
        stopped = fill(running, tmp_path, job("smooth_turn_taking", count=20), budget=Budget(max_tokens=400))
        assert len(stopped.written.scripts) == 10 and "limit of 400" in stopped.written.stopped
        assert len(read_file(stopped.path, "smooth_turn_taking", "en")) == 10
        done = fill(running, tmp_path, job("smooth_turn_taking", count=20), budget=Budget(max_tokens=9000))
    assert done.written.n_missing == 0 and not asked_twice(running.answered)


def test_a_question_says_what_is_wanted_and_what_is_used_up(tmp_path: Path):
    with model(BankWriter("talking_to_others", "en")) as running:
        fill(running, tmp_path, job("talking_to_others", count=20), budget=Budget(max_tokens=99_000))
    first, last = (
        json.loads(r["messages"][1]["content"]) for r in (running.answered[0], running.answered[-1])
    )
    assert len(first["scripts"]) == 5 and first["used_up"] == {} and first["do_not_repeat"] == []
    assert {wish["domain"] for wish in first["scripts"]} <= set(DOMAINS)
    assert "event_length" in first["scripts"][0]
    assert set(last["used_up"]["addressee"]) and last["do_not_repeat"]  # one of each kind among twenty


def test_a_failing_endpoint_leaves_the_file_alone_and_the_answers_kept(tmp_path: Path):
    writer = BankWriter("smooth_turn_taking", "en")
    broken = True

    def brain(request, number):
        if broken and number >= 2:
            return Reply(status=401, raw=json.dumps({"error": {"message": f"bad key {KEY}"}}).encode())
        return writer(request, number)

    with model(brain) as running:
        with pytest.raises(EndpointError, match="the key was refused"):
            fill(running, tmp_path, job("smooth_turn_taking", count=30))
        assert not (tmp_path / "en/smooth_turn_taking.jsonl").exists()
        broken = False
        filled = fill(running, tmp_path, job("smooth_turn_taking", count=30))
        assert filled.spending.n_kept == 2
    assert len(filled.written.scripts) == 30 and not asked_twice(running.answered)


PROGRAM = """
import sys, typer
from duplexkit import DuplexkitError
from duplexkit.builders.commands_scripts import add_commands
app = typer.Typer(pretty_exceptions_enable=False)
add_commands(app)
try:
    app()
except DuplexkitError as error:
    print("duplexkit:", error, file=sys.stderr)
    sys.exit(2)
"""


def command(running: Model, out: Path, *more: str) -> list[str]:
    (out / "nothing").mkdir(exist_ok=True)
    return [
        *(sys.executable, "-c", PROGRAM, "write", "user_interruption", "--language", "ja", "--count", "50"),
        *("--model", "m", "--base-url", running.base_url, "--out", str(out), "--batch", "2"),
        *("--against", str(out / "nothing"), "--workers", "3", *more),
    ]


@pytest.mark.slow
def test_a_killed_run_goes_on_and_asks_for_nothing_twice(tmp_path: Path):
    writer = BankWriter("user_interruption", "ja")
    held = True

    def brain(request, number):
        while held and number >= 9:
            time.sleep(0.02)
        return writer(request, number)

    environment = {**os.environ, "OPENAI_LOG": "debug"}
    store = tmp_path / ANSWERS / "ja.user_interruption.jsonl"
    with model(brain) as running:
        killed = subprocess.Popen(
            command(running, tmp_path), env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and (
            not store.is_file() or store.read_bytes().count(b"\n") < 9 or running.under_way < 3
        ):
            time.sleep(0.02)
        killed.send_signal(signal.SIGKILL)
        said = killed.communicate()[0]
        answered = list(running.answered)
        assert len(answered) == 9 and not (tmp_path / "ja").exists()
        held = False
        # what was under way when the run was killed is answered to nobody: give those lines back
        deadline = time.monotonic() + 10
        while running.under_way and time.monotonic() < deadline:
            time.sleep(0.02)
        with running.lock:
            del running.answered[9:]
        writer.pool = [s for s in load_scripts("user_interruption", "ja") if not _given(s, answered, writer)]
        done = subprocess.run(command(running, tmp_path), env=environment, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stdout.decode()
    assert len(read_file(tmp_path / "ja/user_interruption.jsonl", "user_interruption", "ja")) == 50
    assert not asked_twice(running.answered)
    assert "9 kept from before" in done.stdout.decode()
    everything = said + done.stdout + done.stderr
    everything += b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"HTTP" in said and KEY.encode() not in everything  # the client's own debug log was on


def _given(script, answered: list[dict], writer: BankWriter) -> bool:
    """Return whether the writer gave a line in answer to one of the first requests."""
    n_given = sum(len(json.loads(request["messages"][-1]["content"])["scripts"]) for request in answered)
    return script.turns[0].text in {item["turns"][0]["text"] for item in writer.given[:n_given]}


def test_the_command_says_what_happened_and_exits_1_when_scripts_are_missing(tmp_path: Path):
    run = lambda *more: subprocess.run(  # noqa: E731
        command(running, tmp_path, *more), capture_output=True, text=True, timeout=60
    )
    with model(BankWriter("user_interruption", "ja")) as running:
        short = run("--max-tokens", "400")
        assert short.returncode == 1 and "limit of 400" in short.stdout
        assert "JSON mode json_schema" in short.stdout
        assert "2 answers asked, 0 kept from before; 200 prompt and 100 answer tokens" in short.stdout
    missing = run("--budget", "1")
    assert missing.returncode == 2 and "--price-in" in missing.stderr


def test_a_language_without_prompts_or_rules_says_what_there_is():
    with pytest.raises(ScriptError, match=r"no prompt for mt_qa in language 'de'; shipped: .*ja/mt_qa@1"):
        load_prompt("mt_qa", "de")
    with pytest.raises(ScriptError, match="known: en, ja"):
        load_rules("de")


def test_there_is_a_prompt_for_every_scenario_and_language():
    for language in known_languages():
        for scenario in SCENARIOS:
            assert load_prompt(scenario, language).text
    versions = {path.stem.split("@")[1] for path in PROMPTS.glob("*/*.md")}
    assert versions == {"1"}


@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_a_script_line_reads_back_as_it_was(scenario: str):
    for script in load_scripts(scenario, "ja")[:5]:
        line = script_line(script)
        assert read_script(line, scenario=scenario, language="ja", where="here") == script
    path = SHIPPED / "ja" / f"{scenario}.jsonl"
    assert json.loads(line) == json.loads(path.read_text(encoding="utf-8").splitlines()[4])


def test_ids_go_on_and_files_are_replaced_whole(tmp_path: Path):
    there = load_scripts("mt_qa", "en")[:2]
    new = numbered([replace(there[0], id="new")], there, "mt_qa")
    assert new[0].id == "qa-003"
    write_file(tmp_path / "en/mt_qa.jsonl", (*there, *new))
    assert [s.id for s in read_file(tmp_path / "en/mt_qa.jsonl", "mt_qa", "en")] == [
        "qa-001",
        "qa-002",
        "qa-003",
    ]
    assert [path.name for path in (tmp_path / "en").iterdir()] == ["mt_qa.jsonl"]


def test_the_schema_is_that_of_the_dataclasses():
    schema = scripts_schema("background_speech", ("cooking",))
    script = schema["properties"]["scripts"]["items"]
    assert script["required"] == ["turns", "domain", "register", "tags"]
    turn = script["properties"]["turns"]["items"]
    assert turn["properties"]["role"]["enum"] == ["user", "other"]
    assert turn["properties"]["intent"]["enum"] == ["", "announcement", "news", "phone", "table_talk"]
    dialogue = scripts_schema("mt_qa", ("cooking",))["properties"]["scripts"]["items"]
    depends = dialogue["properties"]["turns"]["items"]["properties"]["depends_on"]
    assert depends == {"type": "array", "items": {"type": "integer"}}


@pytest.mark.parametrize("count", [1, 7, 50, 200])
@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_wanted_cells_make_up_the_count(scenario: str, count: int):
    cells = wanted_cells(scenario, count)
    assert cells.total() == count and min(cells.values()) > 0


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ('{"scripts": [{"a": 1}]}', [{"a": 1}]),
        ('Sure!\n```json\n{"scripts": [{"a": 1}]}\n```\nEnjoy.', [{"a": 1}]),
        ('{"scripts": [{"a": "x]y"}, {"b": [1, 2]}, {"c": "unfin', [{"a": "x]y"}, {"b": [1, 2]}]),
        ('{"scripts": "none"}', []),
        ('{"others": [1]}', []),
        ("[1, 2]", []),
        ("", []),
        ("no JSON {", []),
    ],
)
def test_items_are_read_as_far_as_they_go(text: str, items: list):
    assert items_of(text, "scripts") == items
