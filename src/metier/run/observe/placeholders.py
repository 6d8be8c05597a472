"""Fills in what instructions leave open in a command: placeholders, files and places of the reader's. Pure."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from metier.run.observe.samples import ENDING, FOLDER, SAMPLES, sample_path, value_of, words_of
from metier.scan.model import word_set

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.run.observe.model import Stage

MAX_PATHS = 400
"""How many of a skill's own paths are looked for in a command."""
_PLACEHOLDER = re.compile(
    r"(?<!\(\?P)(?<!\(\?)<([A-Za-z][\w .:/|-]{0,40})>|\{\{?\s*([A-Za-z][\w.-]{0,30})\s*\}?\}"
    r"|\[((?!\w-\w\])[A-Z][A-Z_ -]{2,30})\]|\b(YOUR_[A-Z_]+|your-[a-z-]+)\b"
    r"|(?<![\w./-])((?:path/to/|/path/to/)[\w./-]+)|(?<![\w$.{/-])([A-Z][A-Z_]{2,20})(?![\w=(./-])"
)
_OPTIONAL = re.compile(r"(?<=[\w/] )\[([a-z][a-z]{2,20}(?:[-_ ][a-z]{2,20}){0,2})\](?=\s|$)")
"""A word that need not be there, as usage lines write it: `[output-dir]`."""
_INPUT_FILE = re.compile(
    r"(?<![\w/.~$}:({;-])(?<!> )(?<!>> )(?<!-o )(?<!out )(?<!output )(?<!out=)"
    r"((?:[\w-]+/){0,4}(?!(?:process|console|import|meta|os|sys|np|math|logger)\.)[\w-]+\.([a-z]{2,5}))(?![\w/.(])"
)
"""A file that a command reads, as its place in the command shows: not what it writes."""
_ELSEWHERE = re.compile(
    r"(?<=[\s=\"'])(?<!> )(?<!>> )(?<!-o )(?<!-f )(?<!out )(?<!output )(?<!out=)"
    r"((?:/(?:var|data|srv|mnt|home|Users|backups?|exports?|media|projects?|work)|~)(?:/[\w@%+-][\w.@%+-]*)+)/?(?=[\s\"']|$)"
)
"""A place of the user's that a command reads, and that is not here."""
_FOLDER_WORD = re.compile(
    r"(?<=\s)(?!(?:Africa|America|Asia|Atlantic|Australia|Europe|Pacific|Etc)/)"
    r"(?<!> )(?<!>> )(?<!-o )(?<!-d )(?<!out )(?<!output )(?<!dest )(?<!cd )(?<!mkdir )(?<!-p )"
    r"(?:\./)?((?:[\w-][\w.-]*/)+(?:[\w-]+)?)(?=[\s\"']|$)"
)
"""A folder below the project that a command reads."""
_NOT_PLACEHOLDERS = word_set(
    "GET POST PUT PATCH DELETE HEAD OPTIONS HTTP HTTPS JSON CSV EOF END SELECT FROM WHERE AND "
    "NOT NULL TRUE FALSE INSERT INTO UPDATE SET VALUES CREATE TABLE DROP"
)
SKILL_FOLDERS = (
    "ARGUMENTS",
    "CLAUDE_SKILL_DIR",
    "SKILL_DIR",
    "CLAUDE_PLUGIN_ROOT",
    "baseDir",
    "skill_dir",
    "skillDir",
    "SKILL_ROOT",
)
"""How instructions call the folder that a skill lies in; the first are the words it is called with."""


class CommandFiller:
    """Fills in the commands of one skill, with what one stage has."""

    def __init__(self, main: str, files: Mapping[str, bytes], stage: Stage) -> None:
        """Take what is known."""
        self.main, self.files, self.stage = main, files, stage
        self.there = {one.path for one in stage.decoys}
        # What lies deeper is replaced first, so that no path is taken for the end of another.
        self.paths = sorted(files, key=len, reverse=True)[:MAX_PATHS]

    def fill(self, code: str, *, quote: bool = True) -> str:
        """Replace placeholders by what the stage has, and paths of the skill by where it lies."""
        for name in SKILL_FOLDERS[1:]:
            code = re.sub(
                rf"\$\{{{name}\}}|\${name}\b|\{{\{{?{name}\}}?\}}", self.stage.skill, code
            )
        code = code.replace("$ARGUMENTS", sample_path("md"))
        for path in self.paths:
            if path in code and path != self.main:
                code = re.sub(
                    rf"(?<![\w/.@-])(?:\./)?{re.escape(path)}(?![\w])",
                    f"{self.stage.skill}/{path}",
                    code,
                )
        code = _OPTIONAL.sub(lambda match: value_of(match[1], self.stage.domain), code)
        code = _PLACEHOLDER.sub(lambda match: self.value_for(match, quote=quote), code)
        if not quote:
            return code
        code = _INPUT_FILE.sub(self.input_for, _ELSEWHERE.sub(self.place_for, code))
        own = f"{self.stage.skill}/"
        lines = (
            _FOLDER_WORD.sub(self.folder_for, line) if own in line else line
            for line in code.split("\n")
        )
        return "\n".join(lines)

    def folder_for(self, match: re.Match[str]) -> str:
        """Give the folder of samples in the place of one that is not there."""
        path = f"{self.stage.project}/{match[1].rstrip('/')}"
        here = any(one == path or one.startswith(f"{path}/") for one in self.there)
        return match[0] if here or match[1].startswith(FOLDER) else FOLDER

    def place_for(self, match: re.Match[str]) -> str:
        """Give a sample, or their folder, in the place of a path that is not on the stage."""
        path = match[1].replace("~", self.stage.home, 1) if match[1][0] == "~" else match[1]
        here = any(one == path or one.startswith(f"{path}/") for one in self.there)
        if here or path.startswith(self.stage.skill):
            return match[0]
        ending = path.rpartition("/")[2].rpartition(".")[2] if "." in path else ""
        if ending and ending not in SAMPLES:
            return match[0]
        return sample_path(ending) if ending else FOLDER

    def input_for(self, match: re.Match[str]) -> str:
        """Give a sample in the place of a file that the instructions name and that is not there."""
        there = f"{self.stage.project}/{match[1]}" in self.there
        if not there and {"jwt", "token"} & words_of(match[1]):
            return sample_path("jwt")
        return match[0] if there or match[2] not in SAMPLES else sample_path(match[2])

    def value_for(self, match: re.Match[str], *, quote: bool) -> str:
        """Give a value for a placeholder, by what it is called."""
        name = next(filter(None, match.groups()))
        if match[6] and (name in _NOT_PLACEHOLDERS or not quote):
            return match[0]
        if "skill" in words_of(name):
            rest = match.string[match.end() : match.end() + 2]
            own = rest[:1] == "/" and rest[1:].strip("\"' \n") != ""
            return self.stage.skill if own else f"{self.stage.home}/.claude/skills/release-notes"
        found = value_of(name, self.stage.domain)
        if found:
            return found
        words = words_of(name)
        if {"file", "path", "input", "doc", "document", "source"} & words:
            return sample_path(self.usual_ending())
        return match[0] if match[6] else "sample"

    def usual_ending(self, text: str = "") -> str:
        """Give the kind of file that a script, or the skill, speaks of most."""
        about = text or self.files.get(self.main, b"").decode("utf-8", "replace")
        counted = [
            one
            for one in ENDING.findall(about)
            if one in SAMPLES and one not in {"py", "js", "sh", "md", "jwt"}
        ]
        most = Counter(counted).most_common(1)
        return most[0][0] if most else "md" if ".md" in about else "txt"
