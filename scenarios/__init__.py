"""WHAT happens: text and time, no signals, no network."""

from . import (
    backchannel,
    background_speech,
    mt_qa,
    pause_handling,
    smooth_turn_taking,
    talking_to_others,
    user_backchannel,
    user_interruption,
)
from .scenario import Scenario

SCENARIOS: dict[str, Scenario] = {
    scenario.name: scenario
    for scenario in (
        pause_handling.SCENARIO,
        smooth_turn_taking.SCENARIO,
        backchannel.SCENARIO,
        user_interruption.SCENARIO,
        user_backchannel.SCENARIO,
        talking_to_others.SCENARIO,
        background_speech.SCENARIO,
        mt_qa.SCENARIO,
    )
}
"""The one list to extend."""
