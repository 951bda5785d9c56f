"""Facts to the YAML part of a card: what the Hub and `load_dataset` read."""

from __future__ import annotations

import hashlib
from typing import Any

from ..builders.schema import card_features
from .licenses import LICENCES
from .summarize import SplitFacts, Summary
from .voice_basis import basis_of

_SIZES = ((1000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def named_configs(summary: Summary) -> dict[str, dict[str, list[SplitFacts]]]:
    """Return the configurations as readers name them: config -> split -> the facts of its parts.

    One for each scenario over all its languages, and one for each scenario and language, over the same files.
    """
    named: dict[str, dict[str, list[SplitFacts]]] = {}
    for scenario in summary.scenarios:
        for language in summary.languages:
            for split, facts in summary.configs.get(f"{scenario}-{language}", {}).items():
                named.setdefault(scenario, {}).setdefault(split, []).append(facts)
                named.setdefault(f"{scenario}-{language}", {}).setdefault(split, []).append(facts)
    return named


def front_matter(summary: Summary, *, version: str, title: str) -> dict[str, Any]:
    """Return the YAML part of the card.

    Each `dataset_info` carries a digest of its shards, because a reader's cache takes a folder with an
    unchanged README for unchanged data; and the version, so that a reader can see which one was served.
    """
    recipe = summary.manifest["recipe"]
    named = named_configs(summary)
    features = card_features(summary.sample_rate_hz)
    first = next(iter(named), None)
    licence = LICENCES.get(recipe["licence"])
    origins = {basis_of(engine).origin for engine, _, _ in summary.engines}
    origin = ["synthetic"] if "synthetic" in origins else []
    return {
        "pretty_name": title,
        "license": licence.hub if licence else "other",
        **({} if licence else {"license_name": recipe["licence"]}),
        "language": list(summary.languages),
        "size_categories": [next((name for limit, name in _SIZES if summary.n_rows < limit), "n>1M")],
        "task_categories": ["audio-to-audio", "audio-classification"],
        "tags": ["audio", "speech", "full-duplex", "spoken-dialogue", "turn-taking", *origin],
        "configs": [
            {
                "config_name": name,
                "version": version,
                **({"default": True} if name == first else {}),
                "data_files": [
                    {"split": split, "path": [shard for facts in parts for shard in facts.shards]}
                    for split, parts in splits.items()
                ],
            }
            for name, splits in named.items()
        ],
        "dataset_info": [
            {
                "config_name": name,
                "version": version,
                "description": f"sha256:{_digest(splits)}",
                "features": features,
                "splits": [
                    {
                        "name": split,
                        "num_bytes": sum(facts.n_bytes for facts in parts),
                        "num_examples": sum(facts.n_rows for facts in parts),
                    }
                    for split, parts in splits.items()
                ],
                "download_size": sum(f.file_bytes for parts in splits.values() for f in parts),
                "dataset_size": sum(f.n_bytes for parts in splits.values() for f in parts),
            }
            for name, splits in named.items()
        ],
    }


def _digest(splits: dict[str, list[SplitFacts]]) -> str:
    text = "".join(f"{split}{facts.digest}" for split, parts in splits.items() for facts in parts)
    return hashlib.sha256(text.encode()).hexdigest()
