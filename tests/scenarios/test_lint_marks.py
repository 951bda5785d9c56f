"""The linter on marks: pauses by their kind, the one end of a smooth turn, places for a listener."""

import pytest

from tests.scenarios.test_lint_rules import said_of, script

PAUSED = (
    "I was wondering whether you could {} for me before we leave for the airport tomorrow morning, please."
)


@pytest.mark.parametrize(
    ("middle", "said"),
    [
        ("book a [pause:content_word] table", ""),
        ("um, [pause:filler] book a table", ""),
        ("buy milk, [pause:list] bread, and [pause:list] eggs", ""),
        ("dial five five five, [pause:digits] one two three", ""),
        ("book a table [pause:filler] there", "no filler stands before it"),
        ("book [pause:content_word] a table", "no content word follows"),
        ("book a [pause:list] table", "no list is under way"),
        ("book a [pause:digits] table", "not inside a number"),
        ("help. [pause:clause] Then book a table", "the turn could end there"),
    ],
)
def test_pauses_by_their_kind(middle, said):
    found = said_of(script("pause_handling", {"text": PAUSED.format(middle)}), "pause")
    assert (said in found[0]) if said else not found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "予約したいんですけど、[pause:clause]あした空いていますか、それともあさってのほうがいいでしょうか。",
            "could end",
        ),
        (
            "あしたの朝、えーと[pause:filler]七時くらいに起こしてほしいんですけど、うるさくない音でお願いできますか。",
            "",
        ),
        (
            "番号は[四一七|ヨンイチナナ]の[pause:digits][〇五二|ゼロゴーニー]ですので、これで調べていただけると助かります。",
            "",
        ),
    ],
)
def test_pauses_in_japanese(text, said):
    found = said_of(script("pause_handling", {"text": text}, language="ja"), "pause")
    assert (said in found[0]) if said else not found


def test_a_pause_at_the_end_of_a_turn_is_none():
    found = said_of(script("pause_handling", {"text": PAUSED.format("help") + " [pause:clause]"}), "form")
    assert "does not stand between two words" in found[0]


def test_a_turn_without_a_pause_is_of_the_wrong_form():
    found = said_of(script("pause_handling", {"text": PAUSED.format("book a table")}), "form")
    assert "no [pause:…] mark; wanted at least one" in found[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Is it open today? I would like to go there right after lunch with my two sons.",
            "a question stands",
        ),
        ("I like tea. I like milk. I like to drink them in the garden with my friends.", "3 sentences"),
        ("so I was wondering if you could find me a train that leaves after four", "no plain end"),
        ("So I was wondering if you could find me a train that leaves after four.", ""),
    ],
)
def test_a_smooth_turn_has_one_end(text, said):
    found = said_of(script("smooth_turn_taking", {"text": text}), "end")
    assert (said in found[0]) if said else not found


STORY = "We went out early, {} and then it rained, {} so we sat in the car. {} It was fun. {} Really."
MARK = "[trp:continuer]"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (STORY.format(MARK, MARK, MARK, MARK), ""),
        (STORY.format(MARK, MARK, MARK, ""), "3 places for a listener; wanted 4 to 8"),
        (STORY.format(MARK, MARK, MARK, MARK) + f" {MARK}", "at the very end"),
        (STORY.replace("early,", "early").format(MARK, MARK, MARK, MARK), "not after a clause's punctuation"),
        (STORY.format("[trp:newsmark]", MARK, MARK, MARK), "a newsmark invites a reply"),
    ],
)
def test_places_for_a_listener(text, said):
    found = said_of(script("backchannel", {"text": text.replace("  ", " ")}), "trp")
    assert (said in found[0]) if said else not found
