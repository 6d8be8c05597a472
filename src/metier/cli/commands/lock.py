"""Runs `metier lock`, which exchanges records with other tools and writes an SBOM, and `metier
sync`, which makes the disk match the lock.
"""

from __future__ import annotations

from metier.cli.argv import (
    DRY_RUN,
    PROJECT_OR_USER,
    YES,
    CommandRow,
    Option,
    Values,
    cannot,
    for_user,
)
from metier.cli.consent import require_yes
from metier.cli.main import library, opened
from metier.cli.output import answer, clean, counted, lines, notes, style, write
from metier.cli.plans import done_line, size_text
from metier.errors import UsageError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.store.io.tree_store import Freed
    from metier.supply.model import SyncOutcome
    from metier.supply.records.exchange import ExchangeOutcome


def run(values: Values) -> int:
    """Exchange records with other tools; exit 1 when an import left skills out."""
    verb, *file = values.words
    if verb not in {"export", "import", "sbom"}:
        raise cannot("lock", verb, "export", "import", "sbom")
    user = values.flag("user")
    if user and values.flag("project"):
        raise UsageError("--user and --project exclude each other", hint="give one of them")
    if verb == "sbom":
        return _write_sbom(values, file, user=user)
    form = values.text("format")
    if not form:
        raise UsageError("say whose record", hint="add --format npx, gh, hermes, clawhub or apm")
    with library(values) as m:
        done = (m.lock_export if verb == "export" else m.lock_import)(form, *file, user=user)
    answer(values, done, _exchange_text(done, verb))
    if not values.json:
        notes(done.notes)
    return 1 if verb == "import" and done.skipped else 0


def _write_sbom(values: Values, more: list[str], *, user: bool) -> int:
    """Write what the lock has as a CycloneDX document: to a file, or where answers go."""
    from metier.supply.sbom import sbom_bytes

    if more:
        raise UsageError("sbom takes no operand", hint="write to a file: --output FILE")
    with library(values) as m:
        found = m.sbom(user=user)
        file = values.text("output")
        if not file:
            write(sbom_bytes(found).decode("ascii"))
            return 0
        path = m.write_sbom(file, user=user)
    count = counted(len(found["components"]), "component")
    answer(
        values, {"file": path, "components": len(found["components"])}, f"wrote {path}: {count}\n"
    )
    return 0


def _exchange_text(done: ExchangeOutcome, verb: str) -> str:
    said = ("wrote" if done.names else "left alone") if verb == "export" else "read"
    left_out = "".join(
        f"  {style('left out', 'yellow')} {clean(name)}: {clean(why)}\n"
        for name, why in done.skipped
    )
    return (
        f"{said} {clean(done.file)}: {len(done.names):,} carried over, "
        f"{len(done.skipped):,} left out\n{lines(done.names)}{left_out}"
    )


def run_sync(values: Values) -> int:
    """Make the disk match the lock; exit 1 when it does not."""
    user = bool(for_user(values))
    with opened(values) as m:
        policy = values.optional("policy") or ""
        found = m.sync(frozen=values.flag("frozen"), user=user, policy=policy)
        answer(values, found, _sync_text)
    return 0 if found.ok else 1


def _sync_text(found: SyncOutcome) -> str:
    """Sum up first; then a line for each skill that was restored, and for what differs."""
    restored: dict[str, list[str]] = {}
    for path in found.changed:
        restored.setdefault(path.rpartition("/")[2], []).append(path)
    counts = [counted(len(found.drift), "difference")] if found.drift else []
    counts += [f"{counted(len(restored), 'skill')} restored"] if restored else []
    head = "the disk matches the lock" if found.ok else "the disk does not match the lock"
    edited = any(text.endswith("differs from the lock") for text in found.drift)
    following = "\nnext: metier diff NAME shows what was edited\n" if edited else ""
    return "".join(
        (
            f"{head}{': ' if counts else ''}{', '.join(counts)}\n",
            *(done_line("restored", name, ", ".join(paths)) for name, paths in restored.items()),
            lines(found.drift, f"{style('drift', 'red')} "),
            lines(found.notes, "note: "),
            following,
        )
    )


MAX_REVISIONS = 1_000_000


def run_gc(values: Values) -> None:
    """Free what no lock and no revision needs."""
    keep = values.number("revisions", MAX_REVISIONS)
    dry = values.flag("dry_run")
    with opened(values) as m:
        gone = m.gc(dry_run=True, revisions=keep).gone if values.flag("gone") else ()
        if gone and not dry:
            listed = "".join(f"  {clean(folder)}\n" for folder in gone)
            what = f"Delete every version that {counted(len(gone), 'project')} kept?"
            require_yes(
                values, what, "metier gc --gone --dry-run", above=f"These are gone:\n{listed}"
            )
        freed = m.gc(dry_run=dry, revisions=keep, gone=gone)
    answer(values, freed, _freed_text(freed, dry=dry) + _gone_text(freed, gone, dry=dry))


def _gone_text(freed: Freed, asked: Sequence[str], *, dry: bool) -> str:
    """Name the projects whose versions went, or would, and those that still hold theirs."""
    if not freed.gone:
        return ""
    listed = "".join(f"  {clean(folder)}\n" for folder in freed.gone)
    if asked:
        would = "would no longer keep" if dry else "no longer keep"
        return f"projects that are gone {would} their versions:\n{listed}"
    return (
        f"{counted(len(freed.gone), 'project')} gone, with versions still kept:\n{listed}"
        "\nnext: metier gc --gone\n"
    )


def _freed_text(freed: Freed, *, dry: bool) -> str:
    if not (freed.trees or freed.blobs or freed.environments):
        return "there is nothing to free\n"
    unused = f"{counted(freed.environments, 'unused environment')}, " if freed.environments else ""
    what = (
        f"{unused}{counted(freed.trees, 'tree')} and {counted(freed.blobs, 'file')}, "
        f"{size_text(freed.bytes)}"
    )
    return f"{what} could be freed\n" if dry else f"freed {what}\n"


ROWS = (
    CommandRow(
        "sync",
        options=(
            Option(
                "--frozen",
                "change neither the lock nor what differs: restore what is missing, or fail",
            ),
            Option(
                "--policy",
                "hold the lock to this policy as well; 'default': this machine's must be there",
                "FILE",
            ),
            *PROJECT_OR_USER,
        ),
        examples={
            "metier sync": "after a pull: what the lock has and the disk lacks",
            "metier sync --frozen": "in CI: the same bytes, or exit code 1",
            "metier sync --frozen --policy policy.toml": "and only what the policy allows",
        },
        detail="Nothing is fetched that the store has already.",
        run=run_sync,
    ),
    CommandRow(
        "lock",
        operands="export|import|sbom [FILE]",
        options=(
            Option(
                "--format",
                "whose record",
                "FORMAT",
                choices=("npx", "gh", "hermes", "clawhub", "apm"),
            ),
            Option("--output", "write the SBOM to this file", "FILE"),
            *PROJECT_OR_USER,
            YES,
        ),
        examples={
            "metier lock sbom --output skills.cdx.json": "locked skills and what they name, as CycloneDX 1.6",
            "metier lock import --format npx": "take over what 'npx skills' installed",
            "metier lock export --format npx skills-lock.json": "for those who use that tool",
        },
        run=run,
    ),
    CommandRow(
        "gc",
        options=(
            DRY_RUN,
            Option("--revisions", "keep only this many revisions of each skill", "N"),
            Option("--gone", "also let go what deleted projects kept; asks first"),
            YES,
        ),
        examples={"metier gc --dry-run": "how much there is to free"},
        detail="A project counts as deleted 30 days after metier last changed anything in it, when "
        "its folder is gone and the folder above it isn't empty, as that of an unmounted disk is.",
        run=run_gc,
    ),
)
