"""Run whole processes and single calls, and time them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from figures import Sample
from peers import Broken, Command

BENCH = Path(__file__).resolve().parent
SECONDS = 600


def process(run: Command) -> Sample:
    """Time one whole process, its output thrown away; every process is timed this way."""
    began = time.perf_counter()
    try:
        child = subprocess.Popen(
            run.argv,
            env=run.env,
            cwd=run.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError as problem:
        message = f"cannot be run: {problem}"
        raise Broken(message) from problem
    # Not `subprocess.run(timeout=…)`: that polls, and so rounds every time up by as much as 50 ms.
    watch = threading.Timer(SECONDS, child.kill)
    watch.start()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - began
    watch.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        message = f"exit code {child.returncode}"
        raise Broken(message)
    return Sample(seconds, usage.ru_utime + usage.ru_stime)


def call(what: str, tree: Path, small: Path, home: str) -> dict[str, Any]:
    """Make one call in a fresh process and return what it reports."""
    argv = [sys.executable, str(BENCH / "timed.py"), what, str(tree), str(small), f"{home}/state"]
    done = subprocess.run(
        argv, env=environment(home), capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        message = f"{what} failed: {lines[-1]}"
        raise Broken(message)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def listing(tree: Path, home: str) -> Command:
    """Return the process `metier list --json` on a tree, with its state under `home`."""
    argv = [sys.executable, "-m", "metier", "list", "--json", "--root", str(tree)]
    return Command(argv, environment(home), home)


def prompting(tree: Path, home: str) -> Command:
    """Return the process `metier prompt` on a tree: every skill is judged before it is told of."""
    argv = [sys.executable, "-m", "metier", "prompt", "--root", str(tree)]
    return Command(argv, environment(home), home)


def nothing(home: str) -> Command:
    """Return the process that starts Python and does nothing."""
    return Command([sys.executable, "-c", "pass"], environment(home), home)


def count_listed(run: Command) -> int:
    """Run the listing once and count the skills it prints."""
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(
            run.argv, env=run.env, cwd=run.cwd, stdout=output, timeout=SECONDS, check=False
        )
        output.seek(0)
        text = output.read()
    if done.returncode:
        message = f"metier list: exit code {done.returncode}"
        raise Broken(message)
    return len(json.loads(text)["skills"])


def fresh_home(parent: Path) -> str:
    """Make an empty home folder with an empty configuration, and nothing remembered."""
    home = tempfile.mkdtemp(dir=parent)
    Path(home, "metier.toml").touch()
    return home


def environment(home: str) -> dict[str, str]:
    """Return this environment with every path metier consults led into `home`."""
    env = {
        **os.environ,
        "HOME": home,
        "METIER_HOME": f"{home}/state",
        "METIER_CONFIG": f"{home}/metier.toml",
        "METIER_BACKGROUND": "off",  # nothing goes on beside what is measured
    }
    if "PYTHONPATH" in env:  # children start elsewhere
        env["PYTHONPATH"] = os.pathsep.join(
            os.path.abspath(part) for part in env["PYTHONPATH"].split(os.pathsep)
        )
    return env
