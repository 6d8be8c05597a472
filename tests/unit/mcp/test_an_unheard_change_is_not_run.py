"""What a model runs is what it loaded, also where a change was not heard of yet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fakes.cage import KeptSandbox
from fakes.served import Place

from metier.mcp.server import make_server
from metier.mcp.sessions import Conversation

if TYPE_CHECKING:
    from conftest import Home, Writer

MAY_RUN = """[mcp]
run = true
[[trust.rules]]
level = "community"
verdict = "safe"
phase = "run"
action = "allow"
"""


def test_a_change_that_nobody_has_heard_of_yet_is_not_run(
    home: Home, tmp_path: Path, skill: Writer
) -> None:
    place = Place(home, tmp_path, skill)
    place.config.write_text(MAY_RUN)
    folder = place.skill("skills/pdf", scripts__say_sh="echo one\n")
    run = {"name": "pdf", "script": "scripts/say.sh"}

    with place.open() as library:
        library.context.sandbox = box = KeptSandbox()
        serving, talk = make_server(library), Conversation()
        serving.tools.call("load_skill", {"name": "pdf"}, talk)
        serving.tools.call("run_skill_script", run, talk)
        (folder / "scripts/say.sh").write_text("echo two\n")
        found = serving.tools.call("run_skill_script", run, talk)["structuredContent"]

    assert "revision-gone" == found["error"]["code"]
    assert 1 == len(box.cages)
