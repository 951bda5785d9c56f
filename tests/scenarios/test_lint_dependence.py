"""Whether a question needs its history: by rules, over the whole bank and on questions made for it."""

import pytest

from duplexkit.scenarios.bank import load_scripts
from duplexkit.scenarios.conversation import Role
from duplexkit.scenarios.lint.dependence_rules import refers_back
from duplexkit.scenarios.lint.language_rules import load_rules
from duplexkit.scenarios.markup import shown

NEEDS = {
    "en": (
        "And when was it built?",
        "Who was the first person to walk on it?",
        "And in winter?",
        "And the penguins?",
        "What about the other one?",
        "Is that longer than the first one?",
        "Which of the two is older?",
        "Does she still live there?",
        "And how did the older man die?",
        "How many of them are in Tokyo?",
        "Why?",
        "Is the second one bigger?",
        "Who else was there?",
        "Where do those come from?",
        "So are both of them from the Americas?",
        "Is there a month named after him?",
    ),
    "ja": (
        "それは、いつ建てられたんですか。",
        "じゃあ、冬は？",
        "その二つのうち、古いのはどちらですか。",
        "そこには、どんな動物がいるの？",
        "二番目に歩いたのは誰ですか。",
        "もっと軽い気体ってあるの？",
        "では、ペンギンのほうは？",
        "ほかに、同じ科の野菜はありますか。",
        "彼はどこの国の人ですか。",
        "アジアの場合は、どこが最初ですか。",
        "二千年はどうでしたか。",
    ),
}
STANDS_ALONE = {
    "en": (
        "When was the Eiffel Tower completed?",
        "How far is it from the Earth to the Moon?",
        "How long does it take to boil an egg?",
        "Once a tree's been cut, how can you tell its age?",
        "I'd love to see Mount Fuji one day, how high is it?",
        "How does a pipe organ make its sound?",
        "Which month changes its length in a leap year?",
        "What gives human blood its red color?",
        "Why do cats purr when they sleep?",
        "What are the vessels called that carry blood away from the heart?",
        "By the way, which planet is closest to the Sun?",
        "Is there a lake in Scotland that never freezes?",
        "What do babies dream about these days?",
    ),
    "ja": (
        "エッフェル塔が完成したのは、いつですか。",
        "地球から月までは、どのくらい離れていますか。",
        "相撲は、どうすると勝ちになるんですか。",
        "ところで、太陽にいちばん近い惑星はどれですか。",
        "三つの辺の長さが全部同じ長さの三角形は、なんといいますか。",
        "金と鉛ではどちらが重いのでしょうか。",
        "ちょっと話がそれるけど、世界でいちばん高い木ってなに？",
        "紙が最初に作られたのは、どこの国でしょうか。",
    ),
}


@pytest.mark.parametrize("language", ["en", "ja"])
def test_questions_that_need_their_history(language: str):
    missed = [text for text in NEEDS[language] if not refers_back(text, load_rules(language))]
    assert not missed


@pytest.mark.parametrize("language", ["en", "ja"])
def test_questions_that_stand_alone(language: str):
    found = {text: refers_back(text, load_rules(language)) for text in STANDS_ALONE[language]}
    assert not {text: word for text, word in found.items() if word}


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_tagged_question_of_the_bank_needs_its_history_and_no_other_does(language: str):
    n_tagged = 0
    for script in load_scripts("mt_qa", language):
        for index, turn in enumerate(script.turns):
            if turn.role is not Role.USER:
                continue
            word = refers_back(shown(turn.text), load_rules(language))
            assert bool(word) == bool(turn.depends_on), (script.id, index, turn.text, word)
            n_tagged += bool(turn.depends_on)
    assert n_tagged > 200
