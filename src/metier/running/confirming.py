"""Whether somebody agrees to a call: by a word that names the act, at every door alike (CO-18)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import RefusedError
from metier.execute import acts, answers

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.running.admitting import Admitted
    from metier.runs import Call

    Asker = Callable[[str, str], str]
    """Puts a question to a person, given the question and the act that the answer must name; gives the answer."""

_NOT_ENOUGH = "; a plain yes is not enough"


def agreed(
    admitted: Admitted, asked: Call, consent: str, ask: Asker | None, *, yes: bool = False, configured: bool = False
) -> str:  # fmt: skip
    """Give the act that was agreed to, nothing where none has to be; refuse when nobody agrees.

    Somebody is asked twice at most. Whatever goes wrong with asking is a no. A plain `yes` is enough only where nothing can be
    destroyed and policy alone asks; what is `configured` only where policy does not ask.
    """
    act = act_of(admitted, asked, yes=yes)
    if not act or acts.names_act(consent, act) or (configured and admitted.destructive and not admitted.asks):
        return act
    name = answers.shown(admitted.card.name)
    for attempt in range(acts.STRIKES if ask is not None else 0):
        try:
            answer = ask(acts.question(name, act, asked.task, again=attempt > 0), act) if ask is not None else ""
            said = acts.names_act(answer, act)
        except Exception as error:
            raise _refused(admitted, act, "nobody could be asked") from error
        if said:
            return act
    raise _refused(admitted, act, f"no answer names the act, {acts.STRIKES} times" if ask is not None else "")


def still_agreed(admitted: Admitted, asked: Call, act: str, *, yes: bool = False) -> None:
    """Refuse a call that hooks have made into another act than the one agreed to."""
    now = act_of(admitted, asked, yes=yes)
    if now != act:
        raise _refused(admitted, now, f"a hook changed the task, and only '{act}' was agreed to")


def act_of(admitted: Admitted, asked: Call, *, yes: bool = False) -> str:
    """Give the word that consent must say; nothing where no consent is needed.

    Where only policy asks and the skill is not destructive, the word is its own name: to run it is the act.
    """
    name = admitted.card.name
    if admitted.destructive:
        return acts.act_of(name, admitted.gated.facts.description, asked.task)
    return acts.act_of(name, "", "") if admitted.asks and not yes else ""


def _refused(admitted: Admitted, act: str, why: str) -> RefusedError:
    name = answers.shown(admitted.card.name)
    needs = "is destructive and needs consent" if admitted.destructive else "needs a person's yes to be run, given in words"
    error = RefusedError(f"Skill '{name}' {needs} that name{'s' if admitted.destructive else ''} the act: {act}" +
                         (f" ({why})" if why else ""), code="consent" if admitted.destructive else "ask",
                         hint=f"whoever agrees says the word '{act}'{_NOT_ENOUGH if admitted.destructive else ''}")  # fmt: skip
    error.details["act"] = act
    return error
