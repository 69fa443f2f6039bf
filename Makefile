# Two commands for a newcomer: `make demo` and `make test`. Both set up their own environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
endif
READY := $(VENV)/ready

.PHONY: demo test check bench measure pictures lock clean

demo: $(READY)
	$(BIN)/sparsedensity fit titanic --output titanic.json
	$(BIN)/sparsedensity show titanic.json --as svg --output docs/titanic.svg
	$(BIN)/sparsedensity report titanic --output titanic.html

test: $(READY) check
	$(BIN)/python -m pytest -n auto

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Every picture of the README and the guide.
pictures: $(READY)
	$(BIN)/python docs/pictures.py

bench: $(READY)
	$(BIN)/python -m benchmarks

# Everything that can be measured, and the page of it (docs/benchmarks.md): hours. PAPER_DATA is the folder of the tables.
PAPER_DATA ?= ../shared/data/paper
measure: $(READY)
	$(BIN)/python -m reproduction all --data $(PAPER_DATA) --jobs -1 --output measurements
	PAPER_DATA=$(PAPER_DATA) $(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks page

$(READY): requirements-dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	$(BIN)/python -c "open('$(READY)', 'w').close()"

# Pins every development dependency with its hashes (needs uv; see CONTRIBUTING.md).
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--no-emit-index-url --group dev pyproject.toml --output-file requirements-dev.txt

clean:
	$(PYTHON) -c "import shutil; [shutil.rmtree(d, True) for d in ('$(VENV)', '.mypy_cache', '.ruff_cache', '.pytest_cache', '.import_linter_cache', '.hypothesis')]"
