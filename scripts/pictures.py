"""Draws the pictures of the README from what the commands really print; `--check` fails when they differ.

The demo is built in a temporary folder from examples/skills; its paths are shown as `~` and `/project`.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from html import escape
from pathlib import Path
from typing import NamedTuple

from metier.cli.stage import build

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "img"
EXAMPLES = ROOT / "examples" / "skills"
COLUMNS = 112
WIDE = 1000
"""The commands run on a terminal so wide that nothing is cut; the pictures are cut once the paths are short."""

FONT = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
CELL, LINE, SIZE = 8.0, 19, 13
INK = {
    "": "#d6deeb", "1": "#ffffff", "2": "#7f8ea3", "31": "#ff7b72", "32": "#7ee787", "33": "#f2cc60", "34": "#79c0ff",
    "36": "#76e3ea",
}  # fmt: skip
LIGHTS = ("#ff5f57", "#febc2e", "#28c840")

STAGES = (
    ("find", "discover/", "roots → skills", "every agent's folders,", "a bounded walk"),
    ("read", "standard/", "bytes → document", "diagnostics with", "line and column"),
    ("resolve", "resolve/", "copies → winner", "the asking agent's", "own precedence"),
    ("remember", "catalogue/", "stats → snapshot", "one changed file,", "one file read"),
    ("show", "disclose/", "card → body → file", "each level with", "its token cost"),
)


class Run(NamedTuple):
    """A stretch of text in one colour."""

    text: str
    style: str


def main() -> int:
    """Draw every picture, or compare every picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when a picture is out of date")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory(prefix="metier-") as folder:
        demo = Demo(Path(folder).resolve())
        pictures = {
            "pipeline.svg": pipeline(),
            "list.svg": terminal("metier list", demo.output("list")),
            "why.svg": terminal("metier why release-notes", demo.output("why", "release-notes")),
        }
    changed = [name for name, text in pictures.items() if not _same(IMAGES / name, text)]
    if check:
        for name in changed:
            print(f"docs/img/{name} is out of date: run 'make docs'", file=sys.stderr)
        return 1 if changed else 0
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name, text in pictures.items():
        (IMAGES / name).write_text(text, encoding="utf-8")
    print(f"{len(pictures)} pictures, {len(changed)} changed")
    return 0


class Demo:
    """A home and a project that hold the bundled examples, and nothing of this machine."""

    def __init__(self, folder: Path) -> None:
        """Lay the examples out where agents look, as the tour does."""
        self.folder, self.home, self.project = folder, folder / "home", folder / "project"
        build(str(folder), str(EXAMPLES))

    def output(self, *arguments: str) -> str:
        """Run a command on a terminal of its own and give what it prints, with paths as a person would write them."""
        keep = {"PATH": os.defpath, "TERM": "xterm", "LANG": "C.UTF-8", "PYTHONPATH": os.pathsep.join(sys.path)}
        env = {**keep, "HOME": str(self.home), "METIER_HOME": str(self.folder / "metier-home")}
        text = on_a_terminal([sys.executable, "-m", "metier", *arguments], env, self.project)
        return text.replace(str(self.home), "~").replace(str(self.project), "/project")


def on_a_terminal(command: list[str], env: dict[str, str], folder: Path) -> str:
    """Run a command with a pseudo-terminal as its output, so that it prints as it does for a person."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDE, 0, 0))
    nothing, both = subprocess.DEVNULL, subprocess.STDOUT
    with subprocess.Popen(command, env=env, cwd=folder, stdin=nothing, stdout=theirs, stderr=both) as process:
        os.close(theirs)
        read = b""
        while chunk := _chunk(ours):
            read += chunk
    os.close(ours)
    if process.returncode:
        message = f"{' '.join(command)} ended with {process.returncode}:\n{read.decode()}"
        raise SystemExit(message)
    return read.decode().replace("\r\n", "\n")


def _chunk(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # Linux says so when the other end is closed
        return b""


def terminal(command: str, text: str) -> str:
    """Draw a terminal window with a command and its output."""
    lines = [[Run("$ ", "2"), Run(command, "1")], [], *(piece for line in text.rstrip("\n").split("\n") for piece in _folded(line))]
    width, height = COLUMNS * CELL + 40, len(lines) * LINE + 62
    rows = [f'<text x="20" y="{56 + at * LINE}">{_spans(line)}</text>' for at, line in enumerate(lines) if line]
    dots = "".join(f'<circle cx="{22 + 18 * at}" cy="19" r="5.5" fill="{ink}"/>' for at, ink in enumerate(LIGHTS))
    return _svg(width, height, command, [
        f'<rect width="{width:g}" height="{height}" rx="8" fill="#0d1520"/>', dots,
        f'<g font-family="{FONT}" font-size="{SIZE}" fill="{INK[""]}">', *rows, "</g>",
    ])  # fmt: skip


def _folded(line: str) -> list[list[Run]]:
    """Cut a table's row as a terminal of this width would see it; fold any other line, indented."""
    runs = [Run(piece, style) for style, piece in _styled(line) if piece]
    if sum(len(run.text) for run in runs) <= COLUMNS:
        return [runs]
    plain = "".join(run.text for run in runs)
    if re.search(r"\S {2,}\S+ +\S+ +\d+ ", plain):
        return [[*_cut(runs, COLUMNS - 1), Run("…", "")]]
    indent = len(plain) - len(plain.lstrip()) + 2
    at = plain.rfind(" ", indent, COLUMNS)
    at = at if at > 0 else COLUMNS
    rest = " " * indent + plain[at:].strip()
    return [_cut(runs, at), *_folded(rest)]


def _styled(line: str) -> list[tuple[str, str]]:
    pieces = re.split(r"\x1b\[([0-9;]*)m", line)
    styles = ["", *("" if code in {"", "0"} else code for code in pieces[1::2])]
    return list(zip(styles, pieces[0::2], strict=True))


def _cut(runs: list[Run], length: int) -> list[Run]:
    kept, room = [], length
    for run in runs:
        kept.append(Run(run.text[:room], run.style))
        room -= len(kept[-1].text)
    return [run for run in kept if run.text]


def _spans(line: list[Run]) -> str:
    """Place every run by its column: fonts differ, columns must not."""
    out, column = [], 0
    for run in line:
        bold = ' font-weight="bold"' if run.style == "1" else ""
        wide = f' textLength="{len(run.text) * CELL:g}" lengthAdjust="spacingAndGlyphs"' if run.text.strip() else ""
        out.append(f'<tspan x="{20 + column * CELL:g}"{wide} fill="{INK[run.style]}"{bold}>{_solid(run.text)}</tspan>')
        column += len(run.text)
    return "".join(out)


def pipeline() -> str:
    """Draw the stages from left to right, with what goes in and what comes out."""
    box, gap, top = 164, 36, 58
    width = len(STAGES) * box + (len(STAGES) - 1) * gap + 40
    parts = [
        '<rect width="100%" height="100%" rx="8" fill="#ffffff"/>', f'<g font-family="{FONT}" text-anchor="middle">',
        _words(20, 32, 13, "#57606a", "roots: where agents keep skills", 'text-anchor="start"'),
        _words(width - 20, 32, 13, "#57606a", "you, your scripts, your program", 'text-anchor="end"'),
    ]  # fmt: skip
    for at, (name, folder, change, *what) in enumerate(STAGES):
        left = 20 + at * (box + gap)
        middle = left + box / 2
        parts += [
            f'<rect x="{left}" y="{top}" width="{box}" height="116" rx="8" fill="#f0f6ff" stroke="#4078c0" stroke-width="1.5"/>',
            _words(middle, top + 26, 16, "#1f3a5f", name, 'font-weight="bold"'),
            _words(middle, top + 46, 12, "#4078c0", folder),
            _words(middle, top + 68, 12, "#24292f", change),
            *(_words(middle, top + 88 + 16 * row, 11, "#57606a", text) for row, text in enumerate(what)),
        ]
        if at:
            line = f"M{left - gap + 4} {top + 58}H{left - 8}M{left - 14} {top + 52}l7 6l-7 6"
            parts.append(f'<path d="{line}" fill="none" stroke="#4078c0" stroke-width="2"/>')
    promise = "a broken or hidden skill travels all the way: a row with a reason, never an exception, never absent"
    parts += [_words(width / 2, 206, 12, "#57606a", promise), "</g>"]
    return _svg(width, 226, "The pipeline of metier: find, read, resolve, remember, show", parts)


def _words(x: float, y: float, size: int, ink: str, text: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{ink}"{" " + more if more else ""}>{escape(text)}</text>'


def _solid(text: str) -> str:
    """Keep runs of spaces: XML would fold them into one."""
    return escape(text, quote=False).replace(" ", "\N{NO-BREAK SPACE}")


def _svg(width: float, height: float, title: str, parts: list[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img">'
    return "\n".join([head, f"<title>{escape(title)}</title>", *parts, "</svg>", ""])


def _same(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
