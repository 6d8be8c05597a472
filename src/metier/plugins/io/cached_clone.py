"""Copies of repositories that were fetched before, read as they are: nobody is asked, nothing is
locked and nothing is changed.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from metier.errors import SourceError
from metier.supply.io.git import HAVE_REFS, BareRepository, DamagedRepositoryError, GitTree
from metier.supply.model import Origin
from metier.supply.sources import git_commands, source_name
from metier.supply.sources.addresses import COMMIT_HASH, check_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.settings.model import SupplySettings
    from metier.supply.model import Request

_LAST = "refs/metier/new"
"""What was fetched last."""
_HINT = "enable one of its plugins, or sync it, to fetch it"


def open_cached_clone(
    cache: str, request: Request, limits: SupplySettings, env: Mapping[str, str]
) -> GitTree:
    """Open what was fetched of a repository last; for one commit, that commit."""
    source = source_name.canonical(request._replace(kind="git"))
    path = f"{cache}/{git_commands.cache_name(source)}.git"
    until = time.monotonic() + limits.seconds
    if not os.path.isfile(f"{path}/HEAD"):
        raise SourceError(f"{source} was never fetched", code="not-fetched", hint=_HINT)
    bare = BareRepository(path, env, until)
    ref = HAVE_REFS + request.ref if COMMIT_HASH.match(request.ref) else _LAST
    ended = bare.call("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    commit = ended.output.decode("ascii", "replace").strip()
    if ended.code or not COMMIT_HASH.match(commit):
        raise SourceError(f"{source} was never fetched", code="not-fetched", hint=_HINT)
    try:
        return GitTree(
            bare,
            Origin("git", source, request.ref, commit),
            check_path(request.path),
            limits,
        )
    except DamagedRepositoryError as error:
        raise SourceError(f"the copy of {source} cannot be read", code="git", hint=_HINT) from error
