"""The verbs for running: the library's side of `metier run`, and how a task reaches the skills that take it."""

from __future__ import annotations

from metier.light import TYPE_CHECKING
from metier.steward import Steward

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.preparing import RunPlan
    from metier.route.triggers import Dispatched, Match
    from metier.running.confirming import Asker
    from metier.running.foreseeing import Foreseen
    from metier.runs import Layer, Ran


class Foreman(Steward):
    """A library that runs scripts and code skills, each in its sandbox."""

    def plan_run(  # noqa: PLR0913 - each is one option of the command, by name
        self, name: str, script: str = "", args: Sequence[str] = (), *, network: bool = False, read: Sequence[str] = (),
        write: Sequence[str] = (), seconds: int = 0, unsandboxed: bool = False,
    ) -> RunPlan:  # fmt: skip
        """Say how a script or a code skill would be run, with what, and whether it may be; nothing is run."""
        return self.preview_run(name, script, args, network=network, read=read, write=write, seconds=seconds,
                                unsandboxed=unsandboxed).plan  # fmt: skip

    def preview_run(  # noqa: PLR0913 - as above
        self, name: str, script: str = "", args: Sequence[str] = (), *, network: bool = False, read: Sequence[str] = (),
        write: Sequence[str] = (), seconds: int = 0, unsandboxed: bool = False,
    ) -> Foreseen:  # fmt: skip
        """Say all that a run would have and what stands against it, as `metier run --dry-run` shows it; nothing is run."""
        from metier.running import foreseeing, given

        given.text("the name", name)
        given.text("the script or the task", script)
        given.flags({"unsandboxed": unsandboxed})
        lent = given.lent(network=network, read=read, write=write, seconds=seconds)
        words = given.texts("args", args)
        return foreseeing.foreseen(self._whole, name, script, words, lent, bare=unsandboxed)

    def run(  # noqa: PLR0913 - each is one option of the command, by name
        self, name: str, script: str = "", args: Sequence[str] = (), *, consent: bool = False, install: bool = False,
        network: bool = False, read: Sequence[str] = (), write: Sequence[str] = (), seconds: int = 0, unsandboxed: bool = False,
        act: str = "", context: str = "", shown: str = "", ask: Asker | None = None,
        hear: Callable[[str, str], None] | None = None, raw: Callable[[str, bytes], None] | None = None,
        feed: Callable[[int], bytes] | None = None, stopped: Callable[[], bool] | None = None, door: str = "library",
    ) -> Ran:  # fmt: skip
        """Run a script of a skill in its sandbox, or a code skill with a task in the place of the script.

        `consent` is a person's yes to this very run, `install` one to installing what the script declares, and `act` the words
        in which a person agreed to what a destructive skill does: they must name it (CO-18); else `ask` is given the question and
        the act. With `shown`, the digest that a person saw, no other bytes of a script are run. A code skill has `args` and
        `context` as its context. `raw` gets the very bytes of a script that is lent no secret. `door` goes into the audit log.
        """
        from metier.running import code, given, scripts
        from metier.runs import never

        for what, word in (("the name", name), ("the script or the task", script), ("act", act), ("context", context),
                           ("shown", shown), ("door", door)):  # fmt: skip
            given.text(what, word)
        given.flags({"consent": consent, "install": install, "unsandboxed": unsandboxed})
        given.calls({"ask": ask, "hear": hear, "raw": raw, "feed": feed, "stopped": stopped})
        lent, words = given.lent(network=network, read=read, write=write, seconds=seconds), given.texts("args", args)
        card = self.resolve(name)
        if card.kind == "code":
            given.only("scripts", card, {"unsandboxed": unsandboxed, "raw": raw})
            context = "\n".join([*([context] if context else ()), *words])
            return code.call(self._whole, card.path, script, context, consent=act, agreed=consent, ask=ask, lent=lent, hear=hear,
                             stopped=stopped, door=door)  # fmt: skip
        given.only("code skills", card, {"act": act, "ask": ask, "context": context})
        wish = scripts.Wish(consent, install, lent, unsandboxed, shown, door)
        return scripts.run(self._whole, card.path, script, words, wish, scripts.Ears(hear, raw, feed, stopped or never))

    def sandbox_layers(self) -> list[Layer]:
        """Say what keeps scripts in on this machine, and what of it is missing."""
        return list(self.box().layers())

    def dispatch(self, task: str, attempt: Callable[[Match], str | None] | None = None) -> Dispatched:
        """Offer a task to the skills whose triggers it has, one after the other, until one takes it (CO-19).

        Without an `attempt` of your own, code skills are called; one that needs a yes is passed by.
        """
        from metier import triggering
        from metier.running import dispatching, given

        given.text("the task", task)
        given.calls({"attempt": attempt})
        if attempt is not None:
            return triggering.dispatch(self._whole, task, attempt)
        return dispatching.dispatch(self._whole, task)

    def auto(self, message: str) -> Dispatched:
        """Let a message set off the code skills that the setting `run.auto` names, where one of their triggers is in it (CO-20)."""
        from metier.running import dispatching, given

        given.text("the message", message)
        return dispatching.auto(self._whole, message)

    def fill_tags(self, text: str) -> str:
        """Run what `[SKILL:name:query]` in a model's answer asks for, and give the answer with what came of it (CO-20)."""
        from metier.running import dispatching, given

        given.text("the answer", text)
        return dispatching.resolved(self._whole, text).text
