"""A mirror in a folder, which goes on a disk from one network to the other. `hub.json` says which hub
it is of, `skills/NAMESPACE/NAME/VERSION.json` is a release with its signatures, `logs/NAMESPACE.json`
a namespace's log of approvals, and `blobs/SHA256` an archive.

Each file is there whole or not at all, and an archive before the release that names it.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from metier.discover.io import disk
from metier.errors import IntegrityError, RefusedError, StoreError
from metier.hub.examine import MAX_ARCHIVE_BYTES
from metier.standard.semver import read_version
from metier.store.io import safe_files
from metier.supply.approvals import LogCopy, LogEntry
from metier.supply.safe_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DOCUMENT_BYTES = 64 << 20
"""Of a log, which is the longest."""
ENDING = ".json"
ABOUT = "hub.json"
LOGS, SKILLS, BLOBS = "logs", "skills", "blobs"
_ABOUT_FIELDS = ("name", "id", "key", "key_id")


class MirrorFolder:
    """Reads and writes a mirror."""

    def __init__(self, folder: str, home: str | None) -> None:
        """Know where it is."""
        self.folder, self.home = folder, home

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep others from writing to it; what a mirror that was killed left half-written goes."""
        self._make(self.folder)
        try:
            with safe_files.hold_lock(f"{self.folder}/.lock"):
                for top, _folders, files in os.walk(self.folder):
                    for name in files:
                        if name.endswith(".tmp"):
                            os.unlink(f"{top}/{name}")
                yield
        except OSError as error:
            raise self._unwritten(error) from error

    # --- reading

    def about(self) -> dict[str, Any]:
        """Say which hub it is a mirror of."""
        found = self._document(ABOUT)
        if found is None or not all(isinstance(found.get(one), str) for one in _ABOUT_FIELDS):
            raise StoreError(
                f"{self.folder} is no mirror of a hub",
                code="hub-mirror",
                hint="make one: metier hub mirror --from URL --select NAMESPACE --to FOLDER",
            )
        return found

    def names(self, namespace: str) -> list[str]:
        """List the skills of a namespace."""
        return sorted(
            name
            for name in self._listed(f"{SKILLS}/{safe_name(namespace)}")
            if not name.startswith(".")
        )

    def releases(self, namespace: str, name: str) -> list[dict[str, Any]]:
        """List the releases of a skill."""
        place = f"{SKILLS}/{safe_name(namespace)}/{safe_name(name)}"
        names = sorted(one for one in self._listed(place) if one.endswith(ENDING))
        found = [self._document(f"{place}/{one}") for one in names]
        return [one for one in found if one is not None]

    def release(self, namespace: str, name: str, version: str) -> dict[str, Any]:
        """Give a release."""
        found = self._document(_place(namespace, name, version))
        if found is None:
            raise self._damaged(f"{namespace}/{name}@{version}")
        return found

    def archive(self, told: dict[str, Any]) -> bytes:
        """Give an archive."""
        path = f"{self.folder}/{BLOBS}/{safe_name(str(told['archive']))}"
        whole = disk.read_whole(path, lambda _head: MAX_ARCHIVE_BYTES)
        if whole.fault:
            raise self._damaged(f"{told['name']} {told['version']}")
        return whole.data

    def log(self, namespace: str) -> LogCopy:
        """Give the log of a namespace."""
        found = self.known_log(namespace)
        if found is None:
            raise self._damaged(f"the log of {namespace}")
        return found

    def known_log(self, namespace: str) -> LogCopy | None:
        """Give the log of a namespace, where it was mirrored."""
        found = self._document(f"{LOGS}/{safe_name(namespace)}{ENDING}")
        if found is None:
            return None
        try:
            entries = tuple(
                LogEntry(int(row["number"]), *(str(row[one]) for one in LogEntry._fields[1:]))
                for row in found["entries"]
            )
            return LogCopy(entries, str(found["signature"]))
        except (KeyError, TypeError, ValueError):
            raise self._damaged(f"the log of {namespace}") from None

    # --- writing

    def begin(self, about: dict[str, Any]) -> None:
        """Note which hub it is of. A folder is a mirror of one hub."""
        known = self._document(ABOUT)
        if known is not None and known.get("key") != about["key"]:
            raise RefusedError(
                f"{self.folder} is a mirror of another hub, or of one with another key",
                code="hub-mirror",
                hint="use another folder",
            )
        if known is None:
            self._write(ABOUT, {"format": 1, **{one: about.get(one, "") for one in _ABOUT_FIELDS}})

    def state_of(self, told: dict[str, Any]) -> str:
        """Give the state of a release that is here whole."""
        found = self._document(_place(told["namespace"], told["name"], told["version"]))
        if found is None or any(found.get(one) != told.get(one) for one in ("digest", "state")):
            return ""
        archive = str(found.get("archive", ""))
        whole = disk.read_whole(f"{self.folder}/{BLOBS}/{safe_name(archive)}", lambda _head: 0)
        good = not whole.fault and whole.sha256.hex() == archive
        return str(found.get("state", "")) if good else ""

    def put(self, told: dict[str, Any], data: bytes) -> str:
        """Keep a release: its archive first."""
        sha256 = hashlib.sha256(data).hexdigest()
        self._make(f"{self.folder}/{BLOBS}")
        safe_files.replace_file(f"{self.folder}/{BLOBS}/{sha256}", data)
        self._write(_place(told["namespace"], told["name"], told["version"]), told)
        return str(told["state"])

    def withdraw(self, told: dict[str, Any]) -> bool:
        """Note that a release that is here was yanked."""
        place = _place(told["namespace"], told["name"], told["version"])
        found = self._document(place)
        if found is None or found.get("state") == "yanked":
            return False
        self._write(place, {**found, "state": "yanked", "reason": str(told.get("reason", ""))})
        return True

    def put_log(self, namespace: str, log: LogCopy) -> None:
        """Keep a log."""
        rows = [one._asdict() for one in log.entries]
        self._write(
            f"{LOGS}/{safe_name(namespace)}{ENDING}", {"entries": rows, "signature": log.signature}
        )

    # --- files

    def _listed(self, place: str) -> list[str]:
        try:
            return os.listdir(f"{self.folder}/{place}")
        except OSError:
            return []

    def _document(self, place: str) -> dict[str, Any] | None:
        """Read a file; nothing where there is none."""
        path = f"{self.folder}/{place}"
        if not disk.is_there(path):
            return None
        head = disk.read_head(path, MAX_DOCUMENT_BYTES)
        try:
            found = json.loads(head.data) if not head.fault else None
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise self._damaged(place)
        return found

    def _write(self, place: str, told: dict[str, Any]) -> None:
        path = f"{self.folder}/{place}"
        self._make(path.rpartition("/")[0])
        safe_files.replace_file(path, json.dumps(told, indent=1, sort_keys=True).encode() + b"\n")

    def _make(self, folder: str) -> None:
        try:
            safe_files.make_folder(folder, self.home)
        except OSError as error:
            raise self._unwritten(error) from error

    def _unwritten(self, error: OSError) -> StoreError:
        return StoreError(
            f"the mirror {self.folder} cannot be written: {safe_files.error_in_words(error)}",
            hint="check the disk, and who owns the folder. Doing it again goes on from here",
        )

    def _damaged(self, what: str) -> IntegrityError:
        return IntegrityError(
            f"the mirror {self.folder} is damaged: {what}",
            code="hub-mirror",
            hint="mirror it again from the hub",
        )


def _place(namespace: str, name: str, version: str) -> str:
    """Give where a release lies; a version that is none leads nowhere."""
    read = read_version(version)
    text = read.text if read is not None else ""
    return f"{SKILLS}/{safe_name(namespace)}/{safe_name(name)}/{safe_name(text + ENDING)}"
