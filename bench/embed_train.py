"""The training itself, for `bench/embed.py train`: two towers, then a reader that teaches them.
Needs torch and a GPU.
"""

from __future__ import annotations

import json
import lzma
import random
import time
from typing import TYPE_CHECKING, Any

import embed
import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - what everybody calls it
from tokenizers import Tokenizer
from torch import nn

if TYPE_CHECKING:
    from embed_model import Encoder

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
AMP = {"device_type": DEVICE, "dtype": torch.bfloat16}
Rows = list["np.ndarray[Any, Any]"]
LATE, LATE_SCALE = 256, 32.0
"""How much of a batch is compared token by token, and how sharply."""
READ = 2
"""Passages of a candidate that the reader is scored on."""


def tokens_of(tokenizer: Tokenizer, texts: list[str], limit: int) -> Rows:
    """Give the numbers of the pieces of words in each text; what is too long is cut."""
    found: Rows = []
    for start in range(0, len(texts), 20_000):
        for encoded in tokenizer.encode_batch(texts[start : start + 20_000]):
            ids = encoded.ids
            found.append(
                np.array(
                    ids if len(ids) <= limit else [*ids[: limit - 1], embed.SEP], dtype=np.int32
                )
            )
    return found


def padded(rows: Rows) -> torch.Tensor:
    """Give texts as one table, with zeros after the shorter ones."""
    width = max(map(len, rows))
    table = np.zeros((len(rows), (width + 7) // 8 * 8), np.int64)
    for at, row in enumerate(rows):
        table[at, : len(row)] = row
    return torch.from_numpy(table).to(DEVICE, non_blocking=True)


class Towers(nn.Module):
    """One encoder for both sides: the mean of a text's tokens, of unit length.

    While it learns, each token has a small vector of its own as well, and the best matches of a
    task's tokens are to find the skill too. Only the whole is used afterwards, but what single
    words mean is learnt better so.
    """

    def __init__(self, encoder: Encoder) -> None:
        """Train this encoder."""
        super().__init__()
        self.encoder = encoder
        self.small = nn.Linear(embed.WIDTH, embed.TOKEN_WIDTH, bias=False)

    def forward(self, rows: Rows) -> torch.Tensor:
        """Give the vector of each text."""
        return self.apart(rows)[0]

    def apart(self, rows: Rows) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Give the vector of each text, those of its tokens, and which tokens are there."""
        tokens = padded(rows)
        with torch.autocast(**AMP):
            seen = self.encoder(tokens)
            small = self.small(seen)
        there = (tokens != 0).unsqueeze(-1).float()
        whole = F.normalize((seen.float() * there).sum(1) / there.sum(1), dim=-1)
        return whole, F.normalize(small.float(), dim=-1) * there, there[..., 0]


def matched(
    query: torch.Tensor, mask: torch.Tensor, text: torch.Tensor, text_mask: torch.Tensor
) -> torch.Tensor:
    """Give the mean best match of a query's tokens in each of its texts: queries [q, k, w], texts
    [q or 1, n, m, w].
    """
    found = torch.einsum(
        "qkw,pnmw->qnkm" if len(text) == 1 else "qkw,qnmw->qnkm", query.bfloat16(), text.bfloat16()
    )
    found = found.masked_fill(text_mask[:, :, None, :] == 0, -1).amax(-1).float()
    return (found * mask[:, None, :]).sum(-1) / mask.sum(-1)[:, None]


class Reader(nn.Module):
    """Reads a task and a skill together, and says how well they fit."""

    def __init__(self, encoder: Encoder) -> None:
        """Train this encoder."""
        super().__init__()
        self.encoder = encoder
        self.head = nn.Sequential(
            nn.Linear(embed.WIDTH, embed.WIDTH), nn.Tanh(), nn.Linear(embed.WIDTH, 1)
        )

    def forward(self, queries: Rows, texts: Rows) -> torch.Tensor:
        """Give the score of each pair."""
        pairs = [
            np.concatenate([query, text[1:]])[: embed.PAIR_TOKENS]
            for query, text in zip(queries, texts, strict=True)
        ]
        tokens = padded(pairs)
        lengths = torch.tensor([len(query) for query in queries], device=DEVICE)
        kinds = (torch.arange(tokens.shape[1], device=DEVICE)[None] >= lengths[:, None]).long()
        with torch.autocast(**AMP):
            seen = self.encoder(tokens, kinds)
        there = (tokens != 0).unsqueeze(-1).float()
        return self.head((seen.float() * there).sum(1) / there.sum(1))[:, 0]


class Data:
    """Everything that is learnt from, as tokens."""

    def __init__(self, options: Any) -> None:
        """Read the pool and the messages, and take them apart."""
        chance = random.Random(embed.SEED)  # noqa: S311 - a shuffle, not a secret
        self.tokenizer = Tokenizer.from_file(options.tokenizer)
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        with lzma.open(options.pool, "rt") as file:
            self.skills = [json.loads(line) for line in file]
        number = {skill["id"]: at for at, skill in enumerate(self.skills)}
        with open(options.asked, encoding="utf-8") as file:
            asked = [json.loads(line) for line in file]
        self.held = {number[one["id"]] for one in asked if one["writer"] in embed.HELD_OUT}
        self.uses: list[tuple[str, str, int]] = []
        for one in asked:
            if number[one["id"]] not in self.held:
                self.uses += [("asked", one[kind], number[one["id"]]) for kind in ("a", "b")]
        for at, skill in enumerate(self.skills):
            self.uses += [(kind, text, at) for kind, text in embed.pseudo_queries(skill, chance)]
        self.cards = [embed.card(skill) for skill in self.skills]
        parts = [embed.passages(skill) for skill in self.skills]
        flat = [(at, text) for at, texts in enumerate(parts) for text in texts]
        self.owner = np.array([at for at, _text in flat])
        self.of: list[list[int]] = [[] for _ in self.skills]
        for at, (owner, _text) in enumerate(flat):
            self.of[owner].append(at)
        self.names = [skill["name"] for skill in self.skills]
        self.card = tokens_of(self.tokenizer, self.cards, embed.CARD_TOKENS)
        self.passage = tokens_of(self.tokenizer, [text for _at, text in flat], embed.PASSAGE_TOKENS)
        self.query = tokens_of(
            self.tokenizer, [text for _kind, text, _at in self.uses], embed.QUERY_TOKENS
        )
        # A sentence of the card as the query: the card without it is the better exercise.
        cut = [
            at
            for at, (kind, text, owner) in enumerate(self.uses)
            if kind != "asked" and text in self.cards[owner]
        ]
        without = [self.cards[self.uses[at][2]].replace(self.uses[at][1], " ") for at in cut]
        bare = tokens_of(self.tokenizer, without, embed.CARD_TOKENS)
        self.without = dict(zip(cut, bare, strict=True))
        self.free = [
            [at for at in self.of[owner] if kind == "asked" or text not in flat[at][1]]
            or self.of[owner]
            for kind, text, owner in self.uses
        ]
        weights = np.array([embed.WEIGHTS[kind] for kind, _text, _at in self.uses])
        self.chance = weights / weights.sum()


class Clock:
    """How far it has come, for the schedule and for a person."""

    def __init__(self) -> None:
        """Begin now."""
        self.began = time.time()

    def __call__(self) -> float:
        """Give the seconds since then."""
        return time.time() - self.began

    def say(self, *words: object) -> None:
        """Tell a person."""
        print(f"[{self():.0f} s]", *words, flush=True)


def encoded(towers: Towers, rows: Rows, batch: int = 2048) -> torch.Tensor:
    """Give the vectors of texts, nothing being learnt."""
    towers.eval()
    order = sorted(range(len(rows)), key=lambda at: len(rows[at]))
    found = torch.empty(len(rows), embed.WIDTH, device=DEVICE)
    with torch.no_grad():
        for start in range(0, len(order), batch):
            some = order[start : start + batch]
            found[torch.tensor(some, device=DEVICE)] = towers([rows[at] for at in some])
    towers.train()
    return found


def similarities(
    towers: Towers, data: Data, query: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Give each query's cosine with each card, and with each skill's best passage."""
    cards, passages = encoded(towers, data.card), encoded(towers, data.passage)
    owner = torch.from_numpy(data.owner).to(DEVICE)
    best = torch.full((len(query), len(data.card)), -1.0, device=DEVICE)
    best = best.scatter_reduce(1, owner.expand(len(query), -1), query @ passages.T, "amax")
    return query @ cards.T, best


def report(data: Data, scores: torch.Tensor, gold: list[set[str]], kinds: list[str]) -> str:
    """Give hit@1, mean reciprocal rank and recall@10 by kind of query."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    top = scores.topk(60).indices.tolist()
    for row, names, kind in zip(top, gold, kinds, strict=True):
        seen = list(dict.fromkeys(data.names[at] for at in row))[:10]
        place = next((at for at, name in enumerate(seen) if name in names), None)
        found.setdefault(kind, []).append(
            (place == 0, 0 if place is None else 1 / (place + 1), place is not None)
        )
    return "  ".join(
        f"{kind} {np.mean(rows, 0).round(3).tolist()}" for kind, rows in sorted(found.items())
    )


def scheduled(optimiser: torch.optim.Optimizer, rate: float, done: float) -> None:
    """Warm up over the first twentieth, then go down to nothing."""
    for group in optimiser.param_groups:
        group["lr"] = rate * min(1.0, done * 20 + 0.02) * max(0.0, 1 - done)


def drawn(data: Data, generator: np.random.Generator, count: int) -> list[int]:
    """Draw uses of different skills, the better kinds more often."""
    seen: set[str] = set()
    found = []
    for at in generator.choice(len(data.uses), count * 2, p=data.chance):
        name = data.names[data.uses[at][2]]
        if name not in seen and data.free[at]:
            seen.add(name)
            found.append(int(at))
            if len(found) == count:
                break
    return found


def first_stage(towers: Towers, data: Data, clock: Clock, seconds: float, batch: int) -> None:
    """Let both sides learn with the rest of the batch as negatives."""
    optimiser = torch.optim.AdamW(towers.parameters(), lr=1e-4, weight_decay=0.01)
    generator, began, step = np.random.default_rng(embed.SEED), clock(), 0
    while clock() - began < seconds:
        scheduled(optimiser, 1.2e-4, (clock() - began) / seconds)
        some = drawn(data, generator, batch)
        cards = [
            data.without[at]
            if at in data.without and generator.random() < 0.8
            else data.card[data.uses[at][2]]
            for at in some
        ]
        passages = [data.passage[int(generator.choice(data.free[at]))] for at in some]
        (q, qs, qm), (c, cs, cm), p = (
            towers.apart([data.query[at] for at in some]),
            towers.apart(cards),
            towers(passages),
        )
        target = torch.arange(len(some), device=DEVICE)
        one, two = q @ c.T * embed.SCALE, q @ p.T * embed.SCALE
        loss = (
            F.cross_entropy(one, target)
            + 0.5 * F.cross_entropy(two, target)
            + F.cross_entropy(torch.maximum(one, two), target)
        )
        loss = loss + 0.5 * F.cross_entropy(one.T, target)
        late = matched(qs[:LATE], qm[:LATE], cs[None, :LATE], cm[None, :LATE])
        loss = loss + F.cross_entropy(late * LATE_SCALE, target[:LATE])
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(towers.parameters(), 1.0)
        optimiser.step()
        step += 1
        if step % 200 == 0:
            clock.say("towers", step, round(loss.item(), 3))


def confused(
    towers: Towers, data: Data, uses: list[int], count: int, skip: float = 0.97
) -> torch.Tensor:
    """Give for each use the skills that the towers take for its own; what looks even more fitting
    is probably right as well.
    """
    owner = torch.from_numpy(data.owner).to(DEVICE)
    cards, passages = encoded(towers, data.card), encoded(towers, data.passage)
    groups: dict[str, int] = {}
    same = torch.tensor(
        [groups.setdefault(name, len(groups)) for name in data.names], device=DEVICE
    )
    found = []
    for start in range(0, len(uses), 1024):
        some = uses[start : start + 1024]
        query = encoded(towers, [data.query[at] for at in some])
        best = torch.full((len(some), len(cards)), -1.0, device=DEVICE)
        score = query @ cards.T + best.scatter_reduce(
            1, owner.expand(len(some), -1), query @ passages.T, "amax"
        )
        own = torch.tensor([data.uses[at][2] for at in some], device=DEVICE)
        limit = score.gather(1, own[:, None]) * skip
        near = score.masked_fill(same[None] == same[own][:, None], -9)
        asked = torch.tensor([data.uses[at][0] == "asked" for at in some], device=DEVICE)[:, None]
        near = near.masked_fill((near > limit) & ~asked, -9)
        found.append(near.topk(count).indices.cpu())
    return torch.cat(found)


def text_of(data: Data, at: int, generator: np.random.Generator | None) -> np.ndarray[Any, Any]:
    """Give a card and one passage of a skill as one text."""
    parts = data.of[at]
    if not parts:
        return data.card[at]
    part = parts[0] if generator is None else int(generator.choice(parts))
    return np.concatenate([data.card[at][:-1], data.passage[part][1:]])


def second_stage(
    reader: Reader, data: Data, near: torch.Tensor, uses: list[int], clock: Clock, seconds: float
) -> None:
    """Let the reader learn from what the towers confuse."""
    optimiser = torch.optim.AdamW(reader.parameters(), lr=5e-5, weight_decay=0.01)
    generator, began, step, size, wrong = np.random.default_rng(embed.SEED + 1), clock(), 0, 96, 9
    weight = data.chance[uses] / data.chance[uses].sum()
    while clock() - began < seconds:
        scheduled(optimiser, 6e-5, (clock() - began) / seconds)
        some = generator.choice(len(uses), size, p=weight)
        queries: Rows = []
        texts: Rows = []
        for at in some:
            use = uses[at]
            own = data.uses[use][2]
            others = generator.choice(near[at].numpy(), wrong, replace=False)
            for other in (own, *others):
                queries.append(data.query[use])
                texts.append(text_of(data, int(other), generator))
        score = reader(queries, texts).view(size, wrong + 1)
        loss = F.cross_entropy(score, torch.zeros(size, dtype=torch.long, device=DEVICE))
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimiser.step()
        step += 1
        if step % 200 == 0:
            clock.say("reader", step, round(loss.item(), 3))


def read_scores(reader: Reader, queries: Rows, texts: Rows, batch: int = 4096) -> torch.Tensor:
    """Give what the reader says of each pair, nothing being learnt."""
    reader.eval()
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]) + len(queries[at]))
    found = torch.empty(len(texts), device=DEVICE)
    with torch.no_grad():
        for start in range(0, len(order), batch):
            some = order[start : start + batch]
            found[torch.tensor(some, device=DEVICE)] = reader(
                [queries[at] for at in some], [texts[at] for at in some]
            )
    reader.train()
    return found


def third_stage(
    towers: Towers,
    reader: Reader,
    data: Data,
    near: torch.Tensor,
    uses: list[int],
    clock: Clock,
    seconds: float,
) -> None:
    """Let the reader teach the towers how well each of the confused ones fits."""
    optimiser = torch.optim.AdamW(towers.parameters(), lr=5e-5, weight_decay=0.01)
    generator, began, step, size, wrong = np.random.default_rng(embed.SEED + 2), clock(), 0, 128, 11
    weight = data.chance[uses] / data.chance[uses].sum()
    target = torch.arange(size, device=DEVICE)
    while clock() - began < seconds:
        scheduled(optimiser, 6e-5, (clock() - began) / seconds)
        some = generator.choice(len(uses), size, p=weight)
        lists = [
            [
                data.uses[uses[at]][2],
                *generator.choice(near[at].numpy(), wrong, replace=False).tolist(),
            ]
            for at in some
        ]
        query = [data.query[uses[at]] for at in some]
        flat = [one for row in lists for one in row]
        part = [int(generator.choice(data.of[one])) if data.of[one] else -1 for one in flat]
        texts = [
            np.concatenate([data.card[one][:-1], data.passage[at][1:]])
            if at >= 0
            else data.card[one]
            for one, at in zip(flat, part, strict=True)
        ]
        taught = read_scores(reader, [row for row in query for _ in range(wrong + 1)], texts).view(
            size, wrong + 1
        )
        (q, qs, qm), (c, cs, cm) = (
            towers.apart(query),
            towers.apart([data.card[one] for one in flat]),
        )
        p = towers(
            [
                data.passage[at] if at >= 0 else data.card[one]
                for one, at in zip(flat, part, strict=True)
            ]
        )
        cards, parts = c.view(size, wrong + 1, -1), p.view(size, wrong + 1, -1)
        near_card, near_part = (q[:, None] * cards).sum(-1), (q[:, None] * parts).sum(-1)
        told = F.softmax(taught, -1)
        loss = F.kl_div(
            F.log_softmax((near_card + near_part) * embed.SCALE / 2, -1),
            told,
            reduction="batchmean",
        )
        loss = loss + 0.5 * F.kl_div(
            F.log_softmax(near_card * embed.SCALE, -1), told, reduction="batchmean"
        )
        every = q @ c.T * embed.SCALE  # and against everything else that is there
        loss = loss + 0.5 * F.cross_entropy(every, target * (wrong + 1))
        late = matched(
            qs, qm, cs.view(size, wrong + 1, cs.shape[1], -1), cm.view(size, wrong + 1, -1)
        )
        loss = loss + F.kl_div(F.log_softmax(late * LATE_SCALE, -1), told, reduction="batchmean")
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(towers.parameters(), 1.0)
        optimiser.step()
        step += 1
        if step % 100 == 0:
            clock.say("taught", step, round(loss.item(), 3))


class Judge:
    """Scores queries that nothing was trained on: messages for held-out skills, and whatever else a
    file gives.
    """

    def __init__(self, data: Data, options: Any, clock: Clock) -> None:
        """Read the queries, where a file was named."""
        self.data, self.clock = data, clock
        self.asked: list[dict[str, Any]] = []
        if options.eval:
            with lzma.open(options.eval, "rt") as file:
                self.asked = json.load(file)
        self.query = tokens_of(
            data.tokenizer, [one["query"] for one in self.asked], embed.QUERY_TOKENS
        )
        self.gold = [set(one["gold"]) for one in self.asked]
        self.kinds = [one["kind"] for one in self.asked]

    def look(self, what: str, towers: Towers, reader: Reader | None = None, keep: str = "") -> None:
        """Say how well the towers do, and the reader where there is one; `keep` is a file for what
        they said.
        """
        if self.asked:
            with torch.no_grad():
                self._look(what, towers, reader, keep)

    def _look(self, what: str, towers: Towers, reader: Reader | None, keep: str) -> None:
        data, query = self.data, encoded(towers, self.query)
        card, passage = similarities(towers, data, query)
        for name, scores in (("card", card), ("passage", passage), ("both", card + passage)):
            self.clock.say(what, name, report(data, scores, self.gold, self.kinds))
        if reader is None:
            return
        near = (card + passage).topk(40).indices
        given = torch.tensor([one["candidates"][:60] for one in self.asked], device=DEVICE)
        listed = torch.cat([given, near], 1)
        read = self._read(reader, listed)
        for name, values in (
            ("reader", read),
            ("reader+both", read / 10 + (card + passage).gather(1, listed)),
        ):
            scores = torch.full_like(card, -99).scatter(1, listed, values)
            self.clock.say(what, name, report(data, scores, self.gold, self.kinds))
        if keep:
            stacked = torch.stack([card.gather(1, listed), passage.gather(1, listed), read], -1)
            candidates, signals = (
                listed.cpu().numpy().astype(np.int16),
                stacked.cpu().numpy().astype(np.float16),
            )
            np.savez_compressed(keep, candidates=candidates, signals=signals)

    def _read(self, reader: Reader, listed: torch.Tensor) -> torch.Tensor:
        """Read each candidate with its first passages; the best counts."""
        data = self.data
        queries: Rows = []
        texts: Rows = []
        place = []
        for at, row in enumerate(listed.tolist()):
            for column, one in enumerate(row):
                for part in data.of[one][:READ] or [-1]:
                    queries.append(self.query[at])
                    texts.append(
                        np.concatenate([data.card[one][:-1], data.passage[part][1:]])
                        if part >= 0
                        else data.card[one]
                    )
                    place.append(at * listed.shape[1] + column)
        scores = read_scores(reader, queries, texts)
        best = torch.full((listed.numel(),), -99.0, device=DEVICE)
        return best.scatter_reduce(0, torch.tensor(place, device=DEVICE), scores, "amax").view(
            listed.shape
        )


def save(towers: Towers, path: str) -> None:
    """Write the weights that were learnt, without the words' own vectors, which stay as they
    were.
    """
    state = {
        name: value.half().cpu().numpy() for name, value in towers.encoder.state_dict().items()
    }
    np.savez(path, **state)
