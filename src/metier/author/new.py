"""Writing skills: a scaffold that passes the strictest check once it is described, and is the
user's own; and a skill that a program registers for as long as it has the library open.
"""

from __future__ import annotations

import re

from metier.author.io import staging
from metier.author.limits import MAIN_FILE, MAX_TREE_BYTES
from metier.author.target_folder import OWN_SKILLS, user_folders
from metier.discover.io import disk
from metier.discover.io.disk import MAX_TREE_FILES
from metier.errors import MetierError, NotFoundError, RefusedError, UsageError
from metier.fast import TYPE_CHECKING
from metier.standard import skill_paths
from metier.standard.document import PLACEHOLDER_DESCRIPTION
from metier.standard.names import name_faults

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.context import Context
    from metier.model import Card

_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")

_TEMPLATE = """---
name: {name}
description: {description}
---

# {title}

## When to use

Say which requests this skill is for, in the words people use.

## Steps

1. Say what to do first.
2. Say how to tell that it worked.
"""


def scaffold(context: Context, name: str, folder: str | None, description: str) -> str:
    """Write `NAME/SKILL.md` below a folder; nothing that exists is touched."""
    check_name(name)
    text = checked_description(description or PLACEHOLDER_DESCRIPTION.format(name=name))
    base = disk.absolute(folder, context.cwd, context.home) if folder else _folder_for_new(context)
    target = f"{base}/{name}"
    if disk.kind_of(target) is not None:
        raise RefusedError(
            f"{target} already exists", hint="choose another name, or remove it first"
        )
    quoted = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    body = _TEMPLATE.format(
        name=name, description=quoted, title=name.replace("-", " ").capitalize()
    )
    disk.write_new(f"{target}/SKILL.md", body)
    from metier.trust import approve

    try:
        approve.own(context, target, own=True)
    except MetierError as error:  # the skill is there; that it is the user's own can be said later
        context.warnings.append(
            f"{target} is not marked as your own: {error.message}. Once that is fixed, run: "
            f"metier trust own {target}"
        )
    return target


def _folder_for_new(context: Context) -> str:
    """Give the folder that takes a new skill: where the agent in question looks first, in a project
    the project's, at its root where that is searched, and elsewhere the user's; without an agent
    the project's shared one. What a project is, the agent says.
    """
    shared = f"{context.project}/{OWN_SKILLS}"
    agent = context.agent
    if agent is None or context.given is not None:
        return shared
    searched = [root for root in context.catalogue.roots() if root.scope == "project"]
    paths = [path for scope, path in agent.folders if scope == "project"]
    of_project = [
        root.location
        for root in searched
        if root.location in {f"{root.project}/{path}" for path in paths}
    ]
    projects = of_project or [root.location for root in searched]
    inside = context.catalogue.in_project
    places = (projects, user_folders(context)) if inside else (user_folders(context), projects)
    return next((path for found in places for path in found), shared)


def check_name(name: str) -> None:
    """Refuse a name that the standard does not allow."""
    if not isinstance(name, str):
        raise UsageError("a skill is named by a text", hint="give one, such as release-notes")
    faults = name_faults(name, "") or (
        () if name else (("SK030", "a skill needs a name", "give one, such as release-notes"),)
    )
    if faults:
        raise UsageError(f"'{name}' is not a valid skill name: {faults[0][1]}", hint=faults[0][2])


def checked_description(description: object) -> str:
    """Give a description on one line; refuse one that the standard does not allow."""
    text = " ".join(description.split()) if isinstance(description, str) else ""
    if not text:
        raise UsageError(
            "a skill needs a description", hint="say what it does and when an agent should use it"
        )
    if not text.isprintable():
        raise UsageError(
            "the description holds characters that cannot be shown", hint="write it in plain text"
        )
    if len(text) > 1024:
        raise UsageError(
            f"the description has {len(text):,} characters; the limit is 1,024", hint="shorten it"
        )
    return text


# --- skills that a program registers


def register(
    context: Context,
    name: str,
    description: str,
    body: str,
    files: Mapping[str, str | bytes],
    fields: Mapping[str, object],
) -> Card:
    """Have a skill of the program's own in this library for as long as it is open; give its card.

    Its files lie in a private folder meanwhile, because whatever scans, judges, reads and runs a
    skill does so from there: no rule knows where a skill came from.
    """
    check_name(name)
    written = {MAIN_FILE: _main_file(name, checked_description(description), body, fields)}
    for path, data in files.items():
        relative = skill_paths.safe_relative(path)
        if relative.lower() == MAIN_FILE.lower():
            raise UsageError(
                f"the files of '{name}' hold a {relative}, which is made of the rest",
                hint="give it as body and fields",
            )
        written[relative] = _bytes_of(relative, data)
    _check_files(name, written)
    with context.lock:
        if not context.registered:
            _begin_registering(context)
        staging.put_registered(context.registered, name, written)
        context.catalogue.refresh()
    return context.catalogue.resolve(f"{context.registered}/{name}")


def unregister(context: Context, name: str) -> None:
    """Take a skill out again that was registered."""
    check_name(name)
    with context.lock:
        if not context.registered or not staging.take_registered(context.registered, name):
            raise NotFoundError(
                f"no skill named '{name}' is registered with this library",
                hint="what lies on disk is not taken away by this",
            )
        context.catalogue.refresh()


def _begin_registering(context: Context) -> None:
    """Have a folder for registered skills until the library is closed."""
    context.registered, drop = staging.open_registered_folder(context)

    def end() -> None:
        context.closing.remove(end)
        context.registered = ""
        drop()

    context.closing.append(end)


def _main_file(name: str, description: str, body: str, fields: Mapping[str, object]) -> bytes:
    """Write the file that every skill has; JSON is YAML too."""
    import json

    lines = [f"name: {name}", f"description: {json.dumps(description, ensure_ascii=False)}"]
    for key, value in fields.items():
        if not _FIELD.fullmatch(str(key)) or key in {"name", "description"}:
            raise UsageError(
                f"'{key}' cannot be a field of '{name}'",
                hint="name and description are arguments of their own; a key is a plain word",
            )
        try:
            lines.append(f"{key}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}")
        except (TypeError, ValueError, RecursionError) as error:
            raise UsageError(
                f"the field '{key}' of '{name}' cannot be written: {error}",
                hint="give texts, numbers, true, false, lists and tables",
            ) from error
    text = _bytes_of("body", body)
    return "\n".join(("---", *lines, "---", "", "")).encode() + text.rstrip(b"\n") + b"\n"


def _bytes_of(what: str, data: str | bytes) -> bytes:
    try:
        if isinstance(data, (str, bytes)):
            return data if isinstance(data, bytes) else data.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"{what} holds half a character, which no file can", hint="give whole text, or bytes"
        ) from error
    raise UsageError(f"{what} is neither text nor bytes: {data!r:.40}", hint="give one of the two")


def _check_files(name: str, files: Mapping[str, bytes]) -> None:
    """Refuse paths of which one is a folder of another, and more than a skill may have."""
    for path in files:
        above = path.rpartition("/")[0]
        while above:
            if above in files:
                raise UsageError(
                    f"'{above}' of '{name}' is a file, and '{path}' lies below it",
                    hint="rename one of them",
                )
            above = above.rpartition("/")[0]
    size = sum(map(len, files.values()))
    if len(files) > MAX_TREE_FILES or size > MAX_TREE_BYTES:
        raise UsageError(
            f"'{name}' has {len(files):,} files and {size:,} bytes",
            hint=f"the limits are {MAX_TREE_FILES:,} files and {MAX_TREE_BYTES:,} bytes",
        )
