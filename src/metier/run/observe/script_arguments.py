"""Guesses what a script takes: arguments, switches, numbers, and the words for which it does different
things. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metier.run.observe.samples import value_of, words_of
from metier.scan.model import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.model import Texts

_OPTION = re.compile(
    r"add_argument\(\s*(?:['\"]-\w['\"],\s*)?['\"](--[a-z][\w-]*|-[a-zA-Z](?=['\"]\s*[,)](?!\s*['\"]--)))['\"]"
    r"([^)]{0,400})\)"
)
_FLAG = re.compile(
    r"action\s*=|type\s*=\s*(?:int|float)|choices\s*=|default\s*=\s*['\"][\w -]{0,40}['\"]"
)
"""Options that need no value: they are switches, numbers, or have a value of their own."""
_NUMBER = re.compile(r"^(?![^)]*(?:default|required)\s*=)[^)]*type\s*=\s*(?:int|float)")
_GROUP = re.compile(r"\b(\w{1,40})[ \t]{0,4}=[ \t]{0,4}\w{1,40}\.add_mutually_exclusive_group\(")
_GROUPED = re.compile(r"\b(\w{1,40})\.add_argument\(\s{0,80}['\"]--([a-z][\w-]{1,60})['\"]")
_POSITIONAL = re.compile(r"add_argument\(\s*['\"]([a-z_][\w-]*)['\"]")
_SHELL_ARGUMENT = re.compile(r"\$\{?([1-9])\b")
_PROGRAM_ARGUMENT = re.compile(
    r"argv\s*(?:\[\s*([1-9])|\.slice\(|\[2:|\[1:|\.length)|len\(\s*(?:sys\.)?argv"
)
_CHOICES = re.compile(
    r"add_argument\(\s*(?:['\"]-\w['\"],\s*)?['\"](-{0,2}[a-z][\w-]*)['\"]"
    r"(?:(?!choices\s{0,8}=)[^)]){0,400}choices\s{0,8}=\s{0,8}[\[({]([^\])}]{0,600})[\])}]"
)
_DEFAULT = re.compile(r"default\s*=\s*['\"]([\w.-]+)['\"]")
_WORD = re.compile(r"['\"]([\w.-]{1,30})['\"]")
_SUBCOMMAND = re.compile(r"add_parser\(\s*['\"]([\w.-]{1,30})['\"]")
_SHELL_CASE = r"\bcase[ \t]+\"?\$\{{?(?:1{names})\b[^\n]{{0,80}}?\bin\b"
_SHELL_FIRST = re.compile(r"^[ \t]*(?:local[ \t]+)?([a-zA-Z_]\w{0,30})=\"?\$\{?1\b", re.MULTILINE)
"""A variable of a shell script that holds the first argument."""
_SHELL_CASE_END = re.compile(r"\besac\b")
_SHELL_WORDS = re.compile(
    r"(?:^|;;|\n)[ \t]*\(?([a-z][\w.-]{1,20}(?:\s{0,8}\|\s{0,8}[\w.-]{1,30}){0,20})\)"
)
_COMPARED = re.compile(
    r"(?:argv\[[12]\]|\b(?:cmd|command|mode|action|verb|sub|subcommand))\s*={2,3}\s*['\"]([a-z][\w.-]{1,20})['\"]"
    r"|\bcase\s+['\"]([a-z][\w.-]{1,20})['\"]\s*:"
)
_SWITCH = re.compile(
    r"add_argument\(\s*(?:['\"]-\w['\"],\s*)?['\"]--([a-z][\w-]+)['\"][^)]{0,400}store_true"
    r"|option\(\s*(?:['\"]-\w['\"],\s*)?['\"]--([a-z][\w-]+)['\"][^)]{0,400}is_flag"
    r"|['\"]--([a-z][\w-]+)['\"]\s+in\s|includes\(\s*['\"]--([a-z][\w-]+)['\"]"
    r"|=\s*['\"]?--([a-z][\w-]+)['\"]?(?=\s*[\])])"
    r"|^[ \t]*(?:-\w[ \t]*\|[ \t]*)?--([a-z][\w-]+)(?:[ \t]*\|[ \t]*-\w)?\)",
    re.MULTILINE,
)
_NO_SWITCHES = word_set(
    "help version dry check list delete remove force yes apply purge prune clean wipe overwrite "
    "reset hard destroy no"
)
"""First words of switches that end a script early, or that nobody sets without being told to."""
_BOLD_SWITCHES = word_set(
    "yes force apply fix write save install do run now confirm execute commit"
)
"""First words of switches that make a script do what it only shows otherwise."""
MAX_SWITCHES = 6
MAX_ARGUMENTS = 12
MAX_CHOICES = 8
"""Of the words that a script does different things for, how many are tried."""
_USAGE = re.compile(r"[Uu]sage:\s{0,40}(?:\$0|%\(prog\)s|\S{1,200})\s{1,8}([^\n\"']{1,120})")


def arguments_of(text: str, usual: str, domain: str) -> Texts:
    """Guess a line of arguments, by the usage line or by how a script reads them. `usual` is the sample of
    the kind that it speaks of, and hosts lie in the `domain`.
    """
    usage = _USAGE.search(text)
    if usage:
        words = [word for word in usage[1].split() if not word.startswith("[")]
        found = [
            _argument(word.strip("<>\"'"), usual, domain)
            for word in words
            if word not in {"...", "|"}
        ]
        if found:
            return tuple(found[:6])
    given: list[str] = []
    options = [option for option, rest in _OPTION.findall(text) if not _FLAG.search(rest)]
    for option in options[:MAX_ARGUMENTS]:
        given += [option, _argument(option.strip("-"), usual, domain)]
    chosen = {one[1]: _first(one[2]) for one in _CHOICES.finditer(text)}
    for name in _POSITIONAL.findall(text)[:MAX_ARGUMENTS]:
        given.append(chosen.get(name) or _argument(name, usual, domain))
    if given:
        return tuple(given[:MAX_ARGUMENTS])
    numbers = [int(one or 1) for one in _PROGRAM_ARGUMENT.findall(text)]
    numbers += [int(one) for one in _SHELL_ARGUMENT.findall(text)] if "argv" not in text else []
    if not numbers:
        return ()
    return (usual, *(f"out-{at}" for at in range(2, min(max(numbers), 4) + 1)))


def _argument(name: str, usual: str, domain: str) -> str:
    """Give a value for an argument, by its name."""
    if name.startswith("-"):
        return name
    if {"out", "output", "dest", "destination", "target", "outfile"} & words_of(name):
        return "out.txt"
    return value_of(name, domain) or usual


def numbers_of(text: str) -> Texts:
    """Give the options that want a number and have none by themselves, each with one."""
    names = [option for option, rest in _OPTION.findall(text) if _NUMBER.search(rest)]
    return tuple(word for name in names[:MAX_ARGUMENTS] for word in (name, "3"))


def choices_of(text: str, given: Texts) -> Iterator[Texts]:
    """Give arguments for each word that a script does something else for: the choices of an
    option, and subcommands.
    """
    found: list[Texts] = []
    for match in _CHOICES.finditer(text):
        usual = _DEFAULT.search(text, match.end(), match.end() + 200)
        words = [one for one in _WORD.findall(match[2]) if usual is None or one != usual[1]]
        for word in words:
            if match[1].startswith("-"):
                found.append((*given, match[1], word))
            elif word not in given:
                found.append(tuple(word if one == _first(match[2]) else one for one in given))
    plain = list(_SUBCOMMAND.findall(text))
    plain += [one or other for one, other in _COMPARED.findall(text)]
    names = "".join(f"|{name}" for name in dict.fromkeys(_SHELL_FIRST.findall(text)))
    first_word = re.compile(_SHELL_CASE.format(names=names))
    for block in _SHELL_CASE_END.split(text)[:-1]:
        if head := first_word.search(block):
            words = _SHELL_WORDS.findall(block, head.end())
            plain += [one.split("|")[0].strip() for one in words]
    if usage := _USAGE.search(text):
        first = usage[1].split()[0].strip("[](){}<>\"'")
        plain += first.split("|") if re.fullmatch(r"[a-z][\w-]*(?:\|[a-z][\w-]*)+", first) else []
    rest = tuple(one for one in given if not one.startswith("out-"))
    found += [(word, *(one for one in rest if one != word)) for word in plain]
    yield from list(dict.fromkeys(found))[:MAX_CHOICES]


def switches_of(text: str, *, bold: bool = False) -> Texts:
    """Give the switches that a script asks for, to be set together: what they bring is what counts.
    With `bold` give those instead that somebody sets who means it.
    """
    names = [next(filter(None, match.groups())) for match in _SWITCH.finditer(text)]
    groups = set(_GROUP.findall(text))
    last = {group: name for group, name in _GROUPED.findall(text) if group in groups}
    others = {name for group, name in _GROUPED.findall(text) if last.get(group, name) != name}
    chosen = [
        name
        for name in dict.fromkeys(names)
        if name not in others  # of those that exclude each other, the last
        and (
            name.split("-")[0] in _BOLD_SWITCHES if bold else name.split("-")[0] not in _NO_SWITCHES
        )
    ]
    return tuple(f"--{name}" for name in chosen[:MAX_SWITCHES])


def _first(choices: str) -> str:
    """Give the first word of a list of choices."""
    return next(iter(_WORD.findall(choices)), "")
