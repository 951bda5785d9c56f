"""A model behind an OpenAI-compatible endpoint: one question in, one answer out, with retries."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ... import DuplexkitError
from ..service import OPENAI_URL, ServiceError, key_env_problem, openai_client, url_problem, without_secrets
from .dialect import Dialect, names_format, plainer

if TYPE_CHECKING:
    import openai

LOG = logging.getLogger(__name__)

MAX_WAIT_S = 60.0
_RETRIED = (408, 409, 425, 429, 500, 502, 503, 504, 529)


class EndpointError(DuplexkitError):
    """A model endpoint refused, failed or could not be reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model is asked, and how. The key stays in the environment, under the name `key_env`."""

    model: str
    base_url: str = OPENAI_URL
    key_env: str = "OPENAI_API_KEY"
    temperature: float = 1.0
    max_answer_tokens: int = 8000
    timeout_s: float = 120.0
    max_attempts: int = 6
    first_wait_s: float = 1.0

    def __post_init__(self) -> None:
        if problem := key_env_problem(self.key_env):
            raise EndpointError(f"the key: {problem}")
        if problem := url_problem(self.base_url):
            raise EndpointError(
                f"base URL: {problem}; up to the /v1, and a key in the environment variable {self.key_env}"
            )

    @property
    def host(self) -> str:
        """Return the part of the URL that may be shown."""
        parts = urlsplit(self.base_url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a model is asked. `schema` is the JSON schema of the answer; without one the answer is free text."""

    system: str
    user: str
    schema_name: str = ""
    schema: Mapping[str, Any] | None = None

    def key(self, endpoint: Endpoint) -> str:
        """Return the hash of all that decides the answer; the same model elsewhere is the same model."""
        asked = {
            "model": endpoint.model,
            "temperature": endpoint.temperature,
            "max_answer_tokens": endpoint.max_answer_tokens,
            "system": self.system,
            "user": self.user,
            "schema": self.schema,
        }
        text = json.dumps(asked, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back. Token counts are estimated (a token per 3 bytes) where the endpoint gives none."""

    text: str
    finish_reason: str
    model: str
    response_id: str
    date: str
    n_prompt_tokens: int
    n_answer_tokens: int
    is_estimated: bool
    dialect: Dialect


def open_client(endpoint: Endpoint) -> openai.OpenAI:
    """Return a client whose key comes from the environment.

    Raises
    ------
    EndpointError
        If the endpoint is OpenAI's own and there is no key, or the key cannot be sent.
    """
    try:
        return openai_client(
            endpoint.base_url, key_env=endpoint.key_env, timeout_s=endpoint.timeout_s, max_retries=0
        )
    except ServiceError as error:
        raise EndpointError(f"{endpoint.host}: {error}") from None


def ask(client: openai.OpenAI, endpoint: Endpoint, question: Question, dialect: Dialect) -> Answer:
    """Return the answer, after as many tries as it takes; the dialect that worked is in it.

    Raises
    ------
    EndpointError
        If the endpoint refuses, or fails `max_attempts` times. The message never holds the key.
    """
    import openai

    attempt = 0
    while True:
        try:
            return _once(client, endpoint, question, dialect)
        except openai.APIStatusError as error:
            status, message = error.status_code, _said(error, endpoint)
            refused = status in (400, 415, 422, 501) or (status in (404, 500) and names_format(message))
            simpler = plainer(dialect, message) if refused else None
            if simpler is not None:
                LOG.info("%s: %s; asking again with %s", endpoint.host, message, simpler.json_mode)
                dialect = simpler
                continue
            problem = f"answered {status}: {message}"
            if status not in _RETRIED or "insufficient_quota" in message:
                raise EndpointError(
                    f"{endpoint.host} {problem} (model {endpoint.model!r}); {_cure(status, endpoint)}"
                ) from None
            wait_s = _wait_s(endpoint, question, attempt, error.response.headers.get("retry-after"))
        except openai.APITimeoutError:
            problem = f"gave no answer in {endpoint.timeout_s:g} s"
            wait_s = _wait_s(endpoint, question, attempt, None)
        except (openai.APIConnectionError, openai.APIResponseValidationError, _NoCompletion) as error:
            problem = f"could not be asked ({_reason(error, endpoint)})"
            wait_s = _wait_s(endpoint, question, attempt, None)
        attempt += 1
        if attempt >= endpoint.max_attempts:
            raise EndpointError(
                f"{endpoint.host} {problem}, {attempt} times; the answers so far are kept: "
                "run the same command again when it is up"
            ) from None
        LOG.info("%s %s; asking again in %.1f s", endpoint.host, problem, wait_s)
        time.sleep(wait_s)


class _NoCompletion(Exception):
    """A reply that is no chat completion."""


def _once(client: openai.OpenAI, endpoint: Endpoint, question: Question, dialect: Dialect) -> Answer:
    response: Any = client.chat.completions.create(**_request(endpoint, question, dialect))
    choices = getattr(response, "choices", None)
    if not choices or getattr(choices[0], "message", None) is None:
        raise _NoCompletion("its reply is no chat completion")
    text = choices[0].message.content or ""
    usage = getattr(response, "usage", None)
    n_prompt = getattr(usage, "prompt_tokens", None)
    n_answer = getattr(usage, "completion_tokens", None)
    estimated = n_prompt is None or n_answer is None
    if n_prompt is None or n_answer is None:
        n_prompt = len((question.system + question.user).encode()) // 3
        n_answer = len(text.encode()) // 3
    created = getattr(response, "created", None) or time.time()
    return Answer(
        text=text,
        finish_reason=str(choices[0].finish_reason or ""),
        model=str(getattr(response, "model", "") or endpoint.model),
        response_id=str(getattr(response, "id", "") or ""),
        date=time.strftime("%Y-%m-%d", time.gmtime(float(created))),
        n_prompt_tokens=int(n_prompt),
        n_answer_tokens=int(n_answer),
        is_estimated=estimated,
        dialect=replace(dialect, is_known=True),
    )


def _request(endpoint: Endpoint, question: Question, dialect: Dialect) -> dict[str, Any]:
    """Return the arguments of the request in a dialect."""
    system = question.system
    request: dict[str, Any] = {"model": endpoint.model, dialect.token_key: endpoint.max_answer_tokens}
    if dialect.has_temperature:
        request["temperature"] = endpoint.temperature
    if question.schema is not None:
        if dialect.json_mode == "json_schema":
            request["response_format"] = {
                "type": "json_schema",
                "json_schema": {
                    "name": question.schema_name,
                    "strict": True,
                    "schema": dict(question.schema),
                },
            }
        else:
            schema = json.dumps(question.schema, ensure_ascii=False)
            system += f"\n\nAnswer with one JSON object and nothing else. Its JSON schema:\n{schema}"
        if dialect.json_mode == "json_object":
            request["response_format"] = {"type": "json_object"}
    request["messages"] = [
        {"role": "system", "content": system},
        {"role": "user", "content": question.user},
    ]
    return request


def _wait_s(endpoint: Endpoint, question: Question, attempt: int, retry_after: str | None) -> float:
    """Return how long to wait: doubled each time, spread by the question's hash, or what the server asks."""
    spread = 1.0 + int(question.key(endpoint)[:4], 16) / 0xFFFF
    wait_s = endpoint.first_wait_s * 2.0**attempt * spread
    with suppress(ValueError):  # a date: our own wait will do
        wait_s = max(wait_s, float(retry_after or 0.0))
    return min(wait_s, MAX_WAIT_S)


def _said(error: openai.APIStatusError, endpoint: Endpoint) -> str:
    """Return the server's words, without the key; of a refused key nothing, for servers quote it."""
    if error.status_code in (401, 403):
        return "the key was refused"
    return _without_key(str(error.message), endpoint)[:400]


def _reason(error: Exception, endpoint: Endpoint) -> str:
    return _without_key(str(error.__cause__ or error), endpoint)[:400]


def _without_key(text: str, endpoint: Endpoint) -> str:
    return without_secrets(text, endpoint.key_env)


def _cure(status: int, endpoint: Endpoint) -> str:
    if status in (401, 403):
        return f"put a valid key in the environment variable {endpoint.key_env}"
    if 300 <= status < 400:
        return "it sends elsewhere: give that address as the base URL"
    if status == 404:
        return "check the model's name, and that the base URL ends where /chat/completions follows"
    return "the request was not understood: try another model, or a smaller --batch"
