PYTHON ?= python3
VENV   ?= .venv
TORCH  := 2.13.0
ARGS   ?=

PY   := $(VENV)/bin/python
PIP  := $(PY) -m pip install -qq --disable-pip-version-check
TOOL := $(VENV)/bin/swapmodel
CODE := $(wildcard swapmodel tests bench)

.NOTPARALLEL:
.PHONY: help check test coverage mutants conform confirm agree bench lint types format index ci clean

help:               ## say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile
	@echo; echo 'PYTHON=python3.12 chooses the Python of a new environment, ARGS="..." is handed on to the tool'

check: $(VENV)/.core   ## search every scope and compare with the claims
	@$(TOOL) check $(ARGS)

test: $(VENV)/.dev     ## run the tests; those that need torch only if it is there
	@$(PY) -m pytest -n auto $(ARGS)

coverage: $(VENV)/.dev ## run the tests, and say which branches of the core they leave out
	@$(PY) -m pytest -n auto --cov $(ARGS)

mutants: $(VENV)/.dev  ## put faults into the code, one at a time, and say which the tests miss
	@$(PY) -m tests.mutants $(ARGS)

conform: $(VENV)/.torch  ## run the programs in lockstep on real torch
	@$(TOOL) conform $(SHARE) $(ARGS)

confirm: $(VENV)/.torch  ## show every counterexample on real torch
	@$(TOOL) confirm $(ARGS)

agree: $(VENV)/.torch  ## convert the modules by which torch is tested, and compare
	@$(TOOL) agree $(SHARE) $(ARGS)

bench: $(VENV)/.dev $(VENV)/.torch  ## measure speed and size
	@$(PY) -m bench.run $(ARGS)

lint: $(VENV)/.dev     ## ruff, rules and format
	@$(PY) -m ruff check $(CODE) && $(PY) -m ruff format --check $(CODE)

types: $(VENV)/.dev    ## mypy, strict
	@$(PY) -m mypy $(CODE)

format: $(VENV)/.dev   ## let ruff rewrite what it can
	@$(PY) -m ruff check --fix $(CODE) ; $(PY) -m ruff format $(CODE)

index: $(VENV)/.core   ## write the generated status tables again
	@$(TOOL) index $(ARGS)

ci: SHARE := --share 16
ci: $(VENV)/.dev $(VENV)/.torch lint types coverage check conform confirm agree  ## exactly what CI does

clean:              ## remove what is not in git: environment, caches, builds
	@rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks

$(VENV)/.core: pyproject.toml .ci/venv
	@sh .ci/venv "$(PYTHON)" "$(VENV)" && $(PIP) -e . && touch $@
$(VENV)/.dev: $(VENV)/.core
	@$(PIP) -e '.[dev]' && touch $@
$(VENV)/.torch: $(VENV)/.core
	@echo "installing torch $(TORCH), once"; $(PIP) -e '.[torch]' torch==$(TORCH) && touch $@
