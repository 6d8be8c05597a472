"""Shows files of a skill: as a tree that opens, and each with its source in colour and with what was
found in it.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs, unquote_to_bytes

from markupsafe import Markup
from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
from pygments.token import STANDARD_TYPES  # type: ignore[import-untyped]
from starlette.convertors import Convertor, register_url_convertor
from starlette.responses import Response

from metier.web.markdown import (
    MarkedFinding,
    finding_lines,
    flag_of,
    mark_spans,
    note_of,
    quote_path,
    settle_lines,
    span_of,
)
from metier.web.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from starlette.requests import Request

    from metier.disclose.inspect import InspectedFile

MAX_SHOWN_CHARS = 400_000
MAX_SHOWN_LINES = 5_000
MAX_QUERY_CHARS = 20_000
MAX_COLOURED_CHARS = 100_000
MAX_COLOURED_LINE = 2_000
"""Characters of a line beyond which a file has no colours: its lines are data, and take long."""
COLOUR_SECONDS = 0.25
MAX_FOLDER_DEPTH = 40
OPEN_FOLDERS = 200
"""Files up to which all folders of a tree are written, and open."""
MAX_LISTED_AT_ONCE = 300
"""Of one folder of a skill with more files than that."""
MAX_DIFF_LINES = 4_000
LINE_KINDS = {"+": "add", "-": "del", "@": "hunk", "\\": "note"}
ODD_SHARE = 0.05
"""The share of control characters up to which bytes are shown as text."""
LANGUAGES = {
    ("py", "pyi"): "python",
    ("sh", "bash", "zsh", "envrc"): "bash",
    ("js", "mjs", "cjs", "jsx"): "javascript",
    ("ts", "tsx", "mts"): "typescript",
    ("json", "jsonl", "json5"): "json",
    ("yaml", "yml"): "yaml",
    ("toml",): "toml",
    ("ini", "cfg", "conf", "properties"): "ini",
    ("md", "markdown"): "markdown",
    ("html", "htm", "svg", "xml", "xsd", "xhtml"): "xml",
    ("css", "scss"): "css",
    ("sql",): "sql",
    ("c", "h"): "c",
    ("cpp", "cc", "hpp", "cxx"): "cpp",
    ("go",): "go",
    ("rs",): "rust",
    ("rb",): "ruby",
    ("java",): "java",
    ("kt", "kts"): "kotlin",
    ("cs",): "csharp",
    ("swift",): "swift",
    ("php",): "php",
    ("pl", "pm"): "perl",
    ("lua",): "lua",
    ("r",): "splus",
    ("ps1", "psm1"): "powershell",
    ("bat", "cmd"): "batch",
    ("diff", "patch"): "diff",
    ("dockerfile",): "docker",
    ("makefile", "mk"): "make",
    ("tf",): "terraform",
    ("tex",): "latex",
}
_LANGUAGE_OF = {ending: name for endings, name in LANGUAGES.items() for ending in endings}
_SHEBANG = re.compile(r"#!.*\b(python|bash|sh|node|ruby|perl|php|lua)")
_READERS = {"sh": "bash", "node": "javascript"}
IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
"""How images begin that a page may show. None of them can hold a script."""
RAW_HEADERS = {
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
}
_SPECIES = (
    (b"\x7fELF", "a program (ELF)"),
    (b"MZ", "a program (Windows)"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"%PDF-", "a PDF"),
    (b"SQLite format 3", "a SQLite database"),
    (b"\xca\xfe\xba\xbe", "a program (Mach-O or Java)"),
)


# --- the tree


def file_tree(base: str, files: Sequence[InspectedFile], found: Mapping[str, int]) -> Markup:
    """Write files as folders that open; `found` says how often something was found in each. Of many
    files only the first folder is written: the others come when somebody opens them.
    """
    if len(files) > OPEN_FOLDERS:
        return folder_list(base, files, found)
    top: dict[str, object] = {}
    for file in files:
        *folders, name = file.path.split("/")
        if len(folders) > MAX_FOLDER_DEPTH:  # the rest stays together, so that no two become one
            folders[MAX_FOLDER_DEPTH:] = ["/".join(folders[MAX_FOLDER_DEPTH:])]
        level = top
        for folder in folders:
            inner = level.setdefault(f"{folder}/", {})
            assert isinstance(inner, dict)
            level = inner
        level[name] = file
    out: list[str] = []
    _write_folder(out, top, base, found)
    return Markup("".join(out))  # noqa: S704 - names were escaped when they were added


def _write_folder(
    out: list[str],
    level: Mapping[str, object],
    base: str,
    found: Mapping[str, int],
) -> None:
    out.append('<ul class="tree">')
    for name in sorted(level, key=lambda one: (not one.endswith("/"), one)):
        inside = level[name]
        if isinstance(inside, dict):
            out.append(f"<li><details open><summary>{visible(name)}</summary>")
            _write_folder(out, inside, base, found)
            out.append("</details></li>")
        else:
            _write_file(out, name, inside, base, found)  # type: ignore[arg-type]  # no other kind
    out.append("</ul>")


def _write_file(
    out: list[str], name: str, file: InspectedFile, base: str, found: Mapping[str, int]
) -> None:
    words = size_of(file.size) + (", a program" if file.executable else "")
    if file.link:
        out.append(f"<li>{visible(name)} <small>a link, not followed</small></li>")
        return
    out.append(
        f'<li><a href="{base}/files/{quote_path(file.path)}">{visible(name)}</a>'
        f" <small>{words}</small>{_flag(found.get(file.path, 0))}</li>"
    )


def _flag(count: int) -> str:
    return f' <span class="badge caution">{count} found</span>' if count else ""


def folder_list(
    base: str,
    files: Sequence[InspectedFile],
    found: Mapping[str, int],
    inside: str = "",
    at: int = 0,
) -> Markup:
    """Write what lies directly in one folder, a part of it where that is much. `inside` is its path
    with a slash at the end; of the skill's own folder it is empty.
    """
    start = len(inside)
    folders: Counter[str] = Counter()
    own: list[InspectedFile] = []
    for file in files:
        if file.path.startswith(inside):
            name, slash, _rest = file.path[start:].partition("/")
            if slash:
                folders[name + slash] += 1
            else:
                own.append(file)
    marks: Counter[str] = Counter()
    for path, count in found.items():
        name, slash, _rest = path[start:].partition("/")
        if slash and path.startswith(inside):
            marks[name + slash] += count
    rows: list[str | InspectedFile] = [*sorted(folders), *own]
    out = ['<ul class="tree">']
    for row in rows[at : at + MAX_LISTED_AT_ONCE]:
        if isinstance(row, str):
            where = f"{base}/folder?in={quote_path(inside + row)}"
            told = f"{folders[row]:,} file{'s' * (folders[row] != 1)}"
            out.append(
                f'<li><details hx-get="{where}" hx-trigger="toggle once" hx-target="find ul" '
                f'hx-swap="outerHTML"><summary>{visible(row)} <small>{told}</small>'
                f'{_flag(marks[row])}</summary><ul class="tree"><li><a href="{where}">Show what is '
                f"in {visible(row)}</a></li></ul></details></li>"
            )
        else:
            _write_file(out, row.path[start:], row, base, found)
    after = at + MAX_LISTED_AT_ONCE
    if after < len(rows):
        out.append(
            f'<li><a href="{base}/folder?in={quote_path(inside)}&amp;at={after}">'
            f"{len(rows) - after:,} more</a></li>"
        )
    out.append("</ul>")
    return Markup("".join(out))  # noqa: S704 - names were escaped when they were added


def size_of(count: int) -> str:
    """Write a size as people do."""
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1_000:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 10 else f"{size:.1f} {unit}"
        size /= 1_000
    return f"{size:.1f} GB"


# --- the source


def coloured_lines(text: str, path: str) -> list[Markup]:
    """Give the lines of a text with classes for its words; without, where that would take long."""
    lines = text.removesuffix("\n").split("\n")
    name = path.rpartition("/")[2].lower()
    language = _LANGUAGE_OF.get(name.rpartition(".")[2], "")
    shebang = _SHEBANG.match(lines[0][:200])
    if not language and shebang:
        language = _READERS.get(shebang[1], shebang[1])
    if language and len(text) <= MAX_COLOURED_CHARS and max(map(len, lines)) <= MAX_COLOURED_LINE:
        found = list(_colour(text, language))
        if len(found) == len(lines):
            return found
    return [visible(line) for line in lines]


def _colour(text: str, language: str) -> Iterator[Markup]:
    """Give line after line; none more once it takes too long."""
    lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    until = time.monotonic() + COLOUR_SECONDS
    parts: list[str] = []
    for kind, value in lexer.get_tokens(text.removesuffix("\n")):
        name = STANDARD_TYPES.get(kind, "")
        for at, words in enumerate(value.split("\n")):
            if at:
                yield Markup("".join(parts))  # noqa: S704 - escaped below
                parts = []
                if time.monotonic() > until:
                    return
            if words:
                told = visible(words)
                parts.append(f'<span class="{name}">{told}</span>' if name else told)
    yield Markup("".join(parts))  # noqa: S704 - escaped above


def source_page(text: str, path: str, findings: Iterable[MarkedFinding], base: str = "") -> Markup:
    """Write a file line by line, each with its number and with what was found there."""
    words = settle_lines(text).split("\n")[:MAX_SHOWN_LINES]
    coloured = coloured_lines("\n".join(words), path)
    by_line = finding_lines(findings)
    out = [*(note_of(one, base) for one in by_line.get(0, ())), '<div class="source">']
    for number, line in enumerate(coloured, 1):
        here = by_line.get(number, ())
        told: str = line
        if here:  # a mark may begin in the middle of a word's colour
            raw = words[number - 1]
            spans = [span_of(raw, one.finding) or (0, len(raw)) for one in here]
            told = mark_spans(raw, spans) + "".join(map(flag_of, here))
        out.append(
            f'<div class="line" id="L{number}"><a class="n" href="#L{number}">{number}</a>'
            f"<code>{told}</code></div>"
        )
        out += (note_of(one, base) for one in here)
    out.append("</div>")
    for number, here in by_line.items():
        out += (note_of(one, base) for one in here if number > len(coloured))
    return Markup("".join(out))  # noqa: S704 - every part was escaped when it was added


def diff_lines(diff: str) -> tuple[list[tuple[str, str]], int]:
    """Give the lines of a diff, each with its kind, and how many more there are."""
    lines = diff.split("\n")
    lines = lines[:-1] if lines and not lines[-1] else lines
    found = []
    for line in lines[:MAX_DIFF_LINES]:
        kind = LINE_KINDS.get(line[:1], "")
        if line.startswith(("--- ", "+++ ")) or (line and line[0] not in " +-@\\"):
            kind = "file"
        found.append((kind, line))
    return found, max(0, len(lines) - MAX_DIFF_LINES)


def image_type(data: bytes) -> str:
    """Give the type of an image that a page may show, by its first bytes; nothing for all else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for head, kind in IMAGES if data.startswith(head)), "")


def species_of(data: bytes) -> str:
    """Say what bytes are that are no text."""
    known = next((told for head, told in _SPECIES if data.startswith(head)), "")
    return image_type(data) or known or "binary data"


def text_in(file: InspectedFile) -> str | None:
    """Give what can be read of a file; nothing where it is binary."""
    if file.text is not None:
        return file.text
    data = file.data[:MAX_SHOWN_CHARS]
    if image_type(data) or not data:
        return None
    odd = sum(byte < 9 or 13 < byte < 32 for byte in data)
    decoded = data.decode("utf-8", "replace")
    odd += decoded.count("\ufffd")
    return decoded if odd <= ODD_SHARE * len(data) else None


class FilePage(NamedTuple):
    """One file, as its page shows it."""

    file: InspectedFile
    source: Markup | None
    lines: int
    cut: bool
    image: str
    species: str
    sha256: str
    findings: tuple[MarkedFinding, ...]
    notes: list[Markup]
    """What was found, where there is no text to mark it in."""


def file_page(file: InspectedFile, findings: tuple[MarkedFinding, ...], base: str) -> FilePage:
    """Write one file for its page; `base` is the address of its skill."""
    text = text_in(file)
    data = file.data if file.text is None else file.text.encode("utf-8", "surrogateescape")
    shown = text[:MAX_SHOWN_CHARS] if text is not None else ""
    lines = text.removesuffix("\n").count("\n") + 1 if text else 0
    return FilePage(
        file=file,
        source=source_page(shown, file.path, findings, base) if text is not None else None,
        lines=lines,
        cut=text is not None and (len(text) > MAX_SHOWN_CHARS or lines > MAX_SHOWN_LINES),
        image=image_type(data),
        species=species_of(data),
        sha256=sha256(data).hexdigest() if len(data) == file.size else "",
        findings=findings,
        notes=[note_of(one, base) for one in findings] if text is None else [],
    )


def as_it_lies(file: InspectedFile) -> Response:
    """Give the bytes of a file, in a way that a browser can do nothing with but show them."""
    if file.text is not None:
        data, kind = file.text.encode("utf-8", "replace"), "text/plain; charset=utf-8"
    else:
        data, kind = file.data, image_type(file.data) or "application/octet-stream"
    headers = dict(RAW_HEADERS)
    if kind == "application/octet-stream":
        headers["content-disposition"] = "attachment"
    return Response(data, media_type=kind, headers=headers)


class AnyFileConvertor(Convertor[str]):
    """Takes a file's path in an address, lines that end in it included."""

    regex = "(?s:.+)"

    def convert(self, value: str) -> str:
        """Give it as it is."""
        return value

    def to_string(self, value: str) -> str:
        """Give it as it is."""
        return value


register_url_convertor("file", AnyFileConvertor())


def file_of(request: Request, at: int) -> str:
    """Give the file that an address means, which need not be UTF-8; `at` is how many slashes come
    before it.
    """
    raw = request.scope.get("raw_path")
    if not raw:
        return str(request.path_params["file"])
    return os.fsdecode(unquote_to_bytes(raw).split(b"/", at)[at])


def folder_of(request: Request) -> tuple[str, int]:
    """Give the folder that an address asks for, and from which row on it is to be listed."""
    # A folder's name need not be UTF-8.
    query = request.scope["query_string"].decode("latin-1")[:MAX_QUERY_CHARS]
    given = parse_qs(query, errors="surrogateescape", max_num_fields=10)
    at = given.get("at", ["0"])[0]
    start = int(at) if at.isascii() and at.isdecimal() and len(at) < 8 else 0
    return given.get("in", [""])[0], start
