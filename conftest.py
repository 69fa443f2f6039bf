"""Compiled kernels are cached under a name made from their sources: a changed kernel never meets an old caller."""

import hashlib
import os
from pathlib import Path

ROOT = Path(__file__).parent
SOURCES = sorted((ROOT / "src" / "sparsedensity" / "kernels").glob("*.py"))
DIGEST = hashlib.sha256(b"".join(path.read_bytes() for path in SOURCES)).hexdigest()[:16]
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".numba_cache" / DIGEST))
