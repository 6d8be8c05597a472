# The commands of the README set up .venv; these use it.
BIN := .venv/bin
SECONDS := 60
WEIGHTS := weights/src/metier_weights
SCRATCH := bench/.trees/reader

.PHONY: test lint types docs web-pictures site fuzz bench coverage release constraints weights reader limits

test:
	$(BIN)/python -m pytest -q -n 4

lint:
	$(BIN)/ruff check
	$(BIN)/ruff format --check src tests bench scripts
	$(BIN)/lint-imports --no-logo

types:
	$(BIN)/mypy

docs:
	PYTHONPATH=src $(BIN)/python scripts/reference.py
	PYTHONPATH=src $(BIN)/python scripts/pictures.py
	PYTHONPATH=src $(BIN)/python scripts/check_docs.py

# Pictures of every page in build/web, and those that the documentation shows. Needs chromium.
web-pictures:
	PYTHONPATH=src $(BIN)/python scripts/web_pictures.py --docs

# The documentation as a site with search, in build/site.
site:
	$(BIN)/mkdocs build --strict

fuzz:
	$(BIN)/python tests/fuzz/fuzz_parser.py --seconds $(SECONDS)

bench:
	$(BIN)/python bench/library.py
	$(BIN)/python bench/disclose.py

coverage:
	$(BIN)/coverage run -m pytest -q
	$(BIN)/coverage combine -q
	$(BIN)/coverage report

# Build both packages into dist, check them, and run every test of the doors against the installed wheel.
release:
	$(BIN)/pip install -q -c constraints.txt ./weights '.[release]'
	$(BIN)/python scripts/check_release.py --doors all --keep dist

# Pin anew what a fresh install brings.
constraints:
	rm -rf .venv-pins
	python3 -m venv .venv-pins
	.venv-pins/bin/pip install -q ./weights '.[dev,release]'
	{ head -n 1 constraints.txt; .venv-pins/bin/pip freeze --exclude metier --exclude metier-weights; } > constraints.new
	mv constraints.new constraints.txt
	rm -rf .venv-pins

# What the scanner has learnt, made anew. bench/README.md says from what; POOL, CORPUS, MAKERS and WRITTEN name it.
weights:
	$(BIN)/python bench/learn.py --pool $(POOL) --corpus $(CORPUS) --makers $(MAKERS)

# Needs torch, onnx and a GPU, for some minutes. FROM=reader TRAIN="--steps 350 --seeds 4 --masked 0.06 --keep 0.15" trains the reader that there is.
reader: FROM := model
reader:
	mkdir -p $(SCRATCH)
	$(BIN)/python bench/embed_export.py unpack $(WEIGHTS)/$(FROM).onnx $(SCRATCH)/base.npz
	$(BIN)/python bench/reader_data.py --pool $(POOL) --corpus $(CORPUS) --makers $(MAKERS) --written $(WRITTEN) --out $(SCRATCH)/windows.npz
	$(BIN)/python bench/reader_train.py --base $(SCRATCH)/base.npz --windows $(SCRATCH)/windows.npz --out $(SCRATCH) $(TRAIN)
	$(BIN)/python bench/embed_export.py reader $(WEIGHTS) $(SCRATCH)

limits:
	$(BIN)/python bench/reader_limits.py --pool $(POOL) --written $(WRITTEN) --weights $(WEIGHTS)
