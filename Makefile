# Every target makes its own environment: only Python (3.11 or later), make and Git are needed.
#   PYTHON=python3.12 make test     another interpreter
#   make test WORKERS=4             more test processes

PYTHON  ?= python3
WORKERS ?= 2

VENV      := .venv
LOWEST    := .venv-lowest
PY        := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
WRITING   := $(VENV)/.installed-docs

TORCH_INDEX := https://download.pytorch.org/whl/cpu

# One BLAS thread: the matrices are small, and more threads only get in each other's way.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help venv peers torch-peers demo test test-all test-lowest lint types bench docs notebooks wheel clean

help: ## Show this list
	@echo "boring-bo: make <target>"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: $(INSTALLED) ## Make .venv with the pinned packages (the other targets do it when needed)

$(INSTALLED): setup.py pyproject.toml constraints.txt
	@echo "==> Making $(VENV) with $(PYTHON) and the versions in constraints.txt (once; some minutes)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "boring-bo needs Python 3.11 or later; say PYTHON=... to choose one" >&2; exit 1; }
	@test -x $(PY) || $(PYTHON) -m venv $(VENV) \
	  || { rm -rf $(VENV); echo "could not make $(VENV): install Python with its venv module" >&2; exit 1; }
	@$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

peers: $(INSTALLED) ## Install the optimisers of others that the arena compares with (no torch)
	@echo "==> Installing the peers with the versions in constraints-peers.txt"
	@$(PY) -m pip install --quiet --disable-pip-version-check \
	  -c constraints.txt -c constraints-peers.txt -e '.[peers]'

# Torch comes first and alone, from its own index: pip would otherwise take a build of several GB
# for graphics cards.
torch-peers: $(INSTALLED) ## Install those on BoTorch, with the CPU build of torch (about 1 GB)
	@echo "==> Installing the CPU build of torch, then BoTorch (some minutes)"
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps \
	  -c constraints-torch-peers.txt --index-url $(TORCH_INDEX) torch
	@$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt \
	  -c constraints-peers.txt -c constraints-torch-peers.txt -e '.[torch-peers]'

demo: $(INSTALLED) ## Embedded Camelback: BORING against REMBO, a plain GP and Sobol search
	@echo "==> Running the demo: tables here, JSON lines and pictures under results/"
	@$(ONE_THREAD) $(PY) -m experiments demo

test: lint types ## Lint, types and the fast tests (what CI runs)
	@echo "==> Testing (the slow tier: make test-all)"
	@$(ONE_THREAD) $(PY) -m pytest -n $(WORKERS) --dist worksteal -q

test-all: lint types ## The same with the slow statistical tests
	@echo "==> Testing, slow tier included"
	@$(ONE_THREAD) $(PY) -m pytest -n $(WORKERS) --dist worksteal -q -m "slow or not slow"

define LOWEST_VERSIONS
import importlib.metadata
bounds = {each.split(";")[0].strip() for each in importlib.metadata.requires("boring-bo")}
print(*(each.replace(">=", "==") for each in sorted(bounds) if ">=" in each), sep="\n")
print("pyparsing<3.3")  # From 3.3 on it warns of the calls of Matplotlib 3.9.
endef
export LOWEST_VERSIONS

test-lowest: ## The tests with the lowest versions that setup.py allows (in .venv-lowest)
	@echo "==> Making $(LOWEST) with the lowest versions that setup.py allows (some minutes)"
	@rm -rf $(LOWEST) && $(PYTHON) -m venv $(LOWEST)
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@$(LOWEST)/bin/python -c "$$LOWEST_VERSIONS" > $(LOWEST)/constraints.txt
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check \
	  -c $(LOWEST)/constraints.txt -e '.[dev]'
	@echo "==> Testing"
	@$(ONE_THREAD) $(LOWEST)/bin/python -m pytest -n $(WORKERS) --dist worksteal -q \
	  -W ignore::DeprecationWarning  # old releases make calls that are out of date by now

lint: $(INSTALLED) ## Style, layout and docstrings (ruff)
	@echo "==> Linting with ruff"
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

types: $(INSTALLED) ## Type hints (mypy --strict)
	@echo "==> Checking types with mypy"
	@$(PY) -m mypy

bench: $(INSTALLED) ## Benchmarks of optimisation, recovery and speed (long; see python -m experiments bench -h)
	@echo "==> Running the benchmarks, one BLAS thread: tables under results/bench"
	@$(ONE_THREAD) $(PY) -m experiments bench

# One stamp for both: their packages overlap, and installing them takes seconds.
$(WRITING): $(INSTALLED) constraints-docs.txt
	@echo "==> Installing Sphinx and Jupyter with the versions in constraints-docs.txt"
	@$(PY) -m pip install --quiet --disable-pip-version-check \
	  -c constraints.txt -c constraints-docs.txt -e '.[docs,notebooks]'
	@touch $@

docs: $(WRITING) ## Build the documentation site into docs/_build/html (warnings are errors)
	@echo "==> Building docs/_build/html"
	@$(ONE_THREAD) $(PY) -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

notebooks: $(WRITING) ## Run the notebooks anew, outputs kept beside them (see experiments/notebooks)
	@echo "==> Running the notebooks of experiments/notebooks"
	@$(ONE_THREAD) $(PY) -m experiments.notebooks

wheel: $(INSTALLED) ## Build the wheel into dist/
	@echo "==> Building the wheel into dist/"
	@rm -rf build
	@$(PY) -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w dist .

clean: ## Remove what the tools made (keeps .venv and results)
	rm -rf build dist docs/_build docs/api docs/gallery *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -not -path './$(VENV)/*' -prune -exec rm -rf {} +
