"""How long a model's answers to contexts are, measured through the linter's command."""

from pathlib import Path

import numpy as np
import pytest

from duplexkit.builders.writers.answer_length import contexts_of, length_s, sample_answers, short_answers
from duplexkit.builders.writers.answer_store import AnswerStore
from duplexkit.builders.writers.endpoint import Endpoint
from duplexkit.builders.writers.pronounce import pronounce
from duplexkit.builders.writers.session import Session
from duplexkit.builders.writers.spending import Budget
from duplexkit.scenarios.bank import SHIPPED, load_scripts
from duplexkit.scenarios.markup import parse
from tests.builders.writers_model import Reply, model, run

LONG = "First you warm the pan, and then you add the butter, and when that foams the eggs go in. " * 5


@pytest.mark.parametrize(
    ("text", "language", "beats"),
    [
        ("banana", "en", 3),
        ("[Uh-huh|/ʌhˈʌ/].", "en", 2),
        ("Wow.", "en", 1),
        ("なるほど。", "ja", 4),
        ("うん。", "ja", 2),
        ("オッケー。", "ja", 4),  # お・っ・け・ー
        ("新聞社", "ja", 5),  # し・ん・ぶ・ん・しゃ
        ("[外湯めぐり|そとゆめぐり]", "ja", 6),
    ],
)
def test_beats_are_syllables_and_morae(text: str, language: str, beats: int):
    assert pronounce(parse(text), language).n_beats == beats


def test_a_text_that_cannot_be_read_is_refused_with_the_reason():
    spoken = pronounce(parse("これはкотです"), "ja")
    assert spoken.n_beats == 0 and spoken.refusal


def test_lengths_follow_the_beats():
    assert length_s("banana banana banana banana banana", "en") == pytest.approx(15 / 5)
    assert length_s("しんぶん" * 7, "ja") == pytest.approx(28 / 7)
    assert length_s("", "en") == 0.0


def test_contexts_that_draw_short_answers_are_found(tmp_path: Path):
    scripts = load_scripts("user_interruption", "en")[:8] + load_scripts("smooth_turn_taking", "en")[:8]
    assert len(contexts_of(scripts)) == 8
    with (
        model(lambda request, number: Reply(text=LONG if number % 2 else "Sure, no problem.")) as running,
        AnswerStore(tmp_path / "a.jsonl") as store,
        Session(
            Endpoint(model="m", base_url=running.base_url),
            store,
            budget=Budget(),
            n_workers=1,
            tell=lambda line: None,
        ) as session,
    ):
        answers = sample_answers(scripts, session, n=6, rng=np.random.default_rng(1))
    assert len(answers) == 6
    found = short_answers(answers)
    assert len(found) == 3 and "wanted 15" in found[0].message
    assert "response_format" not in running.answered[0]


def test_the_linters_command_asks_the_model_and_exits_by_what_it_says(tmp_path: Path):
    arguments = [
        *("scripts", "lint", str(SHIPPED / "en/talking_to_others.jsonl"), "--model", "m", "--sample", "4"),
        *("--answers", str(tmp_path / "answers.jsonl")),
    ]
    with model(lambda request, number: Reply(text=LONG)) as running:
        said = run(*arguments, "--base-url", running.base_url)
        assert "m: 4 answers" in said and "0 errors" in said
    with model(lambda request, number: Reply(text="No.")) as running:
        arguments[-1] = str(tmp_path / "others.jsonl")
        said = run(*arguments, "--base-url", running.base_url, expect=1)
        assert said.count("the model's answer takes") == 4
