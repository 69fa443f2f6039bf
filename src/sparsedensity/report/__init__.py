"""Reports: plain, typed data about a fitted model, and the renderers that draw it.

:mod:`~sparsedensity.report.model` holds the data, :mod:`~sparsedensity.report.words` says it in words, and a
renderer is one file with one function, ``render(report, ...)``: :mod:`~sparsedensity.report.text` for terminals,
:mod:`~sparsedensity.report.html` for pages, :mod:`~sparsedensity.report.svg` and :mod:`~sparsedensity.report.plot` for
pictures, :mod:`~sparsedensity.report.mermaid`, :mod:`~sparsedensity.report.graphviz` and
:mod:`~sparsedensity.report.latex` for other programs. Pictures go through :mod:`~sparsedensity.report.picture` (rows
and columns) and :mod:`~sparsedensity.report.layout` (where they go); charts through
:mod:`~sparsedensity.report.axes`. Both end as :mod:`~sparsedensity.report.shapes`.
"""
