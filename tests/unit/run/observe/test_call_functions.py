"""What a script defines is called, with arguments that fit their names, past what would stop it."""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from metier.run.io.decoy_table import load_callers
from metier.run.observe.outline import FunctionOutline

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
import json
calls = []
def read(path): print("read", open(path).read().strip())
def add(count, data, name="x"): print("add", count, data, name)
def fails(text): raise SystemExit("no")
def _private(): print("private")
class Client:
    def __init__(self, url): self.url = url
    def send(self, message): print("send", self.url, message)
"""


def called(folder: Path, source: str, name: str = "tool.py") -> list[str]:
    """Give the lines that a file prints whose functions are called."""
    file, sample = folder / name, folder / "sample.txt"
    file.write_text(source)
    sample.write_text("words\n")
    reader = {"py": sys.executable, "sh": "bash"}.get(name.rpartition(".")[2], "node")
    option = "-e" if reader == "node" else "-c"
    caller = load_callers()["python3" if reader == sys.executable else reader]

    done = subprocess.run(
        [reader, option, caller, str(file), str(sample)],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
        stdin=subprocess.DEVNULL,
    )

    assert {file, sample} == set(folder.iterdir())
    return [line.replace(str(sample), "SAMPLE") for line in done.stdout.splitlines()]


def test_functions_and_methods_are_called_and_one_that_fails_stops_no_other(
    tmp_path: Path,
) -> None:
    assert [
        "private",
        "read words",
        "add 3 {'name': 'sample'} x",
        "send https://service.example.org/in sample",
    ] == called(tmp_path, SOURCE)


PYTHON = {
    "what the top of the file breaks off": (
        "import sys\nsys.exit(1)\ndef late(): print('late')\n",
        ["late"],
    ),
    "what a missing package breaks": (
        "import no_such_package\ndef plain(): print('plain')\n",
        ["plain"],
    ),
    "a result, where the file hands it on": (
        (
            "def collect(): return b'found'\ndef send(thing): print('send', thing)\n"
            "def main():\n    if False:\n        found = collect()\n        send(found)\n"
        ),
        ["send b'found'"],
    ),
    "no result, where the file hands nothing on": (
        "def collect(): return 'found'\ndef send(text): print('send', text)\n",
        ["send sample"],
    ),
    "a result, where functions stand in a table": (
        (
            "def collect(): return {'a': 1}\ndef send(payload): print('send', payload)\n"
            "STEPS = [collect, send]\n"
        ),
        ["send {'a': 1}"],
    ),
    "switches": (
        (
            "def go(args, once=False, dry_run=False):\n"
            "    print(args.once, args.dry_run, args.out_path, once, dry_run)\n"
        ),
        ["True False SAMPLE True False"],
    ),
    "a command line": (
        (
            "import argparse, sys\ndef main(argv=None):\n    p = argparse.ArgumentParser()\n"
            "    p.add_argument('file')\n    p.add_argument('--once', action='store_true')\n"
            "    p.add_argument('--count', type=int)\n    p.add_argument('--dry-run', action='store_true')\n"
            "    print(vars(p.parse_args(argv)), '--deep' in sys.argv, '--help' in sys.argv)\n"
        ),
        ["{'file': 'SAMPLE', 'once': True, 'count': 3, 'dry_run': False} True False"],
    ),
    "every command of a script": (
        (
            "import argparse\ndef main():\n    p = argparse.ArgumentParser()\n"
            "    s = p.add_subparsers(dest='cmd')\n    s.add_parser('one')\n"
            "    s.add_parser('two').add_argument('--url')\n    print(vars(p.parse_args()))\n"
        ),
        ["{'cmd': 'one'}", "{'cmd': 'two', 'url': 'https://service.example.org/in'}"],
    ),
    "pauses": (
        (
            "import asyncio, threading, time\n"
            "def slow():\n    at = time.time()\n    time.sleep(90)\n    print('slow', time.time() - at >= 90)\n"
            "async def wait():\n    await asyncio.sleep(3600)\n    print('wait')\n"
            "def later():\n    threading.Timer(3600, print, ['timer']).start()\n"
        ),
        ["slow True", "wait", "timer"],
    ),
    "forks and ends": (
        (
            "import os\ndef gone():\n    if os.fork():\n        return\n    os.setsid()\n"
            "    print('child')\n    os._exit(0)\ndef rest(): print('rest')\n"
        ),
        ["child", "rest"],
    ),
    "endless ones": (
        (
            "def first():\n    while True:\n        try:\n            len('')\n        except Exception:\n"
            "            pass\ndef second(): print('second')\n"
        ),
        ["second"],
    ),
    "questions": (
        "import os, sys\ndef ask(): print(input('sure? '), sys.stdout.isatty(), os.isatty(0))\n",
        ["y True True"],
    ),
    "generators": (
        (
            "import itertools\ndef parts():\n    yield from itertools.count()\n"
            "def total(items): print(len(items))\ndef main():\n    if False:\n        total(parts())\n"
        ),
        ["100"],
    ),
    "an object of the file's own": (
        (
            "class Box:\n    def __init__(self, path): self.path = path\n"
            "def show(box): print(box.path)\n"
        ),
        ["SAMPLE"],
    ),
    "what is asked of an argument": (
        "def show(given): print(given.deep, given['once'])\ndef stem(one): print(one.strip())\n",
        ["True True", "sample"],
    ),
    "the other answer": (
        "def is_real(): return False\ndef act():\n    print('act' if is_real() else 'rest')\n",
        ["rest", "act"],
    ),
    "decorators and classes of a missing package": (
        (
            "import click_not_here as click\nfrom not_here import Model\n@click.command()\n"
            "@click.option('--once')\ndef main(once): print('main', once)\n"
            "class Row(Model):\n    def show(self): print('show')\n"
        ),
        ["show", "main sample"],
    ),
    "what is done in the end": (
        "import atexit\ndef go(): atexit.register(print, 'end')\n",
        ["end"],
    ),
}


NODE = {
    "what the top of the file breaks off": (
        "import fs from 'node:fs';\nprocess.exit(1);\nfunction late() { console.log('late'); }\n",
        ["late"],
    ),
    "a script of the older kind": (
        (
            "const fs = require('fs');\nfunction size(path) { console.log(`${fs.readFileSync(path).length}`); }\n"
            "if (require.main === module) process.exit(2);\nmodule.exports = { size };\n"
        ),
        ["6"],
    ),
    "a result, where the file hands it on": (
        (
            "const collect = async () => 'found';\nfunction send(thing) { console.log('send', thing); }\n"
            "export async function main() {\n  if (main.never) {\n    const found = await collect();\n"
            "    send(found);\n  }\n}\n"
        ),
        ["send found"],
    ),
    "no result, where the file hands nothing on": (
        "const collect = () => 'found';\nfunction send(text) { console.log('send', text); }\n",
        ["send sample"],
    ),
    "switches": (
        "const go = ({ once, dryRun }) => console.log(`${once} ${dryRun} ${process.argv.includes('--up')}`);\n",
        ["true false true"],
    ),
    "pauses": (
        (
            "import { setTimeout as rest } from 'node:timers/promises';\n"
            "function timer() { setTimeout(() => console.log('timer'), 3600e3); }\n"
            "async function wait() { await rest(3600e3); console.log('wait'); }\n"
        ),
        ["timer", "wait"],
    ),
    "pauses of what it starts": (
        (
            "const { spawn } = require('child_process');\nfunction start() {\n"
            "  spawn(process.execPath, ['-e', 'setTimeout(() => console.log(7 * 6), 9e5)'], { stdio: 'inherit' });\n}\n"
        ),
        ["42"],
    ),
    "endless ones": (
        "function first() { for (;;) {} }\nfunction second() { console.log('second'); }\n",
        ["second"],
    ),
}
SHELL = {
    "what ends early": (
        "set -eu\nKEY=abc\nexit 1\nlate() { false; echo late $KEY; }\n",
        ["late abc"],
    ),
    "pauses and other ends": (
        "function slow {\n  sleep 3600\n  echo slow\n  exit 1\n}\nrest ()\n{\n  cat <<X\n}\n$1\nX\n}\n",
        ["}", "SAMPLE", "slow"],
    ),
    "endless ones": (
        "first() {\n  while :; do :; done\n}\nsecond() { echo second; }\nmain() { echo main; }\n",
        ["second", "main"],
    ),
}


@pytest.mark.node
@pytest.mark.parametrize("what", NODE)
def test_node_goes_on_past_what_would_stop_it(what: str, tmp_path: Path) -> None:
    source, expected = NODE[what]

    assert expected == called(tmp_path, source, "tool.mjs" if "import " in source else "tool.js")


@pytest.mark.parametrize("what", SHELL)
def test_a_shell_goes_on_past_what_would_stop_it(what: str, tmp_path: Path) -> None:
    source, expected = SHELL[what]

    assert expected == called(tmp_path, source, "tool.sh")


@pytest.mark.parametrize("what", PYTHON)
def test_python_goes_on_past_what_would_stop_it(what: str, tmp_path: Path) -> None:
    source, expected = PYTHON[what]

    assert expected == called(tmp_path, source)


def test_functions_that_all_call_each_other_are_put_in_order_in_time() -> None:
    names = [f"f{number}" for number in range(40)]
    calls = "; ".join(f"{name}()" for name in names)
    tree = ast.parse("".join(f"def {name}():\n    {calls}\n" for name in names) + "def g(): f0()\n")

    outline = FunctionOutline(tree, "sample")

    assert outline.depth("f0") <= outline.depth("g")
