"""Facts to README.md: the YAML that the Hub and `load_dataset` read, and the text that people read."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from ..builders.quality import VALUES
from ..scenarios import SCENARIOS
from ..scenarios.event_table import SCORING_WINDOW_S
from ..scenarios.label_difference import short_answers
from ..whole_file import put_text
from . import tables
from .about import About, read_about
from .changelog import latest_entries, read_changelog
from .citation import bibtex
from .front import front_matter, named_configs
from .licenses import missing_attributions, problems_of_claim
from .quality_section import intelligibility_notes, listening_line, quality_notes, quality_table
from .summarize import Summary, summarize
from .variant_section import variant_lines, variant_table
from .voice_basis import basis_of

MEASURED_PLOTS = {
    "fto": "Floor transfer offsets against the law they were drawn from",
    "durations": "Lengths of the rows",
    "levels": "Levels of treated events against their targets",
    "treatments": "Spectrograms before and after each treatment",
}


def write_card(folder: Path, *, repository: str = "", version: str = "") -> None:
    """Write README.md of a built folder, from what is on disk.

    Parameters
    ----------
    folder
        A built folder; its release.toml (if any) says what only its makers know.
    repository, version
        Where it will be published and as what, in place of release.toml's and the recipe's.

    Raises
    ------
    ReleaseError
        If the folder holds no finished dataset.
    """
    about = read_about(folder)
    about = replace(about, repository=repository or about.repository, version=version or about.version)
    text = render_card(summarize(folder), about, folder)
    put_text(folder / "README.md", text)


def version_of(summary: Summary, about: About) -> str:
    """Return the version that a card states: release.toml's, or the recipe's."""
    return about.version or str(summary.manifest["recipe"]["version"])


def render_card(summary: Summary, about: About, folder: Path) -> str:
    """Return the text of the card; of `folder` its changelog and the names of its plots are read."""
    import yaml
    from jinja2 import Environment, StrictUndefined

    recipe = summary.manifest["recipe"]
    version = version_of(summary, about)
    title = about.title or recipe["name"]
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    environment.filters["cell"] = lambda text: str(text).replace("|", "\\|").replace("\n", " ")
    template = environment.from_string((files(__package__) / "card.md").read_text(encoding="utf-8"))
    front = yaml.safe_dump(
        front_matter(summary, version=version, title=title),
        sort_keys=False,
        allow_unicode=True,
        width=1000,
    )
    named = named_configs(summary)
    first_config = next(iter(named), "")
    bases = {engine: basis_of(engine) for engine, _, _ in summary.engines}
    plots = {path.stem for path in (folder / "plots").glob("*.png")}
    rendered = template.render(
        front=front,
        s=summary,
        about=about,
        recipe=recipe,
        title=title,
        version=version,
        variant=variant_lines(summary.manifest),
        variant_changes=variant_table(summary.manifest),
        repository=about.repository or "PATH_OR_REPO",
        revision=f', revision="v{version}"' if about.repository else "",
        first_config=first_config,
        first_split=next(iter(named.get(first_config, {})), ""),
        hours=sum(f.seconds for splits in summary.configs.values() for f in splits.values()) / 3600,
        origins=sorted({basis.origin for basis in bases.values()}),
        bases=bases,
        consents=consents(summary, about),
        configs=tables.config_table(summary),
        joint=[name for name in named if "-" not in name],
        relations={relation for counts in summary.relations.values() for relation in counts},
        columns=tables.column_table(),
        tracks=tables.track_table(summary),
        lengths=tables.length_table(summary),
        window_s=SCORING_WINDOW_S,
        events=tables.event_table(summary),
        presets=tables.preset_tables(summary),
        scenarios=SCENARIOS,
        labels=tables.label_table(summary),
        short_answers=short_answers(summary.labels),
        plots=plots,
        measured_plots=[(name, text) for name, text in MEASURED_PLOTS.items() if name in plots],
        checks=tables.check_table(summary),
        quality=quality_table(summary),
        quality_notes=[*quality_notes(summary), *intelligibility_notes(summary)],
        listening=listening_line(summary.beside),
        timing=tables.timing_table(summary),
        not_measured=tables.NOT_MEASURED,
        never_measured=[
            name
            for name, values in summary.checks.items()
            if name not in VALUES and all(value is None for value in values)
        ],
        rejects=tables.reject_table(summary),
        voices=tables.voice_table(summary),
        licences=tables.licence_table(summary),
        licence_problems=licence_problems(summary),
        attributions=attributions(summary),
        splits=tables.split_table(summary),
        bibtex=bibtex(title=title, version=version, about=about),
        changelog=latest_entries(read_changelog(folder, version)),
    )
    return rendered.lstrip("\n")


def licence_problems(summary: Summary) -> tuple[str, ...]:
    """Return why the folder may not go out under the licence its recipe claims."""
    parts = summary.all_parts
    return (
        *problems_of_claim(summary.manifest["recipe"]["licence"], parts),
        *missing_attributions(parts),
    )


def attributions(summary: Summary) -> list[str]:
    """Return whom to name: one line for each attribution, with what it is for."""
    by_text: dict[str, list[str]] = {}
    for part in sorted(summary.all_parts, key=str):
        if part.attribution:
            by_text.setdefault(f"{part.attribution}, {part.licence}", []).append(f"{part.kind} `{part.name}`")
    return [f"{text}: {', '.join(names)}" for text, names in by_text.items()]


def consents(summary: Summary, about: About) -> dict[str, str]:
    """Return the stated basis of each voice that needs one ("" = none is stated)."""
    return {
        name: about.consent.get(name, about.consent.get("*", ""))
        for name, voice in sorted(summary.voices.items())
        if any(basis_of(engine).consent for engine in voice["engines"])
    }
