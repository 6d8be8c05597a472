"""The other tools that list skills: installed each in its own environment, and asked to list one
folder.

`python bench/peers.py` installs them all and says what each is. A peer that cannot be installed, or
that does not list what it should, is reported with its reason; it is never left out in silence.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from trees import Tree

BENCH = Path(__file__).resolve().parent
PEERS = BENCH / ".peers"
INSTALL_SECONDS = 600
LIST_SECONDS = 300


class Peer(NamedTuple):
    """A tool on a package index, the version measured, and what its listing does."""

    name: str
    version: str
    source: str  # pypi, npm or none
    does: str
    refuses_flow: bool = False  # it leaves out skills whose frontmatter has a flow collection
    needs: tuple[
        str, ...
    ] = ()  # what it is installed with, where it no longer works with the newest


class Command(NamedTuple):
    """One whole process: its arguments, its environment and its folder."""

    argv: list[str]
    env: dict[str, str]
    cwd: str


class Broken(Exception):  # noqa: N818 - a finding about a peer, not a fault of ours
    """A peer could not be installed, crashed, or did not list every skill."""


OURS = "hermes-like"
PEER_TABLE = (
    Peer(
        "openskills",
        "1.5.0",
        "npm",
        "its `list`: reads each SKILL.md, finds the description by pattern, no YAML",
    ),
    Peer(OURS, "", "none", "os.walk and PyYAML's C loader on the first 4,000 characters"),
    Peer(
        "pydantic-ai-skills",
        "2.1.0",
        "pypi",
        "the capabilities a run would be given; indexes bundled files too",
    ),
    Peer("deepagents", "0.7.32", "pypi", "what its skills middleware loads before an agent starts"),
    Peer("skills", "1.5.18", "npm", "its `list -g --json`"),
    Peer(
        "skills-ref",
        "0.1.1",
        "pypi",
        "read_properties of each folder; refuses flow collections",
        refuses_flow=True,
    ),
    Peer(
        "fastmcp", "4.1.2", "pypi", "its skills provider's resources; hashes every file of a skill"
    ),
    Peer(
        "skillport",
        "1.1.2",
        "pypi",
        "the function behind its `list`, whose command stops at 1,000 rows",
    ),
)


def install(peer: Peer) -> None:
    """Install a peer at the version measured, unless it is there."""
    home = PEERS / peer.name
    done = home / f"installed-{peer.version}"
    if peer.source == "none" or done.exists():
        return
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    if peer.source == "npm":
        (home / "package.json").write_text('{"private": true}', encoding="utf-8")
        # Install scripts are never run: nothing here needs one.
        _must(
            "npm",
            "install",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            f"{peer.name}@{peer.version}",
            cwd=home,
        )
    else:
        _must(sys.executable, "-m", "venv", str(home), cwd=BENCH)
        pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        _must(
            str(home / "bin/python"), *pip, f"{peer.name}=={peer.version}", *peer.needs, cwd=BENCH
        )
    done.touch()


def _must(*argv: str, cwd: Path) -> None:
    try:
        done = subprocess.run(
            argv, cwd=cwd, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        message = f"cannot be installed: {problem}"
        raise Broken(message) from problem
    if done.returncode:
        message = f"cannot be installed: {_last_line(done.stderr)}"
        raise Broken(message)


def command(peer: Peer, tree: Tree) -> Command:
    """Return the process that makes this peer list this tree."""
    home = _home(tree)
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        # Nothing measured may call home.
        "DO_NOT_TRACK": "1",
        "DISABLE_TELEMETRY": "1",
    }
    cwd = str(home / "empty")
    modules = PEERS / peer.name / "node_modules" / peer.name
    if peer.name == OURS:
        return Command([sys.executable, str(BENCH / "hermes_like.py"), str(tree.root)], env, cwd)
    if peer.name == "openskills":
        return Command(["node", str(modules / "dist/cli.js"), "list"], env, cwd)
    if peer.name == "skills":
        return Command(["node", str(modules / "bin/cli.mjs"), "list", "-g", "--json"], env, cwd)
    driver = BENCH / "drivers" / f"list_{peer.name.replace('-', '_')}.py"
    return Command([str(PEERS / peer.name / "bin/python"), str(driver), str(tree.root)], env, cwd)


def _home(tree: Tree) -> Path:
    """Make a home folder whose `.claude/skills` is the tree: two peers list that and nothing
    else.
    """
    home = tree.root.parent / "home"
    (home / ".claude").mkdir(parents=True, exist_ok=True)
    (home / "empty").mkdir(exist_ok=True)
    link = home / ".claude/skills"
    if not link.is_symlink():
        link.symlink_to(tree.root)
    return home


def expected(peer: Peer, tree: Tree) -> int:
    """Return how many of the tree's skills this peer is known to accept."""
    return tree.skills - tree.flow if peer.refuses_flow else tree.skills


def verify(peer: Peer, tree: Tree) -> int:
    """Run a peer once, count what it lists, and raise `Broken` when that is not what it should
    be.
    """
    run = command(peer, tree)
    with (
        tempfile.TemporaryFile() as output
    ):  # a file: one peer exits before a pipe has taken all it wrote
        try:
            done = subprocess.run(
                run.argv,
                env=run.env,
                cwd=run.cwd,
                stdout=output,
                stderr=subprocess.PIPE,
                timeout=LIST_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            message = f"cannot be run: {problem}"
            raise Broken(message) from problem
        if done.returncode:
            message = (
                f"crashed with {done.returncode}: "
                f"{_last_line(done.stderr.decode(errors='replace'))}"
            )
            raise Broken(message)
        output.seek(0)
        count = _count(peer, output.read().decode(errors="replace"))
    if count != expected(peer, tree):
        message = f"listed {count} of {expected(peer, tree)}"
        raise Broken(message)
    return count


def _count(peer: Peer, output: str) -> int:
    if peer.name == "openskills":
        total = re.search(r"\((\d+) total\)", output)
        return int(total.group(1)) if total else 0
    try:
        listed = json.loads(output)
    except ValueError as problem:
        message = f"printed no JSON: {problem}"
        raise Broken(message) from problem
    rows = listed["skills"] if isinstance(listed, dict) else listed
    return len({row["name"] for row in rows})


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no message"


def main() -> None:
    """Install every peer and say how that went."""
    for peer in PEER_TABLE:
        try:
            install(peer)
            state = "ready"
        except Broken as problem:
            state = str(problem)
        print(f"{peer.name} {peer.version}: {state}; {peer.does}")


if __name__ == "__main__":
    main()
