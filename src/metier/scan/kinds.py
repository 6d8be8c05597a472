"""What a file is, told by its content: magic numbers, then the shebang, then its shape; the extension only breaks a tie."""

from __future__ import annotations

import re

from metier.scan.languages import language_of

HEAD = 16 * 1024  # bytes of a text that are looked at; what a file is shows early

CODE = frozenset((
    "shell", "python", "javascript", "typescript", "powershell", "ruby", "php", "perl", "lua", "batch", "applescript",
))  # fmt: skip
PROSE = frozenset(("markdown", "text", "html", "xml", "svg", "csv", "json", "yaml", "toml", "css"))
BINARY = frozenset(("image", "font", "pdf", "media", "document", "sqlite"))
RISKY = CODE | {"archive", "executable", "bytecode"}

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x7fELF", "executable"), (b"\xfe\xed\xfa\xce", "executable"), (b"\xfe\xed\xfa\xcf", "executable"),
    (b"\xce\xfa\xed\xfe", "executable"), (b"\xcf\xfa\xed\xfe", "executable"), (b"\xca\xfe\xba\xbe", "executable"),
    (b"\x00asm", "executable"), (b"dex\n0", "executable"), (b"\x1bLua", "bytecode"), (b"BC\xc0\xde", "bytecode"),
    (b"FasdUAS ", "bytecode"), (b"\x1f\x8b", "archive"), (b"\xfd7zXZ\x00", "archive"), (b"(\xb5/\xfd", "archive"),
    (b"7z\xbc\xaf'\x1c", "archive"), (b"Rar!\x1a\x07", "archive"), (b"!<arch>\n", "archive"), (b"MSCF\x00", "archive"),
    (b"\xed\xab\xee\xdb", "archive"), (b"Cr24", "archive"), (b'\x04"M\x18', "archive"),
    (b"\x89PNG\r\n\x1a\n", "image"), (b"GIF87a", "image"), (b"GIF89a", "image"), (b"\xff\xd8\xff", "image"),
    (b"II*\x00", "image"), (b"MM\x00*", "image"), (b"\x00\x00\x01\x00", "image"), (b"\x00\x00\x02\x00", "image"),
    (b"8BPS\x00", "image"), (b"icns\x00", "image"), (b"\xff\x0a", "image"), (b"\x00\x00\x00\x0cJXL ", "image"),
    (b"OTTO\x00", "font"), (b"ttcf\x00", "font"), (b"wOFF\x00", "font"), (b"wOFF", "font"), (b"wOF2", "font"),
    (b"true\x00", "font"), (b"\x00\x01\x00\x00\x00", "font"), (b"%PDF-", "pdf"), (b"ID3", "media"), (b"fLaC", "media"),
    (b"OggS\x00", "media"), (b"\x1aE\xdf\xa3", "media"), (b"FLV\x01", "media"), (b"MThd\x00", "media"),
    (b"SQLite format 3\x00", "sqlite"), (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "document"),
)  # fmt: skip
_BY_FIRST: dict[int, tuple[tuple[bytes, str], ...]] = {
    first: tuple(row for row in _MAGIC if row[0][0] == first) for first in {magic[0] for magic, _ in _MAGIC}
}
_EXTENSIONS = {
    extension: kind
    for kind, extensions in {
        "markdown": "md markdown mdx mdc mkd", "shell": "sh bash zsh ksh fish command bats", "python": "py pyw pyi pyx",
        "javascript": "js mjs cjs jsx", "typescript": "ts tsx mts cts", "powershell": "ps1 psm1 psd1", "ruby": "rb gemspec rake",
        "php": "php phtml php5", "perl": "pl pm", "lua": "lua", "batch": "bat cmd", "applescript": "applescript scpt",
        "json": "json jsonc json5 jsonl ndjson ipynb geojson webmanifest map", "yaml": "yaml yml", "toml": "toml",
        "html": "html htm xhtml", "css": "css scss sass less", "xml": "xml xsd xsl xslt plist rss atom", "svg": "svg",
        "csv": "csv tsv", "text": "txt text log rst adoc license ini cfg conf properties env lock",
        "image": "png jpg jpeg gif webp bmp ico tif tiff avif heic psd icns jxl",
        "font": "ttf otf woff woff2 eot ttc", "pdf": "pdf", "media": "mp3 mp4 wav ogg flac m4a mov avi mkv webm mid m4v",
        "archive": "zip tar gz tgz bz2 xz 7z rar zst jar whl skill apk deb rpm",
        "executable": "exe dll so dylib wasm class dex o bin",
        "bytecode": "pyc pyo",
        "document": "docx xlsx pptx dotx xltx potx odt ods odp odg epub doc xls ppt", "sqlite": "db sqlite sqlite3",
    }.items()
    for extension in extensions.split()
}  # fmt: skip
_NAMES = dict.fromkeys(
    (
        "dockerfile", "containerfile", "makefile", "gnumakefile", "justfile",
        ".bashrc", ".zshrc", ".profile", ".bash_profile", ".envrc",
    ), "shell",
)  # fmt: skip
_INTERPRETERS = {
    **dict.fromkeys(("sh", "bash", "zsh", "dash", "ksh", "fish", "ash", "csh", "tcsh", "busybox", "bats", "make"), "shell"),
    **dict.fromkeys(("python", "pypy", "uv", "uvx", "pipx", "ipython"), "python"),
    **dict.fromkeys(("node", "nodejs", "bun", "zx"), "javascript"), **dict.fromkeys(("deno", "tsx", "ts-node"), "typescript"),
    "pwsh": "powershell", "powershell": "powershell", "ruby": "ruby", "perl": "perl", "php": "php", "lua": "lua", "luajit": "lua",
    "osascript": "applescript",
}  # fmt: skip
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_MARKDOWN = re.compile(r"\n(?:```|~~~|#{2,6} )")


def kind_of(path: str, data: bytes) -> str:
    """Say what a file is from its bytes, whatever its name says; `unknown` when they are neither text nor a known format."""
    kind, claimed = magic_of(data), claim_of(path)
    if kind == "document" and (claimed != "document" or programs_in(data)):
        return "archive"  # every office document is an archive; only its name and its entries say which of the two it is
    if kind:
        return kind
    head = data[:HEAD]
    text, problem = decoded(head if len(data) <= HEAD else _whole_characters(head))
    if problem and not _readable(text):
        return "unknown"
    return _text_kind(text, claimed)


def mismatch(path: str, kind: str) -> bool:
    """Tell whether a name promises something harmless or readable, and the content is code, an archive, a program or no text."""
    claimed = claim_of(path)
    if kind in CODE:
        return claimed in BINARY or claimed in PROSE
    if kind in RISKY:
        return claimed in BINARY or claimed in PROSE or claimed in CODE
    return kind in BINARY and (claimed in PROSE or claimed in CODE)


def disguised(path: str, data: bytes) -> str:
    """Name the format that a text's first bytes pretend to, '' when they do not; a readable name may begin as it likes."""
    claimed = claim_of(path)
    if claimed in PROSE or claimed in CODE or not _text_behind(data):
        return ""
    return announced(data)


def decoded(data: bytes) -> tuple[str, str]:
    """Give the text of a file, and what is wrong with its encoding ('' when nothing is). Never fails."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _decode(data[len(bom):], encoding)
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
    """Tell UTF-16 without its mark by where the zero bytes are: nearly always in the same half of each pair."""
    pairs = len(head) // 2
    low, high = head[1::2].count(0), head[0::2].count(0)
    if pairs >= 2 and low >= pairs * 0.7 and high <= pairs * 0.05:
        return "utf-16-le"
    if pairs >= 2 and high >= pairs * 0.7 and low <= pairs * 0.05:
        return "utf-16-be"
    return ""


def _whole_characters(head: bytes) -> bytes:
    """Take off the beginning of a character that the cut went through."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head[:len(head) // 2 * 2]
    at = len(head) - 1
    while at > len(head) - 4 and head[at] & 0xC0 == 0x80:
        at -= 1
    return head[:at] if head[at] >= 0xC0 else head


def magic_of(data: bytes) -> str:
    """Say what format a file is by its first bytes; nothing for text, whatever it begins with, and for unknown formats."""
    kind = announced(data)
    if kind in _SOFT and _text_behind(data):
        return ""
    return kind


def _text_behind(data: bytes) -> bool:
    """Tell text behind a format's mark from the format: all of them have zeros or other unprinted bytes within a kilobyte."""
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
    if not data:
        return ""
    for magic, kind in _BY_FIRST.get(data[0], ()):
        if data.startswith(magic):
            return kind
    first = data[:4]
    if first[:2] == b"PK" and first[2:] in (b"\x03\x04", b"\x05\x06", b"\x07\x08"):
        head = data[:4096]
        return "document" if b"[Content_Types].xml" in head or b"mimetypeapplication/" in head else "archive"
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
    if data[:1] == b"\x80" and data[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05") and data.rstrip()[-1:] == b".":
        return "bytecode"  # a pickle: instructions for a machine that may call anything
    if data[:2] == b"BM" and int.from_bytes(data[2:6], "little") in (len(data), 0) and len(data) > 26:
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


_SOFT = BINARY | {"archive"}
_MARK = 8  # bytes of a mark that need not be text
_SAMPLE = 1024
_FEW = 3
_LEAST = 12  # bytes behind a mark that can say anything
_UNPRINTED_BYTES = tuple(bytes((code,)) for code in (*range(9), *range(14, 27), *range(28, 32), 127))
_PROGRAMS = (
    b".sh", b".bash", b".zsh", b".command", b".py", b".pyw", b".pyc", b".js", b".mjs", b".cjs", b".jse", b".ts", b".ps1", b".psm1",
    b".bat", b".cmd", b".vbs", b".vbe", b".wsf", b".hta", b".scr", b".com", b".exe", b".dll", b".so", b".dylib", b".msi", b".lnk",
    b".jar", b".class", b".php", b".pl", b".rb", b".lua", b".applescript", b".scpt", b".wasm", b".elf",
)  # fmt: skip
_UNPRINTED = tuple(chr(code) for code in (*range(1, 9), *range(14, 27), *range(28, 32), 127, 0xFFFD))


def claim_of(path: str) -> str:
    """Say what a file's name promises."""
    name = path.rpartition("/")[2].lower()
    return _NAMES.get(name) or _EXTENSIONS.get(name.rpartition(".")[2] if "." in name else "", "")


def _by_shebang(start: str) -> str:
    """Name the language of the first interpreter on the line, past `env`, its options and its variables."""
    for word in start.partition("\n")[0][2:].split()[:8]:
        kind = _INTERPRETERS.get(word.rpartition("/")[2].rstrip("0123456789."), "")
        if kind:
            return kind
    return ""


def _text_kind(text: str, claimed: str) -> str:
    start = text[:256].lstrip("\ufeff \t\r\n")
    kind = _by_shebang(start) if start.startswith("#!") else ""
    if kind:
        return "typescript" if kind == "javascript" and claimed == "typescript" else kind
    if claimed == "markdown" and (start.startswith("---") or _MARKDOWN.search(text)):
        return "markdown"
    if "\x00" in text:
        return "unknown"
    return language_of(text, claimed) or (claimed if claimed in PROSE or claimed in CODE else "text")
