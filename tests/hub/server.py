"""The stand-in's HTTP side: routes, tokens, ranges and faults."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from .faults import Fault
from .store import Blob, Commit, Repo, Store, StoreError, large, small
from .xet import restored, xet_hash

WRITE_TOKEN = "hf_" + "WriteTokenOfTheStandIn0001"
READ_TOKEN = "hf_" + "ReadTokenOfTheStandIn00002"

_ROUTES: tuple[tuple[str, str, str], ...] = (
    ("whoami", "GET", r"/api/whoami-v2"),
    ("create", "POST", r"/api/repos/create"),
    ("validate", "POST", r"/api/validate-yaml"),
    ("preupload", "POST", r"/api/datasets/(?P<id>[^/]+/[^/]+)/preupload/(?P<rev>.+)"),
    ("commit", "POST", r"/api/datasets/(?P<id>[^/]+/[^/]+)/commit/(?P<rev>.+)"),
    ("tag", "POST", r"/api/datasets/(?P<id>[^/]+/[^/]+)/tag/(?P<rev>.+)"),
    ("branch", "POST", r"/api/datasets/(?P<id>[^/]+/[^/]+)/branch/(?P<rev>.+)"),
    ("unbranch", "DELETE", r"/api/datasets/(?P<id>[^/]+/[^/]+)/branch/(?P<rev>.+)"),
    ("commits", "GET", r"/api/datasets/(?P<id>[^/]+/[^/]+)/commits/(?P<rev>.+)"),
    ("settings", "PUT", r"/api/datasets/(?P<id>[^/]+/[^/]+)/settings"),
    ("refs", "GET", r"/api/datasets/(?P<id>[^/]+/[^/]+)/refs"),
    ("paths", "POST", r"/api/datasets/(?P<id>[^/]+/[^/]+)/paths-info/(?P<rev>.+)"),
    ("tree", "GET", r"/api/datasets/(?P<id>[^/]+/[^/]+)/tree/(?P<rev>[^/]+)(?:/(?P<path>.*))?"),
    ("xet", "GET", r"/api/datasets/(?P<id>[^/]+/[^/]+)/xet-(?P<kind>read|write)-token/(?P<rev>.+)"),
    ("info", "GET", r"/api/datasets/(?P<id>[^/]+/[^/]+)(?:/revision/(?P<rev>.+))?"),
    ("batch", "POST", r"/datasets/(?P<id>[^/]+/[^/]+)\.git/info/lfs/objects/batch"),
    ("put", "PUT", r"/lfs/(?P<oid>[0-9a-f]{64})"),
    ("verify", "POST", r"/lfs-verify"),
    ("resolve", "GET", r"/datasets/(?P<id>[^/]+/[^/]+)/resolve/(?P<rev>[^/]+)/(?P<path>.+)"),
    ("resolve", "HEAD", r"/datasets/(?P<id>[^/]+/[^/]+)/resolve/(?P<rev>[^/]+)/(?P<path>.+)"),
)
_WRITES = ("create", "preupload", "commit", "tag", "branch", "unbranch", "settings", "batch")


class StandIn:
    """A running stand-in; `xet_store` switches the Xet path on. Use it as a context manager."""

    def __init__(self, xet_store: Path | None = None) -> None:
        self.store, self.faults, self.seen = Store(), list[Fault](), list[str]()
        self.xet_store = xet_store
        self.hang_s = 30.0
        handler = type("Handler", (_Handler,), {"hub": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> StandIn:
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        ).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    hub: StandIn
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: two would wait 40 ms for each other
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding", "") == "chunked":
            body = b"".join(iter(self._chunk, b""))
        path = unquote(urlsplit(self.path).path)
        for name, method, pattern in _ROUTES:
            match = re.fullmatch(pattern, path) if method == self.command else None
            if match:
                return self._route(name, {k: v for k, v in match.groupdict().items() if v}, body)
        self._send(404, {"error": "no such route"})

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _serve

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline().strip() or b"0", 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    def _route(self, name: str, at: dict[str, str], body: bytes) -> None:
        hub = self.hub
        hub.seen.append(name)
        fault = next((f for f in hub.faults if f.strikes(name)), None)
        if fault and fault.kind == "status":
            return self._send(fault.status, {"error": "injected"})
        if fault and fault.kind == "hang":
            time.sleep(hub.hang_s)
            self.close_connection = True
            return None
        if fault and fault.kind == "move_head":
            repo = hub.store.repo(at["id"])
            repo.commit("main", "another hand", {**repo.at("main").tree, "other.txt": small(b"other")})
        try:
            with hub.store.lock:
                self._authorize(name, at)
                answer: Callable[..., Any] = getattr(self, f"_{name}")
                status, data, headers = _full(answer(at, body))
        except StoreError as error:
            code = {401: "RepoNotFound", 404: "RepoNotFound"}.get(error.status, "")
            if error.status == 404 and "Revision" in error.text:
                code = "RevisionNotFound"
            if error.status == 404 and "Entry" in error.text:
                code = "EntryNotFound"
            headers = {"X-Error-Message": error.text, **({"X-Error-Code": code} if code else {})}
            return self._send(error.status, {"error": error.text}, headers)
        if fault and fault.kind == "drop":
            self.close_connection = True
            return None
        self._send(status, data, headers, truncate=bool(fault and fault.kind == "truncate"))

    def _authorize(self, name: str, at: dict[str, str]) -> None:
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if token and token not in (READ_TOKEN, WRITE_TOKEN):
            raise StoreError(401, "Invalid credentials in Authorization header")
        if name == "whoami" and not token:
            raise StoreError(401, "Invalid username or password.")
        if (name in _WRITES or at.get("kind") == "write") and token != WRITE_TOKEN:
            raise StoreError(403 if token else 401, "You need a token with write access")
        if at.get("id") in self.hub.store.repos and self.hub.store.repo(at["id"]).private and not token:
            raise StoreError(401, "Repository not found")

    def _send(
        self, status: int, data: Any, headers: dict[str, str] | None = None, *, truncate: bool = False
    ) -> None:
        raw = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        headers = {"Content-Type": "application/json", **(headers or {})}
        headers.setdefault("Content-Length", str(len(raw)))
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(raw[: len(raw) // 2] if truncate else raw)
        if truncate:
            self.close_connection = True

    # --- answers: each returns data, or (status, data, headers) ---

    def _whoami(self, at: dict[str, str], body: bytes) -> Any:
        return {"type": "user", "name": "me", "orgs": [], "auth": {"type": "access_token"}}

    def _create(self, at: dict[str, str], body: bytes) -> Any:
        asked = json.loads(body)
        id_ = f"{asked.get('organization') or 'me'}/{asked['name']}"
        answer = {"url": f"{self.hub.url}/datasets/{id_}"}
        if id_ in self.hub.store.repos:
            return 409, {**answer, "error": "You already created this dataset repo"}, {}
        self.hub.store.create(id_, private=_private(asked, default=False))
        return answer

    def _validate(self, at: dict[str, str], body: bytes) -> Any:
        return {"errors": [], "warnings": []}

    def _info(self, at: dict[str, str], body: bytes) -> Any:
        repo = self._repo(at)
        commit = repo.at(at.get("rev", "main"))
        return {
            "id": repo.id,
            "sha": commit.oid,
            "private": repo.private,
            "gated": repo.gated,
            "disabled": False,
            "downloads": 0,
            "likes": 0,
            "tags": [],
            "siblings": [{"rfilename": path} for path in commit.tree],
        }

    def _refs(self, at: dict[str, str], body: bytes) -> Any:
        repo = self._repo(at)
        return {
            "branches": [
                {"name": n, "ref": f"refs/heads/{n}", "targetCommit": o} for n, o in repo.branches.items()
            ],
            "tags": [{"name": n, "ref": f"refs/tags/{n}", "targetCommit": o} for n, o in repo.tags.items()],
            "converts": [],
        }

    def _tree(self, at: dict[str, str], body: bytes) -> Any:
        tree = self._repo(at).at(at["rev"]).tree
        prefix = f"{at['path']}/" if at.get("path") else ""
        found: dict[str, Any] = {}
        for path, blob in sorted(tree.items()):
            if not path.startswith(prefix):
                continue
            parts = path[len(prefix) :].split("/")
            for depth in range(1, len(parts)):
                name = prefix + "/".join(parts[:depth])
                if depth == 1 or "recursive=true" in self.path.lower():
                    found[name] = {"type": "directory", "oid": "0" * 40, "size": 0, "path": name}
            if len(parts) == 1 or "recursive=true" in self.path.lower():
                found[path] = self._entry(path, blob)
        if prefix and not found:
            raise StoreError(404, f"Entry {prefix} not found")
        return list(found.values())

    def _paths(self, at: dict[str, str], body: bytes) -> Any:
        tree = self._repo(at).at(at["rev"]).tree
        asked = (
            json.loads(body)["paths"]
            if body.startswith(b"{")
            else re.findall(r"paths=([^&]+)", body.decode())
        )
        return [self._entry(path, tree[path]) for path in map(unquote, asked) if path in tree]

    def _entry(self, path: str, blob: Blob) -> dict[str, Any]:
        entry: dict[str, Any] = {"type": "file", "oid": blob.git_oid, "size": blob.size, "path": path}
        if blob.sha256:
            entry["lfs"] = {"oid": blob.sha256, "size": blob.size, "pointerSize": 134}
        return entry

    def _preupload(self, at: dict[str, str], body: bytes) -> Any:
        tree = self._repo(at).at(at["rev"]).tree
        return {
            "files": [
                {
                    "path": file["path"],
                    "uploadMode": "lfs"
                    if file["path"].endswith((".parquet", ".png", ".flac"))
                    else "regular",
                    "shouldIgnore": False,
                    "oid": tree[file["path"]].git_oid if file["path"] in tree else None,
                }
                for file in json.loads(body)["files"]
            ]
        }

    def _batch(self, at: dict[str, str], body: bytes) -> Any:
        objects = []
        for asked in json.loads(body)["objects"]:
            href = f"{self.hub.url}/lfs/{asked['oid']}"
            verify = f"{self.hub.url}/lfs-verify"
            actions = {"upload": {"href": href}, "verify": {"href": verify}}
            known = asked["oid"] in self.hub.store.files
            objects.append({**asked, **({} if known else {"actions": actions})})
        return {"transfer": "basic", "objects": objects}

    def _put(self, at: dict[str, str], body: bytes) -> Any:
        if hashlib.sha256(body).hexdigest() != at["oid"]:
            raise StoreError(400, "SHA-256 differs")
        self.hub.store.files[at["oid"]] = body
        return {}

    def _verify(self, at: dict[str, str], body: bytes) -> Any:
        if json.loads(body)["oid"] not in self.hub.store.files:
            raise StoreError(404, "Object not found")
        return {}

    def _commit(self, at: dict[str, str], body: bytes) -> Any:
        repo, branch = self._repo(at), at["rev"]
        head, lines = repo.at(branch), [json.loads(line) for line in body.splitlines() if line.strip()]
        header = next(line["value"] for line in lines if line["key"] == "header")
        if header.get("parentCommit") and header["parentCommit"] != head.oid:
            raise StoreError(412, "A commit has happened since. Please refresh and try again.")
        tree = dict(head.tree)
        for line in lines:
            key, value = line["key"], line["value"]
            if key == "file":
                tree[value["path"]] = small(base64.b64decode(value["content"]))
            elif key == "lfsFile":
                if self._missing(value["oid"]):
                    raise StoreError(400, f"LFS object {value['oid']} is missing")
                tree[value["path"]] = large(value["oid"], value["size"])
            elif key == "deletedFile":
                del tree[value["path"]]
        made = repo.commit(branch, header["summary"], tree)
        url = f"{self.hub.url}/datasets/{repo.id}/commit/{made.oid}"
        return {"success": True, "commitOid": made.oid, "commitUrl": url, "hookOutput": ""}

    def _missing(self, sha256: str) -> bool:
        store = self.hub.xet_store
        return sha256 not in self.hub.store.files and not (store and xet_hash(store, sha256))

    def _tag(self, at: dict[str, str], body: bytes) -> Any:
        repo, name = self._repo(at), json.loads(body)["tag"]
        if name in repo.tags:
            raise StoreError(409, f"Tag {name} already exists")
        repo.tags[name] = repo.at(at["rev"]).oid
        return {}

    def _branch(self, at: dict[str, str], body: bytes) -> Any:
        repo = self._repo(at)
        if at["rev"] in repo.branches:
            raise StoreError(409, "Branch already exists")
        asked = json.loads(body or b"{}")
        repo.branches[at["rev"]] = repo.at(asked.get("startingPoint") or "main").oid
        return {}

    def _unbranch(self, at: dict[str, str], body: bytes) -> Any:
        repo = self._repo(at)
        if at["rev"] not in repo.branches:
            raise StoreError(404, "Branch not found")
        del repo.branches[at["rev"]]
        return {}

    def _commits(self, at: dict[str, str], body: bytes) -> Any:
        repo = self._repo(at)
        commit: Commit | None = repo.at(at["rev"])
        found = []
        while commit is not None:
            found.append(
                {
                    "id": commit.oid,
                    "title": commit.title,
                    "message": "",
                    "authors": [{"user": "me"}],
                    "date": "2026-01-01T00:00:00.000Z",
                }
            )
            commit = repo.commits.get(commit.parent)
        return found

    def _settings(self, at: dict[str, str], body: bytes) -> Any:
        repo, asked = self._repo(at), json.loads(body)
        repo.private = _private(asked, default=repo.private)
        repo.gated = asked.get("gated", repo.gated)
        return {}

    def _xet(self, at: dict[str, str], body: bytes) -> Any:
        self._repo(at)
        if self.hub.xet_store is None:
            raise StoreError(404, "Entry: no Xet here")
        url, soon = f"local://{self.hub.xet_store}", int(time.time()) + 3600
        headers = {"X-Xet-Cas-Url": url, "X-Xet-Access-Token": "local", "X-Xet-Token-Expiration": str(soon)}
        return 200, {"accessToken": "local", "exp": soon, "casUrl": url}, headers

    def _resolve(self, at: dict[str, str], body: bytes) -> Any:
        repo = self._repo(at)
        commit = repo.at(at["rev"])
        headers = {"X-Repo-Commit": commit.oid, "Accept-Ranges": "bytes"}
        blob = commit.tree.get(at["path"])
        if blob is None:
            raise StoreError(404, f"Entry {at['path']} not found")
        etag = f'"{blob.sha256 or blob.git_oid}"'
        headers.update({"ETag": etag, "X-Linked-Etag": etag, "X-Linked-Size": str(blob.size)})
        data = blob.data if blob.data is not None else self.hub.store.files.get(blob.sha256)
        if data is None and self.hub.xet_store:
            auth = f"{self.hub.url}/api/datasets/{repo.id}/xet-read-token/{commit.oid}"
            hash_ = str(xet_hash(self.hub.xet_store, blob.sha256))
            headers["X-Xet-Hash"] = hash_
            headers["Link"] = f'<{auth}>; rel="xet-auth"'
            if self.command == "HEAD":
                return 200, b"", {**headers, "Content-Length": str(blob.size)}
            data = self.hub.store.restored.get(hash_) or restored(self.hub.xet_store, hash_, blob.size)
            self.hub.store.restored[hash_] = data
        assert data is not None
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked and self.command == "GET":
            start, stop = int(asked[1]), min(int(asked[2] or blob.size - 1), blob.size - 1)
            headers["Content-Range"] = f"bytes {start}-{stop}/{blob.size}"
            return 206, data[start : stop + 1], headers
        headers["Content-Type"] = "application/octet-stream"
        return 200, data, headers

    def _repo(self, at: dict[str, str]) -> Repo:
        return self.hub.store.repo(at["id"])


def _private(asked: dict[str, Any], *, default: bool) -> bool:
    if "visibility" in asked:
        return bool(asked["visibility"] == "private")
    return bool(asked.get("private", default))


def _full(answer: Any) -> tuple[int, Any, dict[str, str]]:
    return answer if isinstance(answer, tuple) else (200, answer, {})
