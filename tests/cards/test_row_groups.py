"""Shards that the Hub's viewer and streams can read in parts: row groups of 32 to 64 MB, pages with an index."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from duplexkit.builders.build import BuildResult
from duplexkit.builders.write import read_rows, write_split
from duplexkit.cards.release.gate import SCAN_LIMIT_BYTES, reasons_against
from tests.conftest import tone_recipe_text
from tests.release import restated

MB = 1 << 20


@pytest.mark.slow
def test_row_groups_pages_and_the_viewers_limit(
    tone_build: Callable[..., BuildResult], tmp_path: Path
) -> None:
    folder = tone_build(tone_recipe_text("pause_handling", count=1)).folder
    name = "pause_handling/en/test-00000-of-00001.parquet"
    (row,) = read_rows(folder / name)
    rng = np.random.default_rng(1)
    rows = [
        {**row, "id": f"row/{i}", "input": {"bytes": rng.bytes(15 * MB), "path": "x.flac"}} for i in range(10)
    ]
    (shard,) = write_split(tmp_path / "big", "test", iter(rows), 24000)
    data = pq.read_metadata(shard)
    sizes = [data.row_group(i).total_byte_size for i in range(data.num_row_groups)]
    assert len(sizes) == 3 and all(32 * MB <= size <= 64 * MB for size in sizes[:-1])
    assert max(sizes) < SCAN_LIMIT_BYTES
    for i in range(data.row_group(0).num_columns):
        column = data.row_group(0).column(i)
        assert column.has_offset_index
        if column.path_in_schema == "input.bytes":
            assert column.compression == "UNCOMPRESSED"


def test_a_row_group_above_the_limit_or_without_index_is_refused(
    tone_build: Callable[..., BuildResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    from duplexkit.cards.release import gate

    folder = tone_build(tone_recipe_text("pause_handling", count=1)).folder
    name = "pause_handling/en/test-00000-of-00001.parquet"
    table = pq.read_table(folder / name)
    pq.write_table(table, folder / name)
    restated(folder, name)
    monkeypatch.setattr(gate, "SCAN_LIMIT_BYTES", 1000)
    found = reasons_against(folder, repository="me/tones", version="1.0.0")
    assert f"shard {name}: no page index; build again with this version" in found
    assert any("a row group of" in reason and "scans at most 1000" in reason for reason in found)
