"""Publishing against the stand-in: versions hold, and nothing half-happens, whatever fails."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from duplexkit import ReleaseError
from duplexkit import publish as publish_module
from duplexkit.builders.build import BuildResult
from duplexkit.cards.release.files import release_files
from duplexkit.cards.release.plan import RemoteFile, plan_against
from tests.hub.faults import Fault
from tests.hub.server import READ_TOKEN, WRITE_TOKEN, StandIn
from tests.hub.store import large, small
from tests.release import release_folder

Release, publish = publish_module.Release, publish_module.publish
REPO = "me/tones"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    from huggingface_hub import constants

    for name in ("HF_HUB_DISABLE_XET", "HF_HUB_DISABLE_PROGRESS_BARS", "HF_HUB_DISABLE_TELEMETRY"):
        monkeypatch.setattr(constants, name, True)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_TOKEN", WRITE_TOKEN)
    with StandIn() as stand_in:
        monkeypatch.setenv("HF_ENDPOINT", stand_in.url)
        monkeypatch.setattr(constants, "ENDPOINT", stand_in.url)
        yield stand_in


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {"root": tmp_path_factory.mktemp("release")}


@pytest.fixture
def folder(tone_build: Callable[..., BuildResult], built: dict[str, Path]) -> Path:
    """Return version 1.0.0, built once."""
    if "1.0.0" not in built:
        built["1.0.0"] = release_folder(
            tone_build, built["root"] / "v1", "pause_handling", "talking_to_others", "user_backchannel"
        )
    return built["1.0.0"]


@pytest.fixture
def newer(tone_build: Callable[..., BuildResult], folder: Path, built: dict[str, Path]) -> Path:
    """Return version 1.1.0: one scenario gone, one new, one with other rows."""
    if "1.1.0" not in built:
        built["1.1.0"] = release_folder(
            tone_build,
            built["root"] / "v2",
            "pause_handling",
            "talking_to_others",
            "user_interruption",
            version="1.1.0",
            seed=6,
        )
    return built["1.1.0"]


def run(folder: Path, version: str = "1.0.0", said: list[str] | None = None, **options: object) -> str:
    release = Release(
        **{
            "folder": folder,
            "repository": REPO,
            "version": version,
            "push": True,
            "smoke": False,
            "answer_within_s": 1.0,
            **options,
        }
    )
    return publish(release, (said if said is not None else []).append)


def stands(hub: StandIn, folder: Path, version: str = "1.0.0") -> None:
    """Put a published release into the stand-in without publishing it."""
    repo = hub.store.create(REPO, private=False)
    tree = dict(repo.at("main").tree)
    for file in release_files(folder):
        if file.name.endswith((".parquet", ".png")):
            hub.store.files[file.sha256] = file.path.read_bytes()
            tree[file.name] = large(file.sha256, file.size)
        else:
            tree[file.name] = small(file.path.read_bytes())
    repo.tags[f"v{version}"] = repo.commit("main", f"Release {version}", tree).oid


def holds(hub: StandIn, folder: Path, ref: str) -> bool:
    tree = {
        path: RemoteFile(size=blob.size, git_oid=blob.git_oid, sha256=blob.sha256)
        for path, blob in hub.store.repo(REPO).at(ref).tree.items()
    }
    return plan_against(release_files(folder), tree).done


def test_showing_sends_nothing(hub: StandIn, folder: Path) -> None:
    said: list[str] = []
    assert run(folder, said=said, push=False) == "shown"
    assert hub.store.repos == {} and not {"create", "commit", "tag", "preupload"} & set(hub.seen)
    assert said[-1] == "nothing sent; send with --push"
    assert any(re.search(r"add     talking_to_others/ja/test-\S+  \d+ bytes", line) for line in said)
    assert any("stems (stays here)" in line for line in said)


def test_a_release_is_one_commit_and_one_tag(hub: StandIn, folder: Path) -> None:
    assert run(folder) == "published"
    repo = hub.store.repo(REPO)
    assert [c.title for c in repo.commits.values()] == ["initial commit", "Release 1.0.0"]
    assert repo.tags == {"v1.0.0": repo.branches["main"]}
    assert holds(hub, folder, "v1.0.0")
    before = dict(repo.commits)
    assert run(folder) == "already published"
    assert repo.commits == before


def test_the_next_release_deletes_what_is_gone_and_leaves_the_old_tag(
    hub: StandIn, folder: Path, newer: Path
) -> None:
    run(folder)
    old = hub.store.repo(REPO).tags["v1.0.0"]
    run(newer, "1.1.0")
    repo = hub.store.repo(REPO)
    assert repo.tags["v1.0.0"] == old and holds(hub, folder, "v1.0.0")
    assert holds(hub, newer, "v1.1.0") and holds(hub, newer, "main") and len(repo.commits) == 3
    assert not any(path.startswith("user_backchannel/") for path in repo.at("main").tree)
    assert ".gitattributes" in repo.at("main").tree


def test_the_same_tag_with_other_content_is_refused(hub: StandIn, folder: Path, tmp_path: Path) -> None:
    run(folder)
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    (other / "LICENSE").write_text("other words", encoding="utf-8")
    with pytest.raises(
        ReleaseError, match=r"v1\.0\.0: the tag stands on other content \(1 files differ, first: L"
    ):
        run(other)


def test_a_release_does_not_differ_from_its_own_folder(
    hub: StandIn, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    from duplexkit.cards.diff import diff_folders
    from duplexkit.cards.write_entry import open_release

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    template = f"{hub.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    own = Path(shutil.copytree(folder, tmp_path / "own"))
    (own / "LICENSE.txt").write_text("words", encoding="utf-8")
    run(own)
    there = open_release(f"{REPO}@v1.0.0")
    assert (there / "CITATION.cff").read_bytes() == (own / "CITATION.cff").read_bytes()
    assert diff_folders(there, own).level == "none"
    (own / "release.toml").write_text("other", encoding="utf-8")
    (own / "LICENSE.txt").unlink()
    changed = diff_folders(there, own)
    assert (changed.level, changed.papers) == ("patch", ("release.toml", "LICENSE.txt"))


def test_files_of_others_are_kept(hub: StandIn, folder: Path) -> None:
    repo = hub.store.create(REPO, private=False)
    repo.commit("main", "notes", {**repo.at("main").tree, "NOTES.txt": small(b"mine")})
    run(folder)
    assert "NOTES.txt" in repo.at("v1.0.0").tree


def test_private_and_gated(hub: StandIn, folder: Path) -> None:
    run(folder, private=True, gated="manual")
    repo = hub.store.repo(REPO)
    assert (repo.private, repo.gated) == (True, "manual")


def test_a_large_release_goes_over_a_branch(
    hub: StandIn, folder: Path, newer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish_module, "FILES_PER_COMMIT", 3)
    run(folder)
    repo = hub.store.repo(REPO)
    assert holds(hub, folder, "v1.0.0") and holds(hub, folder, "main")
    assert list(repo.branches) == ["main"] and len(repo.commits) > 4
    # readers of main see the old card until the last commit
    hub.faults.append(Fault(route="commit", kind="status", status=403, skip=3))
    with pytest.raises(ReleaseError, match="HTTP 403"):
        run(newer, "1.1.0")
    assert repo.at("main").tree["README.md"] == repo.at("v1.0.0").tree["README.md"]
    run(newer, "1.1.0")
    run(newer, "1.1.0")
    assert holds(hub, newer, "main") and holds(hub, newer, "v1.1.0")
    # the older one once more: its tag is there, and main stays with the newer one
    assert run(folder) == "already published"
    assert holds(hub, newer, "main") and list(repo.branches) == ["main"]


def test_main_follows_a_large_release_that_stopped_after_its_tag(
    hub: StandIn, folder: Path, newer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish_module, "FILES_PER_COMMIT", 3)
    on_the_branch = stop_after_the_tag(hub, folder)
    repo = hub.store.repo(REPO)
    assert not holds(hub, folder, "main") and repo.tags["v1.0.0"] == on_the_branch
    assert run(folder) == "already published"
    assert holds(hub, folder, "main") and list(repo.branches) == ["main"]


def test_a_branch_that_was_left_never_takes_main_back(
    hub: StandIn, folder: Path, newer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish_module, "FILES_PER_COMMIT", 3)
    stop_after_the_tag(hub, folder)
    run(newer, "1.1.0")
    repo, said = hub.store.repo(REPO), list[str]()
    main = repo.branches["main"]
    assert list(repo.branches) == ["main", "release/v1.0.0"]
    assert run(folder, said=said) == "already published"
    assert repo.branches == {"main": main} and f"main has gone on since and stays at {main[:12]}" in said
    assert holds(hub, newer, "main") and holds(hub, folder, "v1.0.0")


def test_a_branch_that_cannot_be_deleted_is_deleted_by_the_next_run(
    hub: StandIn, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish_module, "FILES_PER_COMMIT", 3)
    hub.faults.append(Fault(route="unbranch", kind="status", status=403))
    with pytest.raises(ReleaseError, match="delete branch: HTTP 403"):
        run(folder)
    repo = hub.store.repo(REPO)
    assert holds(hub, folder, "main") and "release/v1.0.0" in repo.branches
    before = repo.branches["main"]
    hub.faults.append(Fault(route="unbranch", kind="drop"))  # done, but the answer is lost
    assert run(folder) == "already published"
    assert repo.branches == {"main": before}


def stop_after_the_tag(hub: StandIn, folder: Path) -> str:
    """Publish a large release up to main's first commit; return the head of its branch."""
    while REPO not in hub.store.repos or "v1.0.0" not in hub.store.repo(REPO).tags:
        hub.faults[:] = [Fault(route="commit", kind="status", status=403, skip=1)]
        with pytest.raises(ReleaseError, match="HTTP 403"):
            run(folder)
    hub.faults.clear()
    return hub.store.repo(REPO).branches["release/v1.0.0"]


ROUTES = (
    "whoami",
    "refs",
    "tree",
    "create",
    "preupload",
    "batch",
    "put",
    "verify",
    "commit",
    "tag",
    "validate",
)
FAULTS = [
    *(Fault(route=route, kind="status", status=500) for route in ROUTES),
    *(Fault(route=route, kind="status", status=503) for route in ROUTES),
    *(
        Fault(route=route, kind="status", status=429)
        for route in ("refs", "create", "preupload", "commit", "tag")
    ),
    *(
        Fault(route=route, kind="hang")
        for route in ("refs", "tree", "preupload", "batch", "put", "commit", "tag")
    ),
    *(Fault(route=route, kind="drop") for route in ("create", "put", "verify", "commit", "tag")),
    *(
        Fault(route=route, kind="truncate")
        for route in ("refs", "tree", "preupload", "batch", "commit", "tag")
    ),
    Fault(route="commit", kind="move_head"),
    Fault(route="commit", kind="status", status=500, times=9),
    Fault(route="tag", kind="status", status=503, times=9),
    Fault(route="put", kind="status", status=403, times=9),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f"{f.route}-{f.kind}-{f.status or ''}x{f.times}")
def test_no_fault_leaves_half_a_release(
    fault: Fault, hub: StandIn, folder: Path, newer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With any fault: no tag on a partial tree, no partial main; and a rerun completes."""
    import time

    patient = time.sleep
    monkeypatch.setattr(time, "sleep", lambda s: patient(min(s, 0.01) if s != 3.0 else s))
    hub.hang_s = 3.0
    fresh = fault.route == "create"
    if not fresh:
        stands(hub, folder)
    hub.faults.append(
        Fault(route=fault.route, kind=fault.kind, status=fault.status, times=fault.times, skip=fault.skip)
    )
    said: list[str] = []
    try:
        run(newer, "1.1.0", said=said)
    except ReleaseError as error:
        said.append(str(error))
        assert error.__cause__ is None
    if REPO in hub.store.repos:
        repo = hub.store.repo(REPO)
        untouched = [c.title for c in repo.commits.values() if "1.1.0" in c.title] == []
        assert untouched or holds(hub, newer, "main")
        assert "v1.1.0" not in repo.tags or holds(hub, newer, "v1.1.0")
    hub.faults.clear()
    assert run(newer, "1.1.0", said=said) in ("published", "already published")
    repo = hub.store.repo(REPO)
    assert holds(hub, newer, "main") and holds(hub, newer, "v1.1.0")
    assert [c.title for c in repo.commits.values()].count("Release 1.1.0") == 1
    if not fresh:
        assert holds(hub, folder, "v1.0.0")
    assert WRITE_TOKEN not in "".join(said) and "hf_" not in "".join(said)


def test_what_does_not_load_back_is_said(hub: StandIn, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tag stands on verified bytes, but a reader gets an error: exit with it."""
    monkeypatch.setenv("HF_TOKEN", WRITE_TOKEN)
    hub.faults.append(Fault(route="resolve", kind="status", status=403, times=99))
    with pytest.raises(ReleaseError, match=r"v1\.0\.0 stands, but \S+/test does not load from it"):
        run(folder, smoke=True)
    assert holds(hub, folder, "v1.0.0")


@pytest.mark.parametrize(
    ("token", "words"),
    [(READ_TOKEN, "HTTP 403"), ("hf_" + "x" * 30, "HTTP 401"), ("", "no token"), (WRITE_TOKEN + "\n", "")],
)
def test_tokens(
    token: str, words: str, hub: StandIn, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setenv("HF_TOKEN", token)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "none"))
    if not words:
        assert run(folder) == "published"
        return
    with pytest.raises(ReleaseError, match=words) as refused:
        run(folder)
    assert "hf_" not in str(refused.value)
    assert not hub.store.repos


def test_only_safe_endpoints(hub: StandIn, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://hub.example.org")
    with pytest.raises(ReleaseError, match="wanted https"):
        run(folder)
    monkeypatch.setenv("HF_ENDPOINT", "https://me:secret@hub.example.org")
    with pytest.raises(ReleaseError, match="an address with a password") as refused:
        run(folder)
    assert "secret@" not in str(refused.value)
    assert os.environ["HF_TOKEN"] == WRITE_TOKEN and hub.seen == []
