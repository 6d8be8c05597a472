"""Taking the skills of one folder: which of its files are read, under which circumstances, and what
is remembered.

Pure over the `Disk` port. A file is read again only when its stat or its circumstances (sidecar,
real path, category, plugin) are no longer those under which it was read before.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.discover import entries
from metier.discover.entries import SIDECAR_BYTES, SkillPlace, broken_entry, fault_at
from metier.model import (
    HEAD_BYTES,
    MANIFEST_BYTES,
    MANIFESTS,
    NO_KEY,
    Entry,
    Head,
    Key,
    Problem,
    Sidecar,
)
from metier.standard.frontmatter import FRONTMATTER_BYTES
from metier.standard.plain_text import words

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.discover.model import KnownRoot, Memo
    from metier.model import Loading, Texts
    from metier.ports import Disk

NOT_SKILLS = words(
    "readme.md description.md changelog.md license.md licence.md contributing.md security.md "
    "agents.md claude.md gemini.md code_of_conduct.md index.md memory.md"
)
NOT_CATEGORIES = words("agents commands docs hooks prompts rules examples tests")
"""Folders whose Markdown files are something else than flat skills."""


class WalkedFolder(NamedTuple):
    """One folder to visit, with what its ancestors say about it."""

    path: str
    real: str
    depth: int
    category: str
    plugin: str
    in_skill: bool


class FolderReader:
    """The files of one walk: what was read, what came of it, and the stats it rests on."""

    def __init__(
        self,
        root_real: str,
        disk: Disk,
        old: KnownRoot,
        loading: Loading | None = None,
        project: str = "",
    ) -> None:
        """Begin with nothing read; `old` is what an earlier walk learnt, and `allowed` tells where a
        linked file may lie.
        """
        self.loading = loading
        self.project = project
        self.root_real = root_real
        self.disk = disk
        self.old = old
        self.keys: dict[str, Key] = {}
        self.memos: dict[str, Memo] = {}
        self.entries: list[Entry] = []
        self.problems: list[Problem] = []
        self.categories: dict[str, str] = {}
        self.usual: tuple[None, str, str, str] = (None, "", "", "")
        self.reads = 0
        self.files: set[str] = set()
        """By their real paths, where each counts once."""
        self.deep: dict[str, int] = {}
        """By folder, how many levels what lies in it is below its plugin."""

    def leaf(self, path: str, real: str, category: str, plugin: str, key: Key) -> bool:
        """Take the SKILL.md of a folder that was not listed; false when there is none to read."""
        target = path + "/SKILL.md"
        if self.disk.is_there(path + "/agents"):
            # no folder, so a link: what restricts the skill may lie behind it, and that needs a
            # closer look
            return False
        circumstance = (None, real, category, plugin)
        if circumstance == self.usual:  # one value serves the thousands of skills that share it
            circumstance = self.usual
        else:
            self.usual = circumstance
        memo = self.old.memos.get(target)
        if (
            memo is not None
            and memo[0] == circumstance
            and self.old.keys[target] == self.disk.key_of(target)
        ):
            file_key = self.old.keys[target]
        else:
            head = self.disk.read_head(target)
            if head.fault:
                return False
            self.reads += 1
            file_key = head.key
            memo = (
                circumstance,
                self.skill_entry(head, SkillPlace(path, "SKILL.md", real, category, plugin), None),
            )
        self.keys[path] = key
        self.keys[target] = file_key
        self.memos[target] = memo
        self.add(memo[1])
        return True

    def skill(
        self,
        folder: WalkedFolder,
        plugin: str,
        folders: Texts,
        files: Texts,
        strange: Texts,
    ) -> bool:
        """Take the SKILL.md of a listed folder, in whatever form it has one; `strange` are links
        and the like.
        """
        file = "SKILL.md" if "SKILL.md" in files or "SKILL.md" in strange else ""
        file = file or next((name for name in (*files, *strange) if name.lower() == "skill.md"), "")
        if not file:
            return False
        path = folder.path
        place = SkillPlace(
            path, file, folder.real if folder.real != path else "", folder.category, plugin
        )
        target = f"{path}/{file}"
        real = target if file in files else self.linked_file(target)
        if not real:
            return self.unread(place)
        sidecar, sidecar_key = (
            self.sidecar(folder, plugin)
            if "agents" in folders or "agents" in strange
            else (None, None)
        )
        circumstance = (sidecar_key, place.real, place.category, plugin)
        entry = self.read(
            target, circumstance, lambda head: self.skill_entry(head, place, sidecar), real=real
        )
        self.add(entry)
        return True

    def add(self, entry: Entry) -> None:
        """Take a skill, but for an agent that takes each file once not a second way to one."""
        if self.loading is not None and self.loading.in_order:
            file = f"{entry.real or entry.path}/{entry.file}"
            file = self.disk.real(file) if self.disk.is_link(file) else file
            if file in self.files:
                return
            self.files.add(file)
        self.entries.append(entry)

    def linked_file(self, path: str) -> str:
        """Give the file that a linked SKILL.md leads to, where the asking agent reads such; none
        outside the project that the link came with: its text would be a stranger's choice of the
        user's files.
        """
        if self.loading is None or not self.loading.linked_files:
            return ""
        target = self.disk.real(path)
        inside = not self.project or target.startswith(self.project.rstrip("/") + "/")
        return target if inside and self.disk.kind_of(target) == "file" else ""

    def unread(self, place: SkillPlace) -> bool:
        """Take a SKILL.md that is no ordinary file for a skill that cannot be read, but one that
        the asking agent does not see at all for none.
        """
        there = self.disk.kind_of(f"{place.path}/{place.file}") == "file"
        seen = self.loading is not None and self.loading.linked_files
        if seen and not there:
            return False  # a link that leads nowhere, or a folder of that name
        fault = fault_at(
            "SK003",
            f"{place.file} is a link, pipe, socket or device; metier does not read it.",
            place,
        )
        entry = broken_entry("skill-md", place, place.path.rpartition("/")[2], fault)
        loaded = seen and self.loading is not None and self.loading.named_by_folder
        self.entries.append(entry._replace(loaded=loaded))
        return True

    def skill_entry(self, head: Head, place: SkillPlace, sidecar: Sidecar | None) -> Entry:
        """Parse a SKILL.md, and flag one that a link brought in from elsewhere."""
        entry = entries.skill_entry(
            head, place, place.path.rpartition("/")[2], sidecar, self.read_more
        )
        if place.real:
            entry = entries.reached_by_link(entry, self.root_real)
        if self.loading is None or head.fault:
            return entry
        return self.as_loaded(entry, head)

    def read_more(self, path: str, at_least: int) -> Head:
        """Read more of a SKILL.md whose head was read; one that is a link was followed already."""
        followed = self.loading is not None and self.loading.linked_files
        return self.disk.read_head(self.disk.real(path) if followed else path, at_least)

    def as_loaded(self, entry: Entry, head: Head) -> Entry:
        """Give an entry as the asking agent sees it."""
        from metier.discover.loading import as_loaded  # only where somebody asks for an agent

        assert self.loading is not None
        if len(head.data) < head.size and head.data.find(b"\n---", 3) < 0:
            longer = self.read_more(f"{entry.path}/{entry.file}", FRONTMATTER_BYTES)
            head = head if longer.fault else longer
        return as_loaded(self.loading, entry, head.data, complete=len(head.data) >= head.size)

    def loose_files(self, folder: WalkedFolder, plugin: str, files: Texts) -> None:
        """Take flat `{name}.md` skills, and in the root itself code skills."""
        base = folder.path.rpartition("/")[2]
        if folder.depth and base in NOT_CATEGORIES:
            return
        category = base if folder.depth else ""
        any_case = self.loading is not None and self.loading.flat_any_case
        for name in files:
            code = name.endswith(".py")
            ending = name.lower() if any_case else name
            if (
                name.lower() in NOT_SKILLS
                or not ending.endswith((".md", ".py"))
                or (code and folder.depth)
            ):
                continue
            path = f"{folder.path}/{name}"
            place = SkillPlace(
                path,
                "",
                f"{folder.real}/{name}" if folder.real != folder.path else "",
                category,
                plugin,
            )
            build = entries.code_skill_entry if code else entries.flat_entry
            entry = self.read(
                path,
                (place.real, category, plugin),
                partial(build, place=place, more=self.disk.read_head),
            )
            taken = self.loading is None or (self.loading.flat and not folder.depth and not code)
            if entry is not None and not taken:
                entry = entry._replace(left_out="it is a flat file, not a folder with a SKILL.md")
            if entry is not None:
                self.entries.append(entry)

    def category(self, name: str, path: str) -> None:
        """Take a category's description."""
        self.categories[name] = self.read(
            path, None, lambda head: entries.category_text(head, path, self.disk.read_head)
        )

    def manifest(self, path: str) -> str:
        """Give the name of the plugin whose manifest lies in this folder; the first that can be
        read counts (CX-30).
        """
        for where in MANIFESTS:
            target = f"{path}/{where}"
            holder = target.rpartition("/")[0]
            if holder != path and (key := self.disk.key_of(holder)) is not None:
                self.keys[holder] = key  # a manifest that appears here later must be noticed
            if self.disk.kind_of(target) != "file":
                continue
            name, problem = self.read(
                target,
                None,
                partial(entries.plugin_name, where=where, folder=path),
                MANIFEST_BYTES,
            )
            if problem:
                self.problems.append(Problem(target, *problem))
            if name:
                return str(name)
        return ""

    def sidecar(self, folder: WalkedFolder, plugin: str) -> tuple[Sidecar | None, Key | None]:
        """Read `agents/openai.yaml`, which belongs to the skill's circumstances: with where the
        skill lies in its plugin, whose icons it may share.
        """
        path = folder.path
        target = path + "/agents/openai.yaml"
        key = self.disk.key_of(target)
        if self.disk.is_link(path + "/agents"):
            return entries.sidecar_of(entries.BEHIND_A_LINK), NO_KEY
        if key is None and not self.disk.is_link(target):
            self.keys[path + "/agents"] = (
                self.disk.key_of(path + "/agents") or NO_KEY
            )  # a sidecar may appear there
            return None, None
        levels = self.levels(path) if plugin else 0
        build = partial(entries.sidecar_of, levels=levels)
        found = self.read(target, levels or None, build, SIDECAR_BYTES)
        return found, (key or NO_KEY) + bytes([levels] if levels else [])

    def levels(self, path: str) -> int:
        """Count the folders between a path and its plugin's; neighbours are asked about once."""
        above = path.rpartition("/")[0]
        if above not in self.deep:
            self.deep[above] = entries.levels_below_plugin(path, self.disk)
        return self.deep[above]

    def read(
        self,
        path: str,
        circumstance: Any,
        build: Callable[[Head], Any],
        at_least: int = HEAD_BYTES,
        real: str = "",
    ) -> Any:
        """Give what a file says: as remembered when file and circumstances are the same, else by
        reading it. What a link leads to, `real`, is remembered by the link: it may be another
        skill's file too.
        """
        old = self.old.memos.get(path)
        if (
            old is not None
            and old[0] == circumstance
            and self.old.keys[path] == self.disk.key_of(path)
        ):
            self.memos[path] = old
            self.keys[path] = self.old.keys[path]
            return old[1]
        head = self.disk.read_head(real or path, at_least)
        self.reads += 1
        value = build(head)
        self.keys[path] = head.key if head.key != NO_KEY else self.disk.key_of(path) or NO_KEY
        self.memos[path] = (circumstance, value)
        return value
