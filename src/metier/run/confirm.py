"""Asks for consent before a destructive skill acts, and checks that the answer names the act
(CO-18).

Whoever answers "yes" to everything has agreed to nothing (CO-18). The word comes from a table, or
is the skill's own name, so that a skill cannot choose a word that people say anyway.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metier.errors import RefusedError
from metier.run import answers
from metier.standard.names import lookup_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.run.admit import Admitted
    from metier.run.model import CodeCall

    Asker = Callable[[str, str], str | bool]
    """Puts a question to a person, given the question and the act that the answer must name; gives
    the answer, or a plain yes or no, of which the yes agrees to nothing that can be destroyed."""


MAX_QUESTIONS = 2
"""How often somebody is asked before the answer is no."""
MAX_ANSWER_CHARS = 1_000
"""Characters of an answer. Nobody agrees at such length: a longer one is something pasted."""
MAX_TEXT_CHARS = 5_000

NEVER_REMOTE = frozenset(
    {"python_exec", "terminal", "process_manager", "pm2_control", "ax_control"}
)
"""Skills that no agent reaches over HTTP, whatever anybody configures; they count as destructive
everywhere (CO-18, CO-21)."""
KNOWN_DESTRUCTIVE = frozenset({"file_ops", "file_write", "imessage_send", "pilot", "skill_forge"})
"""Built-in skills of CODEC that are destructive although they do not say so (CO-18)."""
_DESTRUCTIVE = frozenset(map(lookup_key, NEVER_REMOTE | KNOWN_DESTRUCTIVE))

VERBS = (
    "wipe",
    "erase",
    "destroy",
    "purge",
    "delete",
    "remove",
    "format",
    "truncate",
    "overwrite",
    "trash",
    "empty",
    "drop",
    "clear",
    "transfer",
    "pay",
    "buy",
    "sell",
    "order",
    "send",
    "publish",
    "post",
    "share",
    "upload",
    "deploy",
    "uninstall",
    "kill",
    "shutdown",
    "reboot",
    "revoke",
    "ban",
    "reset",
    "revert",
    "replace",
    "write",
    "edit",
    "move",
    "rename",
    "terminate",
    "disable",
    "block",
    "cancel",
    "stop",
    "restart",
    "install",
    "execute",
    "forge",
    "create",
    "control",
    "click",
    "type",
    "press",
    "run",
)
"""What may be done that cannot be undone, the gravest first."""
_SAID_ANYWAY = frozenset(
    {
        "stop",
        "cancel",
        "block",
        "disable",
        "revoke",
        "drop",
        "clear",
        "run",
        "execute",
        "terminate",
        "kill",
    }
)
"""Verbs that people say in order to refuse, or without a thought: alone they agree to nothing."""
_GENERIC = frozenset(
    {
        "y",
        "yes",
        "yeah",
        "yep",
        "yup",
        "ok",
        "okay",
        "k",
        "sure",
        "fine",
        "good",
        "right",
        "correct",
        "agreed",
        "agree",
        "accept",
        "accepted",
        "approve",
        "approved",
        "confirm",
        "confirmed",
        "continue",
        "proceed",
        "go",
        "ahead",
        "do",
        "it",
        "please",
        "true",
        "1",
        "allow",
        "allowed",
        "always",
        "all",
    }
)
_NO = re.compile(
    r"\?\Z|(?<!\w)(?:no|not|nope|never|nothing|none|hardly|keep|wait|instead|without|cannot|abort|refuse|deny|"
    r"(?:do|wo|ca|should|must|is)n'?t)(?!\w)"
)
_WORD = re.compile(r"[^\W_]+")


def is_destructive(*names: str, declared: bool) -> bool:
    """Tell whether a skill needs consent: it says so itself, or is known for it under any of its
    names, however that is spelt.
    """
    return declared or any(
        lookup_key(part) in _DESTRUCTIVE
        for name in names
        for part in (name, name.rpartition(":")[2])
    )


def act_of(name: str, description: str, task: str) -> str:
    """Give what consent must say: the gravest that the task asks for, else what the skill is for,
    else the skill's name.

    A verb that people say anyway stands with the skill's name.
    """
    verb = _verb_in(task) or _verb_in(description)
    if verb:
        return f"{verb} {name}" if verb in _SAID_ANYWAY else verb
    # A name that is itself a word which people say anyway is not enough.
    return name if set(_WORD.findall(_plain(name))) - _GENERIC else f"run {name}"


def names_act(answer: str, act: str) -> bool:
    """Tell whether an answer agrees to an act: it says its word, and no word of refusal."""
    said = _plain(answer) if len(answer) <= MAX_ANSWER_CHARS else ""
    word = _plain(act)
    if not word or word in _GENERIC:
        return False
    without = re.sub(rf"(?<![\w-]){re.escape(word)}(?![\w-])", " ", said)
    return without != said and not _NO.search(without.replace("\u2019", "'"))


def question(name: str, act: str, task: str, *, again: bool = False) -> str:
    """Put the question to a person."""
    first = "That does not name the act. " if again else ""
    doing = "run" if act in {name, f"run {name}"} else act
    shown = task if len(task) <= MAX_TEXT_CHARS else task[:MAX_TEXT_CHARS] + "…"
    return (
        f"{first}Skill '{name}' is about to {doing}: {shown}\nTo agree, answer "
        f"with the word '{act}'."
    )


def _verb_in(text: str) -> str:
    """Give the gravest verb of a text, whatever its ending: what stands first may be the least of
    it.
    """
    found = {
        _FORMS[word] for word in _WORD.findall(text[:MAX_TEXT_CHARS].casefold()) if word in _FORMS
    }
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


_FORMS = {form: verb for verb in VERBS for form in _forms(verb)} | {
    "sent": "send",
    "written": "write",
    "paid": "pay",
    "ran": "run",
}


# --- asking for consent

_NOT_ENOUGH = "; a plain yes is not enough"


def confirm(
    admitted: Admitted,
    asked: CodeCall,
    consent: str,
    ask: Asker | None,
    *,
    yes: bool = False,
    configured: bool = False,
) -> str:
    """Give the act that was agreed to, nothing where none has to be; refuse when nobody agrees.

    Somebody is asked twice at most. Whatever goes wrong with asking is a no. A plain `yes` is
    enough only where nothing can be destroyed and policy alone asks; what is `configured` only
    where policy does not ask.
    """
    act = act_to_confirm(admitted, asked, yes=yes)
    if (
        not act
        or names_act(consent, act)
        or (configured and admitted.destructive and not admitted.asks)
    ):
        return act
    if ask is None:
        raise _refused(admitted, act, "")
    name = answers.shown(admitted.card.name)
    for attempt in range(MAX_QUESTIONS):
        try:
            answer = ask(question(name, act, asked.task, again=attempt > 0), act)
            agrees = _agrees(admitted, answer, act)
        except Exception as error:
            raise _refused(admitted, act, "nobody could be asked") from error
        if agrees:
            return act
        if answer is False:
            raise _refused(admitted, act, "the answer was no")
    raise _refused(admitted, act, f"no answer names the act, {MAX_QUESTIONS} times")


def _agrees(admitted: Admitted, answer: str | bool, act: str) -> bool:  # noqa: FBT001 - a person's
    """Tell whether an answer agrees to an act. A plain yes is an answer only where nothing can be
    destroyed.
    """
    if isinstance(answer, bool):
        return answer and not admitted.destructive
    return names_act(answer, act)


def confirm_unchanged(admitted: Admitted, asked: CodeCall, act: str, *, yes: bool = False) -> None:
    """Refuse a call that hooks have made into another act than the one agreed to."""
    now = act_to_confirm(admitted, asked, yes=yes)
    if now != act:
        raise _refused(admitted, now, f"a hook changed the task, and only '{act}' was agreed to")


def act_to_confirm(admitted: Admitted, asked: CodeCall, *, yes: bool = False) -> str:
    """Give the word that consent must say; nothing where no consent is needed.

    Where only policy asks and the skill is not destructive, the word is its own name: to run it is
    the act.
    """
    name = admitted.card.name
    if admitted.destructive:
        return act_of(name, admitted.gated.facts.description, asked.task)
    return act_of(name, "", "") if admitted.asks and not yes else ""


def _refused(admitted: Admitted, act: str, why: str) -> RefusedError:
    if admitted.destructive:
        needs = "is destructive and needs consent that names"
        code = "consent"
    else:
        needs = "needs a person's yes to be run, given in words that name"
        code = "ask"
    return RefusedError(
        f"Skill '{answers.shown(admitted.card.name)}' {needs} the act: {act}"
        + (f" ({why})" if why else ""),
        code=code,
        hint=f"whoever agrees says the word '{act}'{_NOT_ENOUGH if admitted.destructive else ''}",
    ).with_details(act=act)
