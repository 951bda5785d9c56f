"""``duplexkit``, ``python -m duplexkit.builders``: the command line, which can be stopped from its first moment."""

import os
import sys

from .stopping import Stopped, say, stop_signals


def run() -> int:
    """Run the command line, its import included; return the exit code (`cli.main`).

    A stopped process ends here: all is closed, and further signals cannot disturb what Python does at its end.
    """
    try:
        with stop_signals():
            from .cli import main

            code = main()
    except Stopped as stopped:
        code = say(stopped)
    if code in (130, 143):
        sys.stdout.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(run())
