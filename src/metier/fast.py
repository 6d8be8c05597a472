"""Replaces a few slow parts of the standard library, so that a listing is quick to start: it gives
the same without the modules that would be loaded.

- `NamedTuple` without `typing`, which pulls in `re` and costs as much as Python's own start. For a
  type checker it *is* `typing.NamedTuple`; at run time the same class statement builds a tuple
  class like those of `collections.namedtuple`, except that its constructor is compiled when it is
  first called: most commands never use most nouns.
- `blake2b` without `hashlib`, `RLock` without `threading`, `quoted` (a text as JSON) without
  `json`.
- `CollectorOff`, `collect_rarely` and `set_aside`: no garbage collection where it would find nothing.

No other module imports what is private to CPython.
"""

from __future__ import annotations

import gc
from _thread import RLock  # what `threading` would give, without loading it

try:
    from _blake2 import blake2b  # what hashlib would give, without loading OpenSSL for it
except ImportError:
    from hashlib import blake2b

try:
    from _json import encode_basestring_ascii as quoted  # the C half of json
except ImportError:  # another Python than CPython
    from json.encoder import encode_basestring_ascii as quoted

TYPE_CHECKING = False
"""The type checkers' constant, by its own name: `typing` is what must not be imported."""

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from _collections import _tuplegetter

    def _compiled(cls):
        """Write the constructor out, as namedtuple does, so that building a value runs no loop."""
        fields = cls._fields
        code = (
            f"lambda cls, {', '.join(fields)}{',' if fields else ''}: new(cls, "
            f"({', '.join(fields)}{',' if fields else ''}))"
        )
        new = eval(code, {"new": tuple.__new__, "__builtins__": {}})  # noqa: S307 - the fields are our own class bodies
        new.__defaults__ = tuple(cls._field_defaults.values()) or None
        cls.__new__ = new
        return new

    def _first(cls, *args, **kwargs):
        return _compiled(cls)(cls, *args, **kwargs)

    def _asdict(self):
        return dict(zip(self._fields, self, strict=True))

    def _replace(self, **changes):
        made = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise TypeError(f"{type(self).__name__} has no fields {list(changes)}")
        return made

    def _repr(self):
        return f"{type(self).__name__}({', '.join(f'{field}={value!r}' for field, value in zip(self._fields, self, strict=True))})"

    def _reduced(self):
        return tuple(self)

    class _Maker(type):
        """Turns a class statement into a tuple class with named fields."""

        def __new__(mcs, name, bases, body):
            """Build the class: fields from the annotations, everything else from the body."""
            if not bases:
                return super().__new__(mcs, name, bases, body)
            fields = tuple(body.get("__annotations__", ()))
            space = {key: value for key, value in body.items() if key not in fields}
            space.update(
                __slots__=(),
                __new__=_first,
                _fields=fields,
                __match_args__=fields,
                _asdict=_asdict,
                _replace=_replace,
                __repr__=_repr,
                __getnewargs__=_reduced,
                _make=classmethod(tuple.__new__),
                _field_defaults={field: body[field] for field in fields if field in body},
            )
            for at, field in enumerate(fields):
                space[field] = _tuplegetter(at, "")
            return type(name, (tuple,), space)

    class NamedTuple(metaclass=_Maker):
        """What a class statement names as its base."""


class CollectorOff:
    """No garbage collection among tens of thousands of values that all live: it would find nothing,
    slowly.

    The first to enter turns it off and the last to leave turns it on again: there is one collector
    for all threads, and whoever looked for himself whether it was on could find it off and leave it
    so.
    """

    lock = RLock()
    inside = 0
    was_on = False

    def __enter__(self) -> None:
        """Turn it off, if it is on."""
        with CollectorOff.lock:
            if not CollectorOff.inside:
                CollectorOff.was_on = gc.isenabled()
                gc.disable()
            CollectorOff.inside += 1

    def __exit__(self, *_error: object) -> None:
        """Turn it on again, if it was."""
        with CollectorOff.lock:
            CollectorOff.inside = max(
                0, CollectorOff.inside - 1
            )  # whoever forked while inside was counted out before
            if not CollectorOff.inside and CollectorOff.was_on:
                gc.enable()

    @classmethod
    def renew(cls) -> None:
        """In a forked process, count nobody as inside: whoever was may have been another thread,
        which did not come along.
        """
        cls.lock = RLock()
        if cls.inside and cls.was_on:
            gc.enable()
        cls.inside = 0


VALUES_BETWEEN_COLLECTIONS = 50_000


def collect_rarely() -> None:
    """Look for garbage less often: a command that lives for milliseconds leaves next to none."""
    gc.set_threshold(VALUES_BETWEEN_COLLECTIONS)


def set_aside() -> None:
    """Collect once, and look no more at what is left: for a process that has loaded what it will
    keep.
    """
    gc.collect()
    gc.freeze()


__all__ = [
    "TYPE_CHECKING",
    "CollectorOff",
    "NamedTuple",
    "RLock",
    "blake2b",
    "quoted",
    "set_aside",
]
