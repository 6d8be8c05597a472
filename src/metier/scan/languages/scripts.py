"""Scans PHP, Perl, Ruby, Lua, Windows batch, AppleScript and the compiled languages, through the
same view of tokens and each with its own patterns; and settings of agents, editors, Git and builds,
wherever they are written.
"""

from __future__ import annotations

import re
from itertools import islice

from metier.scan.languages.shell.remote import is_this_machine, only_installs, shady
from metier.scan.languages.tokens import (
    MAX_TOKENS,
    Token,
    TokenView,
    match,
    read_tokens,
    view_of,
)
from metier.scan.model import RuleHit, limit_hits, word_set
from metier.scan.rules import places
from metier.scan.rules.scripts import APPLESCRIPT, BATCH, CURLY, EVERY, LUA, PERL, PHP, RUBY

_TABLES = {
    "ruby": RUBY,
    "php": PHP,
    "perl": PERL,
    "lua": LUA,
    "batch": BATCH,
    "applescript": APPLESCRIPT,
    "curly": CURLY,
}
_FAMILY = {
    **{name: name for name in _TABLES},
    **dict.fromkeys(
        word_set("go rust java c cpp c++ csharp c# cs kotlin swift dart scala"), "curly"
    ),
    "rb": "ruby",
    "pl": "perl",
    "bat": "batch",
    "cmd": "batch",
    "osascript": "applescript",
    "scpt": "applescript",
}
_WRITES = re.compile(
    r"\b(?:file\.write|file\.open|io\.write|fileutils\.\w+|file_put_contents|fopen|fwrite|open|io\.open"
    r"|os\.writefile|fs::write|files\.write"
    r"|copy|move|echo)\b[^\n;]{0,60}$"
)
_SENDS = re.compile(
    r"net::http\.(?:post\w*|new|start)|httparty\.post|restclient\.post|faraday\.post|curl_setopt|curlopt_postfields|curl_exec"
    r"|->post|http\.post|lwp::useragent|http::tiny|\bfsockopen|reqwest|curl[^\n]{0,60}\s(?:-d|--data|-f|-t|--upload-file)\b"
)
_WHOLE = re.compile(
    r"\benv\.(?:to_h|to_a|inspect|each)\b|\bgetenv ?\( ?\)|\$_env ?[),;]|%env\b|\bos\.environ ?\("
    r"|env::vars ?\(|system\.getenv ?\( ?\)"
)
_CARETS = re.compile(r"\w\^(?=\w)")
MAX_PLACES = 4000
MAX_CARETS = 4  # carets inside words of one batch file that are still no more than odd


def find(code: str, lang: str) -> list[RuleHit]:
    """Return what a script in that language does, sorted by place; a language nobody knows is read
    as one with braces.
    """
    family = _FAMILY.get(lang.lower(), "curly")
    tokens = read_tokens(code, family).tokens
    if not tokens:
        return []
    seen = view_of(code, tokens)
    hits = [
        hit
        for hit in match(seen, (*_TABLES[family], *EVERY))
        if hit.rule != "SC472" or not only_installs(code[hit.start : hit.end + 200])
    ]
    hits += _places(seen)
    if len(tokens) >= MAX_TOKENS:
        hits.append(
            RuleHit("SC802", tokens[-1].start, tokens[-1].end, "more code than is looked at")
        )
    if family == "batch":
        hits += _carets(code)
    return limit_hits(hits)


def commands(code: str, lang: str) -> list[tuple[int, int, str]]:
    """Return the constant command lines that the script hands to a shell, with their places: the
    shell analyzer reads them.
    """
    tokens = read_tokens(code, _FAMILY.get(lang.lower(), "curly")).tokens
    return [
        (token.start, token.end, token.text)
        for index, token in enumerate(tokens)
        if token.kind == "command" or (token.kind == "string" and _runs_before(tokens, index))
    ]


def _runs_before(tokens: list[Token], index: int) -> bool:
    before = [token.text.lower() for token in tokens[max(index - 2, 0) : index]]
    starters = ("system", "exec", "shell_exec", "passthru", "popen", "execute", "spawn", "script")
    return bool(before) and (
        before[-1] in starters or (before[-1] == "(" and before[0] in starters)
    )


def _places(seen: TokenView) -> list[RuleHit]:
    """Report credential places, catchers, and writing to where programs or the agent start from;
    sending secrets is worse.
    """
    hits = []
    for kind, rule in (
        ("credential", "SC476"),
        ("exfiltration", "SC483"),
        ("persistence", "SC480"),
        ("memory", "SC481"),
    ):
        for place in places.find_places(kind, seen.text, MAX_PLACES):
            token = seen.token(place.start)
            writing = _WRITES.search(seen.text[max(place.start - 120, 0) : place.start])
            if place.what in ("an environment file", "the account table") or place.what.startswith(
                "a chat"
            ):
                continue
            if rule in ("SC476", "SC483") or writing is not None:
                hits.append(RuleHit(rule, token.start, token.end, place.what))
    sends = _SENDS.search(seen.text)
    if sends is not None and (_WHOLE.search(seen.text) or any(hit.rule == "SC476" for hit in hits)):
        token = seen.token(sends.start())
        hits.append(RuleHit("SC477", token.start, token.end))
    return hits


# --- settings

# Each alternative begins with one certain letter: so the search skips what none begins with.
_SETTING_SIGNS = re.compile(
    r"bypassPermissions|dangerous|Bash\(\*|danger-full-access|autoApprove|AutoApprove|alwaysAllow"
    r"|AllProjectMcp|ToolUse|UserPromptSubmit|Session(?:Start|End)|Stop\b|folderOpen|postCreateCommand"
    r"|PostCreateCommand|insteadOf|sshCommand|credential|toJSON\(|hooksPath|mcpServers|fsmonitor|smudge"
    r"|yolo|~/(?<=[\"' ]~/)"
)
_UNASKED = re.compile(
    r"\bdefaultMode[\"']?\]?\s{0,3}[:=]\s{0,3}[\"']?bypassPermissions"
    r"|\b(?:allow|allowedTools|autoApprove|alwaysAllow|auto_approve)[\"']?\]?\s{0,3}[:=]\s{0,3}\[[^\]]{0,200}[\"']"
    r"(?:\*|Bash\(\*(?::\*)?\))[\"']"
    r"|\bsandbox_mode\s{0,3}=\s{0,3}[\"']danger-full-access"
    r"|\bapproval_policy\s{0,3}=\s{0,3}[\"']never[\"']"
    r"|\b(?:enableAllProjectMcpServers|skipDangerousModePermissionPrompt|tools\.autoApprove|yoloMode"
    r"|autoApproveAll)[\"']?\s{0,3}[:=]\s{0,3}[tT]rue"
    r"|\balias\s{1,3}\w{1,20}=[\"']?\w{1,20}\s[^\n]{0,60}--(?:dangerously-\w|yolo\b)"
)
_EVENT = re.compile(
    r"[\"']?\b(?:PreToolUse|PostToolUse|UserPromptSubmit|SessionStart|SessionEnd|Stop|SubagentStop"
    r"|PreCompact|Notification)[\"']?\]?\s{0,3}[:=]\s{0,3}[\[{\n]"
)
_HANDS_ON = re.compile(
    r"(?:\|\s{0,3}|\$\(|@-|\$\{?CLAUDE|\bstdin\b|\bcat\b|\bjq\b|\btee\b)[^\n]{0,200}\b(?:curl|wget|nc|ncat|https?)\b[^\n]{0,200}"
    r"|\b(?:curl|wget)\b[^\n]{0,200}(?:@-|\$\(|@/|@~|@\$|--upload-file|\s-T\s|\$\{?CLAUDE)"
    r"|--(?:to|url|endpoint|upload|remote|dest|server)[ =][\"']?https?://(?!localhost|127\.)"
    r"|\b(?:curl|wget)\b[^\n|]{0,200}\|\s{0,3}(?:ba|z)?sh\b"
)
_HOOK_CHARS = 1200
_SERVER = re.compile(
    r"[\"']?\bmcpServers[\"']?\s{0,3}[:=]|\bmcp_servers\b|\[mcp_servers\.", re.IGNORECASE
)
_SERVER_CHARS = 1500
_URL = re.compile(r"\bhttps?://[^\s'\"<>|;)\]},]{4,300}")
_GIT_RUNS = re.compile(
    r"\b(?:core\.)?(?:sshCommand|fsmonitor|gitProxy)[\"']?(?:\s{0,3}=|\s)\s{0,3}[^\n]{0,200}(?:\bcurl\b|\bwget\b"
    r"|\bnc\b|/tmp/|base64|\|\s{0,3}(?:ba)?sh\b|ssh -i [^\n]{0,40}/\.\w)"
    r"|\bcredential(?:\.[\w:/.-]{1,60})?\.?helper[\"']?(?:\s{0,3}=|\s)\s{0,3}[^\n]{0,80}(?:\bcurl\b|\bwget\b|\bnc\b|\btee\b|>>|https?://)"
    r"|\[credential[^\n]{0,80}\]\s{0,8}helper\s{0,3}=\s{0,3}[^\n]{0,80}(?:\bcurl\b|\bwget\b|\bnc\b|\btee\b|>>|https?://)"
    r"|\b(?:clean|smudge|textconv)\s{0,3}=\s{0,3}[^\n]{0,120}(?:\bcurl\b|\bwget\b|\bnc\b)"
)
_INSTEAD = re.compile(
    r"\burl[ .]{1,2}[\"']?(?P<to>[^\s\"'\]]{4,200})[\"']?\]?\.?\s{0,8}(?:pushI|i)nsteadOf\s{0,3}=?\s{0,3}[\"']?(?P<of>[^\s\"']{4,200})"
)
_FORGES = word_set("github.com gitlab.com bitbucket.org")
_OPENED = re.compile(r"[\"']?runOn[\"']?\s{0,3}:\s{0,3}[\"']folderOpen[\"']")
_ALL_SECRETS = re.compile(r"\btoJSON\(\s{0,3}secrets\s{0,3}\)|\btoJson\(\s{0,3}secrets\s{0,3}\)")


def find_settings(code: str) -> list[RuleHit]:
    """Return what settings in a text ask of an agent, an editor, Git or a build."""
    if _SETTING_SIGNS.search(code) is None:
        return []
    hits = [RuleHit("SC520", *found.span()) for found in _UNASKED.finditer(code)]
    hits += [RuleHit("SC523", *found.span()) for found in _GIT_RUNS.finditer(code)]
    hits += [RuleHit("SC524", *found.span()) for found in _OPENED.finditer(code)]
    hits += [RuleHit("SC525", *found.span()) for found in _ALL_SECRETS.finditer(code)]
    hits += _redirected(code)
    hits += _delivered(code)
    for found in islice(_EVENT.finditer(code), 40):
        sent = _HANDS_ON.search(code, found.end(), found.end() + _HOOK_CHARS)
        if sent and not _only_here(sent[0] + code[sent.end() : sent.end() + 120]):
            hits.append(RuleHit("SC521", *sent.span()))
    for found in islice(_SERVER.finditer(code), 10) if "mcp" in code.lower() else ():
        for url in islice(_URL.finditer(code, found.end(), found.end() + _SERVER_CHARS), 20):
            if shady(url[0]):
                hits.append(RuleHit("SC522", *url.span(), url[0][:120]))
    return limit_hits(hits)


_DELIVERS = re.compile(
    r"(?im)^[ \t]{0,40}[\"']?[\w.-]{0,30}(?:to|deliver|mirror|upload|report|send|sink|dest|destination|target|relay|forward"
    r"|endpoint|collector|sync)[\w.-]{0,12}[\"']?\s{0,3}[:=]\s{0,3}[{\"'\s]{0,4}(?:[\"']?\w{1,12}[\"']?\s{0,3}:\s{0,3}[\"'])?"
    r"(https?://[^\s\"']{4,200})"
)


def _delivered(code: str) -> list[RuleHit]:
    """Report settings that name private files beside an address to deliver to."""
    if "://" not in code or "~" not in code:
        return []
    target = next((one for one in _DELIVERS.finditer(code) if not is_this_machine(one[1])), None)
    if target is None or len(code) > _SETTINGS_CHARS:
        return []
    for kind in ("credential", "work"):
        for place in places.find_places(kind, code, 20):
            if code[max(0, place.start - 24) : place.start].rpartition("\n")[2].count("~"):
                return [
                    RuleHit("SC526", place.start, place.end, f"{place.what} to {target[1][:80]}")
                ]
            if kind == "work" and code[place.start] == "~":
                return [
                    RuleHit("SC526", place.start, place.end, f"{place.what} to {target[1][:80]}")
                ]
    return []


_SETTINGS_CHARS = 8000
"""Characters of settings that are one thing; a longer text speaks of several."""


def _only_here(text: str) -> bool:
    """Say whether all that a hook talks to is this machine."""
    found = _URL.findall(text)
    return bool(found) and all(map(is_this_machine, found))


def _redirected(code: str) -> list[RuleHit]:
    """Report addresses of a forge that Git is told to replace by another host's."""
    hits = []
    for found in islice(_INSTEAD.finditer(code), 20):
        meant = next((forge for forge in _FORGES if forge in found["of"]), "")
        if meant and meant not in found["to"]:
            hits.append(RuleHit("SC523", *found.span()))
    return hits


def _carets(code: str) -> list[RuleHit]:
    """Report batch words broken up by carets."""
    found = [caret.start() for caret in islice(_CARETS.finditer(code), MAX_CARETS + 1)]
    return [RuleHit("SC489", found[0], found[-1] + 3)] if len(found) > MAX_CARETS else []
