"""Draws the pictures of the README and the docs; `--check` fails when one is out of date.

The terminal sessions are real: a demo is built in a temporary folder from examples/skills, and each
picture shows what the commands print there, on a terminal of 88 columns. Each picture comes in two
files, light and dark.
"""

from __future__ import annotations

import argparse
import datetime as dt
import fcntl
import json
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
import textwrap
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.cli.commands.tour import lay_out_examples
from metier.cli.terminal import cells
from metier.standard.plain_text import estimate

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "img"
EXAMPLES = ROOT / "examples" / "skills"
COLUMNS = 88
DAY = "2026-01-05"
"""The day that pictures show in the place of today."""

FONT = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
CELL, LINE, SIZE, MARGIN, TOP = 8.0, 19, 13, 20, 56
LIGHTS = ("#ff5f57", "#febc2e", "#28c840")


class Theme(NamedTuple):
    """The colours of a picture: its grounds, and the ink for each colour that a command uses."""

    suffix: str
    ground: str
    edge: str
    box: str
    box_edge: str
    ink: dict[str, str]


THEMES = (
    Theme("", "#ffffff", "#d0d7de", "#f0f6ff", "#4078c0", {
        "": "#1f2328", "1": "#000000", "2": "#59636e", "31": "#cf222e", "32": "#116329",
        "33": "#8a5a00", "34": "#0550ae", "35": "#8250df", "36": "#1b6b75",
    }),
    Theme("-dark", "#0d1117", "#3d444d", "#151f2e", "#4493f8", {
        "": "#d1d7e0", "1": "#ffffff", "2": "#9198a1", "31": "#ff7b72", "32": "#7ee787",
        "33": "#f2cc60", "34": "#79c0ff", "35": "#d2a8ff", "36": "#76e3ea",
    }),
)  # fmt: skip


class Stretch(NamedTuple):
    """Some text of one line in one style, at a column."""

    column: int
    text: str
    style: str


class Step(NamedTuple):
    """A stage as a user knows it: a word, its commands, and what it means for you."""

    name: str
    command: str
    lines: tuple[str, str]


STEPS = (
    Step("get", "add, search", ("git, a folder,", "a registry")),
    Step("check", "check, scan", ("is it valid?", "is it safe?")),
    Step("trust", "trust, review", ("you decide,", "per version")),
    Step("find", "list, find, why", ("which one fits,", "which copy wins")),
    Step("tell", "prompt, mcp", ("a catalogue", "in your budget")),
    Step("run", "run", ("in a sandbox,", "as you allow")),
    Step("update", "update, diff", ("merged with", "your edits")),
)


def main() -> int:
    """Draw every picture, or compare every picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit 1 when a picture is out of date"
    )
    check = parser.parse_args().check
    pictures = draw_all()
    changed = [name for name, text in pictures.items() if not _same(IMAGES / name, text)]
    stale = [path for path in IMAGES.glob("*.svg") if path.name not in pictures]
    if check:
        for name in (*changed, *(path.name for path in stale)):
            print(f"docs/img/{name} is out of date: run 'make docs'", file=sys.stderr)
        return 1 if changed or stale else 0
    IMAGES.mkdir(parents=True, exist_ok=True)
    for path in stale:
        path.unlink()
    for name, text in pictures.items():
        (IMAGES / name).write_text(text, encoding="utf-8")
    print(f"{len(pictures)} pictures, {len(changed)} changed")
    return 0


def draw_all() -> dict[str, str]:
    """Draw each picture in each theme, by the name of its file."""
    with ThreadPoolExecutor(2) as pool:
        sessions = list(pool.map(lambda one: (one[0], one[1], one[2]()), SESSIONS))
    drawn = {
        f"{name}{theme.suffix}.svg": draw_terminal(title, lines, theme)
        for name, title, lines in sessions
        for theme in THEMES
    }
    return drawn | {f"pipeline{theme.suffix}.svg": draw_pipeline(theme) for theme in THEMES}


# --- the demo


class Demo:
    """A home and a project that hold the bundled examples, and nothing of this machine."""

    def __init__(self, folder: Path) -> None:
        """Copy the examples to where agents look, as the tour does."""
        self.folder, self.home, self.project = folder, folder / "home", folder / "project"
        lay_out_examples(str(folder), str(EXAMPLES))
        # Words alone, and rules alone: a picture must not depend on what is installed here.
        (folder / "metier.toml").write_text('[route]\nvectors = "off"\n[scan]\nmodel = "off"\n')
        self.env = {
            "PATH": os.defpath,
            "TERM": "xterm",
            "LANG": "C.UTF-8",
            "USER": "ada",
            "LOGNAME": "ada",
            "PYTHONPATH": os.pathsep.join(sys.path),
            "HOME": str(self.home),
            "METIER_HOME": str(self.folder / "metier-home"),
            "METIER_CONFIG": str(self.folder / "metier.toml"),
            "METIER_BACKGROUND": "off",
        }

    def accept_all(self) -> None:
        """Trust the project and scan what is there, as its owner has done long ago."""
        self.output("metier trust project . --yes")
        ours = (self.project / ".agents/skills", self.home / ".agents/skills")
        folders = (*ours, self.home / ".claude/plugins")
        self.output(f"metier scan {shlex.join(map(str, folders))}")

    def session(self, *commands: str) -> list[str]:
        """Run commands on a terminal; give prompts and answers as lines."""
        lines: list[str] = []
        for command in commands:
            lines += [*([""] if lines else []), f"\x1b[2m$\x1b[0m \x1b[1m{command}\x1b[0m"]
            lines += self.output(command).rstrip("\n").split("\n")
        return lines

    def output(self, command: str) -> str:
        """Run one command on a terminal of its own and give what it prints."""
        words = shlex.split(command)
        if words[0] == "metier":
            words = [sys.executable, "-m", *words]
        return self.shown(on_a_terminal(words, self.env, self.project))

    def shown(self, text: str) -> str:
        """Take out what differs from one machine and day to the next."""
        short = text.replace(str(self.home), "~").replace(f"{self.project}/", "")
        return short.replace(dt.datetime.now(dt.UTC).date().isoformat(), DAY)


@contextmanager
def temporary_demo() -> Iterator[Demo]:
    """Build a demo that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="metier-") as folder:
        yield Demo(Path(folder).resolve())


def on_a_terminal(command: list[str], env: dict[str, str], folder: Path) -> str:
    """Run a command with a pseudo-terminal as its output, so that it prints as it does for a
    person.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 200, COLUMNS, 0, 0))
    nothing, both = subprocess.DEVNULL, subprocess.STDOUT
    with subprocess.Popen(
        command, env=env, cwd=folder, stdin=nothing, stdout=theirs, stderr=both
    ) as process:
        os.close(theirs)
        read = b""
        while chunk := _chunk(ours):
            read += chunk
    os.close(ours)
    if process.returncode not in {0, 1}:  # 1 is a refusal, which is an answer
        message = f"{' '.join(command)} ended with {process.returncode}:\n{read.decode()}"
        raise SystemExit(message)
    text = read.decode().replace("\r\n", "\n")
    return re.sub(r"[^\n]*\r\x1b\[K", "", text)  # a progress bar that was wiped away again


def _chunk(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # Linux says so when the other end is closed
        return b""


# --- the sessions


def record_list() -> list[str]:
    """Show everything there is, and why one copy of a name wins."""
    with temporary_demo() as one:
        one.accept_all()
        return one.session("metier list", "metier why release-notes")


def record_refusal() -> list[str]:
    """Try to install a skill that steals a key."""
    with temporary_demo() as one:
        return one.session("metier add ./incoming")


def record_merge() -> list[str]:
    """Update a skill of which you have changed one line and its author another."""
    skill = (
        "---\nname: standup\ndescription: Writes a stand-up note from {}. Use in the morning.\n"
        "---\n\n# Stand-up\n\n1. Read the commits since the last working day.\n"
        "2. Say what is done, what is next, and what is in the way.\n"
    )
    with temporary_demo() as one:
        source = one.project / "source" / "standup" / "SKILL.md"
        source.parent.mkdir(parents=True)
        source.write_text(skill.format("yesterday's commits"))
        one.output("metier trust project . --yes")
        one.output("metier add ./source --yes")
        with (one.project / ".agents/skills/standup/SKILL.md").open("a") as ours:
            ours.write("3. Keep it under ten lines.\n")
        source.write_text(skill.format("commits and open reviews"))
        return one.session(
            "metier diff standup",
            "metier update --yes",
            "grep -E 'description|ten lines' .agents/skills/standup/SKILL.md",
        )


def record_agent() -> list[str]:
    """Let an agent find and load a skill over MCP."""
    with temporary_demo() as one:
        one.accept_all()
        with McpClient(one) as client:
            found = client.call("search_skills", query="what does sales.csv say?", limit=2)
            loaded = client.call("load_skill", name="csv-report")
            lines = ["\x1b[2m$\x1b[0m \x1b[1mmetier mcp\x1b[0m", ""]
            lines += _call("search_skills", {"query": "what does sales.csv say?", "limit": 2})
            lines += [line for hit in found["hits"] for line in _hit(hit)]
            lines += ["", *_call("load_skill", {"name": "csv-report"})]
            content = one.shown(loaded["content"]).strip()
            text = content.split("\n")
            lines += [f"  {piece}" for line in text for piece in _wrapped(line, COLUMNS - 2)]
            # Counted on what is shown: the answer's own count grows with the folder of this demo.
            tokens = estimate(content)
            lines += [f"\x1b[2m  {tokens} tokens, trust: {loaded['trust']}\x1b[0m"]
    return lines


def _call(tool: str, arguments: dict[str, str | int]) -> list[str]:
    told = json.dumps(arguments, ensure_ascii=False)
    return [
        f"\x1b[35magent\x1b[0m calls \x1b[1m{tool}\x1b[0m {told}",
        "\x1b[32mmetier\x1b[0m answers",
    ]


def _hit(hit: dict[str, str]) -> list[str]:
    first, *rest = textwrap.wrap(hit["description"], COLUMNS - 4 - len(hit["name"]))
    indent = " " * (len(hit["name"]) + 4)
    return [f"  \x1b[36m{hit['name']}\x1b[0m  {first}", *(f"{indent}{line}" for line in rest)]


def _wrapped(text: str, columns: int) -> list[str]:
    return textwrap.wrap(text, columns, subsequent_indent="   ") or [""]


class McpClient:
    """An agent's side of `metier mcp`: JSON-RPC, a line for each message."""

    def __init__(self, one: Demo) -> None:
        """Start the server as an agent would."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "metier", "mcp"],
            env=one.env,
            cwd=one.project,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.asked = 0

    def __enter__(self) -> McpClient:
        """Shake hands."""
        about = {"name": "pictures", "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
        self.ask("initialize", hello)
        self.send({"method": "notifications/initialized"})
        return self

    def __exit__(self, *_error: object) -> None:
        """Hang up."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=20)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def call(self, tool: str, **arguments: str | int) -> dict[str, Any]:
        """Call a tool and give its answer."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if result["isError"]:
            raise SystemExit(f"{tool}: {result['content']}")
        return dict(result["structuredContent"])

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and wait for the answer to it."""
        self.asked += 1
        self.send({"id": self.asked, "method": method, "params": params})
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.asked:
                return dict(answer["result"])
        raise SystemExit(f"metier mcp ended before it answered {method}")

    def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()


SESSIONS = (
    ("session", "metier lists skills and says why one copy wins", record_list),
    ("refusal", "metier refuses a skill that sends a key away", record_refusal),
    ("merge", "metier merges an update with local edits", record_merge),
    ("agent", "an agent finds and loads a skill over MCP", record_agent),
)


# --- drawing


def draw_terminal(title: str, lines: list[str], theme: Theme) -> str:
    """Draw a terminal window with a session in it."""
    width, height = COLUMNS * CELL + 2 * MARGIN, len(lines) * LINE + 62
    dots = (
        f'<circle cx="{22 + 18 * at}" cy="19" r="5.5" fill="{ink}"/>'
        for at, ink in enumerate(LIGHTS)
    )
    rows = (_row(line, TOP + at * LINE, theme) for at, line in enumerate(lines) if line)
    parts = [
        _frame(width, height, theme),
        "".join(dots),
        f'<g font-family="{FONT}" font-size="{SIZE}" fill="{theme.ink[""]}">',
        *rows,
        "</g>",
    ]
    return _svg(width, height, title, parts)


def _row(line: str, y: float, theme: Theme) -> str:
    """Draw a line. Each stretch has its own place and length, so columns hold in any font and any
    renderer, also in one that knows no `textLength`.
    """
    return "".join(
        f'<text x="{MARGIN + one.column * CELL:g}" y="{y:g}" '
        f'textLength="{cells(one.text) * CELL:g}" lengthAdjust="spacingAndGlyphs"'
        f"{_look(one.style, theme)}>{escape(one.text, quote=False)}</text>"
        for one in _stretches(line)
    )


def _look(style: str, theme: Theme) -> str:
    codes = [code for code in style.split(";") if code]
    colour = next((code for code in codes if code not in {"", "1"}), "1" if "1" in codes else "")
    bold = ' font-weight="bold"' if "1" in codes else ""
    return (f' fill="{theme.ink[colour]}"' if colour else "") + bold


def _stretches(line: str) -> list[Stretch]:
    """Split a line where the style changes and where two spaces or more make a column."""
    found, column, style = [], 0, ""
    for at, piece in enumerate(re.split(r"\x1b\[([0-9;]*)m", line)):
        if at % 2:
            style = "" if piece in {"", "0"} else ";".join(filter(None, (style, piece)))
            continue
        for text in re.findall(r" +|\S+(?: \S+)*", piece):
            if text.strip():
                found.append(Stretch(column, text, style))
            column += cells(text)
    return found


def draw_pipeline(theme: Theme) -> str:
    """Draw the stages from left to right, and the way back from the last to the second."""
    box, gap, top, tall = 118, 18, 24, 104
    width = len(STEPS) * box + (len(STEPS) - 1) * gap + 2 * MARGIN
    ink = theme.ink
    parts = [_frame(width, 196, theme), f'<g font-family="{FONT}" text-anchor="middle">']
    for at, step in enumerate(STEPS):
        left = MARGIN + at * (box + gap)
        middle = left + box / 2
        parts += [
            (
                f'<rect x="{left}" y="{top}" width="{box}" height="{tall}" rx="8" '
                f'fill="{theme.box}" stroke="{theme.box_edge}" stroke-width="1.5"/>'
            ),
            _words(middle, top + 27, 16, ink["1"], step.name, 'font-weight="bold"'),
            _words(middle, top + 48, 11, ink["34"], step.command),
            *(
                _words(middle, top + 72 + 16 * row, 11, ink["2"], text)
                for row, text in enumerate(step.lines)
            ),
        ]
        if at:
            y = top + tall / 2
            parts.append(
                _arrow(
                    f"M{left - gap + 3} {y:g}H{left - 5}", f"{left - 10} {y - 5:g}l6 5l-6 5", theme
                )
            )
    last, second = width - MARGIN - box / 2, MARGIN + 1.5 * box + gap
    low, bottom = top + tall + 4, top + tall + 24
    parts += [
        _arrow(
            f"M{last:g} {low}V{bottom}H{second:g}V{low + 4}",
            f"{second - 5:g} {low + 8}l5 -6l5 6",
            theme,
        ),
        _words(
            (last + second) / 2, bottom + 20, 12, ink["2"], "every new version is checked again"
        ),
        "</g>",
    ]
    title = "How a skill travels: get, check, trust, find, tell, run, update"
    return _svg(width, 196, title, parts)


def _arrow(line: str, head: str, theme: Theme) -> str:
    return f'<path d="{line}M{head}" fill="none" stroke="{theme.box_edge}" stroke-width="1.8"/>'


def _frame(width: float, height: float, theme: Theme) -> str:
    return (
        f'<rect x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1:g}" rx="8" '
        f'fill="{theme.ground}" stroke="{theme.edge}"/>'
    )


def _words(x: float, y: float, size: float, ink: str, text: str, more: str = "") -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" '
        f'fill="{ink}"{" " + more if more else ""}>{escape(text)}</text>'
    )


def _svg(width: float, height: float, title: str, parts: list[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img">'
    )
    return "\n".join([head, f"<title>{escape(title)}</title>", *parts, "</svg>", ""])


def _same(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
