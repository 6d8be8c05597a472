"""Remembers what each skill was judged to be, root by root, beside what a walk learnt. A listing
shows it without a scan.

A verdict holds while nothing below its skill has changed. The walk of a listing looks at each
skill's folder and own file anyway; with the verdicts go the stats of everything else, and whatever
reaches a model is held against those as well (`trust.judge`).
"""

from __future__ import annotations

import marshal

from metier.catalogue import snapshot
from metier.fast import TYPE_CHECKING, NamedTuple
from metier.model import KEY_BYTES, Judged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from metier.pipeline import SeenRoot
    from metier.ports import Shelf

JUDGED_MARK = b".K"
NO_TOKEN = b""


class JudgedRoot(NamedTuple):
    """What was judged below one root."""

    token: bytes = NO_TOKEN
    """Names this very content."""
    terms: str = ""
    """What the verdicts rest on beside the files: the rules, the waivers, the keys."""
    paths: list[bytes] = []  # noqa: RUF012 - never changed
    """Every path that a verdict depends on and no walk looks at, below the root, those of one skill
    together."""
    keys: bytes = b""
    """The stats that they had."""
    packed: bytes = b""
    """The verdicts, as bytes: while nothing has changed, nobody needs them."""

    def rows(self) -> dict[str, Judged]:
        """Give the verdicts by path, in the order of `paths`."""
        found = marshal.loads(self.packed) if self.packed else ()  # noqa: S302 - its checksum was right
        return {path: Judged._make(row) for path, *row in found}


NOTHING_JUDGED = JudgedRoot()


def pack_rows(rows: Mapping[str, Judged]) -> bytes:
    """Write verdicts down, as `JudgedRoot.rows` gives them."""
    return marshal.dumps([(path, *row) for path, row in rows.items()])


def encode_root(found: JudgedRoot) -> bytes:
    """Write down what was judged below a root."""
    content = (found.terms, b"\0".join(found.paths), found.keys, found.packed)
    return snapshot.sealed(content, found.token, JUDGED_MARK)


def decode_root(data: bytes | None) -> JudgedRoot:
    """Read it back; nothing was judged when the bytes are something else."""
    opened = snapshot.opened(data, JUDGED_MARK)
    if opened is None:
        return NOTHING_JUDGED
    token, content = opened
    try:
        terms, paths, keys, packed = content
        found = JudgedRoot(token, terms, paths.split(b"\0") if paths else [], keys, packed)
    except (TypeError, ValueError, AttributeError):
        return NOTHING_JUDGED
    return found if len(found.keys) == KEY_BYTES * len(found.paths) else NOTHING_JUDGED


class JudgedBook:
    """What was judged on this machine, read from snapshots when somebody asks."""

    def __init__(self, shelf: Shelf, name_of: Callable[[str], str]) -> None:
        """Keep each root's verdicts under the name that `name_of` gives it."""
        self._shelf = shelf
        self._name_of = name_of
        self._known: dict[str, JudgedRoot] = {}
        """By that name: with another configuration, other verdicts count."""
        self._unsaved: set[str] = set()
        self.last_look: tuple[object, int, bool] = (None, 0, False)
        """The catalogue of which every file was looked at last, when that was, and whether it was
        for a menu of commands."""
        self.judged_now: set[str] = set()
        """Skills that were judged after the last look at the disk: what that look saw of them does
        not count."""
        self.learnt: dict[str, tuple[str, str, str]] = {}
        """By path, the name and the verdict of skills that somebody judged who was not asked for a
        list, and the digest of what was just laid there; the next list is to have it."""

    def token(self, root: str) -> bytes:
        """Name what is known of a root, without reading it."""
        name = self._name_of(root)
        known = self._known.get(name)
        if known is not None and name in self._unsaved:
            return known.token
        kept = snapshot.token_of(self._shelf.head(name, snapshot.HEAD), JUDGED_MARK)
        if known is not None and kept is not None and kept != known.token:
            del self._known[name]  # another process has judged since
            return kept
        return known.token if known is not None else kept or NO_TOKEN

    def of(self, root: str) -> JudgedRoot:
        """Give what is known of a root."""
        token = self.token(root)
        name = self._name_of(root)
        found = self._known.get(name)
        if found is None:
            found = decode_root(self._shelf.load(name)) if token else NOTHING_JUDGED
            self._known[name] = found
        return found

    def put(self, root: str, found: JudgedRoot) -> None:
        """Put what was judged below a root in place of what was known."""
        name = self._name_of(root)
        self._shelf.save(name, encode_root(found))
        self._known[name] = found
        if snapshot.token_of(self._shelf.head(name, snapshot.HEAD), JUDGED_MARK) != found.token:
            self._unsaved.add(name)  # it cannot be written: then it holds as long as this process

    def below(self, seen: Iterable[SeenRoot]) -> dict[str, dict[str, Judged]]:
        """Give by root the verdicts on skills of which nothing has changed, as far as a listing can
        tell.
        """
        verdicts: dict[str, dict[str, Judged]] = {}
        for one in seen:
            known = self.of(one.root.location).rows()
            keys = one.keys() if known else {}
            found: dict[str, Judged] = {}
            for path, row in known.items():
                same = keys.get(row.file) == row.key
                same_folder = not row.folder_key or keys.get(path) == row.folder_key
                if (same and same_folder) or path in self.judged_now:
                    found[path] = row
            if found:
                verdicts[one.root.location] = found
        return verdicts
