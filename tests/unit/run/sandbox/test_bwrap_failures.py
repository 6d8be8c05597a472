"""What bubblewrap's last words are made into."""

from __future__ import annotations

import pytest

from metier.run.sandbox.bwrap_arguments import explain_failure


@pytest.mark.parametrize(
    ("words", "code", "in_message", "in_hint"),
    [
        (
            b"bwrap: execvp /skill/a: No such file or directory\n",
            "no-program",
            "/skill/a cannot be started",
            "first line",
        ),
        (
            b"bwrap: execvp /skill/a: Permission denied\n",
            "no-program",
            "Permission denied",
            "executed",
        ),
        (
            b"bwrap: execvp /skill/a: Exec format error\n",
            "no-program",
            "Exec format error",
            "this machine",
        ),
        (b"bwrap: execvp /skill/a: Argument list too long\n", "no-program", "too long", "shorten"),
        (
            b"bwrap: No permissions to create new namespace, likely because the kernel does not allow it\n",
            "sandbox",
            "No permissions",
            "AppArmor",
        ),
        (
            b"bwrap: setting up uid map: Permission denied\n",
            "sandbox",
            "uid map",
            "unprivileged_userns_clone",
        ),
        (
            b"bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted\n",
            "sandbox",
            "RTM_NEWADDR",
            "max_user_namespaces",
        ),
        (
            b"bwrap: Can't find source path /gone: No such file or directory\n",
            "sandbox",
            "/gone",
            "metier doctor",
        ),
        (b"", "sandbox", "before the program began", "metier doctor"),
        (b"bwrap: \xff\xfe\n", "sandbox", "could not be set up", "metier doctor"),
    ],
)
def test_the_error_names_the_cause_and_what_to_do(
    words: bytes, code: str, in_message: str, in_hint: str
) -> None:
    error = explain_failure(words, ("/skill/a", "secret-argument"))

    assert code == error.code
    assert in_message in error.message
    assert in_hint in error.hint
    assert "secret-argument" not in error.message
