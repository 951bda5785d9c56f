"""duplexkit: construct, check and release datasets for full-duplex spoken dialogue models."""

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Give ``duplexkit.load`` when it is asked for: importing the package costs nothing."""
    if name == "load":
        from .cards.load import load

        return load
    raise AttributeError(f"module 'duplexkit' has no attribute {name!r}")


class DuplexkitError(Exception):
    """Something a user can mend: the message says what, where, what was wanted and what to do."""


class RecipeError(DuplexkitError, ValueError):
    """A recipe cannot be built as written."""


class ScriptError(DuplexkitError, ValueError):
    """A script or a script file does not hold what its scenario needs."""


class AudioError(DuplexkitError, ValueError):
    """A signal is not what the function asks for (type, shape, rate, finite values, level)."""


class SpeechError(DuplexkitError):
    """An engine could not speak what it was asked to."""


class EngineError(SpeechError):
    """The engine itself is not to be had: a missing package, a dead server, a refused key."""


class ReleaseError(DuplexkitError):
    """A built folder is missing something, or was changed after it was built."""


class InputError(ReleaseError):
    """What a command was given (a folder, a choice, a file of answers) is not what it wants."""
