"""The command line with the tone engine, slowed down; a script, because its workers import it too."""

import sys
import time

from duplexkit.builders.__main__ import run
from duplexkit.builders.speakers import Clip, SpeechRequest
from tests import tone

_speak = tone.ToneSpeaker.speak


def _slowly(self: tone.ToneSpeaker, request: SpeechRequest) -> Clip:
    time.sleep(0.2)
    return _speak(self, request)


tone.ToneSpeaker.speak = _slowly
tone.install()

if __name__ == "__main__":
    sys.exit(run())
