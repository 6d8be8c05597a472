"""A fuzz target on the parser: bytes in, and any crash, disagreement or impossible place out.

    python tests/fuzz/fuzz_parser.py --seconds 60

The work is done in a child process, so that a crash below Python is noticed and its input is kept. Inputs are
mutations of a small corpus of our own; with `--atheris`, where that is installed, it chooses them by coverage.
"""

from __future__ import annotations

import argparse
import mmap
import os
import random
import struct
import sys
import time
from pathlib import Path

from metier.standard import full_yaml
from metier.standard.document import read_document
from metier.standard.frontmatter import split
from metier.standard.plain_yaml import read_plain

CORPUS = (
    b"---\nname: pdf\ndescription: Fill in forms. Use it for forms.\n---\n\n# PDF\n",
    b"\xef\xbb\xbf---\r\nname: pdf\r\ndescription: >-\r\n  Folded\r\n  text.\r\n---\r\nBody\r\n",
    b"\n\n---\nname: 'it''s'\ndescription: \"a \\\"b\\\" \\n c\"\nversion: 1.10\n---",
    b"---\nname: x\ndescription: |\n  one\n\n    two\n  three\nmetadata:\n  hermes:\n    tags: [a, 'b', \"c\"]\n  k: v\n---\n",
    b"---\nname: x\nallowed-tools: Bash(git:*), Read\nplatforms: [linux, macos]\nprerequisites: {commands: [git], env_vars: [A]}\n---\n",
    b"---\nname: x\ndescription: Use: when it breaks\nk: [open\nz: @at\ny: `tick`\n---\nBody\n",
    b"---\na: &a [1, 2]\nb: *a\nc: !!python/object x\non: yes\n? k\n: v\n1: 2\n---\n",
    b"---\nk: {a: {b: {c: [d, {e: f}]}}}\nl:\n- one\n-   two\n- 'three'\n# comment\n---\n",
    b'---\nmetadata: {"a": 1, "b": true, "c": [null, 1.5]}\nname: \xc3\xa9\nx: \xff\n---\n',
    b"--- name\nname: x\n ---\n---\n...\n---\n",
    b"no frontmatter at all\n",
)
WORDS = (
    b"---\n",
    b"\n---\n",
    b": ",
    b"- ",
    b"#",
    b"'",
    b'"',
    b"[",
    b"]",
    b"{",
    b"}",
    b"&a ",
    b"*a",
    b"!t ",
    b"|\n",
    b">\n",
    b"\\",
    b"\0",
    b"\xff",
    b"\r\n",
    b"\t",
    b"  ",
    b"\n",
    b"%TAG ! x\n",
    b"...\n",
    b"? ",
    b"<<: ",
    b"\xe2\x80\xa8",
    b"\xc2\x85",
    b"\xef\xbb\xbf",
    b"null",
    b"~",
    b"true",
    b"0x1F",
)
LONGEST = 4_096
CRASHED = 3


class DisagreementError(AssertionError):
    """Two readers answered differently, or an answer points nowhere."""


def target(data: bytes) -> None:
    """Read bytes in every way there is, and hold the answers against each other."""
    document = read_document(data, folder="skill")
    expect(document is not None, "the whole file was given and more was asked for")
    assert document is not None
    for note in document.diagnostics:
        expect(
            note.line >= 1 and note.column >= 1, f"{note.code} points at {note.line}:{note.column}"
        )
    for place in document.spans.values():
        expect(min(place) >= 1, f"a value lies at {place}")
    document.name.encode()
    document.description.encode()
    part = split(data, complete=True)
    expect(
        0 <= part.start <= part.end <= len(data) and 0 <= part.body_at <= len(data),
        f"offsets {part}",
    )
    text = (
        data[part.start : part.end].decode(errors="replace")
        if part.outcome == "found"
        else data.decode(errors="replace")
    )
    agree(text if text.endswith("\n") else text + "\n")


def agree(text: str) -> None:
    """Hold the quick reader against the full one."""
    full = full_yaml.load(text)
    quick = read_plain(text)
    if quick is not None:
        expect(full.error is None, f"the quick reader took what the full one refuses: {full.error}")
        expect(not full.faults, f"the quick reader passed over {full.faults}")
        expect((full.value or {}) == quick[0], f"{full.value!r} is not {quick[0]!r}")


def expect(held: bool, what: str) -> None:
    """Fail with a reason."""
    if not held:
        raise DisagreementError(what)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Change an input in a few places: flip, cut, repeat, insert a word, splice in another input."""
    for _ in range(chance.randint(1, 6)):
        at = chance.randint(0, len(data))
        end = min(len(data), at + chance.randint(0, 16))
        kind = chance.randrange(6)
        if kind == 0 and data:
            at = min(at, len(data) - 1)
            data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at] + data[end:]
        elif kind == 2:
            data = data[:end] + data[at:end] * chance.randint(1, 40) + data[end:]
        elif kind == 3:
            data = data[:at] + chance.choice(WORDS) * chance.randint(1, 3) + data[at:]
        elif kind == 4:
            lines = data.split(b"\n")
            chance.shuffle(lines)
            data = b"\n".join(lines)
        else:
            other = chance.choice(CORPUS)
            cut = chance.randint(0, len(other))
            data = data[:at] + other[cut:]
    return data[:LONGEST]


def work(seconds: float, seed: int, shared: mmap.mmap) -> int:
    """Run the target until the time is over; each input is written down before it is tried."""
    chance = random.Random(seed)  # noqa: S311 - a seed makes a run repeatable
    until = time.monotonic() + seconds
    pool = list(CORPUS)
    count = 0
    while time.monotonic() < until:
        data = mutated(chance.choice(pool), chance)
        count += 1
        shared[: 16 + len(data)] = struct.pack("<QQ", count, len(data)) + data
        try:
            target(data)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is what we look for
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            return CRASHED
        if len(pool) < 2_000 and not count % 50:
            pool.append(data)
    return 0


def shrunk(data: bytes) -> bytes:
    """Cut away what a failure inside Python does not need."""
    size = len(data) // 2
    while size:
        at = 0
        while at < len(data):
            shorter = data[:at] + data[at + size :]
            if fails(shorter):
                data = shorter
            else:
                at += size
        size //= 2
    return data


def fails(data: bytes) -> bool:
    """Tell whether the target refuses an input."""
    try:
        target(data)
    except Exception:  # noqa: BLE001
        return True
    return False


def guided(arguments: list[str]) -> None:
    """Let atheris choose the inputs."""
    import atheris  # type: ignore[import-not-found,import-untyped,unused-ignore]

    atheris.instrument_all()
    atheris.Setup([sys.argv[0], *arguments], target)
    atheris.Fuzz()


def main() -> int:
    """Run the target in a child process; end with 1 when it crashed, by whatever means."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="how long to go on (default: 60)"
    )
    parser.add_argument(
        "--seed", type=int, default=None, help="begin with this seed to repeat a run"
    )
    parser.add_argument(
        "--atheris",
        action="store_true",
        help="let atheris choose the inputs, where it is installed",
    )
    parser.add_argument(
        "--keep", type=Path, default=None, help="write a crashing input to this file"
    )
    options = parser.parse_args()
    if options.atheris:
        guided([f"-max_total_time={int(options.seconds)}", f"-max_len={LONGEST}"])
    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "little")
    shared = mmap.mmap(-1, LONGEST + 64)
    child = os.fork()
    if child == 0:
        code = CRASHED
        try:
            code = work(options.seconds, seed, shared)
        finally:
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    count, size = struct.unpack("<QQ", shared[:16])
    print(f"{count:,} executions, seed {seed}")  # noqa: T201
    if status == 0:
        return 0
    data = bytes(shared[16 : 16 + size])
    how = f"signal {-status}" if status < 0 else "an exception"
    if status > 0:
        data = shrunk(data)
    if options.keep:
        options.keep.write_bytes(data)
    print(f"crashed with {how} on {data!r}")  # noqa: T201
    return 1


if __name__ == "__main__":
    sys.exit(main())
