"""A user's own clips as a speaker."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from duplexkit import RecipeError, SpeechError
from duplexkit.builders.speak import again, request_of
from duplexkit.builders.speakers import Clip, Speaker, SpeechRequest, make_speaker
from duplexkit.builders.speakers.recordings import Recording, from_dataset
from duplexkit.builders.speakers.wav import wav_bytes
from duplexkit.scenarios.conversation import PlannedTurn, Role, Start
from tests.builders.local_server import tones

ROWS = [
    {"file_name": "a/1.wav", "text": "Wait, stop!", "speaker": "ann", "gender": "female", "accent": "en-GB"},
    {"file_name": "a/2.flac", "text": "Wait, stop!", "speaker": "ann", "gender": "female", "accent": "en-GB"},
    {"file_name": "b.wav", "text": "wait stop", "speaker": "bob", "gender": "male"},
    {"file_name": "c.wav", "text": "ちょっと待って", "speaker": "ann", "language": "ja"},
]


def sound(k: int) -> np.ndarray:
    return tones(0.3 + 0.1 * k, 0.3)


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    folder = tmp_path / "clips"
    (folder / "a").mkdir(parents=True)
    for k, row in enumerate(ROWS):
        soundfile.write(folder / row["file_name"], sound(k), 24_000, subtype="PCM_16")
    (folder / "metadata.jsonl").write_text(
        "\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS), "utf-8"
    )
    return folder


def made(folder: Path, **more: object) -> Speaker:
    options = {
        "clips_dir": "clips",
        "language": "en",
        "licence": "CC-BY-4.0",
        "attribution": "Ann and Bob",
        "aligner": "estimated",
        **more,
    }
    return make_speaker("recorded", folder.parent, options, folder.parent)


def spoken(speaker: Speaker, voice: str = "ann", text: str = "wait — stop", **more: object) -> Clip:
    return speaker.speak(
        SpeechRequest(text=text, voice=speaker.voices()[voice], **{"language": "en", **more})
    )


def test_a_clip_is_found_by_its_words_and_its_speaker(clips: Path) -> None:
    speaker = made(clips)
    for seed, k in ((0, 0), (1, 1), (2, 0)):  # two takes of ann's, chosen by the seed
        clip = spoken(speaker, seed=seed)
        assert clip.sample_rate_hz == 24_000 and np.abs(clip.samples - sound(k)).max() <= 1 / 32768
        assert clip.word_time_source == "estimated" and [w.text for w in clip.words] == ["wait", "stop"]
    assert spoken(speaker, "bob").samples.size == sound(2).size
    assert spoken(speaker, "ann", "ちょっと待って。", language="ja").samples.size == sound(3).size


def test_speakers_are_voices_with_what_the_table_says(clips: Path) -> None:
    speaker = made(clips)
    ann = speaker.voices()["ann"]
    assert (ann.gender, ann.accent, ann.languages) == ("female", "en-GB", ("en", "ja"))
    assert (ann.licence, ann.attribution, ann.parents) == ("CC-BY-4.0", "Ann and Bob", ("recorded:ann",))
    assert speaker.voice_sets()["en"] == {"default": ("ann", "bob"), "female": ("ann",), "male": ("bob",)}


def test_an_age_that_no_column_gives_is_unknown(clips: Path) -> None:
    assert {voice.age for voice in made(clips).voices().values()} == {"unknown"}
    rows = [*ROWS[:2], {**ROWS[2], "age": "child"}, ROWS[3]]
    (clips / "metadata.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    ages = {name: voice.age for name, voice in made(clips).voices().items()}
    assert ages == {"ann": "unknown", "bob": "child"}


def test_word_times_of_the_table_are_kept(clips: Path) -> None:
    words = [
        {"text": "wait", "onset_s": 0.3, "offset_s": 0.8},
        {"text": "stop", "onset_s": 0.85, "offset_s": 1.2},
    ]
    row = {**ROWS[2], "words": words}
    (clips / "metadata.jsonl").write_text(json.dumps(row), "utf-8")
    clip = spoken(made(clips), "bob", "wait stop")
    assert clip.word_time_source == "recorded"
    assert [(w.text, w.onset_s, w.offset_s) for w in clip.words] == [("wait", 0.3, 0.8), ("stop", 0.85, 1.2)]
    (clips / "metadata.jsonl").write_text(json.dumps({**row, "words": words[:1]}), "utf-8")
    with pytest.raises(
        SpeechError, match="the table's words of 'wait stop': 's' at 5 of 'wait stop' is in no word"
    ):
        spoken(made(clips), "bob", "wait stop")


def test_the_bytes_decide_the_version(clips: Path) -> None:
    before = made(clips).version
    assert made(clips).version == before
    soundfile.write(clips / "b.wav", sound(9), 24_000, subtype="PCM_16")
    assert made(clips).version != before


@pytest.mark.parametrize(
    "change",
    [
        {"text": "Wait. Stop!"},
        {"text": "wait stop now"},
        {"speaker": "bea"},
        {"language": "de"},
        {"words": [{"text": "wait", "onset_s": 0.3, "offset_s": 0.8}]},
    ],
)
def test_all_that_decides_a_clip_is_in_the_version(clips: Path, change: dict) -> None:
    before = made(clips).version
    rows = [*ROWS[:2], {**ROWS[2], **change}, ROWS[3]]
    (clips / "metadata.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert made(clips).version != before
    (clips / "metadata.jsonl").write_text("\n".join(map(json.dumps, [ROWS[1], ROWS[0], *ROWS[2:]])), "utf-8")
    assert made(clips).version != before, "the seed chooses by the order of takes"


@pytest.mark.parametrize(
    ("recorded", "asked", "language"),
    [
        ("मुझे दान दो", "मुझे दिन दो", "hi"),
        ("ไก่", "ไก้", "th"),
        ("It is 5 degrees", "It is -5 degrees", "en"),
        ("I write C", "I write C++", "en"),
    ],
)
def test_another_sentence_is_never_played(clips: Path, recorded: str, asked: str, language: str) -> None:
    row = {**ROWS[2], "text": recorded, "language": language}
    (clips / "metadata.jsonl").write_text(json.dumps(row, ensure_ascii=False), "utf-8")
    speaker = made(clips)
    assert spoken(speaker, "bob", recorded, language=language).samples.size == sound(2).size
    with pytest.raises(SpeechError, match=r"'bob' has no recording of .* nearest: "):
        spoken(speaker, "bob", asked, language=language)


def test_of_two_texts_of_the_same_words_the_one_that_is_spelt_so_is_given(clips: Path) -> None:
    rows = [{**ROWS[0], "text": "Right."}, {**ROWS[2], "text": "Right!"}, {**ROWS[1], "text": "Right?"}]
    (clips / "metadata.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    speaker = made(clips)
    full, asked = (spoken(speaker, "ann", text).samples for text in ("Right.", " Right? "))
    assert full.shape != asked.shape or not np.array_equal(full, asked)
    assert spoken(speaker, "bob", "right").samples.size, "bob said it in one way only"
    with pytest.raises(
        SpeechError,
        match=r"'right' by 'ann' may be any of .*jsonl line 1: 'Right\.'; .*jsonl line 3: 'Right\?'",
    ):
        spoken(speaker, "ann", "right")
    rows[2] |= {"language": "de"}
    (clips / "metadata.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert np.array_equal(spoken(made(clips), "ann", "right").samples, full)


def test_signs_that_look_like_line_ends_stay_inside_a_text(clips: Path) -> None:
    text = "Wait\u2028stop\u0085now"
    rows = [{**ROWS[2], "text": text}, ROWS[0]]
    (clips / "metadata.jsonl").write_text(
        "\n".join(json.dumps(row, ensure_ascii=False) for row in rows), "utf-8"
    )
    assert spoken(made(clips), "bob", "wait stop now").samples.size == sound(2).size
    (clips / "metadata.jsonl").unlink()
    (clips / "metadata.csv").write_text(f'file_name,text,speaker\nb.wav,"{text}\nplease",दीपा\n', "utf-8")
    assert spoken(made(clips), "दीपा", "wait stop now please").samples.size == sound(2).size


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "b.wav,Wait, stop,bob",
            r"metadata\.csv line 2: more fields than columns .*in double quotes",
        ),
        ("b.wav", "text = None: wanted a text"),
        (f"b.wav,{'x' * 140_000},bob", r"metadata\.csv line 2: no row of a table .field larger than"),
        ('b.wav,"Wait, "stop",bob', r"metadata\.csv line 2: no row of a table"),
        ('b.wav,"Wait,bob', "no row of a table .unexpected end"),
    ],
)
def test_a_wrong_row_of_a_csv_table_is_named(clips: Path, line: str, message: str) -> None:
    (clips / "metadata.jsonl").unlink()
    (clips / "metadata.csv").write_text(f"file_name,text,speaker\n{line}\n", "utf-8")
    with pytest.raises(RecipeError, match=message):
        made(clips)


@pytest.mark.parametrize("name", ["loop", "a\0.wav", "x" * 300, "a/../../clips/loop"])
def test_a_name_that_no_file_can_have_is_no_file(clips: Path, name: str) -> None:
    (clips / "loop").symlink_to("loop")
    (clips / "metadata.jsonl").write_text(json.dumps({**ROWS[2], "file_name": name}), "utf-8")
    with pytest.raises(RecipeError, match=r"metadata\.jsonl line 1: file_name = .*there is no such file"):
        made(clips)


@pytest.mark.parametrize("name", ["loop", "a\0b", "~nobody-of-that-name/clips"])
def test_a_folder_that_can_be_no_path_is_named(clips: Path, name: str) -> None:
    (clips.parent / "loop").symlink_to("loop")
    with pytest.raises(RecipeError, match=r"speech\.options.*clips_dir = .* is no path: "):
        made(clips, clips_dir=name)


def test_a_csv_table_with_other_names_is_read(clips: Path) -> None:
    (clips / "metadata.jsonl").unlink()
    (clips / "metadata.csv").write_text('wav,said,who\nb.wav,"Wait, stop!",7\n', "utf-8")
    speaker = made(clips, text_column="said", audio_column="wav", speaker_column="who")
    assert spoken(speaker, "7").samples.size == sound(2).size


def test_a_dataset_is_read(clips: Path) -> None:
    import datasets
    import pyarrow.parquet

    rows = {
        "text": ["Wait, stop!"],
        "audio": [{"bytes": (clips / "b.wav").read_bytes(), "path": None}],
        "speaker": ["bob"],
    }
    features = datasets.Features(
        {
            "text": datasets.Value("string"),
            "audio": datasets.Audio(decode=False),
            "speaker": datasets.Value("string"),
        }
    )
    folder = clips.parent / "set"
    folder.mkdir()
    pyarrow.parquet.write_table(pyarrow.table(rows, schema=features.arrow_schema), folder / "train-0.parquet")
    options = {"dataset": str(folder), "language": "en", "licence": "CC0-1.0", "aligner": "estimated"}
    speaker = make_speaker("recorded", clips.parent, options)
    assert np.abs(spoken(speaker, "bob").samples - sound(2)).max() <= 1 / 32768
    with pytest.raises(RecipeError, match="has no column 'words_said'"):
        make_speaker("recorded", clips.parent, {**options, "text_column": "words_said"})


@pytest.mark.parametrize(
    ("audio", "message"),
    [
        ([3], "the column 'audio' of .* holds no sound"),
        ([[1, 2]], "the column 'audio' of .* holds no sound"),
        (["gone.wav"], "row 0: its sound cannot be read: no such file"),
        ([{"bytes": None, "path": "gone.wav"}], "row 0: its sound cannot be read: no such file"),
    ],
)
def test_a_dataset_without_its_sound_is_refused(tmp_path: Path, audio: list, message: str) -> None:
    import pyarrow.parquet

    (tmp_path / "set").mkdir()
    table = pyarrow.table({"text": ["hi"], "speaker": ["bob"], "audio": audio})
    pyarrow.parquet.write_table(table, tmp_path / "set" / "train-0.parquet")
    options = {"dataset": str(tmp_path / "set"), "language": "en", "licence": "CC0-1.0"}
    with pytest.raises(RecipeError, match=message):
        make_speaker("recorded", tmp_path, options)


def test_a_datasets_sound_stays_on_disk(tmp_path: Path) -> None:
    """Forty clips of 250 kB each: less than one of them is in memory when the speaker is made."""
    import tracemalloc

    import datasets
    import pyarrow.parquet

    noise = np.random.default_rng(1).uniform(-0.1, 0.1, (40, 125_000)).astype(np.float32)
    rows = {
        "text": [f"take number {k}" for k in range(40)],
        "audio": [{"bytes": wav_bytes(one, sample_rate_hz=24_000), "path": None} for one in noise],
        "speaker": ["bob"] * 40,
    }
    features = datasets.Features(
        {
            "text": datasets.Value("string"),
            "audio": datasets.Audio(decode=False),
            "speaker": datasets.Value("string"),
        }
    )
    folder = tmp_path / "set"
    folder.mkdir()
    pyarrow.parquet.write_table(pyarrow.table(rows, schema=features.arrow_schema), folder / "train-0.parquet")
    rows.clear()
    columns = {"text": "text", "audio": "audio", "speaker": "speaker"}

    def load() -> list[Recording]:
        return from_dataset(
            str(folder), config=None, split="train", revision=None, columns=columns, language="en"
        )

    load()  # what is imported or made once is not counted
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    found = load()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == 40 and after - before < 200_000
    assert hashlib.sha256(found[7].read()).hexdigest() == found[7].sha256
    assert len({one.sha256 for one in found}) == 40 and len(found[7].read()) > 250_000


def test_a_failed_take_is_followed_by_another(clips: Path) -> None:
    """The speed stays what it was: a recording has its own, so only the seed makes another choice."""
    speaker = made(clips)
    turn = PlannedTurn(
        name="event",
        role=Role.USER,
        voice="ann",
        text="Wait, stop!",
        speed=1.0,
        start=Start(turn=None, distance_s=0.0),
        move="open",
    )
    asked = [again(turn, attempt, speaker) for attempt in range(4)]
    assert asked == [turn] * 4
    takes = {
        speaker.speak(request_of(one, language="en", voice=speaker.voices()["ann"], seed=k)).samples.size
        for k, one in enumerate(asked)
    }
    assert takes == {sound(0).size, sound(1).size}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"text": "Wait a bit"}, "'ann' has no recording of 'Wait a bit'; nearest: 'Wait, stop!'"),
        ({"voice": "bob", "text": "ちょっと待って", "language": "ja"}, "ann said it"),
        ({"speed": 0.97}, r"speed 0\.97 of .* a recording has its own"),
    ],
)
def test_what_was_not_recorded_is_said(clips: Path, asked: dict, message: str) -> None:
    with pytest.raises(SpeechError, match=message):
        spoken(made(clips), **asked)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            '{"file_name": "../secret.wav", "text": "x", "speaker": "a"}',
            r"metadata\.jsonl line 1: .*there is no such file",
        ),
        ('{"file_name": "none.wav", "text": "x", "speaker": "a"}', "there is no such file"),
        ('{"file_name": "b.wav", "speaker": "a"}', "text = None: wanted a text"),
        ('{"file_name": "b.wav", "text": "x", "speaker": "a b/c"}', "speaker 'a b/c': wanted letters"),
        (
            '{"file_name": "b.wav", "text": "x", "speaker": "a", "words": [{"x": 1}]}',
            "words: .*wanted a list",
        ),
        ("[1]", "wanted an object"),
        ("{", "no JSON"),
        ("", "there are no recordings"),
    ],
)
def test_a_wrong_row_is_named(clips: Path, row: str, message: str) -> None:
    (clips.parent / "secret.wav").write_bytes((clips / "b.wav").read_bytes())
    (clips / "metadata.jsonl").write_text(row, "utf-8")
    with pytest.raises(RecipeError, match=message):
        made(clips)


def test_sounds_that_cannot_be_used_are_refused(clips: Path) -> None:
    soundfile.write(clips / "b.wav", np.zeros((100, 2)), 24_000)
    with pytest.raises(SpeechError, match="'bob' has 2 channels; wanted one"):
        spoken(made(clips), "bob")
    (clips / "b.wav").write_bytes(b"no sound")
    with pytest.raises(SpeechError, match="by 'bob': no sound file that can be read"):
        spoken(made(clips), "bob")
    (clips / "metadata.jsonl").unlink()
    with pytest.raises(RecipeError, match=r"has no metadata\.jsonl and no metadata\.csv"):
        made(clips)
