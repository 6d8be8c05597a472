"""Who is told of changes: everybody, and who does not read keeps nobody waiting and misses nothing."""

from __future__ import annotations

from typing import Any

import anyio

from metier.mcp.sessions import Conversations, Notifications, _Listener


class Session:
    """A client that reads only once it is let."""

    def __init__(self, *, gone: bool = False) -> None:
        self.heard: list[str] = []
        self.reads = anyio.Event()
        self.gone = gone

    def __getattr__(self, name: str) -> Any:
        async def send(*words: str) -> None:
            await self.reads.wait()
            if self.gone:
                raise anyio.ClosedResourceError
            self.heard.append(" ".join((name, *words)))

        return send


def test_who_does_not_read_is_told_once_of_all_that_was_missed_and_keeps_nobody_waiting() -> None:
    slow, quick, gone = Session(), Session(), Session(gone=True)

    async def main() -> list[str]:
        news = Notifications(Conversations("http"))
        for name, session in (("slow", slow), ("quick", quick), ("gone", gone)):
            news._listeners[name] = _Listener(session)  # type: ignore[arg-type] # noqa: SLF001 - whoever is connected
            news._listeners[name].uris = {"skill://a/x", "skill://b/x"}  # noqa: SLF001 - and subscribed
        quick.reads.set()
        gone.reads.set()
        with anyio.fail_after(30):
            async with anyio.create_task_group() as news.tasks:
                for root in ("a", "b", "a"):
                    await news.tell([root], tools=root == "b")
                    await anyio.lowlevel.checkpoint()
                told = list(quick.heard)
                slow.reads.set()
        return [*told, *sorted(news._listeners)]  # noqa: SLF001 - who is still there

    before = anyio.run(main)

    lists = ["send_resource_list_changed", "send_prompt_list_changed"]
    assert (lists, ["quick", "slow"]) == (before[:2], before[-2:])
    assert [*lists, "send_resource_updated skill://a/x"] == slow.heard[:3]
    assert [*lists, "send_tool_list_changed"] == slow.heard[3:6]
    assert {"send_resource_updated skill://a/x", "send_resource_updated skill://b/x"} == set(
        slow.heard[6:]
    )
