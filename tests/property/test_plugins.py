"""A walk at random over everything that can be done about mirrored plugins, held against a simple model, with crashes anywhere.

Whatever happens, and wherever it is broken off: no edit is lost, no skill has two owners, what is written down and what is in the
store agree, and nothing is left lying about. METIER_WALKS=N walks N times as far.
"""

from __future__ import annotations

import os

from fakes.kits import HOUR, PLACES, PLUGINS, SHIPS
from fakes.walking import MOST, WORDS as ALL_WORDS, Break, Walk
from hypothesis import Phase, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

FURTHER = int(os.environ.get("METIER_WALKS", "1"))
WORDS = st.sampled_from(ALL_WORDS)
TEXTS = st.tuples(*[WORDS] * PLACES)
PLUGIN, AT, PICK = st.sampled_from(PLUGINS), st.integers(0, PLACES - 1), st.integers(0, 7)
SHIPPED = st.sampled_from([(plugin, name) for plugin in PLUGINS for name in SHIPS[plugin]])
NAME = SHIPPED.map(lambda what: what[1])
BREAKS = st.none() | st.builds(
    Break,
    st.sampled_from(["SIGKILL", "SIGKILL", "ENOSPC", "EIO"]),
    st.sampled_from(MOST).flatmap(lambda most: st.integers(1, most)),
    st.sampled_from(["settled", "killed", "left"]),
    st.integers(1, 12),
)


def waits(machine: Plugins) -> bool:
    """Tell whether there is anything to decide about."""
    return bool(machine.walk.waiting())


class Plugins(RuleBasedStateMachine):
    """Everything that a person, two plugins and metier may do, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.walk = Walk()

    def teardown(self) -> None:
        self.walk.close()

    @initialize(both=st.booleans(), enabled=st.lists(PLUGIN, max_size=2), late=st.booleans())
    def begin(self, both: bool, enabled: list[str], late: bool) -> None:
        self.walk.kits.ahead = HOUR * late
        if both:
            self.walk.kits.ship("kit", "shared")
        for plugin in enabled:
            self.walk.enable(plugin, None)

    # --- upstream

    @rule(what=SHIPPED, words=TEXTS)
    def upstream_changes(self, what: tuple[str, str], words: tuple[str, ...]) -> None:
        self.walk.ship(*what, words)

    @rule(what=SHIPPED, at=AT, word=WORDS)
    def upstream_changes_a_word(self, what: tuple[str, str], at: int, word: str) -> None:
        self.walk.upstream_word(*what, at, word)

    @rule(what=SHIPPED, pick=PICK)
    def upstream_withdraws_or_turns_evil(self, what: tuple[str, str], pick: int) -> None:
        self.walk.leave_out(*what, pick)

    @rule(plugin=PLUGIN, version=st.sampled_from(["", "1.0", "1.1"]))
    def the_manifest_changes_or_goes(self, plugin: str, version: str) -> None:
        self.walk.manifest(plugin, version)

    # --- the person

    @rule(name=NAME, at=AT, word=WORDS, pick=PICK)
    def a_person_edits_or_deletes(self, name: str, at: int, word: str, pick: int) -> None:
        self.walk.person(name, at, word, pick)

    # --- the verbs

    @rule(plugin=PLUGIN, broken=BREAKS)
    def enable(self, plugin: str, broken: Break | None) -> None:
        self.walk.enable(plugin, broken)

    @rule(broken=BREAKS)
    def sync(self, broken: Break | None) -> None:
        self.walk.sync(broken)

    @rule(plugin=PLUGIN, broken=BREAKS)
    def pause(self, plugin: str, broken: Break | None) -> None:
        self.walk.pause(plugin, broken)

    @rule(plugin=PLUGIN, broken=BREAKS)
    def resume(self, plugin: str, broken: Break | None) -> None:
        self.walk.resume(plugin, broken)

    @rule(plugin=PLUGIN, broken=BREAKS)
    def disable(self, plugin: str, broken: Break | None) -> None:
        self.walk.disable(plugin, broken)

    @rule(what=SHIPPED, broken=BREAKS)
    def adopt(self, what: tuple[str, str], broken: Break | None) -> None:
        self.walk.adopt(*what, broken)

    @precondition(waits)
    @rule(pick=PICK, how=st.sampled_from(["", "", "ours", "theirs"]), broken=BREAKS)
    def accept(self, pick: int, how: str, broken: Break | None) -> None:
        self.walk.accept(pick, how, broken)

    @precondition(waits)
    @rule(pick=PICK, at=AT, word=WORDS, broken=BREAKS)
    def edit_and_accept(self, pick: int, at: int, word: str, broken: Break | None) -> None:
        self.walk.edit(pick, at, word, broken)
        self.walk.accept(pick, "", None)

    @precondition(waits)
    @rule(pick=PICK, broken=BREAKS)
    def reject(self, pick: int, broken: Break | None) -> None:
        self.walk.reject(pick, broken)

    @rule(name=NAME, pick=PICK, broken=BREAKS)
    def make_current(self, name: str, pick: int, broken: Break | None) -> None:
        self.walk.make_current(name, pick, broken)

    @rule()
    def reopen(self) -> None:
        self.walk.reopen()

    @invariant()
    def nothing_is_wrong(self) -> None:
        assert [] == self.walk.wrong()


TestPlugins = Plugins.TestCase
# A walk that fails is shrunk only where somebody waits for it: each step of it is many on disk.
TestPlugins.settings = settings(
    max_examples=20 * FURTHER,
    stateful_step_count=25 if FURTHER == 1 else 50,
    derandomize=FURTHER == 1,
    phases=[Phase.generate] if FURTHER == 1 else [Phase.generate, Phase.shrink],
)
