"""Make the shipped timing profiles from their laws: ``python -m duplexkit.scenarios.make_profiles [FOLDER]``.

All are anchored, not estimated: laws chosen between published figures, or the fit of a public toy set too
small to stand for a language.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .timing import SHIPPED, TABLES, Table, TimingProfile, profile_json
from .timing_laws import law_quantiles

Law = tuple[str, dict[str, float]]

EN_FTO: Law = (
    "ex_gaussian",
    {"mu_s": -0.081, "sigma_s": 0.389, "tau_s": 0.285, "low_s": -0.4, "high_s": 6.0},
)
JA_SHIFT_TOY: Law = (
    "log_normal",
    {"origin_s": -0.45, "shape": 0.964, "scale_s": 0.674, "low_s": -0.4, "high_s": 6.0},
)
SYSTEM_TO_USER: Law = (
    "ex_gaussian",
    {"mu_s": 0.05, "sigma_s": 0.22, "tau_s": 0.5, "low_s": -0.4, "high_s": 4.0},
)
USER_TO_SYSTEM: Law = (
    "ex_gaussian",
    {"mu_s": 0.15, "sigma_s": 0.15, "tau_s": 0.3, "low_s": -0.2, "high_s": 3.0},
)

# our choice, all of them: what happens beside the shifts
BESIDE: dict[str, Law] = {
    "hold": (
        "log_normal",
        {"origin_s": 0.45, "shape": 0.6, "scale_s": 0.4, "low_s": 0.51, "high_s": 3.0},
    ),
    "backchannel_lag": (
        "ex_gaussian",
        {"mu_s": 0.25, "sigma_s": 0.18, "tau_s": 0.1, "low_s": -0.1, "high_s": 0.9},
    ),
    "backchannel_place": ("uniform", {"low": 0.25, "high": 0.75}),
    "barge_in_onset": ("uniform", {"low": 0.35, "high": 0.65}),
    "barge_in_overlap": ("uniform", {"low": 0.41, "high": 0.9}),
    "stop_latency": ("uniform", {"low": 0.5, "high": 1.0}),
}


def profiles() -> tuple[TimingProfile, ...]:
    """Return the shipped profiles."""
    shift = {"user_to_system": USER_TO_SYSTEM, "system_to_user": SYSTEM_TO_USER}
    return (
        _profile(
            "shared-shift-v1",
            source="our choice: ex-Gaussian per direction between the published extremes; one law for all "
            "languages, so that a comparison of languages is not one of profiles",
            laws={**shift, **BESIDE},
        ),
        _profile(
            "en-fto-v1",
            variable="fto",
            language="en",
            source="ex-Gaussian through anchors from the literature on English (mode 0.15 s, 53 % below "
            "0.2 s, 35 % below 0, mean 0.21 s), cut to -0.4 to 6 s; every talkspurt counted",
            laws={"user_to_system": EN_FTO, "system_to_user": EN_FTO},
        ),
        _profile(
            "ja-shift-toy-v1",
            language="ja",
            source="log-normal fitted to the 38 turn shifts of M3-DuplexBench's two public Japanese chat "
            "dialogues, cut to -0.4 to 6 s: for demonstration, 38 transitions stand for no language",
            laws={"user_to_system": JA_SHIFT_TOY, "system_to_user": JA_SHIFT_TOY, **BESIDE},
        ),
        _profile(
            "qa-system-constant-v1",
            source="0.20 s, at which every system answer of M3-DuplexBench's public toy data starts",
            laws={"user_to_system": ("constant", {"value": 0.2})},
        ),
        _profile(
            "qa-system-exgauss-v1",
            source="our choice: the user_to_system law of shared-shift-v1, alone",
            laws={"user_to_system": USER_TO_SYSTEM},
        ),
        _profile(
            "uniform",
            source="for controlled studies: even between -0.2 and 1 s in both directions; "
            "uniform:FROM:TO sets other bounds",
            laws={**dict.fromkeys(shift, ("uniform", {"low": -0.2, "high": 1.0})), **BESIDE},
        ),
        _profile(
            "constant",
            source="for controlled studies: 0.2 s in both directions; constant:SECONDS sets another gap",
            laws={**dict.fromkeys(shift, ("constant", {"value": 0.2})), **BESIDE},
        ),
    )


def _profile(
    name: str, *, source: str, laws: dict[str, Law], variable: str = "shift", language: str = "any"
) -> TimingProfile:
    return TimingProfile(
        name=name,
        version=1,
        variable=variable,
        status="anchored, not estimated",
        source=source,
        n=None,
        language=language,
        licence="CC0-1.0 (statistics)",
        tables={
            table: Table(
                unit=TABLES[table][0],
                n=None,
                method=family,
                law=parameters,
                quantiles=law_quantiles(family, parameters),
            )
            for table, (family, parameters) in laws.items()
        },
        rates={},
    )


def main(folder: Path = SHIPPED) -> None:
    """Write one JSON file per profile."""
    for profile in profiles():
        (folder / f"{profile.name}.json").write_text(profile_json(profile), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else SHIPPED)
