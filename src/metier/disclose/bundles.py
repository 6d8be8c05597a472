"""Bundles: one slash command for several skills, written down by the user in `skill-bundles/*.yaml` (HE-29). Pure.

What is wrong with a file is said with its place, and the other files still count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from metier.standard import events
from metier.standard.names import one_line, slug

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = "skill-bundles"
ENDINGS = (".yaml", ".yml")
MAX_BYTES = 64 * 1024
MAX_FILES = 256
MAX_SKILLS = 32
"""Skills of one bundle; the rest is left out, with a warning."""
_SHOWN = 200


class Bundle(NamedTuple):
    """Several skills under one command."""

    name: str
    slug: str
    description: str
    skills: tuple[str, ...]
    instruction: str
    path: str


class Bundles(NamedTuple):
    """The bundles by slug, in the order of their files, and what was wrong."""

    by_slug: dict[str, Bundle]
    warnings: tuple[str, ...] = ()


def read_bundles(files: Iterable[tuple[str, bytes]]) -> Bundles:
    """Read every bundle; of two with one slug the first file's counts."""
    found: dict[str, Bundle] = {}
    warnings: list[str] = []
    for path, data in files:
        bundle, wrong = read_bundle(data, path)
        warnings += wrong
        if bundle is not None and found.setdefault(bundle.slug, bundle) is not bundle:
            warnings.append(f"{path}: the bundle '/{bundle.slug}' is already in {found[bundle.slug].path}; this one is not used")
    return Bundles(found, tuple(warnings))


def read_bundle(data: bytes, path: str) -> tuple[Bundle | None, list[str]]:
    """Read one bundle, or say what is wrong with it and where."""
    if len(data) > MAX_BYTES:
        return None, [f"{path}: larger than {MAX_BYTES // 1024} KiB, not read"]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        return None, [f"{path}:{data.count(10, 0, fault.start) + 1}:1: not UTF-8"]
    loaded = events.load(text)
    if loaded.error is not None:
        message, line, column = loaded.error
        return None, [f"{path}:{line}:{column}: not valid YAML: {message}"]
    if not isinstance(loaded.value, dict):
        return None, [f"{path}:1:1: not a mapping with name, description, skills and instruction"]
    warnings = [f"{path}:{line}:{column}: {message}" for _code, message, line, column in loaded.faults[:5]]
    return _bundle(loaded.value, loaded.spans, path, warnings), warnings


def _bundle(value: dict[str, Any], spans: dict[str, tuple[int, int]], path: str, warnings: list[str]) -> Bundle | None:
    def wrong(key: str, what: str) -> None:
        line, column = spans.get(key, (1, 1))
        warnings.append(f"{path}:{line}:{column}: '{key}' {what}")

    def text(key: str) -> str:
        found = value.get(key, "")
        if not isinstance(found, str):
            wrong(key, "must be a text")
            return ""
        return found

    file = path.rpartition("/")[2].rpartition(".")[0]
    name = one_line(text("name"))[:_SHOWN] or one_line(file)
    skills = _skills(value.get("skills"))
    if skills is None:
        wrong("skills", "must be a list of names")
        return None
    if len(skills) > MAX_SKILLS:
        wrong("skills", f"has {len(skills)} names; only the first {MAX_SKILLS} count")
    if not slug(name):
        wrong("name", "has no letter or digit, so no command can name it")
        return None
    return Bundle(name, slug(name), one_line(text("description")), skills[:MAX_SKILLS], text("instruction").strip(), path)


def _skills(value: Any) -> tuple[str, ...] | None:
    """Read a list of names, each once; `None` when it is not one, or has none."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return tuple(dict.fromkeys(filter(None, map(one_line, value)))) or None
