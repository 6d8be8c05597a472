"""The lock as bytes: one form for each, every fault with its line."""

from __future__ import annotations

import json
import re

import pytest
from fakes.pins import a_pin, digest, sha

from metier.errors import ConfigError
from metier.supply.lock import LOCK_VERSION, lock_bytes, read_lock
from metier.supply.model import InstallTarget, Lock, PinnedFile, PinVerdict


def fault_of(data: bytes) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        read_lock(data)
    return caught.value


def test_a_lock_is_laid_out_for_diffs() -> None:
    pin = a_pin(
        verdict=PinVerdict("caution", 12, "r"),
        targets=(
            InstallTarget("", ".agents/skills/pdf", "folder"),
            InstallTarget("codex", ".codex/skills/pdf", "link"),
        ),
    )

    text = lock_bytes(Lock((pin,))).decode()

    assert (
        f"""{{
  "version": 1,
  "skills": [
    {{
      "name": "pdf",
      "kind": "git",
      "source": "https://github.com/anthropics/skills",
      "path": "skills/pdf",
      "ref": "main",
      "commit": "{pin.commit}",
      "digest": "{pin.digest}",
      "base": "{pin.base}",
      "verdict": {{"level": "caution", "score": 12, "ruleset": "r"}},
      "targets": [
        {{"agent": "", "path": ".agents/skills/pdf", "method": "folder"}},
        {{"agent": "codex", "path": ".codex/skills/pdf", "method": "link"}}
      ],
      "files": {{
        "SKILL.md": "{pin.files[0].sha256}",
        "scripts/run.sh": "{pin.files[1].sha256} x"
      }}
    }}
  ]
}}
"""
        == text
    )


def test_an_empty_lock_is_one_too() -> None:
    data = lock_bytes(Lock())

    assert b'{\n  "version": 1,\n  "skills": []\n}\n' == data
    assert Lock() == read_lock(data)


def test_what_is_written_is_read_back_and_in_order() -> None:
    lock = Lock(
        (a_pin("b"), a_pin("a", approval=digest("a"), signature="ed25519:1", ref="", path=""))
    )

    found = read_lock(lock_bytes(lock))

    assert Lock((lock.pins[1], lock.pins[0])) == found


def test_the_order_in_which_things_come_does_not_change_a_byte() -> None:
    pin = a_pin()
    turned = pin._replace(files=pin.files[::-1])

    assert lock_bytes(Lock((pin, a_pin("a")))) == lock_bytes(Lock((a_pin("a"), turned)))


def test_targets_stay_in_their_order_for_the_first_is_the_working_copy() -> None:
    targets = (
        InstallTarget("", ".agents/skills/pdf", "folder"),
        InstallTarget("codex", ".agents/skills/pdf", "folder"),
        InstallTarget("amp", ".x/pdf", "copy"),
    )
    lock = Lock((a_pin(targets=targets),))

    assert lock == read_lock(lock_bytes(lock))


def test_a_lock_is_ascii_whatever_names_are_in_it() -> None:
    files = (PinnedFile("références/é.md", sha("1")), PinnedFile("raw-\udcff", sha("2")))
    lock = Lock((a_pin("métier", path="", files=tuple(sorted(files)), targets=()),))

    data = lock_bytes(lock)

    assert data.isascii()
    assert lock == read_lock(data)


def test_a_lock_of_a_newer_version_is_left_alone_with_advice() -> None:
    error = fault_of(b'{"version": %d, "skills": [], "new": 1}' % (LOCK_VERSION + 1))

    assert "lock-version" == error.code
    assert "upgrade metier" in error.hint


GOOD = lock_bytes(Lock((a_pin("a"), a_pin("pdf"))))
BROKEN = {
    "not JSON": (GOOD[:-4], "line 40"),
    "not UTF-8": (GOOD.replace(b"pdf", b"\xff", 1), "line 23: it is not UTF-8"),
    "not an object": (b"[]", "line 1: expected an object here"),
    "empty": (b"", "line 1"),
    "no version": (b'{"skills": []}', "its version must be a number"),
    "version of another kind": (b'{"version": true, "skills": []}', "its version must be a number"),
    "version of many digits": (b'{"version": %b, "skills": []}' % (b"9" * 10_000), "its version must be a number"),
    "version below one": (b'{"version": 0, "skills": []}', "its version must be a number"),
    "an unknown key at the top": (GOOD.replace(b'"version": 1', b'"more": 2, "version": 1'), "expected 'version' and a list"),
    "an unknown key of a skill": (GOOD.replace(b'"ref": "main"', b'"extra": ""', 1), 'line 9: a skill has unknown keys: "extra"'),
    "a key that a level above has too": (GOOD.replace(b'"ref": "main"', b'"skills": ""', 1), 'line 9: a skill has unknown keys: "skills"'),
    "a missing key": (GOOD.replace(b'      "kind": "git",\n', b"", 1), 'line 4: a skill has no "kind"'),
    "the same key twice": (GOOD.replace(b'"ref": "main"', b'"kind": "git"', 1), 'line 6: "kind" appears twice'),
    "a file twice": (GOOD.replace(b'"scripts/run.sh"', b'"SKILL.md"', 1), 'line 18: "SKILL.md" appears twice'),
    "skills of another kind": (b'{"version": 1, "skills": {}}', "expected 'version' and a list"),
    "a skill of another kind": (b'{"version": 1, "skills": [\n7]}', "line 2: expected an object here"),
    "a text of another kind": (GOOD.replace(b'"ref": "main"', b'"ref": 7', 1), "line 9: 'ref' must be a string"),
    "an unknown kind": (GOOD.replace(b'"git"', b'"ftp"', 1), 'line 6: kind of "a": it is none of'),
    "no source": (GOOD.replace(b'"https://github.com/anthropics/skills"', b'""', 1), 'line 7: source of "a": it is empty'),
    "a digest that is none": (GOOD.replace(b"sha256:", b"md5:", 1), 'line 11: digest of "a"'),
    "a digest in capitals": (re.sub(rb'"base": "sha256:[0-9a-f]{8}', b'"base": "sha256:ABCDEF01', GOOD, count=1), 'line 12: base of "a"'),
    "a verdict of another kind": (GOOD.replace(b'{"level": "safe", "score": 0, "ruleset": "rules-1"}', b"[]", 1), "line 13"),
    "a level that is none": (GOOD.replace(b'"safe"', b'"fine"', 1), 'line 13: verdict "level" of "a"'),
    "a score that is none": (GOOD.replace(b'"score": 0', b'"score": true', 1), "line 13: a verdict must have two strings"),
    "a score below zero": (GOOD.replace(b'"score": 0', b'"score": -1', 1), 'line 13: verdict "score" of "a"'),
    "a score that is no number": (GOOD.replace(b'"score": 0', b'"score": NaN', 1), "line 13"),
    "a score of many digits": (GOOD.replace(b'"score": 0', b'"score": ' + b"9" * 5000, 1), "line 13"),
    "targets of another kind": (GOOD.replace(b'"targets": [', b'"targets": {"": [', 1).replace(b"]", b"]}", 1), "line 14: 'targets' must be a list"),
    "a target without a method": (GOOD.replace(b', "method": "folder"', b"", 1), "line 15: a target must have"),
    "an unknown method": (GOOD.replace(b'"folder"', b'"mount"', 1), 'line 14: targets ".agents/skills/a" of "a": its method'),
    "files of another kind": (GOOD.replace(b'"files": {', b'"files": [{', 1).replace(b"      }\n", b"      }]\n", 1), "line 17: expected an object here"),
    "a hash that is none": (re.sub(rb'"SKILL.md": "[0-9a-f]+"', b'"SKILL.md": "abc"', GOOD, count=1), 'line 17: files "SKILL.md" of "a"'),
    "a mode that is none": (GOOD.replace(b' x"', b' s"', 1), 'line 17: files "scripts/run.sh" of "a"'),
    "a file's hash of another kind": (re.sub(rb'"SKILL.md": "[0-9a-f]+"', b'"SKILL.md": null', GOOD, count=1), "line 18: a file has no hash"),
    "a name twice": (GOOD.replace(b'"name": "pdf"', b'"name": "a"').replace(b'skills/pdf"', b'skills/a"'), "line 22: 'a' is there twice"),
    "a key twice": (GOOD.replace(b'"path": "skills/pdf"', b'"path": "skills/a"'), "are the same skill of the same source"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_lock_is_refused_with_the_line(case: str) -> None:
    data, said = BROKEN[case]

    error = fault_of(data)

    assert "lock" == error.code
    assert said in error.message
    assert error.hint


def test_what_could_not_be_read_again_is_not_written() -> None:
    for pin in (
        a_pin("../x"),
        a_pin(digest="none"),
        a_pin(targets=(InstallTarget("", "elsewhere", "folder"),)),
    ):
        with pytest.raises(ConfigError, match="can't write the lock"):
            lock_bytes(Lock((pin,)))
    with pytest.raises(ConfigError, match="is there twice"):
        lock_bytes(Lock((a_pin(), a_pin())))


def test_notes_are_never_written() -> None:
    lock = Lock((a_pin(),))

    assert lock_bytes(lock) == lock_bytes(lock._replace(notes=("healed",)))


def test_a_lock_in_another_layout_means_the_same() -> None:
    lock = Lock((a_pin("a"), a_pin("b")))

    found = read_lock(
        json.dumps(json.loads(lock_bytes(lock))).encode("utf-16-le").decode("utf-16-le").encode()
    )

    assert lock == found
    assert lock == read_lock(b"\xef\xbb\xbf" + lock_bytes(lock).replace(b"\n", b"\r\n"))
