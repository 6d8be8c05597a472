# The commands of the README set up .venv; these use it.
BIN := .venv/bin
SECONDS := 60

.PHONY: test lint types docs fuzz bench coverage constraints

test:
	$(BIN)/python -m pytest -q -n 2

lint:
	$(BIN)/ruff check
	$(BIN)/lint-imports --no-logo

types:
	$(BIN)/mypy

docs:
	PYTHONPATH=src $(BIN)/python scripts/reference.py
	PYTHONPATH=src $(BIN)/python scripts/pictures.py
	PYTHONPATH=src $(BIN)/python scripts/check_docs.py

fuzz:
	$(BIN)/python tests/fuzz/fuzz_parser.py --seconds $(SECONDS)

bench:
	$(BIN)/python bench/library.py
	$(BIN)/python bench/disclose.py

coverage:
	$(BIN)/coverage run -m pytest -q
	$(BIN)/coverage combine -q
	$(BIN)/coverage report

# Pin anew what a fresh install brings.
constraints:
	rm -rf .venv-pins
	python3 -m venv .venv-pins
	.venv-pins/bin/pip install -q '.[dev]'
	{ head -n 1 constraints.txt; .venv-pins/bin/pip freeze --exclude metier; } > constraints.new
	mv constraints.new constraints.txt
	rm -rf .venv-pins
