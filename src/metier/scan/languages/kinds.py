"""Tells what a file is by its content: magic numbers, then the shebang, then its shape; the
extension only breaks a tie.

It also names the language of a text by how its lines begin, and looks into formats that are no text
as far as a judgement needs: whether one is locked, and whether a second file lies behind it.
"""

from __future__ import annotations

import re
from collections import Counter

from metier.scan.model import word_set

# Line beginnings that people seldom write in prose. One alternation for all languages: a text is
# gone through once.
_STRONG = re.compile(
    r"""\n[ \t]*(?:
      (?P<python>import[ ]\w[\w.]*(?:[ ]as[ ]\w+)?[ \t]*(?:\#[^\n]*)?$|from[ ][\w.]+[ ]import\b
        |(?:async[ ])?def[ ]\w+\(|class[ ]\w+(?:\([^\n)]*\))?:
        |if[ ]__name__[ ]?==|elif[ ][^\n]{1,200}:[ \t]*$|except\b[^\n]{0,80}:[ \t]*$
        |try:[ \t]*$|print\()
    | (?P<typescript>(?:export[ ])?(?:interface[ ]\w+[^\n{]{0,80}\{|type[ ]\w+[^\n=]{0,40}=|enum[ ]\w+[ ]\{)|import[ ]type[ ]
        |(?:export[ ])?(?:const|let)[ ]\w+:[ ])
    | (?P<javascript>(?:export[ ])?(?:const|let|var)[ ][\w{\[][^\n=]{0,120}=
        |(?:export[ ])?(?:default[ ])?(?:async[ ])?function\b[ *]*\w*\(
        |import[ ][^\n]{1,200}[ ]from[ ]['"]|import[ ]['"]|export[ ](?:default|class|\{)|module\.exports\b|require\(|console\.\w+\(
        |\}\)?\)?;[ \t]*$)
    | (?P<powershell>(?i:param[ ]?\(|\$(?:env:)?\w+[ ]?\+?=|\[CmdletBinding|function[ ]\w+-\w+
        |(?:Write|Get|Set|New|Invoke|Import|Remove|Start|Add|Test)-[A-Z]\w+))
    | (?P<shell>if[ ]\[|(?:el)?if[ ][^\n]{1,200};[ ]?then|fi[ \t]*$|done\b[^\n]{0,40}$|then[ \t]*$|do[ \t]*$|esac[ \t]*$
        |export[ ]\w+=|echo[ ]["'$-]|set[ ]-[a-z]|(?:curl|wget)[ ][^\n]{0,200}(?:-|https?:)|sudo[ ]\w|chmod[ ][\d+a-z-]
        |source[ ][./~$]|for[ ]\w+[ ]in[ ]|\w+\(\)[ ]?\{|\w+=["']?\$\(
        |(?:npm|pip3?|apt(?:-get)?|brew|git|docker)[ ](?:install|clone|run|pull)[ ]
        |(?:local|readonly|declare)[ ]-?\w+=|mkdir[ ]-p|cd[ ]["'$./~]|rm[ ]-)
    | (?P<ruby>require(?:_relative)?[ ]['"]|def[ ](?:self\.)?\w+[?!]?[ \t]*$|puts[ ]["']|module[ ][A-Z]\w*[ \t]*$
        |class[ ][A-Z]\w*(?:[ ]<[ ][\w:]+)?[ \t]*$)
    | (?P<perl>use[ ](?:strict|warnings|[A-Z]\w*::)|my[ ][$@%(]|sub[ ]\w+[ ]*\{)
    | (?P<lua>local[ ](?:function[ ])?\w+|function[ ][\w.:]+\([^\n)]*\)[ \t]*$)
    | (?P<batch>(?i:@echo[ ]off|setlocal\b|if[ ](?:not[ ])?(?:exist|errorlevel)[ ]|goto[ ]:?\w+|rem[ ]|set[ ](?:/[ap][ ])?\w+=))
    | (?P<applescript>tell[ ]application\b|end[ ]tell|do[ ]shell[ ]script\b|on[ ]run\b|display[ ](?:dialog|notification)\b)
    )""",
    re.VERBOSE | re.MULTILINE,
)
_LINE = re.compile(r"\n[ \t]*[^\s#]")
_KEY = re.compile(r"(?:(?:\#[^\n]*|---)\s+)*(?:- )?(?:\[|[\w.\"'-]+[ \t]*[:=])")
_MARKUP = word_set("json css csv svg xml html")
_SAME = (
    {"javascript", "typescript"},
    {"shell", "batch"},
    {"ruby", "lua"},
)  # languages whose lines begin alike
_CODE = frozenset(_STRONG.groupindex)
SAMPLE_CHARS = (
    3072  # characters at the beginning, and as many at the end: enough lines to tell a language by
)
MIN_LINE_SHARE = 0.25  # of the lines that hold something
NEEDED_LINES = {
    "text": 2,
    "markdown": 3,
    "yaml": 3,
    "toml": 3,
}  # lines that overrule a name; one is enough against any other


def language_of(text: str, claimed: str) -> str:
    """Name the language that a text's lines speak for, or nothing when what the name claims may
    stand.
    """
    start = text[:512].lstrip("\ufeff \t\r\n").lower()
    by_start = _by_start(start, text, claimed)
    if by_start or (claimed in _MARKUP and start.startswith(("{", "[", "<", "@", "."))):
        return by_start
    if claimed in ("yaml", "toml") and _KEY.match(start):
        return ""
    sample = f"\n{text[:SAMPLE_CHARS]}\n{text[SAMPLE_CHARS:][-SAMPLE_CHARS:]}"
    counts = Counter(found.lastgroup or "" for found in _STRONG.finditer(sample))
    return _verdict(counts, len(_LINE.findall(sample)), claimed) if counts else ""


def _verdict(counts: dict[str, int], lines: int, claimed: str) -> str:
    """Let the lines overrule the name only when they speak clearly."""
    best = max(counts, key=counts.__getitem__)
    if best == "javascript" and counts.get("typescript"):
        best = "typescript"
    if claimed in _CODE:
        family = next((same for same in _SAME if claimed in same), {claimed})
        return best if counts[best] >= 3 and not any(name in counts for name in family) else ""
    enough = counts[best] >= NEEDED_LINES.get(claimed, 1)
    return best if enough and sum(counts.values()) >= lines * MIN_LINE_SHARE else ""


_OPENINGS = {
    "html": ("<!doctype html", "<html"),
    "xml": ("<?xml",),
    "batch": ("@echo off", "setlocal"),
}


def _by_start(start: str, text: str, claimed: str) -> str:
    """Know a text by the way it begins."""
    if start.startswith("<?php") or (claimed == "php" and "<?" in text):
        return "php"
    if start.startswith("<svg") or (
        start.startswith(("<?xml", "<!doctype svg")) and "<svg" in text[:2048].lower()
    ):
        return "svg"
    for kind, openings in _OPENINGS.items():
        if start.startswith(openings):
            return kind
    if (
        claimed in ("", "text")
        and start[:1] in ("{", "[")
        and start[1:].lstrip()[:1] in ('"', "{", "[", "}", "]")
    ):
        return "json" if text.rstrip()[-1:] in ("}", "]") else ""
    return ""


# --- what a file is

HEAD_BYTES = 16 * 1024  # bytes of a text that are looked at; what a file is shows early

CODE_KINDS = word_set(
    "shell python javascript typescript powershell ruby php perl lua batch applescript"
)
PROSE_KINDS = word_set("markdown text html xml svg csv json yaml toml css")
BINARY_KINDS = word_set("image font pdf media document sqlite")
_READABLE_KINDS = CODE_KINDS | PROSE_KINDS
RISKY_KINDS = CODE_KINDS | {"archive", "executable", "bytecode"}

_MAGIC = {
    "executable": (
        b"\x7fELF", b"\xfe\xed\xfa\xce", b"\xfe\xed\xfa\xcf", b"\xce\xfa\xed\xfe",
        b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\x00asm", b"dex\n0",
    ),
    "bytecode": (
        b"\x1bLua", b"BC\xc0\xde", b"FasdUAS ",
    ),
    "archive": (
        b"\x1f\x8b", b"\xfd7zXZ\x00", b"(\xb5/\xfd", b"7z\xbc\xaf'\x1c", b"Rar!\x1a\x07",
        b"!<arch>\n", b"MSCF\x00", b"\xed\xab\xee\xdb", b"Cr24", b'\x04"M\x18',
    ),
    "image": (
        b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*",
        b"\x00\x00\x01\x00", b"\x00\x00\x02\x00", b"8BPS\x00", b"icns\x00", b"\xff\x0a",
        b"\x00\x00\x00\x0cJXL ",
    ),
    "font": (
        b"OTTO\x00", b"ttcf\x00", b"wOFF", b"wOF2", b"true\x00", b"\x00\x01\x00\x00\x00",
    ),
    "pdf": (
        b"%PDF-",
    ),
    "media": (
        b"ID3", b"fLaC", b"OggS\x00", b"\x1aE\xdf\xa3", b"FLV\x01", b"MThd\x00",
    ),
    "sqlite": (
        b"SQLite format 3\x00",
    ),
    "document": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    ),
}  # fmt: skip
"""Formats, each with the ways its files begin."""
_EXTENSIONS = {
    extension: kind
    for kind, extensions in {
        "markdown": "md markdown mdx mdc mkd",
        "shell": "sh bash zsh ksh fish command bats",
        "python": "py pyw pyi pyx",
        "javascript": "js mjs cjs jsx",
        "typescript": "ts tsx mts cts",
        "powershell": "ps1 psm1 psd1",
        "ruby": "rb gemspec rake",
        "php": "php phtml php5",
        "perl": "pl pm",
        "lua": "lua",
        "batch": "bat cmd",
        "applescript": "applescript scpt",
        "json": "json jsonc json5 jsonl ndjson ipynb geojson webmanifest map",
        "yaml": "yaml yml",
        "toml": "toml",
        "html": "html htm xhtml",
        "css": "css scss sass less",
        "xml": "xml xsd xsl xslt plist rss atom",
        "svg": "svg",
        "csv": "csv tsv",
        "text": "txt text log rst adoc license ini cfg conf properties env lock",
        "image": "png jpg jpeg gif webp bmp ico tif tiff avif heic psd icns jxl",
        "font": "ttf otf woff woff2 eot ttc",
        "pdf": "pdf",
        "media": "mp3 mp4 wav ogg flac m4a mov avi mkv webm mid m4v",
        "archive": "zip tar gz tgz bz2 xz 7z rar zst jar whl skill apk deb rpm",
        "executable": "exe dll so dylib wasm class dex o bin",
        "bytecode": "pyc pyo",
        "document": "docx xlsx pptx dotx xltx potx odt ods odp odg epub doc xls ppt",
        "sqlite": "db sqlite sqlite3",
    }.items()
    for extension in extensions.split()
}
_NAMES = dict.fromkeys(
    word_set(
        "dockerfile containerfile makefile gnumakefile justfile .bashrc .zshrc .profile "
        ".bash_profile .envrc"
    ),
    "shell",
)
_INTERPRETERS = {
    interpreter: kind
    for kind, interpreters in {
        "shell": "sh bash zsh dash ksh fish ash csh tcsh busybox bats make",
        "python": "python pypy uv uvx pipx ipython",
        "javascript": "node nodejs bun zx",
        "typescript": "deno tsx ts-node",
        "powershell": "pwsh powershell",
        "ruby": "ruby",
        "perl": "perl",
        "php": "php",
        "lua": "lua luajit",
        "applescript": "osascript",
    }.items()
    for interpreter in interpreters.split()
}
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_MARKDOWN = re.compile(r"\n(?:```|~~~|#{2,6} )")


def kind_of(path: str, data: bytes) -> str:
    """Say what a file is from its bytes, whatever its name says; `unknown` when they are neither
    text nor a known format.
    """
    kind = magic_of(data)
    claimed = claim_of(path)
    if kind == "document" and (claimed != "document" or programs_in(data)):
        # every office document is an archive; only its name and its entries say which of the two it
        # is
        return "archive"
    if kind:
        return kind
    head = data[:HEAD_BYTES]
    text, problem = decoded(head if len(data) <= HEAD_BYTES else _whole_characters(head))
    if problem and not _readable(text):
        return "unknown"
    return _text_kind(text, claimed)


def mismatch(path: str, kind: str) -> bool:
    """Tell whether a name promises something harmless or readable, and the content is code, an
    archive, a program or no text.
    """
    claimed = claim_of(path)
    if kind in CODE_KINDS:
        return claimed in BINARY_KINDS | PROSE_KINDS
    if kind in RISKY_KINDS:
        return claimed in BINARY_KINDS | _READABLE_KINDS
    return kind in BINARY_KINDS and claimed in _READABLE_KINDS


def disguised(path: str, data: bytes) -> str:
    """Name the format that a text's first bytes pretend to, '' when they do not; a readable name
    may begin as it likes.
    """
    claimed = claim_of(path)
    return announced(data) if claimed not in _READABLE_KINDS and _text_behind(data) else ""


def decoded(data: bytes) -> tuple[str, str]:
    """Give the text of a file, and what is wrong with its encoding ('' when nothing is). Never
    fails.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _decode(data[len(bom) :], encoding)
    if b"\x00" in data[:512]:
        encoding = wide(data[:512])
        if encoding:
            return _decode(data, encoding)
    return _decode(data, "utf-8")


def _decode(data: bytes, encoding: str) -> tuple[str, str]:
    try:
        return data.decode(encoding), ""
    except UnicodeDecodeError:
        if encoding == "utf-8":
            return data.decode("latin-1"), "not UTF-8"
        return data.decode(encoding, "replace"), f"not {encoding.upper()}"


def wide(head: bytes) -> str:
    """Tell UTF-16 without its mark by where the zero bytes are: nearly always in the same half of
    each pair.
    """
    pairs = len(head) // 2
    low = head[1::2].count(0)
    high = head[0::2].count(0)
    for zeros, others, encoding in ((low, high, "utf-16-le"), (high, low, "utf-16-be")):
        if pairs >= 2 and zeros >= pairs * 0.7 and others <= pairs * 0.05:
            return encoding
    return ""


def _whole_characters(head: bytes) -> bytes:
    """Take off the beginning of a character that the cut went through."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head[: len(head) // 2 * 2]
    at = len(head) - 1
    while at > len(head) - 4 and head[at] & 0xC0 == 0x80:
        at -= 1
    return head[:at] if head[at] >= 0xC0 else head


def magic_of(data: bytes) -> str:
    """Say what format a file is by its first bytes; nothing for text, whatever it begins with, and
    for unknown formats.
    """
    kind = announced(data)
    return "" if kind in _SOFT and _text_behind(data) else kind


def _text_behind(data: bytes) -> bool:
    """Tell text behind a format's mark from the format: all of them have zeros or other unprinted
    bytes within a kilobyte.
    """
    if data.startswith(b"%PDF-") and b" obj" in data[:_SAMPLE] and b"startxref" in data[-_SAMPLE:]:
        return False  # the one format that may be text throughout
    head = data[_MARK : _MARK + _SAMPLE]
    odd = sum(map(head.count, _UNPRINTED_BYTES))
    if head.count(0) > _FEW or odd > _FEW + len(head) // 50 or len(head) < _LEAST:
        return False
    try:
        _whole_characters(head).decode()
    except UnicodeDecodeError:
        return False
    return True


def programs_in(data: bytes) -> bool:
    """Say whether a zip has an entry that is a script or a program by its name."""
    for mark, size, name in ((b"PK\x03\x04", 26, 30), (b"PK\x01\x02", 28, 46)):
        at = data.find(mark)
        while at >= 0:
            length = int.from_bytes(data[at + size : at + size + 2], "little")
            if data[at + name : at + name + length].lower().rstrip(b". ").endswith(_PROGRAMS):
                return True
            at = data.find(mark, at + 4)
    return False


def announced(data: bytes) -> str:
    """Say what format a file's first bytes announce, true or not."""
    for kind, marks in _MAGIC.items():
        if data.startswith(marks):
            return kind
    first = data[:4]
    if first[:2] == b"PK" and first[2:] in (b"\x03\x04", b"\x05\x06", b"\x07\x08"):
        head = data[:4096]
        return (
            "document"
            if b"[Content_Types].xml" in head or b"mimetypeapplication/" in head
            else "archive"
        )
    if first[:2] == b"MZ" and (b"\x00" in data[:64] or b"PE\x00\x00" in data[:1024]):
        return "executable"
    if first == b"RIFF":
        return "image" if data[8:12] == b"WEBP" else "media"
    return _by_odd_magic(data)


def _by_odd_magic(data: bytes) -> str:
    """Know the formats whose mark is not at the beginning, or too short to be trusted alone."""
    if data[4:8] == b"ftyp":
        return "image" if data[8:12] in (b"avif", b"heic", b"heix", b"mif1", b"avis") else "media"
    if data[2:4] == b"\r\n" and b"\x00" in data[4:16]:
        return "bytecode"  # Python's marker ends in a line end, so that a text-mode copy breaks it
    if (
        data[:1] == b"\x80"
        and data[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")
        and data.rstrip()[-1:] == b"."
    ):
        return "bytecode"  # a pickle: instructions for a machine that may call anything
    if (
        data[:2] == b"BM"
        and int.from_bytes(data[2:6], "little") in (len(data), 0)
        and len(data) > 26
    ):
        return "image"
    if data[:3] == b"BZh" and data[4:10] == b"1AY&SY":
        return "archive"
    if data[:1] == b"\xff" and data[1:2] in (b"\xfb", b"\xf3", b"\xf2", b"\xf1", b"\xf9"):
        return "media"
    return "archive" if data[257:262] == b"ustar" or data[32769:32774] == b"CD001" else ""


def _readable(text: str) -> bool:
    """Tell text in an old encoding from bytes that are no text at all."""
    sample = text[:4096]
    odd = sum(map(sample.count, _UNPRINTED))
    return "\x00" not in sample and odd <= len(sample) // 50


_SOFT = BINARY_KINDS | {"archive"}
_MARK = 8  # bytes of a mark that need not be text
_SAMPLE = 1024
_FEW = 3
_LEAST = 12  # bytes behind a mark that can say anything
_UNPRINTED_BYTES = tuple(
    bytes((code,)) for code in (*range(9), *range(14, 27), *range(28, 32), 127)
)
_PROGRAMS = tuple(
    (
        b".sh .bash .zsh .command .py .pyw .pyc .js .mjs .cjs .jse .ts .ps1 .psm1 .bat .cmd "
        b".vbs .vbe .wsf .hta .scr .com .exe .dll .so .dylib .msi .lnk .jar .class .php .pl "
        b".rb .lua .applescript .scpt .wasm .elf"
    ).split()
)
_UNPRINTED = tuple(
    chr(code) for code in (*range(1, 9), *range(14, 27), *range(28, 32), 127, 0xFFFD)
)


def claim_of(path: str) -> str:
    """Say what a file's name promises."""
    name = path.rpartition("/")[2].lower()
    return _NAMES.get(name) or _EXTENSIONS.get(name.rpartition(".")[2] if "." in name else "", "")


def _by_shebang(start: str) -> str:
    """Name the language of the first interpreter on the line, past `env`, its options and its
    variables.
    """
    words = start.partition("\n")[0][2:].split()[:8]
    kinds = (_INTERPRETERS.get(word.rpartition("/")[2].rstrip("0123456789.")) for word in words)
    return next(filter(None, kinds), "")


def _text_kind(text: str, claimed: str) -> str:
    start = text[:256].lstrip("\ufeff \t\r\n")
    kind = _by_shebang(start) if start.startswith("#!") else ""
    if kind:
        return "typescript" if kind == "javascript" and claimed == "typescript" else kind
    if claimed == "markdown" and (start.startswith("---") or _MARKDOWN.search(text)):
        return "markdown"
    if "\x00" in text:
        return "unknown"
    return language_of(text, claimed) or (claimed if claimed in _READABLE_KINDS else "text")


# --- looking into formats that are no text

_TAIL = 66_000  # bytes at a file's end in which a zip keeps its directory
_ENTRY = b"PK\x03\x04"
MAX_ENTRIES = 200
_SIGNS = (
    b"/dev/tcp/",
    b"| bash",
    b"|bash",
    b"| sh\n",
    b"|sh\n",
    b"#!/bin/",
    b"#!/usr/bin/",
    b"import socket",
    b"import subprocess",
    b"child_process",
    b"os.system(",
    b"<?php ",
    b"powershell -",
    b"bash -c ",
    b"bash -i ",
)
"""What hardly stands in a picture by chance: at least six letters of a command."""


def locked(data: bytes) -> bool:
    """Say whether an archive asks for a password: a zip entry's flag, or an encrypted header of a
    rar.
    """
    if data.startswith(_ENTRY):
        at = 0
        seen = 0
        while at >= 0 and seen < MAX_ENTRIES:
            if len(data) > at + 7 and data[at + 6] & 1:
                return True
            at = data.find(_ENTRY, at + 4)
            seen = seen + 1
    return data.startswith(b"Rar!\x1a\x07\x01\0") and data[12:13] == b"\x04"


def appended(data: bytes) -> str:
    """Return what lies behind the end of a picture or document, or an empty text."""
    if b"PK\x05\x06" in data[-_TAIL:] and _ENTRY in data and not data.startswith(b"PK"):
        return "zip archive"
    end = data.rfind(b"IEND\xaeB`\x82") if data.startswith(b"\x89PNG") else -1
    if end >= 0 and len(data) - end - 8 > 64:
        return f"{len(data) - end - 8} bytes behind the picture"
    sign = commands_in(data)
    return f"a script's words: {sign}" if sign else ""


def commands_in(data: bytes) -> str:
    """Return a sign of a script inside what is no text: a shell passes over a picture's mark and
    goes on to the next line.
    """
    return next((sign.decode() for sign in _SIGNS if sign in data), "")


def stray_nul(data: bytes) -> int:
    """Return where a NUL stands in what otherwise reads as text, or -1; UTF-16 has them by
    nature.
    """
    head = data[:4096]
    at = data.find(b"\0", 0, 400_000)
    if at < 0 or data.startswith((b"\xff\xfe", b"\xfe\xff")) or head.count(b"\0") * 10 > len(head):
        return -1
    printed = sum(32 <= byte < 127 or byte in (9, 10, 13) or byte >= 0xC2 for byte in head)
    return at if printed * 10 >= len(head) * 9 else -1
