"""A built folder to croissant.json: the dataset's files and columns as other tools read them (MLCommons)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .. import ReleaseError
from ..builders.schema import COLUMNS, Type
from ..whole_file import beside
from .about import About
from .licenses import LICENCES
from .summarize import Summary
from .variant_section import variant_lines

FILE = "croissant.json"

NO_DIGEST = "https://github.com/mlcommons/croissant/issues/80"
"""What the format's authors put where a git repository has no SHA-256."""

_SCHEMA_ORG = "https://schema.org/"

_TYPES = {
    "string": "Text",
    "float64": "Float",
    "float32": "Float",
    "int32": "Integer",
    "int64": "Integer",
    "bool": "Boolean",
    "audio": "AudioObject",
}


def write_croissant(folder: Path, summary: Summary, *, about: About, version: str, title: str) -> None:
    """Write croissant.json of a folder (format 1.0), validated.

    Raises
    ------
    ReleaseError
        If mlcroissant finds an error in it.

    References
    ----------
    Croissant Format Specification, version 1.0 (MLCommons, 2024).
    """
    import mlcroissant as mlc  # type: ignore[import-untyped]

    home = f"https://huggingface.co/datasets/{about.repository}"
    whole = mlc.FileObject(
        id="repo",
        name="repo",
        description=f"the repository at tag v{version}",
        content_url=f"{home}/tree/v{version}",
        encoding_formats=["git+https"],
        sha256=NO_DIGEST,
    )
    shards = mlc.FileSet(
        id="shards",
        name="shards",
        description="all shards; the columns scenario, language and split say which configuration a row is of",
        contained_in=["repo"],
        encoding_formats=["application/x-parquet"],
        includes=["*/*/*.parquet"],
    )
    distribution: list[Any] = [whole, shards]
    rows = mlc.RecordSet(
        id="rows",
        name="rows",
        description=f"every row of the configurations {', '.join(summary.configs)}",
        fields=[_field(f"rows/{c.name}", c.name, c.type, c.meaning, []) for c in COLUMNS],
    )
    for name, facts in summary.manifest["files"].items():
        distribution.append(
            mlc.FileObject(
                id=name,
                name=name,
                description=f"{facts['rows']} rows of {facts['config']}, {facts['split']}",
                content_url=f"{home}/resolve/v{version}/{name}",
                content_size=f"{facts['bytes']} B",
                encoding_formats=["application/x-parquet"],
                sha256=facts["sha256"],
            )
        )
    recipe = summary.manifest["recipe"]
    licence = LICENCES.get(recipe["licence"])
    metadata = mlc.Metadata(
        name=title,
        description=_description(recipe["description"], summary) or title,
        version=version,
        license=[f"https://spdx.org/licenses/{licence.id}" if licence else recipe["licence"]],
        url=home,
        in_language=list(summary.languages),
        creators=[mlc.Person(name=author.name) for author in about.authors],
        cite_as=f"{title} {version}, {home}",
        distribution=distribution,
        record_sets=[rows],
    )
    with beside(folder / FILE) as part:
        part.write_text(
            json.dumps(metadata.to_json(), indent=1, ensure_ascii=False, default=str) + "\n", encoding="utf-8"
        )
        try:
            mlc.Dataset(jsonld=str(part))
        except mlc.ValidationError as error:
            raise ReleaseError(f"{folder / FILE}: not valid ({error})") from None


def _description(stated: str, summary: Summary) -> str:
    """Return the recipe's description, and of a variant of what it is one, without Markdown."""
    of_a_variant = (line.replace("`", "") for line in variant_lines(summary.manifest))
    return " ".join(filter(None, (stated, *of_a_variant)))


def _field(id_: str, name: str, type_: Type, meaning: str, path: list[str]) -> Any:
    import mlcroissant as mlc

    column, *inside = [*path, name]
    source = mlc.Source(
        file_set="shards",
        extract=mlc.Extract(column=column),
        transforms=[mlc.Transform(json_path=".".join(inside))] if inside else [],
    )
    repeated = isinstance(type_, list)
    element = type_[0] if isinstance(type_, list) else type_
    if isinstance(element, dict):
        return mlc.Field(
            id=id_,
            name=id_,
            description=meaning,
            repeated=repeated or None,
            sub_fields=[
                _field(f"{id_}/{key}", key, part, key, [*path, name]) for key, part in element.items()
            ],
        )
    return mlc.Field(
        id=id_,
        name=id_,
        description=meaning,
        data_types=[_SCHEMA_ORG + _TYPES[element]],
        repeated=repeated or None,
        source=source,
    )
