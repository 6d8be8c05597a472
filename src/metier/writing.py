"""Writing skills: a scaffold that passes the strictest check."""

from __future__ import annotations

from metier.discover import disk
from metier.errors import RefusedError, UsageError
from metier.light import TYPE_CHECKING
from metier.standard.names import name_faults

if TYPE_CHECKING:
    from metier.app import Library

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


def scaffold(library: Library, name: str, folder: str | None, description: str) -> str:
    """Write `NAME/SKILL.md` below a folder; nothing that exists is touched."""
    faults = name_faults(name, "") or (() if name else (("SK030", "a skill needs a name", "give one, such as release-notes"),))
    if faults:
        raise UsageError(f"'{name}' is not a valid skill name: {faults[0][1]}", hint=faults[0][2])
    text = " ".join(description.split()) or f"Describe what {name} does, and when an agent should use it."
    if not text.isprintable():
        raise UsageError("the description holds characters that cannot be shown", hint="write it in plain text")
    if len(text) > 1024:
        raise UsageError(f"the description has {len(text):,} characters; the limit is 1,024", hint="shorten it")
    base = disk.absolute(folder, library.cwd, library.home) if folder else f"{library.project}/.agents/skills"
    target = f"{base}/{name}"
    if disk.kind_of(target) is not None:
        raise RefusedError(f"{target} already exists", hint="choose another name, or remove it first")
    quoted = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    body = _TEMPLATE.format(name=name, description=quoted, title=name.replace("-", " ").capitalize())
    disk.write_new(f"{target}/SKILL.md", body)
    return target
