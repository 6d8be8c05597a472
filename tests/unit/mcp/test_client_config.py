"""A client's file on a real disk: kept beside itself, replaced in one step, and never followed out of where it belongs."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from metier.errors import ConfigError, RefusedError, StoreError, UsageError
from metier.mcp import client_config, clients
from metier.mcp.client_config import ClientFile, Configured
from metier.mcp.clients import CLIENTS, McpClient, ServerEndpoint

STARTED = ServerEndpoint(("/opt/metier", "mcp"))
TOKEN = "a-token-of-thirty-two-characters"
REMOTE = ServerEndpoint(url="http://127.0.0.1:7331/mcp", token=TOKEN)
CURSOR = clients.client_named("cursor")
HELD = {
    "json": '{\n  // mine\n  "theirs": {"a": 1}\n}\n',
    "toml": "# mine\n[theirs]\na = 1\n",
    "yaml": "# mine\ntheirs:\n  a: 1\n",
}


def place(home: Path, client: McpClient = CURSOR, project: str = "") -> ClientFile:
    return client_config.client_file(
        client, env={}, home=str(home), project=project, platform="linux"
    )


def configure(
    home: Path, client: McpClient = CURSOR, started: ServerEndpoint = STARTED
) -> Configured:
    return client_config.configure(client, place(home, client), started)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("client", CLIENTS, ids=[client.id for client in CLIENTS])
def test_every_client_gets_a_file_of_its_own_then_a_merged_one_and_the_same_again_changes_nothing(
    client: McpClient, tmp_path: Path
) -> None:
    fresh = configure(tmp_path, client)
    file = Path(fresh.file)
    first, mode = file.read_text(), mode_of(file)
    again = configure(tmp_path, client)
    file.write_text(HELD[client.form])
    merged = configure(tmp_path, client)

    assert (True, True, "") == (fresh.changed, fresh.written, fresh.backup)
    assert (False, False, first, 0o600) == (again.changed, again.written, fresh.snippet, mode)
    assert HELD[client.form] == Path(merged.backup).read_text()
    assert "mine" in file.read_text()
    assert "theirs" in file.read_text()


def test_a_backup_never_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    file = Path(place(tmp_path).file)
    file.parent.mkdir()
    made = []
    for number in range(3):
        file.write_text(json.dumps({"number": number}))
        made.append(configure(tmp_path).backup)

    assert [f"{file}.metier-backup", f"{file}.metier-backup.2", f"{file}.metier-backup.3"] == made
    assert [0, 1, 2] == [json.loads(Path(name).read_text())["number"] for name in made]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640])
def test_a_file_keeps_its_rights_and_its_backup_has_them_too(mode: int, tmp_path: Path) -> None:
    file = Path(place(tmp_path).file)
    file.parent.mkdir()
    file.write_text("{}")
    file.chmod(mode)

    found = configure(tmp_path)

    assert (mode, mode) == (mode_of(file), mode_of(Path(found.backup)))


def test_with_a_token_in_it_a_file_is_its_owners_alone(tmp_path: Path) -> None:
    file = Path(place(tmp_path).file)
    file.parent.mkdir()
    file.write_text("{}")
    file.chmod(0o664)

    found = configure(tmp_path, started=REMOTE)

    assert (0o600, True) == (mode_of(file), f"Bearer {TOKEN}" in file.read_text())
    assert ("Bearer TOKEN" in found.snippet, 1) == (True, len(found.notes))
    assert TOKEN not in repr(found)


def test_a_dry_run_says_what_would_change_and_writes_nothing(tmp_path: Path) -> None:
    found = client_config.configure(CURSOR, place(tmp_path), STARTED, dry_run=True)

    assert (True, False) == (found.changed, found.written)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[1]",
        b'{"mcpServers": 1}',
        b"\xff\xfe{}",
        b'{"mcpServers": {"metier": {"command": 1 // c\n}}}',
    ],
)
def test_a_file_that_cannot_be_read_is_left_as_it_is(data: bytes, tmp_path: Path) -> None:
    file = Path(place(tmp_path).file)
    file.parent.mkdir()
    file.write_bytes(data)

    with pytest.raises(ConfigError) as caught:
        configure(tmp_path)

    assert ("client-file", True) == (
        caught.value.code,
        "metier mcp config --for cursor" in caught.value.hint,
    )
    assert (data, ["mcp.json"]) == (file.read_bytes(), os.listdir(file.parent))


# --- links, and what is no file


def test_a_link_within_the_home_stays_a_link(tmp_path: Path) -> None:
    file, real = Path(place(tmp_path).file), tmp_path / "dotfiles" / "mcp.json"
    file.parent.mkdir()
    real.parent.mkdir()
    real.write_text("{}")
    file.symlink_to(real)

    found = configure(tmp_path)

    assert (True, True) == (file.is_symlink(), "metier" in real.read_text())
    assert f"{real}.metier-backup" == found.backup


def test_a_link_out_of_the_home_is_not_followed(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside.json"
    file = Path(place(home).file)
    file.parent.mkdir(parents=True)
    outside.write_text("{}")
    file.symlink_to(outside)

    with pytest.raises(RefusedError) as caught:
        configure(home)

    assert ("unsafe-link", "{}") == (caught.value.code, outside.read_text())


@pytest.mark.parametrize("linked", [".cursor", ".cursor/mcp.json"])
def test_a_project_cannot_have_a_file_of_yours_written(linked: str, tmp_path: Path) -> None:
    project, yours = tmp_path / "project", tmp_path / "yours"
    (project / linked).parent.mkdir(parents=True)
    yours.mkdir()
    (yours / "mcp.json").write_text("{}")
    (project / linked).symlink_to(yours if linked == ".cursor" else yours / "mcp.json")

    with pytest.raises(RefusedError):
        client_config.configure(CURSOR, place(tmp_path, project=str(project)), STARTED)

    assert "{}" == (yours / "mcp.json").read_text()


def test_a_pipe_in_its_place_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    file = Path(place(tmp_path).file)
    file.parent.mkdir()
    os.mkfifo(file)

    with pytest.raises(StoreError):
        configure(tmp_path)

    assert file.is_fifo()


def test_a_project_gets_no_token(tmp_path: Path) -> None:
    with pytest.raises(RefusedError) as caught:
        client_config.configure(CURSOR, place(tmp_path, project=str(tmp_path)), REMOTE)

    assert ("shared-file", []) == (caught.value.code, list(tmp_path.iterdir()))


def test_a_projects_file_can_be_read_by_those_who_can_read_the_project(tmp_path: Path) -> None:
    found = client_config.configure(CURSOR, place(tmp_path, project=str(tmp_path)), STARTED)

    assert f"{tmp_path}/.cursor/mcp.json" == found.file
    assert mode_of(Path(found.file)) & 0o400


def test_a_client_without_a_file_in_projects_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        place(tmp_path, clients.client_named("windsurf"), project=str(tmp_path))

    with pytest.raises(UsageError):
        client_config.client_file(CURSOR, env={}, home=None)


def test_a_file_that_the_client_writes_meanwhile_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Path(place(tmp_path).file)
    file.parent.mkdir()
    file.write_text("{}")
    flush = os.fsync

    def meddled(descriptor: int) -> None:  # as the client would, while the backup is written
        monkeypatch.setattr(os, "fsync", flush)
        file.write_text('{"new": true}')
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", meddled)
    found = configure(tmp_path)

    assert ["new", "mcpServers"] == list(json.loads(file.read_text()))
    assert '{"new": true}' == Path(found.backup).read_text()


# --- how this metier is started


def test_the_command_is_the_script_that_runs_or_this_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "metier"
    script.touch()

    monkeypatch.setattr(sys, "argv", [str(script)])
    by_script = client_config.command_here()
    monkeypatch.setattr(sys, "argv", ["/src/metier/__main__.py"])
    by_module = client_config.command_here()

    assert ((str(script),), (sys.executable, "-m", "metier")) == (by_script, by_module)
