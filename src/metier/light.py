"""`NamedTuple` without the price of importing `typing`, which pulls in `re` and costs as much as Python's own start.

For a type checker this *is* `typing.NamedTuple`. At run time the same class statement builds a tuple class like
those of `collections.namedtuple`, except that its constructor is compiled when it is first called: most commands
never use most nouns.
"""

from __future__ import annotations

TYPE_CHECKING = False
"""The type checkers' constant, by its own name: `typing` is what must not be imported."""

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from _collections import _tuplegetter

    def _compiled(cls):
        """Write the constructor out, as namedtuple does, so that building a value runs no loop."""
        fields = cls._fields
        code = f"lambda cls, {', '.join(fields)}{',' if fields else ''}: new(cls, ({', '.join(fields)}{',' if fields else ''}))"
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
                __slots__=(), __new__=_first, _fields=fields, __match_args__=fields, _asdict=_asdict, _replace=_replace,
                __repr__=_repr, __getnewargs__=_reduced, _make=classmethod(tuple.__new__),
                _field_defaults={field: body[field] for field in fields if field in body},
            )  # fmt: skip
            for at, field in enumerate(fields):
                space[field] = _tuplegetter(at, "")
            return type(name, (tuple,), space)

    class NamedTuple(metaclass=_Maker):
        """What a class statement names as its base."""


__all__ = ["TYPE_CHECKING", "NamedTuple"]
