"""The verbs for running: the library's side of `metier run`, and how a task reaches the skills that take it."""

from __future__ import annotations

from metier.light import TYPE_CHECKING
from metier.steward import Steward

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.preparing import RunPlan
    from metier.route.triggers import Dispatched, Match
    from metier.runs import Layer, Ran


class Foreman(Steward):
    """A library that runs scripts and code skills, each in its sandbox."""

    def plan_run(
        self, name: str, script: str, args: Sequence[str] = (), *, network: bool = False, read: Sequence[str] = (),
        write: Sequence[str] = (), seconds: int = 0,
    ) -> RunPlan:  # fmt: skip
        """Say how a script of a skill would be run, with what, and whether it may be; nothing is run."""
        from metier.running import planning
        from metier.runs import Lent

        return planning.planned(self._whole, name, script, args, Lent(network, tuple(read), tuple(write), seconds)).plan

    def run(  # noqa: PLR0913 - each is one option of the command, by name
        self, name: str, script: str = "", args: Sequence[str] = (), *, consent: bool = False, install: bool = False,
        network: bool = False, read: Sequence[str] = (), write: Sequence[str] = (), seconds: int = 0, unsandboxed: bool = False,
        act: str = "", context: str = "", hear: Callable[[str, str], None] | None = None,
        feed: Callable[[int], bytes] | None = None, stopped: Callable[[], bool] | None = None,
    ) -> Ran:  # fmt: skip
        """Run a script of a skill in its sandbox, or a code skill with a task in the place of the script.

        `consent` is a person's yes to this very run, `install` one to installing what the script declares, and `act` the words
        in which a person agreed to what a destructive skill does: they must name it (CO-18).
        """
        from metier.running import code, scripts
        from metier.runs import Lent, never

        lent = Lent(network, tuple(read), tuple(write), seconds)
        if self.resolve(name).kind == "code":
            return code.call(self._whole, name, script, context, consent=act, agreed=consent, lent=lent, hear=hear, stopped=stopped)
        wish = scripts.Wish(consent, install, lent, unsandboxed)
        ears = scripts.Ears(hear, None, feed, stopped or never)
        return scripts.run(self._whole, name, script, args, wish, ears)

    def sandbox_layers(self) -> list[Layer]:
        """Say what keeps scripts in on this machine, and what of it is missing."""
        return list(self.box().layers())

    def dispatch(self, task: str, attempt: Callable[[Match], str | None] | None = None) -> Dispatched:
        """Offer a task to the skills whose triggers it has, one after the other, until one takes it (CO-19).

        Without an `attempt` of your own, code skills are called; one that needs a yes is passed by.
        """
        from metier import triggering
        from metier.running import dispatching

        if attempt is not None:
            return triggering.dispatch(self._whole, task, attempt)
        return dispatching.dispatch(self._whole, task)

    def auto(self, message: str) -> Dispatched:
        """Let a message set off the code skills that the setting `run.auto` names, where one of their triggers is in it (CO-20)."""
        from metier.running import dispatching

        return dispatching.auto(self._whole, message)

    def fill_tags(self, text: str) -> str:
        """Run what `[SKILL:name:query]` in a model's answer asks for, and give the answer with what came of it (CO-20)."""
        from metier.running import dispatching

        return dispatching.resolved(self._whole, text).text
