"""Looks up secrets in the stores in order and then in the environment, and keeps some in memory.

What is kept in memory ends with the conversation (CX-50).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import RefusedError, UsageError
from metier.secrets.names import in_environment, own_name, refusal, wrong_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, MutableMapping, Sequence

    from metier.ports import SecretStore


class SessionStore:
    """Keeps values in the memory of a session, and nowhere else (CX-50)."""

    kind = "session"

    def __init__(self, secrets: MutableMapping[str, str]) -> None:
        """Keep them in the session's own map."""
        self._secrets = secrets

    def get(self, name: str) -> str | None:
        """Give a value, or nothing."""
        return self._secrets.get(name)

    def put(self, name: str, value: str) -> None:
        """Keep a value under a name."""
        self._secrets[name] = value

    def drop(self, name: str) -> bool:
        """Forget a value; tell whether there was one."""
        return self._secrets.pop(name, None) is not None

    def names(self) -> list[str]:
        """List the names that have a value here."""
        return list(self._secrets)

    def __repr__(self) -> str:
        """Count; a value must not get into a traceback."""
        return f"SessionStore({len(self._secrets)} names)"


class Vault:
    """The secret stores, in the order they are asked. A stored value wins over the environment
    (HE-19).
    """

    def __init__(
        self, stores: Sequence[SecretStore], env: Mapping[str, str], refused: Sequence[str] = ()
    ) -> None:
        """Ask the stores first, in their order, then the environment; `refused` names go to no
        skill either.
        """
        self._stores, self._env, self._refused = tuple(stores), env, tuple(refused)

    def __repr__(self) -> str:
        """Name the stores; a value must not get into a traceback."""
        return f"Vault({', '.join(store.kind for store in self._stores)})"

    def names(self) -> list[str]:
        """List the names that are kept here; those of the process environment are not."""
        return sorted({name for store in self._stores for name in store.names()})

    def faults(self) -> list[str]:
        """Say what in the stores could not be read as a secret; no value is shown."""
        found = (getattr(store, "faults", None) for store in self._stores)
        return [fault for ask in found if ask is not None for fault in ask()]

    def kind_of(self, name: str) -> str:
        """Say where the value of a name would come from: a store, `environment`, or nothing."""
        held = next((store.kind for store in self._stores if name in store.names()), "")
        return held or ("environment" if in_environment(name, self._env) else "")

    def has(self, name: str) -> bool:
        """Tell whether a skill that declares it would get a value."""
        return bool(self.granted([name]))

    def store(self, kind: str) -> SecretStore:
        """Give a store by its kind, or say that there is none."""
        for store in self._stores:
            if store.kind == kind:
                return store
        raise UsageError(
            f"there is no store '{kind}'",
            hint=f"one of: {', '.join(store.kind for store in self._stores)}",
        )

    def ready(self, kind: str) -> None:
        """Refuse a store that could not keep anything, before a person is asked for something to
        keep.
        """
        check = getattr(self.store(kind), "ready", None)
        if check is not None:
            check()

    def put(self, name: str, value: str, store: str) -> None:
        """Keep a value under a name; what no skill would ever get is not kept either."""
        name = own_name(name)
        why = self.refusal(name)
        if why:
            raise RefusedError(
                f"'{name}' is not kept: {why}",
                hint="a skill needs a name of its own for a key of its own",
            )
        wrong = wrong_with(value)
        if wrong:
            raise UsageError(
                f"the value of '{name}' can't be stored: {wrong}",
                hint="try again, with a value on one line",
            )
        self.store(store).put(name, value.strip())

    def drop(self, name: str) -> bool:
        """Forget a name in every store; tell whether there was one."""
        dropped = [store.kind for store in self._stores if store.drop(own_name(name))]
        return bool(dropped)

    def refusal(self, name: str) -> str:
        """Say why no skill gets this variable; nothing when one may."""
        return refusal(name, self._env, self._refused)

    def granted(self, declared: Iterable[str]) -> dict[str, str]:
        """Give exactly what a skill declares, as far as there is a value, and never the host's own
        credentials.
        """
        found: dict[str, str] = {}
        for name in dict.fromkeys(declared):
            value = "" if self.refusal(name) else self._value(name)
            if value.strip():
                found[name] = value
        return found

    def _value(self, name: str) -> str:
        for store in self._stores:
            value = store.get(own_name(name))
            if value is not None:
                return value  # an empty one too: it says that there is none
        return in_environment(own_name(name), self._env)
