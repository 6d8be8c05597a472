"""The stores as one: who is asked first, what a skill is granted, and what nobody is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.ring import MemoryRing, used

from metier.errors import RefusedError, UsageError
from metier.secrets.io.file_store import FileStore
from metier.secrets.io.system_keyring import KeyringStore
from metier.secrets.vault import SessionStore, Vault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VALUE = "planted-77aa"


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    data = str(tmp_path / "state")
    with used(MemoryRing()):
        yield Vault(
            (SessionStore({}), FileStore(data, None), KeyringStore(data, None)),
            {"A_KEY": "from the environment", "ZEPH_SECRET_Z_KEY": "z", "OPENAI_API_KEY": VALUE},
            ["CORP_TOKEN"],
        )


def test_what_is_kept_wins_in_the_order_session_file_keyring_environment(
    vault: Vault,
) -> None:  # HE-19
    seen = [(vault.kind_of("A_KEY"), vault.granted(["A_KEY"]))]

    for kind in ("keyring", "file", "session"):
        vault.put("A_KEY", f"from the {kind}", kind)
        seen.append((vault.kind_of("A_KEY"), vault.granted(["A_KEY"])))

    assert [
        (kind, {"A_KEY": f"from the {kind}"})
        for kind in ("environment", "keyring", "file", "session")
    ] == seen
    assert ["A_KEY"] == vault.names()


def test_a_skill_is_granted_what_it_declares_and_nothing_else(vault: Vault) -> None:  # HE-20
    vault.put("B_KEY", VALUE, "file")

    granted = vault.granted(
        ["A_KEY", "OPENAI_API_KEY", "METIER_HOME", "ABSENT", "B-AD", "", "Z_KEY"]
    )

    assert {"A_KEY": "from the environment", "Z_KEY": "z"} == granted
    assert (True, False, False) == (
        vault.has("B_KEY"),
        vault.has("OPENAI_API_KEY"),
        vault.has("ABSENT"),
    )


def test_an_empty_value_that_is_kept_hides_the_environment_s(
    vault: Vault, tmp_path: Path
) -> None:  # HE-19
    vault.put("B_KEY", VALUE, "file")
    file = tmp_path / "state" / "secrets" / "values.env"
    file.write_text(file.read_text() + "A_KEY=\n")

    assert {} == vault.granted(["A_KEY"])


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "METIER_HOME", "CORP_TOKEN", "ZEPH_SECRET_GROQ_API_KEY", "B-AD", ""]
)
def test_what_no_skill_would_get_is_not_kept(name: str, vault: Vault) -> None:  # HE-20
    with pytest.raises(RefusedError) as refused:
        vault.put(name, VALUE, "session")

    assert VALUE not in str(refused.value.as_dict())
    assert [] == vault.names()


@pytest.mark.parametrize("value", ["", "  ", "a\nb", "a\0b", "\ud800", VALUE * 10_000])
def test_a_value_that_will_not_do_is_refused_without_being_shown(value: str, vault: Vault) -> None:
    with pytest.raises(UsageError) as refused:
        vault.put("A_KEY", value, "session")

    assert VALUE not in str(refused.value.as_dict())


def test_another_agent_s_name_is_the_same_secret(vault: Vault) -> None:  # ZE-42
    vault.put("ZEPH_SECRET_B_KEY", VALUE, "session")

    assert (["B_KEY"], {"B_KEY": VALUE}) == (vault.names(), vault.granted(["B_KEY"]))


def test_forgetting_goes_through_every_store(vault: Vault) -> None:
    for kind in ("session", "file", "keyring"):
        vault.put("B_KEY", VALUE, kind)

    assert (True, False, "", []) == (
        vault.drop("B_KEY"),
        vault.drop("B_KEY"),
        vault.kind_of("B_KEY"),
        vault.names(),
    )


def test_it_shows_no_value(vault: Vault) -> None:
    vault.put("B_KEY", VALUE, "session")

    assert "Vault(session, file, keyring)" == repr(vault) == str(vault)


def test_a_store_that_does_not_exist_is_named(vault: Vault) -> None:
    with pytest.raises(UsageError, match="no store 'cloud'"):
        vault.put("B_KEY", VALUE, "cloud")
