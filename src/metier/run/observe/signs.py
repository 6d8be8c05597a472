"""Signs by which deeds are told apart: names of hosts, places, settings and bytes. Pure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from metier.run.observe.canaries import is_opaque
from metier.run.observe.places import (
    COMMON_PROGRAMS,
    OWN_PROGRAMS_FOLDER,
    PACKAGE_HOSTS,
    STARTS_LATER,
    STARTS_WITH_PYTHON,
)
from metier.scan.model import word_set
from metier.scan.rules.shell import INSTALLERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.run.observe.model import Seen

_ADDRESS = re.compile(
    rb"\b(?:0x[0-9a-fA-F]{40}|bc1[a-z0-9]{20,60}|[13][a-km-zA-HJ-NP-Z1-9]{25,34}|[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7})\b"
)
_PTH_RUNS = re.compile(
    rb"^import[ \t]+(?!(__editable__\w+_finder); \1\.install\(\)\s*$)", re.MULTILINE
)
"""A line of a .pth file that runs something; that of an editable installation only finds it."""
_REQUEST = re.compile(
    rb"(?=(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) [^ \r\n]{1,8000} HTTP/1\.[01]\r\n)"
)
MAX_REQUESTS = 4_000
_LOGS_IN = re.compile(
    rb"^[\w-]*(?:authorization|token|api-?key)[\w-]*:[^\r\n]*", re.IGNORECASE | re.MULTILINE
)
_NAMES_ITSELF = re.compile(
    rb"^(?:USER|PASS|AUTH|[\w.]+ (?:LOGIN|AUTHENTICATE))\b[^\r\n]*|^[A-Za-z0-9+/=]+\r?$",
    re.MULTILINE,
)
_LOGIN_PORTS = frozenset({"21", "25", "110", "143", "465", "587", "993", "995", "2525"})
"""Where one logs in with a line of its own: for files and for mail."""
_SCHEDULED = re.compile(
    r"^[ \t]*(?:@\w+|(?:[\d*,/-]+[ \t]+){4}[\w*,/-]+)[ \t]+|^[ \t]*Exec\w*[ \t]*=[ \t]*[-@:+!]*"
    r"|^[ \t]*\w*[cC]ommand[ \t]*=[ \t]*!?|^[ \t]*(?:-[ \t]+)?(?:run|script|command):[ \t]*|^[ \t]*\"[\w-]+\":[ \t]*\"",
    re.MULTILINE,
)
"""What stands before a command in a crontab, in a unit of systemd, in a desktop entry."""
_IN_SHELL = re.compile(r"^(?:/\S*/)?(?:ba|z|da)?sh -\w*c (['\"])(.*)\1[ \t]*$", re.MULTILINE)
_GIT_SECTIONS = word_set(
    "user init pull push fetch rebase color column commit tag branch safe advice help log status"
)
"""Sections of git's settings in which no value is ever started."""
_GIT_CORE = word_set("autocrlf eol excludesfile quotepath filemode ignorecase longpaths safecrlf")
_GIT_HELPERS = word_set("cache store osxkeychain manager libsecret")
_NPM_WORDS = word_set(
    "save-exact fund audit loglevel progress engine-strict legacy-peer-deps prefix cache color"
)
_PIP_WORDS = word_set(
    "timeout retries disable-pip-version-check require-virtualenv break-system-packages cache-dir "
    "no-cache-dir progress-bar"
)
_SHELL_FILES = (
    "~/.bashrc", "~/.bash_profile", "~/.profile", "~/.zshrc", "~/.zshenv", "~/.zprofile",
)  # fmt: skip
_SHELL_LINE = re.compile(
    r"(?:#.*|(?:export )?(?:PATH|[A-Z][A-Z0-9_]*_(?:HOME|DIR|ROOT|PATH))=[\"']?[\w$\{\}/:.~@+-]*[\"']?)"
)
_LOADS = re.compile(r"(?:LD|DYLD|PYTHON|NODE|PERL|RUBY|BASH|ZSH)_?\w*=|(?:LIBRARY|MODULE)_PATH=")
"""Variables that decide what other programs load."""
_HOST = re.compile(r"^(?:https?:)?//([\w.-]+)")
_STARTERS = frozenset({"npx", "uvx", "bunx"})
"""Programs that fetch a package and start it; the words after its name are for it."""
_SHELL_NAMES = word_set("sh bash dash zsh ksh ash")
_FLAGS = frozenset({"-y", "--yes", "-q", "--quiet", "--no-install", "--silent"})
_RUNS_OWN = frozenset({"run", "test", "start"})
_GREETING, _MAX_GREETING = b"\x16\x03", 4096
"""How the first message of an encrypted connection begins, and how long one gets."""


def scp_host(word: str) -> str:
    """Give the host of `git@host:path`; nothing for anything else."""
    match = re.fullmatch(r"[\w.-]+@([\w.-]+):\S*", word)
    return match[1] if match else ""


def starts_later(shown: str) -> bool:
    """Tell whether a file runs by itself, or in the place of a program that people start."""
    if shown.startswith(OWN_PROGRAMS_FOLDER):
        return shown.removeprefix(OWN_PROGRAMS_FOLDER) in COMMON_PROGRAMS
    return shown.startswith(STARTS_LATER) or (
        shown.startswith("~/.local/lib/") and shown.endswith(STARTS_WITH_PYTHON)
    )


def takes_place(one: Seen) -> bool:
    """Tell whether a program was put somewhere in the home under a name that people start."""
    folder, _slash, name = one.what.rpartition("/")
    return one.kind == "write" and folder.startswith("~/") and name in COMMON_PROGRAMS


def only_paths(one: Seen) -> bool:
    """Tell whether a .pth file says where packages lie, and runs nothing."""
    return one.what.endswith(".pth") and not _PTH_RUNS.search(one.data)


def host_of(what: str) -> str:
    """Give the host of `host:port`, `host` or an address with a scheme."""
    text = what.partition("://")[2].partition("/")[0] if "://" in what else what
    text = text.partition(" ")[0]
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0] if text.count(":") == 1 else text


def owner_of(host: str) -> str:
    """Give the name that a host's domain was registered under: `acme` of `api.acme.com`."""
    return (host.lower().split(".")[-2:-1] or [""])[0]


def short(where: str) -> str:
    """Give the name of a try, cut to what a line holds."""
    return where if len(where) <= 60 else where[:59] + "…"


def labels(name: bytes) -> bytes:
    """Give what stands in a looked up name before its domain, without dots."""
    return b"".join(name.split(b".")[:-2])


def body(data: bytes) -> bytes:
    """Give what a request carries, without its head."""
    head, gap, body = data.partition(b"\r\n\r\n")
    return body if gap and head[:8].split(b" ")[0].isupper() else data


def requests_in(data: bytes) -> list[bytes]:
    """Give the requests that went over one connection, one after the other: who sends bit by bit
    need not connect anew each time.
    """
    return [one for one in _REQUEST.split(data, MAX_REQUESTS) if one] or [data]


def without_logins(data: bytes) -> bytes:
    """Give requests without the headers by which programs log in."""
    return _LOGS_IN.sub(b"", data)


def is_login_port(to: str) -> bool:
    """Tell whether programs log in at such a port with a line that says who they are."""
    return to.rpartition(":")[2] in _LOGIN_PORTS


def without_names(data: bytes) -> bytes:
    """Give a conversation about files or mail without the lines by which programs log in."""
    return _NAMES_ITSELF.sub(b"", data)


def commands_in(text: str) -> str:
    """Give what a crontab, a unit or a desktop entry starts, as the lines of a shell."""
    return _IN_SHELL.sub(lambda match: match[2], _SCHEDULED.sub("", text))


def added_servers(old: bytes, new: bytes) -> str:
    """Give the MCP servers that an agent's settings gained, as text; nothing where anything else in
    them changed too.
    """
    before, after = _settings(old or b"{}"), _settings(new)
    if before is None or after is None:
        return ""
    had, has = before.pop("mcpServers", {}), after.pop("mcpServers", {})
    if before != after or not isinstance(had, dict) or not isinstance(has, dict):
        return ""
    more = {name: one for name, one in has.items() if name not in had}
    kept = all(has.get(name) == one for name, one in had.items())
    return json.dumps(more) if more and kept else ""


def _settings(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def is_greeting(data: bytes) -> bool:
    """Tell whether bytes are no more than the greeting of an encrypted connection, which was given
    up when it met our certificate. Whoever writes only the beginning of one hides something.
    """
    whole = int.from_bytes(data[3:5], "big") + 5
    return data.startswith(_GREETING) and data[5:6] == b"\1" and len(data) == whole <= _MAX_GREETING


def package_words(words: list[str]) -> list[str]:
    """Give the words of a package manager's command that say which package, and from where: not what
    the program gets that it starts, and nothing of a shell's whole script, whose commands are each
    seen by themselves.
    """
    if words[0].rpartition("/")[2] in _SHELL_NAMES and "-c" in words[1:4]:
        return []
    told = words[: words.index("--")] if "--" in words else words
    starter = next(
        (at for at, word in enumerate(told[:4]) if word.rpartition("/")[2] in _STARTERS), None
    )
    if starter is None:
        fetches = any(word.rpartition("/")[2] == "uv" for word in told[:3])
        return [] if _RUNS_OWN & set(told[1:3]) and not fetches else told
    for at in range(starter + 1, len(told)):
        valued = told[at - 1].startswith("-") and told[at - 1] not in _FLAGS
        if not told[at].startswith("-") and (at == starter + 1 or not valued):
            return told[: at + 1]
    return told


def is_installer(place: str) -> bool:
    """Tell whether an address is one of the well-known installers, whole names of hosts only."""
    rest = place.partition("://")[2].lower()
    host = rest.partition("/")[0]
    return any(rest.startswith(one) if "/" in one else host == one for one in INSTALLERS)


def is_scrambled(old: bytes, new: bytes) -> bool:
    """Tell whether a text was replaced by something that nobody can read."""
    shared = {line for line in old.split(b"\n") if len(line) > 8} & set(new.split(b"\n"))
    return not shared and is_opaque(new)


def has_other_address(old: bytes, new: bytes) -> bool:
    """Tell whether an account or a wallet in a text became another one."""
    before, after = set(_ADDRESS.findall(old)), set(_ADDRESS.findall(new))
    return bool(before - after) and bool(after - before)


def is_plain_setting(shown: str, old: bytes, new: bytes) -> bool:
    """Tell whether all that was added to a file of settings starts nothing and leads nobody elsewhere:
    a name, a colour, a folder to look for programs in, a token for a registry that everybody knows.
    """
    before, after = (data.decode("utf-8", "replace") for data in (old, new))
    if shown == "~/.gitconfig":
        added = set(_git_settings(after)) - set(_git_settings(before))
        return bool(added) and all(_is_plain_for_git(*one) for one in added)
    lines = set(_lines(after)) - set(_lines(before))
    if shown == "~/.npmrc":
        return bool(lines) and all(map(_is_plain_for_npm, lines))
    if shown in {"~/.config/pip/pip.conf", "~/.pip/pip.conf"}:
        return bool(lines) and all(map(_is_plain_for_pip, lines))
    if shown in _SHELL_FILES:
        return bool(lines) and all(
            _SHELL_LINE.fullmatch(line) and not _LOADS.search(line) for line in lines
        )
    return shown in {"~/.config/git/ignore", "~/.config/git/attributes"}


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.split("\n") if line.strip())


def _git_settings(text: str) -> Iterator[tuple[str, str, str]]:
    section = ""
    for line in _lines(text):
        if line.startswith("["):
            section = line.strip("[]").strip()
        elif line[0] not in "#;":
            key, _equal, value = line.partition("=")
            yield section, key.strip().lower(), value.strip()


def _is_plain_for_git(section: str, key: str, value: str) -> bool:
    name = section.lower()
    if name == "alias":
        return not value.strip("\"'").startswith("!")
    if name == "credential":
        return key == "helper" and value.partition(" ")[0] in _GIT_HELPERS
    if name == 'filter "lfs"':
        return value == "true" or value.startswith("git-lfs ")
    return name in _GIT_SECTIONS or (name == "core" and key in _GIT_CORE)


def _is_plain_for_npm(line: str) -> bool:
    key, _equal, value = (part.strip() for part in line.partition("="))
    if key.endswith(":_authToken"):
        return _is_registry(key)
    return key in _NPM_WORDS or (key.endswith("registry") and _is_registry(value))


def _is_plain_for_pip(line: str) -> bool:
    key, _equal, value = (part.strip() for part in line.partition("="))
    plain = line.startswith(("[", "#")) or key in _PIP_WORDS
    return plain or (key in {"index-url", "extra-index-url"} and _is_registry(value))


def _is_registry(address: str) -> bool:
    match = _HOST.match(address)
    return match is not None and match[1] in PACKAGE_HOSTS
