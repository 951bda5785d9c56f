"""A CosyVoice speaker with voices for tests, from a reference recording in its folder."""

from pathlib import Path

from duplexkit.builders.speakers import Clip, Speaker, SpeechRequest, make_speaker
from duplexkit.builders.speakers.wav import wav_bytes
from tests.builders.local_server import tones

REFERENCE = wav_bytes(tones(1.0, rate_hz=16_000), sample_rate_hz=16_000)


def made(folder: Path, url: str, **more: object) -> Speaker:
    options = {
        "url": url,
        "model": "CosyVoice2-0.5B",
        "aligner": "estimated",
        "attempts": 2,
        "timeout_s": 5.0,
        "voices": {
            "ann": {"reference_path": "ref.wav", "reference_text": "Hello.", "licence": "CC0-1.0"},
            "ann_ja": {"reference_path": "ref.wav", "licence": "CC0-1.0", "languages": ["ja"]},
            "calm": {"reference_path": "ref.wav", "instruct": "Calmly.", "licence": "CC0-1.0"},
            "known": {"speaker_id": "heart", "licence": "Apache-2.0", "gender": "female"},
        },
        **more,
    }
    return make_speaker("cosyvoice", folder, options, folder)


def spoken(speaker: Speaker, voice: str, text: str = "Good morning.", **more: object) -> Clip:
    return speaker.speak(
        SpeechRequest(text=text, voice=speaker.voices()[voice], **{"language": "en", **more})
    )
