"""Every tree that loses at most so much to the best one, from the tables of one pass.

Downwards: each region learns the largest slack that any tree with a total loss within the limit can leave it; what
loses more is never looked at again. Upwards: each region lists its best trees, a list for every label. The label of a
tree is its number of leaves and the set of features it uses, as far as the problem asks for them.
"""

from __future__ import annotations

import heapq
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from sparsedensity.search.near import TooManyError
from sparsedensity.search.trees.exact.best_by_region import Tables
from sparsedensity.search.trees.exact.plans import Choice, Plan

MOST_CHOICES = 2_000_000
"""After so many choices within the slack, give up: they would fill the memory."""
REGIONS_PER_STEP = 200
NONE: frozenset[int] = frozenset()


class Label(NamedTuple):
    """The leaves of a tree and the features it uses (a bit mask), or 0 where nobody asks."""

    leaves: int
    features: int


class Entry(NamedTuple):
    """A tree of a region: its loss, its leaves where they tell it from others, and its plan."""

    loss: float
    leaves: frozenset[int]
    plan: Plan


Lists = dict[Label, list[Entry]]


@dataclass
class Within:
    """The trees within some slack of the best."""

    tables: Tables
    slack: float
    most: int = 1
    """How many trees of one label to list at most."""
    by_leaves: bool = True
    by_features: bool = False
    same_leaves: bool = False
    """Whether two trees with the same leaves are one."""
    most_leaves: int = 0
    most_choices: int = MOST_CHOICES
    choices: dict[int, list[Choice]] = field(default_factory=dict)
    lists: dict[int, Lists] = field(default_factory=dict)

    def find(self) -> Iterator[int]:
        """Fill the lists; yields the number of regions done since the last time."""
        slacks = yield from self._down()
        for done, region in enumerate(sorted(self.choices), 1):
            self.lists[region] = self._merge(region, slacks[region])
            if done % REGIONS_PER_STEP == 0:
                yield REGIONS_PER_STEP

    def found(self) -> Lists:
        """The lists of the whole domain."""
        return self.lists[self.tables.lattice.root]

    def _down(self) -> Generator[int, None, dict[int, float]]:
        """What each region may still lose: wholes before parts, so that every slack is final when it is used."""
        root = self.tables.lattice.root
        slacks, queue, total = {root: self.slack}, [-root], 0
        while queue:
            region = -heapq.heappop(queue)
            slack = slacks[region]
            own = list(self.tables.choices(region, slack))
            total += len(own)
            if total > self.most_choices:
                raise TooManyError
            self.choices[region] = own
            for choice in own:
                for part in choice.parts:
                    if part not in slacks:
                        heapq.heappush(queue, -part)
                        slacks[part] = slack - choice.loss
                    else:
                        slacks[part] = max(slacks[part], slack - choice.loss)
            if len(self.choices) % REGIONS_PER_STEP == 0:
                yield REGIONS_PER_STEP
        return slacks

    def _merge(self, region: int, slack: float) -> Lists:
        """The best trees of a region, from those of its parts."""
        merged: dict[Label, dict[object, Entry]] = {}
        for choice in self.choices.pop(region):
            for label, entry in self._of_choice(region, choice, slack):
                own = merged.setdefault(label, {})
                key = self._key(entry, own)
                if key not in own or entry.loss < own[key].loss:
                    own[key] = entry
        return {
            label: heapq.nsmallest(self.most, own.values(), key=attrgetter("loss")) for label, own in merged.items()
        }

    def _key(self, entry: Entry, others: dict[object, Entry]) -> object:
        """What tells a tree from others: its leaves, or nothing: no choice makes the same tree twice."""
        if self.most == 1:
            return None
        return entry.leaves if self.same_leaves else len(others)

    def _of_choice(self, region: int, choice: Choice, slack: float) -> Iterator[tuple[Label, Entry]]:
        """Every tree that begins with a choice and stays within the slack."""
        if not choice.parts:
            leaves = frozenset([self.tables.lattice.place(region)]) if self._tells_leaves else NONE
            yield Label(int(self.by_leaves), 0), Entry(choice.loss, leaves, Plan(region, -1, ()))
            return
        used = 1 << choice.feature if self.by_features else 0
        for label, loss, entries in self._together(choice.parts, Label(0, used), choice.loss, slack):
            leaves = NONE.union(*(entry.leaves for entry in entries)) if self._tells_leaves else NONE
            plan = Plan(region, choice.feature, tuple(entry.plan for entry in entries))
            yield label, Entry(loss, leaves, plan)

    def _together(
        self, parts: tuple[int, ...], label: Label, loss: float, slack: float
    ) -> Iterator[tuple[Label, float, tuple[Entry, ...]]]:
        """Every way to take one tree from each part."""
        if not parts:
            yield label, loss, ()
            return
        for own, entries in self.lists[parts[0]].items():
            joined = Label(label.leaves + own.leaves, label.features | own.features)
            if joined.leaves > self.most_leaves:
                continue
            for entry in entries:
                if loss + entry.loss > slack:
                    break
                for final, total, others in self._together(parts[1:], joined, loss + entry.loss, slack):
                    yield final, total, (entry, *others)

    @property
    def _tells_leaves(self) -> bool:
        return self.same_leaves and self.most > 1
