"""The instructions to a model: versioned files, one for each scenario and language."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from ... import ScriptError
from ...scenarios.text_file import read_text

SHIPPED = Path(str(files(__package__))) / "prompts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Instructions, by name (``ja/user_interruption@1``), with the hash that goes into the provenance."""

    name: str
    text: str

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def load_prompt(purpose: str, language: str, file: Path | None = None) -> Prompt:
    """Return the newest shipped prompt for a scenario (or a step such as ``spoken``), or the one in `file`.

    Raises
    ------
    ScriptError
        If there is none; names what there is.
    """
    if file is not None:
        if not file.is_file():
            raise ScriptError(f"--prompt {file}: no such file; wanted a text with instructions for the model")
        return Prompt(name=file.name, text=read_text(file))
    primary = language.split("-")[0].lower()
    found = sorted((SHIPPED / primary).glob(f"{purpose}@*.md"), key=lambda path: int(path.stem.split("@")[1]))
    if not found:
        known = sorted(f"{path.parent.name}/{path.stem}" for path in SHIPPED.glob("*/*.md"))
        raise ScriptError(
            f"no prompt for {purpose} in language {language!r}; shipped: {', '.join(known)}. "
            "Give your own with --prompt FILE"
        )
    return Prompt(name=f"{primary}/{found[-1].stem}", text=found[-1].read_text(encoding="utf-8"))
