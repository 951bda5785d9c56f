"""Reasons against a release: everything that is looked at before a byte is sent, all reasons at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ... import ReleaseError
from ...builders.built import fault_of, read_manifest, shards_of
from ...builders.json_file import read_json, read_text
from ...builders.parquet_file import opened
from ...builders.schema import features
from ..about import read_about
from ..card import consents, licence_problems, render_card
from ..changelog import FILE as CHANGELOG
from ..changelog import read_changelog, versions
from ..croissant import FILE as CROISSANT
from ..summarize import Summary, summarize
from .files import release_names
from .secrets import find_secrets, find_secrets_in_rows

VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
FILLER = "[More Information Needed]"
SCAN_LIMIT_BYTES = 300_000_000
"""The Hub's viewer refuses to scan a row group above this."""


def reasons_against(folder: Path, *, repository: str, version: str) -> tuple[str, ...]:
    """Return why a folder may not be published as `version` of `repository`; nothing if it may.

    Raises
    ------
    ReleaseError
        If there is no finished dataset at all.
    """
    manifest = read_manifest(folder)
    found = [*wrong_names(repository, version), *_shards(folder, manifest), *_manifest(manifest)]
    if any(reason.startswith("shard ") for reason in found):
        # what stands in a broken shard says nothing about the rest
        return (*found, *_secrets(folder, manifest, rows=False))
    try:
        summary = summarize(folder)
    except ReleaseError as error:
        found.append(str(error))
    else:
        for part in (
            _facts(folder, summary),
            _changelog(folder, repository, version),
            _features(folder, summary),
            _papers(folder, summary.manifest, version, _again(folder, repository, version)),
            _card(folder, summary, repository, version),
        ):
            found += _until_unreadable(part)
    found += _secrets(folder, manifest, rows=True)
    return tuple(dict.fromkeys(found))


def _until_unreadable(reasons: Iterator[str]) -> Iterator[str]:
    """Yield reasons; a file that cannot be read is the last one of its part, so that the others are said too."""
    try:
        yield from reasons
    except ReleaseError as error:
        yield str(error)


def wrong_names(repository: str, version: str) -> Iterator[str]:
    """Yield what is wrong with where a release is to go, and as what."""
    if not REPOSITORY.fullmatch(repository):
        yield f"repository {repository!r}: wanted ORG/NAME of letters, digits, '.', '_' and '-'"
    if not VERSION.fullmatch(version):
        yield f"version {version!r}: wanted MAJOR.MINOR.PATCH, for example 1.0.0"


def _shards(folder: Path, manifest: dict[str, Any]) -> Iterator[str]:
    for shard in shards_of(folder, manifest):
        fault = fault_of(shard)
        if fault is not None:
            yield (
                f"shard {shard.name}: {fault.found}, the manifest says {fault.wanted}: changed or damaged after "
                f"it was built; build again"
            )
            continue
        with opened(shard.path) as file:
            groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        largest = max((group.total_byte_size for group in groups), default=0)
        if largest > SCAN_LIMIT_BYTES:
            yield (
                f"shard {shard.name}: a row group of {largest} bytes, the viewer scans at most {SCAN_LIMIT_BYTES}"
            )
        if not all(group.column(i).has_offset_index for group in groups for i in range(group.num_columns)):
            yield f"shard {shard.name}: no page index; build again with this version"
    for path in sorted(folder.rglob("*.parquet")):
        name = path.relative_to(folder).as_posix()
        if name not in manifest["files"]:
            yield f"{name}: a shard that the manifest does not know; take it out or build again"


def _manifest(manifest: dict[str, Any]) -> Iterator[str]:
    if not manifest["files"]:
        yield "manifest.json: no shards; there is nothing to publish"
    if manifest.get("generator", {}).get("dirty"):
        yield "manifest.json: built from a working tree with uncommitted changes; commit and build again"


def _facts(folder: Path, summary: Summary) -> Iterator[str]:
    yield from licence_problems(summary)
    about = read_about(folder)
    for voice, text in consents(summary, about).items():
        if not text:
            yield f'voice {voice!r}: no consent basis; state it in release.toml, [consent], {voice} = "..."'
    for llm in summary.llms:
        if not about.llm_terms.get(llm):
            yield f"language model {llm!r}: what its terms say of its output is not in release.toml, [llm_terms]"


def _again(folder: Path, repository: str, version: str) -> str:
    return f"run: duplexkit card {folder} --repo {repository} --version {version}"


def _changelog(folder: Path, repository: str, version: str) -> Iterator[str]:
    if not (folder / CHANGELOG).exists():
        yield f"{CHANGELOG} is missing; {_again(folder, repository, version)}"
    elif version not in versions(read_changelog(folder, version)):
        yield f"{CHANGELOG} has no section {version}; run: duplexkit diff OLD {folder} --write"


def _card(folder: Path, summary: Summary, repository: str, version: str) -> Iterator[str]:
    again = _again(folder, repository, version)
    path = folder / "README.md"
    if not path.is_file():
        yield f"README.md is missing; {again}"
        return
    text = read_text(path, cure=again)
    if FILLER in text:
        yield f"README.md still holds {FILLER!r}; {again}"
    front = _front(text)
    infos = front.get("dataset_info")
    listed = infos if isinstance(infos, list) else []
    stated = {str(info.get("version")) for info in listed if isinstance(info, dict)}
    about = replace(read_about(folder), repository=repository, version=version)
    if not front:
        yield f"README.md has no YAML head; {again}"
    elif summary.manifest_sha256 not in text:
        yield f"README.md is older than manifest.json (made from another one); {again}"
    elif stated != {version}:
        yield f"README.md says version {', '.join(sorted(stated))}, asked for {version}; {again}"
    elif text != render_card(summary, about, folder):
        yield (
            "README.md is not what the folder says (edited, or other plots, changelog or repository since); "
            f"put own words under notes in release.toml, and {again}"
        )


def _papers(folder: Path, manifest: dict[str, Any], version: str, again: str) -> Iterator[str]:
    """Say what is wrong with CITATION.cff and croissant.json, which may be absent but not of another release."""
    import yaml

    citation, croissant = folder / "CITATION.cff", folder / CROISSANT
    if citation.exists():
        try:
            stated = yaml.safe_load(read_text(citation, cure=again))
        except yaml.YAMLError as error:
            yield f"CITATION.cff: no YAML ({str(error).splitlines()[0]}); {again}"
        else:
            found = stated.get("version") if isinstance(stated, dict) else None
            if found != version:
                yield f"CITATION.cff says version {found}, asked for {version}; {again}"
    if croissant.exists():
        shape = {"version": object, "distribution": [{"@id": str, "sha256?": str}]}
        data = read_json(croissant, shape, cure=again)
        listed = {part["@id"]: part.get("sha256") for part in data["distribution"]}
        missing = [name for name, facts in manifest["files"].items() if listed.get(name) != facts["sha256"]]
        if missing or str(data["version"]) != version:
            yield f"{CROISSANT} is of another release; {again}"


def _front(text: str) -> dict[str, Any]:
    """Return the YAML head of a card; nothing where there is none."""
    import yaml

    parts = text.split("---\n", 2)
    try:
        front = yaml.safe_load(parts[1]) if len(parts) == 3 and not parts[0] else None
    except yaml.YAMLError:
        return {}
    return front if isinstance(front, dict) else {}


def _features(folder: Path, summary: Summary) -> Iterator[str]:
    import json

    wanted = features(summary.sample_rate_hz)
    others = []
    for name in summary.manifest["files"]:
        with opened(folder / name) as file:
            metadata = file.schema_arrow.metadata or {}
        if json.loads(metadata.get(b"huggingface", b"{}")).get("info", {}).get("features") != wanted:
            others.append(name)
    if others:
        yield (
            f"{len(others)} shards (first: {others[0]}): their features differ from the card's; "
            f"build again with this version"
        )


def _secrets(folder: Path, manifest: dict[str, Any], *, rows: bool) -> list[str]:
    names = [(name, folder / name) for name in release_names(folder) if (folder / name).is_file()]
    found = list(find_secrets(names))
    if rows:
        found += find_secrets_in_rows([(name, path) for name, path in names if name in manifest["files"]])
    return found
