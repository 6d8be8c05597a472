"""`metier tools`."""

from __future__ import annotations

from metier.cli import output
from metier.disclose.schemas import schemas
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values


def run(values: Values) -> int:
    """Print the tools' definitions: JSON, whoever asks."""
    import json

    only = values["only"]
    assert isinstance(only, list)
    output.write(json.dumps(schemas(only), ensure_ascii=True, indent=None if values["json"] else 2) + "\n")
    return 0
