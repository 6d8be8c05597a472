"""Learn what evidence weighs, from labelled skills, and write it into the package.

    python bench/learn.py CORPUS            # writes src/metier/scan/learned.py

Two things are learnt. What a rule weighs: the rarer it is among honest skills, the more (no malicious label is used, so a rule
cannot fit a campaign). And which passages read like those of malicious skills: a linear model over hashed words and pairs of
concepts, in which a skill is as bad as its worst passage, so that a passage is blamed and not a skill's subject.
Thresholds come from scores that leave out each skill's whole source (see `bench/scan.py`). Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import base64
import collections
import textwrap
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import corpus
import numpy as np
from scipy import sparse  # type: ignore[import-untyped, unused-ignore]

from metier.scan.passages import BITS, windows
from metier.scan.ruleset import RULES
from metier.scan.weigh import ALONE, TOGETHER, summed, weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpus import Evidence, Row

LEARNED = Path(__file__).resolve().parent.parent / "src/metier/scan/learned.py"
MOST_WINDOWS = 1500
SOURCES = 4  # a feature counts only when it occurs in so many sources: words of one author say nothing about others
SHARE = 0.6  # how much a passage counts beside the rules
FLOOR = 1.5  # a passage adds only what it weighs above this
FALSE_ALARMS = 0.025  # of honest skills, at level dangerous
CAUTIONS = 0.12  # of honest skills, at level caution or above
SCALE = 1 / 8
FAINT = 3  # of 127: weights below this are left out
EPOCHS = 60
SHARPNESS = 3.0
SHRINK = 1e-4
STEP = 0.03


class Windows(NamedTuple):
    """Every window of every skill as one sparse matrix, and the skill that each window belongs to."""

    matrix: Any
    owner: Any


class Model(NamedTuple):
    """What was learnt: the weight of each kind of evidence, of each passage feature, and the passages' bias."""

    rules: dict[str, float]
    kept: Any
    passages: Any
    bias: float


def windows_of(found: Sequence[Evidence]) -> Windows:
    """Lay out the windows of all skills, each different one once."""
    indices: list[int] = []
    starts = [0]
    owner: list[int] = []
    for at, one in enumerate(found):
        seen: set[int] = set()
        for read in one.passages:
            for start, end in windows(len(read.starts)):
                features = [feature for word in read.features[start:end] for feature in word]
                if hash(tuple(features)) in seen or len(seen) >= MOST_WINDOWS:
                    continue
                seen.add(hash(tuple(features)))
                indices.extend(features)
                starts.append(len(indices))
                owner.append(at)
        if not seen:
            starts.append(len(indices))
            owner.append(at)
    ones = np.ones(len(indices), np.float32)
    matrix = sparse.csr_matrix((ones, np.array(indices, np.int32), np.array(starts)), shape=(len(owner), 1 << BITS))
    matrix.sum_duplicates()
    return Windows(matrix, np.array(owner))


def rule_weights(found: Sequence[Evidence], labelled: Sequence[Row], train: Sequence[int]) -> dict[str, float]:
    """Weigh each kind of evidence by how rare it is among the honest skills of the training part."""
    honest = [at for at in train if not labelled[at].malicious]
    counts = collections.Counter(name for at in honest for name in found[at].features)
    names = {name for at in train for name in found[at].features} | set(RULES) | {f"{rule}~" for rule in RULES}
    weights = {name: round(weight(name, (counts[name] + 0.7) / (len(honest) + 1)), 3) for name in sorted(names)}
    told = {name: min(value, weights.get(name.rstrip("~"), 0.0)) for name, value in weights.items()}  # a quotation is never worse
    weights |= {name: value for name, value in told.items() if name.endswith("~")}
    return {name: value for name, value in weights.items() if value > 0 or name in counts}


def _importance(labelled: Sequence[Row], train: Sequence[int]) -> Any:
    """Give each skill its share: duplicates and campaigns share one, large sources do not drown small ones."""
    shares = np.zeros(len(labelled))
    clusters = collections.Counter(labelled[at].cluster for at in train)
    campaigns = collections.Counter(labelled[at].campaign or labelled[at].cluster for at in train)
    for at in train:
        row = labelled[at]
        shares[at] = clusters[row.cluster] ** -0.5 * (campaigns[row.campaign or row.cluster] ** -0.5 if row.malicious else 1)
    for malicious in (False, True):
        group = [at for at in train if labelled[at].malicious is malicious]
        for source in {labelled[at].source for at in group}:
            part = [at for at in group if labelled[at].source == source]
            shares[part] *= shares[part].sum() ** -0.4
        shares[group] /= shares[group].sum()
    shares[[at for at, row in enumerate(labelled) if row.grade == "C"]] *= 0.3
    return shares * len(train)


def learn(found: Sequence[Evidence], labelled: Sequence[Row], train: Sequence[int], laid: Windows) -> Model:
    """Learn from the training part alone."""
    chosen = np.zeros(len(labelled), bool)
    chosen[list(train)] = True
    rows = np.where(chosen[laid.owner])[0]
    kept = _common(labelled, train, laid)
    matrix = (laid.matrix[rows][:, kept] * SCALE).tocsr()
    weights, bias = _fit(matrix, laid.owner[rows], labelled, train)
    return Model(rule_weights(found, labelled, train), kept, weights * SCALE, bias)


def _common(labelled: Sequence[Row], train: Sequence[int], laid: Windows) -> Any:
    """Keep the features that occur in several sources and in more than a few skills."""
    count = len(labelled)
    ones = np.ones(len(laid.owner), np.float32)
    skills = sparse.csr_matrix((ones, (laid.owner, np.arange(len(laid.owner)))), shape=(count, len(laid.owner))) @ laid.matrix
    skills.data[:] = 1
    names = sorted({labelled[at].source for at in train})
    member = ([names.index(labelled[at].source) for at in train], list(train))
    sources = sparse.csr_matrix((np.ones(len(train), np.float32), member), shape=(len(names), count)) @ skills
    sources.data[:] = 1
    spread = np.asarray(sources.sum(0)).ravel()
    often = np.asarray(skills[list(train)].sum(0)).ravel()
    return np.where((spread >= SOURCES) & (often >= 4))[0]


def _fit(matrix: Any, owner: Any, labelled: Sequence[Row], train: Sequence[int]) -> tuple[Any, float]:
    """Fit by Adam: a skill's score is the soft maximum over its windows."""
    skills = np.array(sorted(train))
    first = np.searchsorted(owner, skills)
    lengths = np.append(first[1:], len(owner)) - first
    truth = np.array([labelled[at].malicious for at in skills], float)
    share = _importance(labelled, train)[skills] / len(skills)
    turned = matrix.T.tocsr()
    weights = np.zeros(matrix.shape[1], np.float32)
    bias = -3.0
    mean, spread = np.zeros_like(weights), np.zeros_like(weights)
    bias_mean = bias_spread = 0.0
    for epoch in range(1, EPOCHS + 1):
        scores = matrix @ weights
        best = np.maximum.reduceat(scores, first)
        pull = np.exp((scores - np.repeat(best, lengths)) * SHARPNESS)
        pull /= np.repeat(np.add.reduceat(pull, first), lengths)
        pooled = np.add.reduceat(pull * scores, first)
        error = (1 / (1 + np.exp(-(np.maximum(pooled, 0) + bias))) - truth) * share
        blame = np.repeat(error * np.where(pooled > 0, 1, 0.1), lengths) * pull
        slope = turned @ blame.astype(np.float32) + SHRINK * weights
        step = STEP * 0.5 * (1 + np.cos(np.pi * (epoch - 1) / EPOCHS)) + 0.002
        mean, spread = 0.9 * mean + 0.1 * slope, 0.99 * spread + 0.01 * slope**2
        weights -= step * mean / (1 - 0.9**epoch) / (np.sqrt(spread / (1 - 0.99**epoch)) + 1e-6)
        drift = float(error.sum())
        bias_mean, bias_spread = 0.9 * bias_mean + 0.1 * drift, 0.99 * bias_spread + 0.01 * drift**2
        bias -= 2 * step * bias_mean / (1 - 0.9**epoch) / (np.sqrt(bias_spread / (1 - 0.99**epoch)) + 1e-6)
    return weights, bias


def scores(model: Model, found: Sequence[Evidence], which: Sequence[int], laid: Windows) -> Any:
    """Score skills as the package does."""
    weighed = np.zeros(len(which))
    table = np.zeros(1 << BITS, np.float32)
    table[model.kept] = model.passages
    for place, at in enumerate(which):
        rows = slice(*np.searchsorted(laid.owner, (at, at + 1)))
        best = float((laid.matrix[rows] @ table).max()) + model.bias
        rules = summed({name: model.rules.get(name, 0.0) for name in found[at].features})
        most = TOGETHER["guard's passage" if found[at].guards else "passage"]
        weighed[place] = rules + min(SHARE * max(0.0, best + FLOOR), most) * (1 if rules else ALONE)
    return weighed


def left_out(found: Sequence[Evidence], labelled: Sequence[Row], laid: Windows) -> Any:
    """Score every skill by a model that has seen nothing of its source, its campaign or its near-duplicates."""
    weighed = np.zeros(len(labelled))
    for fold in corpus.folds(labelled):
        weighed[fold.test] = scores(learn(found, labelled, fold.train, laid), found, fold.test, laid)
    return weighed


def thresholds(weighed: Any, labelled: Sequence[Row]) -> tuple[float, float]:
    """Put the two thresholds where so many honest skills, and no more, lie above them."""
    honest = np.array([not row.malicious and row.grade != "C" for row in labelled])
    return tuple(round(float(np.quantile(weighed[honest], 1 - share)), 3) for share in (FALSE_ALARMS, CAUTIONS))  # type: ignore[return-value]


def write(model: Model, dangerous: float, caution: float) -> None:
    """Write the weights as a module."""
    largest = float(np.abs(model.passages).max())
    unit = largest / 127
    table = np.zeros(1 << BITS, np.int8)
    table[model.kept] = np.round(model.passages / unit).astype(np.int8)
    table[np.abs(table) < FAINT] = 0
    packed = base64.b64encode(zlib.compress(table.tobytes(), 9)).decode()
    lines = [f'    b"{packed[at : at + 2000]}"' for at in range(0, len(packed), 2000)]
    rules = textwrap.wrap(" ".join(f'"{name}":{value},' for name, value in model.rules.items()), 120)
    LEARNED.write_text("\n".join([
        '"""What was learnt from labelled skills. Written by `python bench/learn.py`; do not edit by hand."""', "",
        "from __future__ import annotations", "",
        f"DANGEROUS = {dangerous}", f"CAUTION = {caution}",
        f"PASSAGE_UNIT = {unit * SHARE:.8f}", f"PASSAGE_FLOOR = {SHARE * (-model.bias - FLOOR):.6f}",
        "RULES: dict[str, float] = {", *(f"    {line}".replace('":', '": ') for line in rules), "}",
        "PASSAGES = (", *lines, ")", "",
    ]))  # fmt: skip


def main() -> None:
    """Learn from a whole corpus and write the weights; thresholds come from skills whose source was left out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    given = parser.parse_args()
    labelled = corpus.rows(given.corpus)
    found = [corpus.evidence(given.corpus, row) for row in labelled]
    laid = windows_of(found)
    dangerous, caution = thresholds(left_out(found, labelled, laid), labelled)
    write(learn(found, labelled, range(len(labelled)), laid), dangerous, caution)
    print(f"dangerous from {dangerous}, caution from {caution}; wrote {LEARNED}")


if __name__ == "__main__":
    main()
