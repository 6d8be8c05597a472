"""A name that configuration gives to no skill is given to none, however either of them is written."""

from __future__ import annotations

import pytest

from metier.secrets.names import PREFIX, refusal
from metier.secrets.vault import Vault


@pytest.mark.parametrize("listed", ["OUR_KEY", "our_key", "Our_Key", f"{PREFIX}OUR_KEY"])
@pytest.mark.parametrize("asked", ["OUR_KEY", "our_key", f"{PREFIX}OUR_KEY"])
def test_letters_count_in_either_case_on_both_sides(listed: str, asked: str) -> None:
    env = {"OUR_KEY": "planted-91cd", "our_key": "planted-91cd", "OTHER_KEY": "fine-value"}

    assert "your configuration keeps it from every skill" == refusal(asked, {}, [listed])
    assert {"OTHER_KEY": "fine-value"} == Vault((), env, [listed]).granted([asked, "OTHER_KEY"])
