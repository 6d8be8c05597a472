"""Changes on a real disk are heard of through the system; where that fails, everything is looked at from time to time."""

from __future__ import annotations

import os
import queue
import resource
import shutil
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fakes.listener import PATIENCE

from metier.discover.io import notices
from metier.discover.io.notices import Notices, NoticeThread, WatchedFolders, planned

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

    def until(self, path: object) -> bool:
        """Wait until a path was told."""
        while str(path) not in (self.paths.get(timeout=PATIENCE) or ()):
            pass
        return True


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def listen(heard: Heard) -> Iterator[Callable[..., NoticeThread]]:
    ears = []

    def opened(
        *roots: Path,
        files: tuple[Path, ...] = (),
        quiet: tuple[Path, ...] = (),
        links: tuple[Path, ...] = (),
        **options: Any,
    ) -> NoticeThread:
        wanted = WatchedFolders(*(tuple(map(str, paths)) for paths in (roots, files, quiet, links)))
        ears.append(NoticeThread(lambda: wanted, heard, failed=heard.reasons.append, **options))
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


def test_a_root_that_exists_is_watched_whole_and_one_that_does_not_from_the_nearest_folder_above(
    tmp_path: Path,
) -> None:
    (tmp_path / "there").mkdir()

    plan = planned(
        WatchedFolders(
            (f"{tmp_path}/there", f"{tmp_path}/there/in", f"{tmp_path}/not/yet"),
            (f"{tmp_path}/etc/metier.toml",),
        )
    )

    assert {f"{tmp_path}/there": "deep", str(tmp_path): "flat"} == {
        folder: kind for folder, (kind, *_identity) in plan.items()
    }


def test_what_links_lead_to_is_watched_whole_unless_a_root_holds_it_and_from_above_while_it_is_missing(
    tmp_path: Path,
) -> None:
    for name in ("root/own", "out/team/pdf", "nearly"):
        (tmp_path / name).mkdir(parents=True)
    targets = [
        f"{tmp_path}/{name}"
        for name in ("root/own", "out/team", "out/team/pdf", "out/team/none", "nearly/not/yet")
    ]

    plan = planned(WatchedFolders((f"{tmp_path}/root",)), targets)

    expected = {"root": "deep", "out/team": "linked", "nearly": "flat"}
    assert {f"{tmp_path}/{name}": kind for name, kind in expected.items()} == {
        folder: kind for folder, (kind, *_identity) in plan.items()
    }


def test_a_file_that_stands_where_a_root_should_be_is_watched_from_its_folder(
    tmp_path: Path,
) -> None:
    written(tmp_path / "root")

    plan = planned(WatchedFolders((f"{tmp_path}/root",)))

    assert [str(tmp_path)] == list(plan)


def test_nothing_to_watch_is_no_error() -> None:
    stop = threading.Event()
    notices = Notices(WatchedFolders(()), stop)

    found = notices.heard()
    notices.close()

    assert set() == found


# --- what is heard


def test_a_file_deep_in_a_root_is_heard_of(
    tmp_path: Path, heard: Heard, listen: Callable[..., NoticeThread]
) -> None:
    (tmp_path / "root" / "pdf" / "scripts").mkdir(parents=True)
    ear = listen(tmp_path / "root")

    path = written(tmp_path / "root" / "pdf" / "scripts" / "run.py")

    assert heard.until(path)
    assert ("notices", []) == (ear.mode, heard.reasons)


def test_a_root_made_later_is_heard_of_and_then_all_below_it(
    tmp_path: Path, heard: Heard, listen: Callable[..., NoticeThread]
) -> None:
    root = tmp_path / "home" / ".agents" / "skills"
    listen(root)

    root.mkdir(parents=True)
    assert heard.until(root)
    path = written(root / "pdf" / "SKILL.md")
    assert heard.until(root / "pdf")
    written(path, "more")

    assert heard.until(path)


def test_a_root_that_was_deleted_and_made_again_is_still_heard_of(
    tmp_path: Path, heard: Heard, listen: Callable[..., NoticeThread]
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    listen(root)

    for number in range(3):
        shutil.rmtree(root)
        assert heard.until(root)
        root.mkdir()
        assert heard.until(root)
        assert heard.until(written(root / f"file-{number}.md"))

    assert [] == heard.reasons


def test_a_single_file_is_heard_of_from_its_folder_on_and_each_time_it_is_replaced(
    tmp_path: Path, heard: Heard, listen: Callable[..., NoticeThread]
) -> None:
    file = tmp_path / "config" / "metier.toml"
    listen(files=(file,))

    file.parent.mkdir()
    assert heard.until(file.parent)
    for number in range(3):
        written(tmp_path / "config" / "new", str(number)).replace(file)
        assert heard.until(file)

    assert "2" == file.read_text()


def test_what_lies_behind_a_linked_skill_is_heard_of(
    tmp_path: Path, heard: Heard, listen: Callable[..., NoticeThread]
) -> None:
    written(tmp_path / "elsewhere" / "pdf" / "SKILL.md")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "pdf").symlink_to(tmp_path / "elsewhere" / "pdf")
    listen(tmp_path / "root")

    written(tmp_path / "elsewhere" / "pdf" / "SKILL.md", "more")

    assert heard.until(tmp_path / "root" / "pdf" / "SKILL.md")


@pytest.fixture
def link(tmp_path: Path) -> Path:
    """Give the name of a link that is not there yet, in a root that is."""
    (tmp_path / "root").mkdir()
    written(tmp_path / "out" / "one" / "SKILL.md")
    written(tmp_path / "out" / "two" / "SKILL.md")
    return tmp_path / "root" / "pdf"


def test_what_lies_behind_a_link_that_was_made_later_is_heard_of(
    link: Path, heard: Heard, listen: Callable[..., NoticeThread]
) -> None:
    listen(link.parent, links=(link,))

    link.symlink_to(link.parents[1] / "out" / "one")
    assert heard.until(link)
    written(link.parents[1] / "out" / "one" / "SKILL.md", "more")

    assert heard.until(link / "SKILL.md")


def test_what_lies_behind_a_link_that_leads_elsewhere_now_is_heard_of(
    link: Path, heard: Heard, listen: Callable[..., NoticeThread]
) -> None:
    link.symlink_to(link.parents[1] / "out" / "one")
    listen(link.parent, links=(link,))

    (link.parent / "new").symlink_to(link.parents[1] / "out" / "two")
    (link.parent / "new").replace(link)
    assert heard.until(link)
    written(link.parents[1] / "out" / "two" / "SKILL.md", "more")

    assert heard.until(link / "SKILL.md")


def test_a_link_over_another_link_that_leads_elsewhere_now_is_heard_of(
    link: Path, heard: Heard, listen: Callable[..., NoticeThread]
) -> None:
    middle = link.parents[1] / "elsewhere" / "current"
    middle.parent.mkdir()
    middle.symlink_to(link.parents[1] / "out" / "one")
    link.symlink_to(middle)
    listen(link.parent, links=(link,))

    (middle.parent / "new").symlink_to(link.parents[1] / "out" / "two")
    (middle.parent / "new").replace(middle)
    assert heard.until(link)
    written(link.parents[1] / "out" / "two" / "SKILL.md", "more")

    assert heard.until(link / "SKILL.md")


def test_what_a_link_leads_to_is_heard_of_each_time_it_goes_and_comes(
    link: Path, heard: Heard, listen: Callable[..., NoticeThread]
) -> None:
    target = link.parents[1] / "out" / "one"
    link.symlink_to(target)
    listen(link.parent, links=(link,))

    for number in range(3):
        shutil.rmtree(target)
        assert heard.until(link)
        target.mkdir()
        assert heard.until(link)
        written(target / f"file-{number}.md")
        assert heard.until(link / f"file-{number}.md")

    assert [] == heard.reasons


def test_what_a_link_led_to_in_vain_is_heard_of_when_it_appears(
    link: Path, heard: Heard, listen: Callable[..., NoticeThread]
) -> None:
    target = link.parents[1] / "not" / "yet" / "pdf"
    link.symlink_to(target)
    listen(link.parent, links=(link,))

    target.mkdir(parents=True)
    assert heard.until(link)
    written(target / "SKILL.md")

    assert heard.until(link / "SKILL.md")


def test_a_link_to_a_place_whose_name_is_no_text_ends_in_polling(
    link: Path, heard: Heard, listen: Callable[..., NoticeThread]
) -> None:
    target = Path(os.fsdecode(os.fsencode(link.parents[1]) + b"/\xff"))
    target.mkdir()
    link.symlink_to(target)

    ear = listen(link.parent, links=(link,))

    assert ("polling", ["a folder that would have to be watched has a name that is not UTF-8"]) == (
        ear.mode,
        heard.reasons,
    )


def test_what_metier_writes_itself_is_not_heard_of(
    tmp_path: Path, heard: Heard, listen: Callable[..., NoticeThread]
) -> None:
    (tmp_path / "root" / "pdf").mkdir(parents=True)
    (tmp_path / "root" / "state").mkdir()
    listen(tmp_path / "root", quiet=(tmp_path / "root" / "state",))

    written(tmp_path / "root" / "state" / "index")
    last = written(tmp_path / "root" / "pdf" / "SKILL.md")

    assert {str(last)} == heard.paths.get(timeout=PATIENCE)


def test_a_name_that_is_no_text_ends_nothing(
    tmp_path: Path, heard: Heard, listen: Callable[..., NoticeThread]
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    ear = listen(root)

    Path(os.fsdecode(os.fsencode(root) + b"/\xff\xfe")).write_text("x")
    assert heard.until(root)  # what it was cannot be told, so all of the root is looked at
    assert heard.until(written(root / "pdf.md"))

    assert ("notices", []) == (ear.mode, heard.reasons)


def test_errors_without_end_end_in_polling(
    tmp_path: Path,
    heard: Heard,
    listen: Callable[..., NoticeThread],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(notices, "MAX_FAULTS", 0)
    root = tmp_path / "root"
    root.mkdir()
    ear = listen(root)

    Path(os.fsdecode(os.fsencode(root) + b"/\xff\xfe")).write_text("x")
    while heard.paths.get(timeout=PATIENCE) is not None:
        pass

    assert "polling" == ear.mode
    assert "Unable to decode" in heard.reasons[0]


def test_a_place_is_looked_at_once_more_when_it_has_become_quiet(
    tmp_path: Path, heard: Heard, listen: Callable[..., NoticeThread]
) -> None:
    (tmp_path / "root").mkdir()
    listen(tmp_path / "root")

    path = written(tmp_path / "root" / "pdf.md")

    assert heard.until(path)
    assert heard.until(path)


# --- polling


def test_without_the_package_everything_is_polled_and_the_reason_said(
    tmp_path: Path,
    heard: Heard,
    listen: Callable[..., NoticeThread],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)

    ear = listen(tmp_path)

    assert heard.paths.get(timeout=PATIENCE) is None
    assert ("polling", ["watchfiles is not installed: pip install 'metier[watch]'"]) == (
        ear.mode,
        heard.reasons,
    )


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "import no_such_part_of_it",
            "watchfiles cannot be loaded: No module named 'no_such_part_of_it'",
        ),
        (
            "raise ImportError('built for another Python')",
            "watchfiles cannot be loaded: built for another Python",
        ),
        ("raise RuntimeError('no such system')", "watchfiles cannot be loaded: no such system"),
        ("raise AttributeError", "watchfiles cannot be loaded: AttributeError"),
        ("(", "watchfiles cannot be loaded: '(' was never closed (__init__.py, line 1)"),
    ],
)
def test_a_package_that_cannot_be_loaded_means_polling_and_its_own_words_are_passed_on(
    code: str,
    reason: str,
    tmp_path: Path,
    heard: Heard,
    listen: Callable[..., NoticeThread],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "watchfiles"]:
        monkeypatch.delitem(sys.modules, name)
    written(tmp_path / "path" / "watchfiles" / "__init__.py", code)
    monkeypatch.syspath_prepend(tmp_path / "path")

    ear = listen(tmp_path)

    assert ("polling", [reason]) == (ear.mode, heard.reasons)


def test_whoever_said_in_the_library_s_environment_that_notices_do_not_work_is_believed(
    tmp_path: Path, heard: Heard, listen: Callable[..., NoticeThread]
) -> None:
    ear = listen(tmp_path, env={"WATCHFILES_FORCE_POLLING": "1"})

    assert ("polling", ["WATCHFILES_FORCE_POLLING is set"]) == (ear.mode, heard.reasons)


def test_what_this_process_s_environment_says_does_not_count(
    tmp_path: Path,
    heard: Heard,
    listen: Callable[..., NoticeThread],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "1")

    ear = listen(tmp_path, env={})

    assert ("notices", []) == (ear.mode, heard.reasons)


def test_where_the_system_refuses_everything_is_polled_and_the_reason_said(
    tmp_path: Path, heard: Heard, listen: Callable[..., NoticeThread]
) -> None:
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


def test_whoever_asks_for_polling_gets_it_without_a_complaint(
    tmp_path: Path, heard: Heard, listen: Callable[..., NoticeThread]
) -> None:
    ear = listen(tmp_path, poll=True)

    assert heard.paths.get(timeout=PATIENCE) is None
    assert ("polling", []) == (ear.mode, heard.reasons)


# --- its end


@pytest.mark.parametrize("poll", [False, True])
def test_nothing_runs_after_it_was_closed(
    tmp_path: Path, poll: bool, heard: Heard, listen: Callable[..., NoticeThread]
) -> None:
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

    ear = NoticeThread(
        lambda: WatchedFolders((str(tmp_path),)), told, failed=Heard().reasons.append
    )
    ear.start()

    written(tmp_path / "file.md")

    assert closed.wait(PATIENCE)
    ear.close()


def test_one_that_was_never_started_can_be_closed(tmp_path: Path) -> None:
    ear = NoticeThread(
        lambda: WatchedFolders((str(tmp_path),)), Heard(), failed=Heard().reasons.append
    )

    ear.close()

    assert [] == [thread for thread in threading.enumerate() if thread.name == "metier-watch"]
    assert ear not in notices.NOTICE_THREADS


@pytest.mark.filterwarnings(
    "ignore:.*fork:DeprecationWarning"
)  # newer Pythons warn of the very danger that is met here
def test_in_a_forked_process_it_is_closed_and_whoever_made_it_knows(tmp_path: Path) -> None:
    forked: list[str] = []
    ear = NoticeThread(
        lambda: WatchedFolders((str(tmp_path),)),
        Heard(),
        failed=Heard().reasons.append,
        forked=lambda: forked.append("yes"),
    )
    ear.start()

    child = os.fork()
    if not child:
        os._exit(
            0 if (forked, ear.mode, list(notices.NOTICE_THREADS)) == (["yes"], "polling", []) else 1
        )
    _child, status = os.waitpid(child, 0)
    ear.close()

    assert (0, []) == (status, forked)
