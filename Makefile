# Two commands do all set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEV := $(VENV)/.installed-dev
export HF_HUB_DISABLE_TELEMETRY := 1
export HF_HUB_OFFLINE := 1

.PHONY: demo test test-slow bench lint clean

demo: $(INSTALLED)  ## build a small bilingual dataset in build/demo and check it
	@start=$$(date +%s); $(BIN)/duplexkit build demo --out build/demo --overwrite && \
	echo "build time: $$(( $$(date +%s) - start )) s" && $(BIN)/duplexkit check build/demo

test: $(DEV)  ## all tests but those on much real speech
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

test-slow: $(DEV)  ## the rest: real speech, kills, browsers
	$(BIN)/python -m pytest -n 2 --dist loadfile -m slow

bench: $(DEV)  ## measure speed as ratios; writes build/bench.json
	$(BIN)/python -m tests.benchmarks

lint: $(DEV)  ## style, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV) || python3 -m venv $(VENV)

$(INSTALLED): $(VENV)/bin/python pyproject.toml
	@start=$$(date +%s); $(BIN)/pip install --quiet --disable-pip-version-check -e . && \
	echo "install time: $$(( $$(date +%s) - start )) s"
	@touch $@

$(DEV): $(INSTALLED) pyproject.toml
	@$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

clean:
	rm -rf build dist
