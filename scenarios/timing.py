"""Timing profiles: statistics of dialogues from which gaps, overlaps and lags are drawn."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import RecipeError
from .fields import unknown

SHIPPED = Path(str(files(__package__))) / "profiles"
N_QUANTILES = 101
VARIABLES = ("shift", "fto")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingProfile:
    """Quantile tables in seconds, one per kind of transition.

    `variable` says what the tables count: ``fto`` (every talkspurt) or ``shift`` (M3: turns only); the two
    are different variables and must not be mixed. `status` is ``estimated`` or ``anchored, not estimated``.
    """

    name: str
    version: int
    variable: str
    status: str
    source: str
    n: int | None
    language: str
    licence: str
    tables: dict[str, tuple[float, ...]]

    def quantile(self, table: str, u: float) -> float:
        """Return the time in seconds at probability `u` of a table, linear between its points.

        Raises
        ------
        RecipeError
            If the profile has no such table.
        """
        if table not in self.tables:
            raise RecipeError(
                f"timing profile {self.name!r} has no table {table!r}; "
                f"it has {', '.join(sorted(self.tables))}"
            )
        points = self.tables[table]
        return float(np.interp(u, np.linspace(0.0, 1.0, len(points)), points))


def shipped_profiles() -> tuple[str, ...]:
    """Return the names of the profiles that come with the package."""
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.json")))


@lru_cache(maxsize=32)
def load_profile(name: str) -> TimingProfile:
    """Return a shipped profile by name, or one from a ``.json`` file.

    Raises
    ------
    RecipeError
        If there is none, or the file does not hold a profile.
    """
    path = Path(name) if name.endswith(".json") else SHIPPED / f"{name}.json"
    if not path.is_file():
        raise RecipeError(
            f"timing profile {name!r}: {unknown('profile', name, shipped_profiles())}, or a .json file"
        )
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
        tables = {key: tuple(float(v) for v in values) for key, values in data["tables"].items()}
        profile = TimingProfile(
            name=data["name"],
            version=int(data["version"]),
            variable=data["variable"],
            status=data["status"],
            source=data["source"],
            n=data["n"],
            language=data["language"],
            licence=data["licence"],
            tables=tables,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecipeError(f"{path}: no timing profile ({type(error).__name__}: {error})") from None
    if profile.variable not in VARIABLES:
        raise RecipeError(f"{path}: variable = {profile.variable!r}; wanted {' or '.join(VARIABLES)}")
    for key, points in tables.items():
        if len(points) < 2 or any(a > b for a, b in pairwise(points)):
            raise RecipeError(f"{path}: table {key!r} must be two or more ascending times in seconds")
    return profile


def require_variable(profile: TimingProfile, variable: str) -> None:
    """Refuse a profile that counts another variable than the one that is drawn."""
    if profile.variable != variable:
        raise RecipeError(
            f"timing profile {profile.name!r} holds {profile.variable!r}, but {variable!r} is drawn here; "
            f"their means differ (turn shifts skip backchannels): take a profile with variable {variable!r}"
        )


def ex_gaussian_quantiles(
    *, mu_s: float, sigma_s: float, tau_s: float, low_s: float, high_s: float
) -> NDArray[np.float64]:
    """Return the 101 quantiles of an ex-Gaussian law cut to [low_s, high_s], shape (101,).

    Notes
    -----
    The law is Normal(mu, sigma) + Exponential(tau); its distribution function is
    Phi(x; mu, sigma) - exp(-(x - mu) / tau + sigma^2 / (2 tau^2)) Phi(x; mu + sigma^2 / tau, sigma),
    inverted on a grid of 0.1 ms.
    """
    from scipy.special import ndtr

    x = np.arange(low_s, high_s + 5e-5, 1e-4)
    z = (x - mu_s) / sigma_s
    law = ndtr(z) - np.exp(-(x - mu_s) / tau_s + sigma_s**2 / (2 * tau_s**2)) * ndtr(z - sigma_s / tau_s)
    law = (law - law[0]) / (law[-1] - law[0])
    quantiles: NDArray[np.float64] = np.interp(np.linspace(0.0, 1.0, N_QUANTILES), law, x)
    return quantiles
