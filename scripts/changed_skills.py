"""Lists the skills of a git repository, or only those that changed since a commit, for CI.

    python scripts/changed_skills.py [--since COMMIT] [PATH...]

Prints the folder of each skill, relative to the working folder and ended by a NUL byte, so that any name survives
`xargs -0`. Where the commit is not known and cannot be fetched, all skills are listed: a check may do too much, never
too little. Needs nothing but Python and git.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import PurePosixPath

SKILL = "SKILL.md"
NO_COMMIT = set("0")
"""What a code host calls the commit before the first."""


def main() -> int:
    """Print the folders."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--since", default="", metavar="COMMIT")
    parser.add_argument("paths", nargs="*", metavar="PATH")
    given = parser.parse_args()
    paths = given.paths or ["."]
    found = skills_below(paths)
    if given.since and set(given.since) != NO_COMMIT:
        if is_known(given.since):
            found = [one for one in found if one in changed_since(given.since, paths, found)]
        else:
            print(f"commit {given.since} is not here: taking all skills", file=sys.stderr)
    sys.stdout.buffer.write(b"".join(os.fsencode(f"./{one}") + b"\0" for one in found))
    return 0


def skills_below(paths: list[str]) -> list[str]:
    """List the folders that hold a SKILL.md which git tracks."""
    names = git("ls-files", "-z", "--", *paths)
    return sorted({folder_of(name) for name in names if PurePosixPath(name).name == SKILL})


def is_known(commit: str) -> bool:
    """Tell whether a commit is here; one that a shallow clone lacks is fetched."""
    wanted = f"{commit}^{{commit}}"
    if commit.startswith("-"):
        return False
    if succeeds("cat-file", "-e", wanted):
        return True
    return succeeds("fetch", "--quiet", "--no-tags", "--depth=1", "origin", commit) and succeeds(
        "cat-file", "-e", wanted
    )


def changed_since(commit: str, paths: list[str], skills: list[str]) -> set[str]:
    """Give the skills in which a file was added, changed or removed: of each file, the nearest."""
    known = set(skills)
    changed: set[str] = set()
    for name in git(
        "diff", "--name-only", "--no-renames", "--relative", "-z", commit, "--", *paths
    ):
        above = (str(parent) for parent in PurePosixPath(name).parents)
        changed.update([one for one in above if one in known][:1])
    return changed


def folder_of(name: str) -> str:
    """Give the folder that a file lies in; `.` for the working folder itself."""
    return str(PurePosixPath(name).parent)


def git(*words: str) -> list[str]:
    """Ask git for names."""
    done = subprocess.run(["git", *words], capture_output=True, check=False)  # noqa: S607 - the one that CI has
    if done.returncode:
        sys.exit(f"error: git {words[0]} failed: {os.fsdecode(done.stderr).strip()}")
    return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]


def succeeds(*words: str) -> bool:
    """Tell whether git does it."""
    return not subprocess.run(["git", *words], capture_output=True, check=False).returncode  # noqa: S607 - as above


if __name__ == "__main__":
    sys.exit(main())
