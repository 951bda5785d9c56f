"""Asking a model: JSON modes, retries, refusals, budget, and the key that goes nowhere."""

import json
import logging
from pathlib import Path

import pytest

from duplexkit import DuplexkitError
from duplexkit.builders.writers.answer_store import AnswerStore
from duplexkit.builders.writers.dialect import Dialect
from duplexkit.builders.writers.endpoint import Endpoint, EndpointError, Question, ask, open_client
from duplexkit.builders.writers.session import Session
from duplexkit.builders.writers.spending import Budget, BudgetReached, Spending, require_room
from tests.builders.writers_model import Model, Reply, model

KEY = "sk-test-0123456789abcdef"
QUESTION = Question(
    system="s", user="u", schema_name="x", schema={"type": "object", "properties": {}, "required": []}
)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def endpoint(running: Model, **more: object) -> Endpoint:
    return Endpoint(
        **{
            "model": "m",
            "base_url": running.base_url,
            "first_wait_s": 0.01,
            "timeout_s": 5.0,
            "max_attempts": 4,
            **more,
        }
    )


def ask_once(running: Model, question: Question = QUESTION, dialect: Dialect | None = None, **more: object):
    where = endpoint(running, **more)
    with open_client(where) as client:
        return ask(client, where, question, dialect or Dialect())


def refusal(status: int, message: str) -> Reply:
    return Reply(status=status, raw=json.dumps({"error": {"message": message}}).encode())


def test_the_schema_is_sent_and_the_key_only_in_the_header():
    seen = []
    with model(lambda request, number: seen.append(request) or Reply(text="{}")) as running:
        answer = ask_once(running)
    assert seen[0]["response_format"]["json_schema"]["schema"] == dict(QUESTION.schema)
    assert running.keys == [f"Bearer {KEY}"] and KEY not in json.dumps(seen)
    assert (answer.model, answer.response_id, answer.date) == ("m-2026", "chatcmpl-0000", "2026-09-21")
    assert (answer.n_prompt_tokens, answer.n_answer_tokens, answer.is_estimated) == (100, 50, False)


@pytest.mark.parametrize(
    ("supported", "mode"),
    [
        ({"json_schema", "json_object"}, "json_schema"),
        ({"json_object"}, "json_object"),
        (set(), "text"),
    ],
)
def test_the_json_mode_that_an_endpoint_takes_is_found(supported, mode):
    def brain(request, number):
        kind = request.get("response_format", {}).get("type")
        if kind is not None and kind not in supported:
            return refusal(400, f"response_format of type {kind} is not supported by this model")
        return Reply(text="{}")

    with model(brain) as running:
        answer = ask_once(running)
        assert answer.dialect == Dialect(json_mode=mode, is_known=True)
        assert len(running.answered) == 1
    system = running.answered[0]["messages"][0]["content"]
    assert ("JSON schema" in system) == (mode != "json_schema")


def test_a_server_error_about_the_schema_is_no_reason_to_give_up():
    def brain(request, number):
        if "response_format" in request:
            return refusal(500, "failed to parse grammar")
        return Reply(text="{}")

    with model(brain) as running:
        assert ask_once(running).dialect.json_mode == "text"


def test_parameters_that_a_model_refuses_are_left_out():
    def brain(request, number):
        if "max_tokens" in request:
            return refusal(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        if "temperature" in request:
            return refusal(400, "Unsupported value: 'temperature' does not support 0.7")
        return Reply(text="{}")

    with model(brain) as running:
        answer = ask_once(running, temperature=0.7)
    assert answer.dialect.token_key == "max_completion_tokens" and not answer.dialect.has_temperature
    assert running.answered[0]["max_completion_tokens"] == 8000
    assert running.answered[0]["response_format"]["type"] == "json_schema"


def test_refusals_timeouts_and_nonsense_are_retried():
    faults = [
        refusal(429, "slow down"),
        refusal(500, "oops"),
        Reply(text="late", wait_s=1.2),
        Reply(status=200, raw=b'{"hello": 1}'),
    ]

    def brain(request, number):
        return faults[number] if number < len(faults) else Reply(text="there")

    with model(brain) as running:
        answer = ask_once(running, timeout_s=0.6, max_attempts=6)
    assert answer.text == "there" and running.n_requests == 5


def test_retry_after_is_heeded(monkeypatch):
    waits = []
    monkeypatch.setattr("duplexkit.builders.writers.endpoint.time.sleep", waits.append)

    def brain(request, number):
        if number == 0:
            reply = refusal(429, "slow down")
            reply.headers = {"Retry_After": "7"}
            return reply
        return refusal(503, "busy") if number < 3 else Reply(text="x")

    with model(brain) as running:
        ask_once(running)
    waits = [wait_s for wait_s in waits if wait_s]  # the server sleeps for no time
    assert waits[0] == 7.0
    assert waits[2] == pytest.approx(2 * waits[1])  # doubled each time


@pytest.mark.parametrize(
    ("status", "message", "said"),
    [
        (401, f"Incorrect API key provided: {KEY}", "the key was refused"),
        (404, "The model `m` does not exist", "check the model's name"),
        (429, "You exceeded your current quota (insufficient_quota)", "insufficient_quota"),
    ],
)
def test_what_cannot_get_better_is_not_retried(status, message, said):
    with model(lambda request, number: refusal(status, message)) as running:
        with pytest.raises(EndpointError, match=said) as raised:
            ask_once(running)
        assert running.n_requests == 1
    assert KEY not in str(raised.value)


def test_a_dead_endpoint_is_named_after_all_attempts():
    with model(lambda request, number: refusal(500, f"your key was {KEY}")) as running:
        with pytest.raises(EndpointError, match=r"answered 500: .*your key was \[key\], 4 times") as raised:
            ask_once(running)
        assert running.n_requests == 4
    assert raised.value.__cause__ is None and raised.value.__suppress_context__


def test_no_key_for_openai_itself(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(EndpointError, match="set the environment variable OPENAI_API_KEY"):
        open_client(Endpoint(model="m"))


@pytest.mark.parametrize("url", ["localhost:8000", "https://user:secret@host/v1", "file:///etc/passwd"])
def test_a_base_url_that_is_none_or_holds_a_password(url):
    with pytest.raises(EndpointError) as raised:
        Endpoint(model="m", base_url=url)
    assert "secret" not in str(raised.value)


def test_tokens_are_estimated_where_none_are_told():
    with model(lambda request, number: Reply(text="é" * 30, usage=None)) as running:
        answer = ask_once(running)
    assert answer.is_estimated and answer.n_answer_tokens == 20  # 60 bytes, a token per 3


def session(running: Model, store: AnswerStore, **more: object) -> Session:
    return Session(
        endpoint(running),
        store,
        **{"budget": Budget(), "n_workers": 3, "tell": lambda line: None, **more},
    )


def questions(n: int) -> list[Question]:
    return [Question(system="s", user=str(k)) for k in range(n)]


def test_answers_come_in_order_side_by_side_and_are_kept(tmp_path: Path):
    def brain(request, number):
        return Reply(text=request["messages"][1]["content"], wait_s=0.0)

    lines = []
    with (
        model(brain) as running,
        AnswerStore(tmp_path / "a.jsonl") as store,
        session(running, store, tell=lines.append) as asking,
    ):
        answers = asking.ask_all(questions(9))
        assert [answer.text for answer in answers] == [str(k) for k in range(9)]
        assert (asking.spending.n_asked, asking.spending.n_tokens) == (9, 9 * 150)
        asking.ask_all(questions(9))
        assert running.n_requests == 9
    assert lines == [
        f"{endpoint(running).host}, m: JSON mode json_schema (it takes the JSON schema of the answer)"
    ]
    with model(brain) as running, AnswerStore(tmp_path / "a.jsonl") as store:
        with session(running, store) as asking:
            assert [a.text for a in asking.ask_all(questions(9))] == [str(k) for k in range(9)]
            assert (asking.spending.n_asked, asking.spending.n_kept) == (0, 9)
        assert running.n_requests == 0


def test_no_more_than_the_workers_are_under_way(tmp_path: Path):
    with (
        model(lambda request, number: Reply(text="x", wait_s=0.05)) as running,
        AnswerStore(tmp_path / "a.jsonl") as store,
        session(running, store) as asking,
    ):
        asking.ask_all(questions(8))
    assert running.most_under_way == 3


def test_a_failure_keeps_what_was_answered_and_starts_nothing_new(tmp_path: Path):
    def brain(request, number):
        return refusal(400, "too long") if request["messages"][1]["content"] == "4" else Reply(text="x")

    with model(brain) as running, AnswerStore(tmp_path / "a.jsonl") as store:
        with session(running, store) as asking, pytest.raises(EndpointError, match="too long"):
            asking.ask_all(questions(60))
        assert 4 <= len(store) < 60
        kept = len(store)
    with AnswerStore(tmp_path / "a.jsonl") as store:
        assert len(store) == kept


def test_a_line_that_a_crash_cut_off_is_left_out_and_the_next_stands_alone(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    with model(lambda request, number: Reply(text="x")) as running:
        with AnswerStore(path) as store, session(running, store) as asking:
            asking.ask_all(questions(2))
        whole = path.read_bytes()
        path.write_bytes(whole[:-20])
        with AnswerStore(path) as store, session(running, store) as asking:
            assert len(store) == 1
            asking.ask_all(questions(2))
        assert running.n_requests == 3
    with AnswerStore(path) as store:
        assert len(store) == 2


def test_a_run_without_an_answer_leaves_nothing(tmp_path: Path):
    path = tmp_path / "bank" / ".answers" / "en.jsonl"
    with (
        pytest.raises(EndpointError),
        model(lambda request, number: refusal(400, "no")) as running,
        AnswerStore(path) as store,
        session(running, store) as asking,
    ):
        asking.ask_all(questions(2))
    assert list(tmp_path.iterdir()) == []
    with (
        model(lambda request, number: Reply(text="x")) as running,
        AnswerStore(path) as store,
        session(running, store) as asking,
    ):
        asking.ask_all(questions(1))
    assert [found.name for found in path.parent.iterdir()] == ["en.jsonl"], "answers stay, the lock does not"


def test_two_runs_do_not_share_a_store(tmp_path: Path):
    with AnswerStore(tmp_path / "a.jsonl"), pytest.raises(DuplexkitError, match="in use"):
        AnswerStore(tmp_path / "a.jsonl")


def test_the_budget_stops_before_it_is_passed(tmp_path: Path):
    budget = Budget(max_usd=0.001, usd_per_prompt_mtoken=1.0, usd_per_answer_mtoken=2.0)
    with (
        model(lambda request, number: Reply(text="x")) as running,  # 100 * 1 + 50 * 2 = 200 e-6 dollars each
        AnswerStore(tmp_path / "a.jsonl") as store,
        session(running, store, budget=budget) as asking,
    ):
        with pytest.raises(BudgetReached, match=r"0\.001"):
            asking.ask_all(questions(30))
        assert asking.spending.usd(budget) <= 0.001
        assert len(store) == 5


def test_a_budget_in_dollars_needs_prices():
    with pytest.raises(DuplexkitError, match="--price-in"):
        Budget(max_usd=1.0)


def test_room_is_reckoned_with_what_is_under_way():
    spending = Spending(n_prompt_tokens=600, n_answer_tokens=300, largest_call_tokens=100)
    require_room(Budget(max_tokens=1000), spending, n_under_way=0)
    with pytest.raises(BudgetReached):
        require_room(Budget(max_tokens=1000), spending, n_under_way=1)


def test_the_key_is_in_no_log(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)

    def brain(request, number):
        return refusal(500, f"Bearer {KEY}") if number else Reply(text="x")

    with (
        model(brain) as running,
        AnswerStore(tmp_path / "a.jsonl") as store,
        session(running, store) as asking,
        pytest.raises(EndpointError),
    ):
        asking.ask_all(questions(3))
    assert "asking again" in caplog.text and KEY not in caplog.text
    assert KEY not in (tmp_path / "a.jsonl").read_text()
