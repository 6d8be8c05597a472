"""A provider in memory: pages of packages and their resources, failing where a test wants it to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metier.disclose.model import Package

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def package(identity: str, authority: str = "host", **more: Any) -> Package:
    """Make a package that breaks no rule."""
    given = {
        "name": identity.rpartition("/")[2],
        "description": "Does it.",
        "resource": f"{identity}/SKILL.md",
        **more,
    }
    return Package(authority, identity, **given)


class FakeProvider:
    """Stands in for a process or server that offers skills.

    The cursor of page 3 is `3`. An exception in place of a page or a resource is raised; `called` runs before each call, so
    that a clock can go on.
    """

    def __init__(
        self,
        pages: Sequence[Any] = (),
        resources: dict[tuple[str, str], Any] | None = None,
        authority: str = "host",
        called: Callable[[], None] = lambda: None,
    ) -> None:
        """Take what it lists, page by page, and what can be read."""
        self.pages, self.resources, self.name, self.called = (
            pages,
            resources or {},
            authority,
            called,
        )
        self.cursors: list[str] = []
        self.reads: list[tuple[str, str]] = []

    @property
    def authority(self) -> str:
        """Give the authority."""
        return self.name

    def list(self, cursor: str) -> tuple[Sequence[Package], str]:
        """Give a page; a page that is a tuple of packages and a cursor says by itself how to go on."""
        self.called()
        self.cursors.append(cursor)
        at = int(cursor or 0)
        page = self.pages[at] if self.pages else []
        if isinstance(page, Exception):
            raise page
        if isinstance(page, tuple):
            return page
        return page, str(at + 1) if at + 1 < len(self.pages) else ""

    def read(self, package: str, resource: str) -> bytes:
        """Give a resource."""
        self.called()
        self.reads.append((package, resource))
        found = self.resources[package, resource]
        if isinstance(found, Exception):
            raise found
        assert isinstance(found, bytes)
        return found
