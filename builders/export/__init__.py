"""Formats that other people's tools read; FORMATS is the one list to extend."""

from __future__ import annotations

from . import (
    audacity,
    check_audacity,
    check_fdb,
    check_lhotse,
    check_m3,
    check_moshi,
    check_nemo,
    check_rttm,
    check_textgrid,
    check_webdataset,
    fdb,
    lhotse,
    m3,
    moshi,
    nemo,
    rttm,
    textgrid,
    webdataset,
)
from .format import Format

_ANY_RATE = frozenset({"rate_hz"})

FORMATS: dict[str, Format] = {
    format_.name: format_
    for format_ in (
        Format(
            name="fdb",
            meaning="Full-Duplex-Bench v1 and v1.5: numbered sample folders, 16 kHz mono",
            takes=frozenset({"transcripts", "author_q"}),
            write=fdb.write,
            check=check_fdb.check,
        ),
        Format(
            name="m3",
            meaning="M3-DuplexBench: two-channel audio, events and words of dialogues",
            takes=frozenset({"gap_free", "labels", "rate_hz"}),
            write=m3.write,
            check=check_m3.check,
        ),
        Format(
            name="moshi",
            meaning="moshi-finetune: stereo 24 kHz with the system's aligned words",
            takes=frozenset(),
            write=moshi.write,
            check=check_moshi.check,
        ),
        Format(
            name="lhotse",
            meaning="lhotse: RecordingSet and SupervisionSet with word alignments",
            takes=_ANY_RATE,
            write=lhotse.write,
            check=check_lhotse.check,
        ),
        Format(
            name="nemo",
            meaning="NeMo duplex speech to speech: cuts with the agent's side as target",
            takes=frozenset(),
            write=nemo.write,
            check=check_nemo.check,
        ),
        Format(
            name="webdataset",
            meaning="WebDataset: tar shards of FLAC and JSON",
            takes=frozenset(),
            write=webdataset.write,
            check=check_webdataset.check,
        ),
        Format(
            name="rttm",
            meaning="RTTM of the turns and CTM of the words, with the sound",
            takes=_ANY_RATE,
            write=rttm.write,
            check=check_rttm.check,
        ),
        Format(
            name="textgrid",
            meaning="Praat TextGrids of turns, words and events, with the sound",
            takes=_ANY_RATE,
            write=textgrid.write,
            check=check_textgrid.check,
        ),
        Format(
            name="audacity",
            meaning="Audacity label files of turns, words and events, with the sound",
            takes=_ANY_RATE,
            write=audacity.write,
            check=check_audacity.check,
        ),
    )
}
