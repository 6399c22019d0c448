# Two commands do everything: `make lab` and `make test`.
#   make lab ARGS="--no-browser --port 8899"   passes ARGS on to JupyterLab
#   make PYTHON=python3.12 lab                 chooses the interpreter
# Indexes, proxies and caches of pip are configured the way pip is: by its own
# configuration file and PIP_* variables.

PYTHON ?= python3
ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --progress-bar on -c constraints.txt

.PHONY: lab test browser lessons bench soak lint docs clean help
.DEFAULT_GOAL := help

help:
	@echo "make lab     open the course in JupyterLab   (ARGS=\"--no-browser --port 8899\")"
	@echo "make test    run the tests"
	@echo "make browser run the tests that need Chromium"
	@echo "make lessons run the solutions of all lessons, and judge them"
	@echo "make bench   measure this machine and hetlab's own speed"
	@echo "make soak    run the long tests: fuzzing and floods"
	@echo "make lint    check the style of the code"
	@echo "make docs    build the documentation into build/docs"
	@echo "make clean   remove the environment and caches (never your work/)"

lab: $(VENV)/lab.stamp
	@$(BIN)/hetlab lab -- $(ARGS)

test: $(VENV)/test.stamp lint
	@$(BIN)/python -m pytest -n 2 -m "not soak and not browser and not lessons" $(ARGS)

browser: $(VENV)/test.stamp
	@$(BIN)/python -m pytest -n 2 --dist loadgroup -m "browser and not soak" $(ARGS)

lessons: $(VENV)/test.stamp
	@$(BIN)/python -m pytest -n 2 -m "lessons and not soak" $(ARGS)

bench: $(VENV)/lab.stamp
	@$(BIN)/hetlab bench $(ARGS)

soak: $(VENV)/test.stamp
	@$(BIN)/python -m pytest -m soak $(ARGS)

lint: $(VENV)/test.stamp
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet hetlab tests solutions/checks

docs: $(VENV)/test.stamp
	@$(BIN)/mkdocs build --strict --quiet -f docs/mkdocs.yml
	@echo "Open build/docs/index.html"

clean:
	rm -rf $(VENV) .hetlab .pytest_cache .ruff_cache .hypothesis build dist

$(VENV)/made.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "hetlab needs Python 3.11 or newer; $(PYTHON) is older or missing. Name another one: make PYTHON=python3.12 lab"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { \
	  echo "Python could not make an environment. On Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@touch $@

$(VENV)/lab.stamp: $(VENV)/made.stamp pyproject.toml constraints.txt
	@echo "Installing the course into $(VENV) (once, about 2.5 GB) ..."
	@$(PIP) -e ".[lab]"
	@touch $@

$(VENV)/test.stamp: $(VENV)/made.stamp pyproject.toml constraints.txt
	@echo "Installing the course and its tests into $(VENV) (once, about 2.9 GB) ..."
	@$(PIP) -e ".[test]"
	@touch $@ $(VENV)/lab.stamp
