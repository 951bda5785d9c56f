"""For tests of commands: a real OpenAI-compatible HTTP endpoint that writes lines of the shipped bank."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import typer
from typer.testing import CliRunner

from duplexkit import DuplexkitError
from duplexkit.builders.commands_scripts import add_commands
from duplexkit.builders.writers.cells import cell_of
from duplexkit.scenarios.bank import load_scripts
from tests.builders.local_server import Asked, send, serving


@dataclass(slots=True)
class Reply:
    """What an endpoint sends: a chat completion with `text`, or `raw` bytes with `status`."""

    text: str = ""
    status: int = 200
    raw: bytes | None = None
    finish_reason: str = "stop"
    wait_s: float = 0.0
    usage: tuple[int, int] | None = (100, 50)
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Model:
    """A running endpoint; `answered` are the requests that got a chat completion, in order."""

    base_url: str
    answered: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    n_requests: int = 0
    under_way: int = 0
    most_under_way: int = 0


Brain = Callable[[dict[str, Any], int], Reply]
"""Request and its number (from 0) -> reply."""


def wishes_of(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the wishes in the user's message of a request for scripts."""
    asked: list[dict[str, Any]] = json.loads(request["messages"][-1]["content"])["scripts"]
    return asked


class BankWriter:
    """Writes scripts by giving lines of the shipped bank that fit the wishes, each once."""

    def __init__(self, scenario: str, language: str) -> None:
        self.pool = list(load_scripts(scenario, language))
        self.given: list[dict[str, Any]] = []
        self.lock = threading.Lock()

    def items(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        with self.lock:
            return [self._item(wish) for wish in wishes_of(request) if self.pool]

    def _item(self, wish: dict[str, Any]) -> dict[str, Any]:
        wanted = [str(v) for k, v in wish.items() if k in ("intent", "function", "first_pause")]
        wanted += wish.get("tags", [])
        fitting = [s for s in self.pool if not wanted or list(cell_of(s)) == wanted] or self.pool
        script = next((s for s in fitting if s.domain == wish["domain"]), fitting[0])
        self.pool.remove(script)
        turns = [
            {
                "role": turn.role.value,
                "text": turn.text,
                "intent": turn.intent,
                "function": turn.function,
                "reference_answer": turn.reference_answer,
                "depends_on": list(turn.depends_on),
                "dependence": turn.dependence,
            }
            for turn in script.turns
        ]
        item = {
            "turns": turns,
            "domain": script.domain,
            "register": script.register,
            "addressee": script.addressee,
            "why": script.why,
            "tags": list(script.tags),
        }
        self.given.append(item)
        return item

    def __call__(self, request: dict[str, Any], number: int) -> Reply:
        return Reply(text=json.dumps({"scripts": self.items(request)}, ensure_ascii=False))


@contextmanager
def model(brain: Brain) -> Iterator[Model]:
    """Serve ``/v1/chat/completions`` while the block runs."""

    def answer(handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        request = json.loads(asked.body)
        with running.lock:
            number = running.n_requests
            running.n_requests += 1
            running.under_way += 1
            running.most_under_way = max(running.most_under_way, running.under_way)
            running.keys.append(asked.headers["Authorization"] or "")
        try:
            reply = brain(request, number)
            time.sleep(reply.wait_s)
            data = reply.raw if reply.raw is not None else _completion(reply, request, number)
            if reply.status == 200 and reply.raw is None and not reply.wait_s:
                with running.lock:  # before the client can look
                    running.answered.append(request)
            send(handler, reply.status, data, "application/json", **reply.headers)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client gave up waiting
        finally:
            with running.lock:
                running.under_way -= 1

    with serving(answer) as server:
        running = Model(base_url=f"{server.url}/v1")
        yield running


def _completion(reply: Reply, request: dict[str, Any], number: int) -> bytes:
    data: dict[str, Any] = {
        "id": f"chatcmpl-{number:04d}",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": f"{request['model']}-2026",
        "choices": [
            {
                "index": 0,
                "finish_reason": reply.finish_reason,
                "message": {"role": "assistant", "content": reply.text},
            }
        ],
    }
    if reply.usage is not None:
        prompt, answer = reply.usage
        data["usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": answer,
            "total_tokens": prompt + answer,
        }
    return json.dumps(data).encode()


def asked_twice(requests: list[dict[str, Any]]) -> list[str]:
    """Return the user's messages that stand in more than one of the requests."""
    counts = Counter(json.dumps(request["messages"], sort_keys=True) for request in requests)
    return [message for message, count in counts.items() if count > 1]


def run(*arguments: str, expect: int = 0) -> str:
    """Run a command in this process, as the command line does; return what it says."""
    result = CliRunner().invoke(app(), arguments, env={"OPENAI_API_KEY": "none"})
    refused = isinstance(result.exception, DuplexkitError)
    said = result.output + (str(result.exception) if refused else "")
    assert refused or result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    assert (2 if refused else result.exit_code) == expect, said
    return said


def app() -> typer.Typer:
    made = typer.Typer(pretty_exceptions_enable=False)
    add_commands(made)
    return made
