"""Variants: the same samples with other voices, sound or words; only what was asked changes."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from duplexkit import RecipeError, ReleaseError
from duplexkit.builders.build import BuildResult, build
from duplexkit.builders.checked_folder import check_folder
from duplexkit.builders.cli import main
from duplexkit.builders.differences import differences
from duplexkit.builders.jobs import jobs_of
from duplexkit.builders.sayings import planned
from duplexkit.builders.speakers import engines
from duplexkit.builders.variant import Asked, recipe_table, variant_of
from duplexkit.builders.variant_report import to_speak
from duplexkit.builders.workshop import Site
from duplexkit.cards.about import About
from duplexkit.cards.card import write_card
from duplexkit.cards.citation import citation_cff
from duplexkit.cards.describe import describe
from duplexkit.scenarios.recipe import load_recipe, read_recipe, recipe_digest, shipped_recipes
from tests.builders.test_build import rows_of
from tests.conftest import tone_recipe_text
from tests.tone import ToneSpeaker

Build = Callable[..., BuildResult]
SOUND = ("input", "clean_input", "untreated_input", "system")


def made(base: Path, out: Path, cache: Path, asked: Asked) -> BuildResult:
    variant = variant_of(base, asked)
    return build(
        variant.recipe,
        out,
        cache_dir=cache,
        workers=1,
        base=variant.base,
        describe=write_card,
        progress=lambda outcome, done, total: None,
    )


@pytest.mark.parametrize("name", shipped_recipes())
def test_a_manifest_holds_the_whole_recipe(name: str, tmp_path: Path) -> None:
    """What the manifest says of a recipe, read again, decides the same dataset."""
    from dataclasses import asdict

    recipe = load_recipe(name)
    kept = json.loads(json.dumps(asdict(replace(recipe, source="", scripts=Path())), default=str))
    again = read_recipe(recipe_table(kept), tmp_path / "x")
    assert recipe_digest(again) == recipe_digest(recipe)


def test_a_recipe_with_everything_comes_back(tmp_path: Path) -> None:
    from dataclasses import asdict

    path = tmp_path / "r.toml"
    path.write_text(
        tone_recipe_text("mt_qa", "pause_handling").replace(
            "[speech]",
            '[checks]\nattempts = 5\ngates.wer = { at_most = 0.2, scope = "sample" }\ngates.dnsmos_ovrl = "off"\n'
            '[splits]\nrest = "train"\nspeaker_disjoint = true\n[splits.test]\nfraction = 0.25\n'
            "[speech]\nspeed = [0.9, 1.1]",
        )
        + 'codecs = ["opus"]\nnoise_snr_db = [10.0, 20.0]\nnoise_colours = ["pink"]\n'
        + "splits = { test = 0.5, train = 0.5 }\n"
    )
    recipe = load_recipe(str(path))
    kept = json.loads(json.dumps(asdict(replace(recipe, source="", scripts=Path())), default=str))
    assert recipe_digest(read_recipe(recipe_table(kept), path)) == recipe_digest(recipe)


def test_new_voices_keep_everything_but_the_sound(tone_build: Build, tmp_path: Path) -> None:
    base = tone_build(tone_recipe_text(), tmp_path / "base").folder
    result = made(base, tmp_path / "out", tmp_path / "cache", Asked(voices="demo"))
    before, after = rows_of(base), rows_of(result.folder)
    assert list(after) == list(before)
    for id_, row in after.items():
        old = before[id_]
        for column in SOUND:
            assert (row[column] is None) == (old[column] is None)
            assert row[column] is None or row[column]["bytes"] != old[column]["bytes"], (id_, column)
        for turn, old_turn in zip(row["turns"], old["turns"], strict=True):
            assert {k: turn[k] for k in ("role", "text", "intent", "reference_answer", "depends_on")} == {
                k: old_turn[k] for k in ("role", "text", "intent", "reference_answer", "depends_on")
            }
            assert turn["speaker"] != old_turn["speaker"]
        assert (row["split"], row["preset"], row["treatment"] and row["treatment"]["params"]) == (
            old["split"], old["preset"], old["treatment"] and old["treatment"]["params"]
        )  # fmt: skip
    assert list(check_folder(result.folder, lambda done, total: None)) == []


def test_the_plan_does_not_shift_with_the_voices(tone_build: Build, tmp_path: Path) -> None:
    base = tone_build(tone_recipe_text(count=3), tmp_path / "base").folder
    variant = variant_of(base, Asked(voices="demo"))
    recipe = load_recipe(str(tmp_path / "recipe.toml"))
    was = Site(recipe=recipe, cache_dir=tmp_path, partial=tmp_path)
    now = Site(recipe=variant.recipe, cache_dir=tmp_path, partial=tmp_path, base=variant.base)

    def without_voices(site: Site, job):
        plan = planned(site, job)
        return replace(plan, turns=tuple(replace(turn, voice="") for turn in plan.turns))

    for job in jobs_of(recipe):
        assert without_voices(was, job) == without_voices(now, job)


def test_a_new_treatment_speaks_nothing(
    tone_build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Empty cache, and even the engine is gone: the stems are enough."""
    text = tone_recipe_text("background_speech", "talking_to_others", "mt_qa", "pause_handling", count=3)
    base = tone_build(text, tmp_path / "base").folder
    n_before = ToneSpeaker.n_spoken
    monkeypatch.delitem(engines(), "tone")
    asked = Asked(treatments=("background_speech=closed_door@1",))
    variant = variant_of(base, asked)
    assert not [
        key for key in variant.changed if not key.startswith(("scenarios.background_speech.", "name"))
    ]
    expected = to_speak(variant, tmp_path / "empty", lambda done, total: None)
    assert (expected.spoken, expected.cached, expected.samples) == (0, 0, 24)
    result = made(base, tmp_path / "out", tmp_path / "empty", asked)
    assert ToneSpeaker.n_spoken == n_before
    assert (result.n_spoken, result.n_cached, result.n_kept) == (0, 0, expected.kept) and not result.rejects
    before, after = rows_of(base), rows_of(result.folder)
    assert list(after) == list(before)
    for id_, row in after.items():
        if row["scenario"] != "background_speech":
            assert row == before[id_], "what was not asked for is the same row"
            continue
        assert row["input"]["bytes"] != before[id_]["input"]["bytes"]
        assert row["clean_input"]["bytes"] == before[id_]["clean_input"]["bytes"]
        assert row["treatment"]["preset"] == "closed_door@1"
        for column in ("turns", "duration_s", "split"):
            assert row[column] == before[id_][column]
    assert list(check_folder(result.folder, lambda done, total: None)) == []


def test_a_new_timing_speaks_nothing(tone_build: Build, tmp_path: Path) -> None:
    base = tone_build(tone_recipe_text("user_interruption"), tmp_path / "base").folder
    asked = Asked(overrides=("scenarios.user_interruption.wait_s=6.5",))
    result = made(base, tmp_path / "out", tmp_path / "empty", asked)
    assert (result.n_spoken, result.n_cached) == (0, 0)
    for row in rows_of(result.folder).values():
        context, event = row["turns"]
        assert event["onset_s"] - context["offset_s"] == pytest.approx(6.5, abs=1 / 24000)


def test_longer_pauses_come_from_the_cache(tone_build: Build, tmp_path: Path) -> None:
    """A stem holds its pauses; with others, the clips themselves are needed."""
    base = tone_build(tone_recipe_text("pause_handling"), tmp_path / "base").folder
    pause_s = {event["intended_s"] for row in rows_of(base).values() for event in row["events"]}
    asked = Asked(overrides=("scenarios.pause_handling.pause_s=[1.9, 2.0]",))
    result = made(base, tmp_path / "out", tmp_path / "cache", asked)
    assert result.n_spoken == 0 and result.n_cached > 0
    after = [e["intended_s"] for row in rows_of(result.folder).values() for e in row["events"]]
    assert all(1.9 <= s <= 2.0 for s in after if s is not None) and pause_s != set(after)


def test_a_variant_of_a_variant(tone_build: Build, tmp_path: Path) -> None:
    base = tone_build(tone_recipe_text("background_speech"), tmp_path / "base").folder
    once = made(base, tmp_path / "once", tmp_path / "e", Asked(treatments=("closed_door@1",))).folder
    back = made(once, tmp_path / "back", tmp_path / "e", Asked(treatments=("next_room@1",)))
    assert back.n_spoken == 0
    before, after = rows_of(base), rows_of(back.folder)
    assert {id_: row["input"] for id_, row in after.items()} == {id_: r["input"] for id_, r in before.items()}


def test_another_language(tone_build: Build, tmp_path: Path) -> None:
    text = tone_recipe_text("user_interruption").replace('["en", "ja"]', '["en"]')
    base = tone_build(text, tmp_path / "base").folder
    result = made(base, tmp_path / "out", tmp_path / "cache", Asked(language="ja"))
    assert set(rows_of(result.folder)) == {id_.replace("/en/", "/ja/") for id_ in rows_of(base)}
    told = differences(base, result.folder)
    assert told["ids"] == {"same": 0, "parallel": 2, "new": [], "missing": []}
    assert told["columns"]["turns"]["fields"]["text"] == told["columns"]["input"]["changed"] == 2
    assert told["columns"]["split"]["same"] == 2


def test_a_language_without_scripts_says_which_files_to_write(tone_build: Build, tmp_path: Path) -> None:
    base = tone_build(tone_recipe_text("user_interruption", "mt_qa"), tmp_path / "base").folder
    bank = tmp_path / "bank"
    (bank / "fr").mkdir(parents=True)
    with pytest.raises(RecipeError) as refused:
        variant_of(base, Asked(language="fr", scripts=bank))
    message = str(refused.value)
    assert str(bank / "fr" / "user_interruption.jsonl") in message
    assert str(bank / "fr" / "mt_qa.jsonl") in message and "scripts/README.md" in message


def test_the_scripts_of_a_build_stay_with_it(tone_build: Build, tmp_path: Path) -> None:
    """A bank that is gone or was changed since changes no text of a variant."""
    bank = tmp_path / "bank" / "en"
    bank.mkdir(parents=True)
    turns = [{"role": "user", "text": "Tell me of the sea."}, {"role": "user", "text": "Wait, of the hills."}]
    turns[1]["intent"] = "correction"
    script = {
        "id": "ui-1",
        "turns": turns,
        "domain": "x",
        "register": "x",
        "source": "t",
        "licence": "CC0-1.0",
    }
    (bank / "user_interruption.jsonl").write_text(json.dumps(script) + "\n")
    text = tone_recipe_text("user_interruption", count=2).replace('["en", "ja"]', '["en"]')
    base = tone_build(text.replace("[speech]", 'scripts = "bank"\n[speech]', 1), tmp_path / "base").folder
    shutil.rmtree(tmp_path / "bank")
    result = made(base, tmp_path / "out", tmp_path / "cache", Asked(voices="demo"))
    texts = [[turn["text"] for turn in row["turns"]] for row in rows_of(result.folder).values()]
    assert texts == [["Tell me of the sea.", "Wait, of the hills."]] * 2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (Asked(), "nothing is asked"),
        (Asked(language="ja"), "has that language already"),
        (Asked(treatments=("near@1",)), r"scenarios\.background_speech\.treatment = 'near@1'"),
        (Asked(treatments=("mt_qa=closed_door@1",)), "unknown scenario with a treatment"),
        (Asked(overrides=("scenarios.background_speech.wait=3",)), "wait: unknown key"),
        (
            Asked(overrides=("scenarios.mt_qb.count=3",)),
            r"--set scenarios\.mt_qb\.count=3: unknown scenario of the build; did you mean 'mt_qa'",
        ),
        (
            Asked(overrides=("scenarios.mt_qa.count=2",)),
            r"scenarios\.mt_qa\.count = 2: a variant has the samples of its build, at most 1 per language",
        ),
        (
            Asked(overrides=("scenarios.mt_qa.count=0",)),
            r"^variant of \S+base: scenarios\.mt_qa\.count = 0: wanted",
        ),
        (Asked(language="../x"), "--language = '../x': wanted a language tag"),
    ],
)
def test_what_cannot_be_asked(tone_build: Build, tmp_path: Path, asked: Asked, message: str) -> None:
    base = tone_build(tone_recipe_text("background_speech", "mt_qa", count=1), tmp_path / "base").folder
    with pytest.raises(RecipeError, match=message):
        variant_of(base, asked)


def test_unknown_voices_and_folders(tone_build: Build, tmp_path: Path) -> None:
    base = tone_build(tone_recipe_text("user_interruption", count=1), tmp_path / "base").folder
    with pytest.raises(RecipeError, match=r"unknown voice set.*known: default, demo"):
        made(base, tmp_path / "out", tmp_path / "cache", Asked(voices="choir"))
    with pytest.raises(RecipeError, match=r"other than before.*add voices"):
        made(base, tmp_path / "out", tmp_path / "cache", Asked(voices="tone-a,tone-a"))
    with pytest.raises(ReleaseError, match="no finished dataset"):
        variant_of(tmp_path / "nowhere", Asked(voices="demo"))
    (base / "stems" / "said.jsonl").unlink()
    with pytest.raises(ReleaseError, match=r"there is no stems/said\.jsonl"):
        variant_of(base, Asked(voices="demo"))


def test_the_command_says_what_changed(
    tone_build: Build, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = tone_build(tone_recipe_text("background_speech", "mt_qa"), tmp_path / "base").folder
    arguments = ["variant", str(base), "--treatment", "closed_door@1", "--cache", str(tmp_path / "empty")]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert "scenarios.background_speech.treatment: next_room@1 → closed_door@1" in shown
    assert "0 to be spoken by tone (0 characters)" in shown
    out = tmp_path / "out"
    assert not out.exists()
    assert main([*arguments, "--out", str(out), "--workers", "1"]) == 0
    report = json.loads((out / "variant.json").read_text())
    for paper in ("CHANGELOG.md", "CITATION.cff", "README.md", "plots/durations.png", "preview/index.html"):
        assert (out / paper).is_file(), paper
    assert yaml.safe_load((out / "CITATION.cff").read_text(encoding="utf-8"))["references"] == [
        {
            "type": "dataset",
            "title": "tones",
            "version": "1.0.0",
            "authors": [{"name": "The makers of tones"}],
        }
    ]
    assert "references" not in citation_cff(title="t", version="1.0.0", licence="MIT", about=About())
    describe(out, repository="a/b", plots=False, preview=False)
    said = json.loads((out / "croissant.json").read_text(encoding="utf-8"))["description"]
    assert said.startswith("tones-") and "is a variant of tones 1.0.0" in said
    assert said.endswith("made with --treatment closed_door@1.")
    assert report["variant_of"]["changed"]["scenarios.background_speech.treatment"] == {
        "was": "next_room@1", "is": "closed_door@1"
    }  # fmt: skip
    assert report["expected"]["usd"] is None
    assert report["utterances"]["spoken"] == 0 and report["variant_of"]["name"] == "tones"
    assert report["columns"]["clean_input"] == {"same": 4, "changed": 0}
    assert report["columns"]["input"] == {"same": 4, "changed": 4}
    assert main(["variant", str(base)]) == 2
    assert "nothing is asked" in capsys.readouterr().err
