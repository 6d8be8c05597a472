"""Keeps the bytes of what was published: a folder on this machine, or any bucket that obstore can
reach (S3 and its likes, Google Cloud Storage, Azure). A key is written once, and never changed.
"""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qs, urlsplit, urlunsplit

from metier.errors import NotFoundError, StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

ANSWER_WITHIN = "30s"
RETRY_FOR = timedelta(seconds=20)
"""How long a bucket that does not answer is asked again; then the request is told."""
GONE_HINT = "run 'metier hub check' to see what else is missing, and restore a backup"


class Objects(Protocol):
    """Bytes by their keys. Keys are of our own making: letters, digits, `-`, `.` and `/`."""

    def put(self, key: str, data: bytes) -> None:
        """Keep bytes. They are safe once this returns; a half-written object is never seen."""

    def get(self, key: str) -> bytes:
        """Give the bytes of a key."""

    def size(self, key: str) -> int | None:
        """Give how many bytes a key has; nothing where there is no such key."""

    def delete(self, key: str) -> None:
        """Take a key away, if it is there."""

    def keys(self, prefix: str) -> Iterator[tuple[str, int, float]]:
        """Give every key below a prefix, with its size and when it was written."""


def blob_key(sha256: str) -> str:
    """Give the key of an archive."""
    return f"blobs/{sha256[:2]}/{sha256}"


def upload_key(ident: str, number: int) -> str:
    """Give the key of one piece of an upload."""
    return f"uploads/{ident}/{number:012d}"


def open_objects(url: str) -> Objects:
    """Open the store that a URL names: a path, `file:///…`, `s3://bucket/prefix?endpoint=…`, `gs://`
    or `az://`.
    """
    if "://" not in url:
        return FolderObjects(url)
    if url.startswith("file://"):
        return FolderObjects(url.removeprefix("file://"))
    if not url.startswith(("s3://", "gs://", "az://")):
        raise UsageError(
            f"the hub cannot keep objects at '{url.partition(':')[0]}'",
            hint="write a folder, s3://bucket/prefix, gs://bucket/prefix or az://account/container",
        )
    return BucketObjects(url)


class FolderObjects:
    """A folder on this machine."""

    def __init__(self, folder: str) -> None:
        """Make the folder; nobody else on this machine can read it."""
        self.folder = os.path.abspath(folder)
        try:
            os.makedirs(self.folder, 0o700, exist_ok=True)
        except OSError as error:
            raise _failed(self.folder, error) from error

    def put(self, key: str, data: bytes) -> None:
        """Write a file beside its place, and move it there once it is on the disk."""
        path = f"{self.folder}/{key}"
        above = os.path.dirname(path)
        aside = f"{above}/.{secrets.token_hex(8)}.part"
        try:
            os.makedirs(above, 0o700, exist_ok=True)
            try:
                file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with open(file, "wb") as out:
                    out.write(data)
                    out.flush()
                    os.fsync(out.fileno())
                os.replace(aside, path)
            except BaseException:
                with suppress(OSError):
                    os.unlink(aside)
                raise
            self._settle(above)
        except OSError as error:
            raise _failed(path, error) from error

    def _settle(self, folder: str) -> None:
        """Have the disk know of a new name, and of the folders that were made for it."""
        while True:
            number = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(number)
            finally:
                os.close(number)
            if folder == self.folder:
                return
            folder = os.path.dirname(folder)

    def get(self, key: str) -> bytes:
        """Read a file."""
        try:
            with open(f"{self.folder}/{key}", "rb") as file:
                return file.read()
        except FileNotFoundError as error:
            raise _gone(key) from error
        except OSError as error:
            raise _failed(key, error) from error

    def size(self, key: str) -> int | None:
        """Stat a file."""
        try:
            return os.stat(f"{self.folder}/{key}").st_size
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _failed(key, error) from error

    def delete(self, key: str) -> None:
        """Remove a file."""
        try:
            os.unlink(f"{self.folder}/{key}")
        except FileNotFoundError:
            pass
        except OSError as error:
            raise _failed(key, error) from error

    def keys(self, prefix: str) -> Iterator[tuple[str, int, float]]:
        """Walk the folder."""
        for folder, _folders, names in os.walk(f"{self.folder}/{prefix}"):
            for name in names:
                path = f"{folder}/{name}"
                with suppress(FileNotFoundError):
                    found = os.stat(path)
                    yield path[len(self.folder) + 1 :], found.st_size, found.st_mtime


class BucketObjects:
    """A bucket, or a part of one. Credentials come from the environment, as the vendor's tools read
    them.
    """

    def __init__(self, url: str) -> None:
        """Say where the bucket is; nothing is asked yet."""
        try:
            import obstore
            from obstore.store import from_url
        except ImportError as error:
            raise StoreError(
                "a bucket needs a package that is not installed",
                code="hub-missing",
                hint="pip install 'metier[hub]'",
            ) from error
        parts = urlsplit(url)
        told = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        options: dict[str, Any] = {"timeout": ANSWER_WITHIN, "connect_timeout": "5s"}
        config: dict[str, Any] = {}
        endpoint = told.pop("endpoint", "") or os.environ.get("AWS_ENDPOINT_URL", "")
        if endpoint and parts.scheme == "s3":
            config["endpoint"] = endpoint
            options["allow_http"] = endpoint.startswith("http://")
        if "region" in told:
            config["region"] = told.pop("region")
        if told:
            raise UsageError(
                f"the address of the bucket has '{min(told)}', which means nothing here",
                hint="endpoint=URL and region=NAME can be given",
            )
        plain = urlunsplit(parts._replace(query="", fragment=""))
        self.place = plain
        self._obstore = obstore
        opened: Any = from_url  # its types have one variant for each vendor
        self._store: Any = opened(
            plain,
            config=config or None,
            client_options=options,
            retry_config={"max_retries": 3, "retry_timeout": RETRY_FOR},
        )

    def put(self, key: str, data: bytes) -> None:
        """Send an object, in parts where it is large."""
        with self._translated(key):
            self._obstore.put(self._store, key, data)

    def get(self, key: str) -> bytes:
        """Fetch an object."""
        with self._translated(key):
            return bytes(self._obstore.get(self._store, key).bytes())

    def size(self, key: str) -> int | None:
        """Ask for an object's head."""
        try:
            with self._translated(key):
                return int(self._obstore.head(self._store, key)["size"])
        except NotFoundError:
            return None

    def delete(self, key: str) -> None:
        """Take an object away."""
        with suppress(NotFoundError), self._translated(key):
            self._obstore.delete(self._store, key)

    def keys(self, prefix: str) -> Iterator[tuple[str, int, float]]:
        """List the bucket."""
        with self._translated(prefix):
            for page in self._obstore.list(self._store, prefix):
                for one in page:
                    yield one["path"], one["size"], one["last_modified"].timestamp()

    @contextmanager
    def _translated(self, key: str) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except FileNotFoundError as error:
            raise _gone(key) from error
        except (BaseError, OSError) as error:
            said = " ".join(str(error).split())[:200]
            raise StoreError(
                f"the hub's object store {self.place} does not answer: {said}",
                code="hub-objects",
                hint="check --objects, its credentials, and that the store is running",
            ) from error


def _gone(key: str) -> NotFoundError:
    return NotFoundError(f"the object {key} is gone", code="hub-object", hint=GONE_HINT)


def _failed(path: str, error: OSError) -> StoreError:
    return StoreError(
        f"the hub cannot keep objects at {path}: {error.strerror}",
        code="hub-objects",
        hint="check --objects, the disk, and who owns the folder",
    ).with_details(why=error.strerror)
