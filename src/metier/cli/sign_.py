"""`metier sign`."""

from __future__ import annotations

from metier import cli
from metier.cli import output
from metier.errors import UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values


def run(values: Values) -> int:
    """Sign a skill's bytes; the same as `metier trust sign`."""
    from metier.vetting.signing import sign_skill

    operands = values["operands"]
    assert isinstance(operands, list)
    if len(operands) != 1:
        raise UsageError("metier sign needs one NAME", hint="see: metier sign --help")
    with cli.library(values) as m:
        signed, path = sign_skill(m, operands[0], cli.text_of(values["key"]) or "")
    if values["json"]:
        output.write(output.json_text({**signed._asdict(), "path": path}) + "\n")
    else:
        output.write(f"signed {output.clean(signed.name)}, {signed.digest}\nwith {signed.key}: {output.clean(path)}\n")
    return 0
