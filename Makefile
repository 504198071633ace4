# Every target sets up .venv first; nothing else has to be installed by hand but Python 3.11+ and make.
BIN := .venv/bin
PYTHON ?= $(firstword $(foreach p,python3.11 python3.12 python3.13 python3.14 python3,$(shell command -v $(p) 2>/dev/null)))
PIN := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
       --no-emit-index-url --no-annotate --no-header
SUPPLY := .venv-supply/bin
# A file stays in one process: the embedded engine opens one directory at a time in each.
PARALLEL := -n 2 --dist loadfile
.PHONY: help setup run demo check test test-all test-faults sim test-capture debian bench bench-accuracy docs lock sbom audit
.DEFAULT_GOAL := help

help: ## Show the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

setup: .venv/.stamp ## Make .venv with everything, pinned and checked by hash

.venv/.stamp: requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Outrider needs Python 3.11 or newer")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo 'Installing what is pinned in requirements/dev.txt into .venv: some minutes and about 1.5 GB, once'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

run: setup ## Start `outrider serve` with the embedded store
	$(BIN)/outrider serve

demo: setup ## Watch a bad release of an invented agent being found out (ARGS="--fast")
	$(BIN)/outrider demo $(ARGS)

check: setup ## Lint, format, types, and whether the rendered docs are current
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m collector.commands.reference --check

test: setup ## The suite: hermetic, no network
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow and not corpora and not capture and not faults and not sim"

test-all: setup ## The suite with its slow and heavy parts; Kafka's need Java and Maven, what needs another Debian package is skipped without it
	$(BIN)/python -m pytest $(PARALLEL) -m "not corpora and not capture and not sim"

test-faults: setup ## Kill the process, break its store, fill its disk and move its clock: some minutes
	$(BIN)/python -m pytest $(PARALLEL) tests/faults tests/e2e/test_kill.py tests/e2e/test_outage.py

sim: setup ## Simulate the alarms at length and beside others, and write docs/alarms.md: about 10 minutes
	$(BIN)/python -m pytest $(PARALLEL) tests/sim
	$(BIN)/python -m bench.detectors

test-capture: setup ## Play the recordings in OUTRIDER_CORPORA under real instrumentations, and write docs/capture.md
	$(BIN)/python -m tests.capture $(ARGS)
	$(BIN)/python -m pytest tests/capture -m capture

debian: ## Install the Debian packages for test-all: Prometheus, Alertmanager, Chromium, Java, Maven
	.ci/debian

bench: setup ## Measure beside Phoenix and MLflow and write docs/benchmarks.md: about 20 minutes
	$(BIN)/python -m bench

bench-accuracy: setup ## Measure the scorers on the labelled conversations in OUTRIDER_CORPORA and write docs/accuracy.md
	$(BIN)/python -m bench.accuracy

docs: setup ## Render the tables of the README and docs/ again from the code
	$(BIN)/python -m collector.commands.reference
	$(BIN)/outrider rules > deploy/prometheus/outrider.rules.yml

lock: setup ## Pin the newest dependencies again, with hashes
	$(PIN) pyproject.toml --upgrade --output-file requirements/runtime.txt
	$(PIN) pyproject.toml --upgrade --extra embedded --group dev --output-file requirements/dev.txt
	$(PIN) --upgrade --group supply --output-file requirements/supply.txt

sbom: .venv-supply/.stamp ## Write build/sbom.cdx.json: what a container holds, with hashes, as CycloneDX
	@mkdir -p build
	$(SUPPLY)/cyclonedx-py requirements requirements/runtime.txt --pyproject pyproject.toml --output-reproducible \
	  --output-file build/sbom.cdx.json

audit: .venv-supply/.stamp ## Ask for known vulnerabilities of what is pinned; fails when nobody can be asked
	@for file in requirements/*.txt; do echo $$file; \
	  $(SUPPLY)/pip-audit --strict --require-hashes --disable-pip --progress-spinner off -r $$file || exit 1; done

.venv-supply/.stamp: requirements/supply.txt
	@test -x $(SUPPLY)/python || $(PYTHON) -m venv .venv-supply
	$(SUPPLY)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/supply.txt
	@touch $@
