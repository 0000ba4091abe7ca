# Two commands matter: `make demo` and `make test`. Both set everything up by themselves.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet
WORKERS ?= 2
MINUTES ?= 60
ARGS ?=

.PHONY: help demo serve test soak check format lock clean

help: ## Show what can be made
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-8s %s\n", $$1, $$2}'

demo: $(VENV)/.run ## Bring up the studio with a table that plays by itself (ARGS="--rounds 30 --headless")
	@$(PY) app.py demo $(ARGS)

serve: $(VENV)/.run ## Bring up the studio with its embedded database (ARGS="--port 8080")
	@$(PY) app.py serve $(ARGS)

test: $(VENV)/.dev ## Run all tests, doctests included (ARGS="tests/domain -k shoe")
	@$(PY) -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder --doctest-modules --doctest-glob=README.md \
		--ignore=studio/store/migrations $(or $(ARGS),README.md studio scanner tests)

soak: $(VENV)/.dev ## Hunt for faults for MINUTES, simulated and real (ARGS="--layer damage --start 50")
	@$(PY) -m tests.faults.soak --minutes $(MINUTES) --jobs $(WORKERS) $(ARGS)

check: $(VENV)/.dev ## Check format, lint, types, import rules and the translation catalogue
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .
	@$(PY) -m mypy
	@$(VENV)/bin/lint-imports
	@$(PY) -m studio.web.catalogue

format: $(VENV)/.dev ## Format the sources and apply the safe fixes
	@$(PY) -m ruff check --fix --quiet .
	@$(PY) -m ruff format .

lock: $(VENV)/.dev ## Resolve requirements*.in anew into the lock files
	@$(PIP) install uv
	@$(PY) -m uv pip compile --quiet --python-version 3.11 --upgrade --no-header --no-annotate \
		--output-file requirements.txt requirements.in
	@$(PY) -m uv pip compile --quiet --python-version 3.11 --upgrade --no-header --no-annotate \
		--output-file requirements-dev.txt requirements-dev.in

clean: ## Remove the environment and the caches; databases in var/ stay
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache htmlcov

# The stamps are younger than the locks they were installed from: a second run has nothing to do.
$(VENV)/.run: requirements.txt config/setup.sh
	@config/setup.sh run
	@test -x $(PY) && $(PY) -m pip --version >/dev/null 2>&1 || "$$(config/setup.sh python)" -m venv --clear $(VENV)
	@echo "Installing what the studio runs on (once)"
	@$(PIP) install --requirement requirements.txt
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements-dev.txt
	@config/setup.sh test
	@echo "Installing what the tests need besides (once)"
	@$(PIP) install --requirement requirements-dev.txt
	@touch $@
