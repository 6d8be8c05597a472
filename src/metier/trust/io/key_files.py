"""Keys and signatures on disk, below METIER_HOME: `keys/` and `signatures/`, for their owner alone."""

from __future__ import annotations

import os

from metier.errors import NotFoundError, RefusedError, StoreError
from metier.store.io import safe_files
from metier.trust.io.decisions_file import read_plain, writing

KEYS_FOLDER = "keys"
SIGNATURES_FOLDER = "signatures"
MAX_SMALL_BYTES = 64 * 1024
"""The largest key or signature that is read."""


def list_keys(folder: str | None) -> dict[str, bool]:
    """List the public keys that are trusted, each with whether its private half is here too."""
    try:
        names = os.listdir(f"{folder}/{KEYS_FOLDER}") if folder else []
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StoreError(
            f"cannot read {folder}/{KEYS_FOLDER}: {error.strerror}", hint="check its permissions"
        ) from error
    return {
        name[:-4].replace("-", ":", 1): f"{name[:-4]}.key" in names
        for name in sorted(names)
        if name.endswith(".pub")
    }


def read_key(folder: str | None, key_id: str, half: str) -> bytes | None:
    """Give one half of a key, `pub` or `key`; nothing when it is not here."""
    if not folder:
        return None
    return read_plain(f"{folder}/{KEYS_FOLDER}/{_file_name(key_id)}.{half}", MAX_SMALL_BYTES)


def write_key(
    folder: str | None, home: str | None, key_id: str, public: bytes, private: bytes | None
) -> str:
    """Keep a key; give the path of its public half. The private half is never replaced."""
    path = f"{_make_folder(folder, home, KEYS_FOLDER)}/{_file_name(key_id)}"
    with writing(path):
        if private is not None:
            safe_files.replace_file(f"{path}.key", private)
        safe_files.replace_file(f"{path}.pub", public)
    return f"{path}.pub"


def remove_key(folder: str | None, key_id: str) -> None:
    """Trust a key no longer; its private half goes as well."""
    path = f"{folder}/{KEYS_FOLDER}/{_file_name(key_id)}"
    if folder is None or not os.path.lexists(f"{path}.pub"):
        raise NotFoundError(f"there is no key '{key_id}'", hint="list them: metier trust keys list")
    with writing(path):
        os.unlink(f"{path}.pub")
        if os.path.lexists(f"{path}.key"):
            os.unlink(f"{path}.key")


def read_signature(folder: str | None, digest: str) -> bytes | None:
    """Give the envelope that is kept for a digest, if there is one."""
    if not folder:
        return None
    return read_plain(f"{folder}/{SIGNATURES_FOLDER}/{_file_name(digest)}.json", MAX_SMALL_BYTES)


def write_signature(folder: str | None, home: str | None, digest: str, envelope: bytes) -> str:
    """Keep an envelope; give its path. It never goes into the skill: that would change what was
    signed.
    """
    path = f"{_make_folder(folder, home, SIGNATURES_FOLDER)}/{_file_name(digest)}.json"
    with writing(path):
        safe_files.replace_file(path, envelope)
    return path


def read_file(path: str) -> bytes:
    """Read a small file that a person named."""
    try:
        data = read_plain(os.path.realpath(path), MAX_SMALL_BYTES)
    except OSError as error:
        raise NotFoundError(
            f"{path} cannot be read: {error.strerror or error}", hint="check the path"
        ) from error
    if data is None:
        raise NotFoundError(f"there is nothing at {path}", hint="check the path")
    return data


def _file_name(name: str) -> str:
    """Give the file name of a key or a digest, both of which are `kind:hex`."""
    kind, _, rest = name.partition(":")
    if not (kind.isalnum() and rest.isalnum() and name.isascii() and len(name) < 200):
        raise RefusedError(
            f"'{name}' is neither a key nor a digest",
            hint="list them: metier trust keys list",
        )
    return f"{kind}-{rest}"


def _make_folder(folder: str | None, home: str | None, name: str) -> str:
    if folder is None:
        raise StoreError("there is no place to keep keys", hint="set METIER_HOME or HOME")
    path = f"{folder}/{name}"
    with writing(path):
        safe_files.make_folder(folder, home)
        safe_files.make_folder(path, home)
    return path
