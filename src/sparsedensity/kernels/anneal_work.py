"""What a chain of an annealing search does, as one kernel: several would compile the same insides once more each."""

from typing import NamedTuple

from sparsedensity.kernels import kernel
from sparsedensity.kernels.anneal_moves import ROOT, Settings, rebuild
from sparsedensity.kernels.anneal_regions import Walks, explore, study
from sparsedensity.kernels.anneal_transplants import transplant


class Job(NamedTuple):
    """What is to do: to grow a planted tree or study a leaf; to explore regions, if there are trials; or to rebuild."""

    like: bool
    """Whether the tree, a single leaf, is to become like the spare one."""
    node: int
    """The leaf whose best split is to be found; -1 for none."""
    price: float
    """What a leaf must gain where regions are explored."""
    walks: Walks
    settings: Settings


@kernel
def work(s, t, spare, best, moves, job, path, rng):
    """Do one job."""
    if job.like:
        transplant(s, t, ROOT, spare, ROOT, rng)
    elif job.node >= 0:
        study(s, t.nodes[job.node].region, rng)
    elif job.walks.trials > 0:
        explore(s, path, job.price, job.walks, rng)
    else:
        rebuild(s, t, spare, best, moves, job.settings, rng)
