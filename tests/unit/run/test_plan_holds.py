"""A folder that configuration names lends itself and what lies in it, and nothing that merely begins like it."""

from __future__ import annotations

import pytest

from metier.run.model import DeclaredPermissions, Lent
from metier.run.plan import grant
from metier.settings.model import RunSettings


def anywhere(path: str) -> tuple[str, str]:
    """Find every path, just where it is named."""
    return path.rstrip("/") or "/", ""


@pytest.mark.parametrize("allowed", ["/docs", "/docs/"])
@pytest.mark.parametrize(
    ("path", "granted"),
    [
        ("/docs", True),
        ("/docs/work", True),
        ("/docs-of-others", False),
        ("/docs2/work", False),
        ("/doc", False),
        ("/", False),
    ],
)
@pytest.mark.parametrize("writable", [False, True])
def test_a_name_that_begins_like_an_allowed_folder_is_another_folder(
    allowed: str, path: str, granted: bool, writable: bool
) -> None:
    wishes = DeclaredPermissions(writes=(path,)) if writable else DeclaredPermissions(reads=(path,))
    policy = RunSettings(writes=(allowed,)) if writable else RunSettings(reads=(allowed,))

    given = grant(wishes, Lent(), policy, "builtin", anywhere)

    assert ([path] if granted else []) == [mount.source for mount in given.mounts]
    assert granted is not bool(given.refused)
