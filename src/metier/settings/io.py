"""Reads and writes configuration files, and says where they and metier's own data lie on this machine."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager

from metier.errors import ConfigError, NotFoundError, StoreError, closest
from metier.fast import TYPE_CHECKING
from metier.settings.merge import ConfigSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from metier.settings.merge import ConfigLayer, Rule

    Env = Mapping[str, str]

CONFIG_NAME = "metier.toml"
PROJECT_CONFIG = ".metier/metier.toml"
ORGANISATION_CONFIG = "/etc/metier/metier.toml"
POLICY_FILE = "/etc/metier/policy.toml"
POLICY_KEY = "/etc/metier/policy.pub"
"""Whose signature the machine's policy must have, where this file is there."""
MAX_CONFIG_BYTES = 256 << 10
MAX_KEY_PARTS = 64
MAX_KEY_SHOWN = 100
"""Characters of a key that an error repeats."""
"""Reading a key takes time with the square of its parts."""


def home_of(env: Env, *, own: bool) -> str | None:
    """Give the home folder, or nothing when none is known. Only for this process's own environment
    is the system asked.
    """
    home = (
        env.get("HOME")
        or (env.get("USERPROFILE") if os.name == "nt" else None)
        or (os.path.expanduser("~") if own else "")
    )
    return home.rstrip("/") or "/" if home and os.path.isabs(home) else None


def data_folder(env: Env, home: str | None) -> str | None:
    """Give `METIER_HOME`, or the platform's folder for user data."""
    return env.get("METIER_HOME") or _platform_folder(
        env, home, "XDG_DATA_HOME", ".local/share", "LOCALAPPDATA"
    )


def config_file(env: Env, home: str | None) -> str | None:
    """Give `METIER_CONFIG`, or the platform's place for it."""
    folder = _platform_folder(env, home, "XDG_CONFIG_HOME", ".config", "APPDATA")
    return env.get("METIER_CONFIG") or (f"{folder}/{CONFIG_NAME}" if folder else None)


def _platform_folder(
    env: Env, home: str | None, xdg: str, fallback: str, windows: str
) -> str | None:
    if sys.platform == "win32":
        base = env.get(windows) or home
        return f"{base}/metier" if base else None
    if sys.platform == "darwin":
        return f"{home}/Library/Application Support/metier" if home else None
    base = env.get(xdg) or (f"{home}/{fallback}" if home else None)
    return f"{base}/metier" if base else None


def project_root(candidates: Sequence[str], markers: Sequence[str]) -> str:
    """Give the nearest folder that holds a marker; the working folder itself when there is none
    (CX-23).
    """
    for folder in candidates:
        if any(os.path.lexists(f"{folder}/{marker}") for marker in markers):
            return folder
    return candidates[0]


def read_config(path: str, layer: ConfigLayer) -> ConfigSource | None:
    """Read one configuration file; `None` when there is none. What cannot be parsed is an error
    with a place.
    """
    if not os.path.lexists(path):
        return None
    return parse_config(path, layer, _config_bytes(path))


def parse_config(path: str, layer: ConfigLayer, data: bytes) -> ConfigSource:
    """Parse the bytes of a configuration file."""
    if not data.strip():
        return ConfigSource(layer, path, "", {})
    import tomllib  # most machines have no configuration file

    try:
        text = data.decode("utf-8-sig")
        return ConfigSource(layer, path, text, tomllib.loads(_with_short_keys(text)))
    except (
        ValueError,
        RecursionError,
    ) as error:  # tomllib's own error and Unicode's are both ValueErrors
        raise ConfigError(
            f"{path} is not valid TOML: {error}", hint="correct the line named above"
        ) from error


def _config_bytes(path: str) -> bytes:
    # O_NONBLOCK: a pipe in its place must not hang the reader.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        file = os.open(os.path.realpath(path), flags)
        try:
            found = os.fstat(file)
            regular = stat.S_ISREG(found.st_mode)
            data = os.read(file, MAX_CONFIG_BYTES) if regular else b""
        finally:
            os.close(file)
    except OSError as error:
        raise _unread(path, error.strerror or str(error)) from error
    if not regular:
        raise _unread(path, "not a regular file")
    if found.st_size > MAX_CONFIG_BYTES:
        raise ConfigError(
            f"{path} has {found.st_size:,} bytes; a configuration has at most {MAX_CONFIG_BYTES:,}",
            hint="shorten it",
        )
    return data


def _unread(path: str, why: str) -> ConfigError:
    return ConfigError(
        f"cannot read {path}: {why}", hint="correct METIER_CONFIG or the permissions"
    )


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
    """Add or change one `[[skills.config]]` rule in the user's file, keeping everything else as it
    stands.
    """
    import tomlkit

    with _edited(path) as document:
        empty = not document
        skills = document.setdefault("skills", tomlkit.table(is_super_table=True))
        rules = skills.get("config", [])
        key, value = selector
        inline = not empty and "config" in skills and not isinstance(rules, type(tomlkit.aot()))
        made = tomlkit.inline_table() if inline else tomlkit.table()
        made.update({key: value, "enabled": enabled})
        fresh: Any = tomlkit.array() if inline else tomlkit.aot()
        for rule in [*(rule for rule in rules if rule.get(key) != value), made]:
            fresh.append(rule)
        skills["config"] = fresh


def remove_rules(path: str, is_meant: Callable[[Rule], bool]) -> None:
    """Take `[[skills.config]]` rules out of the user's file, keeping everything else as it stands."""
    from metier.settings.merge import merge

    source = read_config(path, "user")
    read = merge([source]).rules if source is not None else ()
    going = [is_meant(rule) for rule in read]
    if not any(going):
        return
    with _edited(path) as document:
        rules = document["skills"]["config"]
        if len(rules) != len(going):  # somebody else has just changed it
            return
        for at in reversed(range(len(going))):
            if going[at]:
                del rules[at]
        if not rules:
            del document["skills"]["config"]
        if not document["skills"]:
            del document["skills"]


def given_settings(path: str | None) -> dict[str, Any]:
    """Give what the user's file sets, by dotted keys."""
    source = read_config(path, "user") if path else None
    out: dict[str, Any] = {}

    def flatten(values: Mapping[str, Any], before: str) -> None:
        for key, value in values.items():
            if isinstance(value, dict) and value:
                flatten(value, f"{before}{key}.")
            else:
                out[before + key] = value

    flatten(source.values if source else {}, "")
    return out


def given_setting(path: str | None, key: str, defaults: Mapping[str, Any]) -> Any:
    """Give one value of the user's file, or its default; of a table, the values of all its keys.
    What is no setting is not found.
    """
    found = {**defaults, **given_settings(path)}
    if key not in found:
        table = {name: value for name, value in found.items() if name.startswith(f"{key}.")}
        if table:
            return {name.removeprefix(f"{key}."): value for name, value in table.items()}
        near = closest(key, [*found, *(name.partition(".")[0] for name in found)])
        meant = f"did you mean {near}? " if near else ""
        # What is near no setting may be a value that slipped in, and is not repeated.
        raise NotFoundError(
            f"there is no setting '{key[:MAX_KEY_SHOWN]}'" if near else "there is no such setting",
            hint=meant.strip() or "see all settings: metier config list --all",
        )
    return found[key]


def write_setting(path: str | None, key: str, value: str | None) -> None:
    """Set a value in the user's file by its dotted key, or with none take it out, keeping
    everything else as it stands. What the file may not say is refused before it is written.
    """
    import tomllib

    import tomlkit

    from metier.settings.merge import merge

    if not path:
        raise ConfigError("no configuration file is known", hint="set METIER_CONFIG")
    *tables, last = key.split(".")
    with _edited(path) as document:
        table: Any = document
        for name in tables:
            table = table.setdefault(name, tomlkit.table())
        if value is None:
            if table.pop(last, None) is None:
                raise NotFoundError(f"that is not set in {path}", hint="metier config")
            if len(tables) == 1 and not table:
                document.pop(tables[0])
        else:
            try:
                table[last] = tomllib.loads(f"value = {value}")["value"]
            except ValueError:  # a word without quotation marks is a text
                table[last] = value
        text = tomlkit.dumps(document)
        try:
            merge([ConfigSource("user", path, text, tomllib.loads(text))])
        except ConfigError as error:
            raise _without_place(error, path, key) from None


def _without_place(error: ConfigError, path: str, key: str) -> ConfigError:
    """Leave out the line: it is one of a text that was never written."""
    import re

    said = re.sub(rf" at {re.escape(path)}(:\d+)?", "", error.message)
    last = key.rpartition(".")[2]
    return ConfigError(said.replace(f"'{last}' must", f"'{key}' must"), hint=error.hint)


def write_tap(path: str, tap: str, *, listed: bool) -> None:
    """Add a source to `supply.taps` in the user's file, or take it out, keeping everything else as
    it stands.
    """
    import tomlkit

    with _edited(path) as document:
        table = document.setdefault("supply", tomlkit.table())
        taps = [str(one) for one in table.get("taps", []) if str(one) != tap]
        table["taps"] = [*taps, tap] if listed else taps


def write_default_taps(path: str, taps: Sequence[str]) -> None:
    """Write `supply.default_taps` into the user's file, keeping everything else as it stands."""
    import tomlkit

    with _edited(path) as document:
        document.setdefault("supply", tomlkit.table())["default_taps"] = list(taps)


def write_trusted_sources(path: str, sources: Sequence[str]) -> None:
    """Write `trust.trusted_sources` into the user's file, keeping everything else as it stands:
    what is in the list already stays where it is, with its comments.
    """
    import tomlkit

    with _edited(path) as document:
        table = document.setdefault("trust", tomlkit.table())
        known = table.get("trusted_sources")
        if known is None:
            table["trusted_sources"] = list(sources)
            return
        for at in reversed(range(len(known))):
            if str(known[at]) not in sources:
                del known[at]
        for source in sources:
            if source not in [str(one) for one in known]:
                known.append(source)


def write_waiver(path: str, rule: str, name: str, waiver: Mapping[str, Any] | None) -> bool:
    """Put a waiver for a rule in one skill in the place of those that there are in the user's file,
    or with none take them out; tell whether there was one. Everything else stays as it stands.
    """
    try:
        return _write_waiver(path, (rule, name), waiver, inline=False)
    except ConfigError:
        if waiver is None:
            raise
        return _write_waiver(path, (rule, name), waiver, inline=True)  # below a dotted key


def _write_waiver(
    path: str, about: tuple[str, str], waiver: Mapping[str, Any] | None, *, inline: bool
) -> bool:
    import tomlkit

    with _edited(path) as document:
        table = document.setdefault("trust", tomlkit.table(is_super_table=True))
        known = table.get("waivers", [])
        others = [one for one in known if (one.get("rule"), one.get("name")) != about]
        inline = (
            inline
            or isinstance(table, type(tomlkit.inline_table()))
            or ("waivers" in table and not isinstance(known, type(tomlkit.aot())))
        )
        fresh: Any = tomlkit.array() if inline else tomlkit.aot()
        for one in others:
            fresh.append(one)
        if waiver is not None:
            made = tomlkit.inline_table() if inline else tomlkit.table()
            made.update(waiver)
            fresh.append(made)
        if len(fresh):
            table["waivers"] = fresh
        else:
            table.pop("waivers", None)
        if not table:
            document.remove("trust")
    return len(others) < len(known)


@contextmanager
def _edited(path: str) -> Iterator[Any]:
    """Read the user's file, and write it again as it was changed meanwhile."""
    import tomlkit

    path = os.path.realpath(path)  # a linked file stays a link
    with _alone(path):
        source = read_config(path, "user")
        document = tomlkit.parse(source.text if source else "")
        yield document
        text = tomlkit.dumps(document)
        _check_written(path, text, document)
        _replace(path, text)


def _check_written(path: str, text: str, document: Any) -> None:
    """See to it that a file says what it was changed to; a layout that cannot be edited so is left
    to its user.
    """
    import tomllib

    try:
        same = tomllib.loads(text) == document.unwrap()
    except ValueError:
        same = False
    if not same:
        raise ConfigError(f"can't edit {path} safely", hint="change it with an editor")


@contextmanager
def _alone(path: str) -> Iterator[None]:
    """Let one process at a time read, change and write a file: two rules given at once are then
    both kept.

    The folder itself is locked, so that no lock file is left behind. Windows opens no folder: there
    the last of two wins.
    """
    folder = os.path.dirname(path) or "."
    descriptor = -1
    try:
        os.makedirs(folder, exist_ok=True)
        if sys.platform != "win32":
            descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise _unwritten(path, error) from error
    if sys.platform == "win32":
        yield
        return
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _replace(path: str, text: str) -> None:
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise _unwritten(path, error) from error


def _unwritten(path: str, error: OSError) -> StoreError:
    return StoreError(
        f"cannot write {path}: {error.strerror}", hint="correct the permissions or METIER_CONFIG"
    )
