"""Trains the small model that `metier find` ships: MiniLM, adapted to skills. Needs torch,
tokenizers and a GPU.

    python bench/embed_export.py shrink MODEL_FOLDER base.npz      the base model, small enough to travel
    python bench/embed.py train --base base.npz --tokenizer tokenizer.json --pool pool.jsonl.xz --asked bench/asked.jsonl --out OUT
    python bench/embed_export.py export base.npz OUT/towers.npz vocab.txt weights/src/metier_weights

What it learns from: the pool's own text (descriptions, quoted examples, "use when" clauses,
bullets, headings, each as if a user had said it), and `bench/asked.jsonl`: messages written for
this, as users would type them, two for each of some skills of the pool. First the two towers learn
with everything else in the batch as negatives; then a model that reads task and skill together
learns from what the towers confuse, and teaches them in turn. The queries that the benchmark scores
are used for nothing but a report.
"""

from __future__ import annotations

import argparse
import re
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import random

WIDTH, LAYERS, HEADS = 384, 6, 12
TOKEN_WIDTH = 48
"""Of the vectors of single tokens, which only training uses."""
SEP = 102
QUERY_TOKENS, CARD_TOKENS, PASSAGE_TOKENS, PAIR_TOKENS = 80, 128, 192, 288
PASSAGES, PASSAGE_CHARACTERS = 4, 800
SCALE = 20.0
SEED = 1
HELD_OUT = ("4", "5")
"""Writers on whose messages nothing is trained: they help to choose the weights of the fusion."""

# --- what is learnt from

_QUOTE = re.compile(r'["“]([A-Za-z/][^"“”\n]{14,220})["”]')
_USE = re.compile(
    r"\b(?:[Uu]se (?:this skill |it )?(?:when|for|if|to)|[Tt]rigger(?:s|ed)? (?:when|on|by)"
    r"|[Ww]hen (?:the )?users? (?:asks?|wants?|needs?|says?|requests?))\b[^.\n]{10,300}"
)
_LEAD = re.compile(r"^.*?\b(?:when|for|if|to|asks?|wants?|needs?|says?|requests?)\b\s*")
_HEADING = re.compile(r"^#{1,4}[ \t]+(.{4,100})$", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*[-*][ \t]+(?:\*\*)?([^\n]{20,200})$", re.MULTILINE)
_WHEN = re.compile(
    r"^#{1,4}[ \t].*(?:when to use|use this|trigger|example|usage|use cases?).*$",
    re.MULTILINE | re.IGNORECASE,
)
_CODE = re.compile(r"[{}<>=;|\\]|http")
WEIGHTS = {
    "asked": 14.0,
    "quote": 3.0,
    "use": 3.0,
    "when": 2.0,
    "desc": 1.0,
    "head": 0.4,
    "bullet": 0.5,
}


def pseudo_queries(skill: dict[str, str], chance: random.Random) -> list[tuple[str, str]]:
    """Give what a user might say, as far as a skill's own text has it."""
    description, body = skill["description"], skill["body"]
    found = [
        ("quote", text)
        for text in _QUOTE.findall(description) + _QUOTE.findall(body)
        if 4 <= len(text.split()) <= 40 and not _CODE.search(text)
    ]
    found += [
        ("use", _LEAD.sub("", match[0], count=1))
        for match in _USE.finditer(description + "\n" + body)
    ]
    found += [
        ("desc", text) for text in re.split(r"(?<=[.!?])\s+", description) if 20 < len(text) < 300
    ]
    for match in _WHEN.finditer(body):
        found += [
            ("when", text) for text in _BULLET.findall(body[match.end() : match.end() + 1500])[:10]
        ]
    for kind, pattern in (("head", _HEADING), ("bullet", _BULLET)):
        texts = pattern.findall(body)[:40]
        chance.shuffle(texts)
        found += [(kind, text) for text in texts[:5]]
    seen: dict[str, tuple[str, str]] = {}
    for kind, text in found:
        clean = re.sub(r"[*`_#>]+", "", text).strip(" -:,.")[:240]
        if len(clean) >= 12:
            seen.setdefault(clean.lower(), (kind, clean))
    return list(seen.values())


def card(skill: dict[str, str]) -> str:
    """Give the text of a skill's first vector."""
    return f"{skill['name'].replace('-', ' ')}: {skill['description']}"[:900]


def passages(skill: dict[str, str]) -> list[str]:
    """Give the texts of a skill's other vectors: the first parts of its body, each after the name
    and its heading.
    """
    found: list[str] = []
    heading = part = ""
    for line in [*skill["body"].split("\n"), None]:
        if part and (line is None or len(part) + len(line) > PASSAGE_CHARACTERS):
            found.append(
                f"{skill['name'].replace('-', ' ')} - {heading}: {part}"[: PASSAGE_CHARACTERS + 300]
            )
            part = ""
            if len(found) == PASSAGES:
                break
        if line is not None:
            if re.match(r"#{1,4}[ \t]", line):
                heading = line.lstrip("# ").strip()[:100]
            if line.strip():
                part += line.strip() + "\n"
    return found


# --- training


def train(options: argparse.Namespace) -> None:
    """Train, and write the weights; report on queries that nothing was trained on."""
    import embed_train as lessons
    import torch
    from embed_model import Encoder

    torch.manual_seed(SEED)
    torch.set_float32_matmul_precision("high")
    clock = lessons.Clock()
    data = lessons.Data(options)
    clock.say(
        "skills",
        len(data.skills),
        "passages",
        len(data.passage),
        "uses",
        len(data.uses),
        "held out",
        len(data.held),
    )

    def encoder() -> Any:
        stored = np.load(options.base)
        words = torch.from_numpy(stored["we_q"].astype(np.float32) * stored["we_s"])
        made = Encoder(words, LAYERS, HEADS)
        rest = [name for name in stored.files if not name.startswith("we_")]
        made.load_state_dict(
            {name: torch.from_numpy(stored[name].astype(np.float32)) for name in rest}
        )
        return made

    towers = lessons.Towers(encoder()).to(lessons.DEVICE)
    judge = lessons.Judge(data, options, clock)
    judge.look("before", towers)
    if not options.again:
        lessons.first_stage(towers, data, clock, options.seconds * 0.36, options.batch)
        judge.look("towers", towers)
    uses = [
        at
        for at, (kind, _text, _at) in enumerate(data.uses)
        if kind in {"asked", "quote", "use", "when"} and data.free[at]
    ]
    near = lessons.confused(towers, data, uses, 40)
    reader = lessons.Reader(encoder()).to(lessons.DEVICE)
    lessons.second_stage(reader, data, near, uses, clock, options.seconds * 0.32)
    lessons.third_stage(
        towers, reader, data, near, uses, clock, options.seconds * (0.68 if options.again else 0.32)
    )
    judge.look("taught", towers, reader, keep=f"{options.out}/signals.npz")
    lessons.save(towers, f"{options.out}/towers.npz")
    if options.again:  # half-way between two rounds is often the better place
        start = encoder().to(lessons.DEVICE).state_dict()
        towers.encoder.load_state_dict(
            {name: (value + start[name]) / 2 for name, value in towers.encoder.state_dict().items()}
        )
        judge.look("half-way", towers, reader, keep=f"{options.out}/half-signals.npz")
        lessons.save(towers, f"{options.out}/half.npz")
    clock.say("done")


def main() -> int:
    """Read the arguments and do what they say."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("train")
    for name in ("base", "pool", "asked", "tokenizer", "out"):
        one.add_argument(f"--{name}", required=True)
    one.add_argument("--eval", help="queries with candidates, for a report")
    one.add_argument(
        "--again", action="store_true", help="a second round: the base is what a first one gave"
    )
    one.add_argument("--seconds", type=float, default=420)
    one.add_argument("--batch", type=int, default=1024)
    options = parser.parse_args()
    if options.command == "train":
        train(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
