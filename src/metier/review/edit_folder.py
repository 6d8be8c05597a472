"""The folders below METIER_HOME where a person changes a candidate before accepting it."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from metier.discover.io import disk
from metier.errors import IntegrityError
from metier.supply import places
from metier.supply.merge.settle import DESK_DIGITS, put_on_desk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.context import Context
    from metier.supply.merge.combine import CombinedTree

EDIT_FOLDERS = "review"
"""Below METIER_HOME."""


def path_of(context: Context, name: str) -> str:
    """Give the path that an edit folder has."""
    return f"{places.home_of(context)}/{EDIT_FOLDERS}/{name}"


def find(context: Context, name: str) -> str:
    """Give the path of an edit folder; nothing where there is none."""
    path = path_of(context, name)
    return path if name and disk.kind_of(path) == disk.FOLDER else ""


def lay_out(context: Context, combined: CombinedTree, name: str, made_for: str) -> str:
    """Lay a merge out to be edited, unless just this one is laid out already: what was edited there
    stays. Give the folder's name.
    """
    own = blake2b(made_for.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    name = f"{name}-{own}-{combined.digest.removeprefix('sha256:')[:DESK_DIGITS]}"
    put_on_desk(context, combined.folder, path_of(context, name))
    return name


def unmerged_error(what: str, left: Sequence[tuple[str, int]], hint: str) -> IntegrityError:
    """Say what is still to be settled, and how that is done."""
    where = ", ".join(f"{path}:{line}" if line else path for path, line in left[:10])
    return IntegrityError(f"{what}: {where}", hint=hint, code="unmerged").with_details(
        files=[{"path": path, "line": line} for path, line in left]
    )


def both_edited_error(skill: str, ident: str, folder: str) -> IntegrityError:
    """Say that an edit folder and the skill were both edited, and cannot be put together."""
    return IntegrityError(
        f"'{skill}' was edited after you opened it, and the two edits conflict",
        hint=f"'metier review edit {ident}' opens it again; your edits stay in {folder}",
        code="unmerged",
    )
