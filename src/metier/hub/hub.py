"""Opens a hub: its database, its objects, its key, and the library that judges what is published."""

from __future__ import annotations

import os
import secrets
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import ConfigError, StoreError
from metier.hub.io.database import migrate, open_database
from metier.hub.io.objects import open_objects
from metier.library import open_library
from metier.trust.sign import key_id, make_key_pair, public_half

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from metier.hub.io.database import Database
    from metier.hub.io.objects import Objects
    from metier.hub.io.provider import OidcProvider
    from metier.library import Library

LEFT_BEHIND_SECONDS = 3600
HUB_FOLDER = "hub"
"""Below METIER_HOME: where the embedded hub keeps everything."""


class HubOptions(NamedTuple):
    """How a hub is opened."""

    home: str
    """The hub's own folder: its key, and in the embedded case the database and the objects."""
    database: str = ""
    objects: str = ""
    key_file: str = ""
    name: str = "metier hub"
    public_url: str = ""
    """What clients call it; nothing means whatever they asked for."""
    issuer: str = ""
    """The OpenID Connect provider that people log in with."""
    client_id: str = ""
    client_secret: str = ""
    oidc_groups: str = ""
    """The claim that names somebody's groups; nothing means `groups`."""
    oidc_scopes: str = ""
    """What is asked of the provider; nothing means `openid profile email`."""
    login_hours: int = 8
    """How long a person's token is good for."""
    rate: int = 60_000
    """Requests a minute of one caller with a token; 0 means no limit."""
    rate_nobody: int = 6000
    """Requests a minute of one address without a token; 0 means no limit."""
    rate_failed: int = 20
    """Wrong tokens a minute of one address; 0 means no limit."""
    proxies: tuple[str, ...] = ("127.0.0.0/8", "::1/128")
    """Networks of proxies, whose word about an address is believed."""
    loopback_webhooks: bool = False
    """Whether webhooks may go to this very machine over http: for trying them out."""


class Hub:
    """A hub that is open. Many threads use it at once."""

    def __init__(
        self,
        options: HubOptions,
        *,
        database: Database | None = None,
        objects: Objects | None = None,
        clock: Callable[[], float] = time.time,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Open the parts; an old database is brought up to date first."""
        self.options = options
        self.clock = clock
        self.env = dict(os.environ if env is None else env)
        self.provider = _provider_of(options, self.env)
        self.database = database or open_database(options.database or f"{options.home}/hub.db")
        try:
            migrate(self.database)
            self.objects = objects or open_objects(options.objects or f"{options.home}/objects")
            self._use_key(read_or_make_key(options.key_file or f"{options.home}/key.pem"))
        except BaseException:
            self.database.close()
            raise
        self._libraries = threading.local()
        self._opened: list[Library] = []
        self._guard = threading.Lock()
        sweep(f"{options.home}/examine", time.time() - LEFT_BEHIND_SECONDS)
        self.judges = ThreadPoolExecutor(max(2, os.cpu_count() or 2), "judge")
        self._remember_self()

    def __enter__(self) -> Self:
        """Use it in a `with` block."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Let go of everything."""
        self.close()

    def close(self) -> None:
        """Let go of the database, and of the libraries of all threads."""
        self.judges.shutdown()
        with self._guard:
            while self._opened:
                self._opened.pop().close()
        self.database.close()

    def now(self) -> int:
        """Give the time, in seconds."""
        return int(self.clock())

    def library(self) -> Library:
        """Give the library of this thread, which reads and scans what is published."""
        found: Library | None = getattr(self._libraries, "library", None)
        if found is None:
            empty = f"{self.options.home}/empty"
            os.makedirs(empty, 0o700, exist_ok=True)
            env = {**self.env, "METIER_HOME": f"{self.options.home}/judge"}
            found = open_library(roots=[empty], env=env, cwd=empty)
            self._libraries.library = found
            with self._guard:
                self._opened.append(found)
        return found

    def replace_key(self, private: bytes) -> None:
        """Sign with another key from now on: the one that a backup was made under."""
        path = self.options.key_file or f"{self.options.home}/key.pem"
        aside = f"{path}.{secrets.token_hex(8)}"
        number = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(number, "wb") as file:
            file.write(private)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
        self._use_key(private)
        self._remember_self()

    def _use_key(self, private: bytes) -> None:
        self.private_key = private
        self.public_key = public_half(private)
        self.key_id = key_id(self.public_key)

    def _remember_self(self) -> None:
        """Give the hub an id of its own, once, and note which key it signs with."""
        with self.database.write() as connection:
            for name, value in (
                ("id", secrets.token_hex(8)),
                (f"key:{self.key_id}", self.public_key.decode("ascii")),
            ):
                connection.run(
                    "INSERT INTO hub_facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
                    name,
                    value,
                )
            row = connection.row("SELECT value FROM hub_facts WHERE name = 'id'")
        self.id = str(row["value"]) if row else ""


def _provider_of(options: HubOptions, env: Mapping[str, str]) -> OidcProvider | None:
    """Give the provider that people log in with; nothing where none is named."""
    if not options.issuer:
        return None
    if not options.client_id:
        raise ConfigError(
            "the login provider needs the hub's client id",
            hint="add --client-id, or set METIER_HUB_OIDC_CLIENT_ID",
        )
    from metier.hub.io.provider import OidcProvider

    return OidcProvider(options.issuer, options.client_id, options.client_secret, env=env)


def sweep(folder: str, before: float) -> None:
    """Take away what a process that was killed had unpacked to look at."""
    with suppress(OSError), os.scandir(folder) as found:
        for one in found:
            if one.stat(follow_symlinks=False).st_mtime < before:
                shutil.rmtree(one.path, ignore_errors=True)


def read_or_make_key(path: str) -> bytes:
    """Read the hub's private key, or make one; two hubs that start at once end up with the same."""
    try:
        os.makedirs(os.path.dirname(path) or ".", 0o700, exist_ok=True)
        if not os.path.exists(path):
            aside = f"{path}.{secrets.token_hex(8)}"
            try:
                number = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with open(number, "wb") as file:
                    file.write(make_key_pair().private)
                    file.flush()
                    os.fsync(file.fileno())
                with suppress(FileExistsError):
                    os.link(aside, path)
            finally:
                os.unlink(aside)
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise StoreError(
            f"the hub's key {path} cannot be read: {error.strerror}",
            code="hub-key",
            hint="check --key, and who owns the file",
        ) from error
