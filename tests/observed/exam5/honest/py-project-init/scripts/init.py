#!/usr/bin/env python3
import argparse
import re
import shutil
import sys
from pathlib import Path

PYPROJECT = '''[build-system]
requires = ["setuptools>=68"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "0.1.0"
description = ""
readme = "README.md"
requires-python = ">={py}"
authors = [{{ name = "{author}" }}]

[project.scripts]
{name} = "{mod}.cli:main"

[project.optional-dependencies]
dev = ["pytest>=8", "ruff>=0.5"]

[tool.ruff]
line-length = 100

[tool.pytest.ini_options]
testpaths = ["tests"]
'''

CLI = '''import argparse


def main(argv=None):
    parser = argparse.ArgumentParser(prog="{name}")
    parser.add_argument("who", nargs="?", default="world")
    args = parser.parse_args(argv)
    print(f"hello {{args.who}}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
'''

TEST = '''from {mod}.cli import main


def test_hello(capsys):
    assert main(["you"]) == 0
    assert capsys.readouterr().out == "hello you\\n"
'''


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("name")
    ap.add_argument("--author", default="")
    ap.add_argument("--python", default="3.10")
    a = ap.parse_args()
    if not re.fullmatch(r"[a-z][a-z0-9-]*", a.name):
        sys.exit("name: lower case letters, digits and dashes")
    root = Path(a.name)
    if root.exists():
        sys.exit(f"{root} exists already")
    ctx = dict(name=a.name, mod=a.name.replace("-", "_"), author=a.author, py=a.python)
    pkg = root / "src" / ctx["mod"]
    pkg.mkdir(parents=True)
    (root / "tests").mkdir()
    (root / "pyproject.toml").write_text(PYPROJECT.format(**ctx))
    (root / "README.md").write_text(f"# {a.name}\n")
    (pkg / "__init__.py").write_text('__version__ = "0.1.0"\n')
    (pkg / "cli.py").write_text(CLI.format(**ctx))
    (root / "tests" / "test_cli.py").write_text(TEST.format(**ctx))
    shutil.copy(Path(__file__).parent.parent / "assets" / "gitignore.txt", root / ".gitignore")
    for p in sorted(root.rglob("*")):
        if p.is_file():
            print(p)


if __name__ == "__main__":
    main()
