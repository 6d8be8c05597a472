"""Nothing of a plugin comes in unless its very bytes were scanned: each way meets a disk that shows the scan something else."""

from __future__ import annotations

import pytest
from fakes.plugs import Plugs, document
from fakes.switching import SwitchingHands

from metier.errors import RefusedError

WHY = "unscanned: the scan did not see all of it"


def test_a_plugin_with_an_unscanned_skill_is_not_enabled(plugs: Plugs) -> None:
    before, hands = plugs.seen(), SwitchingHands()
    plugs.hands = hands

    done = plugs.enable(force=True)

    assert (False, [("alpha", WHY), ("beta", WHY)]) == (
        done.changed,
        [(one.name, one.reasons[0]) for one in done.refused],
    )
    assert hands.switched
    assert before == plugs.seen()


def test_an_unscanned_candidate_is_not_published(enabled: Plugs) -> None:
    ident = enabled.update()
    hands = SwitchingHands()
    enabled.hands = hands

    with pytest.raises(RefusedError, match=WHY) as caught:
        enabled("accept", ident)

    assert ("unsafe", document("alpha"), [ident]) == (
        caught.value.code,
        enabled.text(),
        enabled.waiting(),
    )
    assert hands.switched


def test_an_unscanned_version_is_not_put_back(enabled: Plugs) -> None:
    enabled("accept", enabled.update())
    first = enabled.versions()[0][0]
    hands = SwitchingHands()
    enabled.hands = hands

    with pytest.raises(RefusedError, match=WHY):
        enabled("make_current", "alpha", first)

    assert hands.switched
    assert document("alpha", 11) == enabled.text()
