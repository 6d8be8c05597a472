"""Values in the system's keyring; here only their names are written down, because a keyring does
not list them.

Without a keyring that keeps them safe, this refuses: it never falls back to plain text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import RefusedError, StoreError
from metier.secrets.io import file_store
from metier.secrets.names import is_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SERVICE = "metier"
_UNSAFE = ("plaintext", "null", "fail")
"""Parts of the names of backends that keep nothing, or keep it for all to read."""
KEYRING_HINT = (
    "install metier[keyring] and a keyring service such as GNOME Keyring or KWallet, "
    "or use --store file"
)


class KeyringStore:
    """Keeps values with the operating system, under the service `metier`."""

    kind = "keyring"

    def __init__(self, data: str | None, home: str | None) -> None:
        """Keep the names below metier's folder."""
        self.data = data
        self.home = home

    def get(self, name: str) -> str | None:
        """Give a value, or nothing."""
        if name not in self.names():
            return None
        found = _guarded(lambda ring: ring.get_password(SERVICE, name))
        return found if isinstance(found, str) else None

    def put(self, name: str, value: str) -> None:
        """Keep a value under a name: first the value, so that no name stands for nothing."""
        if self.data is None:
            raise StoreError(
                "there is no place to keep the names of secrets", hint="set METIER_HOME or HOME"
            )
        _guarded(lambda ring: ring.set_password(SERVICE, name, value))
        file_store.change(
            self.data, self.home, file_store.NAMES, lambda text: _text([*read_names(text), name])
        )

    def drop(self, name: str) -> bool:
        """Forget a value; tell whether there was one."""
        if name not in self.names():
            return False
        if _guarded(lambda ring: ring.get_password(SERVICE, name)) is not None:
            _guarded(lambda ring: ring.delete_password(SERVICE, name))
        file_store.change(
            self.data,
            self.home,
            file_store.NAMES,
            lambda text: _text(one for one in read_names(text) if one != name),
        )
        return True

    def names(self) -> list[str]:
        """List the names that have a value here, as they were written down: the keyring is not
        asked.
        """
        return read_names(file_store.read(self.data, file_store.NAMES))

    def ready(self) -> None:
        """Refuse, before anybody is asked for a value, when it could not be kept."""
        _backend()

    def __repr__(self) -> str:
        """Name the place; a value must not get into a traceback."""
        return f"KeyringStore({self.data!r})"


def read_names(text: str) -> list[str]:
    """Read the list of names; what is no name is left out."""
    import json

    try:
        found = json.loads(text) if text else []
    except (ValueError, RecursionError):
        return []
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        return []
    return [name for name in dict.fromkeys(found) if is_name(name)]


def _text(names: Any) -> str:
    import json

    return json.dumps(sorted(set(names))) + "\n"


def _guarded(work: Callable[[Any], object]) -> object:
    """Ask the keyring; what goes wrong there is told without its own words, which might hold a
    value.
    """
    ring = _backend()
    try:
        return work(ring)
    except Exception as error:  # noqa: BLE001 - each backend has errors of its own
        raise StoreError(
            f"the keyring refused ({type(error).__name__})", hint="unlock it, or use --store file"
        ) from None


def _backend() -> Any:
    from importlib.util import find_spec

    if find_spec("keyring") is None:
        raise _refused("the package 'keyring' is not installed")
    try:
        import keyring

        ring: Any = keyring.get_keyring()
    except Exception as error:  # noqa: BLE001 - a backend that is named in the environment may be anything, or nothing
        raise _refused(
            f"the one that is set up cannot be loaded ({type(error).__name__})"
        ) from None
    parts = list(getattr(ring, "backends", ())) or [ring]
    for part in parts:
        kind = f"{type(part).__module__}.{type(part).__name__}".lower()
        if any(word in kind for word in _UNSAFE):
            raise _refused(f"the one that is set up is {kind}, which keeps no secret")
    if type(ring).__module__ == "keyring.backends.chainer" and not getattr(ring, "backends", ()):
        raise _refused("none of those that are known works")
    return ring


def _refused(why: str) -> RefusedError:
    return RefusedError(
        f"there is no keyring to use here: {why}", hint=KEYRING_HINT, code="no-keyring"
    )
