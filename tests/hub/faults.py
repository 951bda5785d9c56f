"""Faults to inject: which request, how often, and what goes wrong."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Fault:
    """A fault of one route.

    `kind`: ``status`` answers with `status` and does nothing; ``hang`` does nothing and never answers;
    ``drop`` does what was asked and closes without an answer; ``truncate`` answers half a body;
    ``move_head`` lets somebody else commit first. `skip` requests pass before it strikes, `times` times.
    """

    route: str
    kind: str
    status: int = 0
    times: int = 1
    skip: int = 0

    def strikes(self, route: str) -> bool:
        """Say whether this request is hit, and count it."""
        if route != self.route or self.times == 0:
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.times -= 1
        return True
