"""Randomness that belongs to one sample and one stage, whatever else is built."""

import hashlib

import numpy as np


def rng_for(seed: int, owner: str, stage: str) -> np.random.Generator:
    """Return the generator of a stage of a sample (or of another `owner`), the same on every machine.

    Parameters
    ----------
    seed
        The recipe's seed.
    owner
        A sample id, or the name of what samples share.
    stage
        What is drawn: ``plan``, ``cast``, ``treatment`` ... Adding a stage never shifts another.

    Examples
    --------
    >>> a, b = rng_for(1, "x/en/1/0", "plan"), rng_for(1, "x/en/1/0", "plan")
    >>> bool(a.uniform() == b.uniform())
    True
    """
    key = f"{seed}\x1f{owner}\x1f{stage}".encode()
    return np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest(), "big"))


def share(seed: int, owner: str, stage: str) -> float:
    """Return a number in [0, 1) that belongs to `owner` and `stage`."""
    return float(rng_for(seed, owner, stage).uniform())
