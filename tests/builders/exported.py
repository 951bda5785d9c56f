"""What the tests of exports share: datasets of tones, built once, and changed copies of them."""

import atexit
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from duplexkit.builders.build import build
from duplexkit.builders.export import FORMATS
from duplexkit.builders.export.format import Finding, Options
from duplexkit.builders.export.run import Exported, export
from duplexkit.builders.export.source import open_source, rows_of
from duplexkit.builders.write import manifest, write_split
from duplexkit.scenarios import SCENARIOS
from duplexkit.scenarios.recipe import load_recipe
from tests import tone
from tests.conftest import tone_recipe_text

Row = dict[str, Any]

LANGUAGES = ("en", "ja")


@cache
def _room() -> Path:
    place = Path(tempfile.mkdtemp(prefix="duplexkit-export-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


@cache
def dataset(*scenarios: str, count: int = 2, extra: str = "", room: str | None = None) -> Path:
    """Return a built folder of tones; `extra` goes into the table of the last scenario."""
    tone.install()
    place = Path(tempfile.mkdtemp(dir=_room()))
    text = tone_recipe_text(
        *scenarios, count=count, room=room, extra={scenarios[-1]: extra} if scenarios else {}
    )
    text += "[checks]\nmax_rejected_fraction = 1.0\n"  # a few more or less: tests count what there is
    (place / "recipe.toml").write_text(text, encoding="utf-8")
    return build(
        load_recipe(str(place / "recipe.toml")),
        place / "out",
        cache_dir=_room() / "cache",
        workers=1,
        describe=lambda folder: None,
        progress=lambda outcome, done, total: None,
    ).folder


def everything() -> Path:
    """Return a dataset of all scenarios; interruptions by the numbers of Full-Duplex-Bench v1.5."""
    return many(2)


def many(count: int) -> Path:
    """Return a dataset of all scenarios with `count` samples of each and language."""
    scenarios = sorted(SCENARIOS, key=lambda name: name == "user_interruption")
    return dataset(*scenarios, count=count, extra='preset = "fdb-v1.5"\n')


def interruptions() -> Path:
    """Return user interruptions by the numbers of Full-Duplex-Bench v1."""
    return dataset("user_interruption", count=4, extra='preset = "fdb-v1"\n')


def rows(folder: Path) -> dict[str, Row]:
    return {row["id"]: row for row in rows_of(open_source(str(folder)))}


def changed(folder: Path, out: Path, change: Callable[[Iterator[Row]], Iterator[Row]]) -> Path:
    """Write a dataset again with its rows changed: fields, number or order."""
    source = open_source(str(folder))
    facts: dict[str, dict[str, Any]] = {}
    for shard in source.shards:
        one = open_source(str(folder), configs=(shard.config,), splits=(shard.split,))
        scenario, _, language = shard.config.partition("-")
        n = 0

        def counted(one: Any = one) -> Iterator[Row]:
            nonlocal n
            for row in change(rows_of(one)):
                n += 1
                yield row

        for path in write_split(out / scenario / language, shard.split, counted(), 24000):
            facts[path.relative_to(out).as_posix()] = {
                "config": shard.config,
                "split": shard.split,
                "rows": n,
                "seconds": 0.0,
            }
    recipe = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["recipe"]
    described = manifest(out, recipe=recipe, recipe_digest="changed", shards=facts, n_rejected=0)
    (out / "manifest.json").write_text(json.dumps(described), encoding="utf-8")
    return out


def by_their_rule(stream: Iterator[Row]) -> Iterator[Row]:
    """Change rows of tones, whose lengths leave FDB's, to what speech would be."""
    for row in stream:
        yield {**row, "fdb_relation": "same-rule" if row["fdb_relation"] == "own" else row["fdb_relation"]}


def run(folder: Path, out: Path, to: str, overwrite: bool = False, **options: Any) -> Exported:
    if to == "fdb":
        options.setdefault("author_q", True)  # tones have no listeners
    return export(
        open_source(str(folder)),
        out,
        FORMATS[to],
        Options(**options),
        overwrite=overwrite,
        progress=lambda done, total: None,
    )


@cache
def exported(to: str) -> Path:
    """Return an export of `everything` to a format, made once; tests copy it before they change it."""
    place = Path(tempfile.mkdtemp(prefix=to, dir=_room())) / "out"
    run(everything(), place, to, dataset="tones")
    return place


def findings(folder: Path, to: str) -> list[Finding]:
    return list(FORMATS[to].check(folder))


def places(out: Path) -> dict[str, str]:
    """Return where each row lies: row id to place."""
    listed = json.loads((out / "export.json").read_text(encoding="utf-8"))["samples"]
    return {row_id: place for place, row_id in listed.items()}
