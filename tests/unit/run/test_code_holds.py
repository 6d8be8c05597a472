"""A code skill is called only on a decision about these very bytes, however it was let through before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from fakes.codeskills import RUN, answering, library_of

from metier.errors import IntegrityError, RefusedError
from metier.run import admit, code

if TYPE_CHECKING:
    from pathlib import Path

    from metier.context import Context
    from metier.model import Card
    from metier.run.admit import Admitted

OTHER = "sha256:" + "cd" * 32


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"digest": OTHER}, IntegrityError),
        ({"digest": None}, IntegrityError),
        ({"run": "block"}, RefusedError),
        ({"run": "ask"}, RefusedError),
    ],
)
def test_a_decision_that_does_not_allow_these_bytes_is_held_against_the_call_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], error: type[Exception]
) -> None:
    box, admitted = answering(), admit.admit
    library = library_of(tmp_path, {"count.py": RUN}, box=box)

    def otherwise(context: Context, card: Card) -> Admitted:
        found = admitted(context, card)
        return found._replace(decision=found.decision._replace(**changed))

    monkeypatch.setattr(admit, "admit", otherwise)

    with pytest.raises(error):
        code.call(library.context, "count", "how many?")

    assert [] == box.cages
