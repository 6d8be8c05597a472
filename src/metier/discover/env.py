"""What this machine, its user and the project say: environment, home, configuration files, installed packages."""

from __future__ import annotations

import os
import sys

from metier.errors import ConfigError, StoreError
from metier.light import TYPE_CHECKING
from metier.settings import Source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from metier.settings import Layer, Rule

CONFIG_NAME = "metier.toml"
PROJECT_CONFIG = ".metier/metier.toml"
ORGANISATION_CONFIG = "/etc/metier/metier.toml"
MAX_CONFIG_BYTES = 1 << 20


def home_of(env: Mapping[str, str]) -> str | None:
    """Give the home folder, or nothing when the system does not know one."""
    home = env.get("HOME") or (env.get("USERPROFILE") if os.name == "nt" else None) or os.path.expanduser("~")
    return home.rstrip("/") or "/" if os.path.isabs(home) else None


def data_folder(env: Mapping[str, str], home: str | None) -> str | None:
    """Give `METIER_HOME`, or the platform's folder for user data."""
    return env.get("METIER_HOME") or _platform_folder(env, home, "XDG_DATA_HOME", ".local/share", "LOCALAPPDATA")


def config_file(env: Mapping[str, str], home: str | None) -> str | None:
    """Give `METIER_CONFIG`, or the platform's place for it."""
    folder = _platform_folder(env, home, "XDG_CONFIG_HOME", ".config", "APPDATA")
    return env.get("METIER_CONFIG") or (f"{folder}/{CONFIG_NAME}" if folder else None)


def _platform_folder(env: Mapping[str, str], home: str | None, xdg: str, fallback: str, windows: str) -> str | None:
    if sys.platform == "win32":
        base = env.get(windows) or home
        return f"{base}/metier" if base else None
    if sys.platform == "darwin":
        return f"{home}/Library/Application Support/metier" if home else None
    base = env.get(xdg) or (f"{home}/{fallback}" if home else None)
    return f"{base}/metier" if base else None


def project_root(candidates: Sequence[str], markers: Sequence[str]) -> str:
    """Give the nearest folder that holds a marker; the working folder itself when there is none (CX-23)."""
    for folder in candidates:
        if any(os.path.lexists(f"{folder}/{marker}") for marker in markers):
            return folder
    return candidates[0]


def read_config(path: str, layer: Layer) -> Source | None:
    """Read one configuration file; `None` when there is none. What cannot be parsed is an error with a place."""
    try:
        with open(path, "rb") as file:
            raw = file.read(MAX_CONFIG_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}", hint="correct METIER_CONFIG or the permissions") from error
    import tomllib  # most machines have no configuration file

    try:
        text = raw.decode()
        return Source(layer, path, text, tomllib.loads(text))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}", hint="correct the line named above") from error


def canonical_rule(rule: Rule, home: str | None) -> Rule:
    """Take a rule's path for what it names: `~` expanded, links resolved (CX-39)."""
    if not rule.path:
        return rule
    path = f"{home}{rule.path[1:]}" if home and rule.path.startswith("~/") else rule.path
    return rule._replace(path=os.path.realpath(path.removesuffix("/SKILL.md")))


def write_rule(path: str, selector: tuple[str, str], *, enabled: bool) -> None:
    """Add or change one `[[skills.config]]` rule in the user's file, keeping everything else as it stands."""
    import tomlkit

    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        text = ""
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}", hint="correct the permissions") from error
    document: Any = tomlkit.parse(text)
    rules = document.setdefault("skills", tomlkit.table(is_super_table=True)).setdefault("config", tomlkit.aot())
    key, value = selector
    kept = [rule for rule in rules if rule.get(key) != value]
    del rules[:]
    for rule in kept:
        rules.append(rule)
    table = tomlkit.table()
    table[key] = value
    table["enabled"] = enabled
    rules.append(table)
    _replace(path, tomlkit.dumps(document))


def _replace(path: str, text: str) -> None:
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise StoreError(f"cannot write {path}: {error.strerror}", hint="correct the permissions or METIER_CONFIG") from error


def site_folders(root: str, env: Mapping[str, str]) -> list[str]:
    """List the site-packages of the active environment and of the project's own."""
    found: list[str] = []
    for base in dict.fromkeys((env.get("VIRTUAL_ENV", ""), f"{root}/.venv")):
        library = f"{base}/lib"
        if base and os.path.isdir(library):
            found += [f"{library}/{name}/site-packages" for name in sorted(os.listdir(library)) if name.startswith("python")]
    return [folder for folder in found if os.path.isdir(folder)]


def shipped_skills(site: str) -> list[str]:
    """List the folders of skills that installed distributions ship, from their records."""
    import re

    shipped = re.compile(rb"^([^,\n]*?/skills)/[^/,\n]+/SKILL\.md,", re.MULTILINE)
    found: set[str] = set()
    for name in sorted(os.listdir(site)):
        if not name.endswith(".dist-info"):
            continue
        try:
            with open(f"{site}/{name}/RECORD", "rb") as file:
                record = file.read(8 << 20)
        except OSError:
            continue
        if b"/SKILL.md," in record:
            found.update(match[1].decode(errors="replace") for match in shipped.finditer(record))
    return [f"{site}/{path}" for path in sorted(found) if ".." not in path.split("/")]


class HostMachine:
    """This machine, asked for what skills need."""

    def __init__(self, env: Mapping[str, str], home: str | None) -> None:
        """Answer from this environment and home folder."""
        self.env = env
        self.home = home

    def has_env(self, name: str) -> bool:
        """Tell whether a variable is set and not empty."""
        return bool(self.env.get(name))

    def has_command(self, name: str) -> bool:
        """Tell whether a command is on the path; `a|b` asks for either."""
        return any(self._on_path(one) for one in name.split("|"))

    def has_file(self, path: str) -> bool:
        """Tell whether a file exists below the home folder; nothing outside it counts (HE-21)."""
        relative = path.removeprefix("~/")
        if self.home is None or relative.startswith(("/", "~")) or ".." in relative.split("/"):
            return False
        return os.path.isfile(f"{self.home}/{relative}")

    def _on_path(self, name: str) -> bool:
        if not name or "/" in name:
            return False
        folders = self.env.get("PATH", os.defpath).split(os.pathsep)
        return any(os.access(f"{folder}/{name}", os.X_OK) and os.path.isfile(f"{folder}/{name}") for folder in folders if folder)
