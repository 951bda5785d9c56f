"""Reasons against a release: everything that is looked at before a byte is sent, all reasons at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ... import ReleaseError
from ...builders.schema import features
from ...builders.write import sha256_of
from ..about import read_about
from ..card import consents, licence_problems, render_card
from ..changelog import FILE as CHANGELOG
from ..changelog import versions
from ..croissant import FILE as CROISSANT
from ..summarize import Summary, read_manifest, summarize
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
    found = [*_names(repository, version), *_shards(folder, manifest), *_manifest(manifest)]
    if any(reason.startswith("shard ") for reason in found):
        # what stands in a broken shard says nothing about the rest
        return (*found, *_secrets(folder, manifest, rows=False))
    try:
        summary = summarize(folder)
        found += [*_facts(folder, summary), *_card(folder, summary, repository, version)]
    except ReleaseError as error:
        found.append(str(error))
    found += _secrets(folder, manifest, rows=True)
    return tuple(dict.fromkeys(found))


def _names(repository: str, version: str) -> Iterator[str]:
    if not REPOSITORY.fullmatch(repository):
        yield f"repository {repository!r}: wanted ORG/NAME of letters, digits, '.', '_' and '-'"
    if not VERSION.fullmatch(version):
        yield f"version {version!r}: wanted MAJOR.MINOR.PATCH, for example 1.0.0"


def _shards(folder: Path, manifest: dict[str, Any]) -> Iterator[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name, facts in manifest["files"].items():
        path = folder / name
        if not path.is_file():
            yield f"shard {name}: in the manifest, not in the folder; build again"
        elif sha256_of(path) != facts["sha256"]:
            yield f"shard {name}: other bytes than when it was built (SHA-256 differs); build again"
        else:
            try:
                data = pq.read_metadata(path)
            except (pa.ArrowException, OSError) as error:
                yield f"shard {name}: no Parquet file ({error}); build again"
                continue
            groups = [data.row_group(i) for i in range(data.num_row_groups)]
            if data.num_rows != facts["rows"]:
                yield f"shard {name}: {data.num_rows} rows, the manifest says {facts['rows']}; build again"
            largest = max((group.total_byte_size for group in groups), default=0)
            if largest > SCAN_LIMIT_BYTES:
                yield f"shard {name}: a row group of {largest} bytes, the viewer scans at most {SCAN_LIMIT_BYTES}"
            if not all(
                group.column(i).has_offset_index for group in groups for i in range(group.num_columns)
            ):
                yield f"shard {name}: no page index; build again with this version"
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


def _card(folder: Path, summary: Summary, repository: str, version: str) -> Iterator[str]:
    again = f"run: duplexkit card {folder} --repo {repository} --version {version}"
    changelog = folder / CHANGELOG
    if not changelog.is_file():
        yield f"{CHANGELOG} is missing; {again}"
    elif version not in versions(changelog.read_text(encoding="utf-8")):
        yield f"{CHANGELOG} has no section {version}; run: duplexkit diff OLD {folder} --write"
    yield from _features(folder, summary)
    yield from _papers(folder, summary.manifest, version, again)
    path = folder / "README.md"
    if not path.is_file():
        yield f"README.md is missing; {again}"
        return
    text = path.read_text(encoding="utf-8")
    if FILLER in text:
        yield f"README.md still holds {FILLER!r}; {again}"
    front = _front(text)
    stated = {str(info.get("version")) for info in front.get("dataset_info", [])}
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
    import json

    import yaml

    citation, croissant = folder / "CITATION.cff", folder / CROISSANT
    if citation.is_file():
        stated = (yaml.safe_load(citation.read_text(encoding="utf-8")) or {}).get("version")
        if stated != version:
            yield f"CITATION.cff says version {stated}, asked for {version}; {again}"
    if croissant.is_file():
        data = json.loads(croissant.read_text(encoding="utf-8"))
        listed = {part.get("@id"): part.get("sha256") for part in data.get("distribution", [])}
        missing = [name for name, facts in manifest["files"].items() if listed.get(name) != facts["sha256"]]
        if missing or str(data.get("version")) != version:
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

    import pyarrow.parquet as pq

    wanted = features(summary.sample_rate_hz)
    others = []
    for name in summary.manifest["files"]:
        metadata = pq.read_schema(folder / name).metadata or {}
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
