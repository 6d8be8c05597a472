"""Shows a candidate file by file: the version both sides came from, yours, theirs, and what would be
put in place. Settles one file of it in the folder where a person edits it.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from metier.discover.io import disk
from metier.errors import IntegrityError, StoreError, UsageError
from metier.plugins import mirror_store
from metier.review import queue
from metier.scan import service
from metier.standard.characters import escape_for_terminal
from metier.supply.merge import combine
from metier.supply.merge.combine import (
    CONFLICT_REASONS,
    DESK_LABELS,
    ThreeVersions,
    VersionFiles,
    asides_of_conflicts,
    find_unmerged,
)
from metier.supply.merge.line_diff import is_text
from metier.supply.merge.marked import MarkedRegion, align, join_marked, split_marked
from metier.supply.merge.unified import unified
from metier.supply.places import hands_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.context import Context
    from metier.model import Finding
    from metier.review.trees import ReviewTrees
    from metier.supply.merge.marked import RegionChoice
    from metier.supply.merge.trees import FileConflict, MergedFile

MAX_FILES_SHOWN = 200
MAX_EDITED_BYTES = 512 << 10
"""How large a file may be that is edited in a page."""
MAX_ALIGNED_BYTES = 1 << 20
MAX_HUNKS_SHOWN = 100
MAX_DIFF_CHARS = 300_000
MAX_LINE_CHARS = 1_000


class ShownLine(NamedTuple):
    """One line of one version, as a person may see it."""

    number: int
    text: str
    changed: bool


class FileSides(NamedTuple):
    """One file that differs, in all versions."""

    path: str
    why: str
    """What the two sides do not agree on; nothing where they do."""
    unsettled: bool
    """Whether somebody has to settle that yet."""
    options: tuple[str, ...]
    """Where whole files are to be chosen from: which sides have one."""
    diff: str
    """From what is in place to what would be."""
    hunks: tuple[tuple[tuple[ShownLine, ...], ...], ...]
    """Where both sides changed it: each stretch in the base, yours, theirs and the result."""
    pieces: tuple[str | MarkedRegion, ...]
    """The result in its plain parts and the regions that are not settled."""
    text: str | None
    """The result, where it is a text that can be edited."""
    mark: str
    """What tells whether it is still what was seen."""


class ReviewSides(NamedTuple):
    """A candidate in all its versions."""

    files: tuple[FileSides, ...]
    more: int
    """How many files that differ are not shown."""
    left: tuple[tuple[str, int], ...]
    """What is still to be settled: files, and the lines of markers."""
    level: str
    """What a scan says of what is in place; nothing where nothing is."""
    score: int
    findings: tuple[Finding, ...]


class _Settling(NamedTuple):
    """What is not agreed on, by the path of the file."""

    clashes: Mapping[str, FileConflict]
    asides: Mapping[str, Mapping[str, MergedFile]]
    """By the path of the conflict: the names of the files to choose from."""
    left: tuple[tuple[str, int], ...]


def compare_sides(context: Context, ident: str, user: bool | None) -> ReviewSides:  # noqa: FBT001 - whose, or both
    """Show an open candidate in all its versions, and judge what is in place by today's rules."""
    with queue.source_of(context, ident, user).trees(ident) as trees:
        settling = _settling(trees)
        paths = _differing(trees, settling)
        level, score, findings = _judge(context, trees)
        return ReviewSides(
            tuple(_file(trees, settling, path) for path in paths[:MAX_FILES_SHOWN]),
            max(0, len(paths) - MAX_FILES_SHOWN),
            settling.left,
            level,
            score,
            findings,
        )


def _settling(trees: ReviewTrees) -> _Settling:
    merged = trees.was.merge()
    asides: dict[str, dict[str, MergedFile]] = {}
    for conflict, name, one in asides_of_conflicts(merged, trees.was):
        asides.setdefault(conflict.path, {})[name] = one
    clashes = {one.path: one for one in merged.conflicts}
    return _Settling(clashes, asides, tuple(find_unmerged(trees.result, trees.was)))


def _judge(context: Context, trees: ReviewTrees) -> tuple[str, int, tuple[Finding, ...]]:
    ours = trees.three.ours
    if not ours.files:
        return "", 0, ()
    folder = combine.combine(context, trees.desk, ThreeVersions(ours, ours, ours)).folder
    scanned = service.scan_tree(context, folder, trees.skill)
    return scanned.level, scanned.score, scanned.findings


def _differing(trees: ReviewTrees, settling: _Settling) -> list[str]:
    """Give the files in which the versions differ, those that are not settled first."""
    aside = {name for names in settling.asides.values() for name in names}
    versions = (*trees.three, trees.result)
    every = {path for version in versions for path in version.files}.difference(aside)
    found = {
        path
        for path in every
        if len(
            {
                (file.sha256, file.mode) if file is not None else None
                for file in (version.files.get(path) for version in versions)
            }
        )
        > 1
    }
    found.update(settling.clashes)
    open_ones = {path for path in found if _is_unsettled(trees, settling, path)}
    return sorted(found, key=lambda path: (path not in open_ones, path.lower() != "skill.md", path))


def _is_unsettled(trees: ReviewTrees, settling: _Settling, path: str) -> bool:
    names = settling.asides.get(path, ())
    return any(name in trees.result.files for name in names) or any(
        path == where for where, line in settling.left if line
    )


def _file(trees: ReviewTrees, settling: _Settling, path: str) -> FileSides:
    clash = settling.clashes.get(path)
    result = trees.result
    unsettled = _is_unsettled(trees, settling, path)
    names = settling.asides.get(path, {})
    options = (
        tuple(
            side
            for side, one in (("ours", clash.mine), ("theirs", clash.yours))
            if any(taken is one for name, taken in names.items() if name in result.files)
        )
        if clash is not None
        else ()
    )
    text = _editable(result, path)
    pieces = split_marked(text, DESK_LABELS) if text is not None and unsettled else ()
    return FileSides(
        path=path,
        why=CONFLICT_REASONS[clash.kind] if clash is not None else "",
        unsettled=unsettled,
        options=options if unsettled else (),
        diff=_diff(trees, path),
        hunks=_hunks(trees, path),
        pieces=pieces,
        text=text,
        mark=_mark(result, path, names),
    )


def _diff(trees: ReviewTrees, path: str) -> str:
    old, new = trees.three.ours, trees.result
    found = unified(
        {path: old.files[path]} if path in old.files else {},
        {path: new.files[path]} if path in new.files else {},
        old.read,
        new.read,
        ("yours", "result"),
    )
    if len(found) <= MAX_DIFF_CHARS:
        return found
    return f"{found[:MAX_DIFF_CHARS]}\n... {len(found) - MAX_DIFF_CHARS:,} more characters\n"


def _hunks(trees: ReviewTrees, path: str) -> tuple[tuple[tuple[ShownLine, ...], ...], ...]:
    """Show a text side by side that both sides changed."""
    three = trees.three
    base, ours, theirs = (version.files.get(path) for version in three)
    if ours is None or theirs is None or ours.sha256 == theirs.sha256:
        return ()
    if base is not None and base.sha256 in {ours.sha256, theirs.sha256}:
        return ()
    data = [
        version.read(path) if path in version.files else b"" for version in (*three, trees.result)
    ]
    if sum(map(len, data)) > MAX_ALIGNED_BYTES or not all(map(is_text, data)):
        return ()
    return tuple(
        tuple(
            tuple(ShownLine(line.number, _shown(line.text), line.changed) for line in lines)
            for lines in row
        )
        for row in align(data[0], data[1:])[:MAX_HUNKS_SHOWN]
    )


def _shown(line: bytes) -> str:
    text = line.rstrip(b"\r\n").decode("utf-8", "backslashreplace")
    more = len(text) - MAX_LINE_CHARS
    return escape_for_terminal(text[:MAX_LINE_CHARS]) + (
        f"... {more:,} more characters" if more > 0 else ""
    )


def _editable(version: VersionFiles, path: str) -> str | None:
    """Give a text that comes back from a page as it went there: a browser changes line ends."""
    file = version.files.get(path)
    if file is None or file.mode == "link" or file.size > MAX_EDITED_BYTES:
        return None
    data = version.read(path)
    plain = data.replace(b"\r\n", b"\n")
    mixed = b"\r\n" in data and data.count(b"\n") != data.count(b"\r\n")
    if not is_text(data) or b"\r" in plain or mixed:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _mark(version: VersionFiles, path: str, asides: Mapping[str, MergedFile]) -> str:
    """Condense a file of the result, and what may be chosen from for it."""
    whole = sha256()
    for name in (path, *sorted(asides)):
        file = version.files.get(name)
        whole.update(f"{name}\0{file.mode}\0".encode("utf-8", "surrogateescape") if file else b"-")
        whole.update(file.sha256 if file else b"")
    return whole.hexdigest()[:32]


# --- settling one file


def settle_file(  # noqa: PLR0913 - each is one way to settle it, by name
    context: Context,
    ident: str,
    path: str,
    *,
    seen: str,
    side: str = "",
    text: str | None = None,
    regions: Mapping[int, RegionChoice] | None = None,
    user: bool | None = None,
) -> None:
    """Settle one file of a candidate in its edit folder, which is laid out where there is none yet:
    by regions, as a whole text, or by taking one side's file. `seen` is the mark of what was shown.
    """
    if (side != "") + (text is not None) + (regions is not None) != 1:
        raise UsageError("a file is settled in one way", hint="by a side, a text or its regions")
    source = queue.source_of(context, ident, user)
    source.edit(ident)
    with mirror_store.hold_lock(context), source.trees(ident) as trees:
        settling = _settling(trees)
        names = settling.asides.get(path, {})
        if not trees.folder or _mark(trees.result, path, names) != seen:
            raise IntegrityError(
                f"{path[:200]} is not what you saw any more; nothing was written",
                code="changed",
                hint="load the page again",
            )
        try:
            if side:
                _take_side(context, trees, settling, path, side)
            else:
                new = text if text is not None else _joined(trees, path, regions or {})
                _write(context, trees, path, new)
        except OSError as error:
            raise StoreError(
                f"cannot write to {trees.folder}: {error.strerror or error}",
                hint="check the space there",
            ) from error


def _joined(trees: ReviewTrees, path: str, chosen: Mapping[int, RegionChoice]) -> str:
    pieces = split_marked(_editable(trees.result, path) or "", DESK_LABELS)
    if not pieces:
        raise UsageError(f"{path[:200]} has no regions to settle", hint="edit it as a whole")
    return join_marked(pieces, chosen)


def _write(context: Context, trees: ReviewTrees, path: str, text: str) -> None:
    """Put a text in the place of another, whole."""
    now = _editable(trees.result, path)
    if now is None:
        raise UsageError(
            f"{path[:200]} is no text that can be edited here", hint=f"edit it in {trees.folder}"
        )
    text = text.replace("\r\n", "\n")
    if "\r\n" in now:
        text = text.replace("\n", "\r\n")
    data = text.encode()
    if len(data) > MAX_EDITED_BYTES:
        raise UsageError(f"{path[:200]} would be too large", hint=f"edit it in {trees.folder}")
    target = _inside(trees.folder, path)
    hands = hands_of(context)
    fresh = trees.desk.fresh()
    hands.write(fresh, (data,), 0o700 if trees.result.files[path].mode is True else 0o600)
    hands.move(fresh, target)


def _take_side(
    context: Context, trees: ReviewTrees, settling: _Settling, path: str, side: str
) -> None:
    """Keep one of the files that lie beside their place, and take the others away."""
    clash = settling.clashes.get(path)
    names = settling.asides.get(path, {})
    there = {name: one for name, one in names.items() if name in trees.result.files}
    if clash is None or not there or side not in {"ours", "theirs"}:
        raise UsageError(
            f"there is nothing to choose about {path[:200]}", hint="load the page again"
        )
    wanted = clash.mine if side == "ours" else clash.yours
    hands = hands_of(context)
    for name, one in there.items():
        source = _inside(trees.folder, name)
        if one is not wanted:
            continue
        target = _inside(trees.folder, one.path)
        if disk.is_there(target):
            raise UsageError(
                f"{one.path[:200]} is there already", hint=f"settle it in {trees.folder}"
            )
        hands.move(source, target)
    for name, one in there.items():
        if one is not wanted:
            hands.remove(_inside(trees.folder, name))


def _inside(folder: str, path: str) -> str:
    """Give the place of a file below a folder; no link on the way is followed."""
    *above, _name = path.split("/")
    place = folder
    for part in above:
        place = f"{place}/{part}"
        if disk.is_link(place):
            raise UsageError(f"{place} is a link", hint=f"settle it in {folder}")
    return f"{folder}/{path}"
