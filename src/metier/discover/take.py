"""Taking the skills of one folder: which of its files are read, under which circumstances, and what is remembered.

Pure over the `Disk` port. A file is read again only when its stat or its circumstances (sidecar, real path, category,
plugin) are no longer those under which it was read before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from metier.discover import heads
from metier.discover.entries import Place, broken_entry, fault_at
from metier.discover.heads import SIDECAR_BYTES
from metier.model import HEAD_BYTES, MANIFEST_BYTES, MANIFESTS, NO_KEY, Entry, Head, Key, Problem, Sidecar

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.ports import Disk
    from metier.survey import Known, Memo

NOT_SKILLS = frozenset({
    "readme.md", "description.md", "changelog.md", "license.md", "licence.md", "contributing.md", "security.md",
    "agents.md", "claude.md", "gemini.md", "code_of_conduct.md", "index.md", "memory.md",
})  # fmt: skip
NOT_CATEGORIES = frozenset({"agents", "commands", "docs", "hooks", "prompts", "rules", "examples", "tests"})
"""Folders whose Markdown files are something else than flat skills."""


class Folder(NamedTuple):
    """One folder to visit, with what its ancestors say about it."""

    path: str
    real: str
    depth: int
    category: str
    plugin: str
    in_skill: bool


class Taker:
    """The files of one walk: what was read, what came of it, and the stats it rests on."""

    def __init__(self, root_real: str, disk: Disk, old: Known) -> None:
        """Begin with nothing read; `old` is what an earlier walk learnt."""
        self.root_real, self.disk, self.old = root_real, disk, old
        self.keys: dict[str, Key] = {}
        self.memos: dict[str, Memo] = {}
        self.entries: list[Entry] = []
        self.problems: list[Problem] = []
        self.categories: dict[str, str] = {}
        self.usual: tuple[None, str, str, str] = (None, "", "", "")
        self.reads = 0

    def leaf(self, path: str, real: str, category: str, plugin: str, key: Key) -> bool:
        """Take the SKILL.md of a folder that was not listed; false when there is none to read."""
        target = path + "/SKILL.md"
        if self.disk.is_there(path + "/agents"):
            return False  # no folder, so a link: what restricts the skill may lie behind it, and that needs a closer look
        circumstance = (None, real, category, plugin)
        if circumstance == self.usual:  # one value serves the thousands of skills that share it
            circumstance = self.usual
        else:
            self.usual = circumstance
        memo = self.old.memos.get(target)
        if memo is not None and memo[0] == circumstance and self.old.keys[target] == self.disk.key_of(target):
            file_key = self.old.keys[target]
        else:
            head = self.disk.read_head(target)
            if head.fault:
                return False
            self.reads += 1
            file_key = head.key
            memo = (circumstance, self.skill_entry(head, Place(path, "SKILL.md", real, category, plugin), None))
        self.keys[path] = key
        self.keys[target] = file_key
        self.memos[target] = memo
        self.entries.append(memo[1])
        return True

    def skill(
        self, folder: Folder, plugin: str, folders: tuple[str, ...], files: tuple[str, ...], strange: tuple[str, ...]
    ) -> bool:
        """Take the SKILL.md of a listed folder, in whatever form it has one; `strange` are links and the like."""
        file = "SKILL.md" if "SKILL.md" in files or "SKILL.md" in strange else ""
        file = file or next((name for name in (*files, *strange) if name.lower() == "skill.md"), "")
        if not file:
            return False
        path = folder.path
        place = Place(path, file, folder.real if folder.real != path else "", folder.category, plugin)
        if file not in files:
            fault = fault_at("SK003", f"{file} is a link, pipe, socket or device; metier does not read it.", place)
            self.entries.append(broken_entry("skill-md", place, path.rpartition("/")[2], fault))
            return True
        sidecar, sidecar_key = self.sidecar(path) if "agents" in folders or "agents" in strange else (None, None)
        circumstance = (sidecar_key, place.real, place.category, plugin)
        self.entries.append(self.read(f"{path}/{file}", circumstance, lambda head: self.skill_entry(head, place, sidecar)))
        return True

    def skill_entry(self, head: Head, place: Place, sidecar: Sidecar | None) -> Entry:
        """Parse a SKILL.md, and flag one that a link brought in from elsewhere."""
        entry = heads.skill_entry(head, place, place.path.rpartition("/")[2], sidecar, self.disk.read_head)
        return heads.reached_by_link(entry, self.root_real) if place.real else entry

    def loose_files(self, folder: Folder, plugin: str, files: tuple[str, ...]) -> None:
        """Take flat `{name}.md` skills, and in the root itself code skills."""
        base = folder.path.rpartition("/")[2]
        if folder.depth and base in NOT_CATEGORIES:
            return
        category = base if folder.depth else ""
        for name in files:
            code = name.endswith(".py")
            if name.lower() in NOT_SKILLS or not name.endswith((".md", ".py")) or (code and folder.depth):
                continue
            path = f"{folder.path}/{name}"
            place = Place(path, "", f"{folder.real}/{name}" if folder.real != folder.path else "", category, plugin)
            build = heads.code_skill_entry if code else heads.flat_entry
            entry = self.read(path, (place.real, category, plugin), self._builder(build, place))
            if entry is not None:
                self.entries.append(entry)

    def category(self, name: str, path: str) -> None:
        """Take a category's description."""
        self.categories[name] = self.read(path, None, lambda head: heads.category_text(head, path, self.disk.read_head))

    def manifest(self, path: str) -> str:
        """Give the name of the plugin whose manifest lies in this folder; the first that can be read counts (CX-30)."""
        for where in MANIFESTS:
            target = f"{path}/{where}"
            holder = target.rpartition("/")[0]
            if holder != path and (key := self.disk.key_of(holder)) is not None:
                self.keys[holder] = key  # a manifest that appears here later must be noticed
            if self.disk.kind_of(target) != "file":
                continue
            name, problem = self.read(target, None, self._manifest_builder(where, path), MANIFEST_BYTES)
            if problem:
                self.problems.append(Problem(target, *problem))
            if name:
                return str(name)
        return ""

    def sidecar(self, path: str) -> tuple[Sidecar | None, Key | None]:
        """Read `agents/openai.yaml`, which belongs to the skill's circumstances."""
        target = path + "/agents/openai.yaml"
        key = self.disk.key_of(target)
        if self.disk.is_link(path + "/agents"):
            return heads.sidecar_of(heads.BEHIND_A_LINK), NO_KEY
        if key is None and not self.disk.is_link(target):
            self.keys[path + "/agents"] = self.disk.key_of(path + "/agents") or NO_KEY  # a sidecar may appear there
            return None, None
        return self.read(target, None, heads.sidecar_of, SIDECAR_BYTES), key or NO_KEY

    def read(self, path: str, circumstance: Any, build: Callable[[Head], Any], at_least: int = HEAD_BYTES) -> Any:
        """Give what a file says: as remembered when file and circumstances are the same, else by reading it."""
        old = self.old.memos.get(path)
        if old is not None and old[0] == circumstance and self.old.keys[path] == self.disk.key_of(path):
            self.memos[path] = old
            self.keys[path] = self.old.keys[path]
            return old[1]
        head = self.disk.read_head(path, at_least)
        self.reads += 1
        value = build(head)
        self.keys[path] = head.key if head.key != NO_KEY else self.disk.key_of(path) or NO_KEY
        self.memos[path] = (circumstance, value)
        return value

    def _builder(self, build: Callable[..., Entry | None], place: Place) -> Callable[[Head], Entry | None]:
        return lambda head: build(head, place, self.disk.read_head)

    def _manifest_builder(self, where: str, path: str) -> Callable[[Head], Any]:
        return lambda head: heads.plugin_name(head, where, path)
