"""A language of one's own: scripts, an engine that speaks it, a recipe; nothing of ours is edited."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from duplexkit import RecipeError, SpeechError
from duplexkit.builders.build import BuildResult, build
from duplexkit.builders.checked_folder import check_folder
from duplexkit.builders.cli import main
from duplexkit.builders.draft import draft_of
from duplexkit.builders.speak import request_of
from duplexkit.builders.speakers import SpeechRequest, engines
from duplexkit.builders.variant import Asked, variant_of
from duplexkit.cards.card import write_card
from duplexkit.scenarios.conversation import PlannedTurn, Role, Start
from duplexkit.scenarios.markup import parse
from duplexkit.scenarios.recipe import load_recipe
from tests.builders.test_build import rows_of
from tests.conftest import tone_recipe_text
from tests.tone import ToneSpeaker

LANGUAGE = "qaa"
"""A code that is kept free for languages nobody else knows."""

TURNS = {
    "user_interruption": [
        {"role": "user", "text": "Mora tul vensa kipo, aru lendi sowa?"},
        {"role": "user", "text": "Nen, kipo dala!", "intent": "correction"},
    ],
    "user_backchannel": [
        {"role": "user", "text": "Sowa tel aru mindo kalu."},
        {"role": "user", "text": "Ehe.", "function": "continuer"},
    ],
    "pause_handling": [
        {"role": "user", "text": "Aru mindo [pause:content_word] kalu vensa tel sowa kipo dala tul lendi."}
    ],
    "mt_qa": [
        {"role": "user", "text": "Kipo aru?"},
        {"role": "system", "text": "Aru mindo kalu.", "reference_answer": "Aru mindo kalu."},
        {"role": "user", "text": "Sowa tel?", "depends_on": [0], "dependence": "follow_up"},
        {"role": "system", "text": "Tel vensa dala.", "reference_answer": "Tel vensa dala."},
    ],
}


class Conlang(ToneSpeaker):
    """The tones, in a language that nobody speaks, and without word times."""

    engine, version = "conlang", "1"

    def voices(self):
        return {
            name: replace(voice, engine="conlang", languages=(LANGUAGE,))
            for name, voice in super().voices().items()
        }

    def voice_sets(self):
        return {LANGUAGE: {"default": tuple(self.voices())}}

    def speak(self, request):
        return replace(super().speak(request), words=None, word_time_source="")


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    facts = replace(engines()["tone"], name="conlang", make=Conlang, languages=(LANGUAGE,))
    monkeypatch.setitem(engines(), "conlang", facts)
    folder = tmp_path / "bank" / LANGUAGE
    folder.mkdir(parents=True)
    prefixes = {"user_interruption": "ui", "user_backchannel": "ub", "pause_handling": "ph", "mt_qa": "qa"}
    for scenario, turns in TURNS.items():
        line = {
            "id": f"{prefixes[scenario]}-001", "turns": turns, "domain": "cooking", "register": "casual",
            "source": "tests", "licence": "CC0-1.0", "tags": ["fdb"] if scenario == "user_backchannel" else [],
        }  # fmt: skip
        (folder / f"{scenario}.jsonl").write_text(json.dumps(line) + "\n")
    return folder.parent


def made(path: Path, out: Path, cache: Path) -> BuildResult:
    return build(
        load_recipe(str(path)),
        out,
        cache_dir=cache,
        workers=1,
        describe=write_card,
        progress=lambda outcome, done, total: None,
    )


def recipe_text(*scenarios: str) -> str:
    text = (
        tone_recipe_text(*scenarios, count=2)
        .replace('["en", "ja"]', f'["{LANGUAGE}"]')
        .replace("[4, 4]", "[2, 2]")
    )
    return text.replace("[speech]", 'scripts = "bank"\n[speech]', 1).replace('"tone"', '"conlang"')


def test_a_made_up_language_is_built_and_checked(bank: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text(recipe_text(*TURNS))
    result = made(path, tmp_path / "out", tmp_path / "cache")
    rows = rows_of(result.folder)
    assert {row["language"] for row in rows.values()} == {LANGUAGE} and not result.rejects
    assert {row["scenario"] for row in rows.values()} == set(TURNS)
    assert list(check_folder(result.folder, lambda done, total: None)) == []
    for row in rows.values():
        for turn in row["turns"]:
            said = [word.strip(".,?!") for word in turn["text"].split()]
            assert [word["text"] for word in turn["words"]] == said
            assert turn["word_time_source"] == "estimated"
    card = (result.folder / "README.md").read_text()
    assert f"- {LANGUAGE}" in card


def test_an_engine_whose_words_are_another_texts_is_found_out(tmp_path: Path) -> None:
    speaker = ToneSpeaker(tmp_path)
    request = SpeechRequest(text="Mora tul vensa", language=LANGUAGE, voice=speaker.voices()["tone-a"])
    clip = speaker.speak(request)
    assert [word.text for word, _, _ in draft_of(clip, request.text, 24_000, language=LANGUAGE).words] == [
        "Mora",
        "tul",
        "vensa",
    ]
    with pytest.raises(
        SpeechError, match="the engine's word 'Mora' does not stand at 0 to 4 of 'Kalu dela tul'"
    ):
        draft_of(clip, "Kalu dela tul", 24_000, language=LANGUAGE)


def test_a_variant_in_the_made_up_language(bank: Path, tmp_path: Path) -> None:
    path = tmp_path / "en.toml"
    path.write_text(tone_recipe_text("user_interruption", count=1).replace('["en", "ja"]', '["en"]'))
    base = made(path, tmp_path / "base", tmp_path / "cache").folder
    asked = Asked(language=LANGUAGE, engine="conlang", scripts=bank)
    variant = variant_of(base, asked)
    assert variant.recipe.languages == (LANGUAGE,) and variant.recipe.speech.engine == "conlang"
    with pytest.raises(RecipeError, match=r"bank/qaa/background_speech\.jsonl"):
        path.write_text(tone_recipe_text("background_speech", count=1))
        variant_of(made(path, tmp_path / "bg", tmp_path / "cache").folder, asked)


def test_an_engine_that_cannot_speak_a_language_says_what_can_be_done(bank: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text(recipe_text("user_interruption").replace("conlang", "tone"))
    with pytest.raises(RecipeError, match=r"engine 'tone' has no voices for 'qaa'; it has en, ja\. Name an"):
        made(path, tmp_path / "out", tmp_path / "cache")
    path.write_text(recipe_text("background_speech"))
    with pytest.raises(RecipeError, match=r"bank/qaa/background_speech\.jsonl is not there.*Write that file"):
        load_recipe(str(path))


def test_a_style_without_rules_for_its_language_is_refused(tmp_path: Path) -> None:
    from duplexkit.builders.speakers import make_speaker

    speaker = make_speaker("kokoro", tmp_path)
    dora = speaker.voices()["ef_dora"]
    assert dora.languages == ("es",)
    with pytest.raises(SpeechError, match="cannot speak 'es'"):
        speaker.speak(SpeechRequest(text="Hola.", language="es", voice=dora))


def planned_turn(text: str) -> PlannedTurn:
    return PlannedTurn(
        name="x", role=Role.USER, voice="v", text=text, speed=1.0, start=Start(turn=None, distance_s=0.0),
        move="open",
    )  # fmt: skip


def test_a_sound_mark_reaches_the_engine(tmp_path: Path) -> None:
    voice = ToneSpeaker(tmp_path).voices()["tone-a"]
    asked = request_of(
        planned_turn("Well, [sound:laugh] I never [pause:list] saw [sound:breath] that."),
        language="en",
        voice=voice,
        seed=1,
    )
    assert asked.text == "Well, I never saw that."
    assert asked.sounds == ((6, "laugh"), (18, "breath")) and asked.breaks == (14,)


def test_a_sound_mark_is_written_as_the_engine_wants_it(tmp_path: Path) -> None:
    from duplexkit.builders.speakers.written import written

    voice = ToneSpeaker(tmp_path).voices()["tone-a"]
    turn = planned_turn("Well, [sound:laugh] I never [sound:cough] saw that.")
    asked = request_of(turn, language="en", voice=voice, seed=1)
    said = written(asked, comma=",", sounds={"laugh": "[laugh]"})
    assert said.replace(" ", "") == "Well,[laugh]Ineversawthat.", "the cough is left out"


def test_an_unknown_sound_is_refused() -> None:
    from duplexkit import ScriptError

    assert parse("Oh [sound:sigh] no.").marks[0].value == "sigh"
    with pytest.raises(ScriptError, match=r"\[sound:laugh\], \[sound:breath\]"):
        parse("Oh [sound:scream] no.")


def test_the_linter_checks_the_form_of_any_language(bank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = bank / LANGUAGE / "user_interruption.jsonl"
    (file.parent / "mt_qa.jsonl").unlink()  # shorter than is good
    assert main(["scripts", "lint", str(bank)]) == 0
    said = capsys.readouterr().out
    assert f"{LANGUAGE}: only the form was checked" in said and "3 scripts, 0 errors" in said
    assert f"there are no rules for {LANGUAGE!r}" in " ".join(said.split())
    line = json.loads(file.read_text())
    file.write_text("".join(json.dumps({**line, "id": id_}) + "\n" for id_ in ("ui-001", "ui-002")))
    assert main(["scripts", "lint", str(file)]) == 1
    assert "ui-002: its script is the same as the script of ui-001" in capsys.readouterr().out
    file.write_text(json.dumps({**line, "turns": line["turns"][:1]}) + "\n")
    assert main(["scripts", "lint", str(bank)]) == 1
    assert "1 turn; user_interruption wants 2 turns" in capsys.readouterr().out


def test_scripts_of_any_language_are_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("context,event,intent\nSowa tel aru mindo kalu?,Nen kipo dala!,correction\n")
    arguments = ["scripts", "import", str(table), "--scenario", "user_interruption", "--language", LANGUAGE]
    owned = ["--source", "me", "--licence", "CC0-1.0", "--set", "domain=cooking", "--set", "register=casual"]
    assert main([*arguments, *owned, "--out", str(tmp_path / "bank")]) == 0
    assert f"{LANGUAGE}: only the form was checked" in capsys.readouterr().out
    assert (tmp_path / "bank" / LANGUAGE / "user_interruption.jsonl").is_file()


def test_the_command_line_gives_one_line(bank: Path, tmp_path: Path, capsys) -> None:
    path = tmp_path / "r.toml"
    path.write_text(recipe_text("user_interruption").replace("conlang", "tone"))
    arguments = ["build", str(path), "--out", str(tmp_path / "o"), "--cache", str(tmp_path / "c")]
    assert main(arguments) == 2
    told = capsys.readouterr().err.strip()
    assert told.startswith("duplexkit: ") and len(told.splitlines()) == 1 and str(path) in told


@pytest.fixture
def spanish(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The example of docs/languages.md, as it stands there."""
    text = (Path(__file__).parents[2] / "docs" / "languages.md").read_text(encoding="utf-8")
    module = ModuleType("spanish_kokoro")
    exec(text.split("```python\n")[1].split("```")[0], module.__dict__)
    monkeypatch.setitem(engines(), "kokoro_es", module.ENGINE)
    yield module


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("hola", "ˈola"),
        ("guerra", "ɡˈera"),
        ("ciudad", "θjudˈad"),
        ("perro", "pˈero"),
        ("niño", "nˈiɲo"),
        ("cuéntame", "kwˈentame"),
        ("después", "despwˈes"),
        ("vergüenza", "beɾɡwˈenθa"),
        ("reloj", "relˈox"),
    ],
)
def test_the_spanish_of_the_documentation(spanish: ModuleType, word: str, said: str) -> None:
    """As a dictionary of Castilian has them."""
    assert spanish.phonemes(word) == said


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Vale, ya son las 23 horas.", "'23'"),
        ("¿Y el 5 % de 3 €?", "'5', '%', '3', '€'"),
        ("Ça va", "'Ç'"),
        ("ana@casa", "'@'"),
        ("Vale, [veintitrés|23] horas.", "'23'"),
    ],
)
def test_the_spanish_of_the_documentation_refuses_what_it_cannot_read(
    spanish: ModuleType, tmp_path: Path, text: str, named: str
) -> None:
    speaker = spanish.ENGINE.make(tmp_path, {})
    marked = parse(text)
    request = SpeechRequest(
        text=marked.text, language="es", voice=speaker.voices()["ef_dora"], readings=marked.readings
    )
    with pytest.raises(SpeechError) as caught:
        speaker.speak(request)
    assert str(caught.value).startswith(f"{named} in {marked.text!r}: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Son las [23|veintitrés] horas.", ["sˈon", "lˈas", "beintitɾˈes", "ˈoɾas"]),
        ("«¡Hola, [3|tres mil]…!», dijo (él) — ya.", ["ˈola", "tɾˈes mˈil", "dˈixo", "ˈel", "jˈa"]),
    ],
)
def test_readings_and_marks_of_the_spanish_of_the_documentation(
    spanish: ModuleType, text: str, said: list[str]
) -> None:
    marked = parse(text)
    readings = sorted(spanish.readings_of(marked.text, marked.readings), key=lambda reading: reading.start)
    assert [reading.spoken for reading in readings] == said and all(r.is_phonemes for r in readings)


@pytest.mark.slow
def test_spanish_with_kokoros_styles(spanish: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "bank" / "es"
    folder.mkdir(parents=True)
    turns = [
        {"role": "user", "text": "Hola, ¿me puede explicar cómo se hace una tortilla de patatas?"},
        {"role": "user", "text": "Espere, ¿y sin cebolla?", "intent": "correction"},
    ]
    script = {
        "id": "ui-001", "turns": turns, "domain": "food", "register": "polite", "source": "tests",
        "licence": "CC0-1.0",
    }  # fmt: skip
    (folder / "user_interruption.jsonl").write_text(json.dumps(script) + "\n")
    path = tmp_path / "es.toml"
    text = tone_recipe_text("user_interruption", count=2).replace('["en", "ja"]', '["es"]')
    path.write_text(
        text.replace("[speech]", 'scripts = "bank"\n[speech]', 1).replace('"tone"', '"kokoro_es"')
    )
    result = made(path, tmp_path / "out", tmp_path / "cache")
    rows = rows_of(result.folder)
    assert len(rows) == 2 and list(check_folder(result.folder, lambda done, total: None)) == []
    words = [word["text"] for word in next(iter(rows.values()))["turns"][0]["words"]]
    assert words == [
        "Hola",
        "me",
        "puede",
        "explicar",
        "cómo",
        "se",
        "hace",
        "una",
        "tortilla",
        "de",
        "patatas",
    ]
    assert {turn["word_time_source"] for row in rows.values() for turn in row["turns"]} == {"token_durations"}
