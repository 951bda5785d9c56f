"""The Hub as a release needs it: few calls, each with a deadline, and no secret in any message."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from ... import ReleaseError
from .plan import ReleasePlan, RemoteFile, Tree
from .secrets import scrub

if TYPE_CHECKING:
    from huggingface_hub import HfApi

T = TypeVar("T")

_PASSING = (429, 500, 502, 503, 504)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class HubError(ReleaseError):
    """The Hub refused, or did not answer. `status` is the HTTP status, 0 where there was no answer."""

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status

    @property
    def passing(self) -> bool:
        """Whether the same call may succeed later."""
        return self.status == 0 or self.status in _PASSING


def endpoint_of() -> str:
    """Return the Hub's address: HF_ENDPOINT, or the public one.

    Raises
    ------
    ReleaseError
        If a token would go out unencrypted, or the address holds a password.
    """
    url = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    parts = urlsplit(url)
    if parts.username or parts.password:
        raise ReleaseError(f"HF_ENDPOINT = {scrub(url)}: an address with a password; take it out")
    if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
        raise ReleaseError(
            f"HF_ENDPOINT = {url}: wanted https (a token goes there); http only to the loopback"
        )
    return url


@contextmanager
def open_hub(repository: str, *, answer_within_s: float = 90.0) -> Iterator[Hub]:
    """Give the Hub with a token from environment, file or OIDC; every answer has a deadline meanwhile."""
    from huggingface_hub import HfApi, get_token, set_client_factory
    from huggingface_hub.utils import _http

    def client() -> Any:
        made = _http.default_client_factory()
        made.timeout = answer_within_s
        return made

    before = _http._GLOBAL_CLIENT_FACTORY
    set_client_factory(client)
    try:
        token = (get_token() or "").strip()
        yield Hub(HfApi(endpoint=endpoint_of(), token=token or False), repository, has_token=bool(token))
    finally:
        set_client_factory(before)


class Hub:
    """One dataset repository on the Hub."""

    def __init__(self, api: HfApi, repository: str, *, has_token: bool, wait_s: float = 0.5) -> None:
        self._api, self.repository, self.has_token, self._wait_s = api, repository, has_token, wait_s

    @property
    def endpoint(self) -> str:
        """Where the Hub is."""
        return str(self._api.endpoint)

    def who(self) -> str:
        """Return whose token it is."""
        if not self.has_token:
            return "nobody (no token)"
        return str(self._again("whoami", self._api.whoami)["name"])

    def head(self, ref: str = "main") -> str:
        """Return the commit that a branch or tag names; "" where there is none, or no repository."""
        refs = self._refs()
        return refs.get(f"refs/heads/{ref}") or refs.get(f"refs/tags/{ref}") or ""

    def tag(self, name: str) -> str:
        """Return the commit that a tag names; "" where there is none."""
        return self._refs().get(f"refs/tags/{name}", "")

    def _refs(self) -> dict[str, str]:
        try:
            refs = self._again("refs", lambda: self._api.list_repo_refs(self.repository, repo_type="dataset"))
        except HubError as error:
            if error.status in (401, 404) and "not found" in str(error).lower():
                return {}
            raise
        return {str(ref.ref): str(ref.target_commit) for ref in [*refs.branches, *refs.tags]}

    def tree(self, commit: str) -> Tree:
        """Return the files of a commit."""
        from huggingface_hub.hf_api import RepoFile

        entries = self._again(
            "tree",
            lambda: list(
                self._api.list_repo_tree(
                    self.repository, recursive=True, revision=commit, repo_type="dataset"
                )
            ),
        )
        return {
            entry.path: RemoteFile(
                size=entry.size, git_oid=entry.blob_id, sha256=entry.lfs.sha256 if entry.lfs else ""
            )
            for entry in entries
            if isinstance(entry, RepoFile)
        }

    def create(self, *, private: bool) -> None:
        """Make the repository if there is none."""
        self._again(
            "create",
            lambda: self._api.create_repo(
                self.repository, repo_type="dataset", private=private, exist_ok=True
            ),
        )

    def settings(self, *, private: bool | None, gated: str | None) -> None:
        """Make the repository private, or gate it."""
        asked: dict[str, Any] = {} if private is None else {"private": private}
        if gated is not None:
            asked["gated"] = gated
        self._again(
            "settings",
            lambda: self._api.update_repo_settings(self.repository, repo_type="dataset", **asked),
        )

    def branch(self, name: str, commit: str) -> None:
        """Make a branch at a commit if there is none of that name."""
        self._again(
            "branch",
            lambda: self._api.create_branch(
                self.repository, branch=name, revision=commit, repo_type="dataset", exist_ok=True
            ),
        )

    def delete_branch(self, name: str) -> None:
        """Delete a branch; one that is gone already is as good. Tags keep their commits."""
        try:
            self._again(
                "delete branch",
                lambda: self._api.delete_branch(self.repository, branch=name, repo_type="dataset"),
            )
        except HubError as error:
            if error.status != 404:
                raise

    def history(self, ref: str) -> tuple[tuple[str, str], ...]:
        """Return the commits that a branch leads to, newest first, each with its title."""
        commits = self._again(
            "commits",
            lambda: self._api.list_repo_commits(self.repository, repo_type="dataset", revision=ref),
        )
        return tuple((str(commit.commit_id), str(commit.title)) for commit in commits)

    def commit(self, plan: ReleasePlan, *, parent: str, title: str, branch: str = "main") -> None:
        """Send one commit, once: adds and deletes together, refused if `parent` is no longer the head."""
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        operations: list[Any] = [
            CommitOperationAdd(path_in_repo=file.name, path_or_fileobj=str(file.path)) for file in plan.adds
        ]
        operations += [CommitOperationDelete(path_in_repo=name) for name in plan.deletes]
        with _said("commit"):
            self._api.create_commit(
                self.repository,
                operations,
                commit_message=title,
                repo_type="dataset",
                revision=branch,
                parent_commit=parent,
            )

    def create_tag(self, name: str, *, commit: str, message: str) -> None:
        """Set a tag, once; an existing one is never moved."""
        with _said("tag"):
            self._api.create_tag(
                self.repository,
                tag=name,
                tag_message=message,
                revision=commit,
                repo_type="dataset",
                exist_ok=False,
            )

    def download(self, name: str, *, revision: str, cache: Path) -> Path:
        """Return a file of a revision, in a cache folder."""
        from huggingface_hub import hf_hub_download

        return Path(
            self._again(
                "download",
                lambda: hf_hub_download(
                    self.repository,
                    name,
                    repo_type="dataset",
                    revision=revision,
                    cache_dir=str(cache),
                    endpoint=self.endpoint,
                    token=self._api.token,
                ),
            )
        )

    def _again(self, what: str, call: Callable[[], T], attempts: int = 4) -> T:
        """Return what a call that may be repeated gives; passing failures are tried again, with growing waits."""
        for attempt in range(attempts):
            try:
                with _said(what):
                    return call()
            except HubError as error:
                if not error.passing or attempt == attempts - 1:
                    raise
            time.sleep(self._wait_s * 2**attempt)
        raise AssertionError("unreachable")


@contextmanager
def _said(what: str) -> Iterator[None]:
    """Turn every failure of the client into a `HubError` without secrets; the cause is not chained to it."""
    import httpx2
    from huggingface_hub.errors import HfHubHTTPError

    failure: HubError
    try:
        yield
        return
    except HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else 0
        failure = HubError(scrub(f"{what}: HTTP {status}: {str(error).strip()}"), status)
    except (httpx2.HTTPError, OSError, LookupError, TypeError, ValueError, RuntimeError) as error:
        failure = HubError(scrub(f"{what}: no answer ({type(error).__name__}: {str(error).strip()})"))
    raise failure from None
