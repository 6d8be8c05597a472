"""Look at a skill's folder as a folder: sizes, links, marks, and files that are not what they seem (HE-32, HE-33, ZE-11)."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from metier.scan.content import appended, locked, stray_nul
from metier.scan.kinds import BINARY, CODE, disguised, kind_of, mismatch as misnamed
from metier.scan.rule import Hit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from metier.scan.tree import Piece, Tree

MAX_FILES = 50
MAX_TOTAL = 1024 * 1024  # bytes
MAX_FILE = 256 * 1024  # bytes
MAX_PER_RULE = 20

IGNORE_FILES = frozenset((".skillignore", ".clawhubignore", ".scanignore", ".skillscanignore"))
MARKERS = frozenset((".bundled", ".builtin", ".trusted", ".verified"))
_SKILL = "skill.md"
_PLAIN_HIDDEN = frozenset(
    (".gitignore", ".gitattributes", ".editorconfig", ".gitkeep", ".npmignore", ".prettierrc", ".eslintrc.js", ".eslintrc.cjs")
)


def find(tree: Tree, kinds: Mapping[str, str]) -> list[tuple[str, Hit]]:
    """Return what the shape of the tree says, as (path, hit). `kinds`: what the engine took each path's content for, or nothing."""
    found: list[tuple[str, Hit]] = [*_whole(tree)]
    paths = frozenset(piece.path for piece in tree.pieces)
    said = _prose(tree.pieces)
    for piece in tree.pieces:
        kind = kinds.get(piece.path) or kind_of(piece.path, piece.data)
        found += [(piece.path, hit) for hit in _piece(piece, paths, kind, said)]
    return _few(found)


def mismatch(description: str, categories: Iterable[str]) -> str:
    """Return why what was found does not fit a description of something harmless, or an empty text."""
    words = frozenset("".join(letter if letter.isalpha() else " " for letter in description.lower()).split())
    harmless = sorted(words & _HARMLESS)
    done = frozenset(categories)
    if not harmless or words & _EXPLAINS:
        return ""
    both = "credential" in done and bool(done & {"network", "exfiltration"})
    worse = sorted(done & {"exfiltration", "persistence", "privilege", "mining", "destructive"})
    if both or len(worse) > 1:
        return f"described as a {harmless[0]}, yet the code shows {', '.join(sorted(done & _WEIGHTY))}"
    return ""


_HARMLESS = frozenset(
    {
        *(
            "formatter",
            "format",
            "formatting",
            "converter",
            "convert",
            "converts",
            "theme",
            "themes",
            "joke",
            "jokes",
            "quote",
            "quotes",
        ),
        *(
            "calculator",
            "timer",
            "clock",
            "weather",
            "emoji",
            "emojis",
            "colour",
            "color",
            "linter",
            "lint",
            "prettify",
            "markdown",
        ),
        *("spellcheck", "dice", "poem", "haiku", "counter", "template", "templates", "palette", "beautifier", "beautify", "sorter"),
    }
)
_EXPLAINS = frozenset(
    {
        *(
            "deploy",
            "deployment",
            "upload",
            "sync",
            "backup",
            "cloud",
            "aws",
            "azure",
            "gcp",
            "kubernetes",
            "server",
            "api",
            "oauth",
        ),
        *("login", "security", "credential", "credentials", "secret", "secrets", "token", "vault", "audit", "wallet", "blockchain"),
        *("email", "slack", "github", "webhook"),
    }
)
_WEIGHTY = frozenset(("credential", "network", "exfiltration", "persistence", "privilege", "mining", "destructive"))


def _whole(tree: Tree) -> Iterator[tuple[str, Hit]]:
    files = [piece for piece in tree.pieces if not piece.link]
    total = sum(piece.size for piece in files)
    if len(files) > MAX_FILES:
        yield "", Hit("SC600", 0, 0, f"{len(files)} files")
    if total > MAX_TOTAL:
        yield "", Hit("SC601", 0, 0, f"{total} bytes")
    seen: dict[str, str] = {}
    for piece in tree.pieces:
        same = unicodedata.normalize("NFKC", piece.path).casefold()
        if same in seen:
            yield piece.path, Hit("SC621", 0, 0, f"{seen[same]} and {piece.path}")
        seen.setdefault(same, piece.path)


def _piece(piece: Piece, paths: frozenset[str], kind: str, said: str) -> Iterator[Hit]:
    yield from _name(piece)
    if piece.link:
        yield from _link(piece, paths)
    elif piece.fault:
        yield Hit("SC617", 0, 0, piece.fault)
    else:
        yield from _size(piece)
        yield from _content(piece, paths, kind)
        yield from _marks(piece, kind, said)


def _name(piece: Piece) -> Iterator[Hit]:
    base = piece.path.rpartition("/")[2]
    low = base.lower()
    if (
        any(unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") for letter in piece.path)
        or base != base.strip(" ")
        or base.endswith(".")
    ):
        yield Hit("SC620", 0, 0, ascii(piece.path))
    if low in IGNORE_FILES:  # HE-33, decision 22: reported, never honoured
        yield Hit("SC614", 0, min(len(piece.data), 200))
    if low in MARKERS:  # ZE-11: a mark that travels with a skill proves nothing
        yield Hit("SC615", 0, 0)
    if low == _SKILL and "/" in piece.path:
        yield Hit("SC610", 0, 0)


def _link(piece: Piece, paths: frozenset[str]) -> Iterator[Hit]:
    target = piece.link.replace("\\", "/")
    if target.startswith(("/", "~")) or target[1:2] == ":":
        yield Hit("SC605" if _private(target) else "SC606", 0, 0, piece.link)
        return
    steps = piece.path.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            if not steps:
                yield Hit("SC605", 0, 0, piece.link)
                return
            steps.pop()
        elif part not in ("", "."):
            steps.append(part)
    inside = "/".join(steps)
    if inside and inside not in paths and not any(path.startswith(inside + "/") for path in paths):
        yield Hit("SC606", 0, 0, piece.link)


def _private(target: str) -> bool:
    """Say whether an absolute link leads to where people or the system keep things: it escapes, and is not merely odd."""
    return (
        target.startswith(("/etc", "/home", "/root", "/Users", "/proc", "/var", "~", "/.", "/dev"))
        or target == "/"
        or target[1:2] == ":"
    )


def _size(piece: Piece) -> Iterator[Hit]:
    if piece.size > MAX_FILE:
        yield Hit("SC602", 0, 0, f"{piece.size} bytes")
    if piece.cut:  # what was not read is never safe
        yield Hit("SC616", 0, 0, f"{len(piece.data)} of {piece.size} bytes were read")


def _content(piece: Piece, paths: frozenset[str], kind: str) -> Iterator[Hit]:
    if kind == "executable":
        yield Hit("SC603", 0, 0)
    elif kind == "bytecode":
        if not _has_source(piece.path, paths):
            yield Hit("SC609", 0, 0)
    elif kind == "archive":
        yield Hit("SC607" if locked(piece.data) else "SC608", 0, 0)
    elif kind in BINARY:
        extra = appended(piece.data)
        if extra and not (kind in {"pdf", "document"} and extra.startswith("a script")):  # a manual may show commands
            yield Hit("SC618", 0, 0, extra)
    else:
        nul = stray_nul(piece.data)
        if nul >= 0:
            yield Hit("SC619", nul, nul + 1)
        elif kind == "unknown" and piece.data:
            yield Hit("SC611", 0, 0)
    yield from _named(piece, kind)


def _named(piece: Piece, kind: str) -> Iterator[Hit]:
    """Compare what a file is with what its name says, and with what its first bytes say."""
    if misnamed(piece.path, kind):
        yield Hit("SC624" if kind in CODE and _called_text(piece.path) else "SC612", 0, 0, f"{kind} named {piece.path}"[:200])
    elif pretended := disguised(piece.path, piece.data):
        yield Hit("SC612", 0, 0, f"text that begins as {pretended}: {piece.path}"[:200])


def _called_text(path: str) -> bool:
    return not path.lower().endswith(
        (".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf", ".ico", ".bmp", ".ttf", ".woff", ".woff2", ".mp3", ".mp4")
    )


def _has_source(path: str, paths: frozenset[str]) -> bool:
    folder, _, base = path.rpartition("/")
    stem = base.split(".")[0]
    parent = folder.removesuffix("__pycache__").rstrip("/")
    return any(f"{place}/{stem}.py".lstrip("/") in paths for place in (folder, parent))


def _marks(piece: Piece, kind: str, said: str) -> Iterator[Hit]:
    base = piece.path.rpartition("/")[2].lower()
    if piece.executable and kind not in CODE and kind != "executable" and not piece.data.startswith(b"#!"):
        yield Hit("SC604", 0, 0)
    hidden = any(part.startswith(".") for part in piece.path.split("/"))
    if hidden and kind in CODE and base not in _PLAIN_HIDDEN:
        yield Hit("SC613", 0, 0)
    if kind in CODE and base not in said:
        yield Hit("SC622", 0, 0)


def _prose(pieces: Iterable[Piece]) -> str:
    """Return what the skill's own texts say, in lower case: a script counts as mentioned by its base name."""
    told = (piece for piece in pieces if piece.path.lower().endswith((".md", ".txt", ".json", ".toml", ".yaml")))
    return "\n".join(piece.data[:400_000].decode("utf-8", "replace").lower() for piece in told)


def _few(found: list[tuple[str, Hit]]) -> list[tuple[str, Hit]]:
    """Return the findings sorted by path and rule, each rule at most twenty times."""
    count: dict[str, int] = {}
    kept: list[tuple[str, Hit]] = []
    for path, hit in sorted(found, key=lambda pair: (pair[0], pair[1].rule)):
        count[hit.rule] = count.get(hit.rule, 0) + 1
        if count[hit.rule] <= MAX_PER_RULE:
            kept.append((path, hit))
    return kept
