"""Each rule of the linter: what it finds, and what it lets pass."""

import json
from dataclasses import replace

import pytest

from duplexkit import ScriptError
from duplexkit.builders.writers.pronounce import pronounce
from duplexkit.scenarios.bank import load_scripts, parse_script
from duplexkit.scenarios.conversation import Script
from duplexkit.scenarios.lint import check_script, lint_scripts
from duplexkit.scenarios.lint.language_rules import load_rules
from duplexkit.scenarios.lint.reading import Spoken

CONTEXT = {
    "en": "Explain how a heat pump keeps a house warm in winter, step by step.",
    "ja": "ヒートポンプがどうやって部屋を暖めるのか、順番に詳しく説明してください。",
}


def script(scenario: str, *turns: dict, language: str = "en", **more: object) -> Script:
    data = {
        "id": "x-001",
        "turns": [{"role": "user", **turn} for turn in turns],
        "domain": "technology",
        "register": "neutral",
        "source": "a test",
        "licence": "CC0-1.0",
        **more,
    }
    return parse_script(json.dumps(data), scenario=scenario, language=language, where="the test")


def interruption(text: str, intent: str = "stop", language: str = "en", **more: object) -> Script:
    return script(
        "user_interruption",
        {"text": CONTEXT[language]},
        {"text": text, "intent": intent},
        language=language,
        **more,
    )


def said_of(one: Script, rule: str = "") -> list[str]:
    return [f.message for f in check_script(one, pronounce) if not rule or f.rule == rule]


def test_a_sound_script_has_no_findings():
    assert said_of(interruption("Okay, stop.")) == []
    assert said_of(interruption("はい、もう結構です。", language="ja")) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"domain": "cokking"}, "unknown topic; did you mean 'cooking'"),
        ({"register": "rude"}, "unknown register"),
        ({"source": " "}, "'source' is empty"),
        ({"addressee": "child"}, "'addressee' has no place in user_interruption"),
    ],
)
def test_keys_of_a_script(change, said):
    assert said in said_of(replace(interruption("Stop."), **change), "form")[0]


def test_turns_of_a_scenario():
    one = interruption("Stop.")
    assert said_of(replace(one, turns=one.turns[:1]), "form") == [
        "1 turn; user_interruption wants 2 turns: user (context), user (event)"
    ]
    assert "did you mean 'stop'" in said_of(interruption("Stop.", intent="stopp"), "form")[0]
    function = replace(one, turns=(one.turns[0], replace(one.turns[1], function="continuer")))
    assert said_of(function, "form") == ["turn 1 (event): 'function' has no place there; leave it out"]
    aside = script("talking_to_others", {"text": CONTEXT["en"]}, {"text": "Mom, the door's open."})
    assert said_of(aside, "form") == [
        f"'{key}' is missing; talking_to_others needs it" for key in ("addressee", "why")
    ]
    marked = interruption("Please [pause:clause] stop.")
    assert said_of(marked, "form") == [
        "turn 1 (event): a [pause:clause] mark has no place there; take it out"
    ]


def test_a_script_of_the_wrong_form_is_looked_at_no_further():
    def broken(text, language):
        raise AssertionError("pronounced")

    assert check_script(replace(interruption("Stop."), register="rude"), broken)


@pytest.mark.parametrize(
    ("text", "language", "said"),
    [
        ("Play it at 7 please.", "en", "digits (write them out): '7'"),
        ("Ask the FBI instead.", "en", "an acronym that must be spelled"),
        ("Ask Dr. Miller instead.", "en", "an abbreviation: 'Dr.'"),
        ("No... I mean yes.", "en", "dots for a hesitation"),
        ("Half & half, please.", "en", "'&' cannot be spoken"),
        ("えっと、DVDのほうで。", "ja", "Latin letters (write kana, or give a reading): 'D'"),
        ("あ、3時でお願いします。", "ja", "digits (write them in words or kanji): '3'"),
        ("あ、やっぱり「三時」で。", "ja", "'「」' cannot be spoken"),
    ],
)
def test_what_cannot_be_read_aloud(text, language, said):
    assert said in said_of(interruption(text, language=language), "characters")[0]


def test_a_reading_makes_anything_speakable():
    assert not said_of(interruption("Ask the [FBI|eff bee eye] instead."), "characters")
    assert not said_of(interruption("えっと、[DVD|ディーブイディー]のほうで。", language="ja"), "characters")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("これは日本語です、英語ではありませんよね。", "en"),
        ("Könnten Sie mir bitte ausführlich erklären, warum Katzen nachts so viel herumlaufen wollen?", "en"),
        ("Pourriez vous expliquer lentement comment fonctionne une centrale nucléaire moderne?", "en"),
        ("Explain it to me slowly, please.", "ja"),
        ("請你詳細說明一下發電廠如何運作並且告訴我全部的過程和理由。", "ja"),
    ],
)
def test_another_language_is_found(text, language):
    turns = [{"text": text}, {"text": text, "intent": "stop"}]
    assert said_of(script("user_interruption", *turns, language=language), "language")


def test_what_the_engine_refuses_is_found_with_its_reason():
    refusing = lambda text, language: Spoken(n_beats=0, refusal="no such sound")  # noqa: E731
    findings = check_script(interruption("Stop."), refusing)
    assert [(f.rule, f.message) for f in findings] == [
        ("speakable", "turn 0: no such sound"),
        ("speakable", "turn 1: no such sound"),
    ]


@pytest.mark.parametrize(("n_words", "fits"), [(13, False), (14, True), (28, True), (29, False)])
def test_lengths_in_words(n_words: int, fits: bool):
    one = script("smooth_turn_taking", {"text": " ".join(["please"] * n_words) + "."})
    assert said_of(one, "length") == ([] if fits else [f"turn 0 (turn): {n_words} words; wanted 14 to 28"])


@pytest.mark.parametrize(("n_morae", "fits"), [(34, False), (35, True), (75, True), (76, False)])
def test_lengths_in_morae(n_morae: int, fits: bool):
    one = script("smooth_turn_taking", {"text": "ねえ、これはなに。"}, language="ja")
    counted = check_script(one, lambda text, language: Spoken(n_beats=n_morae))
    assert (not [f for f in counted if f.rule == "length"]) == fits


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Stop, or I'll buy a pistol.", "banned"),
        ("Stop, and double your dose of it.", "banned"),
        ("Stop, and open Spotify.", "brand"),
    ],
)
def test_content_that_has_no_place(text, rule):
    assert len(said_of(interruption(text), rule)) == 1


@pytest.mark.parametrize(
    "text",
    ["Read me Moby Dick, then.", "No, the Amazon River.", "It's an Apple pie.", "With a sextant, then."],
)
def test_content_that_only_looks_like_it(text):
    assert not said_of(interruption(text), "banned") and not said_of(interruption(text), "brand")


@pytest.mark.parametrize(
    ("context", "language"),
    [
        ("What time is it in Tokyo right now, please?", "en"),
        ("How far is it from here to the next gas station?", "en"),
        ("Set a timer for ten minutes and then another for five.", "en"),
        ("Who was the first president of the United States?", "en"),
        ("Is it going to rain here tomorrow afternoon or not?", "en"),
        ("Play some quiet jazz in the living room for me.", "en"),
        ("Remind me to call my mother at six this evening.", "en"),
        ("What's the capital of the state of Ohio, by the way?", "en"),
        ("今日の東京の天気はどうでしょうか、雨は降りますか。", "ja"),
        ("タイマーを十分かけて、終わったら知らせてください。", "ja"),
        ("ここから駅までは、歩いて何分くらいかかりますか。", "ja"),
    ],
)
def test_contexts_that_draw_a_short_answer(context, language):
    turns = [{"text": context}, {"text": "Stop." if language == "en" else "もういいです。", "intent": "stop"}]
    assert said_of(script("user_interruption", *turns, language=language), "context")


def token(text: str, function: str, *tags: str, language: str = "en") -> Script:
    return script(
        "user_backchannel",
        {"text": CONTEXT[language]},
        {"text": text, "function": function},
        language=language,
        tags=list(tags),
    )


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (token("Makes sense.", "agreement", "fdb"), "is not one word"),
        (token("Unbelievable.", "assessment", "fdb"), "has 5 beats; an fdb token has at most 3"),
        (token("ああ、なるほど。", "agreement", "fdb", language="ja"), "is not one word"),
        (
            token("おもしろいね。", "assessment", "fdb", language="ja"),
            "has 6 beats; an fdb token has at most 4",
        ),
        (token("Really?", "continuer"), "invites a reply"),
        (token("本当？", "continuer", language="ja"), "invites a reply"),
        (token("Really?", "newsmark"), "function newsmark and tag newsmark go together"),
    ],
)
def test_tokens_that_are_no_backchannels(one, said):
    assert said in said_of(one, "token")[0]


@pytest.mark.parametrize(
    "one",
    [
        token("[Mm-hmm|/mhˈʌm/].", "continuer", "fdb"),
        token("Exactly.", "agreement", "fdb"),
        token("Makes sense.", "agreement"),
        token("Really?", "newsmark", "newsmark"),
        token("なるほど。", "agreement", "fdb", language="ja"),
        token("え、そうなんですか？", "newsmark", "newsmark", language="ja"),
    ],
)
def test_tokens_that_are_backchannels(one):
    assert not said_of(one)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Could you set a timer for me?", True),
        ("Mia, play something else.", True),
        ("Honey, would you turn the lights off?", True),
        ("Mia, your shoes are on the wrong feet.", False),
        ("It's the brick building on the left.", False),
    ],
)
def test_asides_that_the_assistant_would_carry_out(text, found):
    one = script(
        "talking_to_others",
        {"text": CONTEXT["en"]},
        {"text": text},
        addressee="child",
        why="a child's name",
    )
    assert bool(said_of(one, "aside")) == found


@pytest.mark.parametrize(
    ("text", "tags", "said"),
    [
        ("Somebody turn that music down, I can't hear a thing in here.", [], "a command a model could obey"),
        ("Somebody turn that music down, I can't hear a thing in here.", ["instruction"], ""),
        ("The museum has bought a painting that nobody had seen for years.", [], ""),
        (
            "The museum has bought a painting that nobody had seen for years.",
            ["instruction"],
            "commands nothing",
        ),
    ],
)
def test_commands_in_the_background(text, tags, said):
    one = script(
        "background_speech",
        {"text": CONTEXT["en"]},
        {"role": "other", "text": text, "intent": "table_talk"},
        tags=tags,
    )
    found = said_of(one, "background")
    assert (said in found[0]) if said else not found


def test_rules_that_are_not_there_are_refused_with_what_there_is():
    with pytest.raises(ScriptError, match=r"no rules for language 'de'.*known: en, ja"):
        load_rules("de")
    assert load_rules("ja-JP") is load_rules("ja-JP") and load_rules("en-GB").name == "English"
    with pytest.raises(ScriptError, match=r"languages/de\.toml"):
        load_rules("de")


def unasked(marked, language):
    raise AssertionError(f"{language} has no rules: its words are not looked at")


def test_of_a_language_without_rules_the_form_is_checked():
    good = replace(interruption("¡Espere, que ya no hace falta!"), language="es")
    report = lint_scripts([good], unasked)
    assert (report.findings, report.quotas, report.form_only) == ((), (), ("es",))
    assert lint_scripts([interruption("Stop.")], pronounce).form_only == ()
    wrong = replace(good, register="rude", turns=good.turns[:1])
    said = [f.message for f in check_script(wrong, unasked)]
    assert said[0].startswith("register: unknown register")
    assert said[1].startswith("1 turn; user_interruption wants 2 turns")
    assert lint_scripts([wrong], unasked).n_errors == 2


@pytest.mark.parametrize(
    ("language", "first", "second", "same"),
    [
        ("es", "¿Me explica  cómo se hace?", "¿me explica cómo se hace?", True),
        ("es", "¿Cuánto cuesta el año nuevo?", "¿Cuánto cuesta el ano nuevo?", False),
        ("hi", "मुझे दान दो", "मुझे दिन दो", False),
    ],
)
def test_a_text_that_comes_twice_is_found_without_rules(language, first, second, same):
    scripts = [
        replace(
            one,
            id=f"ui-{k}",
            language=language,
            turns=(replace(one.turns[0], text=text), replace(one.turns[1], text=f"{k}!")),
        )
        for k, (one, text) in enumerate(zip([interruption("Stop.")] * 2, (first, second), strict=True))
    ]
    found = [f for f in lint_scripts(scripts, unasked).findings if f.rule == "duplicate"]
    assert [(f.severity, f.script_id) for f in found] == ([("error", "ui-1")] if same else [])
    if same:
        assert "its context is the same as the context of ui-0" in found[0].message


def test_findings_say_where():
    one = replace(load_scripts("user_interruption", "en")[0], register="rude")
    report = lint_scripts([one], pronounce)
    assert report.n_errors == 1
    assert str(report.findings[0]).startswith("error en/user_interruption/ui-001: register: unknown register")
