"""Reads a page as a browser would and says what in it could do anything at all: only what is named here may be there."""

from __future__ import annotations

from html.parser import HTMLParser

ELEMENTS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "link",
        "script",
        "body",
        "a",
        "header",
        "nav",
        "ul",
        "ol",
        "li",
        "p",
        "main",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "div",
        "section",
        "aside",
        "span",
        "small",
        "strong",
        "em",
        "s",
        "code",
        "pre",
        "mark",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "blockquote",
        "hr",
        "br",
        "details",
        "summary",
        "dl",
        "dt",
        "dd",
        "form",
        "input",
        "select",
        "option",
        "datalist",
        "button",
        "label",
        "textarea",
        "fieldset",
        "legend",
        "article",
        "figure",
        "figcaption",
        "svg",
        "g",
        "rect",
        "line",
        "text",
        "circle",
        "path",
        "canvas",
        "meter",
        "progress",
        "kbd",
        "footer",
        "noscript",
        "i",
        "b",
        "img",
    ]
)
ATTRIBUTES = frozenset(
    [
        "action",
        "alt",
        "autocomplete",
        "charset",
        "checked",
        "class",
        "colspan",
        "content",
        "defer",
        "disabled",
        "for",
        "form",
        "height",
        "hidden",
        "href",
        "id",
        "inputmode",
        "lang",
        "list",
        "max",
        "maxlength",
        "method",
        "min",
        "name",
        "open",
        "pattern",
        "placeholder",
        "preserveaspectratio",
        "rel",
        "required",
        "role",
        "rows",
        "rx",
        "scope",
        "selected",
        "size",
        "spellcheck",
        "src",
        "start",
        "tabindex",
        "title",
        "type",
        "value",
        "viewbox",
        "width",
        "x",
        "x1",
        "x2",
        "y",
        "y1",
        "y2",
        "r",
        "cx",
        "cy",
        "d",
        "hx-get",
        "hx-target",
        "hx-swap",
        "hx-trigger",
        "hx-replace-url",
        "hx-sync",
        "data-bytes",
        "data-live",
        "data-stale",
        "data-state",
        "data-reason",
        "data-agent",
        "data-key",
        "data-stream",
        "data-ours",
        "data-theirs",
        "data-zoom",
        "data-what",
    ]
)
ADDRESSES = frozenset({"href", "src", "action", "hx-get", "data-stream"})
OWN_IDS = ("main", "news", "q", "search", "results", "graph", "map", "output", "form_key")
SCRIPTS = frozenset(
    f"/static/{name}.js" for name in ("htmx.min", "metier", "graph", "review", "skill")
)


class InertPage(HTMLParser):
    """What a page has that it should not have."""

    def __init__(self, html: str) -> None:
        """Read a page."""
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self._in = ""
        self.feed(html)
        self.close()
        if self.ids.count("main") != 1:
            self.wrong.append("not one main")
        doubled = {one for one in self.ids if self.ids.count(one) > 1 and one in OWN_IDS}
        self.wrong += [f"id {one} twice" for one in doubled]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at an element."""
        given = {name: value or "" for name, value in attrs}
        if tag not in ELEMENTS:
            self.wrong.append(f"<{tag}>")
        for name, value in given.items():
            if name not in ATTRIBUTES and not name.startswith("aria-"):
                self.wrong.append(f"{tag} {name}={value[:80]}")
            if name in ADDRESSES and not _is_own(value):
                self.wrong.append(f"{tag} {name}={value[:80]}")
        if tag == "script" and given.get("src") not in SCRIPTS:
            self.wrong.append(f"script {given}")
        if tag == "meta" and "http-equiv" in given:
            self.wrong.append(f"meta {given}")
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "a":
            self.links.append(given.get("href", ""))
        self._in = tag

    def handle_endtag(self, _tag: str) -> None:
        """Leave an element."""
        self._in = ""

    def handle_data(self, data: str) -> None:
        """No script and no style stands in the page itself."""
        if self._in in {"script", "style"} and data.strip():
            self.wrong.append(f"inline {self._in}: {data[:80]}")

    def handle_comment(self, data: str) -> None:
        """Nothing of a skill's stands in a comment."""
        self.wrong.append(f"comment {data[:80]}")


def _is_own(address: str) -> bool:
    """Tell whether an address stays on this page, however a browser may read it."""
    if address.startswith("#"):
        return True
    if any(ord(one) < 33 for one in address) or "\\" in address:
        return False
    return address.startswith("/") and not address.startswith("//")
