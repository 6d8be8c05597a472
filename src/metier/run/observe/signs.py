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
    rb"^import[ \t]+(?!(__editable__\w+_finder); \1\.install\(\)\s*$|_virtualenv\s*$"
    rb"|os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os\.environ\.get\(var, '(?:local|stdlib)'\) == 'local';"
    rb" enabled and __import__\('_distutils_hack'\)(?:\.add_shim\(\))?;?\s*$)",
    re.MULTILINE,
)
"""A line of a .pth file that runs something; those of editable installations and of setuptools only
find it.
"""
_REQUEST = re.compile(
    rb"(?=(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) [^ \r\n]{1,8000} HTTP/1\.[01]\r\n)"
)
MAX_REQUESTS = 4_000
_LOGS_IN = re.compile(
    rb"^[\w-]{0,80}(?:authorization|token|api-?key)[\w-]{0,80}:[^\r\n]*",
    re.IGNORECASE | re.MULTILINE,
)
_NAMES_ITSELF = re.compile(
    rb"^(?:USER|PASS|AUTH|[\w.]+ (?:LOGIN|AUTHENTICATE))\b[^\r\n]*|^[A-Za-z0-9+/=]+\r?$",
    re.MULTILINE,
)
_HANDS_OVER = re.compile(rb"^(?:MAIL|DATA|BDAT|\S{1,80} APPEND\b)", re.IGNORECASE | re.MULTILINE)
"""Where the login is over, and a mail begins."""
_LOGIN_PORTS = frozenset({"21", "25", "110", "143", "465", "587", "993", "995", "2525"})
"""Where one logs in with a line of its own: for files and for mail."""
_SCHEDULED = re.compile(
    r"^[ \t]*(?:@\w+|(?:[\d*,/-]+[ \t]+){4}[\w*,/-]+)[ \t]+|^[ \t]*Exec\w*[ \t]*=[ \t]*[-@:+!]*"
    r"|^[ \t]*\w*[cC]ommand[ \t]*=[ \t]*!?|^[ \t]*(?:-[ \t]+)?(?:run|script|command):[ \t]*|^[ \t]*\"[\w-]+\":[ \t]*\"",
    re.MULTILINE,
)
"""What stands before a command in a crontab, in a unit of systemd, in a desktop entry."""
_IN_SHELL = re.compile(r"^(?:/\S*/)?(?:ba|z|da)?sh -\w*c (['\"])(.*)\1[ \t]*$", re.MULTILINE)
_GIT_HEADER = re.compile(r'\[([\w.-]+(?: "[^"\\]*")?)\]')
_GIT_KEYS = word_set(
    "user.name user.email user.signingkey user.useconfigonly init.defaultbranch pull.rebase pull.ff "
    "push.default push.autosetupremote push.followtags fetch.prune fetch.prunetags fetch.all "
    "rebase.autostash rebase.autosquash rebase.updaterefs rerere.enabled rerere.autoupdate merge.ff "
    "merge.conflictstyle diff.algorithm diff.colormoved diff.mnemonicprefix diff.renames color.ui "
    "color.branch color.diff color.status column.ui commit.gpgsign commit.verbose tag.gpgsign tag.sort "
    "branch.sort branch.autosetuprebase branch.autosetupmerge log.date log.decorate log.abbrevcommit "
    "status.short status.branch status.showuntrackedfiles help.autocorrect advice.detachedhead "
    "advice.statushints advice.skippedcherrypicks advice.addignoredfile core.autocrlf core.eol "
    "core.excludesfile core.quotepath core.filemode core.ignorecase core.longpaths core.safecrlf"
)
"""Settings of git whose values are never started and lead nowhere."""
_GIT_VALUES = {
    "credential.helper": re.compile(
        r"cache(?: --timeout[= ]\d+)?|store|osxkeychain|manager|manager-core|libsecret"
    ),
    "safe.directory": re.compile(r"[\w./~@+-]+"),
    'filter "lfs".required': re.compile(r"true"),
    'filter "lfs".clean': re.compile(r"git-lfs clean -- %f"),
    'filter "lfs".smudge': re.compile(r"git-lfs smudge (?:--skip )?-- %f"),
    'filter "lfs".process': re.compile(r"git-lfs filter-process(?: --skip)?"),
}
"""Settings of git of which only some values start nothing else."""
_GIT_ALIAS = re.compile(
    r"(?:status|log|show|diff|branch|checkout|switch|restore|commit|add|stash|fetch|pull|push|merge"
    r"|reset|tag|blame|shortlog|reflog|cherry-pick)"
    r"(?: (?:HEAD|-[a-zA-Z]{1,3}|-\d{1,3}|--|--(?:oneline|graph|decorate|all|stat|short|branch|amend"
    r"|no-edit|cached|staged|patch|prune|rebase|ff-only|no-ff|force-with-lease|soft|abbrev-commit"
    r"|name-only|name-status|word-diff|sort|list|verbose|reverse|tags)"
    r"|--(?:pretty|format|date|sort)=(?:[\w:%-]|'[^'\"\\]*')+))*"
)
"""One of git's own words, with flags that start no program and name no file."""
_NPM_WORDS = word_set(
    "save-exact fund audit loglevel progress engine-strict legacy-peer-deps cache color"
)
_PIP_WORDS = word_set(
    "timeout retries disable-pip-version-check require-virtualenv break-system-packages cache-dir "
    "no-cache-dir progress-bar"
)
_PIP_HEADER = re.compile(r"\[[\w.-]+\]")
_SHELL_FILES = (
    "~/.bashrc", "~/.bash_profile", "~/.profile", "~/.zshrc", "~/.zshenv", "~/.zprofile",
)  # fmt: skip
_HOME = r"(?:~|\$HOME|\$\{HOME\}|/(?:home|Users)/\w[\w-]*)"
_TOOL_FOLDERS = {
    "GOPATH": "go", "CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup", "NVM_DIR": ".nvm",
    "PYENV_ROOT": ".pyenv", "RBENV_ROOT": ".rbenv", "BUN_INSTALL": ".bun", "DENO_INSTALL": ".deno",
    "VOLTA_HOME": ".volta", "PNPM_HOME": ".local/share/pnpm", "SDKMAN_DIR": ".sdkman",
}  # fmt: skip
"""Variables that say where a tool lies, and where it always does, below the home."""
_NPM_PREFIX = re.compile(rf"{_HOME}/\.(?:local|npm-global|npm-packages)/?")
_BINARIES = (".local", ".npm-global", ".yarn", ".krew", ".poetry", *_TOOL_FOLDERS.values())
_SHELL_VALUES = {
    name: re.compile(f"{_HOME}/{re.escape(folder)}/?") for name, folder in _TOOL_FOLDERS.items()
} | {"JAVA_HOME": re.compile(r"/usr/lib/jvm/\w[\w.-]*")}
_PATH_ENTRY = re.compile(
    rf"\$PATH|\$\{{PATH\}}|{_HOME}/(?:(?:{'|'.join(map(re.escape, _BINARIES))})/)?bin/?"
    rf"|{_HOME}/\.local/share/pnpm|\$\{{?(?:{'|'.join(_TOOL_FOLDERS)})\}}?(?:/bin)?"
    r"|/usr/local/(?:s?bin|go/bin)|/opt/homebrew/s?bin|/usr/s?bin|/s?bin"
)
"""Folders in which everybody's programs lie."""
_SHELL_LINE = re.compile(r"(?:export )?([A-Z][A-Z0-9_]*)=([\"']?)([\w$\{\}/:.~@+-]+)\2")
_ODD = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
"""What some readers take for the end of a line, and others do not."""
_WEB_ADDRESS = re.compile(r"(?:https?:)?//.")
_AFTER_HOST = re.compile(r"[/?#\\]")
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
    return any(
        shown == one or (one[-1] in "/*" and shown.startswith(one.rstrip("*")))
        for one in STARTS_LATER
    ) or (
        ("/site-packages/" in shown or "/dist-packages/" in shown)
        and shown.endswith(STARTS_WITH_PYTHON)
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
    text = what
    if "://" in what:  # what stands before the last @ is who logs in there
        text = _AFTER_HOST.split(what.partition("://")[2], maxsplit=1)[0].rpartition("@")[2]
    text = text.partition(" ")[0]
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0] if text.count(":") == 1 else text


def is_made_up(host: str) -> bool:
    """Tell whether a host can't exist: it ends in a word that we gave to a function, or it has no domain."""
    last = host.rpartition(".")[2]
    return last.endswith("sample") or (last == host and ":" not in host)


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
    """Give a conversation about files or mail without the lines by which programs log in: these come
    before the first mail, and whatever looks like one in it is part of the mail.
    """
    begun = _HANDS_OVER.search(data)
    end = begun.start() if begun else len(data)
    return _NAMES_ITSELF.sub(b"", data[:end]) + data[end:]


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


def only_denies(old: bytes, new: bytes) -> bool:
    """Tell whether an agent's settings only forbid more than before."""
    before, after = _settings(old or b"{}"), _settings(new)
    if before is None or after is None:
        return False
    had, has = before.pop("permissions", {}), after.pop("permissions", {})
    if before != after or not isinstance(had, dict) or not isinstance(has, dict) or had == has:
        return False
    for name in ("deny", "ask"):
        held, holds = had.pop(name, []), has.pop(name, [])
        if not (isinstance(held, list) and isinstance(holds, list)):
            return False
        if any(one not in holds for one in held):
            return False
    return had == has


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
    before, after = (
        {one.replace(b" ", b"") for one in _ADDRESS.findall(data)} for data in (old, new)
    )
    return bool(before - after) and bool(after - before)


def is_plain_setting(shown: str, old: bytes, new: bytes) -> bool:
    """Tell whether all that was added to a file of settings starts nothing and leads nobody elsewhere:
    a name, a colour, a folder to look for programs in, a token for a registry that everybody knows.
    """
    before, after = (data.decode("utf-8", "replace").replace("\r\n", "\n") for data in (old, new))
    if _ODD.search(after):
        return False
    if shown == "~/.gitconfig":
        added = set(_git_settings(after)) - set(_git_settings(before))
        return bool(added) and all(_is_plain_for_git(*one) for one in added)
    lines = set(_lines(after)) - set(_lines(before))
    if shown == "~/.npmrc":
        return bool(lines) and all(map(_is_plain_for_npm, lines))
    if shown in {"~/.config/pip/pip.conf", "~/.pip/pip.conf"}:
        return bool(lines) and all(map(_is_plain_for_pip, lines))
    if shown in _SHELL_FILES:
        return bool(lines) and all(map(_is_plain_for_shell, lines))
    return shown in {"~/.config/git/ignore", "~/.config/git/attributes"}


def _lines(text: str) -> Iterator[str]:
    """Give the lines that hold something, as far in as they stand: what is further in may belong to
    the line before.
    """
    return (line.rstrip() for line in text.split("\n") if line.strip())


def _git_settings(text: str) -> Iterator[tuple[str, str]]:
    """Give git's settings by their whole names. A line that git may read otherwise, for it has more
    than one thing on it or goes on in the next, stands for itself: no name is like it.
    """
    section = ""
    for line in map(str.strip, _lines(text)):
        header = _GIT_HEADER.fullmatch(line)
        if header:
            section = header[1].lower()
        elif line.startswith("[") or line.endswith("\\"):
            yield line, ""
        elif line[0] not in "#;":
            key, _equal, value = line.partition("=")
            yield f"{section}.{key.strip().lower()}", value.strip()


def _is_plain_for_git(name: str, value: str) -> bool:
    allowed = _GIT_ALIAS if name.startswith("alias.") else _GIT_VALUES.get(name)
    if allowed is None:
        return name in _GIT_KEYS
    quoted = len(value) > 1 and value[0] == value[-1] == '"' and '"' not in value[1:-1]
    return allowed.fullmatch(value[1:-1] if quoted else value) is not None


def _is_plain_for_npm(line: str) -> bool:
    key, _equal, value = (part.strip() for part in line.partition("="))
    if key.endswith(":_authToken"):
        return _is_registry(key)
    if key == "prefix":
        return _NPM_PREFIX.fullmatch(value) is not None
    return key in _NPM_WORDS or (key.endswith("registry") and _is_registry(value))


def _is_plain_for_pip(line: str) -> bool:
    """Tell whether a line of pip's settings is plain. One that begins with a blank belongs to the
    value before it.
    """
    key, _equal, value = (part.strip() for part in line.partition("="))
    plain = _PIP_HEADER.fullmatch(line) is not None or line[0] == "#" or key in _PIP_WORDS
    listed = key in {"index-url", "extra-index-url"} and _is_registry(value)
    return (plain or listed) and not line[0].isspace()


def _is_plain_for_shell(line: str) -> bool:
    """Tell whether a line says where a well-known tool lies, at the place where it always does."""
    match = _SHELL_LINE.fullmatch(line.strip())
    if match is None:
        return line.strip().startswith("#")
    name, _quote, value = match.groups()
    if name == "PATH":
        return all(_PATH_ENTRY.fullmatch(one) for one in value.split(":"))
    return name in _SHELL_VALUES and _SHELL_VALUES[name].fullmatch(value) is not None


def _is_registry(value: str) -> bool:
    """Tell whether every address is at a registry that everybody knows."""
    parts = value.split()
    return bool(parts) and all(
        _WEB_ADDRESS.match(one)
        and host_of(one if "://" in one else f"https:{one}") in PACKAGE_HOSTS
        for one in parts
    )
