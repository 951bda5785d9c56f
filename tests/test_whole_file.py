"""Files that are whole or not there."""

from pathlib import Path

import pytest

from duplexkit.whole_file import beside, left_in, put_bytes, put_text


def test_a_file_gets_its_place_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.txt"
    put_text(path, "old \u00e9")
    with beside(path) as part:
        part.write_text("new")
        assert path.read_text(encoding="utf-8") == "old \u00e9" and part.parent == path.parent
    assert path.read_text() == "new" and list(path.parent.iterdir()) == [path]
    put_bytes(path, b"\x00")
    assert path.read_bytes() == b"\x00"


def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    put_text(path, "old")
    with pytest.raises(ZeroDivisionError), beside(path) as part:
        part.write_text("half")
        raise ZeroDivisionError
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_what_a_kill_leaves_is_found(tmp_path: Path) -> None:
    with beside(tmp_path / "b" / "a.txt") as part:
        part.write_text("half")
        assert list(left_in(tmp_path)) == [part] and not list(left_in(tmp_path, older_than_s=60.0))
    assert not list(left_in(tmp_path))


def test_a_name_as_long_as_the_file_system_takes(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    put_bytes(path, b"x")
    assert path.read_bytes() == b"x"
