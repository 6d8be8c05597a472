"""Regular expressions that somebody else wrote, run by google-re2: its time is linear in the text,
whatever the pattern.

It comes with the extra `rules`. Nothing stands in for it: Python's own matcher can be made to run
for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

INSTALL_ENGINE = "pip install 'metier[rules]'"
PATTERN_MEMORY_BYTES = 8 << 20
"""Bytes that the engine may use for one pattern."""


class PatternError(ValueError):
    """A pattern that is not searched for; its text says why."""


class NoPatternEngineError(PatternError):
    """No pattern can be searched for: google-re2 is not installed."""


def pattern_compiler() -> Callable[[str], Any]:
    """Give what compiles a pattern, or raises a `PatternError`."""
    try:
        import re2  # type: ignore[import-untyped,unused-ignore]
    except ImportError as error:
        raise NoPatternEngineError(f"google-re2 is not installed ({INSTALL_ENGINE})") from error
    options = re2.Options()
    options.log_errors = False
    options.max_mem = PATTERN_MEMORY_BYTES

    def compile_pattern(pattern: str) -> Any:
        try:
            return re2.compile(pattern, options)
        except UnicodeEncodeError as error:
            raise PatternError("it has half of a character") from error
        except re2.error as error:
            said = error.args[0] if error.args else error
            text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
            raise PatternError(text) from error

    return compile_pattern


def searchable(text: str) -> str:
    """Give a text without lone surrogates: the engine works on UTF-8, which has none."""
    return text.encode("utf-8", "replace").decode()
