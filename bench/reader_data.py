r"""Write down what the reader of passages learns from: windows of prose, as numbers.

    python bench/reader_data.py --pool pool.jsonl --corpus CORPUS --makers MAKERS \
        --written PAIRS... --out windows.npz

Written passages come in pairs: `bad` plants a behaviour, `good` is its honest twin. Each pair is put
between two paragraphs of several honest skills, both at the same place. What is kept apart for the
last measurement (`KEPT_SOURCES`, `KEPT_WRITERS`, `is_apart`) is never read here.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import random
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from metier.find.io.embedding_model import VOCABULARY_FILE, WEIGHTS_FOLDER
from metier.find.wordpiece import WordPieces
from metier.scan.languages.file_text import kind_of_piece, read_file_text
from metier.scan.model import ScanEntry, word_set
from metier.scan.passages import cut_passages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TOKENS = 192
HOSTS, REPORTED_HOSTS = 8, 2
"""Honest skills into which each pair is put: to learn from, and to report on."""
MOST_WINDOWS = 48
"""Windows of one skill that are learnt from."""
PROSE_FORMS = word_set("prose steps table comment frontmatter honest")
KEPT_SOURCES = word_set(
    "clawhub-wild agent-skill-malware skillscan-heldout skillscan-social-engineering cisco-evals "
    "agenttrap skillscan-agent-hijacker atr-skillbench skillscan-heldout-benign "
    "skillscan-hardbenign"
)
"""Sources of the labelled corpus that nothing is learnt from."""
KEPT_MAKERS = word_set("elastic expo hashicorp apollographql")
"""Makers whose skills teach the model nothing: training reports on them. Rules were read against
them, so no figure about them counts as kept apart."""
KEPT_WRITERS = word_set("2 4 a4 a6 a7 a8 a9")
"""Writers whose passages nothing is learnt from."""
POOL_PARTS = 3
"""Of so many parts of the pool the last is kept apart."""
CALIBRATED = 6
"""One in so many of the other honest skills sets the thresholds, and teaches nothing."""

_FORBIDS = re.compile(
    r"\b(?:not|never|no|none|nothing|nor|without|don't|doesn't|isn't|aren't|won't|can't)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f\u0964])|\n+")
_MIN_LETTERS, _MAX_LETTERS = 20, 240

HOST_NAMES = [
    "api", "cdn", "sync", "files", "metrics", "support", "assets", "ingest", "update", "hub", "relay",
    "data", "svc", "mirror",
]  # fmt: skip
HOST_WORDS = [
    "northbay", "quillstack", "fernway", "brightloom", "docuhive", "parcelnet", "lumastack", "corvus",
    "tidepool", "orchard", "mintwork", "gridline",
]  # fmt: skip
ENDS = ["com", "io", "net", "dev", "app", "co", "org", "cloud"]


class Pair(NamedTuple):
    """A passage that plants a behaviour, and its twin; `bad` is empty where a writer was honest."""

    writer: str
    kind: str
    lang: str
    form: str
    bad: str
    good: str


def read_pairs(path: Path, *, kept: bool = False) -> Iterator[Pair]:
    """Read pairs as JSON lines, or as the plain files of one writer's folder; with `kept`, also
    those of writers who are kept apart.
    """
    if path.is_dir():
        if path.name in KEPT_WRITERS and not kept:
            return
        for file in sorted(path.glob("*.txt")):
            yield from _plain_pairs(path.name, file.read_text(encoding="utf-8"))
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if kept or str(row["writer"]) not in KEPT_WRITERS:
            yield Pair(
                str(row["writer"]),
                row["kind"],
                row["lang"],
                row["form"],
                row.get("bad") or "",
                row["good"],
            )


def _plain_pairs(writer: str, text: str) -> Iterator[Pair]:
    for part in re.split(r"^@@@[ \t]*", text, flags=re.MULTILINE)[1:]:
        head, _, rest = part.partition("\n")
        kind, _, form = (word.strip() for word in head.partition("|"))
        lang, _, kind = kind.rpartition(":")
        pieces = re.split(r"^@@[ \t]*(BAD|GOOD)[ \t]*$", rest, flags=re.MULTILINE)
        told = {
            name: words.strip("\n") for name, words in zip(pieces[1::2], pieces[2::2], strict=True)
        }
        told = {name: closed(words) for name, words in told.items()}
        if told.get("GOOD"):
            yield Pair(writer, kind, lang or "en", form, told.get("BAD", ""), told["GOOD"])


def closed(text: str) -> str:
    """Close a fence that a writer left open."""
    fences = sum(line.lstrip().startswith("```") for line in text.split("\n"))
    return f"{text}\n```" if fences % 2 else text


def filled(pair: Pair, chance: random.Random) -> Pair:
    """Fill the placeholders at random, alike in both."""
    host = f"{chance.choice(HOST_NAMES)}.{chance.choice(HOST_WORDS)}.{chance.choice(ENDS)}"
    word = chance.choice(HOST_WORDS)
    values = {
        "{host}": host,
        "{url}": f"https://{host}/{chance.choice(('v1', 'api', 'in', 'u', 'hook'))}/{word}",
        "{path}": chance.choice(
            ("~/.{w}/state.json", "config/{w}.yaml", "/var/lib/{w}/data", "docs/{w}.md")
        ).replace("{w}", word),
        "{email}": f"{chance.choice(('ops', 'team', 'hello', 'archive'))}@{word}.{chance.choice(ENDS)}",
        "{wallet}": "0x" + "".join(chance.choice("0123456789abcdef") for _ in range(40)),
        "{pkg}": f"{word}-{chance.choice(('cli', 'tools', 'sdk', 'utils', 'core'))}",
    }
    bad, good = pair.bad, pair.good
    for name, value in values.items():
        bad, good = bad.replace(name, value), good.replace(name, value)
    return pair._replace(bad=bad, good=good)


def place_in(row: dict[str, str], form: str, chance: random.Random) -> int:
    """Choose where a passage goes in a skill of the pool: at the end of its frontmatter, or between
    two paragraphs.
    """
    head = document(row, row["body"]).find("\n---\n", 4) + 5
    places = [head, *(head + one for one in boundaries(row["body"]))]
    return head - 5 if form == "frontmatter" else chance.choice(places)


def put_into(body: str, passage: str, at: int) -> tuple[str, int]:
    """Put a passage between two paragraphs of a text, or into its frontmatter; give the text, and
    where the passage starts.
    """
    if body.startswith("\n---\n", at):
        return f"{body[:at]}\n{passage}{body[at:]}", at + 1
    return f"{body[:at]}\n\n{passage}\n\n{body[at:]}", at + 2


def boundaries(body: str) -> list[int]:
    """Give the places between paragraphs that lie outside fences."""
    found = []
    fenced = False
    at = 0
    for line in body.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        if not line.strip() and not fenced:
            found.append(at)
        at += len(line) + 1
    return found


def is_apart(number: int) -> bool:
    """Tell whether a skill of the pool, by its line, is kept apart."""
    return number % POOL_PARTS == POOL_PARTS - 1


def calibrates(ident: str) -> bool:
    """Tell whether an honest skill sets thresholds instead of teaching."""
    return hashlib.sha256(ident.encode()).digest()[0] % CALIBRATED == 0


class Windows:
    """Windows as one row of numbers, with what is known of each."""

    def __init__(self) -> None:
        """Begin with none."""
        text = Path(WEIGHTS_FOLDER, VOCABULARY_FILE).read_text(encoding="utf-8")
        self.words = WordPieces(text)
        self.tokens: list[Any] = []
        self.bags: list[int] = []
        self.about: list[dict[str, str]] = []

    def add(self, texts: Iterable[str], **about: str) -> None:
        """Add a bag of windows: a skill's, or those around a passage that was put into one."""
        number = len(self.about)
        for text in texts:
            self.tokens.append(np.array(self.words.encode(text, TOKENS), np.uint16))
            self.bags.append(number)
        self.about.append(about)

    def save(self, path: Path) -> None:
        """Write all of it."""
        ends = np.cumsum([len(row) for row in self.tokens])
        np.savez_compressed(
            path,
            tokens=np.concatenate(self.tokens),
            ends=ends.astype(np.int64),
            bags=np.array(self.bags, np.int32),
            about=np.frombuffer(json.dumps(self.about).encode(), np.uint8),
        )


def windows_of(path: str, text: str) -> list[tuple[int, int, str]]:
    """Cut a text as the scanner does."""
    data = text.encode("utf-8", "replace")
    piece = ScanEntry(path, data, len(data))
    file = read_file_text(piece, kind_of_piece(piece))
    return [tuple(one) for one in cut_passages(file)]  # type: ignore[misc]


def _folder_windows(folder: Path) -> list[str]:
    found: list[str] = []
    for file in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
        small = file.is_file() and not file.is_symlink() and file.stat().st_size < 1 << 20
        if small and file.suffix.lower() in {".md", ".txt", ".markdown", ""}:
            text = file.read_bytes().decode("utf-8", "replace")
            found += [one[2] for one in windows_of(file.name, text)]
    return list(dict.fromkeys(found))


def _some(texts: list[str], chance: random.Random, most: int = MOST_WINDOWS) -> list[str]:
    return texts if len(texts) <= most else chance.sample(texts, most)


def document(row: dict[str, str], body: str) -> str:
    """Give a skill of the pool as a SKILL.md."""
    return f"---\nname: {row['name']}\ndescription: {json.dumps(row['description'])}\n---\n{body}"


Hosts = dict[bool, list[dict[str, str]]]
"""Honest skills of the pool: those that set thresholds, and those that teach."""


def add_pool(made: Windows, path: Path, chance: random.Random) -> Hosts:
    """Add the part of the pool that is not kept apart; give its skills."""
    honest: Hosts = {False: [], True: []}
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file):
            if is_apart(number):
                continue
            row = json.loads(line)
            calibrating = calibrates(row["id"])
            honest[calibrating].append(row)
            texts = [one[2] for one in windows_of("SKILL.md", document(row, row["body"]))]
            if not calibrating:
                texts = _some(texts, chance)
            made.add(texts, set="calibrate" if calibrating else "honest", source="pool")
    return honest


def add_makers(made: Windows, folder: Path) -> None:
    """Add the skills of makers that are well known: all honest."""
    for maker in sorted(folder.iterdir()):
        kept = maker.name.partition("+")[0].lower() in KEPT_MAKERS
        for skill in sorted({found.parent for found in maker.rglob("SKILL.md")}):
            made.add(
                _folder_windows(skill),
                set="calibrate" if kept else "honest",
                source=f"maker:{maker.name}",
            )


def add_labelled(made: Windows, corpus: Path, chance: random.Random) -> None:
    """Add the labelled skills whose source is not kept apart."""
    with (corpus / "labels.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            place = corpus / row["path"]
            if row["source"] in KEPT_SOURCES or not place.exists():
                continue
            made.add(
                _some(_folder_windows(place), chance),
                set="bag" if row["label"] == "malicious" else "honest",
                source=row["source"],
                grade=row["grade"],
                cluster=row["cluster"],
                campaign=row["campaign"],
            )


def forbidding(pairs: Iterable[Pair]) -> dict[str, list[str]]:
    """Give honest sentences that say what not to do, by language; where we do not know its words
    for that, all sentences.
    """
    found: dict[str, list[str]] = {}
    for pair in pairs:
        if pair.form in {"prose", "honest"}:
            found.setdefault(pair.lang, []).extend(
                one.strip()
                for one in _SENTENCE.split(pair.good)
                if _MIN_LETTERS <= len(one) <= _MAX_LETTERS
                and (pair.lang != "en" or _FORBIDS.search(one))
            )
    return found


def beside(pair: Pair, host: int, calm: list[str], chance: random.Random) -> Pair:
    """Put an honest sentence that forbids something before or after a passage, in one host of four
    at the bad one alone, in another at both. Honest twins forbid more than bad passages do; so it
    is not by this that they can be told apart.
    """
    if host % 2 == 0 or pair.form == "frontmatter" or not calm:
        return pair
    said = chance.choice(calm)
    gap = " " if pair.form in {"prose", "honest"} and chance.random() < 0.5 else "\n\n"
    first = chance.random() < 0.6

    def joined(text: str) -> str:
        return f"{said}{gap}{text}" if first else f"{text}{gap}{said}"

    bad = joined(pair.bad) if pair.bad else ""
    return pair._replace(bad=bad, good=joined(pair.good) if host % 4 == 3 else pair.good)


def add_written(made: Windows, pairs: list[Pair], honest: Hosts, chance: random.Random) -> None:
    """Add each written pair in several honest skills: to learn from, and to report on."""
    may = [pair for pair in pairs if pair.form in PROSE_FORMS and pair.writer not in KEPT_WRITERS]
    calm = forbidding(may)
    for number, pair in enumerate(may):
        for calibrating, hosts in ((False, HOSTS), (True, REPORTED_HOSTS)):
            for host in range(hosts):
                row = chance.choice(honest[calibrating])
                at = place_in(row, pair.form, chance)
                now = pair
                if not calibrating:
                    now = beside(pair, host, calm.get(pair.lang, []), chance)
                now = filled(now, chance)
                for name, passage in (("bad", now.bad), ("good", now.good)):
                    if passage:
                        made.add(
                            _windows_around(document(row, row["body"]), passage, at),
                            set=("calibrate-" if calibrating else "") + name,
                            pair=str(number),
                            writer=pair.writer,
                            kind=pair.kind,
                            lang=pair.lang,
                            host=str(host),
                        )


def _windows_around(whole: str, passage: str, at: int) -> list[str]:
    """Put a passage into a text; give the windows that hold any of it."""
    text, begin = put_into(whole, passage, at)
    end = begin + len(passage)
    return [
        words for first, last, words in windows_of("SKILL.md", text) if first < end and last > begin
    ]


def main() -> None:
    """Write the windows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("--pool", "--corpus", "--makers", "--out"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--written", type=Path, nargs="+", required=True)
    given = parser.parse_args()
    chance = random.Random(1)  # noqa: S311 - a shuffle, not a secret
    made = Windows()
    honest = add_pool(made, given.pool, chance)
    print(len(made.tokens), "windows of the pool", file=sys.stderr)
    add_makers(made, given.makers)
    add_labelled(made, given.corpus, chance)
    print(len(made.tokens), "windows with makers and corpus", file=sys.stderr)
    pairs = [pair for path in given.written for pair in read_pairs(path)]
    add_written(made, pairs, honest, chance)
    print(len(made.tokens), "windows in all,", len(pairs), "pairs", file=sys.stderr)
    made.save(given.out)


if __name__ == "__main__":
    main()
