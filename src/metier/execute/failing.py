"""What bubblewrap's own words mean when it ends before the program began. Pure."""

from __future__ import annotations

from metier.errors import SandboxError

MARK = b"bwrap: "
"""How each of its messages begins."""
_NO_EXEC = "execvp "
_SPACES = ("namespace", "uid map", "gid map", "RTM_NEWADDR", "setgroups", "unshare")
_ALLOW = (
    "this system keeps ordinary users from making user namespaces. One of these allows it, as root: an AppArmor profile for bwrap "
    "with 'userns,' (Ubuntu 23.10 and later; or sysctl kernel.apparmor_restrict_unprivileged_userns=0), sysctl "
    "kernel.unprivileged_userns_clone=1 (Debian 10), sysctl user.max_user_namespaces=15000 (RHEL 7). In a container, its own "
    "seccomp profile must allow them"
)


def failure(words: bytes, command: tuple[str, ...]) -> SandboxError:
    """Make an error of what bubblewrap said, and of what to do about it."""
    said = words.decode("utf-8", "replace").strip().removeprefix(MARK.decode())[:500]
    if said.startswith(_NO_EXEC):
        reason = said.rpartition(": ")[2]
        hint = _program_hint(reason)
        return SandboxError(f"{command[0]} cannot be started in the sandbox: {reason}", code="no-program", hint=hint)
    hint = _ALLOW if any(word in said for word in _SPACES) else "`metier doctor` shows which parts of the sandbox work here"
    what = said or "it ended before the program began"
    return SandboxError(f"the sandbox could not be set up: {what}", code="sandbox", hint=hint)


def _program_hint(reason: str) -> str:
    if "No such file" in reason:
        return "it, or the interpreter in its first line, is not there inside: only /usr, the skill and what was lent are"
    if "denied" in reason:
        return "it is no file that may be executed"
    return "it is no program for this machine" if "format" in reason else "shorten its arguments and its environment"
