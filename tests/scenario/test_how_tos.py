"""The how-tos: what can be pasted from a page into the demo prints there what the page shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from doors.command import PATIENCE, environment

import metier
from metier.cli.commands import tour

PAGES = Path(__file__).resolve().parents[2] / "docs/how-to"
INTRO = re.compile(
    r"^These examples use the demo: `metier tour --keep demo --yes && cd demo(.*)`\.$", re.MULTILINE
)
SETTINGS = re.compile(r"^```toml\n# ~/(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BETWEEN = "@@@@"
CHANGING = (
    (re.compile(r"\b[0-9a-f]{8,64}\b"), "HASH"),
    (re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?"), "DATE"),
    (
        re.compile(r"\bscore \d+ of 100|\(score \d+\)|\d+\.\d+|\d+%|[\d,.]+ (bytes|KiB|tokens)\b"),
        "N",
    ),
    (re.compile(r"\bby \w+: "), "by WHO: "),
    (re.compile(r" +"), " "),
)
"""What differs from one machine, day or version to the next: hashes, dates, sizes, scores, columns."""
MODULES = {
    "find-a-skill": "onnxruntime",
    "publish": "cryptography",
    "sign-skills": "cryptography",
    "write-a-rule": "re2",
}
"""What a page says must be installed."""
IN_A_SANDBOX = {"run-a-script", "watch-a-skill-act"}


class Shown(NamedTuple):
    """A command of a page, and the lines that the page shows below it."""

    command: str
    lines: list[str]


def text_of_page(page: str) -> str:
    return (PAGES / f"{page}.md").read_text(encoding="utf-8")


def pages() -> list[str]:
    """Name the pages whose examples use the demo."""
    names = sorted(page.stem for page in PAGES.glob("*.md"))
    return [name for name in names if INTRO.search(text_of_page(name))]


def examples(page: str) -> list[Shown]:
    """Give the commands of a page in their order."""
    found: list[Shown] = []
    for block in CONSOLE.findall(text_of_page(page)):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append(Shown(line[2:], []))
            else:
                found[-1].lines.append(line)
    return found


def pasted(page: str, home: Path) -> list[tuple[str, int]]:
    """Paste a page's commands into the demo; give what each prints, and its exit code."""
    tour.keep_demo(str(home / "demo"), tour.find_examples(str(Path(metier.__file__).parent)))
    for name, text in SETTINGS.findall(text_of_page(page)):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    before = INTRO.findall(text_of_page(page))[0].removeprefix(" && ")
    commands = "".join(f"{one.command}\necho {BETWEEN}$?\n" for one in examples(page))
    script = f'metier() {{ "{sys.executable}" -m metier "$@"; }}\n{before} >/dev/null\n{commands}'
    done = subprocess.run(
        ["bash", "-c", script],
        env=environment({"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin"}),
        cwd=home / "demo",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=4 * PATIENCE,
        check=False,
    )
    text = done.stdout.decode().replace(str(home), "/home/anna")
    parts = re.split(rf"{BETWEEN}(\d+)\n", text)
    return [(said, int(code)) for said, code in zip(parts[::2], parts[1::2], strict=False)]


def plain(line: str) -> str:
    """Write a line without what changes."""
    for pattern, name in CHANGING:
        line = pattern.sub(name, line)
    return line.strip()


def missing(shown: list[str], said: str) -> list[str]:
    """Find the shown lines that were not printed; `…` stands for anything."""
    printed = [plain(line) for line in said.splitlines()]
    lines = [line for line in map(plain, shown) if line not in {"", "…"}]
    wanted = [(line, re.compile(re.escape(line).replace("…", ".*"))) for line in lines]
    return [line for line, form in wanted if not any(map(form.fullmatch, printed))]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.bubblewrap] if page in IN_A_SANDBOX else [])
        for page in pages()
    ],
)
def test_what_a_how_to_shows_is_what_the_demo_prints(page: str, tmp_path: Path) -> None:
    pytest.importorskip(MODULES.get(page, "metier"))
    shown = examples(page)

    said = pasted(page, tmp_path)

    assert len(shown) == len(said)
    assert [] == [
        (one.command, lines, text)
        for one, (text, _code) in zip(shown, said, strict=True)
        if (lines := missing(one.lines, text))
    ]
    assert [] == [
        (one.command, text)
        for one, (text, code) in zip(shown, said, strict=True)
        if code > 1 and not any(line.startswith("error: ") for line in one.lines)
    ]


def test_the_demo_is_used_by_the_pages_that_would_otherwise_need_folders_of_yours() -> None:
    assert {"install-and-update", "vet-a-skill", "use-plugins", "publish"} <= set(pages())
