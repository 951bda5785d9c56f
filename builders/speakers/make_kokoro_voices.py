"""Make kokoro_voices.npz from an unpacked npm package kokoro-js.

``npm pack kokoro-js@1.2.1`` (or any other way to its ``voices/*.bin``), unpack it, then
``python -m duplexkit.builders.speakers.make_kokoro_voices PACKAGE_FOLDER``.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from ...scenarios.conversation import parent_of

STYLE_SHAPE = (510, 256)
HERE = Path(__file__).parent


def wanted_styles() -> list[str]:
    """Return the names of the styles that a voice of the table is made of."""
    table = json.loads((HERE / "kokoro_voices.json").read_text(encoding="utf-8"))
    return sorted({parent_of(part) for voice in table["voices"] for part, _ in voice["mix"]})


def main(argv: list[str] | None = None) -> int:
    """Write the styles as float16, one array of shape (510, 256) a name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path, help="folder of the unpacked npm package kokoro-js 1.2.1")
    parser.add_argument("--out", type=Path, default=HERE / "kokoro_voices.npz")
    options = parser.parse_args(argv)
    styles = {}
    for name in wanted_styles():
        path = options.package / "voices" / f"{name}.bin"
        if not path.is_file():
            print(f"{path} is missing: give the folder that holds voices/*.bin", file=sys.stderr)
            return 2
        values = np.fromfile(path, dtype="<f4")
        if values.size != STYLE_SHAPE[0] * STYLE_SHAPE[1]:
            print(f"{path} holds {values.size} numbers, not 510 x 256", file=sys.stderr)
            return 2
        styles[name] = values.reshape(STYLE_SHAPE).astype(np.float16)
    np.savez_compressed(options.out, **styles)  # type: ignore[arg-type]
    print(f"{options.out}: {len(styles)} styles, {options.out.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
