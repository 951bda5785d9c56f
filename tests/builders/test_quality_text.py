"""Error rates and faults of what was heard, on texts whose errors can be counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplexkit.builders.quality.alignment import align, n_errors
from duplexkit.builders.quality.compared_words import compared_words
from duplexkit.builders.quality.normal_text import kana_of, normal_words
from duplexkit.builders.quality.spoken_words import dropped_words, lost_words, repeated_words, spoken_tags
from duplexkit.builders.quality.wer import character_error_rate, word_error_rate

words = st.lists(st.sampled_from("abcd"), max_size=7)


def edits(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """The edit distance by its recursive definition."""
    if not a or not b:
        return len(a) + len(b)
    return min(edits(a[1:], b) + 1, edits(a, b[1:]) + 1, edits(a[1:], b[1:]) + (a[0] != b[0]))


@given(wanted=words, heard=words)
def test_the_alignment_has_the_fewest_errors_and_tells_both_sides(
    wanted: list[str], heard: list[str]
) -> None:
    steps = align(wanted, heard)
    assert n_errors(steps) == edits(tuple(wanted), tuple(heard))
    assert [s.wanted for s in steps if s.kind != "added"] == wanted
    assert [s.heard for s in steps if s.kind != "dropped"] == heard


@given(
    st.lists(st.sampled_from(["we", "leave", "at", "nine", "today"]), min_size=1, max_size=9),
    st.lists(st.sampled_from(["we", "leave", "at", "nine", "today"]), max_size=9),
)
def test_word_error_rate_is_that_of_another_package(wanted: list[str], heard: list[str]) -> None:
    jiwer = pytest.importorskip("jiwer", reason="jiwer is not installed")
    assert word_error_rate(" ".join(wanted), " ".join(heard), "en") == pytest.approx(
        jiwer.wer(" ".join(wanted), " ".join(heard))
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("At around thirty-four degrees.", "at around 34 degrees"),
        ("about three hundred and eighty-four thousand kilometers", "about 384,000 kilometres"),
        ("the ten forty train", "the 1040 train"),
        ("the ten forty train", "The 10:40 train!"),
        ("built in nineteen sixty-nine", "built in 1969"),
        ("in two thousand five", "in 2005"),
        ("on the twenty-first", "on the 21st"),
        ("a quarter, 25 percent", "a quarter, 25%"),
        ("five dollars", "$5"),
        ("O’Neil can't", "o'neil cant"),
        ("the harbour's colour", "the harbors color"),
        ("three point one four", "3.14"),
        ("at 5 p.m. sharp", "at five pm sharp"),
        ("OK, alright", "okay all right"),
        ("in the eighteen hundreds", "in the 1800s"),
        ("music of the nineteen eighties", "music of the 1980s"),
        ("back in the nineties", "back in the '90s"),
        ("eighteen hundred people", "1,800 people"),
        ("at three one two, five five five, zero one four six", "at 312-555-0146"),
        ("five five five zero one nine nine", "555-0199"),
        ("four thousand kilometers", "4,000 km"),
        ("a person of sixty kilograms", "a person of 60kg"),
        ("at fifty-five miles per hour", "at 55 mph"),
        ("one foot, twelve pounds", "1 ft, 12 lbs"),
        ("it costs five million dollars", "it costs $5 million"),
        ("call two one two, five five five, one two three four", "call (212) 555-1234"),
        ("five hundred to one thousand pages", "500 to 1000 pages"),
        ("its one millionth roll, a million rolls", "its 1 millionth roll, 1 million rolls"),
        ("Uh-huh. No, Thursday.", "Aha, no Thursday."),
        ("one-hundred people", "100 people"),
        ("the city one hundred miles off", "the city 100 miles off"),
        ("at one point one dollars", "at $1.1"),
        ("about two thousand one hundred", "about 2,100"),
        ("at seven o'clock", "at 7:00"),
        ("at seven o'clock", "at 7 o'clock"),
        ("for a dollar or one dollar", "for a dollar or $1"),
        ("a hundred of them, the hundredth time", "100 of them, the 100th time"),
        ("a thousand one hundred pages", "1100 pages"),
        ("a plow, doughnuts and old discs", "a plough, donuts and old disks"),
    ],
)
def test_spellings_of_the_same_words_are_the_same(one: str, other: str) -> None:
    assert normal_words(one, "en") == normal_words(other, "en")


def test_what_differs_stays_different() -> None:
    assert normal_words("four", "en") != normal_words("five", "en")
    assert normal_words("1969", "en") != normal_words("1968", "en")
    assert normal_words("fourteen", "en") != normal_words("forty", "en")
    assert normal_words("500-1000 pages", "en") == ("five", "hundred", "thousand", "pages")
    assert normal_words("123.4567", "en")[:3] == ("hundred", "twenty", "three")
    assert normal_words("twenty-one thousand", "en") != normal_words("twenty thousand", "en")
    assert normal_words("a dollar", "en") != normal_words("one dollar", "en")
    assert word_error_rate("She began to hum loudly.", "She began to loudly.", "en") == 0.2


@pytest.mark.parametrize(
    ("wanted", "heard", "n_errors"),
    [
        ("I told my landlady she was offside", "I told my land lady she was off side.", 0),
        ("a hotel at the sea side", "A hotel at the seaside", 0),
        ("Um, where is, uh, the exit?", "Where is the exit?", 0),
        ("Where is the exit?", "Um, where is the exit?", 0),
        ("Where is the uh-huh exit?", "Where is the exit?", 1),
        ("a part of it", "apart of it", 2),
        ("the land of the lady", "the landlady", 4),
        ("tea and so on", "tea and soon", 2),
        ("the therapist visit", "the the rapist visit", 2),
        ("call me at nine", "call meat nine", 2),
        ("the brake pads", "the break pads", 0),
        ("There are two of my buddy's aunts.", "They're are too of my buddies aunts", 0),
        ("Whose turn is it?", "Who's turn is it?", 0),
        ("a pain in the neck", "a pen in the neck", 1),
        ("The code is eight three three, six one nine.", "The code is 833, 619.", 0),
        ("Dial four nine two, seven oh one one.", "Dial 492-7011", 0),
        ("Flight two eighteen to Santa Fe", "Flight 218 to Santa Fe", 0),
        ("room three oh five", "Room 305", 0),
        ("There are two hundred and eighteen seats.", "There are 218 seats", 0),
        ("The code is eight three three.", "The code is 838.", 3),
        ("It costs eight dollars", "It costs $88", 1),
        ("at ten thirty", "at 10:30", 0),
        ("call two one two, five five five, one two three four", "call 212-555-1234", 0),
        ("call two one two, five five five, one two three four", "call 212-555-1235", 1),
        ("Dial four nine two, seven zero one one.", "Dial 492-7012", 1),
        ("I got one twenty miles per hour", "I got 120 mph", 1),
        ("agent zero zero seven", "agent 007", 0),
        ("extension zero five", "extension 05", 0),
        ("code eight three three six one nine", "code 833,619", 0),
        ("seats three and eleven, row nine", "seats 3 and 11, row 9", 0),
        ("check the brake pads now", "check the break now", 1),
        ("the flour bins", "the flower", 1),
        ("a new insight", "a new incite", 1),
        ("one thousand two hundred", "1,200", 0),
        ("I'm sure it's not here", "I am sure it is not here", 0),
        ("How'd it end? What's got to go?", "How did it end? What's gotta go?", 0),
        ("they could not have known", "they couldn't have known", 0),
        ("I don't know, but do you? Not me.", "I do not know but do you not me", 0),
        ("It's late and I know it is late.", "it's late and I know it's late", 0),
        ("I had hoped I would go", "I'd hoped I'd go", 0),
        ("I'm so sorry you are late", "I am so glad you're late", 1),
        ("the dog is here", "the dogs here", 2),
        ("I did it again", "I'd it again", 2),
        ("that is not what it is", "that's not what it", 1),
    ],
)
def test_what_sounds_alike_is_no_error(wanted: str, heard: str, n_errors: int) -> None:
    words, told = compared_words(wanted, heard, "en")
    assert round(word_error_rate(wanted, heard, "en") * len(words)) == n_errors
    assert compared_words(heard, wanted, "en")[0] != () and told


def test_characters_of_a_word_that_sounds_alike_are_no_errors() -> None:
    assert character_error_rate("the brake pads", "the break pads", "en") == 0.0
    assert character_error_rate("a pain", "a pen", "en") == pytest.approx(2 / 5)


def test_other_languages_keep_their_marks_and_their_own_numbers() -> None:
    assert normal_words("मुझे दिन, दान!", "hi") == ("मुझे", "दिन", "दान")
    assert normal_words("L'été à 7:00, le St. Jean", "fr") == ("lété", "à", "7", "00", "le", "st", "jean")
    assert normal_words("deja\u0301", "fr") == normal_words("dejá", "fr")
    assert word_error_rate("मुझे दिन दो", "मुझे दान दो", "hi") == pytest.approx(1 / 3)
    assert character_error_rate("दिन", "दान", "hi") > 0


def test_japanese_is_compared_as_it_is_pronounced() -> None:
    assert kana_of("話は、またあした。") == kana_of("はなしは、また明日")
    assert character_error_rate("猫がいます。", "ねこがいます", "ja") == 0.0
    # ネコガイマス against イヌガイマス: two of six
    assert character_error_rate("猫がいます", "犬がいます", "ja") == pytest.approx(2 / 6)


def faults(wanted: str, heard: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    a, b = normal_words(wanted, "en"), normal_words(heard, "en")
    steps = align(a, b)
    dropped = tuple(dict.fromkeys((*dropped_words(steps), *lost_words(a, b))))
    return dropped, repeated_words(a, b), spoken_tags(a, steps)


SAID = "Could you tell me how long the ferry takes to the island in winter?"


def test_what_was_said_right_has_no_fault() -> None:
    assert faults(SAID, SAID.lower()) == ((), (), ())
    misheard = "Could you tell me how long the fairy takes to the island in winter?"
    assert faults(SAID, misheard) == ((), (), ()), "heard otherwise is not dropped"
    assert faults("No, no, I said no, no.", "no no i said no no") == ((), (), ()), "asked for twice"


def test_a_dropped_word_is_named() -> None:
    assert faults(SAID, "Could you tell me how long the ferry takes to the in winter?")[0] == ("island",)
    assert faults(SAID, "Could you tell me how long the ferry takes")[0] == (
        "to",
        "the",
        "island",
        "in",
        "winter",
    )
    assert faults("I have never poached an egg", "I have never had an egg")[0] == ("poached",)


def test_a_filler_that_recognisers_leave_out_is_not_dropped() -> None:
    assert faults("Um, so the ferry leaves at nine", "the ferry leaves at nine")[0] == ()


def test_a_clause_said_twice_is_named() -> None:
    heard = "Could you tell me how long the ferry takes, how long the ferry takes to the island in winter?"
    assert faults(SAID, heard)[1] == ("how", "long", "the", "ferry", "takes")
    nearly = "Could you tell me how long the ferry takes, how long a ferry takes to the island in winter?"
    assert len(faults(SAID, nearly)[1]) == 5
    assert faults("Stop it, stop it, please", "stop it stop it please")[1] == ()


@pytest.mark.parametrize(
    "tag", ["UV break", "uv_break", "of break", "laugh", "El break", "oral two", "breath"]
)
def test_a_tag_read_aloud_is_named(tag: str) -> None:
    heard = f"Could you tell me how long {tag} the ferry takes to the island in winter?"
    assert faults(SAID, heard)[2]
    assert (
        faults("We take a break and laugh, take a breath", "we take a break and laugh take a breath")[2] == ()
    )
