import sys
from html.parser import HTMLParser

VAGUE = {"click here", "here", "read more", "more", "link", "this"}


class Lint(HTMLParser):
    def __init__(self, name):
        super().__init__()
        self.name, self.found, self.ids, self.level = name, [], {}, 0
        self.labels, self.inputs, self.open, self.in_label = set(), [], None, 0

    def say(self, rule, msg, line=None):
        self.found.append((line or self.getpos()[0], rule, msg))

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if "id" in a:
            if a["id"] in self.ids:
                self.say("id", f"id '{a['id']}' used before on line {self.ids[a['id']]}")
            self.ids.setdefault(a["id"], self.getpos()[0])
        if tag == "html" and not a.get("lang"):
            self.say("lang", "<html> has no lang")
        if tag == "img" and "alt" not in a and a.get("role") != "presentation":
            self.say("alt", f"no alt on {a.get('src', 'img')}")
        if tag == "img" and self.open and a.get("alt"):
            self.open[2] += a["alt"]
        if tag == "label":
            self.in_label += 1
            self.labels.add(a.get("for"))
        named = a.get("aria-label") or a.get("aria-labelledby") or a.get("title")
        if tag in ("input", "select", "textarea") and a.get("type") not in ("hidden", "submit", "button", "reset", "image"):
            if not named and not self.in_label:
                self.inputs.append((self.getpos()[0], a.get("id"), a.get("name", tag)))
        if tag in ("a", "button") and not (tag == "a" and "href" not in a):
            self.open = [tag, self.getpos()[0], named or ""]
        if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            n = int(tag[1])
            if n > self.level + 1:
                self.say("heading", f"h{n} after h{self.level}" if self.level else f"first heading is h{n}")
            self.level = n
        if a.get("tabindex", "0").lstrip("-").isdigit() and int(a.get("tabindex", "0")) > 0:
            self.say("tabindex", "positive tabindex")

    def handle_data(self, data):
        if self.open:
            self.open[2] += data

    def handle_endtag(self, tag):
        if tag == "label":
            self.in_label = max(0, self.in_label - 1)
        if self.open and tag == self.open[0]:
            text = " ".join(self.open[2].split()).lower()
            if not text:
                self.say("button" if tag == "button" else "link", f"<{tag}> has no text", self.open[1])
            elif tag == "a" and text in VAGUE:
                self.say("link", f"link text '{text}' says nothing", self.open[1])
            self.open = None

    def done(self):
        for line, i, n in self.inputs:
            if i not in self.labels or i is None:
                self.say("label", f"field '{n}' has no label", line)
        return sorted(self.found)


total = 0
for fn in sys.argv[1:]:
    p = Lint(fn)
    p.feed(open(fn, encoding="utf-8", errors="replace").read())
    for line, rule, msg in p.done():
        print(f"{fn}:{line} {rule} {msg}")
        total += 1
print(f"{total} findings in {len(sys.argv) - 1} files")
sys.exit(bool(total))
