"""Makes the model file that `metier find` ships from trained weights. Needs onnx; making the base
model small needs torch as well.

    python bench/embed_export.py shrink MODEL_FOLDER base.npz                                    before `embed.py train`
    python bench/embed_export.py unpack weights/src/metier_weights/model.onnx base.npz              before `reader_train.py`
    python bench/embed_export.py reader weights/src/metier_weights OUT                              after `reader_train.py`
    python bench/embed_export.py export base.npz OUT/towers.npz vocab.txt weights/src/metier_weights          after it
    python bench/embed_export.py check base.npz OUT/towers.npz weights/src/metier_weights queries.jsonl

The words' own vectors are those of the base: training leaves them as they are, and does not write
them. Every matrix becomes int8, and so does what it is multiplied with, on the way. In the wide
layers each row of it has scales of its own, one to 128 numbers: a common one would make the error
of the whole four times as large. Attention makes do with one scale for all that is run at once, so
the model is given one text at a time: a skill's vector must not depend on its neighbours. Without a
batch there is no padding, and the graph needs no mask. `check` says how far the vectors are from
those of the same weights in floats.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

WORDS = "embeddings.word_embeddings.weight"
HEADS = 12
EPSILON = 1e-12
NAME = "metier-1"
READER_NAME = "reader-1"
LEVELS = 63
"""Steps of a matrix that meets one scale for all: where processors lack the newest instructions,
sums of larger ones overflow."""
FINE_LEVELS, FINE = 127, 128
"""The same where every row has its own scales, and how many numbers share one."""
FUSED = "com.microsoft"
"""The domain of the operators that onnxruntime has for models of this kind; it would put them here
itself, at every start."""


# --- the base model, small


def safetensors(path: Path) -> dict[str, Any]:
    """Read a safetensors file: eight bytes of length, a header of JSON, then the numbers."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    kinds = {"F32": np.float32, "F16": np.float16, "I64": np.int64}
    found = {}
    for name, about in json.loads(data[8:start]).items():
        if name != "__metadata__":
            first, last = about["data_offsets"]
            found[name] = np.frombuffer(
                data[start + first : start + last], kinds[about["dtype"]]
            ).reshape(about["shape"])
    return found


def shrink(folder: Path) -> dict[str, Any]:
    """Give the base model small enough to travel: its words as int8 with one scale to a row, all
    else as float16.
    """
    from embed_model import ours

    tensors = safetensors(folder / "model.safetensors")
    words, scale = small(tensors[WORDS].astype(np.float32).T, FINE_LEVELS)
    found = {"we_q": words.T, "we_s": scale[:, None]}
    for name, tensor in tensors.items():
        if (here := ours(name)) is not None:
            found[here] = tensor.astype(np.float16)
    return found


def small(matrix: Any, levels: int) -> tuple[Any, Any]:
    """Give a matrix as int8, and the scale of each of its columns."""
    scale = np.maximum(np.abs(matrix).max(axis=0), 1e-12).astype(np.float32) / levels
    return np.round(matrix / scale).astype(np.int8), scale


def unpack(path: Path) -> dict[str, Any]:
    """Give the weights of a model file as a base for further training: as exact as they were
    shipped.
    """
    import onnx  # type: ignore[import-not-found,unused-ignore]
    from onnx import numpy_helper

    found = {one.name: numpy_helper.to_array(one) for one in onnx.load(str(path)).graph.initializer}
    width = found["words"].shape[1]
    weights = {
        "we_q": found["words"],
        "we_s": found["words.scale"],
        "positions.weight": found["places"],
        "types.weight": np.zeros((2, width), np.float16),
        "norm.weight": found["norm.weight"],
        "norm.bias": found["norm.bias"],
    }
    for at in sorted({name.rpartition(".attention")[0] for name in found if ".attention" in name}):
        whole = (found[f"{at}.attention"] * found[f"{at}.attention.scale"]).T
        parts = ("query", "key", "value")
        for part, matrix, bias in zip(
            parts,
            np.split(whole, 3),
            np.split(found[f"{at}.attention.bias"], 3),
            strict=True,
        ):
            weights |= {f"{at}.{part}.weight": matrix, f"{at}.{part}.bias": bias}
        weights[f"{at}.out.weight"] = (found[f"{at}.out"] * found[f"{at}.out.scale"]).T
        for wide in ("first", "second"):
            made = found[f"{at}.{wide}"].astype(np.float32) - 128
            whole = made * found[f"{at}.{wide}.scale"][:, :, None]
            weights[f"{at}.{wide}.weight"] = whole.reshape(len(made), -1)
        for part in ("out", "first", "second", "norm", "last"):
            weights[f"{at}.{part}.bias"] = found[f"{at}.{part}.bias"]
        for part in ("norm", "last"):
            weights[f"{at}.{part}.weight"] = found[f"{at}.{part}.weight"]
    if "head" in found:
        weights |= {"head.weight": found["head"].T, "head.bias": found["head.bias"]}
    return {
        name: value if name == "we_q" else value.astype(np.float16)
        for name, value in weights.items()
    }


# --- the graph


class Graph:
    """A graph under construction: its nodes in order, and the numbers they refer to."""

    def __init__(self, weights: dict[str, Any]) -> None:
        """Begin with nothing but weights."""
        self.weights = weights
        self.nodes: list[Any] = []
        self.numbers: list[Any] = []

    def number(self, name: str, value: Any) -> str:
        """Put numbers into the file; give their name."""
        from onnx import numpy_helper  # type: ignore[import-not-found,unused-ignore]

        self.numbers.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def floats(self, name: str) -> str:
        """Put a weight into the file as it is."""
        return self.number(name, self.weights[name].astype(np.float32))

    def matrix(self, name: str, *parts: str) -> list[str]:
        """Put the weights of linear layers side by side into the file, as int8; give the names of
        matrix, scales and zeros.
        """
        made, scale = small(
            np.concatenate([self.weights[part].astype(np.float32) for part in parts]).T, LEVELS
        )
        zeros = np.zeros(scale.shape, np.int8)
        return [
            self.number(name, made),
            self.number(f"{name}.scale", scale),
            self.number(f"{name}.zero", zeros),
        ]

    def wide(self, name: str, x: str) -> str:
        """Add a product with the weights of one of the wide layers."""
        whole = self.weights[f"{name}.weight"].astype(np.float32)
        made, scale = small(whole.reshape(-1, FINE).T, FINE_LEVELS)
        shape = len(whole), whole.shape[1] // FINE
        shifted = (made.T.astype(np.int16) + 128).astype(np.uint8).reshape(*shape, FINE)
        given = [x, self.number(name, shifted), self.number(f"{name}.scale", scale.reshape(shape))]
        sizes = {
            "K": whole.shape[1],
            "N": len(whole),
            "bits": 8,
            "block_size": FINE,
            "accuracy_level": 4,
        }
        return self.put("MatMulNBits", given, [f"{name}.made"], FUSED, **sizes)

    def put(
        self, kind: str, given: list[str], made: list[str], domain: str = "", **settings: Any
    ) -> str:
        """Add a node; give the name of its first result."""
        from onnx import helper  # type: ignore[import-not-found,unused-ignore]

        self.nodes.append(helper.make_node(kind, given, made, domain=domain, **settings))
        return made[0]


def embedding(graph: Graph) -> str:
    """Add what turns numbers of words into vectors, each with its place in the text."""
    weights = graph.weights
    rows = graph.put("Gather", [graph.number("words", weights["we_q"]), "tokens"], ["rows"])
    scale = np.broadcast_to(weights["we_s"], (len(weights["we_q"]), 1)).astype(np.float32)
    scales = graph.put("Gather", [graph.number("words.scale", scale), "tokens"], ["scales"])
    words = graph.put(
        "Mul", [graph.put("Cast", [rows], ["as_floats"], to=1), scales], ["word_vectors"]
    )
    graph.put("Shape", ["tokens"], ["length"], start=1, end=2)
    place = weights["positions.weight"].astype(np.float32) + weights["types.weight"][0]
    places = graph.number("places", place.astype(np.float16))
    zero, one = (
        graph.number("zero", np.array([0], np.int64)),
        graph.number("one", np.array([1], np.int64)),
    )
    there = graph.put("Slice", [places, zero, "length", zero, one], ["places_there"])
    placed = graph.put(
        "Add", [words, graph.put("Cast", [there], ["places_floats"], to=1)], ["placed"]
    )
    return graph.put(
        "LayerNormalization",
        [placed, graph.floats("norm.weight"), graph.floats("norm.bias")],
        ["x"],
        epsilon=EPSILON,
    )


def layer(graph: Graph, at: str, x: str) -> str:
    """Add one layer of attention and what follows it."""
    weights = graph.weights
    parts = [f"{at}.{part}" for part in ("query", "key", "value")]
    matrix, scale, zero = graph.matrix(f"{at}.attention", *(f"{part}.weight" for part in parts))
    bias = graph.number(
        f"{at}.attention.bias",
        np.concatenate([weights[f"{part}.bias"] for part in parts]).astype(np.float32),
    )
    graph.put(
        "DynamicQuantizeLinear", [x], [f"{at}.small", f"{at}.small.scale", f"{at}.small.zero"]
    )
    given = [f"{at}.small", matrix, bias, f"{at}.small.scale", scale, "", f"{at}.small.zero", zero]
    seen = graph.put("QAttention", given, [f"{at}.seen"], FUSED, num_heads=HEADS)
    out = graph.put(
        "DynamicQuantizeMatMul",
        [seen, *graph.matrix(f"{at}.out", f"{at}.out.weight")],
        [f"{at}.said"],
        FUSED,
    )
    x = normed(graph, f"{at}.norm", x, out, f"{at}.out.bias")
    bent = graph.put(
        "BiasGelu",
        [graph.wide(f"{at}.first", x), graph.floats(f"{at}.first.bias")],
        [f"{at}.bent"],
        FUSED,
    )
    return normed(graph, f"{at}.last", x, graph.wide(f"{at}.second", bent), f"{at}.second.bias")


def normed(graph: Graph, at: str, x: str, out: str, bias: str) -> str:
    """Add what is new to what there was, and bring it back to its size."""
    given = [x, out, graph.floats(f"{at}.weight"), graph.floats(f"{at}.bias"), graph.floats(bias)]
    return graph.put("SkipLayerNormalization", given, [f"{at}.x"], FUSED, epsilon=EPSILON)


def model(weights: dict[str, Any]) -> bytes:
    """Give the model file: the numbers of one text's pieces in, one vector of unit length out."""
    from onnx import TensorProto, checker, helper  # type: ignore[import-not-found,unused-ignore]

    graph = Graph(weights)
    x = embedding(graph)
    for number in range(sum(name.endswith(".query.weight") for name in weights)):
        x = layer(graph, f"layers.{number}", x)
    graph.put("ReduceMean", [x, "one"], ["mean"], keepdims=0)
    graph.put("LpNormalization", ["mean"], ["vectors"], axis=1, p=2)
    width = weights["we_q"].shape[1]
    tokens = helper.make_tensor_value_info("tokens", TensorProto.INT64, ["texts", "length"])
    vectors = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", width])
    made = helper.make_graph(graph.nodes, NAME, [tokens], [vectors], graph.numbers)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(FUSED, 1)]
    whole = helper.make_model(made, opset_imports=opsets, ir_version=8, producer_name="metier")
    checker.check_model(whole)
    return bytes(whole.SerializeToString(deterministic=True))


def reader(weights: dict[str, Any], shared: Path) -> bytes:
    """Give the file of the reader of passages: the numbers of one text's pieces in, one number out.
    The vectors of words lie in another model's file, and are taken from there.
    """
    from onnx import TensorProto, helper  # type: ignore[import-not-found,unused-ignore]

    graph = Graph(weights)
    x = embedding(graph)
    for number in range(sum(name.endswith(".query.weight") for name in weights)):
        x = layer(graph, f"layers.{number}", x)
    mean = graph.put("ReduceMean", [x, "one"], ["mean"], keepdims=0)
    head = graph.number("head", weights["head.weight"].astype(np.float32).T)
    bias = graph.number("head.bias", weights["head.bias"].astype(np.float32))
    graph.put("Gemm", [mean, head, bias], ["said"])
    words = next(one for one in graph.numbers if one.name == "words")
    data = shared.read_bytes()
    place = {
        "location": shared.name,
        "offset": str(data.index(words.raw_data)),
        "length": str(len(words.raw_data)),
    }
    words.ClearField("raw_data")
    words.data_location = TensorProto.EXTERNAL
    for key, value in place.items():
        words.external_data.add(key=key, value=value)
    tokens = helper.make_tensor_value_info("tokens", TensorProto.INT64, ["texts", "length"])
    said = helper.make_tensor_value_info("said", TensorProto.FLOAT, ["texts", 1])
    made = helper.make_graph(graph.nodes, READER_NAME, [tokens], [said], graph.numbers)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(FUSED, 1)]
    whole = helper.make_model(made, opset_imports=opsets, ir_version=8, producer_name="metier")
    return bytes(whole.SerializeToString(deterministic=True))


def export_reader(weights: dict[str, Any], look: Any, folder: Path) -> None:
    """Write the reader beside the model whose words it shares."""
    data = reader(weights, folder / "model.onnx")
    small_look = np.round(look.astype(np.float32) / np.abs(look).max() * 127).astype(np.int8)
    shared = (folder / "model.onnx").read_bytes()
    digest = hashlib.sha256(data + small_look.tobytes() + shared).hexdigest()
    about = {"name": f"{READER_NAME}-{digest[:8]}", "sha256": digest, "limit": 0.0, "sure": 1.0}
    about["look"] = -1e9  # `bench/reader_limits.py` sets these three
    (folder / "reader.onnx").write_bytes(data)
    (folder / "reader.look").write_bytes(small_look.tobytes())
    (folder / "reader.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    print(f"{about['name']}: {len(data):,} bytes")


def export(weights: dict[str, Any], vocabulary: bytes, folder: Path) -> None:
    """Write model, vocabulary and what is known about them into a folder."""
    data = model(weights)
    digest = hashlib.sha256(data + vocabulary).hexdigest()
    about = {
        "name": f"{NAME}-{digest[:8]}",
        "sha256": digest,
        "width": int(weights["we_q"].shape[1]),
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(data)
    (folder / "vocab.txt").write_bytes(vocabulary)
    (folder / "model.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    print(f"{about['name']}: {len(data):,} bytes")


def check(weights: dict[str, Any], folder: Path, texts: list[str]) -> None:
    """Print how far the exported model is from the same weights in floats."""
    import torch  # type: ignore[import-not-found,unused-ignore]
    from embed_model import Encoder

    from metier.find.io.embedding_model import QUERY_TOKENS, VOCABULARY_FILE, OnnxEmbedder
    from metier.find.wordpiece import WordPieces

    rest = {
        name: torch.tensor(value.astype(np.float32))
        for name, value in weights.items()
        if not name.startswith("we_")
    }
    encoder = Encoder(
        torch.tensor(weights["we_q"] * weights["we_s"]), len(rest) // 16, HEADS
    ).eval()
    encoder.load_state_dict(rest)
    vocabulary = WordPieces((folder / VOCABULARY_FILE).read_text(encoding="utf-8"))
    with torch.no_grad():
        exact = [
            encoder(torch.tensor([vocabulary.encode(text, QUERY_TOKENS)])).mean(1)[0].numpy()
            for text in texts
        ]
    unit = np.array([vector / np.linalg.norm(vector) for vector in exact])
    near = OnnxEmbedder(str(folder)).queries(texts)
    cosines, noise = (near * unit).sum(axis=1), near @ near.T - unit @ unit.T
    print(
        f"{len(texts)} texts: cosine with the same in floats {cosines.mean():.4f}, at least "
        f"{cosines.min():.4f}; "
        f"cosines of two texts are {noise.std():.4f} off"
    )


def main(words: list[str]) -> None:
    """Do what the command says."""
    if words[0] in ("shrink", "unpack"):
        made = shrink(Path(words[1])) if words[0] == "shrink" else unpack(Path(words[1]))
        np.savez(words[2], **made)
        return
    if words[0] == "reader":
        base = unpack(Path(words[1], "model.onnx"))
        weights = {name: base[name] for name in ("we_q", "we_s")}
        for part in ("reader-1.npz", "reader-2.npz"):
            with np.load(Path(words[2], part)) as trained:
                weights |= dict(trained)
        with np.load(Path(words[2], "look.npz")) as found:
            export_reader(weights, found["look"], Path(words[1]))
        return
    with np.load(words[1]) as base, np.load(words[2]) as trained:
        weights = {**{name: base[name] for name in ("we_q", "we_s")}, **trained}
    if words[0] == "check":
        lines = Path(words[4]).read_text(encoding="utf-8").splitlines()
        check(weights, Path(words[3]), [json.loads(line)["query"] for line in lines])
    else:
        export(weights, Path(words[3]).read_bytes(), Path(words[4]))


if __name__ == "__main__":
    main(sys.argv[1:])
