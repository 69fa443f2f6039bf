"""What a chain of an annealing search does, as one kernel: several would compile the same insides once more each."""

from typing import NamedTuple

from sparsedensity.kernels import kernel
from sparsedensity.kernels.anneal_moves import Settings, graft, rebuild
from sparsedensity.kernels.anneal_regions import Walks, explore, study


class Job(NamedTuple):
    """What is to do: to split or study a leaf; or to explore regions, if there are trials; or to rebuild."""

    node: int
    """The leaf; -1 for none,"""
    feature: int
    """and the feature it is split on, as the labels say; -1 to find the best split only."""
    price: float
    """What a leaf must gain where regions are explored."""
    walks: Walks
    settings: Settings


@kernel
def work(s, t, spare, best, moves, job, path, labels, rng):
    """Do one job."""
    if job.node >= 0 and job.feature < 0:
        study(s, t.nodes[job.node].region, rng)
    elif job.node >= 0:
        graft(s, t, job.node, job.feature, labels)
    elif job.walks.trials > 0:
        explore(s, path, job.price, job.walks, rng)
    else:
        rebuild(s, t, spare, best, moves, job.settings, rng)
