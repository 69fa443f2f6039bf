"""Reports: plain, typed data about a fitted model, and the renderers that draw it.

:mod:`~sparsedensity.report.model` holds the data, :mod:`~sparsedensity.report.words` says it in words, and a
renderer is one file with one function, ``render(report, ...)``: :mod:`~sparsedensity.report.text` for terminals,
:mod:`~sparsedensity.report.html` for pages.
"""
