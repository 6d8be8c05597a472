"""What a file only defines is called, with arguments that fit their names."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from metier.run.io.decoy_table import load_caller

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


def test_functions_and_methods_are_called_and_one_that_fails_stops_no_other(
    tmp_path: Path,
) -> None:
    file, sample = tmp_path / "tool.py", tmp_path / "sample.txt"
    file.write_text(SOURCE)
    sample.write_text("words\n")

    done = subprocess.run(
        [sys.executable, "-c", load_caller(), str(file), str(sample)],
        capture_output=True,
        text=True,
        check=True,
    )

    assert [
        "read words",
        "add 3 {'name': 'sample'} x",
        "send https://service.example.org/in sample",
    ] == done.stdout.splitlines()
