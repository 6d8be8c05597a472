r"""Take shell text apart into commands, the way a shell would, whatever the text is.

Words come out after quote removal and with the variables filled in that the text itself sets, so that `'cu''rl'`, `c\url`,
`$'\x63url'`, `$A$B` and `$(echo curl)` all read `curl`. What only running would tell stays as it is written; a command
substitution leaves `$()` in its word, and its commands follow with that word's command as their parent. Texts that a shell is
handed (`bash -c`, `eval`, here-documents, decoded pipes) or that are written where a shell will find them are taken apart too,
to a depth of three.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from metier.scan import shelltext
from metier.scan.shellreader import Reader, Redirect, Word

__all__ = ["Command", "Redirect", "Word", "commands", "program"]

SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "rbash", "mksh"))
_DEEPEST = 3
MOST = 20_000
"""How many commands one text may give. More than that is not a script that someone wrote."""
LEFT_OUT = "left out"
"""How an empty last command lies there that stands for all that was not taken apart."""
_TAKES_COMMAND = frozenset(("su", "runuser", "script", "flock"))
_SPEAKS = frozenset(("eval", "alias", "trap"))
_PROFILE = re.compile(r"\.(?:sh|bash|zsh|command)$|rc$|profile$|/cron|\.git/hooks/|/init\.d/|/rc\.local$|zshenv$|/autostart/")
_CRON = re.compile(r"(?:^|\n)[ \t]*(?:(?:[\d*/,-]{1,20}[ \t]+){5}|@\w{1,12}[ \t]+)")


class Command(NamedTuple):
    """One simple command, and how it stands to those around it."""

    words: tuple[Word, ...]
    assigns: tuple[tuple[str, Word], ...]
    redirects: tuple[Redirect, ...]
    start: int
    end: int
    link: str
    """What joins it to the next one: `|`, `&&`, `||`, `;`, `&`, a newline, or nothing."""
    pipeline: int
    """Commands with the same number are one pipeline."""
    parent: int = -1
    """The index of the command that this one is written inside of."""
    via: str = ""
    """How it lies in its parent: `$(`, `` ` ``, `<(`, `-c`, `eval`, `<<`, `alias`, `|` (a decoded text) or `written`."""


class _Place(NamedTuple):
    """Where a text that was taken out of another one lies: shifted letter by letter, or somewhere within a span."""

    shift: int
    span: tuple[int, int] | None = None

    def spot(self, start: int, end: int) -> tuple[int, int]:
        return self.span or (start + self.shift, end + self.shift)


class _Script(NamedTuple):
    text: str
    place: _Place
    parent: int
    via: str


def commands(text: str) -> list[Command]:
    """Return the commands of a shell text. Offsets count characters of that text; an empty last one tells that some are missing."""
    found: list[Command] = []
    known: dict[str, str] = {}
    pipelines = 0
    left = False
    level = [_Script(text, _Place(0), -1, "")]
    for _ in range(_DEEPEST + 1):
        inner: list[_Script] = []
        for script in level:
            first = len(found)
            if first > MOST:
                left = True
                break
            pipelines = _read(script, known, found, pipelines)
            inner += _scripts(script, found, first)
        level = inner
    if left or level:
        found.append(Command((), (), (), 0, 0, "", -1, -1, LEFT_OUT))
    return found


def program(word: str) -> str:
    """Return the name of the program that a command's first word runs: `/usr/bin/Curl.exe` is `curl`."""
    return word.replace("\\", "/").rsplit("/", 1)[-1].lower().removesuffix(".exe")


def _read(script: _Script, known: dict[str, str], found: list[Command], pipelines: int) -> int:
    """Add the commands of one text, and return the number of its last pipeline."""
    reader = Reader(script.text, known)
    reader.pipelines = pipelines
    reader.read()
    spot = script.place.spot
    moved: dict[int, int] = {-1: script.parent}
    for draft in reader.drafts:
        parent = moved.get(draft.parent, script.parent)
        if not (draft.words or draft.assigns or draft.redirects):
            moved[draft.place] = parent
            continue
        moved[draft.place] = len(found)
        if script.place == (0, None):
            words, assigns, redirects, (start, end) = draft.words, draft.assigns, draft.redirects, (draft.start, draft.end)
        else:
            words = [_moved(word, script.place) for word in draft.words]
            assigns = [(name, _moved(word, script.place)) for name, word in draft.assigns]
            redirects = [one._replace(target=_moved(one.target, script.place)) for one in draft.redirects]
            start, end = spot(draft.start, draft.end)
        via = draft.via or script.via
        found.append(Command(tuple(words), tuple(assigns), tuple(redirects), start, end, draft.link, draft.pipeline, parent, via))
    return reader.pipelines


def _moved(word: Word, place: _Place) -> Word:
    start, end = place.spot(word.start, word.end)
    return Word(word.text, start, end, word.masked)


def _scripts(script: _Script, found: list[Command], first: int) -> list[_Script]:
    """Return the texts that the commands from `first` on hand to a shell, or leave for one."""
    inner: list[_Script] = []
    for index in range(first, len(found)):
        command = found[index]
        if not command.words:
            continue
        words = command.words
        names = [program(words[0].text)]
        if names[0] in _SPEAKS or any(word.text[-2:] == "sh" or word.text in _TAKES_COMMAND for word in words[:40]):
            names = [program(word.text) for word in words[:40]]
            _from_words(command, names, index, script, inner)
        if command.redirects and any(redirect.body for redirect in command.redirects):
            _from_bodies(found, index, names, script, inner)
        if names[0] in ("echo", "printf", "base64") and len(command.words) > 1:
            _from_output(found, index, inner)
    return inner


def _from_words(command: Command, names: list[str], index: int, script: _Script, inner: list[_Script]) -> None:
    words = command.words
    if names[0] == "eval" and len(words) > 1:
        if len(words) == 2:
            inner.append(_Script(words[1].text, _where(words[1], script), index, "eval"))
        else:
            span = (words[1].start, words[-1].end)
            inner.append(_Script(" ".join(word.text for word in words[1:]), _Place(0, span), index, "eval"))
        return
    if names[0] == "alias" and len(words) > 1:
        inner += [
            _Script(word.text.partition("=")[2], _Place(0, (word.start, word.end)), index, "alias")
            for word in words[1:4]
            if "=" in word.text
        ]
    if names[0] == "trap" and len(words) > 2:
        inner.append(_Script(words[1].text, _where(words[1], script), index, "-c"))
    for place, name in enumerate(names[:-2]):
        if name in SHELLS or name in _TAKES_COMMAND:
            for option in range(place + 1, min(place + 5, len(words) - 1)):
                flag = words[option].text
                if flag[:1] == "-" and flag[1:2] != "-" and flag.endswith("c"):
                    inner.append(_Script(words[option + 1].text, _where(words[option + 1], script), index, "-c"))
                    return


def _from_bodies(found: list[Command], index: int, names: list[str], script: _Script, inner: list[_Script]) -> None:
    command = found[index]
    follower = _next(found, index)
    shell = any(name in SHELLS for name in names[:3]) or (follower is not None and program(follower.words[0].text) in SHELLS)
    written = any(one.op in (">", ">>", ">|") and _PROFILE.search(one.target.text) for one in command.redirects)
    tee = names[0] in ("tee", "sudo", "crontab") and (names[0] == "crontab" or any(_PROFILE.search(w.text) for w in command.words))
    if not (shell or written or tee):
        return
    for one in command.redirects:
        if one.body:
            place = script.place if script.place.span else _Place(script.place.shift + one.start)
            body = one.body if shell else _CRON.sub(_blanks, one.body)
            inner.append(_Script(body, place, index, "<<" if shell else "written"))


def _from_output(found: list[Command], index: int, inner: list[_Script]) -> None:
    """Add what a pipeline of text commands hands to a shell, or writes where a shell will read it."""
    steps = [found[index]]
    while (follower := _next(found, index + len(steps) - 1)) is not None and len(steps) < 8:
        steps.append(follower)
    names = [program(step.words[0].text) for step in steps]
    ends = next(
        (place for place, name in enumerate(names) if name in SHELLS or name in ("crontab", "at", "sudo", "tee", "source")), 0
    )
    written = any(one.op in (">", ">>", ">|") and _PROFILE.search(one.target.text) for step in steps for one in step.redirects)
    if not ends and not written:
        return
    said = shelltext.output([[word.text for word in step.words] for step in steps[: ends or len(steps)]])
    if said:
        span = (steps[0].start, steps[-1].end)
        inner.append(_Script(_CRON.sub(_blanks, said), _Place(0, span), index, "|" if names[ends] in SHELLS else "written"))


def _next(found: list[Command], index: int) -> Command | None:
    """Return the command that reads what this one prints."""
    if found[index].link != "|":
        return None
    for follower in found[index + 1 : index + 9]:
        if follower.pipeline == found[index].pipeline and follower.words:
            return follower
    return None


def _where(word: Word, script: _Script) -> _Place:
    """Say where a word's text is written: letter by letter between its quotes, or just somewhere in the word."""
    if script.place.span or word.masked:
        return _Place(0, script.place.span or (word.start, word.end))
    start = word.start - script.place.shift
    end = word.end - script.place.shift
    if script.text[start + 1 : end - 1] == word.text:
        return _Place(word.start + 1)
    return _Place(0, (word.start, word.end))


def _blanks(match: re.Match[str]) -> str:
    return "".join(char if char == "\n" else " " for char in match[0])
