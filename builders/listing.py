"""Tables of what is there: recipes, scenarios."""

from __future__ import annotations

from rich.table import Table

from ..scenarios import SCENARIOS
from ..scenarios.bank import languages_of, load_scripts
from ..scenarios.recipe import load_recipe, shipped_recipes


def recipes() -> Table:
    """Return the shipped recipes with their counts."""
    table = Table("recipe", "languages", "samples", "what", title="Shipped recipes")
    for name in shipped_recipes():
        recipe = load_recipe(name)
        n = sum(entry.count * len(entry.languages) for entry in recipe.entries)
        table.add_row(name, ", ".join(recipe.languages), str(n), recipe.description)
    return table


def scenarios() -> list[Table]:
    """Return the scenarios with presets and bank sizes, and their fields."""
    overview = Table("scenario", "what", "presets", "scripts", title="Scenarios")
    fields = Table(
        "scenario", "field", "unit", "meaning", title=r"Fields of a recipe's \[scenarios.NAME] table"
    )
    for scenario in SCENARIOS.values():
        bank = ", ".join(
            f"{language} {len(load_scripts(scenario.name, language))}"
            for language in languages_of(scenario.name)
        )
        presets = ", ".join(f"{name} ({preset.fdb_relation})" for name, preset in scenario.presets.items())
        overview.add_row(scenario.name, scenario.meaning, presets, bank)
        for field in scenario.fields.values():
            fields.add_row(scenario.name, field.name, field.unit, field.meaning)
    return [overview, fields]
