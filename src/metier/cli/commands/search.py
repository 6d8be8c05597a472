"""Runs `metier search`, which searches remote sources, and `metier tap`, which edits the list of
repositories to search.
"""

from __future__ import annotations

from metier.cli.argv import CommandRow, Option, Values, cannot
from metier.cli.main import library, opened
from metier.cli.output import answer, note, say, table, warn, write_json
from metier.errors import UsageError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.supply.model import SearchOutcome
    from metier.supply.search import Tap


DEFAULT_HITS = 20
TAP_VERBS = ("list", "add", "remove")
NO_SOURCES = (
    "no source is configured that could be searched",
    "",
    "hint: add a repository: metier tap add OWNER/REPO",
    "      or name sources under [supply] in the configuration:",
    (
        '      taps = ["owner/repo"]   registries = ["clawhub:https://clawhub.ai", '
        '"https://example.com"]'
    ),
)
MAX_NAMED = 6
"""How many sources one line names."""
NO_TAPS = "There are no taps.\n\nnext: metier tap add OWNER/REPO\n"


def run(values: Values) -> int:
    """Show what remote sources offer; nothing found is exit code 1, nothing to ask is not."""
    from metier.supply.search import MAX_RESULTS, seekers, untold_taps

    limit = values.number("limit", MAX_RESULTS) or DEFAULT_HITS
    with library(values) as m:
        asked = len(seekers(m.context))
        words = " ".join(values.words)
        if words.strip():
            _tell_first(untold_taps(m.context))
        found = m.search(words, limit)
        warn(m.context.warnings)
    if values.json:
        unreachable = [{"source": source, "why": why} for source, why in found.unreachable]
        write_json({"results": found.results, "unreachable": unreachable})
    elif not asked:
        for line in NO_SOURCES:
            note(line)
    else:
        _show(found, asked)
    return 0 if found.results or not asked else 1


def _tell_first(names: list[str]) -> None:
    """Say which well-known repositories are about to be searched for the first time."""
    if names:
        note(
            f"Searching well-known repositories: {_named(names)}. To leave one out: "
            "metier tap remove NAME; all of them: supply.default_taps = []"
        )


def _named(names: list[str]) -> str:
    rest = len(names) - MAX_NAMED
    return ", ".join(names[:MAX_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _show(found: SearchOutcome, asked: int) -> None:
    from metier.standard.names import one_line

    rows = [
        (one_line(one.name), one.trust, one.source, one_line(one.description))
        for one in found.results
    ]
    silent: dict[str, list[str]] = {}
    for source, why in found.unreachable:
        silent.setdefault(one_line(why), []).append(one_line(source))
    if rows:
        from shlex import quote

        say(table(rows, ("NAME", "TRUST", "SOURCE", "DESCRIPTION")))
        # a narrow table cuts sources, and this one can be copied
        say(f"\nnext: metier add {quote(one_line(found.results[0].source))}\n")
    elif len(found.unreachable) < asked:
        note("nothing fits that")
    else:
        note("no source could be reached: are you offline?")
    for why, sources in silent.items():
        note(f"not reached: {_named(sources)}: {why}")
    if not rows:
        note("")
        note(
            "hint: search another repository too: metier tap add OWNER/REPO"
            if len(found.unreachable) < asked
            else "hint: check your connection and try again; metier find searches what is installed"
        )


def run_tap(values: Values) -> None:
    """List, add or remove a tap."""
    verb, *source = values.words or ["list"]
    if verb not in TAP_VERBS:
        raise cannot("tap", verb[:60], *TAP_VERBS)
    if len(source) != (verb != "list"):
        takes = "no more words" if verb == "list" else "one SOURCE"
        raise UsageError(
            f"metier tap {verb} takes {takes}", hint="for example: metier tap add OWNER/REPO"
        )
    with opened(values) as m:
        found = m.tap(source[0], listed=verb == "add") if source else m.taps()
    answer(values, found, _taps_text, {"taps": found})


def _taps_text(found: list[Tap]) -> str:
    rows = [(one.tap, one.trust, one.source, "default" if one.default else "") for one in found]
    plain = [row[:3] for row in rows]
    if any(one.default for one in found):
        return table(rows, ("TAP", "TRUST", "SOURCE", "FROM"), spare=("TRUST",))
    return table(plain, ("TAP", "TRUST", "SOURCE")) or NO_TAPS


ROWS = (
    CommandRow(
        "search",
        operands="WORDS",
        options=(Option("--limit", "how many to show (20)", "N"),),
        examples={
            "metier search 'fill pdf forms'": "in the repositories of metier tap list, and your registries"
        },
        detail="Sources are asked at once; one that is slow or dead is named, not waited for.\n"
        "A few well-known repositories are searched by default. Only this command asks them. "
        "metier tap remove NAME leaves one out, and supply.default_taps = [] all of them.",
        paged=True,
        run=run,
    ),
    CommandRow(
        "tap",
        operands="[list|add|remove] [SOURCE]",
        examples={
            "metier tap add our-company/skills": "metier search, and plain names for metier add, then look there",
            "metier tap remove openai/skills": "search that one no longer, yours or a default",
        },
        run=run_tap,
    ),
)
