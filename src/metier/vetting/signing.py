"""Signatures over a skill's digest, with local keys: making keys, signing, verifying. Offline."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import recording
from metier.discover import disk
from metier.discover.entries import Place
from metier.discover.heads import skill_entry
from metier.errors import IntegrityError, RefusedError, UsageError
from metier.trust import disk as store, sign
from metier.vetting.cases import public_keys

if TYPE_CHECKING:
    from metier.app import Library


def keys(library: Library) -> dict[str, bool]:
    """List the keys that are trusted, each with whether its private half is here, so that it can sign."""
    return store.keys(library.data)


def new_key(library: Library) -> tuple[str, str]:
    """Make a key to sign with, and trust it; give its id and the file to hand to others."""
    made = sign.new_key()
    path = store.write_key(library.data, library.home, made.id, made.public, made.private)
    recording.record(library, "key", "done", key=made.id, asked="new")
    return made.id, path


def import_key(library: Library, file: str) -> tuple[str, str]:
    """Trust somebody's public key; give its id and where it is kept."""
    public = store.read_file(disk.absolute(file, library.cwd, library.home))
    key = sign.key_id(public)
    path = store.write_key(library.data, library.home, key, public, None)
    recording.record(library, "key", "done", key=key, asked="import")
    return key, path


def remove_key(library: Library, key: str) -> str:
    """Trust a key no longer."""
    store.remove_key(library.data, key)
    recording.record(library, "key", "done", key=key, asked="remove")
    return key


class Subject(NamedTuple):
    """What is signed or verified: a name, and the folder or file whose bytes it stands for."""

    name: str
    path: str


def _subject(library: Library, said: str) -> Subject:
    """Give the skill that is meant: one that is listed, or, as whoever publishes one has it, the folder at a path."""
    folder = disk.absolute(said, library.cwd, library.home)
    if "/" in said and disk.kind_of(f"{folder}/SKILL.md") == disk.FILE:
        spot = Place(folder, "SKILL.md", "", "", "")
        entry = skill_entry(disk.read_head(f"{folder}/SKILL.md"), spot, folder.rpartition("/")[2], None, disk.read_head)
        return Subject(entry.name, folder)
    card = library.resolve(said)
    return Subject(card.name, card.path)


def sign_skill(library: Library, name: str, key: str = "") -> tuple[sign.Signed, str]:
    """Sign a skill's bytes as they are now; give what was signed and where the signature is kept."""
    card = _subject(library, name)
    own = [known for known, private in store.keys(library.data).items() if private]
    if key and key not in own:
        raise UsageError(f"there is no private key '{key}' here", hint="'metier trust keys list' shows those there are")
    if not key and len(own) != 1:
        raise UsageError("say which key to sign with" if own else "there is no key to sign with",
                         hint="add --key ID; 'metier trust keys new' makes one")  # fmt: skip
    key = key or own[0]
    digest, private = library.machine.digest(card.path), store.key(library.data, key, "key")
    if digest is None or private is None:
        raise RefusedError(f"'{card.name}' cannot be read whole, so it is not signed", hint=f"check {card.path}")
    path = store.write_signature(library.data, library.home, digest, sign.sign(card.name, digest, private))
    recording.record(library, "sign", "done", name=card.name, digest=digest, key=key)
    return sign.Signed(card.name, digest, key), path


def verify_skill(library: Library, name: str, file: str = "") -> sign.Signed:
    """Check a signature over a skill's bytes as they are now; a good one that was given in a file is kept."""
    card = _subject(library, name)
    digest = library.machine.digest(card.path)
    envelope = store.read_file(disk.absolute(file, library.cwd, library.home)) if file else None
    envelope = envelope or (store.signature(library.data, digest) if digest else None)
    if envelope is None:
        raise RefusedError(f"there is no signature for '{card.name}' as it is now", code="unsigned",
                           hint="give one with --signature FILE")  # fmt: skip
    found = sign.verify(envelope, public_keys(library))
    if isinstance(found, sign.Unverified):
        raise RefusedError(f"the signature of '{card.name}' is not good: {found.reason}", code="unverified",
                           hint="'metier trust keys import FILE' trusts a key")  # fmt: skip
    if (found.name, found.digest) != (card.name, digest):
        raise IntegrityError(f"the signature is for '{found.name}', {found.digest}, not for '{card.name}' as it is now",
                             hint="the skill was changed after it was signed, or the signature belongs to another")  # fmt: skip
    if file:
        store.write_signature(library.data, library.home, found.digest, envelope)
        recording.record(library, "verify", "ok", name=card.name, digest=digest, key=found.key)
    return found
