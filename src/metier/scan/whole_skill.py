"""Scans a skill as a whole: the shape of its folder, and what it says of itself against what was
found in it (HE-32, HE-33, ZE-11).

The folder's shape is sizes, links, marks, and files that are not what they seem. Its claims are
tools, environment, network, and its own description.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.languages.kinds import (
    BINARY_KINDS,
    CODE_KINDS,
    appended,
    disguised,
    kind_of,
    locked,
    mismatch as misnamed,
    stray_nul,
)
from metier.scan.model import MAX_HITS_PER_RULE, RuleHit, word_set
from metier.scan.rules import places
from metier.scan.ruleset import RULES
from metier.standard.document import read_document
from metier.standard.needs import read_needs, split_tools

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from metier.model import JsonObject, Texts
    from metier.scan.examine import Sighting
    from metier.scan.languages.file_text import FileText
    from metier.scan.model import ScanEntry, ScanTree


MAX_FILES = 50
MAX_TOTAL_BYTES = 1024 * 1024  # bytes
MAX_FILE_BYTES = 256 * 1024  # bytes

IGNORE_FILES = word_set(".skillignore .clawhubignore .scanignore .skillscanignore")
MARKERS = word_set(".bundled .builtin .trusted .verified")
_SKILL = "skill.md"
_NO_TEXTS = tuple(word_set(".png .jpg .jpeg .gif .webp .pdf .ico .bmp .ttf .woff .woff2 .mp3 .mp4"))
_PLAIN_HIDDEN = word_set(
    ".gitignore .gitattributes .editorconfig .gitkeep .npmignore .prettierrc .eslintrc.js "
    ".eslintrc.cjs"
)


def find_in_folder(tree: ScanTree, kinds: Mapping[str, str]) -> list[tuple[str, RuleHit]]:
    """Return what the shape of the tree says, as (path, hit). `kinds`: what the engine took each
    path's content for, or nothing.
    """
    found = [*_whole(tree)]
    paths = frozenset(piece.path for piece in tree.pieces)
    said = _prose(tree.pieces)
    for piece in tree.pieces:
        kind = kinds.get(piece.path) or kind_of(piece.path, piece.data)
        found += [(piece.path, hit) for hit in _piece(piece, paths, kind, said)]
    return _few(found)


def _whole_file(rule: str, evidence: str = "") -> RuleHit:
    """Give a hit that is about a file, and not about a place in it."""
    return RuleHit(rule, 0, 0, evidence)


def description_mismatch(description: str, categories: Iterable[str]) -> str:
    """Return why what was found does not fit a description of something harmless, or an empty
    text.
    """
    words = frozenset(
        "".join(letter if letter.isalpha() else " " for letter in description.lower()).split()
    )
    harmless = sorted(words & _HARMLESS)
    done = frozenset(categories)
    if not harmless or words & _EXPLAINS:
        return ""
    steals = "credential" in done and done & {"network", "exfiltration"}
    if steals or len(done & _WORSE) > 1:
        shown = ", ".join(sorted(done & _WEIGHTY))
        return f"its description speaks of '{harmless[0]}', but its code shows {shown}"
    return ""


_HARMLESS = word_set(
    "formatter format formatting converter convert converts theme themes joke jokes quote "
    "quotes calculator timer clock weather emoji emojis colour color linter lint prettify "
    "markdown spellcheck dice poem haiku counter template templates palette beautifier "
    "beautify sorter"
)
_EXPLAINS = word_set(
    "deploy deployment upload sync backup cloud aws azure gcp kubernetes server api oauth "
    "login security credential credentials secret secrets token vault audit wallet "
    "blockchain email slack github webhook"
)
_WORSE = word_set("exfiltration persistence privilege mining destructive")
_WEIGHTY = _WORSE | {"credential", "network"}


def _whole(tree: ScanTree) -> Iterator[tuple[str, RuleHit]]:
    files = [piece for piece in tree.pieces if not piece.link]
    total = sum(piece.size for piece in files)
    if len(files) > MAX_FILES:
        yield "", _whole_file("SC600", f"{len(files)} files")
    if total > MAX_TOTAL_BYTES:
        yield "", _whole_file("SC601", f"{total} bytes")
    seen: dict[str, str] = {}
    for piece in tree.pieces:
        same = unicodedata.normalize("NFKC", piece.path).casefold()
        if same in seen:
            yield piece.path, _whole_file("SC621", f"{seen[same]} and {piece.path}")
        seen.setdefault(same, piece.path)


def _piece(piece: ScanEntry, paths: frozenset[str], kind: str, said: str) -> Iterator[RuleHit]:
    yield from _name(piece)
    if piece.link:
        yield from _link(piece, paths)
    elif piece.fault:
        yield _whole_file("SC617", piece.fault)
    else:
        if piece.size > MAX_FILE_BYTES:
            yield _whole_file("SC602", f"{piece.size} bytes")
        if piece.cut:  # what was not read is never safe
            yield _whole_file("SC616", f"{len(piece.data)} of {piece.size} bytes were read")
        yield from _content(piece, paths, kind)
        yield from _marks(piece, kind, said)


def _name(piece: ScanEntry) -> Iterator[RuleHit]:
    base = piece.path.rpartition("/")[2]
    low = base.lower()
    if (
        any(unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") for letter in piece.path)
        or base != base.strip(" ")
        or base.endswith(".")
    ):
        yield _whole_file("SC620", ascii(piece.path))
    if low in IGNORE_FILES:  # HE-33, MT-22: reported, never honoured
        yield RuleHit("SC614", 0, min(len(piece.data), 200))
    if low in MARKERS:  # ZE-11: a mark that travels with a skill proves nothing
        yield _whole_file("SC615")
    if low == _SKILL and "/" in piece.path:
        yield _whole_file("SC610")


def _link(piece: ScanEntry, paths: frozenset[str]) -> Iterator[RuleHit]:
    target = piece.link.replace("\\", "/")
    if target.startswith(("/", "~")) or target[1:2] == ":":
        yield _whole_file("SC605" if _private(target) else "SC606", piece.link)
        return
    steps = piece.path.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            if not steps:
                yield _whole_file("SC605", piece.link)
                return
            steps.pop()
        elif part not in ("", "."):
            steps.append(part)
    inside = "/".join(steps)
    if inside and inside not in paths and not any(path.startswith(inside + "/") for path in paths):
        yield _whole_file("SC606", piece.link)


def _private(target: str) -> bool:
    """Say whether an absolute link leads to where people or the system keep things: it escapes, and
    is not merely odd.
    """
    return (
        target.startswith(("/etc", "/home", "/root", "/Users", "/proc", "/var", "~", "/.", "/dev"))
        or target == "/"
        or target[1:2] == ":"
    )


def _content(piece: ScanEntry, paths: frozenset[str], kind: str) -> Iterator[RuleHit]:
    if kind == "executable":
        yield _whole_file("SC603")
    elif kind == "bytecode":
        if not _has_source(piece.path, paths):
            yield _whole_file("SC609")
    elif kind == "archive":
        yield _whole_file("SC607" if locked(piece.data) else "SC608")
    elif kind in BINARY_KINDS:
        extra = appended(piece.data)
        if extra and not (
            kind in {"pdf", "document"} and extra.startswith("a script")
        ):  # a manual may show commands
            yield _whole_file("SC618", extra)
    else:
        nul = stray_nul(piece.data)
        if nul >= 0:
            yield RuleHit("SC619", nul, nul + 1)
        elif kind == "unknown" and piece.data:
            yield _whole_file("SC611")
    yield from _named(piece, kind)


def _named(piece: ScanEntry, kind: str) -> Iterator[RuleHit]:
    """Compare what a file is with what its name says, and with what its first bytes say."""
    if misnamed(piece.path, kind):
        is_text = kind in CODE_KINDS and not piece.path.lower().endswith(_NO_TEXTS)
        yield _whole_file("SC624" if is_text else "SC612", f"{kind} named {piece.path}"[:200])
    elif pretended := disguised(piece.path, piece.data):
        yield _whole_file("SC612", f"text that begins as {pretended}: {piece.path}"[:200])


def _has_source(path: str, paths: frozenset[str]) -> bool:
    folder, _, base = path.rpartition("/")
    stem = base.split(".")[0]
    parent = folder.removesuffix("__pycache__").rstrip("/")
    return any(f"{place}/{stem}.py".lstrip("/") in paths for place in (folder, parent))


def _marks(piece: ScanEntry, kind: str, said: str) -> Iterator[RuleHit]:
    base = piece.path.rpartition("/")[2].lower()
    if (
        piece.executable
        and kind not in CODE_KINDS
        and kind != "executable"
        and not piece.data.startswith(b"#!")
    ):
        yield _whole_file("SC604")
    hidden = any(part.startswith(".") for part in piece.path.split("/"))
    if hidden and kind in CODE_KINDS and base not in _PLAIN_HIDDEN:
        yield _whole_file("SC613")
    if kind in CODE_KINDS and base not in said:
        yield _whole_file("SC622")


def _prose(pieces: Iterable[ScanEntry]) -> str:
    """Return what the skill's own texts say, in lower case: a script counts as mentioned by its
    base name.
    """
    return "\n".join(
        piece.data[:400_000].decode("utf-8", "replace").lower()
        for piece in pieces
        if piece.path.lower().endswith((".md", ".txt", ".json", ".toml", ".yaml"))
    )


def _few(found: list[tuple[str, RuleHit]]) -> list[tuple[str, RuleHit]]:
    """Return the findings sorted by path and rule, each rule at most twenty times."""
    counts: Counter[str] = Counter()
    kept = []
    for path, hit in sorted(found, key=lambda pair: (pair[0], pair[1].rule)):
        counts[hit.rule] += 1
        if counts[hit.rule] <= MAX_HITS_PER_RULE:
            kept.append((path, hit))
    return kept


# --- claims against what was found


class SkillClaims(NamedTuple):
    """What the frontmatter says. `network`: whether a network is declared, or None when nothing is
    said.
    """

    tools: Texts = ()
    env: Texts = ()
    network: bool | None = None
    compatibility: str = ""
    description: str = ""


class SkillDeeds(NamedTuple):
    """What the other analyzers found: names of variables read, hosts, and what is done at all."""

    env: Texts = ()
    network: bool = False
    runs: bool = False
    writes: bool = False
    credential: bool = False
    hosts: Texts = ()


_OFFLINE = re.compile(
    r"^\s*offline\b|\b(?:offline[ -]only|(?:works?|runs?|fully|completely|entirely) offline"
    r"|no (?:network|internet)(?: access| connection)?|without (?:a )?(?:network|internet)"
    r"|air[- ]?gapped|network (?:is )?not (?:needed|required)|(?:does not|never) (?:use|need"
    r"|access) the (?:network|internet)|local[- ]only)\b"
)
_RUNNERS = word_set(
    "bash shell sh terminal execute exec run powershell computer code_execution runcommand python"
)
_WRITERS = word_set(
    "write edit multiedit notebookedit applypatch create str_replace_based_edit_tool filesystem"
)
_READERS = word_set("read grep glob ls notebookread view search list webfetch websearch")


def compare_claims(declared: SkillClaims, found: SkillDeeds) -> list[RuleHit]:
    """Return where the two part, each with what it was; offsets are nought, since a declaration is
    a whole.
    """
    hits = []
    names = tuple(tool_name(tool) for tool in declared.tools)
    if names and "*" not in names:
        hits += _tools(names, found)
    if broad := [tool for tool in declared.tools if _unlimited(tool)]:
        hits.append(_whole_file("SC703", ", ".join(broad)[:200]))
    hits += _environment(declared, found)
    if found.network and (
        declared.network is False
        or _OFFLINE.search(f"{declared.compatibility} {declared.description}".lower()[:4000])
    ):
        hits.append(_whole_file("SC702", ", ".join(found.hosts)[:200]))
    return hits


def tool_name(tool: str) -> str:
    """Return a declared tool's bare name in lower case: `Bash(git:*)` is bash, `mcp__files__write`
    is write (ZE-22).
    """
    bare = tool.strip().partition("(")[0].strip().lower()
    return bare.rpartition("__" if bare.startswith("mcp__") else ":")[2]


def _tools(names: Texts, found: SkillDeeds) -> list[RuleHit]:
    hits = []
    shown = ", ".join(names)[:200]
    runs = bool(_RUNNERS.intersection(names))
    writes = bool(_WRITERS.intersection(names))
    reads_only = all(name in _READERS for name in names)
    if found.runs and not runs:
        hits.append(_whole_file("SC700", shown))
    if found.writes and reads_only and not (runs or writes):
        hits.append(_whole_file("SC704", shown))
    if (
        reads_only
        and found.credential
        and found.network
        and not {"webfetch", "websearch"}.intersection(names)
    ):
        hits.append(_whole_file("SC705", shown))
    return hits


def _unlimited(tool: str) -> bool:
    name, _, limit = tool.strip().partition("(")
    return name.strip() == "*" or (
        name.strip().lower() in _RUNNERS and limit.rstrip(") ") in ("", "*", "*:*", "**")
    )


def _environment(declared: SkillClaims, found: SkillDeeds) -> list[RuleHit]:
    """Report secrets read and not declared; where nothing is declared at all, a name in the texts
    counts as declared.
    """
    known = {name.upper() for name in declared.env}
    said = f"{declared.compatibility} {declared.description}".upper()[:8000]
    missing = {
        name
        for name in found.env
        if name.upper() not in known and name.upper() not in said and places.secret_name(name)
    }
    return [_whole_file("SC701", ", ".join(sorted(missing))[:200])] if missing else []


DONE_PLACES = word_set("script fence code")
"""Places where something is done and not only spoken of."""
ENV_READ_RULES = word_set("SC330 SC348 SC392 SC410 SC413 SC468 SC485")
"""Rules whose evidence names variables of the environment."""
RUN_RULES = word_set("SC391 SC400 SC467 SC470")
WRITE_RULES = word_set("SC393 SC434")
# the letter comes before the look back, so that the search skips to the next capital
_VARIABLE = re.compile(r"[A-Z](?<!\w[A-Z])[A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,8}\b")
_HOST = re.compile(r"https?://([\w.-]{3,80})")


def find_contradictions(
    files: Sequence[FileText], seen: Sequence[Sighting]
) -> Iterator[tuple[str, RuleHit]]:
    """Find where the two part; each is told of the SKILL.md that makes the claim. Without one,
    nothing is claimed.
    """
    main = next((file for file in files if file.path.lower() == "skill.md"), None)
    if main is None:
        return
    deeds = _gather_deeds(files, seen)
    claims = read_claims(main, with_env=bool(deeds.env))
    for hit in compare_claims(claims, deeds):
        yield main.path, hit
    categories = {
        RULES[one.rule].category for one in seen if one.rule in RULES and one.place in DONE_PLACES
    }
    why = description_mismatch(claims.description, categories)
    if why:
        yield main.path, _whole_file("SC623", why)


def read_claims(file: FileText, *, with_env: bool = True) -> SkillClaims:
    """Read the claims of a SKILL.md, on demand with the variables that it names: they are looked
    for in all of it. What cannot be read claims nothing.
    """
    data = file.original.encode("utf-8", "surrogatepass")
    document = read_document(data, folder="", size=len(data), positions=False)
    if document is None:
        return SkillClaims()
    fields: JsonObject = document.fields
    needs = read_needs(fields, document.spans, None)[1]
    tools = split_tools(fields.get("allowed-tools"))[0]
    compatibility = fields.get("compatibility")
    network = fields.get("network")
    open_ = (
        network.strip().lower() not in {"false", "no", "none", "off"}
        if isinstance(network, str)
        else None
    )
    # Where nothing is declared, a variable that the text mentions counts; what else the body says
    # is no claim of the skill.
    env: Texts = ()
    if with_env:
        env = (needs.env if needs else ()) or tuple(
            dict.fromkeys(_VARIABLE.findall(file.text.plain))
        )
    return SkillClaims(
        tools,
        env,
        open_,
        compatibility if isinstance(compatibility, str) else "",
        document.description,
    )


def _gather_deeds(files: Sequence[FileText], seen: Sequence[Sighting]) -> SkillDeeds:
    done = [one for one in seen if one.place in DONE_PLACES and one.rule in RULES]
    read = [one.evidence for one in done if one.rule in ENV_READ_RULES]
    categories = {RULES[one.rule].category for one in done}
    return SkillDeeds(
        env=tuple(sorted({name for text in read for name in _VARIABLE.findall(text)})),
        network=bool(categories & {"network", "exfiltration"}),
        runs=any(
            one.rule in RUN_RULES
            # commands in a fence that is no example
            or (one.rule.startswith("SC2") and one.place == "fence")
            for one in done
        )
        or any(file.kind in CODE_KINDS for file in files),
        writes=any(one.rule in WRITE_RULES for one in done),
        credential=any(
            RULES[one.rule].category == "credential"
            and RULES[one.rule].severity in {"critical", "high", "medium"}
            for one in done
        ),
        hosts=tuple(sorted({host for one in done for host in _HOST.findall(one.evidence)})),
    )
