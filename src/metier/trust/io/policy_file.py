"""Reads the policies of an organisation from disk, and proves that they are whole.

The machine's own lies below `/etc/metier`. With a `policy.pub` beside it, only the holder of that key
can change it: `policy.toml.sig` must be a signature of it. Without one, the file counts if it and its
folder belong to the administrator and nobody else can write them. Anything else is damage, and
damage stops everything: a policy that is not understood is never a policy that allows more.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from metier.errors import MetierError
from metier.settings.io import MAX_CONFIG_BYTES, parse_config
from metier.store.io import safe_files
from metier.trust import sign
from metier.trust.io.decisions_file import read_plain
from metier.trust.organisation import PolicyInForce, read_policy
from metier.trust.source_rules import POLICY_MARK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.trust.organisation import OrganisationPolicy, RemotePolicy

KEY_NAME = "policy.pub"
OWNER = 0
"""Who must own a policy that nobody signed: the administrator."""
MAX_KEY_BYTES = 64 * 1024
MAX_FETCHED_BYTES = 2 * MAX_CONFIG_BYTES + sign.MAX_ENVELOPE_BYTES
AGAIN = "Run: metier policy update"


def read_in_force(machine: str, given: Iterable[str], data: str | None = None) -> PolicyInForce:
    """Read the machine's policy, if there is one, and those that somebody named, which can only
    narrow further.
    """
    files = [machine] if machine else []
    own = len(files)
    files += given
    policies: list[OrganisationPolicy] = []
    keys: list[tuple[str, str]] = []
    damage: list[str] = []
    for number, path in enumerate(files):
        try:
            found, key = _read(path, owned=number < own)
            policies.append(found)
            keys += [(path, key)] if key else []
            if found.remote is not None:
                policies.append(read_fetched(data, found.remote))
        except (MetierError, OSError, ValueError, RecursionError) as error:
            why = error.message if isinstance(error, MetierError) else _why(error)
            damage.append(f"{POLICY_MARK}{path} can't be used: {why.removeprefix(f'{path} ')}")
    return PolicyInForce(tuple(policies), "; ".join(damage), tuple(files), tuple(keys))


def _why(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__


def _read(path: str, *, owned: bool) -> tuple[OrganisationPolicy, str]:
    """Read one policy; give it, and the key that signed it."""
    folder = os.path.dirname(path)
    data = read_plain(path, MAX_CONFIG_BYTES)
    if data is None:
        raise ValueError("there is no such file")
    public = read_plain(f"{folder}/{KEY_NAME}", MAX_KEY_BYTES)
    signed_by = ""
    if public is not None:
        envelope = read_plain(f"{path}.sig", sign.MAX_ENVELOPE_BYTES)
        if envelope is None:
            raise ValueError(f"it must be signed, and there is no {path}.sig")
        by = sign.verify_detached(sign.POLICY_TYPE, data, envelope, [public])
        if isinstance(by, sign.Unverified):
            raise ValueError(f"its signature is not good: {by.reason}")
        signed_by = by
    if owned:
        names = [folder, f"{folder}/{KEY_NAME}"] if public is not None else [folder, path]
        for name in names:
            _check_owner(name)
    found = read_policy(parse_config(path, "organisation", data))
    if found.remote is not None and not owned:
        raise ValueError("only the machine's own policy may name an address")
    return found, signed_by


def _check_owner(path: str) -> None:
    """Refuse what anybody but the administrator can change."""
    found = os.lstat(path)
    if found.st_uid != OWNER or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ValueError(f"{path} can be changed by others than the administrator")


def write_signature(path: str, envelope: bytes) -> str:
    """Put a signature beside a policy; give its path."""
    name = f"{path}.sig"
    safe_files.replace_file(name, envelope)
    os.chmod(name, 0o644)  # everybody whom the policy is for must be able to read it
    return name


# --- a policy that is fetched


def fetched_file(data: str | None) -> str:
    """Give where a fetched policy is kept."""
    return f"{data}/policy/fetched.json"


def read_fetched(data: str | None, remote: RemotePolicy) -> OrganisationPolicy:
    """Read the kept copy of a policy that is fetched, verified again by the key it is pinned to."""
    try:
        kept = read_plain(fetched_file(data), MAX_FETCHED_BYTES) if data else None
    except OSError as error:
        raise ValueError(f"the copy of {remote.url} can't be read: {_why(error)}") from error
    if kept is None:
        raise ValueError(f"{remote.url} was never fetched. Run: metier policy update")
    found = sign.open_signed(sign.POLICY_TYPE, kept, [remote.key.encode()])
    if isinstance(found, sign.Unverified):
        raise ValueError(f"the copy of {remote.url} is not good: {found.reason}. {AGAIN}")  # noqa: TRY004 - the same
    return read_remote(remote, found)


def read_remote(remote: RemotePolicy, data: bytes) -> OrganisationPolicy:
    """Read the bytes of a policy that was fetched, once its signature is good."""
    policy = read_policy(parse_config(remote.url, "organisation", data))
    if policy.remote is not None:
        raise ValueError(f"{remote.url} names another address, which a fetched policy may not")
    if policy.serial < remote.serial:
        raise ValueError(f"{remote.url} has the serial {policy.serial}, below {remote.serial}")
    return policy


def keep_fetched(data: str, home: str | None, bytes_: bytes, envelope: bytes) -> None:
    """Keep a policy that was fetched, with its signature, in one file: the old or the new."""
    path = fetched_file(data)
    safe_files.make_folder(data, home)
    safe_files.make_folder(path.rpartition("/")[0], home)
    safe_files.replace_file(path, sign.join_signed(sign.POLICY_TYPE, bytes_, envelope))
