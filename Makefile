# Two commands for a newcomer: `make demo` and `make test`. Both set up their own environment first.
VENV := .venv
ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN := $(VENV)/Scripts
else
PYTHON ?= python3
BIN := $(VENV)/bin
endif
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Compiled modules are kept, whatever the user's default: without them every start takes seconds longer.
export PYTHONDONTWRITEBYTECODE :=
# The product alone (requirements.txt), and with everything that tests and checks need (requirements-dev.txt).
READY := $(VENV)/ready
READY_DEV := $(VENV)/ready-dev

.PHONY: demo test check docs release-check lowest fuzz bounds bench measure pictures lock clean

demo: $(READY)
	$(BIN)/sparsedensity fit titanic --output titanic.json
	$(BIN)/sparsedensity show titanic.json --as svg --output titanic.svg
	$(BIN)/sparsedensity report titanic --output titanic.html

test: $(READY_DEV) check
	$(BIN)/python -m pytest -n auto --dist worksteal

check: $(READY_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The documentation site, in site/: open site/index.html. A broken link or a formula that cannot be drawn is an error.
docs: export NO_MKDOCS_2_WARNING := 1
docs: $(READY_DEV)
	$(BIN)/python -m mkdocs build --strict

# Builds what is released, looks into it, and tries it where nothing else is installed; TAG=v0.1.0 is checked too.
release-check: $(READY_DEV)
	$(BIN)/python .ci/release_check.py $(if $(TAG),--tag "$(TAG)")

# Tests with the lowest versions that pyproject.toml allows (needs uv): once before each release. What a command loads is
# another matter (test_startup): older libraries load more.
LOWEST := .venv-lowest
TESTS ?= tests/estimators tests/golden tests/laws tests/report tests/units
lowest:
	uv venv --quiet --clear --python 3.11 $(LOWEST)
	uv pip compile --quiet --resolution lowest-direct --python-version 3.11 pyproject.toml --output-file $(LOWEST)/lowest.txt
	uv pip install --quiet --python $(LOWEST) --requirement $(LOWEST)/lowest.txt --constraint $(LOWEST)/lowest.txt duckdb hypothesis matplotlib pandas pooch pyarrow pytest pytest-xdist
	uv pip install --quiet --python $(LOWEST) --no-deps --editable .
	$(subst $(VENV),$(LOWEST),$(BIN))/python -m pytest -n auto --dist worksteal $(TESTS)

# Every picture of the README and the pages.
pictures: $(READY_DEV)
	$(BIN)/python -m docs.pictures

bench: $(READY_DEV)
	$(BIN)/python -m benchmarks

# Attack with damaged input for so many seconds; the tests do it for a few. Whatever goes wrong is printed with its seed.
SECONDS ?= 600
fuzz: $(READY_DEV)
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS)

# The laws with kernels that look at every index, in a cache of their own: one beyond the end of an array is an error.
bounds: export NUMBA_BOUNDSCHECK := 1
bounds: export NUMBA_CACHE_DIR := $(abspath $(VENV)/bounds)
bounds: $(READY_DEV)
	$(BIN)/python -m pytest -n auto --dist worksteal tests/laws

# Everything that can be measured, and its pages (docs/benchmarks.md, docs/how-to/large-tables.md): hours. PAPER_DATA is
# the folder of the tables.
PAPER_DATA ?= ../shared/data/paper
measure: $(READY_DEV)
	$(BIN)/python -m reproduction all --data $(PAPER_DATA) --jobs -1 --output measurements
	PAPER_DATA=$(PAPER_DATA) BENCH_PAGE=docs/how-to/large-tables.md $(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks page

# Python compiles what it imports anyway; compiling everything beforehand would take longer than unpacking it.
$(READY): requirements.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --no-compile --require-hashes --requirement requirements.txt
	$(INSTALL) --no-deps --no-build-isolation --editable .
	$(BIN)/python -c "open('$(READY)', 'w').close()"

$(READY_DEV): $(READY) requirements-dev.txt
	$(INSTALL) --no-compile --require-hashes --requirement requirements-dev.txt
	$(BIN)/python -c "open('$(READY_DEV)', 'w').close()"

# Pins every dependency with its hashes (needs uv; see CONTRIBUTING.md). The product gets the versions that are tested.
LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url $(LOCK_OPTIONS)
lock:
	$(LOCK) --group dev pyproject.toml --output-file requirements-dev.txt
	$(LOCK) --group build pyproject.toml --constraint requirements-dev.txt --output-file requirements.txt

clean:
	$(PYTHON) -c "import shutil; [shutil.rmtree(d, True) for d in ('$(VENV)', '.mypy_cache', '.ruff_cache', '.pytest_cache', '.import_linter_cache', '.hypothesis', 'site')]"
