"""What policy says of a code skill counts as it is when the bytes are at hand, not as it was when the run was planned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from fakes.codeskills import RUN, library_of

from metier.errors import RefusedError
from metier.run import admit, plan
from metier.run.admit import CodeRefusal

if TYPE_CHECKING:
    from pathlib import Path

    from metier.library import Library

RULE = (
    '[[trust.rules]]\nlevel = "community"\nverdict = "safe"\nphase = "run"\naction = "{action}"\n'
)


def ruled(tmp_path: Path, action: str) -> Library:
    return library_of(tmp_path, {"count.py": RUN}, RULE.format(action=action), level="community")


@pytest.fixture
def carefree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every run planned as if policy had nothing against it, as it was a moment ago."""
    plan_script = plan.plan_script

    def carefree_plan(*given: Any, **named: Any) -> plan.Planned:
        planned = plan_script(*given, **named)
        return planned._replace(plan=planned.plan._replace(allowed=True, asks=False, reasons=[]))

    monkeypatch.setattr(admit, "plan_script", carefree_plan)


@pytest.mark.usefixtures("carefree")
def test_what_policy_blocks_by_now_is_not_admitted_though_its_plan_allowed_it(
    tmp_path: Path,
) -> None:
    library = ruled(tmp_path, "block")

    with pytest.raises(RefusedError) as caught:
        admit.admit(library.context, library.resolve("count"))

    assert "skill-load-blocked" == caught.value.code
    assert ("refuse", "blocked") == tuple(
        library.audit_tail()[-1][key] for key in ("event", "outcome")
    )


@pytest.mark.usefixtures("carefree")
@pytest.mark.parametrize(("action", "asks"), [("ask", True), ("allow", False)])
def test_what_policy_asks_about_by_now_is_asked_about_though_its_plan_did_not(
    tmp_path: Path, action: str, asks: bool
) -> None:
    library = ruled(tmp_path, action)

    found = admit.admit(library.context, library.resolve("count"))

    assert asks == found.asks


@pytest.mark.parametrize(
    ("action", "refused", "asks"),
    [("block", True, False), ("ask", False, True), ("allow", False, False)],
)
def test_what_is_foreseen_of_a_call_is_what_policy_says(
    tmp_path: Path, action: str, refused: bool, asks: bool
) -> None:
    library = ruled(tmp_path, action)

    found = admit.foresee(library.context, library.resolve("count"), asks=False)

    assert refused == isinstance(found, CodeRefusal)
    assert isinstance(found, CodeRefusal) or asks == found.asks
