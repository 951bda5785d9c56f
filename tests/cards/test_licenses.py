"""Licences: what the whole may go out under, after the licences' own texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplexkit.cards.licenses import (
    LICENCES,
    Part,
    missing_attributions,
    problems_of_claim,
    result_of,
)


def voice(licence: str, name: str = "v", attribution: str = "somebody") -> Part:
    return Part(kind="voice", name=name, licence=licence, attribution=attribution)


@pytest.mark.parametrize(
    ("licences", "wanted"),
    [
        ([], "CC0-1.0"),
        (["CC0-1.0"], "CC0-1.0"),
        (["Apache-2.0"], "CC-BY-4.0"),
        (["Apache-2.0 AND CC-BY-3.0", "CC-BY-4.0"], "CC-BY-4.0"),
        (["CC-BY-NC-4.0", "CC-BY-4.0"], "CC-BY-NC-4.0"),
        (["CC-BY-SA-3.0", "CC-BY-4.0"], "CC-BY-SA-4.0"),
        (["CC-BY-NC-SA-4.0", "CC-BY-NC-4.0"], "CC-BY-NC-SA-4.0"),
        (["CC-BY-SA-4.0", "CC-BY-NC-4.0"], ""),
        (["CC-BY-SA-4.0", "CC-BY-NC-SA-4.0"], ""),
        (["CC-BY-ND-4.0"], ""),
        (["CC-BY-NC-4.0 OR CC-BY-4.0"], "CC-BY-4.0"),
    ],
)
def test_the_loosest_licence_of_a_whole(licences: list[str], wanted: str) -> None:
    assert result_of([voice(licence) for licence in licences]).licence == wanted


def test_a_clash_names_the_parts_that_clash() -> None:
    verdict = result_of([voice("CC-BY-SA-4.0", "a"), voice("CC-BY-NC-4.0", "b"), voice("CC0-1.0", "c")])
    assert verdict.reasons == (
        "no licence fits voice 'a' (CC-BY-SA-4.0)",
        "no licence fits voice 'b' (CC-BY-NC-4.0)",
    )


def test_a_claim_looser_than_a_part_is_refused() -> None:
    assert problems_of_claim("CC-BY-4.0", [voice("CC-BY-NC-4.0")]) == (
        "CC-BY-4.0 is looser than voice 'v' (CC-BY-NC-4.0), which forbids commercial use",
    )
    assert problems_of_claim("CC0-1.0", [voice("CC-BY-3.0")]) == (
        "CC0-1.0 is looser than voice 'v' (CC-BY-3.0), which wants its authors named",
    )
    assert problems_of_claim("CC-BY-NC-4.0", [voice("CC-BY-4.0")]) == ()


def test_an_unknown_licence_is_refused_by_name() -> None:
    assert "not in cards/licenses.py" in problems_of_claim("CC-BY-4.0", [voice("my-own")])[0]
    assert "not in cards/licenses.py" in problems_of_claim("free", [])[0]
    assert result_of([voice("")]).licence == ""


def test_missing_attributions_are_named() -> None:
    (line,) = missing_attributions(
        [voice("CC-BY-4.0", "a", ""), voice("CC0-1.0", "b", ""), voice("MIT", "c")]
    )
    assert line.startswith("voice 'a'")


@given(st.lists(st.sampled_from(sorted(LICENCES)), max_size=4), st.sampled_from(sorted(LICENCES)))
def test_one_more_part_never_makes_the_whole_looser(licences: list[str], more: str) -> None:
    parts = [voice(licence) for licence in licences]
    both = result_of([*parts, voice(more)])
    if both.licence:
        assert problems_of_claim(both.licence, parts) == ()
        assert result_of(parts).licence
