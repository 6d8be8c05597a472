"""Configuration files on disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from metier.errors import ConfigError
from metier.settings.io import MAX_CONFIG_BYTES, read_config, write_rule, write_tap


def test_a_file_that_is_not_there_is_no_configuration(tmp_path: Path) -> None:
    assert read_config(str(tmp_path / "metier.toml"), "user") is None


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_not_a_file_is_an_error_and_nobody_waits_for_it(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "metier.toml"
    if kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)

    with pytest.raises(ConfigError) as caught:
        read_config(str(path), "user")

    assert f"cannot read {path}: not a regular file" == caught.value.message


def test_a_file_may_be_as_long_as_the_limit_and_no_longer(tmp_path: Path) -> None:
    path = tmp_path / "metier.toml"
    path.write_text("#" * MAX_CONFIG_BYTES)

    found = read_config(str(path), "user")
    path.write_text("#" * (MAX_CONFIG_BYTES + 1))

    assert found is not None
    assert MAX_CONFIG_BYTES == len(found.text)
    with pytest.raises(ConfigError, match=r"has 262,145 bytes; .* at most 262,144"):
        read_config(str(path), "user")


def test_a_linked_file_is_read_and_stays_a_link_when_it_is_changed(tmp_path: Path) -> None:
    real, link = tmp_path / "real.toml", tmp_path / "metier.toml"
    real.write_text("# mine\nusage = false\n")
    link.symlink_to(real)

    write_rule(str(link), ("name", "pdf"), enabled=False)
    write_tap(str(link), "acme/skills", listed=True)

    found = read_config(str(link), "user")
    assert link.is_symlink()
    assert found is not None
    assert real.read_text() == found.text
    assert found.text.startswith("# mine\nusage = false\n")
    assert [{"name": "pdf", "enabled": False}] == found.values["skills"]["config"]
    assert ["acme/skills"] == found.values["supply"]["taps"]
