"""Runs `metier push`, which brings a skill to an OCI registry."""

from __future__ import annotations

from metier.cli.argv import CommandRow, Option, Values
from metier.cli.main import library
from metier.cli.output import answer, clean
from metier.errors import UsageError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.supply.push import PushedSkill

_SAID = {
    "pushed": "pushed {} to {}",
    "unchanged": "{} is already at {}",
    "moved": "pushed {} to {}, which had other bytes before",
}


def run(values: Values) -> None:
    """Push a skill."""
    to = values.text("to")
    if not to:
        raise UsageError("say where to push it", hint="add --to oci://host/repository:tag")
    with library(values) as m:
        done = m.push(
            values.word,
            to,
            source=values.text("source"),
            revision=values.text("revision"),
            sign=values.flag("sign"),
            key=values.text("key"),
        )
    answer(values, done, _pushed_text)


def _pushed_text(done: PushedSkill) -> str:
    version = f" {clean(done.version)}" if done.version else ""
    signed = f"\n  signed by {done.signature}" if done.signature else ""
    return (
        f"{_SAID[done.state].format(clean(done.name) + version, clean(done.to))}\n"
        f"  manifest {done.digest}\n  tree     {done.tree}{signed}\n"
    )


ROWS = (
    CommandRow(
        "push",
        operands="PATH",
        options=(
            Option("--to", "the repository, and a tag; without one, the skill's version", "TARGET"),
            Option("--source", "where its source lies, for the annotations", "URL"),
            Option("--revision", "which revision of that source it is", "REV"),
            Option("--sign", "sign it with your key, and attach the signature"),
            Option("--key", "sign it with this key", "ID"),
        ),
        examples={
            "metier push ./my-skill --to oci://ghcr.io/me/skills/my-skill:1.0.0": "an artifact that metier, oras and others read",
            "metier push ./my-skill --to oci://ghcr.io/me/my-skill --sign": "tagged with its version, and signed",
        },
        detail="A skill that fails a strict check, that a scan calls dangerous or that holds a key is "
        "refused. The login comes from docker's configuration (docker login, oras login). A "
        "signature that metier sign made of these bytes goes along.",
        run=run,
    ),
)
