"""Makes what a script prints fit to be shown: text, without the values that it was lent, without
power over a terminal. Pure.

Each stream of a script has a cleaner of its own. What comes out does not depend on how the bytes
were cut into pieces, and nothing is kept waiting but the beginning of what may yet turn out to be a
secret.

What steers a terminal is **removed** where honest programs use it, whole: colours, titles, links. A
sequence that is not finished ends with its line at the latest, so it hides nothing that follows. A
control character by itself is **shown** as its picture (`␈` for a backspace), so that nobody hides
text by rubbing it out. A return of the carriage becomes a new line: nothing that was shown is
written over. Marks that turn the direction of text, and characters that nobody sees, are removed:
what is left stands in the order in which it was written, and a model reads in it what a person
reads. Of those that join what stands beside them, one is kept where writing needs it: in emoji, and
in the scripts whose letters change with their neighbours.

It is also read for what the sandbox refused (`DenialReader`), so that a person is told the option
that grants it.
"""

from __future__ import annotations

import codecs
import re
import shlex
from posixpath import dirname, normpath
from typing import TYPE_CHECKING, NamedTuple

from metier.run.interpreters import is_inside
from metier.run.model import NETWORK_ACCESS, SCRATCH, SKILL, UNDECLARED_NETWORK
from metier.secrets.mask import MIN_VALUE_CHARS, SecretForms, StreamMask, forms_of, plain_forms_of
from metier.standard.characters import UNSEEN

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from metier.run.model import Cage

MAX_FORM_CHARS = 65_536
"""So many characters of forms the words of files are looked for in; those that follow, only as they
are and as JSON has them."""
_PICTURES = 0x2400
"""Where Unicode has a picture of each control character."""
_ODD = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{UNSEEN}]")
_UNSEEN = re.compile(f"[{UNSEEN}]")
_EMOJI = "\u203c\u2049\u2122\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\U0001f000-\U0001faff"
_SHAPED = "\u0600-\u0dff"
"""Arabic and what is written like it, and the scripts of India."""
_JOINS = {
    "\u200c": re.compile(f"[{_SHAPED}]"),
    "\u200d": re.compile(f"[{_EMOJI}{_SHAPED}\ufe0f]"),
    "\ufe0f": re.compile(f"[{_EMOJI}]"),
}
"""What is kept of the unseen, and after what: the joiners, and the mark that asks for a picture in
colours."""
_EMPTY = "\u2800"
"""A braille pattern without dots, which programs draw with: it takes the room of a space."""
_LINES = frozenset("\x85\u2028\u2029")
"""Other ways to begin a new line."""
_BEGINS = {"\x1b": "escape", "\x9b": "csi", **dict.fromkeys("\x90\x98\x9d\x9e\x9f", "string")}
"""Which sequence a character begins; after DCS, SOS, OSC, PM and APC all is for the terminal, up to
an end."""
_AFTER_ESCAPE = {
    "[": "csi",
    "]": "string",
    "P": "string",
    "X": "string",
    "^": "string",
    "_": "string",
}
_PARAMETERS = re.compile(r"[\x20-\x3f]*")
_BETWEEN = re.compile(r"[\x20-\x2f]*")
_STRING_ENDS = re.compile("[\x07\x18\x1a\x1b\x9c\r\n]")


class OutputCleaner:
    """Cleans one stream of bytes as it comes."""

    def __init__(self, secrets: Mapping[str, str] | SecretForms) -> None:
        """Take out these values, by the names of their variables; or what was made ready for
        several streams.
        """
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._terminal = TerminalFilter()
        self._veil = StreamMask(secrets if isinstance(secrets, SecretForms) else hide(secrets))

    def feed(self, data: bytes) -> str:
        """Give what can be shown by now."""
        return self._veil.feed(self._terminal.feed(self._decoder.decode(data)))

    def finish(self) -> str:
        """Give the rest, at the end of the stream."""
        rest = self._veil.feed(self._terminal.feed(self._decoder.decode(b"", final=True)))
        return rest + self._veil.finish()


def without_control(text: str) -> str:
    """Give a whole text without power over a terminal."""
    return TerminalFilter().feed(text)


def hide(secrets: Mapping[str, str], words: Mapping[str, str] | None = None) -> SecretForms:
    """Make ready what must not be shown: values by the names of their variables, and words with the
    file that each is from.
    """
    found: dict[str, str] = {}
    for name, value in secrets.items():
        _add(found, forms_of(value) if len(value) >= MIN_VALUE_CHARS else (), name)
    room = MAX_FORM_CHARS
    for word, name in (words or {}).items():
        forms = forms_of(word) if room > 0 else plain_forms_of(word)
        room -= sum(map(len, forms))
        _add(found, forms, name)
    return SecretForms(found)


def _add(found: dict[str, str], forms: Iterable[str], name: str) -> None:
    """Add forms as they would stand in clean text, with the name to show."""
    for form in forms:
        shown = without_control(_as_decoded(form))
        if len(shown) >= MIN_VALUE_CHARS:
            found.setdefault(shown, without_control(name))


def _as_decoded(form: str) -> str:
    """Give a value as its bytes are read again where they are no text."""
    try:
        data = form.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = form.encode("utf-8", "surrogatepass")
    return data.decode("utf-8", "replace")


class TerminalFilter:
    """Takes what steers a terminal out of text that comes in pieces."""

    def __init__(self) -> None:
        """Begin outside any sequence."""
        self._state = ""
        """Which sequence is not finished: `escape`, `between`, `csi` or `string`."""
        self._returned = False
        """Whether the last character was a return, which already became a new line."""
        self._last = ""
        """The last character that was shown."""

    def feed(self, text: str) -> str:
        """Give the text without sequences and control characters."""
        out: list[str] = []
        at = 0
        while at < len(text):
            at = self._text(text, at, out) if not self._state else self._sequence(text, at)
        return "".join(out)

    def _text(self, text: str, at: int, out: list[str]) -> int:
        if self._returned:
            self._returned = text[at] == "\r"
            if text[at] in "\r\n":
                return at + 1
        odd = _ODD.search(text, at)
        self._show(text[at : odd.start()] if odd else text[at:], out)
        if odd is None:
            return len(text)
        self._show(self._instead(odd.group()), out)
        return odd.end()

    def _show(self, text: str, out: list[str]) -> None:
        if text:
            out.append(text)
            self._last = text[-1]

    def _instead(self, odd: str) -> str:
        """Give what is shown in the place of one character, and note which sequence it begins."""
        self._state = _BEGINS.get(odd, "")
        if self._state:
            return ""
        self._returned = odd == "\r"
        if odd == "\r" or odd in _LINES:
            return "\n"
        if odd < " ":
            return chr(_PICTURES + ord(odd))
        if odd == "\x7f":
            return "\u2421"
        # The other controls above ASCII have no picture.
        if not _UNSEEN.match(odd):
            return "\ufffd"
        # Of a character that nobody sees nothing is left, but for one that joins where it stands.
        if odd == _EMPTY:
            return " "
        return odd if odd in _JOINS and _JOINS[odd].match(self._last) else ""

    def _sequence(self, text: str, at: int) -> int:
        """Pass over what belongs to the sequence; leave the first character that does not."""
        if self._state == "string":
            ending = _STRING_ENDS.search(text, at)
            if ending is None:
                return len(text)
            self._state = "escape" if ending[0] == "\x1b" else ""
            return ending.start() if ending[0] in "\r\n" else ending.end()
        if self._state == "escape":
            self._state = _AFTER_ESCAPE.get(text[at], "between")
            return at if self._state == "between" else at + 1
        inside, least = (_PARAMETERS, "@") if self._state == "csi" else (_BETWEEN, "0")
        match = inside.match(text, at)
        end = match.end() if match else at
        if end == len(text):
            return end
        self._state = ""
        return end + 1 if least <= text[end] <= "~" else end


# --- what the sandbox refused

MAX_DENIALS = 5
"""How many refusals of one run are told."""
MAX_DENIED_PATH_CHARS = 300
"""A longer path in an error is not looked at."""
MAX_DENIED_LINE_CHARS = 1_000
"""So much of a line is looked at: a pattern must not take long over a line that was made for it."""
MAX_DENIED_CHARS = 65_536
"""So much of a text is looked at, its end: that is where a failure stands."""
MAX_DENIED_PATHS = 64
"""How many paths of one text are looked for on the disk."""
_NETWORK = re.compile(
    r"name resolution|name or service not known|resolve host|network is unreachable"
    r"|failed to resolve|no such host|(?-i:\bE(?:AI_AGAIN|NOTFOUND|NETUNREACH)\b)"
    r"|\bconnect .{0,80}(?:EACCES|permission denied)",
    re.IGNORECASE,
)
"""What programs say that cannot reach the network."""
_SOCKET = "PermissionError: [Errno 13] Permission denied"
"""What Python says of the same when the kernel refuses a connection."""
_MISSING = r"no such file or directory|ENOENT|directory nonexistent"
_CLOSED = r"read-only file system|EROFS|permission denied|EACCES"
_FILE = re.compile(rf"(?P<missing>{_MISSING})|{_CLOSED}", re.IGNORECASE)
_QUOTED = re.compile("""['"\u2018]([^'"\u2019]+)['"\u2019]""")
_BARE = re.compile(
    rf"(?:^|: )(?:cannot \w+ )?([^:'\"]+): (?:{_MISSING}|{_CLOSED})",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"^KeyError: '(\w+)'$|\b(\w+): (?:unbound variable|parameter not set)")
_ENVIRON = re.compile(r'File "[^"]*\bos(?:\.py)?>?", line \d+, in __getitem__')
"""Where Python looks a variable up: a `KeyError` below it is of no other mapping."""


class DenialFacts(NamedTuple):
    """What a run had, and what lies beside it on this machine."""

    skill: str
    cage: Cage
    declares_network: bool
    place: Callable[[str], tuple[str, str]]
    """Gives the real path of what a person may lend, or nothing and the reason why it cannot be."""
    variables: Container[str]
    """Names of the user's own variables."""


class DenialReader:
    """Reads what a script says when it fails, and tells what the sandbox refused and which option
    grants it. Each refusal is told once.

    What it reads is the script's own word, so nothing is told that the facts do not bear out: a
    file has to be there and not lent, the network not granted.
    """

    def __init__(self, facts: DenialFacts, *, network_was_said: bool = False) -> None:
        """Begin with nothing told, unless the person was told of the network before the run."""
        self._facts = facts
        self._told: dict[str, None] = {}
        self._network_was_said = network_was_said

    def read(self, text: str) -> list[str]:
        """Tell what was refused, as far as a text shows it and nothing was told of it yet."""
        lines = [line[:MAX_DENIED_LINE_CHARS] for line in text[-MAX_DENIED_CHARS:].splitlines()]
        found = [self._network(lines), *self._files(lines), *self._missing_names(lines)]
        new = [one for one in dict.fromkeys(found) if one and one not in self._told]
        new = new[: MAX_DENIALS - len(self._told)]
        self._told.update(dict.fromkeys(new))
        return new

    def _network(self, lines: Sequence[str]) -> str:
        refused = _SOCKET in lines and any("socket" in line for line in lines)
        if self._network_was_said or self._facts.cage.network:
            return ""
        if not (refused or any(map(_NETWORK.search, lines))):
            return ""
        if self._facts.declares_network:
            return f"{NETWORK_ACCESS}. This skill declares it: allow it for one run with --network"
        return f"{NETWORK_ACCESS}. {UNDECLARED_NETWORK}, then run it with --network"

    def _files(self, lines: Sequence[str]) -> list[str]:
        """Tell of the paths that lines name, where the sandbox is why it failed."""
        asked: dict[tuple[str, bool], None] = {}
        for line in lines:
            phrase = _FILE.search(line)
            if phrase is not None:
                bare = _BARE.search(line)
                paths = [*_QUOTED.findall(line), *(bare.groups() if bare else ())]
                asked.update(((path, bool(phrase["missing"])), None) for path in paths)
        return [
            self._missing(path) if missing else self._closed(path)
            for path, missing in list(asked)[:MAX_DENIED_PATHS]
            if len(path) <= MAX_DENIED_PATH_CHARS and "\0" not in path
        ]

    def _missing(self, path: str) -> str:
        """Tell of a file that is there, but not in the sandbox; or of the folder that it would lie
        in.
        """
        inside = _in_sandbox(path)
        if any(is_inside(inside, mount.target) for mount in self._facts.cage.mounts):
            return ""
        named = path.removeprefix(f"{SCRATCH}/")
        if is_inside(named, SKILL) or named.startswith("~"):
            return ""
        if not self._facts.place(named)[1]:
            return _lendable(f"{named} is not in the sandbox.", named, "--read")
        folder = dirname(named)
        if not folder or self._facts.place(folder)[1]:
            return ""
        return _lendable(f"the folder {folder} is not in the sandbox.", folder, "--write")

    def _closed(self, path: str) -> str:
        """Tell of what the sandbox has to read and not to change."""
        inside = _in_sandbox(path)
        if is_inside(inside, SKILL):
            return (
                "the skill's own folder can be read, but not changed. Lend a folder with --write "
                "DIR, and let the script write there"
            )
        mount = max(
            (one for one in self._facts.cage.mounts if is_inside(inside, one.target)),
            key=lambda one: len(one.target),
            default=None,
        )
        named = path.removeprefix(f"{SCRATCH}/")
        if mount is None or mount.writable or self._facts.place(named)[1]:
            return ""
        return _lendable(f"{named} can be read, but not changed.", named, "--write")

    def _missing_names(self, lines: Sequence[str]) -> list[str]:
        """Tell of variables that a script reads and is not given."""
        given = {name for name, _value in self._facts.cage.environment}
        of_python = any(map(_ENVIRON.search, lines))
        names = [
            found[1] or found[2]
            for found in map(_VARIABLE.search, lines)
            if found and (of_python if found[1] else found[2] in self._facts.variables)
        ]
        return [
            f"the variable {name}. A script only gets variables that its skill declares: add it to "
            "required_environment_variables in its SKILL.md, then run: metier setup "
            + shlex.quote(self._facts.skill)
            for name in names
            if name not in given
        ]


def _in_sandbox(path: str) -> str:
    """Say where a path that a script names lies in the sandbox."""
    return normpath(path if path.startswith("/") else f"{SCRATCH}/{path}")


def _lendable(what: str, path: str, option: str) -> str:
    """Say how to lend a path, and that hidden ones are to be lent with care."""
    if any(part.startswith(".") and part.strip(".") for part in path.split("/")):
        return (
            f"{what} Hidden files often hold keys and passwords: read the script before you lend "
            f"it this with {option}"
        )
    also = " (--write lets it change it too)" if option == "--read" else ""
    return f"{what} If the script should have it, add: {option} {shlex.quote(path)}{also}"
