"""A body between tags that say whose it is, with the skill's folder and the names of its files; none of them is read. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.standard.marks import unbracketed

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_FILES = 100
"""How many files are named; a count stands for the rest."""

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}


def wrapped(name: str, folder: str, text: str, files: Sequence[str] = (), config: str = "") -> str:
    """Give what a model receives when it loads a skill; `text` is the body and `config` the note, both fit for a prompt."""
    listed = [f"  <file>{escaped(file)}</file>\n" for file in files[:MOST_FILES]]
    if len(files) > MOST_FILES:
        listed.append(f"  and {len(files) - MOST_FILES:,} more\n")
    resources = f"\n<skill_resources>\n{''.join(listed)}</skill_resources>\n" if listed else ""
    begin = f'<skill_content name="{escaped(name)}" directory="{escaped(folder)}">'
    noted = f"\n{config}\n" if config else ""
    return f"{begin}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{noted}{resources}</skill_content>"


def already(name: str) -> str:
    """Give what a model receives when it loads a skill a second time, and the skill is still the same."""
    return (
        f'<skill_content name="{escaped(name)}" already_loaded="true">\n'
        "This skill was loaded earlier in this conversation and has not changed: follow the instructions given there.\n"
        "</skill_content>"
    )


def escaped(text: str) -> str:
    """Make a stranger's name fit for a tag, an attribute or one line of a list: no tags, notes, quotes or line breaks."""
    return unbracketed("".join(_ENTITIES.get(char) or (char if char.isprintable() else _code(char)) for char in text))


def _code(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
