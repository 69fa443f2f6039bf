"""The documentation: its pages, and what builds them."""
