"""Train the reader of passages: MiniLM, which says of a few sentences how much they read like a
planted behaviour. Needs torch and a GPU.

    python bench/reader_train.py --base base.npz --windows windows.npz --out OUT

A skill is as bad as its worst passage, so a malicious one is a bag of which the worst counts, and an
honest one a bag of which all are honest. A written pair stands in the same place of the same skill
twice: the bad one is to be worse than its twin, and than everything honest. The weights of several
trainings with other seeds are averaged. `--base` is the model that finds skills, or a reader that
there is: then its weights may count among those that are averaged (`--keep`). A row of one number to each piece of a word is learnt
beside: the cheap first look that chooses which passages are read.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - what everybody calls it
from embed_model import Encoder
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
HEADS = 12
PAIRS, BAGS, HONEST = 64, 32, 512
"""Written pairs, malicious skills and honest windows that are drawn for one step."""
BAG_WINDOWS = 20
"""Windows of one malicious skill that are read in a step."""
MAKERS = 4.0
"""How much oftener a passage of a well-known maker is shown than another honest one."""
RATE = 1.2e-4
MASK = 103
"""The piece of a word that stands for one that is not shown."""
FIRST_WORD = 999
"""From this number on, pieces are words and parts of words; below are marks that nothing replaces."""
BAG = 0.5
"""How much a malicious skill counts, of which nobody has said where it is bad."""
MARGIN = 2.0
"""How much worse than its twin a bad passage is to be."""
LOOK_STEPS, LOOK_RATE, LOOK_WINDOWS = 2500, 0.02, 2048
LOOK_PIECES = 30522
"""Pieces of words in the vocabulary."""

Left = dict[str, set[str]]
"""Writers and sources that teach nothing, for a trial of what carries over to them; and writers of
whom only the honest passages teach (`calm`)."""


class Reader(nn.Module):
    """The encoder, and one number from the mean of its tokens."""

    def __init__(self, base: dict[str, np.ndarray[Any, Any]]) -> None:
        """Begin with the weights that there are."""
        super().__init__()
        words = torch.tensor(base["we_q"].astype(np.float32) * base["we_s"].astype(np.float32))
        rest = {
            name: torch.tensor(value.astype(np.float32))
            for name, value in base.items()
            if not name.startswith("we_") and not name.startswith("head")
        }
        self.encoder = Encoder(words, sum(name.endswith(".query.weight") for name in rest), HEADS)
        self.encoder.load_state_dict(rest)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(words.shape[1], 1)
        if "head.weight" in base:
            self.head.load_state_dict(
                {k: torch.tensor(base[f"head.{k}"].astype(np.float32)) for k in ("weight", "bias")}
            )

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Give a number to each text."""
        there = (tokens != 0).unsqueeze(-1).float()
        vectors = self.encoder(tokens).float()
        mean = (vectors * there).sum(1) / there.sum(1)
        return self.head(self.drop(mean)).squeeze(-1)


class Data:
    """Windows and bags, on the machine."""

    def __init__(self, path: str) -> None:
        """Load them."""
        with np.load(path) as file:
            tokens, ends, bags = file["tokens"], file["ends"], file["bags"]
            self.about = json.loads(file["about"].tobytes())
        self.sizes = np.diff(ends, prepend=0)
        made = np.zeros((len(ends), (int(self.sizes.max()) + 7) // 8 * 8), np.int16)
        made[np.arange(made.shape[1]) < self.sizes[:, None]] = tokens.astype(np.int16)
        self.padded = torch.from_numpy(made).to(DEVICE)
        self.of: list[list[int]] = [[] for _ in self.about]
        for window, bag in enumerate(bags):
            self.of[bag].append(window)

    def table(self, windows: Any) -> torch.Tensor:
        """Give windows as one table, with zeros after the shorter ones."""
        at = np.asarray(windows)
        width = (int(self.sizes[at].max()) + 7) // 8 * 8
        return self.padded[torch.from_numpy(at).to(DEVICE)][:, :width].long()

    def bags(self, kind: str, **about: str) -> list[int]:
        """Give the bags of a kind that have windows."""
        return [
            at
            for at, one in enumerate(self.about)
            if one["set"] == kind and self.of[at] and all(one.get(k) == v for k, v in about.items())
        ]


def score_all(model: nn.Module, data: Data, windows: list[int]) -> np.ndarray[Any, Any]:
    """Give the number of each window."""
    model.eval()
    order = sorted(windows, key=lambda w: int(data.sizes[w]))
    found = {}
    with torch.no_grad(), torch.autocast(DEVICE, torch.bfloat16):
        at = 0
        while at < len(order):
            part = order[at : at + 1024]
            for w, value in zip(part, model(data.table(part)).float().cpu().numpy(), strict=True):
                found[w] = float(value)
            at += len(part)
    return np.array([found[w] for w in windows])


def worst(model: nn.Module, data: Data, bags: list[int]) -> np.ndarray[Any, Any]:
    """Give the number of each bag: that of its worst window."""
    windows = sorted({w for bag in bags for w in data.of[bag]})
    values = dict(zip(windows, score_all(model, data, windows), strict=True))
    return np.array([max(values[w] for w in data.of[bag]) for bag in bags])


def shares(data: Data, bags: list[int]) -> np.ndarray[Any, Any]:
    """Give each malicious skill its chance to be drawn: families and large sources share one."""
    count: dict[tuple[str, str], int] = {}
    for bag in bags:
        for key in (
            ("f", data.about[bag].get("campaign") or data.about[bag].get("cluster", "")),
            ("s", data.about[bag]["source"]),
        ):
            count[key] = count.get(key, 0) + 1
    made = []
    for bag in bags:
        one = data.about[bag]
        value = count["f", one.get("campaign") or one.get("cluster", "")] ** -0.5
        value *= count["s", one["source"]] ** -0.4
        value *= {"A": 1.0, "B": 0.7, "C": 0.25}.get(one.get("grade", ""), 0.5)
        made.append(value)
    return np.array(made) / sum(made)


class Lessons:
    """What one training draws from."""

    def __init__(self, data: Data, leave: Left) -> None:
        """Take all that may teach."""
        about = data.about
        self.data = data
        silent = leave["writers"] | leave.get("calm", set())
        self.bad = [b for b in data.bags("bad") if about[b]["writer"] not in silent]
        # the bad and the good of one host follow each other
        self.twin_of = {
            b: b + 1
            for b in self.bad
            if b + 1 < len(about)
            and about[b + 1]["set"] == "good"
            and about[b + 1]["pair"] == about[b]["pair"]
        }
        self.good_only = [
            b
            for b in data.bags("good")
            if about[b]["writer"] not in leave["writers"] and b - 1 not in self.twin_of
        ]
        self.malicious = [b for b in data.bags("bag") if about[b]["source"] not in leave["sources"]]
        self.share = shares(data, self.malicious)
        calm = [b for b in data.bags("honest") if about[b]["source"] not in leave["sources"]]
        self.honest = [w for b in calm for w in data.of[b]]
        self.often = np.array(
            [
                MAKERS if about[b]["source"].startswith("maker") else 1.0
                for b in calm
                for _ in data.of[b]
            ]
        )

    def chances(self, model: nn.Module | None = None) -> np.ndarray[Any, Any]:
        """Give each honest window its chance to be drawn; with a model, what it still takes for bad
        is shown more often.
        """
        made = self.often
        if model is not None:
            values = score_all(model, self.data, self.honest)
            p = 1 / (1 + np.exp(-(values - np.quantile(values, 0.98))))
            made = self.often * (0.3 / len(self.honest) + 0.7 * p / p.sum())
        return np.asarray(made / made.sum())


Span = tuple[int, int]
"""Where the windows of one bag lie among all that are read in a step."""


class Step(NamedTuple):
    """What is read in one step."""

    windows: list[int]
    pairs: list[tuple[Span, Span | None]]
    """Bad passages, and their twins where they have one."""
    goods: list[Span]
    bags: list[Span]
    honest: Span


def draw(lessons: Lessons, hard: np.ndarray[Any, Any], chance: np.random.Generator) -> Step:
    """Draw what is read in one step."""
    windows: list[int] = []
    of, twin_of = lessons.data.of, lessons.twin_of

    def put(part: list[int]) -> Span:
        windows.extend(map(int, part))
        return len(windows) - len(part), len(windows)

    pairs = [
        (put(of[b]), put(of[twin_of[b]]) if b in twin_of else None)
        for b in chance.choice(lessons.bad, PAIRS, replace=False)
    ]
    goods = [put(of[b]) for b in chance.choice(lessons.good_only, PAIRS // 2, replace=False)]
    bags = [
        put(list(chance.permutation(of[b])[:BAG_WINDOWS]))
        for b in chance.choice(lessons.malicious, BAGS, p=lessons.share)
    ]
    at = chance.choice(len(lessons.honest), HONEST, p=hard)
    return Step(windows, pairs, goods, bags, put([lessons.honest[one] for one in at]))


def hidden(tokens: torch.Tensor, share: float) -> torch.Tensor:
    """Hide a share of the words, so that no single one of them is learnt by heart."""
    if not share:
        return tokens
    gone = (torch.rand(tokens.shape, device=tokens.device) < share) & (tokens >= FIRST_WORD)
    return tokens.masked_fill(gone, MASK)


def read_step(model: nn.Module, data: Data, windows: list[int], masked: float) -> torch.Tensor:
    """Give the number of each window of a step, those of a length being read together."""
    with torch.autocast(DEVICE, torch.bfloat16):
        order = sorted(range(len(windows)), key=lambda at: int(data.sizes[windows[at]]))
        parts = [order[at : at + 256] for at in range(0, len(order), 256)]
        tables = (hidden(data.table([windows[at] for at in part]), masked) for part in parts)
        made = torch.cat([model(table) for table in tables])
    values = torch.empty_like(made)
    values[torch.tensor(order, device=DEVICE)] = made
    return values


def loss_of(values: torch.Tensor, step: Step) -> torch.Tensor:
    """Say how far a step is from what is wanted: honest windows calm, the worst of a bad passage and
    of a malicious skill not, a bad passage worse than its twin.
    """
    first, last = step.honest
    loss = 0.6 * F.softplus(values[first:last]).mean()
    top = torch.stack([values[a:b].max() for (a, b), _ in step.pairs])
    loss = loss + F.softplus(-top).mean()
    twin = [(at, values[t[0] : t[1]]) for at, (_, t) in enumerate(step.pairs) if t]
    if twin:
        calm = torch.stack([value.max() for _, value in twin])
        loss = loss + 0.7 * F.softplus(calm).mean()
        loss = loss + 0.7 * F.softplus(MARGIN - (top[[at for at, _ in twin]] - calm)).mean()
    loss = loss + 0.5 * torch.cat([F.softplus(values[a:b]) for a, b in step.goods]).mean()
    worst_of = torch.stack([torch.logsumexp(2 * values[a:b], 0) / 2 for a, b in step.bags])
    return loss + BAG * F.softplus(-worst_of).mean()


def optimizer_of(model: nn.Module, rate: float) -> torch.optim.Optimizer:
    """Give what changes the weights; only matrices decay."""
    parameters = list(model.parameters())
    return torch.optim.AdamW(
        [
            {"params": [one for one in parameters if one.ndim > 1], "weight_decay": 0.01},
            {"params": [one for one in parameters if one.ndim <= 1], "weight_decay": 0.0},
        ],
        lr=rate,
    )


class Course(NamedTuple):
    """How long and how fast a reader learns, and how many words are hidden from it meanwhile."""

    steps: int = 1500
    rate: float = RATE
    masked: float = 0.0


def train(base: dict[str, Any], data: Data, seed: int, course: Course, leave: Left) -> Reader:
    """Train one reader; `leave` names writers and sources that teach nothing."""
    steps = course.steps
    torch.manual_seed(seed)
    chance = np.random.default_rng(seed)
    model = Reader(base).to(DEVICE)
    best = optimizer_of(model, course.rate)
    lessons = Lessons(data, leave)
    hard = lessons.chances()
    started = time.time()
    for number in range(steps):
        if number in (steps // 3, 2 * steps // 3):
            hard = lessons.chances(model)
        model.train()
        warm = min(1, (number + 1) / 100)
        for group in best.param_groups:
            group["lr"] = course.rate * warm * (0.5 + 0.5 * math.cos(math.pi * number / steps))
        step = draw(lessons, hard, chance)
        loss = loss_of(read_step(model, data, step.windows, course.masked), step)
        best.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        best.step()
        if number % 200 == 0:
            took = time.time() - started
            print(f"seed {seed} step {number} loss {loss.item():.3f} {took:.0f}s", flush=True)
    return model


def soup(models: list[Reader], base: dict[str, Any], keep: float = 0.0) -> Reader:
    """Give one reader whose weights are the mean of several, and in part those that it began with."""
    made = Reader(base).to(DEVICE)
    states = [model.state_dict() for model in models]
    made.load_state_dict(
        {
            name: (1 - keep) * torch.stack([one[name].float() for one in states]).mean(0)
            + keep * first
            for name, first in made.state_dict().items()
        }
    )
    return made


class Look(nn.Module):
    """The cheap first look: one number to each piece of a word, and none of their order."""

    def __init__(self) -> None:
        """Begin with a look that minds nothing."""
        super().__init__()
        self.pieces = nn.Embedding(LOOK_PIECES, 1, padding_idx=0)
        nn.init.zeros_(self.pieces.weight)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Give a number to each text."""
        there = (tokens != 0).float()
        return (self.pieces(tokens).squeeze(-1) * there).sum(1) / there.sum(1).sqrt()


def first_look(model: nn.Module, data: Data) -> Look:
    """Learn a first look that chooses what the model would call worst."""
    sets = ("honest", "bag", "bad", "good")
    bags = [b for kind in sets for b in data.bags(kind)]
    windows = np.array(sorted({w for b in bags for w in data.of[b]}))
    values = torch.tensor(
        score_all(model, data, windows.tolist()), device=DEVICE, dtype=torch.float32
    )
    look = Look().to(DEVICE)
    bias = torch.zeros(1, device=DEVICE, requires_grad=True)
    best = torch.optim.AdamW([look.pieces.weight, bias], lr=LOOK_RATE, weight_decay=0.01)
    some = values[torch.randperm(len(values))[:200000]]
    hard = torch.sigmoid(values - torch.quantile(some, 0.95)) + 0.03
    chance = (hard / hard.sum()).cpu().numpy().astype(np.float64)
    chance /= chance.sum()
    draws = np.random.default_rng(0)
    for step in range(LOOK_STEPS):
        at = draws.choice(len(windows), LOOK_WINDOWS, p=chance)
        loss = F.smooth_l1_loss(look(data.table(windows[at])) + bias, values[at])
        for group in best.param_groups:
            group["lr"] = LOOK_RATE * (1 - step / LOOK_STEPS)
        best.zero_grad()
        loss.backward()
        best.step()
    return look


def tell_look(look: Look, model: nn.Module, data: Data) -> None:
    """Print how often the worst window of a bag is among those that the first look lets through."""
    for kind in ("calibrate", "bag", "calibrate-bad"):
        part = data.bags(kind)
        every = sorted({w for b in part for w in data.of[b]})
        cheap = dict(zip(every, score_all(look, data, every), strict=True))
        full = dict(zip(every, score_all(model, data, every), strict=True))
        for most in (2, 3, 4, 6):
            kept = []
            for b in part:
                chosen = sorted(data.of[b], key=cheap.__getitem__, reverse=True)[:most]
                kept.append(max(full[w] for w in data.of[b]) - max(full[w] for w in chosen) < 0.5)
            print(f"first look {kind}: the worst is among {most}: {np.mean(kept):.3f}")


class Trial(NamedTuple):
    """Written passages and their twins as a reader sees them."""

    title: str
    bad: np.ndarray[Any, Any]
    twins: np.ndarray[Any, Any]

    def at(self, limit: float) -> str:
        """Say how they fare at a limit."""
        bad, twins = self.bad >= limit, self.twins >= limit
        apart = np.mean(bad & ~twins)
        return f"{self.title} bad {bad.mean():.2f} twin {twins.mean():.2f} apart {apart:.2f}"


def report(name: str, model: nn.Module, data: Data, leave: Left) -> dict[float, float]:
    """Print how well a reader does on honest skills that taught it nothing, and on what was left
    out; give the limits.
    """
    calm = worst(model, data, data.bags("calibrate", source="pool"))
    every = data.bags("calibrate")
    makers = worst(model, data, [b for b in every if data.about[b]["source"].startswith("maker")])
    limits = {share: float(np.quantile(calm, 1 - share)) for share in (0.01, 0.02, 0.03, 0.05, 0.1)}
    print(f"== {name}: {len(calm)} honest skills of the pool, {len(makers)} of makers")
    trials = []
    for writer in sorted({data.about[b]["writer"] for b in data.bags("calibrate-bad")}):
        bags = data.bags("calibrate-bad", writer=writer)
        title = f"writer {writer}{' (left out)' if writer in leave['writers'] else ''}"
        twins = worst(model, data, [b + 1 for b in bags])
        trials.append(Trial(title, worst(model, data, bags), twins))
    sources = {
        f"{title}{source} ({len(bags)})": worst(model, data, bags)
        for source in sorted(leave["sources"])
        for kind, title in (("bag", ""), ("honest", "honest "))
        if (bags := data.bags(kind, source=source))
    }
    for share, limit in limits.items():
        line = [f"at {share:.0%} (limit {limit:.2f}): makers {np.mean(makers >= limit):.3f}"]
        line += [trial.at(limit) for trial in trials]
        line += [f"{title} {np.mean(values >= limit):.3f}" for title, values in sources.items()]
        print("  " + "; ".join(line), flush=True)
    return limits


def save(student: Reader, look: Look, limits: dict[float, float], folder: Path) -> None:
    """Write the weights, in two files that are small enough to travel, and the first look."""
    folder.mkdir(parents=True, exist_ok=True)
    ours: dict[str, Any] = {
        name.removeprefix("encoder."): value.detach().float().cpu().numpy().astype(np.float16)
        for name, value in student.state_dict().items()
    }
    names = sorted(ours)
    half = len(names) // 2
    for number, part in enumerate((names[:half], names[half:]), 1):
        np.savez(folder / f"reader-{number}.npz", **{name: ours[name] for name in part})
    told: dict[str, Any] = {f"limit_{share}": limit for share, limit in limits.items()}
    told["look"] = look.pieces.weight.detach().squeeze(-1).cpu().numpy().astype(np.float16)
    np.savez(folder / "look.npz", **told)


def main() -> None:
    """Train, report and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", required=True)
    parser.add_argument("--windows", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=Course().steps)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--masked", type=float, default=0.0, help="share of words that are hidden")
    parser.add_argument("--keep", type=float, default=0.0, help="share of the weights of --base")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--leave-writers", default="")
    parser.add_argument("--leave-sources", default="")
    parser.add_argument("--calm-writers", default="", help="whose honest passages alone teach")
    given = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = True
    with np.load(given.base) as file:
        base = dict(file)
    data = Data(given.windows)
    leave = {
        "writers": set(given.leave_writers.split()),
        "sources": set(given.leave_sources.split()),
        "calm": set(given.calm_writers.split()),
    }
    course = Course(given.steps, given.rate, given.masked)
    models = [train(base, data, seed, course, leave) for seed in range(1, given.seeds + 1)]
    report("seed 1", models[0], data, leave)
    student = soup(models, base, given.keep)
    limits = report("all together", student, data, leave)
    look = first_look(student, data)
    tell_look(look, student, data)
    save(student, look, limits, given.out)


if __name__ == "__main__":
    main()
