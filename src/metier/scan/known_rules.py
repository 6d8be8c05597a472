"""Names the rules that verdicts are made under, without loading them: all that a question needs
where everything was judged before.
"""

from __future__ import annotations

from metier import pipeline
from metier.catalogue import snapshot
from metier.discover.io import disk, packages
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.context import Context


_RULESET_BY_EDITION: dict[str, str] = {}
"""The ruleset of this process, by edition: the rules that it has loaded stay what they are."""


def ruleset_of(context: Context) -> str:
    """Give the digest of the ruleset, without loading the rules when their files are known; with
    the name of what reads passages, where something does.
    """
    if context.edition not in _RULESET_BY_EDITION:
        _RULESET_BY_EDITION[context.edition] = _load_ruleset(context)
    reading = context.reading()
    return _RULESET_BY_EDITION[context.edition] + (f"+{reading}" if reading else "")


def _load_ruleset(context: Context) -> str:
    import metier.scan as package

    base = package.__path__[0]
    name = pipeline.name_of(context.edition, "ruleset", base, packages.weights_folder()) + ".rules"
    kept = snapshot.opened(context.shelf.load(name))
    if kept is not None:
        paths, keys, ruleset = kept[1]
        if disk.keys_below(base, paths.split(b"\0"), follow=False) == keys:
            return str(ruleset)
    from metier.scan.io.own_source import WATCHED_ENDINGS, reader_about
    from metier.scan.ruleset import ruleset_digest

    # A file that is new counts through the one that imports it, which is not as it was.
    files = [piece.path for piece in disk.tree(base) if piece.path.endswith(WATCHED_ENDINGS)]
    files += filter(None, [reader_about()])
    watched = [one.encode("utf-8", "surrogateescape") for one in files]
    now = disk.keys_below(base, watched, follow=False)
    found = ruleset_digest()
    if now is not None:
        content = (b"\0".join(watched), now, found)
        context.later.append(lambda: context.shelf.save(name, snapshot.sealed(content, bytes(16))))
    return found
