"""What the linter knows of scripts: topics, registers, and each scenario's form."""

from .. import SCENARIOS
from ..script_form import ScriptForm

DOMAINS = (
    "cooking",
    "travel",
    "health",
    "fitness",
    "money",
    "work",
    "school",
    "science",
    "history",
    "technology",
    "gardening",
    "pets",
    "music",
    "film",
    "books",
    "sport",
    "home_repair",
    "transport",
    "weather",
    "shopping",
    "language",
    "parenting",
    "environment",
    "hobbies",
    "local_services",
    "art",
)
REGISTERS = ("casual", "neutral", "polite", "formal")

FORMS: dict[str, ScriptForm] = {name: scenario.script for name, scenario in SCENARIOS.items()}
"""Scenario name -> the form of its scripts."""
