"""The experiments of "Sparse Density Trees and Lists" (Goh, Semenova, Rudin), run again: ``python -m reproduction``."""
