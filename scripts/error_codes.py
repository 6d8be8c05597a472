"""The codes that are narrower than their class: what each means, for the page of errors, and which
ones the source uses.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SOURCES = {
    "unknown-source": "What follows `metier add` is no way to name a source.",
    "credentials": "An address holds a name, a password or a token. It is not repeated; git uses "
    "your own credential helpers.",
    "unsafe-option": "A source begins with `-` and could be taken for an option.",
    "unsafe-ref": "That is no branch, tag, commit or digest.",
    "unsafe-transport": "A repository is fetched over https, ssh or from the disk, and in no "
    "other way.",
    "host": "That host may not be reached: `supply.hosts` lacks it, nobody named it, or it would "
    "be asked without encryption.",
    "private-address": "A host has a private address, and `supply.private_hosts` lacks it.",
    "redirect": "Too many redirects, one to plain http, or one of a git server that leads to no "
    "repository.",
    "unauthorized": "A registry wants a login, and docker's configuration has none for it, or one "
    "that may not do this.",
    "docker-config": "A login cannot be read: docker's `config.json` is damaged, or the credential "
    "helper that it names is missing or failed.",
    "unreachable": "A host cannot be reached, or refuses to answer.",
    "timeout": "`supply.seconds` is over, or another process fetches the same repository.",
    "mcp": "An MCP server doesn't answer as one, or refuses what it has to have.",
    "command": "A command that skills come from was not started: it would run outside the sandbox, "
    "and your configuration doesn't name it.",
    "git": "git is missing, was refused, or could not read the repository.",
    "not-found": "There is no such repository, ref, file or skill.",
    "no-skill": "There is no skill in that source.",
    "choose": "Several skills are meant. `candidates` of the JSON document lists them.",
    "blocked": "The policy or a person blocks it; of a registry: it is listed there as malware.",
    "policy": "A policy forbids it: your organisation's, or a rule about sources and publishers in a "
    "`metier.toml`. No approval and no `--force` overrides it; `metier policy explain NAME` names the line.",
    "policy-damaged": "An organisation's policy is missing, unreadable or not signed as it must be. "
    "Until it is restored, nothing is installed, approved, loaded or run.",
    "malformed": "An archive, an index, a manifest, an address or an answer is not what it says it "
    "is.",
    "zstd-missing": "An archive is packed with zstd, and the package that reads it is not "
    "installed.",
    "bomb": "An archive unfolds to more than `supply.ratio` times its size.",
    "too-large": "More bytes than `supply` or another limit allows: of a download, a file, or all "
    "files together.",
    "too-many": "More entries than `supply.files` allows, or more skills than an index may have.",
    "too-deep": "Folders lie deeper in each other than is read.",
    "unsafe-path": "A path is absolute, climbs, or has a part that some system cannot hold or "
    "takes for something else.",
    "unsafe-link": "There is a link where only plain files may be: in a skill of a source, or "
    "where metier would write.",
    "unsafe-entry": "An entry is neither a file nor a folder, or cannot be read whole.",
    "collision": "Two entries have one name on some system, or something is both a file and a "
    "folder.",
    "digest": "The bytes are not those that were promised: by an index, a manifest, the lock, or "
    "the request.",
    "unscanned": "Only as a reason of a refusal: the scan did not see all of it, so nothing is "
    "known about it.",
}
KEPT = {
    "busy": "Another process changes skills; say it again when it is done.",
    "dependency-limit": "What a skill needs is more than 1,000 other skills, or more than 50 deep, or never "
    "settles. Nothing was installed.",
    "changed": "Something was changed while it was looked at, such as where a tag leads. Nothing was "
    "done; say it again.",
    "outside": "A lock or a record names a place that is not its own. Nothing there was touched.",
    "lock": "`metier.lock` cannot be read. The message has the line.",
    "lock-conflict": "`metier.lock` has markers of a git merge, and to settle them would be to "
    "guess.",
    "lock-version": "A newer metier wrote this lock.",
    "locked": "A skill of that name is in the lock already.",
    "state": "This machine's own notes on a lock, on mirrored plugins or on a draft cannot be "
    "read. They lie in `supply`, "
    "`plugins` and `pending` below `METIER_HOME`.",
    "not-in-store": "The store does not have these bytes, or not any more.",
    "store-damaged": "What the store has is not what its name says. It is never handed out.",
    "unsettled": "A change failed and could not be undone at once. The next command that changes "
    "skills settles it.",
    "unmerged": "A held update, a draft or another candidate still has conflicts. The message "
    "names the files and the lines.",
    "record": "Another tool's record cannot be read.",
    "record-conflict": "Another tool's record has markers of a git merge, and both sides changed "
    "the same skills.",
    "record-version": "Another tool's record is of a version that metier does not know.",
    "check": "`pack`, `publish` and `push`: the skill fails a strict check.",
    "dangerous": "`pack`, `publish` and `push`: a scan calls the skill dangerous.",
    "judge": "`scan`: the model that `scan.judge` names did not answer, or not as asked.",
    "key": "`pack`, `publish` and `push`: the skill holds a key or a password; `findings` says "
    "where.",
    "inside": "`pack`: the archive would lie in the skill itself.",
}
OTHERS = {
    "ask": "It needs a person's yes first: `metier trust show NAME` says why.",
    "disabled": "The skill is hidden by a rule of the configuration.",
    "unsupported": "The skill does not work here, or this cannot be done on this system.",
    "path-traversal": "A path leads out of the skill.",
    "binary": "The file is no text, so it has no pages and cannot be patched.",
    "stale-cursor": "The text changed between two pages. Begin again without a cursor.",
    "skill-load-blocked": "A code skill did not pass the gate at load.",
    "unsigned": "There is no signature for the skill as it is now.",
    "unverified": "No signature is by a key that you trust, or it is for other bytes.",
    "sign-unavailable": "Signatures need `metier[sign]`.",
    "no-keyring": "There is no keyring to use here.",
    "session-store": "The configuration keeps secrets for the session alone, and a command has "
    "none.",
    "unsafe-store": "A file of secrets, or of a token, is not as metier leaves it, or others can "
    "read it. It is left alone.",
    "no-runner": "The host brings nothing that runs scripts.",
    "unexpected": "A fault in metier; `METIER_DEBUG=1` shows where.",
}
MANAGED = {
    "not-own": "The skill is not one of your own.",
    "exists": "There is something of that name already.",
    "invalid": "The new text is not a valid skill.",
    "renamed": "The new text has another name in it.",
    "patch": "The text to replace is not there, or there several times.",
    "path": "That file may not be changed, or cannot have that name.",
    "link": "The skill is or lies behind a link.",
    "root": "The folder is one of skills, or holds others.",
    "kind": "The skill is a single file.",
    "pinned": "`manage.pinned` has the skill.",
    "unreadable": "The skill cannot be read whole.",
    "full": "Too many changes wait for a person already.",
    "draft": "A file in `METIER_HOME/pending` is no draft, or cannot be read as one.",
}
MIRRORED = {
    "ownership": "A plugin ships a skill whose name another plugin, the lock, you or a folder "
    "has; or its own id is taken.",
    "owned": "A plugin owns the skill, so it is not installed, removed or changed in another way.",
    "unsafe": "A scan or the policy says no to a skill of a plugin. `findings` of the JSON "
    "document says why.",
    "decided": "A change was accepted, rejected or superseded already.",
    "not-fetched": "A source on another machine was never fetched, and looking at plugins fetches "
    "nothing.",
    "duplicate": "Only as an error of a list: a source has two plugins of one name, and the first "
    "counts.",
}
RUNNING = {
    "no-sandbox": "This is not Linux, or bubblewrap is missing, too old, or could have been changed by another user. "
    "The hint says what to install.",
    "sandbox": "The sandbox could not be set up, or could not be ended. `metier doctor` shows its "
    "layers.",
    "no-observer": "Skills can't be observed here: the sandbox, or something that watching needs, is missing.",
    "sandbox-network": "The stand-in network of an observation did not come up.",
    "sandbox-watch": "The system does not let metier watch the files of an observation.",
    "sandbox-mount": "Something that is lent has no plain path, stands where the sandbox lays its "
    "own, or cannot be mounted.",
    "sandbox-command": "The command line or its folder holds what no program can be given.",
    "sandbox-variable": "A variable cannot be given, or would act outside the sandbox.",
    "sandbox-machine": "There is no filter of system calls for this kind of machine.",
    "sandbox-landlock": "The kernel has Landlock, or could give up privileges, and refused to.",
    "sandbox-limits": "The kernel refused a limit of the run.",
    "sandbox-program": "metier's own program that calls code skills is missing.",
    "unsandboxed": "`--unsandboxed` exists only with `run.allow_unsandboxed`.",
    "no-program": "The program, or the one that a script's first line names, cannot be started in "
    "the sandbox.",
    "no-script": "The skill has no script.",
    "no-editor": "No editor was found: `$VISUAL` and `$EDITOR` are empty.",
    "no-opener": "No program was found that opens a folder, such as `xdg-open`.",
    "no-home": "There is no `METIER_HOME` to copy a skill to before it is run.",
    "unread": "The skill cannot be read whole, so nothing was decided about it.",
    "credential-file": "A file that the skill asks for cannot be lent.",
    "interpreter": "No program may or can run that script: it is not installed, not readable, or "
    "not in `run.interpreters`.",
    "dependencies": "The packages that a script declares may not be installed, or what it "
    "declares is wrong.",
    "dependencies-ask": "A script needs packages that are not installed, and nobody said yes to "
    "that.",
    "dependencies-failed": "The packages that a script declares could not be installed; `output` "
    "has the installer's last words.",
    "consent": "A destructive skill needs consent that names the act.",
    "vetoed": "A hook forbade the call.",
    "hook": "A hook failed, was late, or gave back no call: the skill was not called.",
    "failed": "A code skill failed; only inside a dispatch or a tag.",
}
SERVED = {
    "destructive": "A destructive code skill is not run for an agent, unless `mcp.destructive` is "
    "set.",
    "no-scripts": "The skill brings scripts, and the client was set up not to get such skills.",
    "revision-gone": "The revision that a client loaded is not kept any more. Load the skill "
    "again.",
    "setup-needed": "The skill lacks something that it needs, and an agent cannot give it that.",
    "no-token": "Nothing is served over HTTP without a token, and nothing beyond this machine "
    "without one of your own "
    "(`--token-file`).",
    "weak-token": "A token is too short, too long, or has characters that a header cannot carry.",
    "bind": "The server cannot listen there: the port is taken, or the name does not lead to this "
    "machine.",
    "web-missing": "The packages that serve the page are not installed: `metier[web]`.",
    "web-port": "The page cannot listen on that address: it is in use, or not yours.",
    "web-host": "The page was asked by a name that is not its own. See `--allow-host`.",
    "web-token": "The address holds another token than the one that `metier web` printed last.",
    "web-no-session": "This browser was not let in yet: open the printed address with its token.",
    "web-origin": "A change was asked for by another page.",
    "web-form": "A form is not from this page, or not from this browser.",
    "web-form-used": "A form was sent twice; the first time counts.",
    "web-conflict": "What a form is about changed since the page was loaded. Nothing was done.",
    "web-busy": "The page does eight things at once at most.",
    "web-method": "An address of the page was asked in a way that it does not take, such as a form's address without its form.",
    "web-too-large": "A form is larger than the page reads.",
    "web-too-slow": "A form did not arrive in time.",
    "mcp-missing": "The packages that serve MCP are not installed: `metier[mcp]`.",
    "client-file": "A client's file cannot be changed safely: it is broken, too long, or has "
    "comments. It is left as it is.",
    "shared-file": "A token would get into a project's file, which others get too.",
}
HUB = {
    "extra-missing": "A package that the command needs comes with an extra of metier, which isn't "
    "installed.",
    "hub-missing": "The packages that serve a hub are not installed: `metier[hub]`.",
    "hub-port": "The hub cannot listen on that address: it is in use, or not yours.",
    "hub-database": "The hub's database does not answer, or cannot be written.",
    "hub-objects": "The hub's object store does not answer, or cannot be written.",
    "hub-object": "Bytes that a release names are gone from the object store.",
    "hub-format": "The hub's database was changed by a newer metier.",
    "hub-key": "The hub's private key cannot be read.",
    "hub-token": "The token is wrong, expired or revoked. The hub does not say which.",
    "hub-no-token": "The hub was asked without a token.",
    "hub-no-tls": "A browser wants to log in to a hub elsewhere without https.",
    "hub-forbidden": "You are known to the hub, and your role does not allow this.",
    "hub-unfit": "What was published is no sound skill: it fails a strict check, holds a key, or calls "
    "itself something else.",
    "hub-blob": "A release names bytes that you have not sent to the hub.",
    "hub-offset": "A piece of an upload does not begin where the last one ended. `received` says where.",
    "hub-quota": "A namespace has no room left.",
    "hub-frozen": "A namespace takes nothing new.",
    "hub-signature": "A namespace takes only what is signed with a key that the hub trusts.",
    "hub-own": "Nobody approves what they published themselves.",
    "hub-state": "A release is approved, rejected or yanked already.",
    "no-hub": "A name means a skill of a hub, and you know none, or more than one.",
    "hubs-file": "The file with your logins is damaged. Nothing in it is used.",
    "hub-key-changed": "A hub has another key than the one that you know it by.",
    "hub-log": "A hub's log of approvals is not the one that you saw before: its past was changed.",
    "hub-mirrored": "What came along with a mirrored release does not prove that another hub approved it.",
    "hub-mirror": "A mirror cannot go on: the folder is of another hub, or the hub's log is not the one that was mirrored.",
    "hub-several": "Several namespaces of a hub have a skill of this name: name the namespace, too.",
    "hub-not-empty": "A backup is restored into an empty hub only.",
    "hub-rate": "You ask more than the hub allows in a minute. `retry_after` says how many seconds to wait.",
    "hub-busy": "Too many logins are under way at once.",
    "hub-login": "The answer of the login provider is not accepted, or the login took too long.",
    "hub-no-oidc": "The hub has no login provider. Log in with a token.",
    "hub-no-device": "The login provider knows no device codes. metier uses a browser then.",
    "hub-provider": "The login provider does not answer, or not as one.",
    "hub-webhook": "An address is told nothing: it is not encrypted, or not of the open internet.",
    "hub-key-reused": "An Idempotency-Key was used for another request before.",
}
GROUPS = (
    ("When a source is named, fetched or unfolded", SOURCES),
    ("When skills are installed, kept and handed on", KEPT),
    ("When a skill is read, loaded, signed or set up", OTHERS),
    ("When plugins are mirrored and changes reviewed", MIRRORED),
    ("When a script or a code skill is run", RUNNING),
    ("When skills are served over MCP", SERVED),
    ("When an agent changes a skill", MANAGED),
    ("When a hub is served or asked", HUB),
)
CODES = {code: text for _title, group in GROUPS for code, text in group.items()}


def used(source: Path) -> set[str]:
    """Give every code that the source passes to an error by name."""
    return {
        code
        for path in source.rglob("*.py")
        for code in _in(ast.parse(path.read_text(encoding="utf-8")))
    }


def named(source: Path) -> set[str]:
    """Give those of the described codes that the source has at all, in whichever way."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in source.rglob("*.py"))
    return {code for code in CODES if re.search(rf'["\']{re.escape(code)}["\':]', text)}


def _in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == "code":
                    yield from (
                        one.value
                        for one in ast.walk(keyword.value)
                        if isinstance(one, ast.Constant) and isinstance(one.value, str)
                    )
