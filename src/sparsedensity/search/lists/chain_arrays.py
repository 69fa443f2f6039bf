"""What the kernels of chains read and change: the task, and memory for lists of so many rules."""

from __future__ import annotations

import numpy as np

from sparsedensity.kernels import list_boxes, list_insert, list_state
from sparsedensity.posterior.rule_list import ListPosterior, ListTerms, log_available_sizes
from sparsedensity.search.lists.antecedents import Antecedents, records

RECIPE = list_state.ListRecipe(
    add=0.2, remove=0.4, replace=0.6, change=0.8, swap=0.9, least_gain=1e-9, least_share=1e-12
)  # fmt: skip
"""Adding a rule is as likely as removing one."""
MOST_BOXES, POOL = 1 << 8, 1 << 12
"""A list is passed over if what its rules leave anywhere, or all its leaves, fall into more disjoint boxes than this:
the fewer, the more lists can be tried, which finds better ones."""
MOST_PAIRED = 1 << 11
"""Up to so many conditions, it is noted what each pair of them is worth."""
LARGEST_TABLE = 1 << 22
"""Up to this total of whole weights, lnG is looked up."""


def task_of(posterior: ListPosterior, antecedents: Antecedents, most_rules: int) -> list_state.ListTask:
    """A posterior and its antecedents as the kernels read them, for lists of up to so many rules."""
    table = antecedents.table
    whole = table.n <= LARGEST_TABLE and bool((table.weights == np.round(table.weights)).all())
    terms = posterior.terms(table.n, table.domain.log_volume, most_rules, int(table.n) if whole else 0)
    return list_state.ListTask(antecedents.rows, antecedents.runs, terms, _draws(terms, antecedents), RECIPE)


def _draws(terms: ListTerms, antecedents: Antecedents) -> list_state.Draws:
    """Antecedents are drawn much as the prior draws them: a size by its rate, then any one of that size."""
    counts = terms.of_size["antecedents"][1:]
    logs = log_available_sizes(terms.of_size["log_rate"][1:], counts)
    up_to = np.cumsum(np.exp(logs))
    up_to[int(np.max(np.flatnonzero(counts), initial=0)) :] = 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        log_share = logs - np.log(counts)
    listed, begin = antecedents.listed
    of_size = records(list_state.DRAW, begin, np.array([0.0, *up_to, 1.0]), np.array([-np.inf, *log_share, -np.inf]))
    return list_state.Draws(of_size, listed, antecedents.least)


def memory_of(task: list_state.ListTask, pool: list_boxes.BoxPool, rules: int) -> list_state.ListMemory:
    """The empty list, with memory for lists of up to so many rules."""
    longest, words = task.draws.listed.shape[1], len(task.rows.everything)
    state = list_state.ListState(
        now=np.zeros(1, list_state.NOW)[0],
        rule=np.full((rules, longest), -1),
        size=np.zeros(rules, np.int64),
        rest=np.zeros((rules + 1, words), np.uint64),
        leaf=np.zeros((rules + 1, words), np.uint64),
        rest_boxes=np.zeros((rules + 1, MOST_BOXES), np.int32),
        leaf_boxes=np.zeros((rules + 1, MOST_BOXES), np.int32),
        at=np.zeros(rules + 1, list_state.PLACE),
    )
    state.rest[0] = task.rows.everything
    state.at["n_rest"][0], state.at["boxes"] = 1, 1
    draft = list_state.Draft(
        rule=np.full((rules + 1, longest), -1),
        size=np.zeros(rules + 1, np.int64),
        unused=np.zeros(longest + 1),
        obey=np.zeros(words, np.uint64),
        rows=np.zeros((2, words), np.uint64),
        boxes=np.zeros((2, MOST_BOXES), np.int32),
        passing=np.zeros(1, list_state.PASSING)[0],
    )
    archive = list_state.ListArchive(
        np.full(rules + 1, -np.inf), np.full((rules + 1, rules, longest), -1), np.zeros((rules + 1, rules), np.int64)
    )
    return list_state.ListMemory(state, pool, draft, archive)


def pool_of(values: int) -> list_boxes.BoxPool:
    """A pool whose only box is a domain of so many values."""
    mask = np.zeros((POOL, -(-values // 64)), np.uint64)
    for value in range(values):
        mask[0, value >> 6] |= np.uint64(1) << np.uint64(value & 63)
    return list_boxes.BoxPool(mask, np.ones(POOL), np.ones(1, list_boxes.USED)[0])


def scratch_of(task: list_state.ListTask, rules: int) -> list_insert.LookScratch:
    """Scratch for a look at every antecedent at every place of lists of up to so many rules."""
    depths, conditions = task.draws.listed.shape[1] + 1, len(task.conditions.run)
    paired = conditions if conditions <= MOST_PAIRED else 0
    return list_insert.LookScratch(
        rows=np.empty((depths, len(task.rows.everything)), np.uint64),
        parts=np.empty((depths, POOL)),
        up_to=np.empty((len(task.conditions.measure), POOL)),
        begin=np.empty(rules + 2, np.int64),
        weight=np.empty((depths, rules + 1)),
        volume=np.empty((depths, rules + 1)),
        path=np.empty(depths, np.int64),
        chosen=np.zeros(1, list_insert.INSERTION)[0],
        removed=np.empty(depths, np.int64),
        worth=np.full((paired, paired), -np.inf),
        few=np.ones((paired, paired), np.bool_),
    )
