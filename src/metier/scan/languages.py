"""What language a text is written in, told by how its lines begin; for files whose name says nothing, or not the truth."""

from __future__ import annotations

import re

# Line beginnings that people seldom write in prose. One alternation for all languages: a text is gone through once.
_STRONG = re.compile(
    r"""\n[ \t]*(?:
      (?P<python>import[ ]\w[\w.]*(?:[ ]as[ ]\w+)?[ \t]*(?:\#[^\n]*)?$|from[ ][\w.]+[ ]import\b
        |(?:async[ ])?def[ ]\w+\(|class[ ]\w+(?:\([^\n)]*\))?:
        |if[ ]__name__[ ]?==|elif[ ][^\n]{1,200}:[ \t]*$|except\b[^\n]{0,80}:[ \t]*$
        |try:[ \t]*$|print\()
    | (?P<typescript>(?:export[ ])?(?:interface[ ]\w+[^\n{]{0,80}\{|type[ ]\w+[^\n=]{0,40}=|enum[ ]\w+[ ]\{)|import[ ]type[ ]
        |(?:export[ ])?(?:const|let)[ ]\w+:[ ])
    | (?P<javascript>(?:export[ ])?(?:const|let|var)[ ][\w{\[][^\n=]{0,120}=
        |(?:export[ ])?(?:default[ ])?(?:async[ ])?function\b[ *]*\w*\(
        |import[ ][^\n]{1,200}[ ]from[ ]['"]|import[ ]['"]|export[ ](?:default|class|\{)|module\.exports\b|require\(|console\.\w+\(
        |\}\)?\)?;[ \t]*$)
    | (?P<powershell>(?i:param[ ]?\(|\$(?:env:)?\w+[ ]?\+?=|\[CmdletBinding|function[ ]\w+-\w+
        |(?:Write|Get|Set|New|Invoke|Import|Remove|Start|Add|Test)-[A-Z]\w+))
    | (?P<shell>if[ ]\[|(?:el)?if[ ][^\n]{1,200};[ ]?then|fi[ \t]*$|done\b[^\n]{0,40}$|then[ \t]*$|do[ \t]*$|esac[ \t]*$
        |export[ ]\w+=|echo[ ]["'$-]|set[ ]-[a-z]|(?:curl|wget)[ ][^\n]{0,200}(?:-|https?:)|sudo[ ]\w|chmod[ ][\d+a-z-]
        |source[ ][./~$]|for[ ]\w+[ ]in[ ]|\w+\(\)[ ]?\{|\w+=["']?\$\(
        |(?:npm|pip3?|apt(?:-get)?|brew|git|docker)[ ](?:install|clone|run|pull)[ ]
        |(?:local|readonly|declare)[ ]-?\w+=|mkdir[ ]-p|cd[ ]["'$./~]|rm[ ]-)
    | (?P<ruby>require(?:_relative)?[ ]['"]|def[ ](?:self\.)?\w+[?!]?[ \t]*$|puts[ ]["']|module[ ][A-Z]\w*[ \t]*$
        |class[ ][A-Z]\w*(?:[ ]<[ ][\w:]+)?[ \t]*$)
    | (?P<perl>use[ ](?:strict|warnings|[A-Z]\w*::)|my[ ][$@%(]|sub[ ]\w+[ ]*\{)
    | (?P<lua>local[ ](?:function[ ])?\w+|function[ ][\w.:]+\([^\n)]*\)[ \t]*$)
    | (?P<batch>(?i:@echo[ ]off|setlocal\b|if[ ](?:not[ ])?(?:exist|errorlevel)[ ]|goto[ ]:?\w+|rem[ ]|set[ ](?:/[ap][ ])?\w+=))
    | (?P<applescript>tell[ ]application\b|end[ ]tell|do[ ]shell[ ]script\b|on[ ]run\b|display[ ](?:dialog|notification)\b)
    )""",
    re.VERBOSE | re.MULTILINE,
)
_LINE = re.compile(r"\n[ \t]*[^\s#]")
_KEY = re.compile(r"(?:(?:\#[^\n]*|---)\s+)*(?:- )?(?:\[|[\w.\"'-]+[ \t]*[:=])")
_MARKUP = frozenset(("json", "css", "csv", "svg", "xml", "html"))
_SAME = ({"javascript", "typescript"}, {"shell", "batch"}, {"ruby", "lua"})  # languages whose lines begin alike
_CODE = frozenset(_STRONG.groupindex)
SAMPLE = 3072  # characters at the beginning, and as many at the end: enough lines to tell a language by
SHARE = 0.25  # of the lines that hold something
NEEDED = {"text": 2, "markdown": 3, "yaml": 3, "toml": 3}  # lines that overrule a name; one is enough against any other


def language_of(text: str, claimed: str) -> str:
    """Name the language that a text's lines speak for, or nothing when what the name claims may stand."""
    start = text[:512].lstrip("\ufeff \t\r\n").lower()
    by_start = _by_start(start, text, claimed)
    if by_start or (claimed in _MARKUP and start.startswith(("{", "[", "<", "@", "."))):
        return by_start
    if claimed in ("yaml", "toml") and _KEY.match(start):
        return ""
    sample = f"\n{text[:SAMPLE]}\n{text[SAMPLE:][-SAMPLE:]}"
    counts: dict[str, int] = {}
    for found in _STRONG.finditer(sample):
        name = found.lastgroup or ""
        counts[name] = counts.get(name, 0) + 1
    return _verdict(counts, len(_LINE.findall(sample)), claimed) if counts else ""


def _verdict(counts: dict[str, int], lines: int, claimed: str) -> str:
    """Let the lines overrule the name only when they speak clearly."""
    best = max(counts, key=lambda name: counts[name])
    if best == "javascript" and counts.get("typescript"):
        best = "typescript"
    if claimed in _CODE:
        family = next((same for same in _SAME if claimed in same), {claimed})
        return best if counts[best] >= 3 and not any(name in counts for name in family) else ""
    return best if counts[best] >= NEEDED.get(claimed, 1) and sum(counts.values()) >= lines * SHARE else ""


def _by_start(start: str, text: str, claimed: str) -> str:
    """Know a text by the way it begins."""
    if start.startswith("<?php") or (claimed == "php" and "<?" in text):
        return "php"
    if start.startswith("<svg") or (start.startswith(("<?xml", "<!doctype svg")) and "<svg" in text[:2048].lower()):
        return "svg"
    if start.startswith(("<!doctype html", "<html")):
        return "html"
    if start.startswith("<?xml"):
        return "xml"
    if start.startswith(("@echo off", "setlocal")):
        return "batch"
    if claimed in ("", "text") and start[:1] in ("{", "[") and start[1:].lstrip()[:1] in ('"', "{", "[", "}", "]"):
        return "json" if text.rstrip()[-1:] in ("}", "]") else ""
    return ""
