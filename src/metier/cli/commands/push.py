"""Runs `metier push`, which brings a skill to a hub or an OCI registry."""

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
    "approved": "published {} at {}",
    "pending": "sent {} to {}. It waits for a reviewer",
    "rejected": "{} was rejected by {}",
}
_ON_A_HUB = frozenset({"approved", "pending", "rejected"})


def run(values: Values) -> int | None:
    """Push a skill."""
    to = values.text("to")
    if not to:
        raise UsageError(
            "say where to push it",
            hint="add --to URL/NAMESPACE for a hub, or --to oci://host/repository:tag",
        )
    with library(values) as m:
        done = m.push(
            values.word,
            to,
            source=values.text("source"),
            revision=values.text("revision"),
            sign=values.flag("sign"),
            key=values.text("key"),
            version=values.text("version"),
        )
    answer(values, done, _pushed_text)
    return 1 if done.state == "rejected" else None


def _pushed_text(done: PushedSkill) -> str:
    version = f" {clean(done.version)}" if done.version else ""
    if done.state in _ON_A_HUB:
        why = f"\n  {clean(done.reason)}" if done.reason else ""
        found = f", {done.findings} finding{'s' * (done.findings != 1)}" if done.findings else ""
        return (
            f"{_SAID[done.state].format(clean(done.name) + version, clean(done.to))}{why}\n"
            f"  scan     {clean(done.level)}{found}\n  digest   {clean(done.digest)}\n"
        )
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
            Option("--to", "URL/NAMESPACE of a hub, or oci://host/repository:tag", "TARGET"),
            Option(
                "--version", "on a hub: the version it becomes (default: its own, or the next)", "V"
            ),
            Option("--source", "where its source lies, for the annotations", "URL"),
            Option("--revision", "which revision of that source it is", "REV"),
            Option("--sign", "sign it with your key, and attach the signature"),
            Option("--key", "sign it with this key", "ID"),
        ),
        examples={
            "metier push ./my-skill --to https://hub.example.org/web": "a new version on your team's hub",
            "metier push ./my-skill --to oci://ghcr.io/me/skills/my-skill:1.0.0": "an artifact that metier, oras and others read",
            "metier push ./my-skill --to oci://ghcr.io/me/my-skill --sign": "tagged with its version, and signed",
        },
        detail="A skill that fails a strict check, that a scan calls dangerous or that holds a key is "
        "refused. For a hub, log in first: metier login URL. A registry's login comes from docker's "
        "configuration (docker login, oras login); its tag is the skill's version without one. A "
        "signature that metier sign made of these bytes goes along.",
        run=run,
    ),
)
