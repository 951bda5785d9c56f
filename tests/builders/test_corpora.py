"""Readers of users' corpora, on small folders made here in their layouts; what does not fit is named by line."""

import csv
import json

import pytest

from duplexkit import AudioError, RecipeError, ScriptError
from duplexkit.builders.corpora.candor import read_candor
from duplexkit.builders.corpora.conversation import load_audio
from duplexkit.builders.corpora.icc import read_icc
from duplexkit.builders.corpora.magicdata import read_magicdata
from duplexkit.builders.corpora.plain import read_plain
from duplexkit.builders.corpora.speech import speech_by_channel
from tests.builders.two_channels import recording, write

SPANS = {0: [(0.5, 2.5), (5.0, 7.0)], 1: [(2.8, 4.6)]}


def sound(path, spans=SPANS, length_s=8.0):
    return write(path, recording(spans, length_s))


# --- plain ---------------------------------------------------------------------------------------------------


def test_plain_with_and_without_words(tmp_path):
    sound(tmp_path / "a.wav")
    sound(tmp_path / "audio" / "b.wav")
    (tmp_path / "txt_align").mkdir()
    (tmp_path / "txt_align" / "b.txt").write_text(
        "0\t0.50\t1.00\thello\n0\t1.10\t2.50\tthere\n1\t2.80\t4.60\t漁業\n0\t5.00\t7.00\tbye\n",
        encoding="utf-8",
    )
    a, b = read_plain(tmp_path)
    assert (a.id, a.spoken, a.has_words) == ("a", (), False)
    assert [(s.channel, s.text, s.onset_s, s.offset_s) for s in b.spoken] == [
        (0, "hello there", 0.5, 2.5),
        (1, "漁業", 2.8, 4.6),
        (0, "bye", 5.0, 7.0),
    ]
    channels, rate = load_audio(b)
    assert speech_by_channel(b, channels, sample_rate_hz=rate)[0] == ((0.5, 1.0), (1.1, 2.5), (5.0, 7.0))
    heard = speech_by_channel(a, channels, sample_rate_hz=rate)
    for found, known in zip(heard, SPANS.values(), strict=True):
        assert len(found) == len(known)
        for (start_s, end_s), (known_start, known_end) in zip(found, known, strict=True):
            assert abs(start_s - known_start) < 0.03 and abs(end_s - known_end) < 0.06


def test_plain_transcript_beyond_the_recording(tmp_path):
    sound(tmp_path / "a.wav")
    (tmp_path / "a.txt").write_text("0\t0.5\t2.5\tx\n1\t2.8\t4.6\ty\n0\t9.0\t9.9\tz\n", encoding="utf-8")
    (conversation,) = read_plain(tmp_path)
    with pytest.raises(ScriptError, match=r"a.txt line 3: 9.00-9.90 s lies outside the recording \(8.00 s\)"):
        load_audio(conversation)


def test_plain_folder_without_recordings(tmp_path):
    with pytest.raises(RecipeError, match="no recording"):
        list(read_plain(tmp_path))


# --- CANDOR --------------------------------------------------------------------------------------------------

TURNS = [
    {"turn_id": "0", "speaker": "ann", "start": "0.5", "stop": "2.5", "utterance": "Hello there"},
    {"turn_id": "1", "speaker": "bob", "start": "2.8", "stop": "4.6", "utterance": "Hi"},
    {
        "turn_id": "2",
        "speaker": "ann",
        "start": "5.0",
        "stop": "7.0",
        "utterance": "So",
        "backchannel": "yeah",
        "backchannel_speaker": "bob",
        "backchannel_start": "5.9",
        "backchannel_stop": "6.2",
    },
]


def candor(tmp_path, turns=TURNS, *, name="conv-1", channel_map=None, **audio):
    home = tmp_path / name
    sound(home / "processed" / f"{name}.wav", **audio)
    path = home / "transcription" / "transcript_backbiter.csv"
    path.parent.mkdir(parents=True)
    fields = list(dict.fromkeys(key for turn in turns for key in turn))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        writer.writerows(turns)
    if channel_map is not None:
        (home / "processed" / "channel_map.json").write_text(json.dumps(channel_map), encoding="utf-8")
    return path


def test_candor_by_its_channel_map(tmp_path):
    candor(tmp_path, channel_map={"L": "ann", "R": "bob"})
    (conversation,) = read_candor(tmp_path)
    assert (conversation.id, conversation.speakers) == ("conv-1", ("ann", "bob"))
    assert [(s.channel, s.text, s.is_token) for s in conversation.spoken] == [
        (0, "Hello there", False),
        (1, "Hi", False),
        (0, "So", False),
        (1, "yeah", True),
    ]


def test_candor_by_the_sound(tmp_path):
    candor(tmp_path, spans={0: SPANS[1], 1: SPANS[0]})
    (conversation,) = read_candor(tmp_path)
    assert conversation.speakers == ("bob", "ann")


def test_candor_by_metadata_and_by_names(tmp_path):
    path = candor(tmp_path)
    (path.parent.parent / "metadata.json").write_text(
        json.dumps({"speakers": [{"user_id": "bob", "channel": "L"}, {"user_id": "ann", "channel": "R"}]}),
        encoding="utf-8",
    )
    (conversation,) = read_candor(tmp_path)
    assert conversation.speakers == ("bob", "ann")
    (conversation,) = read_candor(tmp_path, speakers=("ann", "bob"))
    assert conversation.speakers == ("ann", "bob")


def test_candor_with_other_column_names(tmp_path):
    turns = [{"who" if k == "speaker" else k: v for k, v in turn.items()} for turn in TURNS]
    candor(tmp_path, turns, channel_map={"L": "ann", "R": "bob"})
    with pytest.raises(
        ScriptError, match=r"transcript_backbiter.csv line 1: no column speaker; it has .*who"
    ):
        list(read_candor(tmp_path))
    (conversation,) = read_candor(tmp_path, columns={"speaker": "who"})
    assert len(conversation.spoken) == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": "soon"}, r"line 3: start = 'soon'; wanted a time"),
        ({"stop": "1.0"}, r"line 3: stop = 1 is not after start = 2.8"),
        ({"speaker": "eve"}, r"line 3: speaker 'eve' is on no channel; known: ann, bob"),
        ({"start": "-1"}, r"line 3: start = -1"),
    ],
)
def test_candor_rows_that_do_not_fit(change, message, tmp_path):
    candor(tmp_path, [TURNS[0], {**TURNS[1], **change}, TURNS[2]], channel_map={"L": "ann", "R": "bob"})
    with pytest.raises(ScriptError, match=message):
        list(read_candor(tmp_path))


def test_candor_folders_that_do_not_fit(tmp_path):
    with pytest.raises(RecipeError, match="is this CANDOR's layout"):
        list(read_candor(tmp_path))
    path = candor(tmp_path, channel_map={"L": "ann"})
    with pytest.raises(ScriptError, match="does not say who is on channels"):
        list(read_candor(tmp_path))
    (path.parent.parent / "processed" / "channel_map.json").unlink()
    both = {0: [(0.5, 7.0)], 1: [(0.5, 7.0)]}
    sound(path.parent.parent / "processed" / "conv-1.wav", both)
    with pytest.raises(ScriptError, match="does not tell which channel is whose"):
        list(read_candor(tmp_path))
    (path.parent.parent / "processed" / "conv-1.wav").unlink()
    with pytest.raises(ScriptError, match="no recording"):
        list(read_candor(tmp_path))


# --- MagicData -----------------------------------------------------------------------------------------------

LINES = {
    "G1": "[0.5,2.5]\tG1\t女,東京\tこんにちは[LAUGHTER]\n[5.0,7.0]\tG1\t女,東京\tそうですか\n",
    "G2": "[2.8,4.6]\tG2\t男,大阪\tはい\n[4.7,4.9]\tG2\t男,大阪\t[NOISE]\n",
}


def test_magicdata_one_recording_per_speaker(tmp_path):
    for channel, name in enumerate(LINES):
        (tmp_path / "TXT").mkdir(exist_ok=True)
        (tmp_path / "TXT" / f"A01_{name}.txt").write_text(LINES[name], encoding="utf-8")
        sound(tmp_path / "WAV" / f"A01_{name}.wav", {0: SPANS[channel]})
    (conversation,) = read_magicdata(tmp_path)
    assert (conversation.id, conversation.speakers) == ("A01", ("G1", "G2"))
    assert [(s.channel, s.text) for s in conversation.spoken] == [
        (0, "こんにちは"),
        (1, "はい"),
        (0, "そうですか"),
    ]
    channels, _ = load_audio(conversation)
    assert channels.shape[0] == 2


def test_magicdata_two_channel_recordings_are_conversations_of_their_own(tmp_path):
    for session in ("S1", "S2"):
        (tmp_path / f"A01_{session}.txt").write_text(LINES["G1"] + LINES["G2"], encoding="utf-8")
        sound(tmp_path / f"A01_{session}.wav", {0: SPANS[1], 1: SPANS[0]})
    first, second = read_magicdata(tmp_path)
    assert (first.id, second.id) == ("A01_S1", "A01_S2")
    assert first.speakers == ("G2", "G1")  # by the sound
    assert [s.channel for s in first.spoken] == [1, 0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[0.5,2.5] G1\n", r"A01.txt line 1: .*wanted '\[start,end\]"),
        ("[0.5,x]\tG1\t女,東京\tはい\n", r"line 1: \[0.5,x\]; wanted two times"),
        ("[2.5,0.5]\tG1\t女,東京\tはい\n", r"line 1: .*the end is not after the start"),
        ("[2.5,3.5]\tG1\t女,東京\t[NOISE]\n", r"line 1: nothing is spoken"),
        ("[0.5,2.5]\tG1\t女,東京\tはい\n", r"1 speaker\(s\) \(G1\); wanted two"),
    ],
)
def test_magicdata_lines_that_do_not_fit(text, message, tmp_path):
    (tmp_path / "A01.txt").write_text(text, encoding="utf-8")
    sound(tmp_path / "A01.wav")
    with pytest.raises(ScriptError, match=message):
        list(read_magicdata(tmp_path))


def test_magicdata_folders_that_do_not_fit(tmp_path):
    with pytest.raises(RecipeError, match="no transcript with lines"):
        list(read_magicdata(tmp_path))
    (tmp_path / "A01.txt").write_text(LINES["G1"] + LINES["G2"], encoding="utf-8")
    with pytest.raises(ScriptError, match=r"no recording A01.wav beside it"):
        list(read_magicdata(tmp_path))
    sound(tmp_path / "A01.wav", {0: SPANS[0]})
    with pytest.raises(ScriptError, match=r"has 1 channel\(s\); wanted two"):
        list(read_magicdata(tmp_path))


def test_the_channels_of_a_conversation_must_fit_together(tmp_path):
    for name, length_s in (("A01_G1", 8.0), ("A01_G2", 12.0)):
        (tmp_path / f"{name}.txt").write_text(LINES[name[-2:]], encoding="utf-8")
        sound(tmp_path / f"{name}.wav", {0: [(0.5, 2.5)]}, length_s)
    (conversation,) = read_magicdata(tmp_path)
    with pytest.raises(AudioError, match="differ in length by more than 1 s"):
        load_audio(conversation)


# --- ICC -----------------------------------------------------------------------------------------------------


def test_icc_on_channels_and_in_folders(tmp_path):
    responses = {0: [(0.2, 59.0)], 1: [(10.1, 10.4)], 2: [(10.3, 10.6), (30.0, 30.3)], 3: []}
    channels = recording(responses, 60.0)
    channels[3] = 0.0
    write(tmp_path / "channels" / "x.wav", channels)
    for i, name in enumerate(("stimulus", "ann", "bob", "cleo")):
        write(tmp_path / "folders" / "y" / f"{name}.wav", channels[i : i + 1])
    for folder, name in (("channels", "x"), ("folders", "y")):
        (listened,) = read_icc(tmp_path / folder)
        assert listened.id == name
        found = [[(round(a, 1), round(b, 1)) for a, b in spans] for spans in listened.responses]
        assert found == [[(10.1, 10.4)], [(10.3, 10.6), (30.0, 30.3)], []]


def test_icc_folders_that_do_not_fit(tmp_path):
    with pytest.raises(RecipeError, match="no recordings with the stimulus on channel 0"):
        list(read_icc(tmp_path))
    write(tmp_path / "y" / "stimulus.wav", recording({0: [(0.5, 2.0)]}, 3.0))
    with pytest.raises(AudioError, match="has no listeners beside it"):
        list(read_icc(tmp_path))
    write(tmp_path / "y" / "ann.wav", recording({0: [(0.5, 0.8)]}, 9.0))
    with pytest.raises(AudioError, match="so that both run on one clock"):
        list(read_icc(tmp_path))
