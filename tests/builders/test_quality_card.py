"""The card's quality table, recomputed from Parquet by other code."""

import json
import math
import re
import statistics
from pathlib import Path

import pyarrow.dataset
import pytest
from scipy import stats

from duplexkit.builders.built import dataset_digest
from duplexkit.builders.listen.page import drawn_ids
from duplexkit.builders.side_files import SideFiles
from duplexkit.cards.card import write_card
from duplexkit.cards.quality_section import intelligibility_notes, quality_notes
from duplexkit.cards.summarize import Summary
from tests.conftest import tone_recipe_text


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from duplexkit.builders.build import build
    from duplexkit.scenarios.recipe import load_recipe

    folder = tmp_path_factory.mktemp("card")
    text = tone_recipe_text("user_interruption", "user_backchannel", count=4)
    splits = '[splits]\nwithin = ["scenario"]\n[splits.test]\nfraction = 0.5\nmeasure = "end_level_db"\n'
    (folder / "r.toml").write_text(text + splits, encoding="utf-8")
    return build(
        load_recipe(str(folder / "r.toml")),
        folder / "out",
        cache_dir=folder / "cache",
        workers=1,
        describe=write_card,
        progress=lambda outcome, done, total: None,
    ).folder


def table_of(card: str) -> list[dict[str, str]]:
    lines = card.split("### Quality")[1].splitlines()
    rows = [
        [cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")
    ]
    head = rows[0]
    return [dict(zip(head, row, strict=True)) for row in rows[2:] if len(row) == len(head)]


def test_every_number_of_the_table(built: Path) -> None:
    table = table_of((built / "README.md").read_text(encoding="utf-8"))
    data = pyarrow.dataset.dataset(sorted(map(str, built.glob("*/*/*.parquet")))).to_table(
        columns=["scenario", "language", "split", "checks"]
    )
    found: dict[tuple[str, str, str], list[float]] = {}
    for row in data.to_pylist():
        for name, value in row["checks"].items():
            if value is not None:
                found.setdefault((f"{row['scenario']}-{row['language']}", row["split"], name), []).append(
                    value
                )
    assert len(table) > 30
    seen = set()
    for line in table:
        key = (line["configuration"], line["split"], line["value"])
        values = found[key]
        seen.add(key)
        assert int(line["n"]) == len(values)
        assert float(line["mean"]) == pytest.approx(statistics.fmean(values), abs=6e-4)
        assert float(line["least"]) == pytest.approx(min(values), abs=6e-4)
        assert float(line["largest"]) == pytest.approx(max(values), abs=6e-4)
        if len(values) > 1:
            half = stats.t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
            low, high = map(float, re.findall(r"-?[\d.]+", line["95 % interval"]))
            assert high - low == pytest.approx(2 * half, abs=2e-3)
    from duplexkit.builders.quality import VALUES

    assert seen == {key for key in found if key[2] in VALUES}


def test_a_language_that_no_recogniser_heard_is_unverified(built: Path) -> None:
    assert "Intelligibility is unverified in `en`" in (built / "README.md").read_text(encoding="utf-8")
    heard = ("user_interruption-en", "test", {"wer": 0.01, "cer": None})
    unheard = ("user_interruption-ja", "test", {"wer": None, "cer": None, "dnsmos_ovrl": 3.4})
    by_characters = ("mt_qa-ja", "train", {"wer": None, "cer": 0.02})

    def notes(*quality: tuple[str, str, dict[str, float | None]]) -> list[str]:
        languages = ("en", "ja")
        summary = Summary(manifest={}, manifest_sha256="", languages=languages, quality=list(quality))
        return intelligibility_notes(summary)

    assert "unverified in `ja`: neither word" in notes(heard, unheard)[0]
    assert notes(heard, unheard, by_characters) == []


def test_the_card_says_what_measured_and_what_was_not(built: Path) -> None:
    card = (built / "README.md").read_text(encoding="utf-8")
    assert "`dnsmos` (not asked for)" in card and "not human-validated" in card
    assert "`end_level_db`: utterance: at most -25" in card
    assert "Splits were selected by `end_level_db`" in card
    assert "- `pitch`: Boersma 1993" in card


def test_a_limit_that_judged_nothing_says_so() -> None:
    summary = Summary(manifest={}, manifest_sha256="")
    summary.quality = [
        ("mt_qa-en", "test", {"wer": 0.0}),
        ("mt_qa-ja", "test", {"wer": None}),
        ("mt_qa-es-MX", "test", {}),
    ]
    summary.beside = SideFiles(
        quality={"gates": {"wer": ["utterance: at most 0"], "cer": ["utterance: at most 1"]}}
    )
    notes = quality_notes(summary)
    assert (
        "- `wer`: utterance: at most 0 (not measured, so not judged, in 2 of 3 samples; never in `es-MX`, `ja`)"
    ) in notes
    assert any("in 3 of 3 samples; never in `en`, `es-MX`, `ja`" in note for note in notes)
    summary.quality = summary.quality[:1]
    assert "- `wer`: utterance: at most 0" in quality_notes(summary)


def test_a_later_measurement_enters_the_card(built: Path) -> None:
    quality = built / "quality"
    quality.mkdir(exist_ok=True)
    ids = [p for p in drawn_ids(built, n=100, seed=1) if p.startswith("user_backchannel/en")]
    lines = [json.dumps({"id": id_, "values": {"squim_stoi": 0.9 + i / 100}}) for i, id_ in enumerate(ids)]
    (quality / "values.jsonl").write_text("\n".join(lines) + "\n")
    facts = {"squim": {"version": "torchaudio 9", "source": "Kumar et al. 2023"}}
    (quality / "measures.json").write_text(json.dumps(facts))
    write_card(built)
    card = (built / "README.md").read_text(encoding="utf-8")
    lines_of = [line for line in table_of(card) if line["value"] == "squim_stoi"]
    assert sum(int(line["n"]) for line in lines_of) == len(ids) == 4
    assert "version torchaudio 9" in card and "`squim` (not asked for)" not in card


def test_ratings_enter_the_card(built: Path, tmp_path: Path) -> None:
    from duplexkit.builders.cli import main

    one, two = drawn_ids(built, n=2, seed=1)
    files = []
    for rater, event in (("a", "yes"), ("b", "no")):
        given = {one: {"event": "yes", "naturalness": "4"}, two: {"event": event}}
        content = {"format": 1, "dataset": dataset_digest(built), "rater": rater, "answers": given}
        files.append(tmp_path / f"{rater}.json")
        files[-1].write_text(json.dumps(content))
    assert main(["listen", str(built), "--answers", str(files[0]), "--answers", str(files[1])]) == 0
    card = (built / "README.md").read_text(encoding="utf-8")
    # agreement 1/2, shares 3/4 and 1/4: kappa (1/2 - 10/16) / (6/16) = -1/3
    assert "**Human validation.** rated by 2 people, 2 samples: " in card
    assert "event: yes 3, no 1, κ -0.33" in card
    assert "0 samples are not what their label says by most raters, 1 more by half of them" in card
