"""JavaScript and TypeScript: what a script starts, evaluates, reads, sends and writes, seen through
its tokens.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from metier.scan.languages.dataflow import (
    TokenCall,
    ValueFlow,
    bound_modules,
    brackets,
    decode_call,
    find_calls,
    fold_constants,
    unpack,
)
from metier.scan.languages.shell.remote import is_this_machine, only_installs
from metier.scan.languages.tokens import MAX_TOKENS, read_tokens
from metier.scan.model import RuleHit, limit_hits, word_set
from metier.scan.rules import javascript, places

if TYPE_CHECKING:
    from metier.scan.languages.tokens import Lexed, Token

_ACTS = word_set("SC400 SC403 SC404 SC405 SC406 SC407 SC411 SC430")
_STOLEN = word_set("secret environment wallet")
_PRIVATE = {
    **dict.fromkeys(_STOLEN, "SC413"),
    "browser": "SC421",
    "keys": "SC423",
    "host": "SC433",
    "output": "SC433",
}
_EVAL_RULES = {"decoded": "SC404", "download": "SC405"}
_RUN_RULES = {**_EVAL_RULES, "connection": "SC428", "place": "SC411"}
_PATH_KINDS = {"credential": "place", "persistence": "persistence", "memory": "memory"}
"""Kinds of places that a path may lead to, each with the kind of value that such a path is."""
_DISKS = (["/"], ["~"], ["/*"], ["C:\\"], ["/home"], ["/etc"])
_BEFORE_FUNCTION = ("new", "=", "(", ";", "}", "return", "")
_DATA_IN_NAME = re.compile(r"(?:^|\})\.[\w.-]+\.[a-z]{2,}$")


_FOREIGN = re.compile(r"(?:https?|wss?)://([\w.-]{1,200}\.[a-zA-Z]{2,20})(?=[:/?#]|$)")
_KNOWN = re.compile(
    r"(?:^|\.)(?:slack|discord|telegram|github|gitlab|googleapis|google|openai|anthropic|notion|microsoft|azure"
    r"|amazonaws|twilio|sendgrid|stripe|atlassian|linear|figma|huggingface|openrouter|dropbox|airtable|supabase"
    r"|vercel|cloudflare|sentry|posthog|segment|mixpanel|amplitude|datadoghq|google-analytics)\."
)
_SWALLOWS = (
    ".catch(()=>{})",
    ".catch(()=>null)",
    ".catch(()=>undefined)",
    ".catch(_=>{})",
    ".catch((_)=>{})",
    ".catch(e=>{})",
    ".catch((e)=>{})",
    ".catch(function(){})",
    ".on(error,()=>{})",
    ".then(()=>{},()=>{})",
)
"""How a failure is kept quiet, written without blanks and quotes."""
_PRIVATE_WORDS = word_set(
    "messages systemPrompt system_prompt transcript conversation history prompt chat req res code "
    "source content contents text files file form env cookie localStorage sheets document innerText "
    "value getValue readFile readFileSync args input output diff tabs events contacts"
)


_REQUIRED = re.compile(r"^require\((?:node:)?([\w/-]{1,40})\)")
_LIBRARIES = re.compile(
    r"https://(?:[\w-]{1,30}\.)?(?:esm\.sh|unpkg\.com|jsdelivr\.net|skypack\.dev|deno\.land|jspm\.io|cloudflare\.com|esm\.run"
    r"|googleapis\.com|gstatic\.com|jsr\.io)/"
)


def find(code: str) -> list[RuleHit]:
    """Return what the script does, sorted by place. Takes any text and never raises."""
    if javascript.WORTH.search(code) is None and max(map(len, code.split("\n"))) < 3000:
        return []
    return _JavaScriptReader(code).all()


def commands(code: str) -> list[tuple[int, int, str]]:
    """Return the constant command lines that the script hands to a shell, with their places: the
    shell analyzer reads them.
    """
    reader = _JavaScriptReader(code)
    found = []
    for call in reader.calls:
        words = reader.constants(call, 40) if javascript.RUN.match(call.path) else []
        if words and not call.path.endswith("fork"):
            inner = reader.inner(call, 40)
            apart = "spawn" in call.path or "File" in call.path
            found.append((inner[0].start, inner[-1].end, " ".join(words) if apart else words[0]))
    return found


@lru_cache(maxsize=1)  # what a script does, and what it hands to a shell, are asked in turn
def _read(code: str) -> tuple[Lexed, dict[int, int], list[TokenCall]]:
    """Give the tokens of a script, their brackets and the calls among them."""
    lexed = fold_constants(read_tokens(code, "javascript"))
    pairs = brackets(lexed.tokens)
    bound = bound_modules(lexed, javascript.MODULES, pairs)
    if not bound:
        bound = {name: f"{of}.{name}" for name, of in javascript.BARE_NAMES.items()}
    return lexed, pairs, find_calls(lexed, pairs, bound)


class _JavaScriptReader:
    """One script being read: its tokens, its calls, the flow of its values, and what was found so
    far.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        self.lexed, self.pairs, self.calls = _read(code)
        self.tokens: list[Token] = self.lexed.tokens
        self.flow = ValueFlow(code, self.tokens, self.pairs)
        self.hits: dict[tuple[str, int], RuleHit] = {}
        self.saved = False
        """Whether what was downloaded has been written to a file."""

    def all(self) -> list[RuleHit]:
        self._words()
        self._sources()
        self.flow.run(self.calls, self._call)
        self._text()
        if len(self.tokens) >= MAX_TOKENS:
            self.hit("SC802", len(self.tokens) - 1, evidence="more code than is looked at")
        return limit_hits(self.hits.values())

    def hit(self, rule: str, first: int, last: int = 0, evidence: str = "") -> None:
        """Note a rule that is met from one token to another; from one alone when none is given."""
        start = self.tokens[first].start
        end = self.tokens[min(max(first, last), len(self.tokens) - 1)].end
        self.hits.setdefault((rule, start), RuleHit(rule, start, max(end, start), evidence[:200]))

    def hit_call(self, rule: str, call: TokenCall, evidence: str = "") -> None:
        """Note a rule that a call meets with what it is given."""
        self.hit(rule, call.first, call.close, evidence)

    def hit_name(self, rule: str, call: TokenCall) -> None:
        """Note a rule that a call meets whatever it is given."""
        self.hit(rule, call.first, call.open)

    def mark(self, call: TokenCall, kind: str) -> None:
        """Say of which kind the value is that a call gives."""
        self.flow.mark(call.first, kind)

    def inner(self, call: TokenCall, most: int) -> list[Token]:
        """Give the first tokens between a call's brackets."""
        return self.tokens[call.open + 1 : min(call.close, call.open + most)]

    def constants(self, call: TokenCall, most: int) -> list[str]:
        """Give the constant texts among the first tokens between a call's brackets."""
        texts = map(self.lexed.constant, self.inner(call, most))
        return [text for text in texts if text is not None]

    # --- single tokens

    def _words(self) -> None:
        for index, token in enumerate(self.tokens):
            if token.kind == "string":
                self._string(index, token.text)
            elif (
                token.kind == "word"
                and javascript.WALLET.match(token.text)
                and self._handed_on(index)
            ):
                self.flow.mark(index, "wallet")

    def _handed_on(self, index: int) -> bool:
        """Say whether a value is put as it is into an object or a text; an address made from a key
        is no secret.
        """
        before = self._text_at(index - 1)
        after = self._text_at(index + 1)
        if before == "(":
            return self._text_at(index - 2) in ("stringify", "encodeURIComponent", "btoa", "append")
        return (
            (before in ("{", ",", ":") and after in ("}", ","))
            or before == "+"
            or self.tokens[index - 1].kind == "string"
        )

    def _string(self, index: int, text: str) -> None:
        if len(text) < 4:
            return
        if javascript.MINER.search(text):
            self.hit("SC431", index)
        if "//" in text and javascript.BARE.search(text):
            self.hit("SC435", index)
        if ("." in text or "/" in text or " " in text) and len(text) < 2000:
            place = places.names("credential", text)
            if not place and places.names("work", text):
                self.flow.mark(index, "work")
            if place:
                self.flow.mark(
                    index, "environment file" if place == "an environment file" else "place"
                )
            self._host(index, text)
        if (
            javascript.INSTALLS.match(text)
            and self._text_at(index + 1) == ":"
            and self.tokens[index + 2 : index + 3]
        ):
            self.hit("SC426", index, index + 2)

    def _host(self, index: int, text: str) -> None:
        if "//" in text or text.count(".") < 4:
            host = places.names("exfiltration", text)
            if host:
                self.flow.mark(index, "catcher")
                self.hit("SC415" if host.startswith("a chat") else "SC414", index)

    def _text_at(self, index: int) -> str:
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    # --- where private values come from

    def _sources(self) -> None:
        for index, token in enumerate(self.tokens):
            if token.kind != "word":
                continue
            text = token.text
            after = self._text_at(index + 2) if self._text_at(index + 1) in (".", "?.", "[") else ""
            if text == "env" and self._text_at(index - 2) in ("process", "Bun", "meta"):
                self._environment(index, after)
            elif (text == "document" and after == "cookie") or (
                text in ("localStorage", "sessionStorage")
                and after not in ("setItem", "removeItem", "clear")
            ):
                self.flow.mark(index, "browser")
            elif text == "clipboard" and after in ("readText", "read"):
                self.flow.mark(index, "browser")
                self.hit("SC422", index, index + 2)
            elif text == "constructor" and after == "constructor":
                self.hit("SC425", index, index + 2)
            elif text == "ethereum" and after in ("request", "send", "sendAsync"):
                self.hit("SC424", index, index + 2)

    def _environment(self, index: int, after: str) -> None:
        """Tell one variable of the environment from all of them; handing all to a child process is
        everyday.
        """
        if after:
            if places.secret_name(after):
                self.flow.mark(index, "variable")
                self.hit("SC410", index - 2, index + 2, after)
            return
        outer = self._text_at(index - 4)
        before = self._text_at(index - 3)
        if outer == "}" and before == "=":  # const { A, B } = process.env
            return
        self.flow.mark(index, "environment")
        if before == "(" and outer in ("stringify", "entries", "values", "assign"):
            self.hit("SC409", index - 4, index)

    # --- calls

    def _call(self, call: TokenCall) -> None:
        path = call.path
        if path.startswith("require("):
            path = _REQUIRED.sub(r"\1", path)
            call = call._replace(path=path)
        if path in ("require", "import"):
            self._load(call)
        elif path == "process.binding" or path.endswith("._load"):
            self.hit_name("SC402", call)
        elif javascript.RUN.match(path):
            self._run(call)
        elif javascript.EVAL.search(path):
            self._eval(call)
        elif javascript.SEND.match(path):
            self.hit_name("SC407", call)
            self.mark(call, "download")
            self._send(call)
        elif javascript.SOCKET.match(path):
            self.hit_name("SC408", call)
            self.mark(call, "connection")
            self._send(call)
        else:
            self._other(call)

    def _load(self, call: TokenCall) -> None:
        argument = self.tokens[call.open + 1]
        if (
            call.path == "import"
            and argument.kind == "string"
            and argument.text.startswith(("http://", "https://"))
            and not _LIBRARIES.match(argument.text)
            and not is_this_machine(argument.text)
        ):
            self.hit_call("SC405", call, argument.text)
        elif "decoded" in self.flow.given(call):
            self.hit_call("SC404", call)
        elif (
            argument.kind == "string"
            and argument.joined
            and argument.text.removeprefix("node:") in javascript.MODULES
        ):
            self.hit_call("SC402", call, argument.text)
        elif (
            argument.kind == "word"
            and call.close == call.open + 2
            and self.lexed.constant(argument) is None
        ):
            self.hit_call("SC401", call)

    def _run(self, call: TokenCall) -> None:
        self.hit_name("SC402" if call.built else "SC400", call)
        kinds = self.flow.given(call)
        self.mark(call, "output")
        for kind, rule in _RUN_RULES.items():
            if kind in kinds:
                self.hit_call(rule, call)
        if "place" in kinds:
            self.mark(call, "secret")
        texts = self.constants(call, 60)
        line = " ".join(texts)[:4000]
        fetched = javascript.FETCH_RUN.search(line)
        if fetched and not only_installs(line):
            self.hit_call("SC406", call, line)
        if javascript.SENDER.search(line) and not _STOLEN.isdisjoint(
            self.flow.kinds(call.open + 1, self._before_options(call))
        ):
            self.hit_call("SC413", call, line)
        if javascript.SHELL_OUT.search(line):
            self.hit_call("SC428", call, line)
        if texts and javascript.SHELLS.match(texts[0]):
            self.mark(call, "shell")
        if {"detached", "ignore"} <= {token.text for token in self.inner(call, 60)}:
            self._run_unseen(call, kinds, line)

    def _run_unseen(self, call: TokenCall, kinds: set[str], line: str) -> None:
        """Look at a program that runs on without anybody seeing what it says."""
        self.hit_name("SC432", call)
        if self.saved:
            self.hit_call("SC405", call)
        if kinds & {"file", "work"} and javascript.SENDER.search(line) and "://" in line:
            self.hit_call("SC437", call)

    def _before_options(self, call: TokenCall) -> int:
        """Return where the options begin that hand the child its environment: that is no secret
        sent.
        """
        for index in range(call.open + 1, min(call.close, call.open + 120)):
            if self.tokens[index].text == "env" and self._text_at(index + 1) == ":":
                return index
        return call.close

    def _eval(self, call: TokenCall) -> None:
        if call.close == call.open + 1 or (
            call.path == "Function" and self._text_at(call.first - 1) not in _BEFORE_FUNCTION
        ):
            return
        kinds = self.flow.given(call)
        known = [rule for kind, rule in _EVAL_RULES.items() if kind in kinds]
        if known == ["SC404"] and self._harmless(call):
            known = []
        self.hit_call(known[0] if known else "SC402" if call.built else "SC403", call)

    def _harmless(self, call: TokenCall) -> bool:
        """Say whether what is decoded and run is only what demonstrations show: `alert(1)`."""
        texts = self.constants(call, 12)
        return bool(texts) and all(
            re.fullmatch(r"(?:alert|confirm|prompt|print|console\.log)\([\w.'\" ]{0,30}\);?", said)
            for said in (unpack(text, "base64") for text in texts)
        )

    def _send(self, call: TokenCall) -> None:
        """Say what private things are in the arguments of a call that sends."""
        kinds = self.flow.given(call)
        if kinds & {"work", "file"} and self._goes_to(call) and "work" in kinds:
            self.hit_call("SC438", call)
        elif self._goes_to(call) and self._forgotten(call) and self._carries(call, kinds):
            self.hit_call("SC437", call)
        for kind in sorted(kinds & _PRIVATE.keys()):
            self.hit_call(_PRIVATE[kind], call, f"{kind} to {call.path}")
        if "variable" in kinds:
            if "catcher" in kinds:
                self.hit_call("SC413", call, f"secret variable to {call.path}")
            elif "variable" in self._first_kinds(call):
                self.hit_call("SC436", call)

    def _goes_to(self, call: TokenCall) -> str:
        """Return the foreign host that stands in the first argument, unless everybody knows it."""
        first = self._first_argument(call)
        url = first[0].text if first and first[0].kind == "string" else ""
        found = _FOREIGN.match(url)
        if not found or is_this_machine(url) or _KNOWN.search(found[1]):
            return ""
        return found[1]

    def _forgotten(self, call: TokenCall) -> bool:
        """Say whether nobody looks at the answer, or hears of a failure."""
        if call.path.endswith("sendBeacon"):
            return True
        after = "".join(token.text for token in self.tokens[call.close + 1 : call.close + 14])
        return after.startswith(_SWALLOWS)

    def _carries(self, call: TokenCall, kinds: set[str]) -> bool:
        """Say whether what is sent is more than constants: a file, or several values by name."""
        if kinds & {"file", "output", "host", "secret"}:
            return True
        inner = self.tokens[self._argument_end(call) : call.close]
        texts = [token.text for token in inner[:120]]
        body = texts[texts.index("body") + 1 :] if "body" in texts else texts
        return any(word in _PRIVATE_WORDS for word in body)

    def _argument_end(self, call: TokenCall) -> int:
        at = call.open + 1
        while at < min(call.close, call.open + 60) and self.tokens[at].text != ",":
            at = max(self.pairs.get(at, at), at) + 1
        return at

    def _first_kinds(self, call: TokenCall) -> set[str]:
        """Give the kinds of a call's first argument."""
        return self.flow.kinds(call.open + 1, self._argument_end(call))

    def _other(self, call: TokenCall) -> None:
        path = call.path
        if path in ("path.join", "path.resolve", "join", "resolve"):
            self._joined_path(call)
        elif javascript.READ.match(path) or javascript.WRITE.match(path):
            self._file(call)
        elif javascript.DELETE.match(path):
            self._delete(call)
        elif javascript.LOOKUP.match(path):
            self._lookup(call)
        elif javascript.HOST.match(path):
            self.mark(call, "host")
        else:
            self._method(call, path.rpartition(".")[2])

    def _method(self, call: TokenCall, last: str) -> None:
        """Look at calls that are known by their last name alone, whatever they are called on."""
        if (
            call.path in ("atob", "unescape", "window.atob")
            or (call.path == "Buffer.from" and self._encoded(call))
            or last == "fromCharCode"
        ):
            self.mark(call, "decoded")
            if last == "fromCharCode" and call.close - call.open > 12:
                self.hit_call("SC419", call, decode_call(self.lexed, call))
        elif last in ("write", "send", "end", "emit", "pipe"):
            kinds = self.flow.called_on(call) | self.flow.given(call)
            if kinds & {"connection", "download"}:
                self._send(call)
                if last == "pipe" and "shell" in kinds:
                    self.hit_call("SC428", call)
        elif last in ("addEventListener", "on", "addListener") and self._text_at(call.open + 1) in (
            "keydown",
            "keypress",
            "keyup",
        ):
            self.mark(call, "keys")

    def _encoded(self, call: TokenCall) -> bool:
        return any(token.text in ("base64", "hex", "base64url") for token in self.inner(call, 40))

    def _joined_path(self, call: TokenCall) -> None:
        text = "/".join(text.strip("/") for text in self.constants(call, 40))
        for kind, mark in _PATH_KINDS.items():
            if places.names(kind, "/" + text):
                self.mark(call, mark if text != ".env" else "environment file")

    def _file(self, call: TokenCall) -> None:
        if javascript.READ.match(call.path):
            kinds = self._first_kinds(call)
            self.mark(call, "work" if "work" in kinds else "file")
            if kinds & {"place", "environment file"}:
                self.mark(call, "secret")
                self.hit_call("SC411" if "place" in kinds else "SC412", call)
        if javascript.WRITE.match(call.path):
            self._write(call)

    def _write(self, call: TokenCall) -> None:
        self.hit_name("SC434", call)
        kinds = self.flow.given(call)
        self.saved = self.saved or "download" in kinds
        target = "/".join(text for text in self.constants(call, 12) if len(text) < 300)
        for kind, rule in (("persistence", "SC416"), ("memory", "SC417")):
            if kind in kinds or places.names(kind, target):
                self.hit_call(rule, call)

    def _first_argument(self, call: TokenCall) -> list[Token]:
        return self.tokens[call.open + 1 : self._argument_end(call)]

    def _delete(self, call: TokenCall) -> None:
        argument = self._first_argument(call)
        home = any(token.text in ("homedir", "HOME", "USERPROFILE") for token in argument)
        constants = [token.text for token in argument if token.kind == "string"]
        if (home and not any(len(text) > 2 for text in constants)) or constants in _DISKS:
            self.hit_call("SC430", call)

    def _lookup(self, call: TokenCall) -> None:
        argument = self._first_argument(call)
        suffix = [token.text for token in argument if token.kind == "string"]
        if self._first_kinds(call) & (_PRIVATE.keys() | {"variable"}) or (
            suffix and len(argument) > 1 and _DATA_IN_NAME.search(suffix[-1][:300])
        ):
            self.hit_call("SC429", call)

    # --- the text as a whole

    def _pictures(self) -> None:
        """Look at addresses of pictures, styles and frames: loading one sends what is in it."""
        for index, token in enumerate(self.tokens[:-2]):
            if token.text in ("src", "href", "action") and self._text_at(index + 1) == "=":
                end = self.flow.expression_end(index + 2)
                kinds = self.flow.kinds(index + 2, end)
                if kinds & _PRIVATE.keys() and kinds & {
                    "browser",
                    "secret",
                    "environment",
                    "wallet",
                }:
                    self.hit("SC421" if "browser" in kinds else "SC413", index, end - 1)

    def _text(self) -> None:
        self._pictures()
        machine = javascript.MACHINE_NAME
        if len({name[0] for name in islice(machine.finditer(self.code), 400)}) >= 5:
            self._search("SC418", machine)
        self._search("SC419", javascript.HEX_RUN)
        if any(rule in _ACTS for rule, _ in self.hits):
            self._search("SC427", javascript.WAITS)
        start = 0
        for line in self.code.split("\n"):
            if (
                len(line) > 3000
                and line.count(" ") * 20 < len(line)
                and self.code.count(";", start, start + len(line)) > 20
            ):
                self.hits["SC420", start] = RuleHit("SC420", start, start + 80)
                break
            start += len(line) + 1

    def _search(self, rule: str, pattern: re.Pattern[str]) -> None:
        found = pattern.search(self.code)
        if found is not None:
            self.hits[rule, found.start()] = RuleHit(rule, *found.span())
