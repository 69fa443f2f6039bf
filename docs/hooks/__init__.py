"""What turns pages and docstrings into the site: hooks of MkDocs, and an extension of Griffe."""
