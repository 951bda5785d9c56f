"""Facts to README.md: the YAML that the Hub and `load_dataset` read, and the text that people read."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from ..builders.schema import COLUMNS, Column, card_features
from ..scenarios import SCENARIOS
from ..scenarios.event_table import KINDS, SCORING_WINDOW_S
from .summarize import SplitFacts, Summary, summarize

_SIZES = ((1000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def write_card(folder: Path) -> None:
    """Write README.md of a built folder, from what is on disk.

    Raises
    ------
    ReleaseError
        If the folder holds no finished dataset.
    """
    text = render_card(summarize(folder))
    beside = folder / ".README.md.tmp"
    beside.write_text(text, encoding="utf-8")
    beside.replace(folder / "README.md")


def render_card(summary: Summary) -> str:
    """Return the text of the card."""
    import yaml
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    template = environment.from_string((files(__package__) / "card.md").read_text(encoding="utf-8"))
    front = yaml.safe_dump(front_matter(summary), sort_keys=False, allow_unicode=True, width=1000)
    return template.render(
        front=front,
        s=summary,
        recipe=summary.manifest["recipe"],
        scenarios={name: SCENARIOS[name] for name in summary.scenarios},
        kinds={kind: KINDS[kind] for counts in summary.events.values() for kind in counts},
        columns=COLUMNS,
        type_name=_type_name,
        window_s=SCORING_WINDOW_S,
        hours=lambda seconds: f"{seconds / 3600:.2f}",
        largest=lambda values: max(values, key=abs),
        joint=joint_configs(summary),
    )


def joint_configs(summary: Summary) -> dict[str, dict[str, list[str]]]:
    """Return the configurations over all languages: scenario -> split -> shards."""
    joint: dict[str, dict[str, list[str]]] = {}
    for scenario in summary.scenarios:
        for language in summary.languages:
            for split, facts in summary.configs.get(f"{scenario}-{language}", {}).items():
                joint.setdefault(scenario, {}).setdefault(split, []).extend(facts.shards)
    return joint


def front_matter(summary: Summary) -> dict[str, Any]:
    """Return the YAML part of the card.

    Each `dataset_info` carries a digest of its shards, because a reader's cache takes a folder with an
    unchanged README for unchanged data.
    """
    recipe = summary.manifest["recipe"]
    n_rows = sum(facts.n_rows for splits in summary.configs.values() for facts in splits.values())
    named: dict[str, dict[str, list[SplitFacts]]] = {}
    for scenario in summary.scenarios:
        for language in summary.languages:
            for split, facts in summary.configs.get(f"{scenario}-{language}", {}).items():
                named.setdefault(scenario, {}).setdefault(split, []).append(facts)
                named.setdefault(f"{scenario}-{language}", {}).setdefault(split, []).append(facts)
    features = card_features(summary.sample_rate_hz)
    first = next(iter(named))
    return {
        "pretty_name": recipe["name"],
        "license": recipe["licence"].lower(),
        "language": list(summary.languages),
        "size_categories": [next((name for limit, name in _SIZES if n_rows < limit), "n>1M")],
        "task_categories": ["audio-to-audio", "audio-classification"],
        "tags": ["audio", "speech", "full-duplex", "spoken-dialogue", "turn-taking", "synthetic"],
        "configs": [
            {
                "config_name": name,
                "version": recipe["version"],
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
                "version": recipe["version"],
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
    import hashlib

    text = "".join(f"{split}{facts.digest}" for split, parts in splits.items() for facts in parts)
    return hashlib.sha256(text.encode()).hexdigest()


def _type_name(column: Column) -> str:
    def name(type_: Any) -> str:
        if isinstance(type_, str):
            return "Audio" if type_ == "audio" else type_
        if isinstance(type_, list):
            return f"list of {name(type_[0])}"
        return "{" + ", ".join(f"{key}: {name(part)}" for key, part in type_.items()) + "}"

    return name(column.type)
