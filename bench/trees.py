"""Make libraries of N skills whose sizes and shapes follow those of skills found in the wild.

The constants below are quantiles and shares measured once over 2,802 well-formed skills from public
collections. They are all that is kept of them: every word written here is filler, and the same seed
always gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import time
from bisect import bisect_left
from pathlib import Path
from typing import NamedTuple, TypeVar

T = TypeVar("T")

VERSION = 1
"""Part of the cache's name: raise it when the generator's output changes."""

SEED = 20_260

DEFAULT_TREES = Path(__file__).resolve().parent / ".trees"

# Each table of quantiles is read at these points; values between two points are interpolated.
POINTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)
FILE_BYTES = (
    89,
    1127,
    1652,
    2571,
    3246,
    4605,
    6044,
    7690,
    9725,
    12178,
    16379,
    21740,
    29637,
    40654,
    160170,
)
DESCRIPTION_CHARS = (5, 55, 68, 94, 119, 148, 172, 200, 238, 287, 368, 470, 573, 650, 1023)
NAME_CHARS = (3, 6, 8, 11, 13, 15, 17, 19, 21, 24, 29, 36, 44, 47, 59)
KEYS = (2, 2, 2, 2, 3, 3, 3, 4, 5, 5, 7, 9, 11, 11, 16)
LIST_ITEMS = (1, 1, 2, 3, 4, 4, 4, 5, 6, 7, 8, 10, 11, 12, 23)
METADATA_KEYS = (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 7, 7)
FOLDER_FILES = (1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4, 7, 12, 16, 40)

# Counts out of 2,802: how the description is written, and what the other keys look like.
DESCRIPTION_STYLES = {
    "plain": 1359,
    "double": 972,
    "single": 161,
    "wrapped": 155,
    "folded": 95,
    "literal": 60,
}
KEY_SHAPES: dict[tuple[str, ...], int] = {
    (): 1184,
    ("quoted",): 550,
    ("nested-flow",): 267,
    ("flow",): 199,
    ("map",): 180,
    ("list", "quoted"): 132,
    ("flow-list",): 72,
    ("list",): 62,
    ("list", "map"): 41,
    ("flow-list", "quoted"): 27,
    ("flow-list", "map"): 22,
    ("list", "nested-flow"): 19,
    ("map", "quoted"): 20,
    ("flow-list", "nested-flow"): 13,
    ("block",): 14,
}
FOLDERS: dict[tuple[str, ...], int] = {
    (): 2282,
    ("other",): 124,
    ("references",): 113,
    ("references", "scripts"): 107,
    ("scripts",): 71,
    ("assets", "references", "scripts"): 44,
    ("other", "references"): 23,
    ("other", "scripts"): 16,
    ("assets", "other", "references", "scripts"): 12,
    ("assets", "references"): 5,
    ("assets",): 5,
}
OTHER_FOLDERS = {
    "agents": 52,
    "resources": 34,
    "templates": 21,
    "src": 16,
    "examples": 14,
    "tests": 10,
}
SHARE_CRLF = 0.0114
SHARE_HEAD_NOT_ASCII = 0.20
SHARE_BODY_NOT_ASCII = 0.69
SHARE_TOP_FILES = 0.20
SHARE_DEEPER_FOLDER = 0.055  # of the skills that have any folder at all
# Skills inside skills do not occur among the well-formed ones, and every peer wants one flat level.

_WORDS = (
    "able about across adapt after align amber anchor answer apply arrange article aspect attach "
    "audit balance banner"
    " basic batch beacon before begin bind block border branch bridge brief bring build bundle "
    "cable calm canvas carry"
    " cause centre chain change chart check choose circle clear client close cloud code collect "
    "column combine common"
    " compare compose connect contain content convert copy count cover create cross current cycle "
    "data decide deep"
    " define deliver depend derive design detail device direct divide draft draw drive early edge "
    "edit effect emit"
    " enable engine enter entry equal error event exact example expand export extend extra factor "
    "fetch field file"
    " filter final find first fixed flag flow focus fold follow form frame fresh from front full "
    "gather gauge general"
    " generate give glass global grade graph green grid group guide handle harbour head help hold "
    "host image import"
    " index inform inner input inspect install into invoke item join keep kernel label large "
    "layer lead learn level"
    " light limit line link list load local long loop main make manage mark match measure merge "
    "method minor mode model"
    " module move name narrow native near need network next node note number object observe offer "
    "open option order"
    " outer output over pack page panel part pass patch path pattern phase pick place plain plan "
    "point policy port post"
    " prepare present press print process produce profile project prompt proof pull query queue "
    "quick quiet range rank"
    " rapid read ready record reduce refer region relate release remain render repeat report "
    "request resolve result"
    " return review route rule sample save scale scan schema scope score search second select "
    "send sequence series"
    " serve session shape share short show signal simple single size slice small solid sort "
    "source space split stage"
    " standard start state step stock store stream string style submit sum supply support surface "
    "switch system table"
    " target task team term test text theme thread tidy time title token tool topic trace track "
    "trade transfer tree"
    " trigger trim true tune turn type under union unit update upper usage user valid value "
    "vector verify version view"
    " visit wait walk watch when where while wide window with word work wrap write yield zone"
)
WORDS = tuple(_WORDS.split())
NOT_ASCII = ("café", "naïve", "→", "—", "✓", "über", "señal", "数据", "検索", "≥")
NEWLINE = 0x0A
LINE_BYTES = 35  # the mean length of a body's line


class Tree(NamedTuple):
    """A generated library: where its skills are, how many, and how many have frontmatter with flow
    collections.
    """

    root: Path
    skills: int
    flow: int
    made_at: float


def make(count: int, trees: Path = DEFAULT_TREES, *, seed: int = SEED) -> Tree:
    """Return the library of `count` skills, generating it when it is not there yet."""
    home = trees / f"{count}-{VERSION}" if seed == SEED else trees / f"{count}-{VERSION}-{seed}"
    record = home / "tree.json"
    root = home / "skills"
    if not record.exists():
        shutil.rmtree(home, ignore_errors=True)
        root.mkdir(parents=True)
        flow = _write_all(root, count, seed)
        # Written last, so an interrupted run is generated again.
        record.write_text(
            json.dumps({"skills": count, "flow": flow, "made_at": time.time()}), encoding="utf-8"
        )
    facts = json.loads(record.read_text(encoding="utf-8"))
    return Tree(root, facts["skills"], facts["flow"], facts["made_at"])


def _write_all(root: Path, count: int, seed: int) -> int:
    bodies = Bodies(random.Random(seed))  # noqa: S311 - filler, not secrets
    flow = 0
    for number in range(count):
        # One generator per skill: the first 100 skills of every size are the same ones.
        rng = random.Random(seed * 1_000_003 + number)  # noqa: S311
        shape = _pick(rng, KEY_SHAPES)
        flow += any("flow" in part for part in shape)
        name = _name(rng, number)
        folder = f"{root}/{name}"
        os.mkdir(folder)
        _put(f"{folder}/SKILL.md", _skill_text(rng, name, shape, bodies))
        _support_files(rng, folder, bodies)
    return flow


class Bodies:
    """Two long texts of filler lines, one plain ASCII and one not, from which bodies are cut at
    line ends.
    """

    def __init__(self, rng: random.Random) -> None:
        """Write both texts and remember where their lines end."""
        self.texts = [_filler(rng, not_ascii=False), _filler(rng, not_ascii=True)]
        self.ends = [[i for i, byte in enumerate(text) if byte == NEWLINE] for text in self.texts]

    def cut(self, rng: random.Random, size: int) -> bytes:
        """Return about `size` bytes of whole lines."""
        which = int(rng.random() < SHARE_BODY_NOT_ASCII)
        text, ends = self.texts[which], self.ends[which]
        start = ends[rng.randrange(len(ends) // 2)] + 1
        stop = ends[min(bisect_left(ends, start + size - LINE_BYTES // 2), len(ends) - 1)] + 1
        return text[start:stop]


def _filler(rng: random.Random, *, not_ascii: bool) -> bytes:
    lines: list[str] = []
    for _ in range(20_000):
        kind = rng.random()
        words = _words(rng, rng.randrange(8, 110), not_ascii=not_ascii and rng.random() < 0.1)
        if kind < 0.28:
            lines.append("")
        elif kind < 0.36:
            lines.append(f"{'#' * rng.randrange(1, 4)} {words[:40]}")
        elif kind < 0.56:
            lines.append(f"- {words}")
        elif kind < 0.60:
            lines.append(rng.choice(("```", "```bash", "---", "| a | b |")))
        else:
            lines.append(words)
    return ("\n".join(lines) + "\n").encode()


def _skill_text(rng: random.Random, name: str, shape: tuple[str, ...], bodies: Bodies) -> bytes:
    description = _description(rng)
    lines = [f"name: {name}", *_described(rng, description), *_other_keys(rng, shape)]
    head = ("---\n" + "\n".join(lines) + "\n---\n\n").encode()
    body = bodies.cut(rng, max(_quantile(rng, FILE_BYTES) - len(head), 0))
    text = head + f"# {name.replace('-', ' ')}\n\n".encode() + body
    return text.replace(b"\n", b"\r\n") if rng.random() < SHARE_CRLF else text


def _name(rng: random.Random, number: int) -> str:
    suffix = f"-{number:x}"  # keeps names unique
    length = max(_quantile(rng, NAME_CHARS) - len(suffix), 3)
    return _words(rng, length, not_ascii=False).replace(" ", "-")[:length].strip("-") + suffix


def _description(rng: random.Random) -> str:
    length = max(_quantile(rng, DESCRIPTION_CHARS), 5)
    text = _words(rng, length, not_ascii=rng.random() < SHARE_HEAD_NOT_ASCII)
    return text[:length].strip().capitalize()


def _described(rng: random.Random, text: str) -> list[str]:
    """Return the lines of the description, in one of the styles people write it in."""
    style = _pick(rng, DESCRIPTION_STYLES)
    middle = text.find(" ", len(text) // 2)
    quoted = (
        f"{text[:middle]}: {text[middle + 1 :]}" if middle > 0 else text
    )  # a colon is why people quote
    if style == "double":
        return [
            f'description: "{quoted}"'
            if rng.random() < 0.9
            else f'description: "Say \\"go\\": {quoted}"'
        ]
    if style == "single":
        return [f"description: 'It''s {quoted}'"]
    if style in {"wrapped", "folded", "literal"}:
        opening = {"wrapped": [], "folded": [">"], "literal": ["|"]}[style]
        return [" ".join(["description:", *opening]), *(f"  {line}" for line in _wrap(text, 80))]
    return [f"description: {text}"]


def _other_keys(rng: random.Random, shape: tuple[str, ...]) -> list[str]:
    """Return the lines of every key but name and description."""
    keys = rng.sample(
        ("version", "license", "author", "source", "risk", "category", "homepage", "domain"), 8
    )
    wanted = max(_quantile(rng, KEYS) - 2 - len([part for part in shape if part != "quoted"]), 0)
    if "quoted" in shape:
        wanted = max(wanted, 1)
    lines: list[str] = []
    for place, key in enumerate(keys[:wanted]):
        value = "1.10.0" if key == "version" else _words(rng, rng.randrange(4, 24), not_ascii=False)
        lines.append(f'{key}: "{value}"' if "quoted" in shape and place == 0 else f"{key}: {value}")
    for part in shape:
        lines.extend(_shaped(rng, part))
    return lines


def _shaped(rng: random.Random, part: str) -> list[str]:
    items = [rng.choice(WORDS) for _ in range(_quantile(rng, LIST_ITEMS))]
    flow = '{"icon": "star", "requires": {"bins": ["' + '", "'.join(items[:3]) + '"]}}'
    if part == "list":
        return ["tags:", *(f"  - {item}" for item in items)]
    if part == "flow-list":
        return [f"tags: [{', '.join(items)}]"]
    if part == "map":
        return [
            "metadata:",
            *(f"  {WORDS[i]}: {rng.choice(WORDS)}" for i in range(_quantile(rng, METADATA_KEYS))),
        ]
    if part == "flow":
        return [f"metadata: {flow}"]
    if part == "nested-flow":
        return ["metadata:", f"  host: {flow}"]
    if part == "block":
        return ["compatibility: |", f"  {' '.join(items)}"]
    return []


def _support_files(rng: random.Random, folder: str, bodies: Bodies) -> None:
    if rng.random() < SHARE_TOP_FILES:
        _put(f"{folder}/{rng.choice(('README.md', '_meta.json', 'LICENSE.txt'))}", b"{}\n")
    folders = _pick(rng, FOLDERS)
    for kind in folders:
        name = _pick(rng, OTHER_FOLDERS) if kind == "other" else kind
        os.mkdir(f"{folder}/{name}")
        if name == "agents":
            _put(f"{folder}/agents/openai.yaml", b'interface:\n  display_name: "Filler"\n')
            continue
        suffix = {"scripts": "py", "src": "py", "assets": "txt"}.get(name, "md")
        for number in range(_quantile(rng, FOLDER_FILES)):
            # Nothing here reads them: their number matters, their size does not.
            _put(f"{folder}/{name}/part-{number}.{suffix}", bodies.cut(rng, 200))
    if folders and folders[0] != "other" and rng.random() < SHARE_DEEPER_FOLDER:
        os.mkdir(f"{folder}/{folders[0]}/deeper")
        _put(f"{folder}/{folders[0]}/deeper/part.md", b"filler\n")


def _put(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    os.write(descriptor, data)
    os.close(descriptor)


def _words(rng: random.Random, chars: int, *, not_ascii: bool) -> str:
    words: list[str] = []
    total = 0
    while total < chars:
        words.append(WORDS[int(rng.random() * len(WORDS))])
        total += len(words[-1]) + 1
    if not_ascii and len(words) > 1:
        words[-2] = rng.choice(NOT_ASCII)
    return " ".join(words)


def _wrap(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


def _quantile(rng: random.Random, table: tuple[int, ...]) -> int:
    at = rng.random()
    right = bisect_left(POINTS, at) or 1
    share = (at - POINTS[right - 1]) / (POINTS[right] - POINTS[right - 1])
    return round(table[right - 1] + share * (table[right] - table[right - 1]))


def _pick(rng: random.Random, shares: dict[T, int]) -> T:
    return rng.choices(list(shares), weights=list(shares.values()))[0]


def main() -> None:
    """Generate the sizes named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--trees", type=Path, default=DEFAULT_TREES)
    arguments = parser.parse_args()
    for size in arguments.sizes:
        began = time.perf_counter()
        tree = make(size, arguments.trees)
        print(
            f"{tree.root}: {tree.skills} skills, {time.perf_counter() - began:.1f} s",
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()
