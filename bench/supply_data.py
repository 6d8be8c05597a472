"""A git repository of generated skills for `bench/supply.py`: each a SKILL.md of about 3 KB, one
reference and one script.

The words mean nothing and are the same for the same seed. There are two commits: in the second,
some skills have another line.
"""

from __future__ import annotations

import os
import random
import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

TEXT = (
    "page table report column figure chapter letter invoice margin header footer summary outline "
    "draft review note list entry "
    "value field record source target check copy order group label style format layout frame "
    "sheet index title author date "
    "section paragraph sentence word line number total share step task plan goal result example "
    "sample case rule guide"
)
WORDS = TEXT.split()
ENV = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_COMMITTER_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}
SKILL = """---
name: {name}
description: {sentence} Use it for a {word} {number}.
---

# {title}

{paragraph}

{steps}{parts}
```bash
python scripts/run.py --{word} {word}.txt
```

See [the reference](references/guide.md).
"""
SCRIPT = '''"""Count the words of a file."""

import argparse
from pathlib import Path


def counted(path: str) -> int:
    """{sentence}"""
    return len(Path(path).read_text().split())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--{word}", default="{number}")
    print(counted(parser.parse_args().file))


if __name__ == "__main__":
    main()
'''


class Upstream(NamedTuple):
    """A repository, and what its two commits are called."""

    folder: Path
    skills: int
    first: str
    second: str

    @property
    def url(self) -> str:
        """How git is told where it is."""
        return f"file://{self.folder}"

    def publish(self, commit: str) -> None:
        """Let the branch lead to a commit."""
        git(self.folder, "update-ref", "refs/heads/main", commit)


def git(folder: Path, *words: str) -> str:
    """Run git in a folder."""
    env = {**os.environ, **ENV}
    return subprocess.run(
        ["git", "-C", str(folder), *words], env=env, check=True, capture_output=True, text=True
    ).stdout.strip()


def made(folder: Path, skills: int, changed: int, seed: int = 6) -> Upstream:
    """Make a repository with so many skills, and a second commit that changes some of them."""
    chance = random.Random(seed)  # noqa: S311 - the same words each time
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    for number in range(skills):
        write(folder / "skills" / f"skill-{number:05}", number, chance)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "skills")
    first = git(folder, "rev-parse", "HEAD")
    for number in range(0, skills, max(skills // changed, 1)) if changed else ():
        with (folder / "skills" / f"skill-{number:05}" / "SKILL.md").open(
            "a", encoding="utf-8"
        ) as file:
            file.write("\nOne more line.\n")
    git(folder, "commit", "-q", "-a", "--allow-empty", "-m", "changes")
    upstream = Upstream(folder, skills, first, git(folder, "rev-parse", "HEAD"))
    upstream.publish(first)
    return upstream


def write(folder: Path, number: int, chance: random.Random) -> None:
    """Write one skill."""
    words = {
        "name": folder.name,
        "number": number,
        "word": chance.choice(WORDS),
        "title": _title(chance),
        "sentence": sentence(chance),
    }
    steps = "".join(f"{at}. {sentence(chance)}\n" for at in range(1, 9))
    parts = "".join(f"\n## {_title(chance)}\n\n{_paragraph(chance, 6)}\n" for _part in range(5))
    contents = {
        "SKILL.md": SKILL.format(
            paragraph=_paragraph(chance, 4), steps=steps, parts=parts, **words
        ),
        "references/guide.md": f"# {_title(chance)}\n\n{_paragraph(chance, 20)}\n",
        "scripts/run.py": SCRIPT.format(**words),
    }
    for path, content in contents.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")


def _title(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=3)).capitalize()


def sentence(chance: random.Random) -> str:
    """Give a sentence that says nothing."""
    return " ".join(chance.choices(WORDS, k=chance.randint(7, 13))).capitalize() + "."


def _paragraph(chance: random.Random, sentences: int) -> str:
    return " ".join(sentence(chance) for _sentence_number in range(sentences))
