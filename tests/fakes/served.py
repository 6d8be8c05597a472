"""A place with skills and a configuration, and clients that are connected to what is served of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fakes.connected import talk

import metier

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from conftest import Home, Writer
    from mcp.client.client import Client

    from metier.library import Library

CODE = '"""Do a thing."""\n{said}SKILL_DESCRIPTION = "Does {name}."\nSKILL_TRIGGERS = ["{name} it"]\n\n\ndef run(task):\n    return task\n'


class Place:
    """A folder of skills, a configuration, and what a client sees of them."""

    def __init__(self, home: Home, folder: Path, write: Writer) -> None:
        self.home, self.folder, self.write = home, folder, write
        self.config = folder / "metier.toml"
        self.config.write_text("")
        self.library: Library | None = None

    def code(self, name: str, expose: bool | None = None, *, destructive: bool = False) -> None:
        """Write a code skill."""
        said = "" if expose is None else f"SKILL_MCP_EXPOSE = {expose}\n"
        said += "SKILL_DESTRUCTIVE = True\n" if destructive else ""
        (self.folder / "skills").mkdir(exist_ok=True)
        (self.folder / f"skills/{name}.py").write_text(CODE.format(name=name, said=said))

    def skill(self, path: str, text: str | None = None, **files: str) -> Path:
        """Write a skill with files, of which a name has `__` in the place of a slash and `_` in that of a dot."""
        folder = self.write(path, text=text)
        for name, said in files.items():
            file = folder / name.replace("__", "/").replace("_", ".")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(said)
        return folder

    def open(self, *roots: str, **options: Any) -> Library:
        """Open the library."""
        folders = [str(self.folder / root) for root in roots or ("skills",)]
        return metier.open(
            env=self.home.env, cwd=self.folder, config=self.config, roots=folders, **options
        )

    def seen(
        self,
        use: Callable[[Client, list[Any]], Awaitable[None]],
        *,
        mode: str = "legacy",
        door: str = "stdio",
    ) -> list[Any]:
        """Connect a client, and give what it collects."""
        found: list[Any] = []

        async def collect(client: Client) -> None:
            await use(client, found)

        with self.open() as library:
            self.library = library
            talk(library, collect, mode, door)
        return found
