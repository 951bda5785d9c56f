"""Written dialogues to spoken ones and to another language, with checks, review and acceptance."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplexkit import ScriptError
from duplexkit.builders.writers.dialogues import read_dialogues
from duplexkit.builders.writers.faithful import check_names, check_numbers, check_ratio, names_in
from duplexkit.builders.writers.numbers import numbers_in
from duplexkit.builders.writers.review import COLUMNS, read_review, reviewed
from duplexkit.builders.writers.script_lines import read_file, write_file
from duplexkit.scenarios.bank import load_scripts
from duplexkit.scenarios.conversation import Role, Script
from duplexkit.scenarios.lint import DOMAINS
from tests.builders.writers_model import Model, Reply, model, run


@pytest.mark.parametrize(
    ("text", "language", "numbers"),
    [
        ("It fell in 1989, or so.", "en", (1989,)),
        ("in nineteen sixty-nine", "en", (1969,)),
        ("the nineteen nineties", "en", (1990,)),
        ("twenty oh five", "en", (2005,)),
        ("fifteen hundred and three", "en", (1503,)),
        ("three hundred and eighty-four thousand kilometers", "en", (384_000,)),
        ("two and a half million rivets", "en", (2_500_000,)),
        ("half a million", "en", (500_000,)),
        ("a hundred and a hundred and sixty", "en", (100, 160)),
        ("one point three seconds", "en", (1.3,)),
        ("3.5 million, 1,234 and the 42nd", "en", (3_500_000, 1234, 42)),
        ("the twenty-eighth of December", "en", (28,)),
        ("千九百六十九年", "ja", (1969,)),
        ("二〇二四年", "ja", (2024,)),
        ("三十八万四千キロ", "ja", (384_000,)),
        ("三億二千万", "ja", (320_000_000,)),
        ("一点三秒と三点一四", "ja", (1.3, 3.14)),
        ("３５万人と3.5万", "ja", (350_000, 35_000)),
        ("数千年も前の話", "ja", ()),
    ],
)
def test_numbers_are_read_however_they_are_said(text, language, numbers):
    assert numbers_in(text, language) == numbers


def kanji(number: int) -> str:
    """Return a number below 10^12 in kanji, written independently of the reader under test."""
    digits = "〇一二三四五六七八九"

    def small(n: int) -> str:
        out = ""
        for value, sign in ((1000, "千"), (100, "百"), (10, "十")):
            d, n = divmod(n, value)
            if d:
                out += ("" if d == 1 else digits[d]) + sign
        return out + (digits[n] if n else "")

    out = ""
    for value, sign in ((10**8, "億"), (10**4, "万")):
        d, number = divmod(number, value)
        if d:
            out += small(d) + sign
    return out + small(number) or "〇"


@given(st.integers(min_value=1, max_value=10**12 - 1))
def test_kanji_numerals_read_back(number: int):
    assert numbers_in(f"およそ{kanji(number)}です", "ja") == (float(number),)
    assert numbers_in(f"およそ{number}です", "ja") == numbers_in(f"about {number:,} of them", "en")


def test_numbers_that_went_missing_or_came_from_nowhere_are_named():
    said = ("About three hundred people came in 1989.", "一九八九年に、三百人くらい来ました。")
    assert not list(check_numbers(*said, languages=("en", "ja")))
    assert list(check_numbers(said[0], "一九九八年に、三百人くらい来ました。", languages=("en", "ja"))) == [
        "numbers lost: 1989",
        "numbers added: 1998",
    ]


def test_names_that_went_missing_are_named():
    assert names_in("When did Neil Armstrong walk on the Moon? He did.") == ("Neil Armstrong", "Moon")
    before = "It was Neil Armstrong who did."
    assert not list(check_names(before, "That was Neil Armstrong.", None))
    assert list(check_names(before, "That was Armstrong.", None)) == ["name lost: Neil Armstrong"]
    names = {"Neil Armstrong": "アームストロング"}
    assert not list(check_names(before, "アームストロングです。", names))
    assert list(check_names(before, "オルドリンです。", names)) == [
        "name lost: Neil Armstrong (アームストロング)"
    ]
    assert list(check_names(before, "アームストロングです。", {})) == [
        "name without a translation: Neil Armstrong"
    ]


def test_a_translation_that_lost_half_is_seen():
    before = "It takes about two and a half hours from Tokyo to Osaka these days."
    assert list(check_ratio(before, 9, languages=("en", "ja"))) == ["length: 9 morae for 14 words"]
    assert not list(check_ratio(before, 38, languages=("en", "ja")))


def topiocqa_rows() -> list[dict]:
    """Return a dialogue of the bank as TopiOCQA would hold it: written, with digits, in rows out of order."""
    script = load_scripts("mt_qa", "en")[10]
    assert script.domain == "fitness"
    texts = [_written(turn.text) for turn in script.turns]
    rows = [
        {
            "Conversation_no": 7,
            "Turn_no": k + 1,
            "Question": texts[2 * k],
            "Answer": texts[2 * k + 1],
            "Topic": "Marathon",
        }
        for k in range(len(texts) // 2)
    ]
    return rows[::-1]


def _written(text: str) -> str:
    for said, digits in (
        ("Forty-two point one nine five kilometers", "42.195 km"),
        ("twenty-six", "26"),
        ("nineteen oh eight", "1908"),
        ("Four hundred", "400"),
        ("Twenty-five", "25"),
        ("ten thousand", "10,000"),
        (" [pause:content_word]", ""),
        (" [pause:filler]", ""),
    ):
        text = text.replace(said, digits)
    return text


def test_topiocqa_rows_become_dialogues_in_order(tmp_path: Path):
    path = tmp_path / "topiocqa_valid.jsonl"
    rows = topiocqa_rows()
    unanswerable = {**rows[0], "Turn_no": 99, "Answer": "UNANSWERABLE"}
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, unanswerable]))
    (dialogue,) = read_dialogues(path)
    assert dialogue.id == "topiocqa-0007" and len(dialogue.pairs) == len(rows)
    assert dialogue.pairs[0] == (rows[-1]["Question"], rows[-1]["Answer"])
    assert dialogue.topics[0] == "Marathon"
    path.with_suffix(".json").write_text(json.dumps(rows))
    assert read_dialogues(path.with_suffix(".json"))[0].pairs == dialogue.pairs


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": 1, "turns": [{"role": "user", "text": "a"}]}', "user and system in turn"),
        ('{"id": 1, "pairs": [{"question": "a"}]}', "'answer'"),
        ('{"id": 1, "dialog": []}', "wanted 'turns'"),
        ('{"Conversation_no": 1, "Turn_no": 1, "Question": "a"}', "'Answer' of TopiOCQA is missing"),
        ("{", "no JSON"),
        ("[1]", "wanted a JSON object"),
    ],
)
def test_other_shapes_are_refused_with_what_is_wanted(tmp_path: Path, line: str, said: str):
    path = tmp_path / "d.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(ScriptError, match=said):
        read_dialogues(path)


def rewriter(script: Script, *, wrong: dict[int, str] | None = None):
    """Answer with the spoken turns of a dialogue of the bank, some of them wrong."""

    def brain(request: dict, number: int) -> Reply:
        asked = json.loads(request["messages"][1]["content"])["turns"]
        turns = [
            {
                "index": turn["index"],
                "text": (wrong or {}).get(turn["index"], script.turns[turn["index"]].text),
                "intent": script.turns[turn["index"]].intent,
                "reference_answer": script.turns[turn["index"]].reference_answer,
                "depends_on": list(script.turns[turn["index"]].depends_on),
                "dependence": script.turns[turn["index"]].dependence,
            }
            for turn in asked
        ]
        whole = {"turns": turns, "domain": script.domain, "register": script.register}
        return Reply(text=json.dumps(whole, ensure_ascii=False))

    return brain


def rewrite_with(running: Model, tmp_path: Path) -> str:
    source = tmp_path / "topiocqa_valid.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in topiocqa_rows()))
    return run(
        *("scripts", "rewrite", str(source), "--model", "m", "--base-url", running.base_url),
        *("--source", "TopiOCQA", "--licence", "CC-BY-NC-SA-4.0", "--out", str(tmp_path / "spoken")),
    )


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_written_dialogues_are_spoken_reviewed_and_accepted(tmp_path: Path):
    script = load_scripts("mt_qa", "en")[10]
    wrong = {1: "Forty-three kilometers, they say.", 17: "A lap is 400 m (inside lane)."}
    with model(rewriter(script, wrong=wrong)) as running:
        said = rewrite_with(running, tmp_path)
    assert "1 dialogues, 22 lines, 2 with findings" in said
    rows = table(tmp_path / "spoken.tsv")
    assert tuple(rows[0]) == COLUMNS
    open_rows = {int(row["turn"]): row for row in rows if not row["verdict"]}
    assert set(open_rows) == {1, 17}
    assert "numbers lost: 42.195, 26" in open_rows[1]["findings"]
    assert "numbers added: 43" in open_rows[1]["findings"]
    assert "characters" in open_rows[17]["findings"] and "written only" in open_rows[17]["findings"]
    page = (tmp_path / "spoken.html").read_text()
    assert page.count('class="line') == 22 and "42.195 km" in page and "numbers lost" in page

    # undecided lines: the dialogue cannot be used before turn 1, so it stays out
    arguments = ("scripts", "accept", str(tmp_path / "spoken.jsonl"), str(tmp_path / "spoken.tsv"))
    arguments += ("--language", "en", "--out", str(tmp_path / "bank"))
    assert "left out topiocqa-0007: turn 1: no verdict" in run(*arguments)
    assert not (tmp_path / "bank/en/mt_qa.jsonl").exists()

    # the reviewer corrects the first and rejects the second: kept up to the pair before
    for row in rows:
        if row["turn"] == "1":
            row |= {"after": script.turns[1].text, "verdict": "accept"}
        if row["turn"] == "17":
            row["verdict"] = "reject"
    _save(tmp_path / "spoken.tsv", rows)
    assert "shortened topiocqa-0007: turn 17: reject; kept up to turn 15" in run(*arguments)
    (taken,) = read_file(tmp_path / "bank/en/mt_qa.jsonl", "mt_qa", "en")
    assert taken.id == "qa-001" and len(taken.turns) == 16 and taken.licence == "CC-BY-NC-SA-4.0"
    assert [t.text for t in taken.turns] == [t.text for t in script.turns[:16]]
    assert taken.source == "TopiOCQA; spoken form by m-2026 (model-written)"
    assert dict(taken.provenance)["dialogue"] == "topiocqa-0007"


def _save(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def test_an_accepted_text_that_cannot_be_spoken_is_refused(tmp_path: Path):
    script = load_scripts("mt_qa", "en")[10]
    with model(rewriter(script)) as running:
        rewrite_with(running, tmp_path)
    rows = table(tmp_path / "spoken.tsv")
    rows[3]["after"] = "From London, in 1908 & so on, as you will surely know by now."
    _save(tmp_path / "spoken.tsv", rows)
    said = run(
        *("scripts", "accept", str(tmp_path / "spoken.jsonl"), str(tmp_path / "spoken.tsv")),
        *("--language", "en", "--out", str(tmp_path / "bank")),
        expect=1,
    )
    assert "nothing was written" in said and "digits" in said


NAMES = {"Pythagoras": "ピタゴラス", "Greek": "ギリシャ", "Babylonians": "バビロニア"}


def translator(script: Script, *, names: dict[str, str], wrong: dict[int, str]):
    def brain(request: dict, number: int) -> Reply:
        asked = json.loads(request["messages"][1]["content"])["turns"]
        turns = [
            {
                "index": turn["index"],
                "text": wrong.get(turn["index"], script.turns[turn["index"]].text),
                "reference_answer": script.turns[turn["index"]].reference_answer,
            }
            for turn in asked
        ]
        pairs = [{"source": source, "target": target} for source, target in names.items()]
        return Reply(text=json.dumps({"turns": turns, "names": pairs}, ensure_ascii=False))

    return brain


def test_dialogues_are_translated_under_the_same_ids_with_checks(tmp_path: Path):
    english, japanese = (
        next(s for s in load_scripts("mt_qa", language) if s.id == "qa-013") for language in ("en", "ja")
    )
    write_file(tmp_path / "en/mt_qa.jsonl", [english])
    wrong = {3: "三百七十度だよ。対角線を一本引くと、三角形二つに分かれるからね。", 9: "二等辺。"}
    with model(translator(japanese, names=NAMES, wrong=wrong)) as running:
        run(
            *("scripts", "translate", str(tmp_path / "en/mt_qa.jsonl"), "--model", "m"),
            *("--base-url", running.base_url, "--out", str(tmp_path / "drafts"), "--to", "ja"),
        )
    rows = {int(row["turn"]): row for row in table(tmp_path / "drafts.tsv")}
    assert "numbers lost: 360; numbers added: 370" in rows[3]["findings"]
    assert "length" in rows[9]["findings"]
    # the bank's own translation adds what follows from the text (three triangles: 180 each): to be looked at
    assert {turn for turn, row in rows.items() if row["findings"]} - {3, 9} <= {5, 19}
    (draft,) = read_file(tmp_path / "drafts.jsonl", "mt_qa", "ja")
    assert draft.id == "qa-013" and "translated by m-2026" in draft.source
    assert [t.depends_on for t in draft.turns] == [t.depends_on for t in english.turns]

    rows[3]["after"], rows[9]["after"] = japanese.turns[3].text, japanese.turns[9].text
    for row in rows.values():
        row["verdict"] = "accept"
    _save(tmp_path / "drafts.tsv", list(rows.values()))
    run(
        *("scripts", "accept", str(tmp_path / "drafts.jsonl"), str(tmp_path / "drafts.tsv")),
        *("--language", "ja", "--out", str(tmp_path / "bank")),
    )
    (taken,) = read_file(tmp_path / "bank/ja/mt_qa.jsonl", "mt_qa", "ja")
    assert taken.id == "qa-013" and [t.text for t in taken.turns] == [t.text for t in japanese.turns]


def test_a_name_that_the_translation_drops_is_found(tmp_path: Path):
    english, japanese = (
        next(s for s in load_scripts("mt_qa", language) if s.id == "qa-013") for language in ("en", "ja")
    )
    write_file(tmp_path / "en/mt_qa.jsonl", [english])
    wrong = {15: "ユークリッドだよ。バビロニアではその千年以上前から、もう知られてたんだって。"}
    with model(translator(japanese, names=NAMES, wrong=wrong)) as running:
        run(
            *("scripts", "translate", str(tmp_path / "en/mt_qa.jsonl"), "--model", "m"),
            *("--base-url", running.base_url, "--out", str(tmp_path / "drafts")),
        )
    row = next(row for row in table(tmp_path / "drafts.tsv") if row["turn"] == "15")
    assert "name lost: Pythagoras (ピタゴラス)" in row["findings"]


def test_a_review_with_other_columns_or_verdicts_is_refused(tmp_path: Path):
    path = tmp_path / "r.tsv"
    path.write_text("dialogue\tturn\n")
    with pytest.raises(ScriptError, match="the columns after, before"):
        read_review(path)
    path.write_text("\t".join(COLUMNS) + "\nd\t1\tuser\ta\tb\t\tperhaps\n")
    with pytest.raises(
        ScriptError, match=r"line 2: turn '1', verdict 'perhaps'; wanted a number, and accept or reject"
    ):
        read_review(path)
    path.write_text("\t".join(COLUMNS) + "\nd\t1\tuser\ta\tb\t\taccept\n")
    with pytest.raises(ScriptError, match="turn 1 of 'd', which is not in the drafts"):
        reviewed(load_scripts("mt_qa", "en")[:1], read_review(path))


def test_roles_and_topics_are_those_the_bank_knows():
    assert {turn.role for turn in load_scripts("mt_qa", "en")[0].turns} == {Role.USER, Role.SYSTEM}
    assert {script.domain for script in load_scripts("mt_qa", "en")} <= set(DOMAINS)


def test_what_a_model_says_wrongly_of_a_dialogue_does_not_close_it_to_the_reviewer(tmp_path: Path):
    """Drafts are files of scripts: labels that none could have are left out, and the linter misses them."""
    script = load_scripts("mt_qa", "en")[10]
    later = replace(script.turns[2], depends_on=(0, 2, 9, -1), dependence="anaphora", intent="chat")
    turns = (*script.turns[:2], later, *script.turns[3:])
    with model(rewriter(replace(script, turns=turns))) as running:
        rewrite_with(running, tmp_path)
    (draft,) = read_file(tmp_path / "spoken.jsonl", "mt_qa", "en")
    assert draft.turns[2].depends_on == (0,) and draft.turns[2].intent == ""
    (row,) = [row for row in table(tmp_path / "spoken.tsv") if row["turn"] == "2"]
    assert "'intent' is missing" in row["findings"] and not row["verdict"]


def test_a_dialogue_keeps_an_id_that_a_script_can_have(tmp_path: Path):
    pairs = [{"question": "a", "answer": "b"}]
    path = tmp_path / "d.jsonl"
    path.write_text("".join(json.dumps({"id": id_, "pairs": pairs}) + "\n" for id_ in ("C_1", "a/b", 7)))
    assert [dialogue.id for dialogue in read_dialogues(path)] == ["C_1", "dialogue-0002", "7"]
