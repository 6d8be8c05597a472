"""MiniLM in a page of torch: what `bench/embed.py` trains and writes out."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 - what everybody calls it
from torch import nn


class Layer(nn.Module):
    """One layer of attention and what follows it."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        """Make a layer with numbers that mean nothing yet."""
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.first, self.second = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm, self.last = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Give each token what it takes from the others."""
        b, n, w = x.shape
        q, k, v = (
            part(x).view(b, n, self.heads, w // self.heads).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        seen = (
            F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(b, n, w)
        )
        x = self.norm(x + self.out(seen))
        return self.last(x + self.second(F.gelu(self.first(x))))


class Encoder(nn.Module):
    """Tokens in, one vector to each out. The words' own vectors stay as they are."""

    def __init__(
        self, words: torch.Tensor, layers: int, heads: int, positions: int = 512, types: int = 2
    ) -> None:
        """Make a model around the vectors of words that there are."""
        super().__init__()
        width = words.shape[1]
        self.register_buffer("words", words, persistent=False)
        self.positions, self.types = nn.Embedding(positions, width), nn.Embedding(types, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(width, heads, 4 * width) for _ in range(layers))

    def forward(self, tokens: torch.Tensor, kinds: torch.Tensor | None = None) -> torch.Tensor:
        """Read texts, padded with zeros; `kinds` tells a task from a skill where both are read
        together.
        """
        there = tokens != 0
        kinds = torch.zeros_like(tokens) if kinds is None else kinds
        at = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.norm(F.embedding(tokens, self.words) + self.positions(at) + self.types(kinds))
        mask = there[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        return x


NAMES = {
    "embeddings.position_embeddings.weight": "positions.weight",
    "embeddings.token_type_embeddings.weight": "types.weight",
    "embeddings.LayerNorm.weight": "norm.weight",
    "embeddings.LayerNorm.bias": "norm.bias",
}
PARTS = {
    "attention.self.query": "query",
    "attention.self.key": "key",
    "attention.self.value": "value",
    "attention.output.dense": "out",
    "attention.output.LayerNorm": "norm",
    "intermediate.dense": "first",
    "output.dense": "second",
    "output.LayerNorm": "last",
}


def ours(name: str) -> str | None:
    """Give the name that a tensor of the base model has here; none for what is not used."""
    if name in NAMES:
        return NAMES[name]
    if not name.startswith("encoder.layer."):
        return None
    number, _, part = name.removeprefix("encoder.layer.").partition(".")
    stem, _, kind = part.rpartition(".")
    return f"layers.{number}.{PARTS[stem]}.{kind}"
