r"""Takes shell text apart into commands the way a shell would, and says which program each really
runs.

Words come out after quote removal and with the variables filled in that the text itself sets, so
that `'cu''rl'`, `c\url`, `$'\x63url'`, `$A$B` and `$(echo curl)` all read `curl`. What only running
would tell stays as it is written; a command substitution leaves `$()` in its word, and its commands
follow with that word's command as their parent. Texts that a shell is handed (`bash -c`, `eval`,
here-documents, decoded pipes) or that are written where a shell will find them are taken apart too,
to a depth of three.

A call is the program behind `sudo`, `env` and `xargs`, with what feeds it and what lies inside it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.languages.shell import read
from metier.scan.languages.shell.read import ShellReader, ShellRedirect, ShellWord
from metier.scan.model import RuleHit, word_set
from metier.scan.rules import places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.model import Texts


SHELLS = word_set("sh bash zsh dash ksh ash fish rbash mksh")
_MAX_SCRIPT_DEPTH = 3
MAX_COMMANDS = 20_000
"""How many commands one text may give. More than that is not a script that someone wrote."""
LEFT_OUT = "left out"
"""How an empty last command lies there that stands for all that was not taken apart."""
_READERS = SHELLS | {"crontab", "at", "sudo", "tee", "source"}
"""What makes commands of the text it is fed."""
_TAKES_COMMAND = SHELLS | {"su", "runuser", "script", "flock"}
_SPEAKS = word_set("eval alias trap")
_PROFILE = re.compile(
    r"\.(?:sh|bash|zsh|command)$|rc$|profile$|/cron|/hooks/(?:pre|post)-\w|\.git/hooks/|/init\.d/|/rc\.local$|zshenv$|/autostart/"
)
_CRON = re.compile(r"(?:^|\n)[ \t]*(?:(?:[\d*/,-]{1,20}[ \t]+){5}|@\w{1,12}[ \t]+)")


class ShellCommand(NamedTuple):
    """One simple command, and how it stands to those around it."""

    words: tuple[ShellWord, ...]
    assigns: tuple[tuple[str, ShellWord], ...]
    redirects: tuple[ShellRedirect, ...]
    start: int
    end: int
    link: str
    """What joins it to the next one: `|`, `&&`, `||`, `;`, `&`, a newline, or nothing."""
    pipeline: int
    """Commands with the same number are one pipeline."""
    parent: int = -1
    """The index of the command that this one is written inside of."""
    via: str = ""
    """How it lies in its parent: `$(`, `` ` ``, `<(`, `-c`, `eval`, `<<`, `alias`, `|` (a decoded
    text) or `written`."""


class _CommandPlace(NamedTuple):
    """Where a text that was taken out of another one lies: shifted letter by letter, or somewhere
    within a span.
    """

    shift: int = 0
    span: tuple[int, int] | None = None

    def spot(self, start: int, end: int) -> tuple[int, int]:
        return self.span or (start + self.shift, end + self.shift)

    def moved(self, word: ShellWord) -> ShellWord:
        start, end = self.spot(word.start, word.end)
        return ShellWord(word.text, start, end, word.masked)


class _NestedScript(NamedTuple):
    text: str
    place: _CommandPlace
    parent: int = -1
    via: str = ""


def commands(text: str) -> list[ShellCommand]:
    """Return the commands of a shell text. Offsets count characters of that text; an empty last one
    tells that some are missing.
    """
    found: list[ShellCommand] = []
    known: dict[str, str] = {}
    pipelines = 0
    left = False
    level = [_NestedScript(text, _CommandPlace())]
    for _ in range(_MAX_SCRIPT_DEPTH + 1):
        inner: list[_NestedScript] = []
        for script in level:
            first = len(found)
            if first > MAX_COMMANDS:
                left = True
                break
            pipelines = _read(script, known, found, pipelines)
            inner += _scripts(script, found, first)
        level = inner
    if left or level:
        found.append(
            ShellCommand(
                words=(),
                assigns=(),
                redirects=(),
                start=0,
                end=0,
                link="",
                pipeline=-1,
                via=LEFT_OUT,
            )
        )
    return found


@lru_cache(maxsize=1024)  # every analyzer asks, and most commands begin with the same few words
def program(word: str) -> str:
    """Return the name of the program that a command's first word runs: `/usr/bin/Curl.exe` is
    `curl`.
    """
    return word.replace("\\", "/").rsplit("/", 1)[-1].lower().removesuffix(".exe")


def _read(
    script: _NestedScript, known: dict[str, str], found: list[ShellCommand], pipelines: int
) -> int:
    """Add the commands of one text, and return the number of its last pipeline."""
    reader = ShellReader(script.text, known)
    reader.pipelines = pipelines
    reader.read()
    place = script.place
    moved = {-1: script.parent}
    for draft in reader.drafts:
        parent = moved.get(draft.parent, script.parent)
        if not (draft.words or draft.assigns or draft.redirects):
            moved[draft.place] = parent
            continue
        moved[draft.place] = len(found)
        words = draft.words
        assigns = draft.assigns
        redirects = draft.redirects
        if place != (0, None):
            words = [place.moved(word) for word in words]
            assigns = [(name, place.moved(word)) for name, word in assigns]
            redirects = [one._replace(target=place.moved(one.target)) for one in redirects]
        start, end = place.spot(draft.start, draft.end)
        found.append(
            ShellCommand(
                words=tuple(words),
                assigns=tuple(assigns),
                redirects=tuple(redirects),
                start=start,
                end=end,
                link=draft.link,
                pipeline=draft.pipeline,
                parent=parent,
                via=draft.via or script.via,
            )
        )
    return reader.pipelines


def _scripts(script: _NestedScript, found: list[ShellCommand], first: int) -> list[_NestedScript]:
    """Return the texts that the commands from `first` on hand to a shell, or leave for one."""
    inner: list[_NestedScript] = []
    for index in range(first, len(found)):
        command = found[index]
        if not command.words:
            continue
        words = command.words
        names = [program(words[0].text)]
        if names[0] in _SPEAKS or any(
            word.text[-2:] == "sh" or word.text in _TAKES_COMMAND for word in words[:40]
        ):
            names = [program(word.text) for word in words[:40]]
            inner += _from_words(words, names, index, script)
        if any(redirect.body for redirect in command.redirects):
            inner += _from_bodies(found, index, names, script)
        if names[0] in ("echo", "printf", "base64") and len(words) > 1:
            inner += _from_output(found, index)
    return inner


def _from_words(
    words: tuple[ShellWord, ...], names: list[str], index: int, script: _NestedScript
) -> Iterator[_NestedScript]:
    if names[0] == "eval" and len(words) > 1:
        place = _where(words[1], script)
        if len(words) > 2:
            place = _CommandPlace(span=(words[1].start, words[-1].end))
        yield _NestedScript(" ".join(word.text for word in words[1:]), place, index, "eval")
        return
    for word in words[1:4] if names[0] == "alias" else ():
        if "=" in word.text:
            place = _CommandPlace(span=(word.start, word.end))
            yield _NestedScript(word.text.partition("=")[2], place, index, "alias")
    if names[0] == "trap" and len(words) > 2:
        yield _NestedScript(words[1].text, _where(words[1], script), index, "-c")
    for start, name in enumerate(names[:-2], 1):
        if name in _TAKES_COMMAND:
            for flag, word in pairwise(words[start : start + 5]):
                if flag.text[:1] == "-" and flag.text[1:2] != "-" and flag.text.endswith("c"):
                    yield _NestedScript(word.text, _where(word, script), index, "-c")
                    return


def _from_bodies(
    found: list[ShellCommand], index: int, names: list[str], script: _NestedScript
) -> Iterator[_NestedScript]:
    command = found[index]
    follower = _next(found, index)
    shell = any(name in SHELLS for name in names[:3]) or (
        follower is not None and program(follower.words[0].text) in SHELLS
    )
    tee = names[0] in ("tee", "sudo", "crontab") and (
        names[0] == "crontab" or any(_PROFILE.search(word.text) for word in command.words)
    )
    if not (shell or tee or _writes_profile(command)):
        return
    for one in command.redirects:
        if one.body:
            place = (
                script.place if script.place.span else _CommandPlace(script.place.shift + one.start)
            )
            body = one.body if shell else _CRON.sub(_blanks, one.body)
            yield _NestedScript(body, place, index, "<<" if shell else "written")


def _writes_profile(command: ShellCommand) -> bool:
    """Say whether the command writes where a shell will look for commands."""
    return any(
        one.op in (">", ">>", ">|") and _PROFILE.search(one.target.text)
        for one in command.redirects
    )


def _from_output(found: list[ShellCommand], index: int) -> Iterator[_NestedScript]:
    """Give what a pipeline of text commands hands to a shell, or writes where a shell will read
    it.
    """
    steps = [found[index]]
    while (follower := _next(found, index + len(steps) - 1)) is not None and len(steps) < 8:
        steps.append(follower)
    names = [program(step.words[0].text) for step in steps]
    ends = next((place for place, name in enumerate(names) if name in _READERS), 0)
    if not ends and not any(map(_writes_profile, steps)):
        return
    said = read.output([[word.text for word in step.words] for step in steps[: ends or len(steps)]])
    if said:
        place = _CommandPlace(span=(steps[0].start, steps[-1].end))
        via = "|" if names[ends] in SHELLS else "written"
        yield _NestedScript(_CRON.sub(_blanks, said), place, index, via)


def _next(found: list[ShellCommand], index: int) -> ShellCommand | None:
    """Return the command that reads what this one prints."""
    if found[index].link != "|":
        return None
    for follower in found[index + 1 : index + 9]:
        if follower.pipeline == found[index].pipeline and follower.words:
            return follower
    return None


def _where(word: ShellWord, script: _NestedScript) -> _CommandPlace:
    """Say where a word's text is written: letter by letter between its quotes, or just somewhere in
    the word.
    """
    if script.place.span or word.masked:
        return _CommandPlace(span=script.place.span or (word.start, word.end))
    start = word.start - script.place.shift
    end = word.end - script.place.shift
    if script.text[start + 1 : end - 1] == word.text:
        return _CommandPlace(word.start + 1)
    return _CommandPlace(span=(word.start, word.end))


def _blanks(match: re.Match[str]) -> str:
    return "".join(char if char == "\n" else " " for char in match[0])


# --- calls: which program really runs

FETCHERS = word_set(
    "curl wget fetch aria2c http https httpie xh lynx w3m axel wget2 curlie iwr irm "
    "invoke-webrequest invoke-restmethod"
)
INTERPRETERS = SHELLS | word_set(
    "python pypy node nodejs deno bun perl ruby php lua osascript pwsh powershell iex "
    "invoke-expression tclsh rscript source . tsx ts-node cmd"
)
NETWORK = FETCHERS | word_set(
    "nc ncat netcat socat telnet ssh scp sftp ftp rsync dig nslookup rclone websocat grpcurl"
)

_VERSIONED = re.compile(r"(python|pypy|node|perl|ruby|php|lua|pip)[\d.]{1,8}$")
_URL = re.compile(r"(?i)\b(?:https?|ftp)://[^\s'\"<>|;)\]},]{1,2000}")
_BARE = re.compile(r"[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}(?::\d{1,5})?(?:/[^\s]{0,2000})?", re.ASCII)
_FILE = re.compile(
    r"(?i)\.(?:sh|py|js|json|txt|md|html?|zip|gz|tgz|png|jpe?g|ya?ml|csv|pdf|log|xml|bin|out|tmp|exe|deb|pkg|dmg)$"
)
_HOST = re.compile(
    r"(?i)^(?:[a-z]{2,5}://)?(?:[^/@\s]{0,200}@)?(\[[0-9a-f:]{2,45}\]|[^/:?#\s]{1,255})"
)
MAX_PIPELINE_CALLS = 32
"""How many calls of one pipeline are looked at together, so that walking it for each of them stays
cheap."""
_SPAN = re.compile(r"[\d.]+[smhd]?$")

_WRAPPERS = {  # each with the options that take a value
    "sudo": "ugpCDhrtTU",
    "doas": "uC",
    "env": "uCS",
    "nohup": "",
    "time": "fo",
    "exec": "a",
    "command": "",
    "builtin": "",
    "nice": "n",
    "ionice": "cnp",
    "setsid": "",
    "stdbuf": "ioe",
    "timeout": "ks",
    "xargs": "IiLlnPsEad",
    "busybox": "",
    "watch": "n",
    "caffeinate": "tw",
    "proxychains": "f",
    "proxychains4": "f",
    "torsocks": "",
    "torify": "",
    "unbuffer": "",
    "chronic": "",
    "pkexec": "",
    "&": "",
}


PROGRAM_OPTIONS = {
    "python": "c",
    "pypy": "c",
    "node": "ep",
    "nodejs": "ep",
    "bun": "e",
    "perl": "eE",
    "ruby": "e",
    "php": "r",
    "lua": "e",
    "osascript": "e",
    "pwsh": "cC",
    "powershell": "cC",
}
"""Interpreters, each with the letters of the option that takes a program."""
_TOGETHER = 6
"""Characters of short options written as one word: `-fsSLo`; a longer one is a word of its own."""


class ShellCall(NamedTuple):
    """A program that a command runs. `args` are its words after the name, as texts."""

    name: str
    args: Texts
    words: tuple[ShellWord, ...]
    wraps: Texts
    place: int
    command: ShellCommand
    start: int
    end: int
    redirects: tuple[ShellRedirect, ...]

    def hit(self, rule: str, evidence: str = "", until: ShellCall | None = None) -> RuleHit:
        """Give a hit that covers the whole command, and all up to the end of a later one."""
        return RuleHit(rule, self.start, max(self.end, until.end if until else 0), evidence)

    def has(self, *flags: str) -> bool:
        """Say whether one of the words is given."""
        return any(flag in self.args for flag in flags)

    def flagged(self, *letters: str) -> bool:
        """Say whether an option of one dash holds one of the letters: `-rf` holds r and f."""
        return any(
            arg[:1] == "-" and arg[1:2] != "-" and letter in arg
            for letter in letters
            for arg in self.args
        )

    def matches(self, pattern: re.Pattern[str]) -> bool:
        """Say whether one of the words begins as the pattern says."""
        return any(map(pattern.match, self.args))

    def program_word(self) -> ShellWord | None:
        """Return the word that names the program, past all wrappers."""
        words = self.command.words
        return words[len(words) - len(self.words) - 1] if words and self.name else None

    def outputs(self) -> list[str]:
        """Return the files that the command's output is redirected to."""
        return [one.target.text for one in self.redirects if one.op in (">", ">>", ">|")]

    def option(self, *names: str) -> list[ShellWord]:
        """Return the values of an option, written `-o x`, `-ox`, `-so x` or `--output=x`."""
        found: list[ShellWord] = []
        for place, arg in enumerate(self.args):
            if arg in names:
                found += self.words[place + 1 : place + 2]
            elif arg[:1] == "-":
                last = 2 < len(arg) <= _TOGETHER and arg[1:].isalpha() and f"-{arg[-1]}"
                for name in names if last in names or arg.startswith(names) else ():
                    joined = arg.startswith(name)
                    if joined and arg.startswith("=", len(name)):
                        found.append(self.words[place]._replace(text=arg[len(name) + 1 :]))
                    elif joined and len(name) == 2 and len(arg) > 2:
                        found.append(self.words[place]._replace(text=arg[2:]))
                    elif name == last:
                        found += self.words[place + 1 : place + 2]
        return found

    def plain(self) -> list[str]:
        """Return the words that are no options."""
        return [arg for arg in self.args if arg[:1] != "-" or arg == "-"]


class ShellScript(NamedTuple):
    """A shell text as calls, with the ways to walk it."""

    text: str
    calls: tuple[ShellCall, ...]
    """One for each command, in the same order; a command without words has an empty name."""
    pipelines: dict[int, list[ShellCall]]
    children: dict[int, list[ShellCall]]

    def inside(self, call: ShellCall, *vias: str) -> list[ShellCall]:
        """Return the calls directly inside this one, of all ways or of those that are named."""
        return [
            one for one in self.children.get(call.place, ()) if not vias or one.command.via in vias
        ]

    def below(self, call: ShellCall, depth: int = 4) -> Iterator[ShellCall]:
        """Give every call inside this one, at any depth."""
        for one in self.children.get(call.place, ()):
            yield one
            if depth:
                yield from self.below(one, depth - 1)

    def before(self, call: ShellCall) -> list[ShellCall]:
        """Return the calls whose output flows into this one."""
        return [one for one in self._joined(call) if one.place < call.place]

    def after(self, call: ShellCall) -> list[ShellCall]:
        """Return the calls that this one's output flows into."""
        return [one for one in self._joined(call) if one.place > call.place]

    def _joined(self, call: ShellCall) -> Iterator[ShellCall]:
        pipeline = call.command.pipeline
        parent = call.command.parent
        return (one for one in self.pipelines[pipeline] if one.command.parent == parent)


@lru_cache(maxsize=2)  # the shell and the supply analyzer read the same text, one after the other
def read_script(text: str) -> ShellScript:
    """Return the calls of a shell text."""
    calls = tuple(_call(index, command) for index, command in enumerate(commands(text)))
    pipelines: dict[int, list[ShellCall]] = {}
    children: dict[int, list[ShellCall]] = {}
    for call in calls:
        line = pipelines.setdefault(call.command.pipeline, [])
        if len(line) < MAX_PIPELINE_CALLS:
            line.append(call)
        if call.command.parent >= 0:
            children.setdefault(call.command.parent, []).append(call)
    return ShellScript(text, calls, pipelines, children)


def _call(index: int, command: ShellCommand) -> ShellCall:
    words = command.words
    wraps: list[str] = []
    while words and (name := program(words[0].text)) in _WRAPPERS and len(wraps) < 6:
        rest = _unwrapped(name, words)
        if not rest:
            break
        wraps.append(name)
        words = rest
    name = program(words[0].text) if words else ""
    if match := _VERSIONED.match(name):
        name = match[1]
    return ShellCall(
        name=name,
        args=tuple([word.text for word in words[1:]]),
        words=words[1:],
        wraps=tuple(wraps),
        place=index,
        command=command,
        start=command.start,
        end=command.end,
        redirects=command.redirects,
    )


def _unwrapped(name: str, words: tuple[ShellWord, ...]) -> tuple[ShellWord, ...]:
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


def given_program(call: ShellCall) -> ShellWord | None:
    """Return the word that holds the program of `python -c …`, `node -e …` or `deno eval …`."""
    if call.name == "deno":
        return call.words[1] if call.args[:1] == ("eval",) and len(call.words) > 1 else None
    letters = PROGRAM_OPTIONS.get(call.name, "")
    for place, arg in enumerate(call.args[:-1]):
        if arg[:1] != "-":
            return None  # a file comes first: what follows are its own options
        if (
            letters
            and (arg[1:2] != "-" or len(arg) > 6)
            and (arg[-1] in letters or arg.lower() in ("-command", "--eval"))
        ):
            return call.words[place + 1]
    return None


def urls(call: ShellCall) -> list[tuple[str, ShellWord]]:
    """Return the addresses among a call's words; a fetcher's also without a scheme, as in `curl
    example.com/x`.
    """
    found = []
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


# --- all words of a script at once: the tables of places are long, and words many

_MAX_MENTIONS = 400
"""Words looked at that name the same place; more of them say nothing more, and no place hides
another."""
_MAX_FOUND = 1 << 20
_MIN_NAME_CHARS = 4  # letters of a place's name
_BRACKET = re.compile(r"\[(\w)\]")


class NamedPlace(NamedTuple):
    """A word that names a place, what the place is, and the word's part in its command."""

    call: ShellCall
    word: ShellWord
    part: str
    """`word`, `assign`, `<` (read from) or `>` (written to)."""
    what: str


class ScriptWords(NamedTuple):
    """Every word of a script in one text, one to a line."""

    words: list[tuple[ShellCall, ShellWord, str]]
    starts: list[int]
    text: str


def collect_words(script: ShellScript) -> ScriptWords:
    """Put the words of a script together. The text of a nested script is left out: its own words
    are there.
    """
    words = []
    for call in script.calls:
        command = call.command
        nested = call.place in script.children and bool(script.inside(call, "-c", "eval"))
        first = max(0, len(command.words) - len(call.words) - 1)
        words += [
            (call, word, "word")
            for word in command.words[first:]
            if not (nested and " " in word.text)
        ]
        if command.assigns:
            words += [(call, word, "assign") for _, word in command.assigns]
        if command.redirects:
            words += [
                (call, one.target, ">" if ">" in one.op else "<") for one in command.redirects
            ]
    # to the shell `/etc/shad[o]w` and `/etc/shadow` are one file
    plain = [
        _BRACKET.sub(r"\1", word.text) if "[" in word.text else word.text for _, word, _ in words
    ]
    starts = [0, *accumulate(len(text) + 1 for text in plain)]
    return ScriptWords(words, starts, "\n".join(plain))


def named_places(kind: str, all_texts: ScriptWords) -> Iterator[NamedPlace]:
    """Give the words that name a place of one kind."""
    counts: dict[str, int] = defaultdict(int)
    for seen in places.find_places(kind, all_texts.text, _MAX_FOUND):
        counts[seen.what] += 1
        if counts[seen.what] <= _MAX_MENTIONS:
            place = all_texts.words[bisect_right(all_texts.starts, seen.start) - 1]
            yield NamedPlace(*place, seen.what)


def crowded(all_texts: ScriptWords) -> bool:
    """Say whether some place is named more often than is looked at."""
    if len(all_texts.text) < _MAX_MENTIONS * _MIN_NAME_CHARS:
        return False
    for kind in ("credential", "exfiltration", "persistence", "memory"):
        found = places.find_places(kind, all_texts.text, _MAX_FOUND)
        counts = Counter(seen.what for seen in found)
        if any(count > _MAX_MENTIONS for count in counts.values()):
            return True
    return False
