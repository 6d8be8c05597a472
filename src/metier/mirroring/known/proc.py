"""Copies of repositories that were fetched before, read as they are: nobody is asked, nothing is locked and nothing is changed."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from metier.errors import SourceError
from metier.supplies import Origin
from metier.supply import gitlist, sources
from metier.supply.git.bare.proc import HAVE, Bare, DamagedError, GitTree
from metier.supply.naming import HASH, checked_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.settings.tables import Supply
    from metier.supplies import Request

_LAST = "refs/metier/new"
"""What was fetched last."""
_HINT = "enable one of its plugins, or sync it, to fetch it"


def kept(cache: str, request: Request, limits: Supply, env: Mapping[str, str]) -> GitTree:
    """Open what was fetched of a repository last; for one commit, that commit."""
    source = sources.canonical(request._replace(kind="git"))
    path = f"{cache}/{gitlist.cache_name(source)}.git"
    until = time.monotonic() + limits.seconds
    if not os.path.isfile(f"{path}/HEAD"):
        raise SourceError(f"{source} was never fetched", code="not-fetched", hint=_HINT)
    bare = Bare(path, env)
    ref = HAVE + request.ref if HASH.match(request.ref) else _LAST
    ended = bare.call(until, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    commit = ended.output.decode("ascii", "replace").strip()
    if ended.code or not HASH.match(commit):
        raise SourceError(f"{source} was never fetched", code="not-fetched", hint=_HINT)
    try:
        return GitTree(bare, Origin("git", source, request.ref, commit), checked_path(request.path), limits, until)
    except DamagedError as error:
        raise SourceError(f"the copy of {source} cannot be read", code="git", hint=_HINT) from error
