"""Consent that names the act: what a destructive skill is about to do, in one word, and whether an answer says that word. Pure.

Whoever answers "yes" to everything has agreed to nothing (CO-18). The word comes from a table, or is the skill's own name, so
that a skill cannot choose a word that people say anyway.
"""

from __future__ import annotations

import re

from metier.standard.names import lookup_key

STRIKES = 2
"""How often somebody is asked before the answer is no."""
MOST_ANSWER = 1_000
"""Characters of an answer. Nobody agrees at such length: a longer one is something pasted."""
MOST_LOOKED_AT = 5_000

NEVER_REMOTE = frozenset({"python_exec", "terminal", "process_manager", "pm2_control", "ax_control"})
"""Skills that no agent reaches over HTTP, whatever anybody configures; they count as destructive everywhere (CO-18, CO-21)."""
KNOWN = frozenset({"file_ops", "file_write", "imessage_send", "pilot", "skill_forge"})
"""Built-in skills of CODEC that are destructive although they do not say so (CO-18)."""
_DESTRUCTIVE = frozenset(map(lookup_key, NEVER_REMOTE | KNOWN))

VERBS = (
    "wipe", "erase", "destroy", "purge", "delete", "remove", "format", "truncate", "overwrite", "trash", "empty", "drop", "clear",
    "transfer", "pay", "buy", "sell", "order", "send", "publish", "post", "share", "upload", "deploy", "uninstall", "kill",
    "shutdown", "reboot", "revoke", "ban", "reset", "revert", "replace", "write", "edit", "move", "rename", "terminate", "disable",
    "block", "cancel", "stop", "restart", "install", "execute", "forge", "create", "control", "click", "type", "press", "run",
)  # fmt: skip
"""What may be done that cannot be undone, the gravest first."""
_SAID_ANYWAY = frozenset({"stop", "cancel", "block", "disable", "revoke", "drop", "clear", "run", "execute", "terminate", "kill"})
"""Verbs that people say in order to refuse, or without a thought: alone they agree to nothing."""
_GENERIC = frozenset({
    "y", "yes", "yeah", "yep", "yup", "ok", "okay", "k", "sure", "fine", "good", "right", "correct", "agreed", "agree", "accept",
    "accepted", "approve", "approved", "confirm", "confirmed", "continue", "proceed", "go", "ahead", "do", "it", "please", "true",
    "1", "allow", "allowed", "always", "all",
})  # fmt: skip
_NO = re.compile(r"\?\Z|(?<!\w)(?:no|not|nope|never|nothing|none|hardly|keep|wait|instead|without|cannot|abort|refuse|deny|"
                 r"(?:do|wo|ca|should|must|is)n'?t)(?!\w)")  # fmt: skip
_WORD = re.compile(r"[^\W_]+")


def is_destructive(*names: str, declared: bool) -> bool:
    """Tell whether a skill needs consent: it says so itself, or is known for it under any of its names, however that is spelt."""
    return declared or any(lookup_key(part) in _DESTRUCTIVE for name in names for part in (name, name.rpartition(":")[2]))


def act_of(name: str, description: str, task: str) -> str:
    """Give what consent must say: the gravest that the task asks for, else what the skill is for, else the skill's name.

    A verb that people say anyway stands with the skill's name.
    """
    verb = _verb_in(task) or _verb_in(description)
    return f"{verb} {name}" if verb in _SAID_ANYWAY else verb or _own(name)


def names_act(answer: str, act: str) -> bool:
    """Tell whether an answer agrees to an act: it says its word, and no word of refusal."""
    said = _plain(answer) if len(answer) <= MOST_ANSWER else ""
    word = _plain(act)
    if not word or word in _GENERIC:
        return False
    without = re.sub(rf"(?<![\w-]){re.escape(word)}(?![\w-])", " ", said)
    return without != said and not _NO.search(without.replace("\u2019", "'"))


def question(name: str, act: str, task: str, *, again: bool = False) -> str:
    """Put the question to a person."""
    first = "That does not name the act. " if again else ""
    shown = task if len(task) <= MOST_LOOKED_AT else task[:MOST_LOOKED_AT] + "…"
    return f"{first}Skill '{name}' is about to {_phrase(act, name)}: {shown}\nTo agree, answer with the word '{act}'."


def _phrase(act: str, name: str) -> str:
    return "run" if act in {name, f"run {name}"} else act


def _own(name: str) -> str:
    """Give a skill's name; one that is a word which people say anyway is not enough by itself."""
    words = set(_WORD.findall(_plain(name)))
    return name if words - _GENERIC else f"run {name}"


def _verb_in(text: str) -> str:
    """Give the gravest verb of a text, whatever its ending: what stands first may be the least of it."""
    found = {_FORMS[word] for word in _WORD.findall(text[:MOST_LOOKED_AT].casefold()) if word in _FORMS}
    return min(found, key=VERBS.index, default="")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _forms(verb: str) -> set[str]:
    """Give a verb as it is written with its endings."""
    stem = verb.removesuffix("e")
    forms = {verb, f"{verb}s", f"{verb}es", f"{stem}ed", f"{stem}ing"}
    if re.fullmatch(r".*[aeiou][bdgklmnprt]", verb):
        forms |= {f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing"}
    return forms | ({f"{verb[:-1]}ies", f"{verb[:-1]}ied"} if verb.endswith("y") else set())


_FORMS = {form: verb for verb in VERBS for form in _forms(verb)} | {"sent": "send", "written": "write", "paid": "pay", "ran": "run"}
