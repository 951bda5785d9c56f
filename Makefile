# Two commands do all set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEV := $(VENV)/.installed-dev
EXTRAS_VENV := build/extras-venv
EXTRAS := $(EXTRAS_VENV)/.installed
export HF_HUB_DISABLE_TELEMETRY := 1
export HF_HUB_OFFLINE := 1

.PHONY: demo test test-slow test-extras explore bench lint clean

demo: $(INSTALLED)  ## build a small bilingual dataset in build/demo and check it
	@start=$$(date +%s); $(BIN)/duplexkit build demo --out build/demo --overwrite && \
	echo "build time: $$(( $$(date +%s) - start )) s" && $(BIN)/duplexkit check build/demo

test: $(DEV)  ## all tests but those on much real speech
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and not extras"

test-slow: $(DEV)  ## the rest: real speech, kills, browsers
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "slow and not extras"

test-extras: $(EXTRAS)  ## what needs the optional packages; none of it may skip but CosyVoice
	@start=$$(date +%s); $(EXTRAS_VENV)/bin/python -m pytest -n 2 --dist loadfile -m extras \
	--with-extras quality,similarity,squim,chattts,lhotse && echo "extras test time: $$(( $$(date +%s) - start )) s"

explore: $(DEV)  ## property tests with other examples than always
	HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest -n 2 -m "hypothesis and not slow and not extras"

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

# torchaudio comes built for CUDA; ChatTTS wants its Python part only, whose import fails on the libraries
$(EXTRAS): pyproject.toml tests/requirements-extras.txt
	@start=$$(date +%s); $(PYTHON) -m venv --clear $(EXTRAS_VENV) || python3 -m venv --clear $(EXTRAS_VENV); \
	$(EXTRAS_VENV)/bin/pip install --quiet --disable-pip-version-check -r tests/requirements-extras.txt && \
	$(EXTRAS_VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps resemblyzer==0.1.4 && \
	echo "extras install time: $$(( $$(date +%s) - start )) s"
	@rm -f $(EXTRAS_VENV)/lib/python3*/site-packages/torchaudio/lib/*.so
	@if $(EXTRAS_VENV)/bin/pip list 2>/dev/null | grep -i '^nvidia'; then echo "CUDA packages came in; wanted the CPU build of torch"; exit 1; fi
	@touch $@

clean:
	rm -rf build dist
