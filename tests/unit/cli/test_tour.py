"""The tour's temporary folder: it goes away, and nobody who presses Ctrl-C meanwhile is ignored."""

from __future__ import annotations

import shutil
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from metier.cli.commands.tour import temporary_folder
from metier.cli.main import exit_on_signal


def test_control_c_while_the_folder_is_removed_still_ends_the_tour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    remove = shutil.rmtree
    seen: list[str] = []

    def interrupted(folder: str, *, ignore_errors: bool) -> None:
        seen.append(folder)
        signal.raise_signal(signal.SIGINT)
        remove(folder, ignore_errors=ignore_errors)

    monkeypatch.setattr(shutil, "rmtree", interrupted)
    before = signal.getsignal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), temporary_folder():
        pass
    with pytest.raises(ValueError, match="own"), temporary_folder():
        raise ValueError("own")

    assert [False, False] == [Path(folder).exists() for folder in seen]
    assert before is signal.getsignal(signal.SIGINT)


def test_a_request_to_end_that_was_lost_ends_the_program_later() -> None:
    with (
        pytest.raises(SystemExit) as ended,
        exit_on_signal(),
        suppress(SystemExit),
    ):  # as Python does while it lets go of a value
        signal.raise_signal(signal.SIGTERM)

    assert 128 + signal.SIGTERM == ended.value.code
    assert signal.SIG_DFL is signal.getsignal(signal.SIGTERM)
