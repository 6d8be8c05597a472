"""How a script would be run: the gates of preparation, what is granted, and the cage that follows from both. Runs nothing."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from metier import preparing, skillfile
from metier.discover import disk
from metier.execute.plan import allowance, read_wishes, wishes_of
from metier.runs import Allowance, Lent, Wishes
from metier.standard.code import MAX_BYTES, read_code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.app import Library
    from metier.execute.plan import Place
    from metier.model import Card, Trust
    from metier.preparing import RunPlan

NOTHING = Lent()
SCRIPT_FOLDER = "scripts/"
SCRIPT_ENDS = tuple(f".{end}" for end in preparing.INTERPRETERS)
SHOWN = 20
"""How many scripts an answer names."""


class Planned(NamedTuple):
    """A run that may be made: its gates, and what it is granted."""

    plan: RunPlan
    card: Card
    granted: Allowance
    level: Trust
    wishes: Wishes
    """What the skill declared when this was decided."""


def planned(library: Library, name: str, script: str, arguments: Sequence[str] = (), lent: Lent = NOTHING) -> Planned:
    """Say whether a script may be run and with what."""
    card = library.resolve(name)
    plan = preparing.plan_run(library, card.path, script, arguments)
    standing = library.trust(card.path)
    level = standing.level
    wishes = declared(card)
    granted = allowance(wishes, lent, library.settings.run, level, place_for(library), place_for(library, lent=True))
    writable = [mount.target for mount in granted.mounts if mount.writable]
    against = [f"it cannot be lent {text}" for text in granted.unmet]
    if standing.digest is None and preparing.UNREAD not in plan.reasons:  # what is no file is in no digest and no copy
        against.append(preparing.UNREAD)
    plan = plan._replace(network=granted.network, writable=writable, reasons=[*against, *plan.reasons], digest=standing.digest,
                         allowed=plan.allowed and not against)  # fmt: skip
    return Planned(plan, card, granted, level, wishes)


def declared(card: Card) -> Wishes:
    """Read what a skill declares that it needs: in its frontmatter, or in the code itself."""
    if card.kind != "code":
        return wishes_of(skillfile.fields_of(card))
    facts = read_code(disk.read_head(card.path, MAX_BYTES + 1).data, skillfile.folder_name(card))
    return read_wishes(facts.permissions if facts else ())


def place_for(library: Library, *, lent: bool = False) -> Place:
    """Give what finds the paths that a run may have: never metier's own files, nor a folder that holds them or the home.

    What a person has `lent` must lie where they said. What a skill declares is held against the configuration where it really lies.
    """
    kept = [disk.real(path) for path in (library.data, library.config, library.home) if path]
    home = disk.real(library.home) if library.home else None

    def place(path: str) -> tuple[str, str]:
        if "\0" in path or not path:
            return "", "it is no path"
        named = disk.absolute(path, disk.real(library.cwd), home)
        if library.home and home and named.startswith(f"{library.home}/"):
            named = home + named[len(library.home) :]
        real = disk.real(named)
        if disk.kind_of(real) not in {"file", "folder"}:
            return "", "it is not there"
        if any(one == real or one.startswith(f"{real.rstrip('/')}/") for one in kept):
            return "", "it holds metier's own files or the whole home folder"
        if library.data and real.startswith(f"{disk.real(library.data)}/"):
            return "", "it is one of metier's own files"
        if lent and _strays(named):
            return "", f"a link on the way leads elsewhere, to {real}: lend that, if it is what you mean"
        return real, ""

    return place


def _strays(path: str) -> bool:
    """Tell whether a link on the way to a path leads out of the folder in which it lies.

    Whatever was lent a folder to change may have left one there, and the next run would be lent what its owner never named.
    """
    at = ""
    for part in path.strip("/").split("/"):
        folder, at = at, f"{at}/{part}"
        if disk.target_of(at) is not None:
            at = disk.real(at)
            if not f"{at}/".startswith(f"{folder}/"):
                return True
    return False


def scripts_of(library: Library, card: Card) -> list[str]:
    """Name the scripts of a skill: what lies in `scripts/`, and elsewhere what ends like one."""
    if card.kind != "skill-md":
        return []
    found = [piece.path for piece in disk.tree(card.path) if not piece.link]
    ends = [path for path in found if path.endswith(SCRIPT_ENDS) or _has_shebang(f"{card.path}/{path}", library)]
    return [path for path in ends if path.startswith(SCRIPT_FOLDER)] or ends


def listed(scripts: Sequence[str]) -> str:
    """Name scripts, of many the first, so that nothing in a name can be taken for words of ours."""
    return ", ".join(map(quoted, scripts[:SHOWN])) + (", …" if len(scripts) > SHOWN else "")


def quoted(word: str) -> str:
    """Give a word as a shell takes it, on one line."""
    return shlex.quote(word) if word.isprintable() else repr(word)


def next_step(library: Library, planned: Planned) -> str:
    """Say what to do about a run that may not be."""
    plan, name = planned.plan, planned.card.name
    if planned.granted.unmet:
        return "lend the file or folder itself, where it lies"
    if not plan.path:
        found = scripts_of(library, planned.card)
        return f"its scripts: {listed(found)}" if found else f"it has no script to run; read it: metier show {name}"
    if not plan.interpreter:
        return "who trusts it adds the program that its first line names to run.interpreters in their own configuration"
    if plan.digest is None:
        return f"see: metier scan {quoted(planned.card.path)}"
    if any(preparing.prepare(library, planned.card.path).missing.values()):
        return f"give it what it needs: metier setup {name}"
    return f"see: metier why {name}"


def _has_shebang(path: str, library: Library) -> bool:
    head = disk.read_head(path, preparing.SCRIPT_HEAD)
    return head.data.startswith(b"#!") and bool(preparing.interpreter_of(path, head.data, library.settings.run.interpreters))
