"""Whatever reads a body for a model, fills a prompt or starts a script takes a `Usable`: leaving the gate
out does not type-check.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pytest

from metier.disclose import fill, offer, read
from metier.mcp.catalogue import ServedCatalogue
from metier.run import cages, code, for_model, in_process, run_script
from metier.trust import load_gate

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.context import Context
    from metier.mcp.copies import SkillCopy
    from metier.model import Body, Card, Head
    from metier.ports import Runner
    from metier.run.admit import Admitted
    from metier.run.model import CodeCall
    from metier.run.plan import Planned
    from metier.run.run_script import RunListeners, RunOptions

CONSUMERS: tuple[Callable[..., object], ...] = (
    read._body,  # noqa: SLF001 - the gate of each is its signature
    read._file,  # noqa: SLF001
    fill.fill_in,
    fill.shell_of,
    cages.cage_script,
    run_script.carry_out,
    in_process.call,
    code._call_in_process,  # noqa: SLF001
    code._call_in_sandbox,  # noqa: SLF001
    for_model._run_by_host,  # noqa: SLF001
    ServedCatalogue._as_files,  # noqa: SLF001
)


@pytest.mark.parametrize("consumer", CONSUMERS, ids=lambda one: f"{one.__module__}.{one.__name__}")
def test_a_consumer_takes_what_the_gate_gave_and_nothing_else(
    consumer: Callable[..., object],
) -> None:
    annotations = [str(one.annotation) for one in inspect.signature(consumer).parameters.values()]

    assert any(annotation.startswith("Usable[") for annotation in annotations)


@pytest.mark.parametrize("gate", [offer.admit, load_gate.load, run_script.permit])
def test_a_gate_gives_a_usable(gate: Callable[..., object]) -> None:
    assert str(inspect.signature(gate).return_annotation).startswith("Usable[")


def without_the_gate(  # noqa: PLR0913, PLR0917 - one of each
    context: Context,
    card: Card,
    body: Body,
    head: Head,
    planned: Planned,
    admitted: Admitted,
    asked: CodeCall,
    lending: cages.FilledCage,
    options: RunOptions,
    ears: RunListeners,
    served: ServedCatalogue,
    copy: SkillCopy,
    runner: Runner,
    shown: Callable[[str], tuple[str, bool]],
) -> None:
    """Never called. Each ignore says that the line is an error; one that were none would fail the
    type check, since an ignore that is not needed is an error, too.
    """
    fill.fill_in(context, card, body.content)  # type: ignore[arg-type]
    fill.shell_of(context, card, body)  # type: ignore[arg-type]
    read._body(context, card, head, "SKILL.md", whole=True)  # type: ignore[arg-type]  # noqa: SLF001
    read._file(context, card, "a.md", head, "/a.md")  # type: ignore[arg-type]  # noqa: SLF001
    cages.cage_script(context, planned, consent=True)  # type: ignore[arg-type]
    box = context.open_sandbox()
    run_script.carry_out(context, planned, lending, box, options, ears)  # type: ignore[arg-type]
    in_process.call(context, admitted, asked, 1)  # type: ignore[arg-type]
    code._call_in_process(context, admitted, asked, 1)  # type: ignore[arg-type]  # noqa: SLF001
    code._call_in_sandbox(context, admitted, lending, ears)  # type: ignore[arg-type]  # noqa: SLF001
    for_model._run_by_host(context, planned, runner, "go.sh", [], shown)  # type: ignore[arg-type]  # noqa: SLF001
    served._as_files(card, "pdf", copy)  # type: ignore[arg-type]  # noqa: SLF001


def test_every_consumer_is_called_without_the_gate_above() -> None:
    calls = inspect.getsource(without_the_gate)

    assert [] == [one.__name__ for one in CONSUMERS if f".{one.__name__}(" not in calls]
