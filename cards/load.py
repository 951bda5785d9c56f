"""Rows of a release with their audio as arrays: the version that was asked for, or an error, also offline."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import ReleaseError
from ..builders.built import MANIFEST, manifest_in, read_manifest
from ..builders.schema import AUDIO_COLUMNS
from ..builders.write import read_rows

PAPERS = ("README.md", "CITATION.cff", "croissant.json", "release.toml", "LICENSE*")
"""What describes the rows and stands beside them: patterns of names."""


def load(
    source: str | Path, config: str, split: str, *, version: str | None = None
) -> Iterator[dict[str, Any]]:
    """Return the rows of one split, one by one, in their released order.

    Parameters
    ----------
    source
        A built folder, or a dataset repository ORG/NAME on the Hub.
    config
        For example ``user_interruption-en``, or ``user_interruption`` for all its languages.
    split
        ``train``, ``validation`` or ``test``.
    version
        MAJOR.MINOR.PATCH. Required for a repository; of a folder it is compared with what the card says.

    Returns
    -------
    Iterator of dict
        Columns as released, but each track as float32 of shape (n,), or None.

    Raises
    ------
    ReleaseError
        If that version, configuration or split is not there; offline also if it is not in the cache.
    """
    folder = Path(source)
    if not folder.is_dir():
        if version is None:
            raise ReleaseError(
                f"load {source}: a repository needs version=...; without one a cache may serve another"
            )
        folder = fetch(str(source), version, config)
    stated = version_of_card(folder)
    if version is not None and stated != version:
        raise ReleaseError(f"{source}: holds version {stated}, asked for {version}")
    shards = _shards(folder, config, split)
    return _rows(shards)


def version_of_card(folder: Path) -> str:
    """Return the version that a folder's card states.

    Raises
    ------
    ReleaseError
        If there is no card, or it states none.
    """
    import yaml

    path = folder / "README.md"
    try:
        front = yaml.safe_load(path.read_text(encoding="utf-8").split("---\n", 2)[1])
        return str(front["dataset_info"][0]["version"])
    except (OSError, UnicodeError, yaml.YAMLError, IndexError, KeyError, TypeError) as error:
        raise ReleaseError(
            f"{path}: states no version ({type(error).__name__}); write the card anew"
        ) from None


def fetch(repository: str, version: str, config: str | None = None) -> Path:
    """Return a folder with manifest, papers and shards of a released version, from the cache or the Hub.

    Raises
    ------
    ReleaseError
        If the version is not to be had, whole.
    """
    import httpx2  # what huggingface_hub speaks HTTP with: its errors pass through
    from huggingface_hub import hf_hub_download, snapshot_download
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, LocalEntryNotFoundError

    tag = f"v{version}"
    where = f"{repository} {tag}"
    try:
        # a tag is asked for by name, so that a cache with other versions has no say
        path = hf_hub_download(repository, MANIFEST, repo_type="dataset", revision=tag)
        manifest = manifest_in(Path(path))
        names = [name for name, facts in manifest["files"].items() if _belongs(facts["config"], config)]
        folder = Path(
            snapshot_download(
                repository,
                repo_type="dataset",
                revision=tag,
                allow_patterns=[*PAPERS, "CHANGELOG.md", MANIFEST, *names],
            )
        )
    except (HfHubHTTPError, LocalEntryNotFoundError, EntryNotFoundError, httpx2.HTTPError, OSError) as error:
        raise ReleaseError(
            f"{where}: not to be had here ({type(error).__name__}); check the version and the connection"
        ) from None
    for name in names:
        file = folder / name
        if not file.is_file() or file.stat().st_size != manifest["files"][name]["bytes"]:
            raise ReleaseError(f"{where}: {name} is not in the cache whole; connect and load again")
    return folder


def _belongs(config_of_file: str, config: str | None) -> bool:
    return config is None or config in (config_of_file, config_of_file.split("-")[0])


def _shards(folder: Path, config: str, split: str) -> list[Path]:
    manifest = read_manifest(folder)
    languages = {language: i for i, language in enumerate(manifest["recipe"]["languages"])}
    files = manifest["files"]
    known = sorted(
        {f["config"] for f in files.values()} | {f["config"].split("-")[0] for f in files.values()}
    )
    chosen = [
        (languages.get(facts["config"].partition("-")[2], 0), name)
        for name, facts in files.items()
        if _belongs(facts["config"], config) and facts["split"] == split
    ]
    if config not in known:
        raise ReleaseError(f"{folder}: no configuration {config!r}; there are {', '.join(known)}")
    if not chosen:
        splits = sorted({f["split"] for f in files.values() if _belongs(f["config"], config)})
        raise ReleaseError(f"{folder}: {config} has no split {split!r}; there are {', '.join(splits)}")
    return [folder / name for _, name in sorted(chosen)]


def _rows(shards: list[Path]) -> Iterator[dict[str, Any]]:
    import soundfile

    for shard in shards:
        for row in read_rows(shard):
            for track in AUDIO_COLUMNS:
                if row[track] is not None:
                    row[track] = soundfile.read(io.BytesIO(row[track]["bytes"]), dtype="float32")[0]
            yield row
