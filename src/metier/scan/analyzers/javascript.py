"""JavaScript and TypeScript: what a script starts, evaluates, reads, sends and writes, seen through its tokens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metier.scan.calls import Call, brackets, calls, modules
from metier.scan.flow import Flow
from metier.scan.rule import Hit
from metier.scan.rules import jswords as js, places
from metier.scan.spelled import decoded, folded
from metier.scan.tokens import MAX_TOKENS, Lexed, read

if TYPE_CHECKING:
    from metier.scan.tokens import Token

MAX_PER_RULE = 20

_ACTS = frozenset(("SC400", "SC403", "SC404", "SC405", "SC406", "SC407", "SC411", "SC430"))
_PRIVATE = {
    **dict.fromkeys(("secret", "environment", "wallet"), "SC413"),
    "browser": "SC421",
    "keys": "SC423",
    **dict.fromkeys(("host", "output"), "SC433"),
}
_DISKS = (["/"], ["~"], ["/*"], ["C:\\"], ["/home"], ["/etc"])
_BEFORE_FUNCTION = ("new", "=", "(", ";", "}", "return", "")
_DATA_IN_NAME = re.compile(r"(?:^|\})\.[\w.-]+\.[a-z]{2,}$")


def find(code: str) -> list[Hit]:
    """Return what the script does, sorted by place. Takes any text and never raises."""
    if js.WORTH.search(code) is None and max(map(len, code.split("\n"))) < 3000:
        return []
    return _Reader(code).all()


def commands(code: str) -> list[tuple[int, int, str]]:
    """Return the constant command lines that the script hands to a shell, with their places: the shell analyzer reads them."""
    reader = _Reader(code)
    found: list[tuple[int, int, str]] = []
    for call in reader.calls:
        if js.RUN.match(call.path):
            tokens = reader.tokens[call.open + 1 : min(call.close, call.open + 40)]
            words = [text for token in tokens if (text := reader.lexed.constant(token)) is not None]
            if words and not call.path.endswith("fork"):
                apart = "spawn" in call.path or "File" in call.path
                found.append((tokens[0].start, tokens[-1].end, " ".join(words) if apart else words[0]))
    return found


class _Reader:
    """One script being read: its tokens, its calls, the flow of its values, and what was found so far."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.lexed: Lexed = folded(read(code, "javascript"))
        self.tokens: list[Token] = self.lexed.tokens
        self.pairs = brackets(self.tokens)
        self.calls = calls(self.lexed, self.pairs, modules(self.lexed, js.MODULES, self.pairs))
        self.flow = Flow(code, self.tokens, self.pairs)
        self.hits: dict[tuple[str, int], Hit] = {}

    def all(self) -> list[Hit]:
        self._words()
        self._sources()
        self.flow.run(self.calls, self._call)
        self._text()
        if len(self.tokens) >= MAX_TOKENS:
            self.hit("SC802", len(self.tokens) - 1, len(self.tokens) - 1, "more code than is looked at")
        kept: list[Hit] = []
        count: dict[str, int] = {}
        for hit in sorted(self.hits.values(), key=lambda hit: (hit.start, hit.rule)):
            count[hit.rule] = count.get(hit.rule, 0) + 1
            if count[hit.rule] <= MAX_PER_RULE:
                kept.append(hit)
        return kept

    def hit(self, rule: str, first: int, last: int, evidence: str = "") -> None:
        start, end = self.tokens[first].start, self.tokens[min(last, len(self.tokens) - 1)].end
        self.hits.setdefault((rule, start), Hit(rule, start, max(end, start), evidence[:200]))

    # --- single tokens

    def _words(self) -> None:
        for index, token in enumerate(self.tokens):
            if token.kind == "string":
                self._string(index, token)
            elif token.kind == "word" and js.WALLET.match(token.text) and self._handed_on(index):
                self.flow.mark(index, "wallet")

    def _handed_on(self, index: int) -> bool:
        """Say whether a value is put as it is into an object or a text; an address made from a key is no secret."""
        before, after = self._text_at(index - 1), self._text_at(index + 1)
        if before == "(":
            return self._text_at(index - 2) in ("stringify", "encodeURIComponent", "btoa", "append")
        return (before in ("{", ",", ":") and after in ("}", ",")) or before == "+" or self.tokens[index - 1].kind == "string"

    def _string(self, index: int, token: Token) -> None:
        text = token.text
        if len(text) < 4:
            return
        if js.MINER.search(text):
            self.hit("SC431", index, index)
        if "//" in text and js.BARE.search(text):
            self.hit("SC435", index, index)
        if ("." in text or "/" in text or " " in text) and len(text) < 2000:
            place = places.names("credential", text)
            if place:
                self.flow.mark(index, "environment file" if place == "an environment file" else "place")
            self._host(index, text)
        if js.INSTALLS.match(text) and self._text_at(index + 1) == ":" and self.tokens[index + 2 : index + 3]:
            self.hit("SC426", index, index + 2)

    def _host(self, index: int, text: str) -> None:
        if "//" in text or text.count(".") < 4:
            host = places.names("exfiltration", text)
            if host:
                self.flow.mark(index, "catcher")
                self.hit("SC415" if host.startswith("a chat") else "SC414", index, index)

    def _text_at(self, index: int) -> str:
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    # --- where private values come from

    def _sources(self) -> None:
        for index, token in enumerate(self.tokens):
            if token.kind != "word":
                continue
            after = self._text_at(index + 2) if self._text_at(index + 1) in (".", "?.", "[") else ""
            if token.text == "env" and self._text_at(index - 2) in ("process", "Bun", "meta"):
                self._environment(index, after)
            elif (token.text == "document" and after == "cookie") or (
                token.text in ("localStorage", "sessionStorage") and after not in ("setItem", "removeItem", "clear")
            ):
                self.flow.mark(index, "browser")
            elif token.text == "clipboard" and after in ("readText", "read"):
                self.flow.mark(index, "browser")
                self.hit("SC422", index, index + 2)
            elif token.text == "constructor" and after == "constructor":
                self.hit("SC425", index, index + 2)
            elif token.text == "ethereum" and after in ("request", "send", "sendAsync"):
                self.hit("SC424", index, index + 2)

    def _environment(self, index: int, after: str) -> None:
        """Tell one variable of the environment from all of them; handing all to a child process is everyday."""
        if after:
            if places.secret_name(after):
                self.flow.mark(index, "variable")
                self.hit("SC410", index - 2, index + 2, after)
            return
        if self._text_at(index - 3) == "=" and self._text_at(index - 4) == "}":  # const { A, B } = process.env
            return
        self.flow.mark(index, "environment")
        if self._text_at(index - 3) == "(" and self._text_at(index - 4) in ("stringify", "entries", "values", "assign"):
            self.hit("SC409", index - 4, index)

    # --- calls

    def _call(self, call: Call) -> None:
        path = call.path
        if path in ("require", "import"):
            self._load(call)
        elif path == "process.binding" or path.endswith("._load"):
            self.hit("SC402", call.first, call.open)
        elif js.RUN.match(path):
            self._run(call)
        elif js.EVAL.search(path):
            self._eval(call)
        elif js.SEND.match(path):
            self.hit("SC407", call.first, call.open)
            self.flow.mark(call.first, "download")
            self._send(call)
        elif js.SOCKET.match(path):
            self.hit("SC408", call.first, call.open)
            self.flow.mark(call.first, "connection")
            self._send(call)
        else:
            self._other(call)

    def _load(self, call: Call) -> None:
        argument = self.tokens[call.open + 1]
        kinds = self.flow.kinds(call.open + 1, call.close)
        if "decoded" in kinds:
            self.hit("SC404", call.first, call.close)
        elif argument.kind == "string" and argument.joined and argument.text.removeprefix("node:") in js.MODULES:
            self.hit("SC402", call.first, call.close, argument.text)
        elif argument.kind == "word" and call.close == call.open + 2 and self.lexed.constant(argument) is None:
            self.hit("SC401", call.first, call.close)

    def _run(self, call: Call) -> None:
        self.hit("SC402" if call.built else "SC400", call.first, call.open)
        kinds = self.flow.kinds(call.open + 1, call.close)
        self.flow.mark(call.first, "output")
        if "decoded" in kinds:
            self.hit("SC404", call.first, call.close)
        if "download" in kinds:
            self.hit("SC405", call.first, call.close)
        if "connection" in kinds:
            self.hit("SC428", call.first, call.close)
        if "place" in kinds:
            self.flow.mark(call.first, "secret")
            self.hit("SC411", call.first, call.close)
        inner = self.tokens[call.open + 1 : min(call.close, call.open + 60)]
        texts = [text for token in inner if (text := self.lexed.constant(token)) is not None]
        line = " ".join(texts)[:4000]
        if js.FETCH_RUN.search(line):
            self.hit("SC406", call.first, call.close, line)
        if js.SENDER.search(line) and self.flow.kinds(call.open + 1, self._before_options(call)) & {
            "secret",
            "environment",
            "wallet",
        }:
            self.hit("SC413", call.first, call.close, line)
        if js.SHELL_OUT.search(line):
            self.hit("SC428", call.first, call.close, line)
        if texts and js.SHELLS.match(texts[0]):
            self.flow.mark(call.first, "shell")
        if any(token.text == "detached" for token in inner) and any(token.text == "ignore" for token in inner):
            self.hit("SC432", call.first, call.open)

    def _before_options(self, call: Call) -> int:
        """Return where the options begin that hand the child its environment: that is no secret sent."""
        for index in range(call.open + 1, min(call.close, call.open + 120)):
            if self.tokens[index].text == "env" and self._text_at(index + 1) == ":":
                return index
        return call.close

    def _eval(self, call: Call) -> None:
        if call.close == call.open + 1 or (call.path == "Function" and self._text_at(call.first - 1) not in _BEFORE_FUNCTION):
            return
        kinds = self.flow.kinds(call.open + 1, call.close)
        rule = "SC404" if "decoded" in kinds else "SC405" if "download" in kinds else "SC402" if call.built else "SC403"
        self.hit(rule, call.first, call.close)

    def _send(self, call: Call) -> None:
        """Say what private things are in the arguments of a call that sends."""
        kinds = self.flow.kinds(call.open + 1, call.close)
        for kind in sorted(kinds & _PRIVATE.keys()):
            self.hit(_PRIVATE[kind], call.first, call.close, f"{kind} to {call.path}")
        if "variable" in kinds:
            if "catcher" in kinds:
                self.hit("SC413", call.first, call.close, f"secret variable to {call.path}")
            elif "variable" in self.flow.kinds(call.open + 1, self._argument_end(call)):
                self.hit("SC436", call.first, call.close)

    def _argument_end(self, call: Call) -> int:
        at = call.open + 1
        while at < min(call.close, call.open + 60) and self.tokens[at].text != ",":
            at = max(self.pairs.get(at, at), at) + 1
        return at

    def _other(self, call: Call) -> None:
        path = call.path
        if path in ("path.join", "path.resolve", "join", "resolve"):
            self._joined_path(call)
        elif js.READ.match(path) or js.WRITE.match(path):
            self._file(call)
        elif js.DELETE.match(path):
            self._delete(call)
        elif js.LOOKUP.match(path):
            self._lookup(call)
        elif js.HOST.match(path):
            self.flow.mark(call.first, "host")
        else:
            self._method(call, path.rpartition(".")[2])

    def _method(self, call: Call, last: str) -> None:
        """Look at calls that are known by their last name alone, whatever they are called on."""
        if (
            call.path in ("atob", "unescape", "window.atob")
            or (call.path == "Buffer.from" and self._encoded(call))
            or last == "fromCharCode"
        ):
            self.flow.mark(call.first, "decoded")
            if last == "fromCharCode" and call.close - call.open > 12:
                self.hit("SC419", call.first, call.close, decoded(self.lexed, call))
        elif last in ("write", "send", "end", "emit", "pipe") and self._on_connection(call):
            self._send(call)
            if last == "pipe" and "shell" in self.flow.kinds(call.open + 1, call.close) | self.flow.kinds(call.first, call.open):
                self.hit("SC428", call.first, call.close)
        elif last in ("addEventListener", "on", "addListener") and self._text_at(call.open + 1) in ("keydown", "keypress", "keyup"):
            self.flow.mark(call.first, "keys")

    def _on_connection(self, call: Call) -> bool:
        kinds = self.flow.kinds(call.first, call.open) | self.flow.kinds(call.open + 1, call.close)
        return bool(kinds & {"connection", "download"})

    def _encoded(self, call: Call) -> bool:
        inner = self.tokens[call.open + 1 : min(call.close, call.open + 40)]
        return any(token.text in ("base64", "hex", "base64url") for token in inner)

    def _joined_path(self, call: Call) -> None:
        inner = self.tokens[call.open + 1 : min(call.close, call.open + 40)]
        text = "/".join(text.strip("/") for token in inner if (text := self.lexed.constant(token)) is not None)
        for kind in ("credential", "persistence", "memory"):
            if places.names(kind, "/" + text):
                self.flow.mark(call.first, {"credential": "place"}.get(kind, kind) if text != ".env" else "environment file")

    def _file(self, call: Call) -> None:
        if js.READ.match(call.path):
            kinds = self.flow.kinds(call.open + 1, self._argument_end(call))
            if kinds & {"place", "environment file"}:
                self.flow.mark(call.first, "secret")
                self.hit("SC411" if "place" in kinds else "SC412", call.first, call.close)
        if js.WRITE.match(call.path):
            self._write(call)

    def _write(self, call: Call) -> None:
        self.hit("SC434", call.first, call.open)
        kinds = self.flow.kinds(call.open + 1, call.close)
        inner = self.tokens[call.open + 1 : min(call.close, call.open + 12)]
        target = "/".join(text for token in inner if (text := self.lexed.constant(token)) is not None and len(text) < 300)
        if "persistence" in kinds or places.names("persistence", target):
            self.hit("SC416", call.first, call.close)
        if "memory" in kinds or places.names("memory", target):
            self.hit("SC417", call.first, call.close)

    def _delete(self, call: Call) -> None:
        end = self._argument_end(call)
        texts = [self.tokens[index].text for index in range(call.open + 1, end)]
        home = "homedir" in texts or "HOME" in texts or "USERPROFILE" in texts
        constants = [self.tokens[index].text for index in range(call.open + 1, end) if self.tokens[index].kind == "string"]
        if (home and not any(len(text) > 2 for text in constants)) or constants in _DISKS:
            self.hit("SC430", call.first, call.close)

    def _lookup(self, call: Call) -> None:
        end = self._argument_end(call)
        kinds = self.flow.kinds(call.open + 1, end)
        suffix = [self.tokens[index].text for index in range(call.open + 1, end) if self.tokens[index].kind == "string"]
        if kinds & (_PRIVATE.keys() | {"variable"}) or (suffix and end - call.open > 2 and _DATA_IN_NAME.search(suffix[-1][:300])):
            self.hit("SC429", call.first, call.close)

    # --- the text as a whole

    def _text(self) -> None:
        machine = {match.group() for match, _ in zip(js.MACHINE_NAME.finditer(self.code), range(400), strict=False)}
        first = js.MACHINE_NAME.search(self.code)
        if len(machine) >= 5 and first is not None:
            self.hits["SC418", first.start()] = Hit("SC418", first.start(), first.end())
        spelled = js.HEX_RUN.search(self.code)
        if spelled is not None:
            self.hits["SC419", spelled.start()] = Hit("SC419", spelled.start(), spelled.end())
        waits = js.WAITS.search(self.code)
        if waits is not None and any(rule in _ACTS for rule, _ in self.hits):
            self.hits["SC427", waits.start()] = Hit("SC427", waits.start(), waits.end())
        start = 0
        for line in self.code.split("\n"):
            if len(line) > 3000 and line.count(" ") * 20 < len(line) and self.code.count(";", start, start + len(line)) > 20:
                self.hits["SC420", start] = Hit("SC420", start, start + 80)
                break
            start += len(line) + 1
