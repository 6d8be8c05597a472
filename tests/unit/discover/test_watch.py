"""Changes on a real disk are heard of through the system; where that fails, everything is looked at from time to time."""

from __future__ import annotations

import os
import queue
import resource
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes.listener import PATIENCE

from metier.discover import watch as watching
from metier.discover.watch import Ear, Notices, Wanted, planned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Heard:
    """Everything an ear has passed on, and why it began to poll."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.paths: queue.Queue[set[str] | None] = queue.Queue()
        self.reasons: list[str] = []

    def __call__(self, paths: set[str] | None) -> None:
        """Be told."""
        if paths is None or paths:
            self.paths.put(paths)

    def until(self, path: object) -> None:
        """Wait until a path was told."""
        while str(path) not in (self.paths.get(timeout=PATIENCE) or ()):
            pass


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def listen(heard: Heard) -> Iterator[Callable[..., Ear]]:
    ears = []

    def opened(*roots: Path, files: tuple[Path, ...] = (), quiet: tuple[Path, ...] = (), poll: bool = False) -> Ear:
        wanted = Wanted(tuple(map(str, roots)), tuple(map(str, files)), tuple(map(str, quiet)))
        ears.append(Ear(lambda: wanted, heard, poll=poll, failed=heard.reasons.append))
        ears[-1].start()
        return ears[-1]

    yield opened
    for ear in ears:
        ear.close()


def written(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# --- what is watched


def test_a_root_that_exists_is_watched_whole_and_one_that_does_not_from_the_nearest_folder_above(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()

    plan = planned(Wanted((f"{tmp_path}/there", f"{tmp_path}/there/in", f"{tmp_path}/not/yet"), (f"{tmp_path}/etc/metier.toml",)))

    assert {f"{tmp_path}/there": True, str(tmp_path): False} == {folder: deep for folder, (deep, *_identity) in plan.items()}


def test_a_file_that_stands_where_a_root_should_be_is_watched_from_its_folder(tmp_path: Path) -> None:
    written(tmp_path / "root")

    plan = planned(Wanted((f"{tmp_path}/root",)))

    assert [str(tmp_path)] == list(plan)


def test_nothing_to_watch_is_no_error() -> None:
    stop = threading.Event()
    notices = Notices(Wanted(()), stop)

    found = notices.heard()
    notices.close()

    assert set() == found


# --- what is heard


def test_a_file_deep_in_a_root_is_heard_of(tmp_path: Path, heard: Heard, listen: Callable[..., Ear]) -> None:
    (tmp_path / "root" / "pdf" / "scripts").mkdir(parents=True)
    ear = listen(tmp_path / "root")

    path = written(tmp_path / "root" / "pdf" / "scripts" / "run.py")

    heard.until(path)
    assert ("notices", []) == (ear.mode, heard.reasons)


def test_a_root_made_later_is_heard_of_and_then_all_below_it(tmp_path: Path, heard: Heard, listen: Callable[..., Ear]) -> None:
    root = tmp_path / "home" / ".agents" / "skills"
    listen(root)

    root.mkdir(parents=True)
    heard.until(root)
    path = written(root / "pdf" / "SKILL.md")
    heard.until(root / "pdf")
    written(path, "more")

    heard.until(path)


def test_a_root_that_was_deleted_and_made_again_is_still_heard_of(tmp_path: Path, heard: Heard, listen: Callable[..., Ear]) -> None:
    root = tmp_path / "root"
    root.mkdir()
    listen(root)

    for number in range(3):
        shutil.rmtree(root)
        heard.until(root)
        root.mkdir()
        heard.until(root)
        heard.until(written(root / f"file-{number}.md"))

    assert [] == heard.reasons


def test_a_single_file_is_heard_of_from_its_folder_on_and_each_time_it_is_replaced(tmp_path: Path, heard: Heard, listen: Callable[..., Ear]) -> None:
    file = tmp_path / "config" / "metier.toml"
    listen(files=(file,))

    file.parent.mkdir()
    heard.until(file.parent)
    for number in range(3):
        written(tmp_path / "config" / "new", str(number)).replace(file)
        heard.until(file)

    assert "2" == file.read_text()


def test_what_lies_behind_a_linked_skill_is_heard_of(tmp_path: Path, heard: Heard, listen: Callable[..., Ear]) -> None:
    written(tmp_path / "elsewhere" / "pdf" / "SKILL.md")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "pdf").symlink_to(tmp_path / "elsewhere" / "pdf")
    listen(tmp_path / "root")

    written(tmp_path / "elsewhere" / "pdf" / "SKILL.md", "more")

    heard.until(tmp_path / "root" / "pdf" / "SKILL.md")


def test_swap_files_and_what_metier_writes_itself_are_not_heard_of(tmp_path: Path, heard: Heard, listen: Callable[..., Ear]) -> None:
    (tmp_path / "root" / "pdf").mkdir(parents=True)
    (tmp_path / "root" / "state").mkdir()
    listen(tmp_path / "root", quiet=(tmp_path / "root" / "state",))

    written(tmp_path / "root" / "pdf" / ".SKILL.md.swp")
    written(tmp_path / "root" / "state" / "index")
    last = written(tmp_path / "root" / "pdf" / "SKILL.md")

    assert {str(last)} == heard.paths.get(timeout=PATIENCE)


def test_a_name_that_is_no_text_ends_nothing(tmp_path: Path, heard: Heard, listen: Callable[..., Ear]) -> None:
    root = tmp_path / "root"
    root.mkdir()
    ear = listen(root)

    Path(os.fsdecode(os.fsencode(root) + b"/\xff\xfe")).write_text("x")
    heard.until(root)  # what it was cannot be told, so all of the root is looked at
    heard.until(written(root / "pdf.md"))

    assert ("notices", []) == (ear.mode, heard.reasons)


def test_errors_without_end_end_in_polling(tmp_path: Path, heard: Heard, listen: Callable[..., Ear], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MOST_FAULTS", 0)
    root = tmp_path / "root"
    root.mkdir()
    ear = listen(root)

    Path(os.fsdecode(os.fsencode(root) + b"/\xff\xfe")).write_text("x")
    while heard.paths.get(timeout=PATIENCE) is not None:
        pass

    assert "polling" == ear.mode
    assert "Unable to decode" in heard.reasons[0]


def test_a_place_is_looked_at_once_more_when_it_has_become_quiet(tmp_path: Path, heard: Heard, listen: Callable[..., Ear]) -> None:
    (tmp_path / "root").mkdir()
    listen(tmp_path / "root")

    path = written(tmp_path / "root" / "pdf.md")

    heard.until(path)
    heard.until(path)


# --- polling


def test_without_the_package_everything_is_polled_and_the_reason_said(
    tmp_path: Path, heard: Heard, listen: Callable[..., Ear], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "watchfiles", None)

    ear = listen(tmp_path)

    assert heard.paths.get(timeout=PATIENCE) is None
    assert ("polling", ["watchfiles is not installed: pip install 'metier[watch]'"]) == (ear.mode, heard.reasons)


def test_where_the_system_refuses_everything_is_polled_and_the_reason_said(tmp_path: Path, heard: Heard, listen: Callable[..., Ear]) -> None:
    import watchfiles  # noqa: F401 - loading it needs files of its own

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))  # not one more
    try:
        ear = listen(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert heard.paths.get(timeout=PATIENCE) is None
    assert "polling" == ear.mode
    assert "Too many open files" in heard.reasons[0]


def test_whoever_asks_for_polling_gets_it_without_a_complaint(tmp_path: Path, heard: Heard, listen: Callable[..., Ear]) -> None:
    ear = listen(tmp_path, poll=True)

    assert heard.paths.get(timeout=PATIENCE) is None
    assert ("polling", []) == (ear.mode, heard.reasons)


# --- its end


@pytest.mark.parametrize("poll", [False, True])
def test_nothing_runs_after_it_was_closed(tmp_path: Path, poll: bool, heard: Heard, listen: Callable[..., Ear]) -> None:
    ear = listen(tmp_path, poll=poll)

    ear.close()
    ear.close()

    assert [] == [thread for thread in threading.enumerate() if thread.name == "metier-watch"]
    assert [] == heard.reasons


def test_it_can_be_closed_by_whom_it_tells(tmp_path: Path) -> None:
    closed = threading.Event()

    def told(paths: set[str] | None) -> None:
        if paths:
            ear.close()
            closed.set()

    ear = Ear(lambda: Wanted((str(tmp_path),)), told, poll=False, failed=Heard().reasons.append)
    ear.start()

    written(tmp_path / "file.md")

    assert closed.wait(PATIENCE)
    ear.close()
