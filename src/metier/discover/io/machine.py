"""This machine as skills see it: variables, commands, files, packages, and what people have decided."""

from __future__ import annotations

import os
import time

from metier.discover.io import disk, packages
from metier.fast import TYPE_CHECKING
from metier.settings.io import data_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from metier.model import Digest, Said, Texts

DECISIONS = "trust.json"
DECISIONS_COPY = "trust.copy.json"
"""Where decisions about skills and projects are kept, below METIER_HOME: two identical files."""
AUDIT_FOLDER = "audit"
MAX_DECISIONS_BYTES = 32 << 20


def seconds() -> float:
    """Give the seconds of a clock that only ever goes forward, for measuring."""
    return time.perf_counter()


class HostMachine:
    """This machine, asked for what skills need."""

    def __init__(self, env: Mapping[str, str], home: str | None, project: str = "") -> None:
        """Answer from this environment, home folder and project."""
        self.env = env
        self.home = home
        self.project = project
        self.given: Callable[[], Mapping[str, str]] = dict
        """Gives what a person has given for this conversation alone."""
        self.refused: Callable[[], Texts] = tuple
        """Names that no skill is given, beyond those that are never given."""
        self.warn: Callable[[str], None] = lambda _text: None
        """Told once what a person should know."""
        self.doubt = ""
        """What is wrong with the decisions that were read last."""
        self.later: Callable[[Callable[[], None]], None] = lambda _work: None
        """Takes what can be done after the answer."""
        self.forget_gone: Callable[[], None] = lambda: None
        """Lets places of the user's own be so no more in which nothing lies."""
        self.laid: Mapping[str, str] = {}
        """The digests of what metier itself laid somewhere a moment ago: only a copy of this that one
        question has for itself believes any.
        """
        self._kept: tuple[object, Mapping[str, bool]] = (None, {})
        self._installed: dict[str, tuple[object, frozenset[str]]] | None = None

    def has_env(self, name: str) -> bool:
        """Tell whether a skill that declares a variable would get a value: one that is kept for it,
        or that is set.

        What is kept wins, an empty value too (HE-19). The host's own credentials are there for
        nobody (HE-20).
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
        """Name the secrets that are kept, each with whether it has a value; looked up again when
        they changed.
        """
        folder = data_folder(self.env, self.home)
        if not folder or not os.path.lexists(f"{folder}/secrets"):
            return {}
        from metier.secrets.io import file_store

        files = (file_store.VALUES, file_store.NAMES)
        stamp = tuple(disk.key_of(f"{folder}/secrets/{name}") for name in files)
        if self._kept[0] != stamp:
            self._kept = stamp, file_store.kept_names(folder)
        return self._kept[1]

    def has_command(self, name: str) -> bool:
        """Tell whether a command is on the path; `a|b` asks for either."""
        return any(self._on_path(one) for one in name.split("|"))

    def has_file(self, path: str) -> bool:
        """Tell whether a file exists below the home folder, after every link is followed; nothing
        outside it counts (HE-21).
        """
        return self.file_of(path) is not None

    def file_of(self, path: str) -> str | None:
        """Give the canonical path of a file that a skill asks for; nothing when it is not there,
        not in home or not for skills.

        Not for skills is what the host logs in with, and all that metier keeps (HE-20).
        """
        relative = path.removeprefix("~/")
        if (
            self.home is None
            or relative.startswith(("/", "~"))
            or ".." in relative.split("/")
            or "\0" in relative
        ):
            return None
        written = os.path.normpath(f"{self.home}/{relative}")
        try:
            real = os.path.realpath(written)
        except (OSError, ValueError):  # a name that no file system can have
            return None
        start = os.path.realpath(self.home).rstrip("/") + "/"
        if (
            not real.startswith(start)
            or not os.path.isfile(real)
            or self._is_kept_back(written, real)
        ):
            return None
        return real

    def _is_kept_back(self, written: str, real: str) -> bool:
        """Tell whether a file is the host's or metier's own: by its name, where its links lead, or
        as another name of one.
        """
        from metier.secrets.host_files import host_places, is_among  # few skills ask for a file

        own = data_folder(self.env, self.home)
        linked = [f"{own}/{name}" for name in disk.list_folder(own).links] if own else []
        places = [
            *host_places(self.env, self.home or "/"),
            *(f"{folder}/" for folder in (own, *linked) if folder),
            *linked,
        ]
        reached = [
            os.path.realpath(place) + ("/" if place.endswith("/") else "") for place in places
        ]
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
            self._installed = dict.fromkeys(
                packages.python_folders(self.env, self.home, self.project), (None, frozenset())
            )
        for folder, (stamp, names) in self._installed.items():
            now = disk.key_of(folder)
            if now != stamp:
                names = packages.distributions(folder)  # noqa: PLW2901 - what was found there is out of date
                self._installed[folder] = now, names
            if name in names:
                return True
        return False

    def decisions(self) -> bytes:
        """Give the bytes of the file of decisions, or of both files where they differ; what cannot
        be read gives some that mean nothing.
        """
        folder = data_folder(self.env, self.home)
        if not folder:
            return b""
        # The copy first: it is written last, so one that is there has a first file beside it.
        copy = decision_bytes(f"{folder}/{DECISIONS_COPY}")
        main = decision_bytes(f"{folder}/{DECISIONS}")
        if main and (not copy or copy == main):
            return main
        traces = (f"{folder}/{AUDIT_FOLDER}", f"{folder}/{AUDIT_FOLDER}.key")
        if not (main or copy or any(map(disk.is_there, traces))):
            self.doubt = ""  # nothing was ever decided, and nobody will read that
            return b""
        log = disk.key_of(f"{folder}/{AUDIT_FOLDER}/head.json") or b""
        return b"\0%d\0%s\0%s%s" % (len(main), log.hex().encode(), main, copy)

    def said(self, decisions: bytes) -> Said:
        """Read the decisions."""
        from metier.trust.decision_records import said_by, weigh_files  # most machines have none
        from metier.trust.io import decisions_file

        main, copy = _both_files(decisions)
        folder = data_folder(self.env, self.home)
        found = weigh_files(main, copy, lambda: decisions_file.read_log(folder))
        self.doubt = found.state.doubt
        if self.doubt:
            self.warn(self.doubt)
        if found.fresh or found.old:
            self.later(lambda: decisions_file.begin_record(folder, self.home))
        if any(disk.is_gone(place.path) for place in found.state.own):
            self.later(self.forget_gone)
        return said_by(found.state)

    def stamp(self, path: str) -> str:
        """Condense the stats of a skill's tree, or its content when a stat is too fresh to be
        trusted.
        """
        if path in self.laid:
            return self.laid[path]
        from metier.discover import (
            skill_files,
        )  # few listings meet a skill that somebody decided about

        base, pieces, stamp = skill_files.look_for_stamp(path)
        return stamp.hex() or skill_files.digest(base, pieces) or ""

    def digest(self, path: str) -> Digest | None:
        """Give the digest of a skill's tree, computed from its bytes now."""
        from metier.discover import skill_files

        return skill_files.digest(*skill_files.pieces_of(path))

    def _on_path(self, name: str) -> bool:
        if not name or "\0" in name or not name.isprintable():
            return False
        if (
            "/" in name
        ):  # a place of its own; one that depends on where a script is run says nothing
            return os.path.isabs(name) and os.access(name, os.X_OK) and os.path.isfile(name)
        folders = self.env.get("PATH", os.defpath).split(os.pathsep)
        return any(
            os.access(f"{folder}/{name}", os.X_OK) and os.path.isfile(f"{folder}/{name}")
            for folder in folders
            if folder
        )


def decision_bytes(path: str) -> bytes:
    """Give the bytes of a file of decisions: none where there is no file, and a question mark with
    the reason where it cannot be read, or where nobody can tell whether there is one.
    """
    if not disk.is_there(path):
        why = disk.why_unknown(path)
        return b"?" + why.encode("utf-8", "replace") if why else b""
    head = disk.read_head(path, MAX_DECISIONS_BYTES + 1)
    if not head.fault and head.size > MAX_DECISIONS_BYTES:
        return f"?it has more than {MAX_DECISIONS_BYTES:,} bytes".encode()
    return head.data if not head.fault and head.data else b"?" + head.message.encode()


def _both_files(decisions: bytes) -> tuple[bytes, bytes]:
    if decisions[:1] != b"\0":
        return decisions, b""
    _mark, length, _log, rest = decisions.split(b"\0", 3)
    return rest[: int(length)], rest[int(length) :]


def _is_same(one: str, other: str) -> bool:
    """Tell whether two paths are names of one file."""
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False
