"""The best rule lists of the Titanic at every length, beside what the paper tells of its own."""

import time
import warnings

from sparsedensity import SparseRuleList, datasets
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import SearchWarning
from sparsedensity.ingest import Reading, open_source, read_table
from sparsedensity.posterior import SparseRules, antecedents_by_size
from sparsedensity.problem import Problem
from sparsedensity.structures import Condition, RuleList

EXPECTED = (2, 4, 7)
TOLD = ({"sex": "female", "age": "adult"}, {"sex": "male", "age": "child"})
"""The first two rules of the paper's list for 4 expected rules: all that its text says of the three lists."""


def main() -> None:
    warnings.simplefilter("ignore", SearchWarning)
    frame = datasets.load("titanic")
    engine = MemoryEngine(read_table(open_source(frame), Reading()))
    counts = antecedents_by_size(engine.domain, 2)
    problems = [Problem(engine, SparseRules(counts, expected_rules=e, expected_conditions=2)) for e in EXPECTED]
    print(f"log posterior for {', '.join(map(str, EXPECTED))} expected rules, 2 expected conditions, pseudocount 1")
    report("the paper's first two rules for 4", told(engine), problems)
    for rules in range(1, 8):
        model = SparseRuleList(4, expected_conditions=2, max_rules=rules).fit(frame)
        report(f"best of {rules}", model.structure_, problems)
        print(*(f"    {line.text}" for line in model.report().lines), sep="\n")
    found = set()
    begin = time.process_time()
    for expected in EXPECTED:
        for seed in range(10):
            model = SparseRuleList(expected, expected_conditions=2, random_state=seed).fit(frame)
            found.add(model.structure_.rules)
    seconds = (time.process_time() - begin) / 30
    lists = f"{len(found)} list of {len(next(iter(found)))} rules"
    print(f"no limit, 10 seeds each: {lists}, {seconds:.2f} s of processor time a fit")


def told(engine: MemoryEngine) -> RuleList:
    domain = engine.domain
    rules = [[(domain.index(name), domain[name].code(value)) for name, value in rule.items()] for rule in TOLD]
    return RuleList.of(domain, [[Condition(f, c, c) for f, c in rule] for rule in rules])


def report(name: str, rules: RuleList, problems: list[Problem[SparseRules]]) -> None:
    scores = [problem.score(rules) for problem in problems]
    print(f"{name:36}", *(f"{score:>12,.2f}" for score in scores))
