"""A service behind a URL: its address checked, its key taken from the environment and never shown."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from .. import DuplexkitError

if TYPE_CHECKING:
    import openai

OPENAI_URL = "https://api.openai.com/v1"
KEY_ENV = "OPENAI_API_KEY"
ABOUT_THE_REQUEST = frozenset({400, 413, 422})
"""Statuses that speak of this one request; another refusal would come for every request."""

_NO_KEY = "no-key-needed"
_SENT_ENVS = ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS")
_SECRET_ENVS = ("OPENAI_ADMIN_KEY", "OPENAI_WEBHOOK_SECRET")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LEAST_TELLING_CHARS = 16
_LEAST_MASKED_CHARS = 8
"""Shorter "keys" are words for servers that want none: to mask them would only garble messages."""


class ServiceError(DuplexkitError):
    """A service cannot be asked: its key, or what else the environment says of it, cannot be sent."""


def url_problem(url: str) -> str | None:
    """Return the address, where it may be shown, and what is wrong with it; None where nothing is.

    Examples
    --------
    >>> url_problem("http://127.0.0.1:50000")
    >>> url_problem("http://[::1")
    "'http://[::1': no address that can be read; wanted http://… or https://…"
    >>> url_problem("https://me:secret@host/v1")
    'the address holds a user or password, which others would read: take them out (an @ is %40)'
    """
    wanted = "wanted http://… or https://…"
    if "@" in url:
        return "the address holds a user or password, which others would read: take them out (an @ is %40)"
    if not url.isascii() or not url.isprintable() or " " in url:
        return f"{url!r}: white space or other than ASCII characters; {wanted}, with those written as %20 or xn--"
    if "?" in url or "#" in url:
        return (
            f"{url.partition('?')[0].partition('#')[0]!r} with a query or fragment: {wanted} without either"
        )
    try:
        parts = urlsplit(url)
        host, _ = (parts.hostname or ""), parts.port
        host.encode("idna")
    except ValueError:
        return f"{url!r}: no address that can be read; {wanted}"
    return None if parts.scheme in ("http", "https") and host else f"{url!r}: {wanted}"


def key_of(key_env: str) -> str:
    """Return the key that the environment holds under a name, without the white space round it; empty: none.

    Raises
    ------
    ServiceError
        If it cannot be sent: white space in it, or characters that are not ASCII. It is not shown.
    """
    key = os.environ.get(key_env, "").strip()
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise ServiceError(
            f"the key in the environment variable {key_env} has white space or other than ASCII characters in "
            f"it: set it to the key alone"
        )
    return key


def key_env_problem(key_env: str) -> str | None:
    """Say what is wrong with the name of an environment variable; a key given in its place is not shown."""
    if _ENV_NAME.fullmatch(key_env):
        return None
    return f"wanted the name of an environment variable that holds the key, such as {KEY_ENV}, not a key"


def without_secrets(text: str, key_env: str = KEY_ENV) -> str:
    """Return what a library or server said, on one printable line, without the key in any form it may quote.

    Mask first, cut after: half a key is a secret too.
    """
    if re.search(r"illegal header", text, re.IGNORECASE):
        return f"a header cannot be sent: look at {', '.join((key_env, *_SENT_ENVS))}"
    for name in (key_env, *_SECRET_ENVS):
        value = os.environ.get(name, "")
        forms = {
            form for key in (value, value.strip()) if len(key) >= _LEAST_MASKED_CHARS for form in _forms(key)
        }
        for form in sorted(forms, key=len, reverse=True):
            text = text.replace(form, "[key]")
    text = re.sub(r"(?<=://)[^/\s'\"]*@", "[hidden]@", text)
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def holds_key(text: str, key_env: str = KEY_ENV) -> bool:
    """Return whether a text holds the key: one that is long enough to be no word."""
    key = os.environ.get(key_env, "").strip()
    return len(key) >= _LEAST_TELLING_CHARS and key in text


def openai_client(base_url: str, *, key_env: str, timeout_s: float, max_retries: int) -> openai.OpenAI:
    """Return a client that follows no redirect: most lose the request's body on the way.

    Raises
    ------
    ServiceError
        If there is no key and `base_url` is OpenAI's, or the environment says what cannot be sent or used.
    """
    import openai

    key = key_of(key_env)
    if not key and base_url.rstrip("/") == OPENAI_URL:
        raise ServiceError(
            f"no key: set the environment variable {key_env}, or give the base URL of a server of your own"
        )
    for name in _SENT_ENVS:
        said = (
            os.environ.get(name, "").replace("\n", "") if name == _SENT_ENVS[-1] else os.environ.get(name, "")
        )
        if not (said.isascii() and said.isprintable()):
            raise ServiceError(f"the environment variable {name} has characters that no header takes")
    settings: dict[str, Any] = {"base_url": base_url, "timeout": timeout_s, "max_retries": max_retries}
    try:
        transport = openai.DefaultHttpxClient(follow_redirects=False)
        return openai.OpenAI(api_key=key or _NO_KEY, http_client=transport, **settings)
    except Exception as error:  # proxies and certificates that the environment names; the kinds are many
        raise ServiceError(f"no client can be made: {without_secrets(str(error), key_env)}") from None


def _forms(key: str) -> tuple[str, ...]:
    return (
        key,
        json.dumps(key)[1:-1],
        repr(key)[1:-1],
        repr(key.encode(errors="surrogateescape"))[2:-1],
        quote(key, errors="surrogateescape"),
    )
