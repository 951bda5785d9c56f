"""Check a built folder, show what would go; with --push send it as one commit, verify, tag, and read it back."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from duplexkit import DuplexkitError, ReleaseError
from duplexkit.builders.inputs import folder_there
from duplexkit.builders.stopping import Stopped, say, stop_signals
from duplexkit.cards.release.files import ReleaseFile, left_out, release_files
from duplexkit.cards.release.gate import reasons_against
from duplexkit.cards.release.hub import Hub, HubError, endpoint_of, open_hub
from duplexkit.cards.release.plan import ReleasePlan, plan_against
from duplexkit.cards.release.secrets import scrub
from duplexkit.cards.release.smoke import smoke_load

FILES_PER_COMMIT = 100
"""The Hub recommends 50 to 100 files in a commit; more go over a release branch."""

COMMIT_ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """What is asked: which folder goes where, as what. `private` and `gated` None: as they are."""

    folder: Path
    repository: str
    version: str
    push: bool = False
    private: bool | None = None
    gated: str | None = None
    smoke: bool = True
    answer_within_s: float = 90.0

    @property
    def tag(self) -> str:
        """The version's tag."""
        return f"v{self.version}"

    @property
    def branch(self) -> str:
        """The branch over which a large release goes; it is deleted when main has followed."""
        return f"release/{self.tag}"

    @property
    def title(self) -> str:
        """The title of the version's commits."""
        return f"Release {self.version}"


def publish(release: Release, say: Callable[[str], None]) -> str:
    """Publish a release, or show what would be done; return ``shown``, ``published`` or ``already published``.

    It may be run again at any point: what is there already is not sent twice, and the tag comes last.

    Raises
    ------
    ReleaseError
        If the folder may not go out (all reasons at once), the tag stands on other content, or the Hub
        refuses or does not answer.
    """
    reasons = list(reasons_against(release.folder, repository=release.repository, version=release.version))
    try:
        endpoint_of()
    except ReleaseError as error:
        reasons.append(str(error))
    if reasons:
        raise ReleaseError(
            f"{release.folder} may not go out as {release.repository} {release.version}:\n"
            + "\n".join(f"  - {scrub(reason)}" for reason in reasons)
        )
    files = release_files(release.folder)
    with open_hub(release.repository, answer_within_s=release.answer_within_s) as hub:
        return _publish(release, hub, files, say)


def _publish(release: Release, hub: Hub, files: tuple[ReleaseFile, ...], say: Callable[[str], None]) -> str:
    say(f"{release.repository} {release.tag} at {hub.endpoint} as {hub.who()}")
    tagged = hub.tag(release.tag)
    if tagged:
        return _already(release, hub, files, tagged, say)
    head = hub.head()
    plan = plan_against(files, hub.tree(head) if head else {})
    _show(release, plan, head, say)
    if not release.push:
        say("nothing sent; send with --push")
        return "shown"
    if not hub.has_token:
        raise ReleaseError("no token: set HF_TOKEN, run `hf auth login`, or publish from CI by OIDC")
    if not head:
        hub.create(private=bool(release.private))
        head = hub.head()
        plan = plan_against(files, hub.tree(head))
    if release.private is not None or release.gated is not None:
        hub.settings(private=release.private, gated=release.gated)
    if len(plan.adds) + len(plan.deletes) > FILES_PER_COMMIT:
        commit = _send_by_branch(release, hub, files, head, say)
        _tag(release, hub, files, commit, say)
        commit = _send_in_parts(release, hub, files, head, "main", say)
        _verify(hub, files, commit)
        hub.delete_branch(release.branch)
    else:
        commit = _send(release, hub, files, plan, head, say)
        _tag(release, hub, files, commit, say)
    if release.smoke:
        say(smoke_load(release.folder, release.repository, release.version))
    say(f"published {release.repository} {release.tag}")
    return "published"


def _already(
    release: Release, hub: Hub, files: tuple[ReleaseFile, ...], tagged: str, say: Callable[[str], None]
) -> str:
    """Answer for a tag that stands: the same content is done, other content is refused."""
    plan = plan_against(files, hub.tree(tagged))
    if not plan.done:
        names = [file.name for file in plan.adds] + list(plan.deletes)
        raise ReleaseError(
            f"{release.repository} {release.tag}: the tag stands on other content "
            f"({len(names)} files differ, first: {', '.join(names[:3])}); tags never move: raise the version"
        )
    if release.push:
        if hub.head(release.branch):  # a large release was stopped after its tag
            _follow(release, hub, files, say)
        if release.private is not None or release.gated is not None:
            hub.settings(private=release.private, gated=release.gated)
    say(f"already published: {release.repository} {release.tag} is commit {tagged[:12]}")
    return "already published"


def _follow(release: Release, hub: Hub, files: tuple[ReleaseFile, ...], say: Callable[[str], None]) -> None:
    """Bring main to a tagged release whose branch stands, and delete the branch.

    Main is left as it is where it has gone on since: its newest commits, this release's own apart, must lead
    to where the branch began.
    """
    main = hub.head()
    if not plan_against(files, hub.tree(main)).done:
        ancestors = {commit for commit, _ in hub.history(release.branch)}
        begun = (commit for commit, title in hub.history("main") if title != release.title)
        if next(begun, "") in ancestors:
            _verify(hub, files, _send_in_parts(release, hub, files, main, "main", say))
        else:
            say(f"main has gone on since and stays at {main[:12]}")
    hub.delete_branch(release.branch)


def _show(release: Release, plan: ReleasePlan, head: str, say: Callable[[str], None]) -> None:
    say(f"head: {head[:12] or 'none: the repository will be made'}")
    for file in plan.adds:
        say(f"  add     {file.name}  {file.size} bytes  sha256 {file.sha256[:12]}")
    for name in plan.deletes:
        say(f"  delete  {name}")
    for name in plan.foreign:
        say(f"  keep    {name} (not ours)")
    for name in left_out(release.folder):
        say(f"  local   {name} (stays here)")
    say(
        f"{len(plan.adds)} to add ({plan.n_bytes} bytes before deduplication), {len(plan.deletes)} to delete, "
        f"{len(plan.unchanged)} unchanged"
    )


def _send(
    release: Release,
    hub: Hub,
    files: tuple[ReleaseFile, ...],
    plan: ReleasePlan,
    head: str,
    say: Callable[[str], None],
) -> str:
    """Send everything as one commit; return the commit that holds the release."""
    if plan.done:
        say("the head holds this release already")
        return head
    commit = _commit(hub, plan, head, release.title, "main", files)
    say(f"commit {commit[:12]}")
    return commit


def _commit(
    hub: Hub, plan: ReleasePlan, head: str, title: str, branch: str, files: tuple[ReleaseFile, ...]
) -> str:
    """Send one commit and return it; a lost answer is settled by looking at the tree.

    The Hub may finish a commit after the client gave up. So nothing is sent twice blindly: if the branch
    has moved, either it holds what was planned, or somebody else was there and the release is refused.
    """
    wanted = {file.name: file for file in files}
    for attempt in range(COMMIT_ATTEMPTS):
        failure: HubError | None = None
        try:
            hub.commit(plan, parent=head, title=title, branch=branch)
        except HubError as error:
            failure = error
        now = hub.head(branch)
        if now != head:
            left = plan_against(tuple(wanted.values()), hub.tree(now))
            pending = {file.name for file in left.adds} & {file.name for file in plan.adds}
            if not pending and not set(left.deletes) & set(plan.deletes):
                return now
            raise ReleaseError(
                f"{hub.repository} {branch}: moved from {head[:12]} to {now[:12]} while publishing; nothing of "
                f"ours was committed: look at it, then run the same command again"
            )
        if failure is None or not failure.passing or attempt == COMMIT_ATTEMPTS - 1:
            raise failure or ReleaseError(f"{hub.repository}: the commit left no trace; run again")
        time.sleep(2.0**attempt / 2)
    raise AssertionError("unreachable")


def _send_by_branch(
    release: Release, hub: Hub, files: tuple[ReleaseFile, ...], head: str, say: Callable[[str], None]
) -> str:
    """Send a large release to a branch of its own; return the branch's head, which holds all of it."""
    hub.branch(release.branch, head)
    return _send_in_parts(release, hub, files, hub.head(release.branch), release.branch, say)


def _send_in_parts(
    release: Release,
    hub: Hub,
    files: tuple[ReleaseFile, ...],
    head: str,
    branch: str,
    say: Callable[[str], None],
) -> str:
    """Bring a branch to the release in several commits; the card and the deletes come last.

    The card names its shards one by one, so that readers of a half-sent branch see the old release.
    """
    while True:
        plan = plan_against(files, hub.tree(head))
        if plan.done:
            return head
        shards = [file for file in plan.adds if file.name.endswith(".parquet")]
        if len(plan.adds) + len(plan.deletes) > FILES_PER_COMMIT and shards:
            part = ReleasePlan(
                adds=tuple(shards[:FILES_PER_COMMIT]), deletes=(), unchanged=(), foreign=plan.foreign
            )
        else:
            part = plan
        head = _commit(hub, part, head, release.title, branch, files)
        say(f"{branch}: commit {head[:12]}, {len(part.adds)} added, {len(part.deletes)} deleted")


def _verify(hub: Hub, files: tuple[ReleaseFile, ...], commit: str) -> None:
    """Compare every file's hash, size and name with a commit's tree.

    Raises
    ------
    ReleaseError
        If one differs, is missing, or a stale one is left.
    """
    plan = plan_against(files, hub.tree(commit))
    if not plan.done:
        raise ReleaseError(
            f"{hub.repository}: commit {commit[:12]} does not hold the release "
            f"(differing or missing: {[f.name for f in plan.adds]}, stale: {list(plan.deletes)}); run again"
        )


def _tag(
    release: Release, hub: Hub, files: tuple[ReleaseFile, ...], commit: str, say: Callable[[str], None]
) -> None:
    """Verify a commit, then set the tag on it; an answer that is lost is settled by reading the tag."""
    _verify(hub, files, commit)
    say(f"verified: {len(files)} files by hash")
    for attempt in range(COMMIT_ATTEMPTS):
        failure: HubError | None = None
        try:
            hub.create_tag(release.tag, commit=commit, message=release.title)
        except HubError as error:
            failure = error
        now = hub.tag(release.tag)
        if now == commit:
            say(f"tag {release.tag} on {commit[:12]}")
            return
        if now:
            raise ReleaseError(
                f"{hub.repository} {release.tag}: somebody set this tag on {now[:12]} meanwhile; tags never move: "
                f"raise the version"
            )
        if failure is None or not failure.passing or attempt == COMMIT_ATTEMPTS - 1:
            raise failure or ReleaseError(f"{hub.repository}: the tag left no trace; run again")
        time.sleep(2.0**attempt / 2)


def add_commands(app: typer.Typer) -> None:
    """Add `publish` to the command line."""

    @app.command("publish")
    def command(
        folder: Annotated[Path, typer.Argument(help="A built folder with its card.", callback=folder_there)],
        repo: Annotated[str, typer.Option("--repo", metavar="ORG/NAME", help="The dataset repository.")],
        version: Annotated[str, typer.Option("--version", metavar="X.Y.Z", help="Its tag will be vX.Y.Z.")],
        push: Annotated[bool, typer.Option("--push", help="Send; without it nothing is sent.")] = False,
        private: Annotated[bool, typer.Option("--private", help="Make the repository private.")] = False,
        gated: Annotated[str | None, typer.Option("--gated", help="auto or manual: ask for consent.")] = None,
    ) -> None:
        """Check a built folder, show what would go; with --push send it as one commit and tag it."""
        if gated not in (None, "auto", "manual"):
            raise DuplexkitError(f"--gated {gated}: wanted auto or manual")
        release = Release(
            folder=folder,
            repository=repo,
            version=version,
            push=push,
            private=private or None,
            gated=gated,
        )
        publish(release, lambda text: typer.echo(scrub(text)))


def main(argv: list[str] | None = None) -> int:
    """Run the command; return 0 done or shown, 1 refused, 2 wrong usage, 130 or 143 stopped."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    add_commands(app)
    try:
        with stop_signals():
            app(args=argv, prog_name="publish")
    except Stopped as stopped:
        return say(stopped)
    except ReleaseError as error:
        print(f"duplexkit: {scrub(str(error))}", file=sys.stderr)
        return 1
    except DuplexkitError as error:
        print(f"duplexkit: {scrub(str(error))}", file=sys.stderr)
        return 2
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
