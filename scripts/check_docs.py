"""Checks what people wrote: links lead somewhere, the README's two commands are in place, no word
is out of place.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from metier.scan.ruleset import TABLES
from metier.standard.rules import RULES

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "python3 -m venv .venv &&"
RUN, TEST = "metier tour", "pytest"
OUT_OF_PLACE = re.compile(
    r"\b(?:this|last|earlier|next|our|working) session\b|\bsub-?agent|#\d+\b|(?<![\w.~])/(?:tmp|work|root|mnt)\b",
    re.IGNORECASE,
)
ADDRESS = re.compile(r"[a-z]+:")


def main() -> int:
    """Print every fault; exit 1 when there is one."""
    pages = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    faults = (
        [fault for page in pages for fault in (*links(page), *words(page))] + readme() + rules()
    )
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(pages)} pages, {len(faults)} faults")
    return 1 if faults else 0


def links(page: Path) -> list[str]:
    """Find links to files or headings that are not there."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    faults = []
    for target in re.findall(r"""(?:\]\(|\b(?:src|srcset)=")([^)"\s]+)[)"]""", text):
        path, _, heading = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if ADDRESS.match(target):
            continue
        if not there.exists():
            faults.append(f"{_name(page)}: the link to {target} leads nowhere")
        elif heading and heading not in _headings(there):
            faults.append(f"{_name(page)}: there is no heading for {target}")
    return faults


def words(page: Path) -> list[str]:
    """Find words that belong to somebody's workplace, not to the project."""
    found = enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
    return [
        f"{_name(page)}:{at}: '{hit.group()}' is out of place"
        for at, line in found
        if (hit := OUT_OF_PLACE.search(line))
    ]


def readme() -> list[str]:
    """Make sure that the README has the two commands, run first and test second, each alone on its
    line.
    """
    lines = [
        line
        for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith(COMMAND)
    ]
    if len(lines) != 2 or RUN not in lines[0] or TEST not in lines[1]:
        return [
            (
                f"README.md: exactly two lines must begin with '{COMMAND}', first the run, then the "
                f"tests"
            )
        ]
    return []


def rules() -> list[str]:
    """Make sure that every rule has its page, and every rule of a scan its heading on the page of
    its table.
    """
    folder = ROOT / "docs/reference/rules"
    bare = [code for code in RULES if not (folder / f"{code}.md").exists()]
    for table in TABLES:
        page = folder / f"scan-{table.__name__.rpartition('.')[2]}.md"
        there = _headings(page) if page.exists() else set()
        bare += [rule.id for rule in table.RULES if rule.id.lower() not in there]
    return [f"{code} has no page" for code in bare]


def _headings(page: Path) -> set[str]:
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


if __name__ == "__main__":
    sys.exit(main())
