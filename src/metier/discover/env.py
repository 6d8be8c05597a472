"""What this machine, its user and the project say: environment, home, configuration files, installed packages."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager

from metier.discover import disk
from metier.errors import ConfigError, StoreError
from metier.light import TYPE_CHECKING
from metier.settings import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from metier.model import Digest, Said
    from metier.settings import Layer, Rule

CONFIG_NAME = "metier.toml"
PROJECT_CONFIG = ".metier/metier.toml"
ORGANISATION_CONFIG = "/etc/metier/metier.toml"
MAX_CONFIG_BYTES = 256 << 10
MAX_KEY_PARTS = 64
"""Reading a key takes time with the square of its parts."""
MAX_RECORD_BYTES = 8 << 20
DECISIONS = "trust.json"
"""Where decisions about skills and projects are kept, below METIER_HOME."""
MAX_DECISIONS_BYTES = 32 << 20


def home_of(env: Mapping[str, str], *, own: bool) -> str | None:
    """Give the home folder, or nothing when none is known. Only for this process's own environment is the system asked."""
    home = env.get("HOME") or (env.get("USERPROFILE") if os.name == "nt" else None) or (os.path.expanduser("~") if own else "")
    return home.rstrip("/") or "/" if home and os.path.isabs(home) else None


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
    if not os.path.lexists(path):
        return None
    head = disk.read_head(os.path.realpath(path), MAX_CONFIG_BYTES)  # a pipe in its place must not hang the reader
    if head.fault:
        raise ConfigError(f"cannot read {path}: {head.message}", hint="correct METIER_CONFIG or the permissions")
    if head.size > MAX_CONFIG_BYTES:
        raise ConfigError(f"{path} has {head.size:,} bytes; a configuration has at most {MAX_CONFIG_BYTES:,}", hint="shorten it")
    if not head.data.strip():
        return Source(layer, path, "", {})
    import tomllib  # most machines have no configuration file

    try:
        text = head.data.decode("utf-8-sig")
        return Source(layer, path, text, tomllib.loads(_with_short_keys(text)))
    except (ValueError, RecursionError) as error:  # tomllib's own error and Unicode's are both ValueErrors
        raise ConfigError(f"{path} is not valid TOML: {error}", hint="correct the line named above") from error


def _with_short_keys(text: str) -> str:
    for number, line in enumerate(text.splitlines(), 1):
        if line.partition("=")[0].count(".") > MAX_KEY_PARTS:
            raise ValueError(f"a key is nested too deeply (at line {number})")
    return text


def canonical_rule(rule: Rule, home: str | None) -> Rule:
    """Take a rule's path for what it names: `~` expanded, links resolved (CX-39)."""
    if not rule.path:
        return rule
    path = f"{home}{rule.path[1:]}" if home and rule.path.startswith("~/") else rule.path
    return rule._replace(path=os.path.realpath(path.removesuffix("/SKILL.md")))


def write_rule(path: str, selector: tuple[str, str], *, enabled: bool) -> None:
    """Add or change one `[[skills.config]]` rule in the user's file, keeping everything else as it stands."""
    import tomlkit

    path = os.path.realpath(path)  # a linked file stays a link
    with _alone(path):
        _change_rule(path, selector, tomlkit, enabled=enabled)


def _change_rule(path: str, selector: tuple[str, str], tomlkit: Any, *, enabled: bool) -> None:
    source = read_config(path, "user")
    text = source.text if source else ""
    document: Any = tomlkit.parse(text)
    skills = document.setdefault("skills", tomlkit.table(is_super_table=True))
    rules = skills.get("config", [])
    key, value = selector
    inline = bool(text) and "config" in skills and not isinstance(rules, type(tomlkit.aot()))
    made = tomlkit.inline_table() if inline else tomlkit.table()
    made.update({key: value, "enabled": enabled})
    fresh = tomlkit.array() if inline else tomlkit.aot()
    for rule in [*(rule for rule in rules if rule.get(key) != value), made]:
        fresh.append(rule)
    skills["config"] = fresh
    _replace(path, tomlkit.dumps(document))


def write_tap(path: str, tap: str, *, listed: bool) -> None:
    """Add a source to `supply.taps` in the user's file, or take it out, keeping everything else as it stands."""
    import tomlkit

    path = os.path.realpath(path)
    with _alone(path):
        source = read_config(path, "user")
        document: Any = tomlkit.parse(source.text if source else "")
        table = document.setdefault("supply", tomlkit.table())
        taps = [str(one) for one in table.get("taps", []) if str(one) != tap]
        table["taps"] = [*taps, tap] if listed else taps
        _replace(path, tomlkit.dumps(document))


@contextmanager
def _alone(path: str) -> Iterator[None]:
    """Let one process at a time read, change and write a file: two rules given at once are then both kept.

    The folder itself is locked, so that no lock file is left behind.
    """
    folder = os.path.dirname(path) or "."
    try:
        os.makedirs(folder, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}", hint="correct the permissions or METIER_CONFIG") from error
    try:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


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
        names = disk.list_folder(library).folders if base else ()
        found += [f"{library}/{name}/site-packages" for name in names if name.startswith("python")]
    return [folder for folder in found if os.path.isdir(folder)]


def python_folders(env: Mapping[str, str], home: str | None, project: str) -> list[str]:
    """List where Python packages lie: of the active environment, the project's own, and the Python on the path or this one."""
    found = site_folders(project or "/nowhere", env)
    folders = [folder for folder in env.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]
    programs = [f"{folder}/{name}" for folder in folders for name in ("python3", "python")]
    for program in [*(path for path in programs if os.path.isfile(path) and os.access(path, os.X_OK)), sys.executable or "/"]:
        bases = dict.fromkeys(os.path.dirname(os.path.dirname(path)) for path in (program, os.path.realpath(program)))
        own = [folder for base in bases for folder in _packages_below(base)]
        if own:  # a mere script that starts a Python has none beside it
            found += own
            break
    found += _packages_below(f"{home}/.local") if home else []
    return list(dict.fromkeys(found))


def _packages_below(base: str) -> list[str]:
    pythons = [f"{base}/lib/{name}" for name in disk.list_folder(f"{base}/lib").folders if name.startswith("python")]
    found = [f"{python}/{kind}" for python in pythons for kind in ("site-packages", "dist-packages")]
    return [folder for folder in (*found, f"{base}/Lib/site-packages") if os.path.isdir(folder)]


def distributions(site: str) -> frozenset[str]:
    """Name the distributions that are installed in a folder, each in its normalised form."""
    from metier.standard.distributions import normalised

    listing = disk.list_folder(site)
    kinds = (".dist-info", ".egg-info")
    return frozenset(normalised(name.rpartition(".")[0].partition("-")[0])
                     for name in (*listing.folders, *listing.files) if name.endswith(kinds))  # fmt: skip


def records(site: str) -> list[str]:
    """List the records of installed distributions: what each of them put where."""
    return [f"{site}/{name}/RECORD" for name in disk.list_folder(site).folders if name.endswith(".dist-info")]


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


class HostMachine:
    """This machine, asked for what skills need."""

    def __init__(self, env: Mapping[str, str], home: str | None, project: str = "") -> None:
        """Answer from this environment, home folder and project."""
        self.env = env
        self.home = home
        self.project = project
        self.given: Callable[[], Mapping[str, str]] = dict
        """Gives what a person has given for this conversation alone."""
        self.refused: Callable[[], tuple[str, ...]] = tuple
        """Names that no skill is given, beyond those that are never given."""
        self._kept: tuple[object, Mapping[str, bool]] = (None, {})
        self._installed: dict[str, tuple[object, frozenset[str]]] | None = None

    def has_env(self, name: str) -> bool:
        """Tell whether a skill that declares a variable would get a value: one that is kept for it, or that is set.

        What is kept wins, an empty value too (HE-19). The host's own credentials are there for nobody (HE-20).
        """
        from metier.secrets.names import in_environment, own_name  # few skills declare a variable

        if self.refusal(name):
            return False
        name = own_name(name)
        given = self.given()
        if name in given:
            return bool(given[name].strip())
        kept = self._names_kept()
        return kept[name] if name in kept else bool(in_environment(name, self.env))

    def _names_kept(self) -> Mapping[str, bool]:
        """Name the secrets that are kept, each with whether it has a value; looked up again when they changed."""
        folder = data_folder(self.env, self.home)
        if not folder or not os.path.lexists(f"{folder}/secrets"):
            return {}
        from metier.secrets import kept

        stamp = tuple(disk.key_of(f"{folder}/secrets/{name}") for name in kept.FILES)
        if self._kept[0] != stamp:
            self._kept = stamp, kept.names_below(folder)
        return self._kept[1]

    def has_command(self, name: str) -> bool:
        """Tell whether a command is on the path; `a|b` asks for either."""
        return any(self._on_path(one) for one in name.split("|"))

    def has_file(self, path: str) -> bool:
        """Tell whether a file exists below the home folder, after every link is followed; nothing outside it counts (HE-21)."""
        return self.file_of(path) is not None

    def file_of(self, path: str) -> str | None:
        """Give the canonical path of a file that a skill asks for; nothing when it is not there, not in home or not for skills.

        Not for skills is what the host logs in with, and all that metier keeps (HE-20).
        """
        relative = path.removeprefix("~/")
        if self.home is None or relative.startswith(("/", "~")) or ".." in relative.split("/") or "\0" in relative:
            return None
        written = os.path.normpath(f"{self.home}/{relative}")
        try:
            real = os.path.realpath(written)
        except (OSError, ValueError):  # a name that no file system can have
            return None
        start = os.path.realpath(self.home).rstrip("/") + "/"
        if not real.startswith(start) or not os.path.isfile(real) or self._is_kept_back(written, real):
            return None
        return real

    def _is_kept_back(self, written: str, real: str) -> bool:
        """Tell whether a file is the host's or metier's own: by its name, where its links lead, or as another name of one."""
        from metier.secrets.places import host_places, is_among  # few skills ask for a file

        own = data_folder(self.env, self.home)
        linked = [f"{own}/{name}" for name in disk.list_folder(own).links] if own else []
        places = [*host_places(self.env, self.home or "/"), *(f"{folder}/" for folder in (own, *linked) if folder), *linked]
        reached = [os.path.realpath(place) + ("/" if place.endswith("/") else "") for place in places]
        if is_among(written, [*places, *reached]) or is_among(real, [*places, *reached]):
            return True
        return any(_is_same(real, place) for place in reached if not place.endswith("/"))

    def refusal(self, name: str) -> str:
        """Say why no skill is given a variable; nothing when one may be."""
        from metier.secrets.names import refusal

        return refusal(name, self.env, self.refused())

    def has_package(self, name: str) -> bool:
        """Tell whether a Python distribution is installed where a skill's script would find it."""
        if self._installed is None:
            self._installed = dict.fromkeys(python_folders(self.env, self.home, self.project), (None, frozenset()))
        for folder, (stamp, names) in self._installed.items():
            now = disk.key_of(folder)
            if now != stamp:
                names = distributions(folder)  # noqa: PLW2901 - what was found there is out of date
                self._installed[folder] = now, names
            if name in names:
                return True
        return False

    def decisions(self) -> bytes:
        """Give the bytes of the file of decisions; what cannot be read gives some that mean nothing."""
        folder = data_folder(self.env, self.home)
        path = f"{folder}/{DECISIONS}"
        if not folder or not disk.is_there(path):
            return b""
        head = disk.read_head(path, MAX_DECISIONS_BYTES)
        return head.data if not head.fault and head.data and head.size <= MAX_DECISIONS_BYTES else b"?" + head.message.encode()

    def said(self, decisions: bytes) -> Said:
        """Read the decisions."""
        from metier.trust.listing import said_in  # most machines have none

        return said_in(decisions)

    def stamp(self, path: str) -> str:
        """Condense the stats of a skill's tree, or its content when a stat is too fresh to be trusted."""
        from metier.discover import trees  # few listings meet a skill that somebody decided about

        base, pieces = trees.pieces_of(path)
        return trees.stamp(base, pieces).hex() or self.digest(path) or ""

    def digest(self, path: str) -> Digest | None:
        """Give the digest of a skill's tree, computed from its bytes now."""
        from metier.discover import trees

        return trees.digest(*trees.pieces_of(path))

    def _on_path(self, name: str) -> bool:
        if not name or "\0" in name or not name.isprintable():
            return False
        if "/" in name:  # a place of its own; one that depends on where a script is run says nothing
            return os.path.isabs(name) and os.access(name, os.X_OK) and os.path.isfile(name)
        folders = self.env.get("PATH", os.defpath).split(os.pathsep)
        return any(os.access(f"{folder}/{name}", os.X_OK) and os.path.isfile(f"{folder}/{name}") for folder in folders if folder)


def _is_same(one: str, other: str) -> bool:
    """Tell whether two paths are names of one file."""
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False
