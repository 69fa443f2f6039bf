"""Hypothesis draws the same examples on every machine and in every run: a red test stays red until it is mended."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "laws", deadline=None, derandomize=True, max_examples=70, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("laws")
