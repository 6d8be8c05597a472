"""Commands as calls: which program really runs behind `sudo`, `env` and `xargs`, what feeds it, and what lies inside it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.shellwords import SHELLS, Command, Word, commands, program

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "FETCHERS",
    "INTERPRETERS",
    "LANGUAGES",
    "NETWORK",
    "SHELLS",
    "Call",
    "Script",
    "given_program",
    "host",
    "script",
    "urls",
]

FETCHERS = frozenset((
    "curl", "wget", "fetch", "aria2c", "http", "https", "httpie", "xh", "lynx", "w3m", "axel", "wget2", "curlie",
    "iwr", "irm", "invoke-webrequest", "invoke-restmethod",
))  # fmt: skip
INTERPRETERS = SHELLS | frozenset((
    "python", "pypy", "node", "nodejs", "deno", "bun", "perl", "ruby", "php", "lua", "osascript", "pwsh", "powershell", "iex",
    "invoke-expression", "tclsh", "rscript", "source", ".", "tsx", "ts-node", "cmd",
))  # fmt: skip
NETWORK = FETCHERS | frozenset((
    "nc", "ncat", "netcat", "socat", "telnet", "ssh", "scp", "sftp", "ftp", "rsync", "dig", "nslookup", "rclone", "websocat",
    "grpcurl",
))  # fmt: skip

_VERSIONED = re.compile(r"(python|pypy|node|perl|ruby|php|lua|pip)[\d.]{1,8}$")
_URL = re.compile(r"(?i)\b(?:https?|ftp)://[^\s'\"<>|;)\]},]{1,2000}")
_BARE = re.compile(r"[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}(?::\d{1,5})?(?:/[^\s]{0,2000})?", re.ASCII)
_FILE = re.compile(r"(?i)\.(?:sh|py|js|json|txt|md|html?|zip|gz|tgz|png|jpe?g|ya?ml|csv|pdf|log|xml|bin|out|tmp|exe|deb|pkg|dmg)$")
_HOST = re.compile(r"(?i)^(?:[a-z]{2,5}://)?(?:[^/@\s]{0,200}@)?(\[[0-9a-f:]{2,45}\]|[^/:?#\s]{1,255})")
_LONGEST_PIPELINE = 32
"""How many calls of one pipeline are looked at together, so that walking it for each of them stays cheap."""
_SPAN = re.compile(r"[\d.]+[smhd]?$")

_WRAPPERS: dict[str, str] = {  # each with the options that take a value
    "sudo": "ugpCDhrtTU", "doas": "uC", "env": "uCS", "nohup": "", "time": "fo", "exec": "a", "command": "", "builtin": "",
    "nice": "n",
    "ionice": "cnp", "setsid": "", "stdbuf": "ioe", "timeout": "ks", "xargs": "IiLlnPsEad", "busybox": "", "watch": "n",
    "caffeinate": "tw",
    "proxychains": "f", "proxychains4": "f", "torsocks": "", "torify": "", "unbuffer": "", "chronic": "", "pkexec": "", "&": "",
}  # fmt: skip


LANGUAGES: dict[str, tuple[str, str]] = {  # each with the letters of the option that takes a program
    "python": ("python", "c"), "pypy": ("python", "c"), "node": ("javascript", "ep"), "nodejs": ("javascript", "ep"),
    "bun": ("javascript", "e"), "perl": ("perl", "eE"), "ruby": ("ruby", "e"), "php": ("php", "r"), "lua": ("lua", "e"),
    "osascript": ("applescript", "e"), "pwsh": ("powershell", "cC"), "powershell": ("powershell", "cC"),
}  # fmt: skip

_TOGETHER = 6
"""Characters of short options written as one word: `-fsSLo`; a longer one is a word of its own."""


class Call(NamedTuple):
    """A program that a command runs. `args` are its words after the name, as texts."""

    name: str
    args: tuple[str, ...]
    words: tuple[Word, ...]
    wraps: tuple[str, ...]
    place: int
    command: Command

    def has(self, *flags: str) -> bool:
        """Say whether one of the words is given."""
        return any(flag in self.args for flag in flags)

    def flagged(self, letter: str) -> bool:
        """Say whether an option of one dash holds the letter: `-rf` holds r and f."""
        return any(arg[:1] == "-" and arg[1:2] != "-" and letter in arg for arg in self.args)

    def option(self, *names: str) -> list[Word]:
        """Return the values of an option, written `-o x`, `-ox`, `-so x` or `--output=x`."""
        found: list[Word] = []
        for place, arg in enumerate(self.args):
            if arg in names:
                found += self.words[place + 1 : place + 2]
            elif arg[:1] == "-":
                for name in names:
                    long = name + "="
                    if arg.startswith(long):
                        found.append(self.words[place]._replace(text=arg[len(long) :]))
                    elif len(name) == 2 and arg.startswith(name) and len(arg) > 2:
                        found.append(self.words[place]._replace(text=arg[2:]))
                    elif len(name) == 2 and name[1] == arg[-1] and 2 < len(arg) <= _TOGETHER and arg[1:].isalpha():
                        found += self.words[place + 1 : place + 2]
        return found

    def plain(self) -> list[str]:
        """Return the words that are no options."""
        return [arg for arg in self.args if arg[:1] != "-" or arg == "-"]


class Script(NamedTuple):
    """A shell text as calls, with the ways to walk it."""

    text: str
    calls: tuple[Call, ...]
    """One for each command, in the same order; a command without words has an empty name."""
    pipelines: dict[int, list[Call]]
    children: dict[int, list[Call]]

    def inside(self, call: Call, *vias: str) -> list[Call]:
        """Return the calls directly inside this one, of all ways or of those that are named."""
        return [one for one in self.children.get(call.place, ()) if not vias or one.command.via in vias]

    def below(self, call: Call, depth: int = 4) -> Iterator[Call]:
        """Give every call inside this one, at any depth."""
        for one in self.children.get(call.place, ()):
            yield one
            if depth:
                yield from self.below(one, depth - 1)

    def before(self, call: Call) -> list[Call]:
        """Return the calls whose output flows into this one."""
        line = self.pipelines[call.command.pipeline]
        return [one for one in line if one.place < call.place and one.command.parent == call.command.parent]

    def after(self, call: Call) -> list[Call]:
        """Return the calls that this one's output flows into."""
        line = self.pipelines[call.command.pipeline]
        return [one for one in line if one.place > call.place and one.command.parent == call.command.parent]


@lru_cache(maxsize=2)  # the shell and the supply analyzer read the same text, one after the other
def script(text: str) -> Script:
    """Return the calls of a shell text."""
    calls = tuple(_call(index, command) for index, command in enumerate(commands(text)))
    pipelines: dict[int, list[Call]] = {}
    children: dict[int, list[Call]] = {}
    for call in calls:
        line = pipelines.setdefault(call.command.pipeline, [])
        if len(line) < _LONGEST_PIPELINE:
            line.append(call)
        if call.command.parent >= 0:
            children.setdefault(call.command.parent, []).append(call)
    return Script(text, calls, pipelines, children)


def _call(index: int, command: Command) -> Call:
    words = command.words
    wraps: list[str] = []
    while words and (name := program(words[0].text)) in _WRAPPERS and len(wraps) < 6:
        rest = _unwrapped(name, words)
        if not rest:
            break
        wraps.append(name)
        words = rest
    if not words:
        return Call("", (), (), tuple(wraps), index, command)
    name = program(words[0].text)
    if match := _VERSIONED.match(name):
        name = match[1]
    return Call(name, tuple([word.text for word in words[1:]]), words[1:], tuple(wraps), index, command)


def _unwrapped(name: str, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the words of the command that a wrapper runs, past the wrapper's own options."""
    valued = _WRAPPERS[name]
    place = 1
    while place < len(words):
        text = words[place].text
        if text[:1] == "-" and len(text) > 1:
            place += 2 if text[-1] in valued and len(text) == 2 else 1
        elif (name in ("env", "sudo") and "=" in text) or (name == "timeout" and _SPAN.match(text)):
            place += 1
        else:
            break
    return words[place:]


def given_program(call: Call) -> Word | None:
    """Return the word that holds the program of `python -c …`, `node -e …` or `deno eval …`."""
    if call.name == "deno":
        return call.words[1] if call.args[:1] == ("eval",) and len(call.words) > 1 else None
    letters = LANGUAGES.get(call.name, ("", ""))[1]
    for place, arg in enumerate(call.args[:-1]):
        if arg[:1] != "-":
            return None  # a file comes first: what follows are its own options
        if letters and (arg[1:2] != "-" or len(arg) > 6) and (arg[-1] in letters or arg.lower() in ("-command", "--eval")):
            return call.words[place + 1]
    return None


def urls(call: Call) -> list[tuple[str, Word]]:
    """Return the addresses among a call's words; a fetcher's also without a scheme, as in `curl example.com/x`."""
    found: list[tuple[str, Word]] = []
    for word in call.words:
        text = word.text
        if "://" in text:
            found += [(match[0], word) for match in _URL.finditer(text[:8192])]
        elif call.name in ("curl", "wget") and _bare(text):
            found.append((text, word))
    return found


def _bare(text: str) -> bool:
    """Say whether the word is an address without a scheme, and not an option or a file."""
    if text[:1] == "-" or "." not in text or "@" in text or not _BARE.fullmatch(text[:2048]):
        return False
    return not _FILE.search(text.partition("/")[0])


def host(url: str) -> str:
    """Return the host of an address, in lower case."""
    match = _HOST.match(url)
    return match[1].lower() if match else ""
