"""What a card says of a variant: the build it was made from, and each key that was changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .tables import Table


def bases(manifest: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield what the manifest says of the build that a variant was made from, then of the one that this came of."""
    facts = manifest.get("variant_of")
    while facts is not None:
        yield facts
        facts = facts.get("variant_of")


def variant_lines(manifest: Mapping[str, Any]) -> list[str]:
    """Return a sentence on the build that a variant was made from, and one on each that this one is of in turn.

    Nothing where the manifest is not that of a variant.

    Examples
    --------
    >>> of = {"name": "a", "version": "1.0.0", "recipe_digest": "0123456789abcdef0123", "asked": ["--engine x"]}
    >>> variant_lines({"recipe": {"name": "b"}, "variant_of": of})
    ['`b` is a variant of `a` 1.0.0 (recipe digest `0123456789abcdef`), made with `--engine x`.']
    """
    lines = []
    name = manifest["recipe"]["name"]
    for facts in bases(manifest):
        asked = ", ".join(f"`{word}`" for word in facts["asked"])
        lines.append(
            f"`{name}` is a variant of `{facts['name']}` {facts['version']} (recipe digest "
            f"`{facts['recipe_digest'][:16]}`), made with {asked}."
        )
        name = facts["name"]
    return lines


def variant_table(manifest: Mapping[str, Any]) -> Table:
    """Return each key of the recipe that is another than in the build, with both values."""
    changed = manifest.get("variant_of", {}).get("changed", {})
    return [
        ["key", "was", "is"],
        *([f"`{key}`", _text(values["was"]), _text(values["is"])] for key, values in changed.items()),
    ]


def _text(value: Any) -> str:
    return "not set" if value is None else f"`{json.dumps(value, ensure_ascii=False)}`"
