"""Builds both distributions and checks them as a package index and a user would.

    python scripts/check_release.py             metadata, contents, sizes, and a few doors against the installed wheel
    python scripts/check_release.py --doors all    every test of tests/doors, with all extras

Needs `metier[release]`. The doors are tested in a fresh environment and from a copy of the tests, so that nothing of
this checkout's `src` can be imported by accident.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PROJECTS = {"metier": ROOT, "metier-weights": ROOT / "weights"}
MAX_WHEEL_BYTES = 3_000_000
"""What a plain `pip install metier` may download of ours."""
QUICK = ("test_add", "test_history", "test_lock", "test_remove", "test_show_sections", "test_tools")
"""Doors that are tried on every run: they need no extra, and no program but git."""
RUNNERS = ("pytest", "pytest-socket", "pytest-xdist", "hypothesis", "jsonschema")
RELATIVE_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)]+)\)|(?:src|srcset)=\"(?![a-z]+:)([^\"]+)\"")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def main() -> int:
    """Check everything; say what was checked, or exit 1 with what is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--doors", choices=("quick", "all", "none"), default="quick")
    parser.add_argument(
        "--keep", type=Path, help="folder to put the packages into when all is well"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="metier-release-") as scratch:
        made = build(Path(scratch, "dist"))
        faults = [*check_metadata(made), *check_contents(made)]
        if not faults and given.doors != "none":
            faults += check_doors(made, Path(scratch, "doors"), given.doors)
        if not faults and given.keep:
            shutil.copytree(Path(scratch, "dist"), given.keep, dirs_exist_ok=True)
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    return 1 if faults else 0


def build(folder: Path) -> list[Path]:
    """Build the wheel and the sdist of both distributions."""
    for project in PROJECTS.values():
        run(BIN / "python", "-m", "build", "--no-isolation", "--outdir", folder, project)
    made = sorted(folder.iterdir())
    for path in made:
        print(f"built {path.name}: {path.stat().st_size / 1e6:.1f} MB")
    return made


def check_metadata(made: list[Path]) -> list[str]:
    """Ask the tools that package authors use."""
    wheels = [path for path in made if path.suffix == ".whl"]
    asked: list[tuple[str, list[object]]] = [
        ("twine", [BIN / "twine", "check", "--strict", *made]),
        ("check-wheel-contents", [BIN / "check-wheel-contents", *wheels]),
    ]
    for name, project in PROJECTS.items():
        asked.append((f"pyroma on {name}", [BIN / "pyroma", "-n", 10, project]))
    return [f"{name} is not content: see above" for name, words in asked if not passes(name, words)]


def check_contents(made: list[Path]) -> list[str]:
    """Look into the packages: small, complete, and no link that leads nowhere on the index."""
    faults = []
    for path in made:
        names = names_in(path)
        if path.name.startswith("metier-") and path.suffix == ".whl":
            size = path.stat().st_size
            if size > MAX_WHEEL_BYTES:
                faults.append(f"{path.name} has {size:,} bytes; {MAX_WHEEL_BYTES:,} are allowed")
            faults += [f"{path.name} links to {link}" for link in relative_links(path)]
            faults += [f"{path.name} lacks {name}" for name in missing_files(names)]
        if not any(name.endswith("LICENSE") for name in names):
            faults.append(f"{path.name} has no licence")
        with_weights = any(name.endswith(".onnx") for name in names)
        if with_weights != path.name.startswith("metier_weights-"):
            faults.append(f"{path.name} {'has' if with_weights else 'lacks'} weights")
    if not faults:
        print("contents: sizes, files, licences, weights and links are right")
    return faults


def missing_files(names: list[str]) -> list[str]:
    """Name the files of the source that a wheel lacks: templates, styles and migrations are in it, too."""
    there = {one.relative_to(ROOT / "src").as_posix() for one in (ROOT / "src").rglob("*")}
    files = {one for one in there if "__pycache__" not in one and (ROOT / "src" / one).is_file()}
    return sorted(files - set(names))


def relative_links(wheel: Path) -> list[str]:
    """Find links in the description that are meant for a checkout."""
    with zipfile.ZipFile(wheel) as file:
        name = next(name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        text = file.read(name).decode()
    return [one or other for one, other in RELATIVE_LINK.findall(FENCED.sub("", text))]


def names_in(path: Path) -> list[str]:
    """List the files of a wheel or an sdist."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return wheel.namelist()
    with tarfile.open(path) as sdist:
        return sdist.getnames()


def check_doors(made: list[Path], folder: Path, which: str) -> list[str]:
    """Install the wheel into a fresh environment and run the tests of the doors against it."""
    metier, weights = (path for path in made if path.suffix == ".whl")
    venv.create(folder / "venv", with_pip=True, symlinks=True)
    python = folder / "venv/bin/python"
    wanted = [f"{metier}[all]", weights] if which == "all" else [metier]
    run(python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", *wanted, *RUNNERS)
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    doors = ["tests/doors"] if which == "all" else [f"tests/doors/{name}.py" for name in QUICK]
    where = "import metier; print(metier.__file__)"
    found = run(python, "-c", where, cwd=folder).strip()
    if not found.startswith(str(folder)):
        return [f"the tests would import {found}, not the installed wheel"]
    command = [python, "-m", "pytest", "-q", "-n", 2, "-p", "no:cacheprovider", *doors]
    done = subprocess.run([str(word) for word in command], cwd=folder, check=False)
    return [] if done.returncode == 0 else ["a door fails with the installed wheel: see above"]


def passes(name: str, words: list[object]) -> bool:
    """Run a checker; show what it said only when it complains."""
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, cwd=ROOT, check=False
    )
    print(f"{name}: {'passed' if done.returncode == 0 else done.stdout + done.stderr}")
    return done.returncode == 0


def run(*words: object, cwd: Path = ROOT) -> str:
    """Run a command that has to succeed; give what it printed."""
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, cwd=cwd, check=False
    )
    if done.returncode:
        sys.exit(f"error: {words[0]} failed\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
