"""Finds the skills that installed Python distributions and npm packages ship, and says which
distributions are installed.
"""

from __future__ import annotations

import os
import sys

from metier.discover.io import disk
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_RECORD_BYTES = 8 << 20
WEIGHTS_PACKAGE = "metier_weights"
"""What the distribution metier-weights installs."""


def has_model_runtime() -> bool:
    """Tell whether what runs metier's models is installed, without loading anything."""
    return any(os.path.isfile(f"{folder or '.'}/onnxruntime/__init__.py") for folder in sys.path)


def weights_folder() -> str:
    """Give the folder of the weights of metier's models, without loading anything; nothing where
    they are not installed.
    """
    return next(
        (
            os.path.abspath(f"{folder or '.'}/{WEIGHTS_PACKAGE}")
            for folder in sys.path
            if os.path.isfile(f"{folder or '.'}/{WEIGHTS_PACKAGE}/__init__.py")
        ),
        "",
    )


def site_folders(root: str, env: Mapping[str, str]) -> list[str]:
    """List the site-packages of the active environment and of the project's own."""
    found: list[str] = []
    for base in dict.fromkeys((env.get("VIRTUAL_ENV", ""), f"{root}/.venv")):
        library = f"{base}/lib"
        names = disk.list_folder(library).folders if base else ()
        found += [f"{library}/{name}/site-packages" for name in names if name.startswith("python")]
    return [folder for folder in found if os.path.isdir(folder)]


def python_folders(env: Mapping[str, str], home: str | None, project: str) -> list[str]:
    """List where Python packages lie: of the active environment, the project's own, and the Python
    on the path or this one.
    """
    found = site_folders(project or "/nowhere", env)
    folders = [
        folder for folder in env.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)
    ]
    programs = [f"{folder}/{name}" for folder in folders for name in ("python3", "python")]
    for program in [
        *(path for path in programs if os.path.isfile(path) and os.access(path, os.X_OK)),
        sys.executable or "/",
    ]:
        bases = dict.fromkeys(
            os.path.dirname(os.path.dirname(path)) for path in (program, os.path.realpath(program))
        )
        own = [folder for base in bases for folder in _packages_below(base)]
        if own:  # a mere script that starts a Python has none beside it
            found += own
            break
    found += _packages_below(f"{home}/.local") if home else []
    return list(dict.fromkeys(found))


def _packages_below(base: str) -> list[str]:
    pythons = [
        f"{base}/lib/{name}"
        for name in disk.list_folder(f"{base}/lib").folders
        if name.startswith("python")
    ]
    found = [
        f"{python}/{kind}" for python in pythons for kind in ("site-packages", "dist-packages")
    ]
    return [folder for folder in (*found, f"{base}/Lib/site-packages") if os.path.isdir(folder)]


def distributions(site: str) -> frozenset[str]:
    """Name the distributions that are installed in a folder, each in its normalised form."""
    from metier.standard.plain_text import normalised

    listing = disk.list_folder(site)
    kinds = (".dist-info", ".egg-info")
    return frozenset(
        normalised(name.rpartition(".")[0].partition("-")[0])
        for name in (*listing.folders, *listing.files)
        if name.endswith(kinds)
    )


def records(site: str) -> list[str]:
    """List the records of installed distributions: what each of them put where."""
    return [
        f"{site}/{name}/RECORD"
        for name in disk.list_folder(site).folders
        if name.endswith(".dist-info")
    ]


def shipped_skills(site: str, records: Sequence[str]) -> list[str]:
    """List the folders of skills that installed distributions ship, from their records."""
    import re

    shipped = re.compile(rb"^((?:[^,\n]*?/)?skills)/[^/,\n]+/SKILL\.md,", re.MULTILINE)
    found: set[str] = set()
    for path in records:
        record = disk.read_head(path, MAX_RECORD_BYTES).data
        if b"/SKILL.md," in record:
            found.update(match[1].decode(errors="replace") for match in shipped.finditer(record))
    return [f"{site}/{path}" for path in sorted(found) if ".." not in path.split("/")]


# --- npm: only packages that the project itself names

MAX_NAMED_PACKAGES = 500
"""How many packages of a package.json are looked at."""
MAX_MANIFEST_BYTES = 1 << 20
SKILL_FOLDERS = ("skills", ".agents/skills", ".claude/skills")
"""Where a package keeps its skills, below its own folder."""
_LISTS = ("dependencies", "devDependencies")
_MAX_VERSION_CHARS = 64


def npm_skills(root: str) -> list[tuple[str, str]]:
    """List the folders of skills that the packages of a project ship, each with the name and version
    of its package.
    """
    if not disk.is_there(f"{root}/package.json") or not disk.is_there(f"{root}/node_modules"):
        return []
    found = []
    inside = f"{disk.real(root)}/"
    for name in _named(root):
        place = disk.real(f"{root}/node_modules/{name}")
        # What pnpm and yarn link lies in the project too; a link that leads out of it is nobody's.
        if not place.startswith(inside):
            continue
        own = f"{root.rstrip('/')}/{place[len(inside) :]}"
        folders = [
            f"{own}/{folder}" for folder in SKILL_FOLDERS if os.path.isdir(f"{own}/{folder}")
        ]
        folders = [one for one in folders if f"{disk.real(one)}/".startswith(f"{place}/")]
        if folders:
            told = f"the npm package {name}{_version(own)}"
            found += [(folder, told) for folder in folders]
    return found


def _named(root: str) -> list[str]:
    """Name the packages that a project asks for itself, each once, in its order."""
    manifest = _manifest(f"{root}/package.json")
    names = dict.fromkeys(
        name
        for kind in _LISTS
        if isinstance(listed := manifest.get(kind), dict)
        for name in listed
        if _is_name(name)
    )
    return list(names)[:MAX_NAMED_PACKAGES]


def _is_name(name: object) -> bool:
    """Tell whether this is how npm calls a package: one folder, or one below a scope."""
    if not isinstance(name, str) or not 0 < len(name) <= 214:
        return False
    scope, slash, rest = name.rpartition("/")
    parts = (scope[1:], rest) if slash else (rest,)
    return (not slash or scope[:1] == "@") and all(map(_is_part, parts))


def _is_part(part: str) -> bool:
    return part[:1] not in {"", "."} and all(
        char.isascii() and (char.isalnum() or char in "-._~") for char in part
    )


def _version(folder: str) -> str:
    said = _manifest(f"{folder}/package.json").get("version")
    if not isinstance(said, str) or not said.isascii() or not said.isprintable():
        return ""
    return f" {said[:_MAX_VERSION_CHARS]}" if said.strip() else ""


def _manifest(path: str) -> dict[str, object]:
    """Read a package.json; one that cannot be read names nothing."""
    import json

    head = disk.read_head(path, MAX_MANIFEST_BYTES)
    if head.fault or len(head.data) > MAX_MANIFEST_BYTES:
        return {}
    try:
        found = json.loads(head.data)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
