"""A table to the screen with every word whole: as a table where it fits, else row by row; piped, a row a line."""

from __future__ import annotations

import textwrap

from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

_BESIDE = 3
"""Characters that a column takes beside its text: a space on each side, and a line."""

_GLUE = "\N{NO-BREAK SPACE}"

_LEAST_TEXT = 16
"""A column of sentences narrower than this cannot be read."""


def print_tables(*tables: Table, console: Console | None = None) -> None:
    """Print tables so that no name in them is cut, however narrow the terminal is.

    Where the output is no terminal, every row is one line, as long as it needs to be: it can be searched.
    """
    screen = console or Console()
    for table in tables:
        if not screen.is_terminal:
            _print_wide(table, screen)
        elif _fit(table, screen.width):
            screen.print(table)
        else:
            _print_rows(table, screen)


def _print_wide(table: Table, screen: Console) -> None:
    longest = [max(map(cell_len, _texts(column))) for column in table.columns]
    for column, n in zip(table.columns, longest, strict=True):
        column.width = n
    table.title_justify = "left"
    width = sum(longest) + _BESIDE * len(longest) + 1
    Console(file=screen.file, width=max(width, cell_len(_plain(table.title or "")))).print(table)


def _fit(table: Table, width: int) -> bool:
    """Give the columns their widths; return whether the table fits with all its words whole."""
    least, most = [], []
    for column in table.columns:
        texts = _texts(column)
        most.append(max(map(cell_len, texts)))
        word = max((cell_len(word) for text in texts for word in text.split()), default=1)
        least.append(max(word, min(most[-1], _LEAST_TEXT)))
    spare = width - sum(least) - _BESIDE * len(least) - 1
    if spare < 0:
        return False
    wishes = [high - low for low, high in zip(least, most, strict=True)]
    share = min(1.0, spare / max(sum(wishes), 1))
    for column, low, wish in zip(table.columns, least, wishes, strict=True):
        column.width = low + int(share * wish)
        column.overflow = "fold"  # else a wide character makes rich cut a word that fits
    return True


def _print_rows(table: Table, screen: Console) -> None:
    """Print each row by itself: its first cell, and under it the others with their headings."""
    if table.title:
        screen.print(table.title, highlight=False, soft_wrap=True)
    headings = [_plain(column.header) for column in table.columns]
    for first, *others in zip(*map(_cells, table.columns), strict=True):
        said = [f"{heading}: {cell}" for heading, cell in zip(headings[1:], others, strict=True) if cell]
        kept = [one.replace(" ", _GLUE) if len(one) < screen.width // 2 else one for one in said]
        lines = textwrap.wrap(
            "; ".join(kept),
            screen.width,
            initial_indent="    ",
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in (first, *lines):
            screen.print(line.replace(_GLUE, " "), markup=False, highlight=False, soft_wrap=True)


def _texts(column: Column) -> list[str]:
    return [_plain(column.header), *_cells(column)]


def _cells(column: Column) -> list[str]:
    return [_plain(cell) for cell in column.cells]


def _plain(cell: object) -> str:
    return Text.from_markup(cell).plain if isinstance(cell, str) else str(cell)
