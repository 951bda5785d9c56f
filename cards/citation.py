"""How to cite a release: BibTeX for the card, CITATION.cff for the folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .about import About


def bibtex(*, title: str, version: str, about: About) -> str:
    """Return a BibTeX entry; what nobody stated is left out."""
    key = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "dataset"
    fields = {
        "title": f"{title} {version}",
        "author": " and ".join(author.name for author in about.authors),
        "year": about.date[:4],
        "version": version,
        "doi": about.doi,
        "url": f"https://huggingface.co/datasets/{about.repository}" if about.repository else "",
        "note": "made with duplexkit",
    }
    body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@misc{{{key},\n{body}\n}}"


def citation_cff(
    *, title: str, version: str, licence: str, about: About, bases: Iterable[Mapping[str, Any]] = ()
) -> str:
    """Return CITATION.cff (format 1.2.0) of a release.

    `bases` gives the name and version of each build that it is a variant of: they become its references.

    Notes
    -----
    The format wants at least one author; where none is known, the title's owners stand there as an entity.
    """
    import yaml

    authors = [
        {
            "name": author.name,
            **({"affiliation": author.affiliation} if author.affiliation else {}),
            **({"orcid": f"https://orcid.org/{author.orcid}"} if author.orcid else {}),
        }
        for author in about.authors
    ] or _makers(title)
    references = [
        {
            "type": "dataset",
            "title": base["name"],
            "version": base["version"],
            "authors": _makers(base["name"]),
        }
        for base in bases
    ]
    data = {
        "cff-version": "1.2.0",
        "message": "If you use this dataset, please cite it.",
        "type": "dataset",
        "title": title,
        "version": version,
        "license": licence,
        "authors": authors,
        **({"date-released": about.date} if about.date else {}),
        **({"doi": about.doi} if about.doi else {}),
        **({"url": f"https://huggingface.co/datasets/{about.repository}"} if about.repository else {}),
        **({"references": references} if references else {}),
    }
    return str(yaml.safe_dump(data, sort_keys=False, allow_unicode=True))


def _makers(title: str) -> list[dict[str, str]]:
    return [{"name": f"The makers of {title}"}]
