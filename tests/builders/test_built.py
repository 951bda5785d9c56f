"""Opening a built folder: its shards are those of the manifest to the byte, or it is said what differs."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from duplexkit import ReleaseError
from duplexkit.builders.built import fault_of, manifest_in, open_built, read_manifest, rows_in, shards_of
from duplexkit.builders.json_file import read_json, read_json_lines
from tests.builders import exported as ex


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ex.dataset("pause_handling"), tmp_path / "built"))


def test_a_whole_folder_opens(folder: Path) -> None:
    built = open_built(folder)
    listed = json.loads((folder / "manifest.json").read_text("utf-8"))["files"]
    assert [shard.name for shard in built.shards] == list(listed)
    for shard in built.shards:
        assert shard.sha256 == hashlib.sha256(shard.path.read_bytes()).hexdigest()
        assert shard.n_bytes == shard.path.stat().st_size
    rows = list(rows_in(built.shards))
    assert len(rows) == sum(shard.n_rows for shard in built.shards) == len({row["id"] for row in rows})


def test_a_flipped_bit_names_file_hashes_and_cure(folder: Path) -> None:
    shard = open_built(folder).shards[0]
    data = bytearray(shard.path.read_bytes())
    data[len(data) // 2] ^= 1
    shard.path.write_bytes(bytes(data))
    with pytest.raises(ReleaseError) as refused:
        open_built(folder)
    assert str(refused.value) == (
        f"{shard.path}: SHA-256 {hashlib.sha256(data).hexdigest()}, manifest.json says SHA-256 {shard.sha256}: "
        f"changed or damaged after it was built; build or fetch the folder again"
    )


def test_every_damaged_shard_counts(folder: Path) -> None:
    shards = shards_of(folder, read_manifest(folder))
    assert len(shards) == 2
    shards[0].path.unlink()
    shards[1].path.write_bytes(b"")
    with pytest.raises(ReleaseError) as refused:
        open_built(folder)
    assert f"{shards[0].path}: missing, manifest.json says a Parquet file" in str(refused.value)
    assert f"{shards[1].path}: 0 bytes, manifest.json says {shards[1].n_bytes} bytes" in str(refused.value)


def test_a_manifest_that_was_made_to_fit_does_not_make_parquet(folder: Path) -> None:
    name = next(iter(read_manifest(folder)["files"]))
    (folder / name).write_bytes(b"PAR1 and nothing else PAR1")
    content = (folder / name).read_bytes()
    manifest = read_manifest(folder)
    manifest["files"][name].update(sha256=hashlib.sha256(content).hexdigest(), bytes=len(content))
    shard = next(shard for shard in shards_of(folder, manifest) if shard.name == name)
    fault = fault_of(shard)
    assert fault is not None and fault.found.startswith("no Parquet file that can be read (")


def test_fewer_rows_than_stated(folder: Path) -> None:
    manifest = read_manifest(folder)
    name = next(iter(manifest["files"]))
    manifest["files"][name]["rows"] += 1
    fault = fault_of(next(shard for shard in shards_of(folder, manifest) if shard.name == name))
    assert fault is not None and (fault.found, fault.wanted) == ("2 rows", "3 rows")


@pytest.mark.parametrize(("key", "known"), [("format", 1), ("schema_version", 1)])
def test_a_newer_folder_is_refused_before_anything_else(folder: Path, key: str, known: int) -> None:
    """The rest of a newer manifest may look in any way."""
    path = folder / "manifest.json"
    path.write_text(json.dumps({"format": 1, key: known + 1}), encoding="utf-8")
    with pytest.raises(
        ReleaseError, match=rf"written by a newer duplexkit \({key} 2; this one knows {key} up to 1\)"
    ):
        manifest_in(path)


@pytest.mark.parametrize("deep", [False, True])
def test_what_a_variant_is_of_has_a_form(folder: Path, deep: bool) -> None:
    """A manifest without it stays valid; a variant of a variant is looked at through and through."""
    path = folder / "manifest.json"
    manifest = manifest_in(path)
    assert "variant_of" not in manifest
    facts = {"name": "a", "version": "1.0.0", "recipe_digest": "0", "asked": [], "changed": {}}
    manifest["variant_of"] = {**facts, "variant_of": facts} if deep else facts
    path.write_text(json.dumps(manifest), encoding="utf-8")
    assert manifest_in(path) == manifest
    facts["changed"] = {"seed": {"was": 1}}
    path.write_text(json.dumps(manifest), encoding="utf-8")
    where = "variant_of." * (1 + deep)
    with pytest.raises(ReleaseError, match=rf"\({where}changed\.seed\.is is missing\)"):
        manifest_in(path)


def test_json_says_line_and_key(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"n": 1}\n\n{"n": "2"}\n', encoding="utf-8")
    lines = read_json_lines(path, {"n": int}, cure="mend it")
    assert next(lines) == {"n": 1}
    with pytest.raises(ReleaseError) as refused:
        next(lines)
    assert str(refused.value) == f'{path} line 3: n is "2", wanted a whole number; mend it'
    path.write_text(" \n", encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"x\.jsonl: empty, wanted JSON; mend it"):
        read_json(path, {"n": int}, cure="mend it")
