"""An address that is none, a key that cannot be sent, a key in any words: refused in a sentence, and never shown."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplexkit.builders.service import (
    OPENAI_URL,
    ServiceError,
    holds_key,
    key_env_problem,
    key_of,
    openai_client,
    url_problem,
    without_secrets,
)

KEY = "sk-secret\\0123456789/abc'def\"ghi"
"""With what JSON, Python and addresses write otherwise."""


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.mark.parametrize(
    "url",
    [
        "", "x", "http://", "http://[::1", "http://[x]/v1", "http://h:99999", "http://h:x", "http://a..b/v1",
        "ftp://h/v1", "//h/v1", "http:///v1", "http://h h/v1", "http://h/\n", "http://h/\0", "http://hé/v1",
        "http://h/é", "http://h/v1?key=x", "http://h/v1#x", f"http://{'a' * 64}.de/", "http://u:secret@h/v1",
        "http:u:secret@h", "u:secret@h",
    ],
)  # fmt: skip
def test_an_address_that_is_none_says_why_and_shows_no_password(url: str) -> None:
    problem = url_problem(url)
    assert problem and "secret" not in problem and "key=x" not in problem


@pytest.mark.parametrize("url", ["http://127.0.0.1:50000", "https://[::1]:8/v1", "http://h", OPENAI_URL])
def test_an_address_is_one(url: str) -> None:
    assert url_problem(url) is None


@given(st.text(max_size=40))
def test_any_text_is_an_address_that_a_client_takes_or_is_refused(text: str) -> None:
    import urllib.request

    for url in (text, f"http://{text}", f"http://h/{text}"):
        if url_problem(url) is None:
            urllib.request.Request(url)
            openai_client(url, key_env="NO_SUCH_KEY", timeout_s=1.0, max_retries=0).close()


@pytest.mark.parametrize("raw", [f"{KEY}\n", f" {KEY}\r\n", f"\t{KEY}"])
def test_white_space_round_a_key_is_left_out(raw: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", raw)
    assert key_of("OPENAI_API_KEY") == KEY
    monkeypatch.setenv("OPENAI_API_KEY", " \n")
    assert key_of("OPENAI_API_KEY") == ""


@pytest.mark.parametrize(
    "raw", ["sk-a b", "sk-a\nb", "sk-ü", "sk-\x01", "sk-\udcff", "“sk-a”", "sk-a\u2028b"]
)
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(
    raw: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", raw)
    with pytest.raises(ServiceError, match="environment variable OPENAI_API_KEY has white space") as caught:
        openai_client(OPENAI_URL, key_env="OPENAI_API_KEY", timeout_s=1.0, max_retries=0)
    assert "sk-" not in str(caught.value)


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8), st.text(max_size=20))
def test_a_key_is_found_in_every_way_of_writing_it(key: str, around: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", f"{key}\n")
        for words in (key, json.dumps(key), repr(key), repr(f"Bearer {key}".encode()), repr({"k": key})):
            shown = without_secrets(f"{around}: {words}!")
            assert key not in shown.replace("[key]", "\0")


def test_what_cannot_be_sent_in_a_header_is_not_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "secret" not in without_secrets("Illegal header value b'Bearer secret\\n'")
    assert without_secrets("GET http://me:pw@proxy:1/x failed") == "GET http://[hidden]@proxy:1/x failed"
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(name, "X-A: secret-ü")
            with pytest.raises(ServiceError, match=name) as caught:
                openai_client("http://h/v1", key_env="OPENAI_API_KEY", timeout_s=1.0, max_retries=0)
            assert "secret" not in str(caught.value)
    monkeypatch.setenv("HTTP_PROXY", "sock://me:secret@h")
    with pytest.raises(ServiceError, match="no client can be made") as caught:
        openai_client("http://h/v1", key_env="OPENAI_API_KEY", timeout_s=1.0, max_retries=0)
    assert "secret" not in str(caught.value)


def test_the_environment_does_not_move_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere/v1")
    with openai_client(OPENAI_URL, key_env="OPENAI_API_KEY", timeout_s=1.0, max_retries=0) as client:
        assert str(client.base_url).rstrip("/") == OPENAI_URL and client.api_key == KEY


def test_a_key_in_the_place_of_its_name_is_not_shown() -> None:
    assert key_env_problem("MY_KEY") is None
    for given_ in (KEY, "sk-abc", "", "a b", "A=B", "A\0B"):
        problem = key_env_problem(given_)
        assert problem and "sk-" not in problem


def test_only_a_key_that_is_no_word_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert holds_key(f"x{KEY}y") and not holds_key("x")
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    assert not holds_key("a test")
