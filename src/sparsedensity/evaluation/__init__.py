"""The studies of the paper: baselines, evaluation, and its tables and figures beside ours."""
