"""The models that come with metier: small transformers of int8 numbers, run by onnxruntime on the
CPU, offline. One sees what a text is about (`OnnxEmbedder`), the other whether a passage reads like
one that plants a behaviour (`OnnxReader`); they share the vectors of words.

Each text is run by itself. The numbers on the way are made int8 with a scale that is taken over all
that is run together, so in a batch a skill's vector would depend on its neighbours: an index made
step by step would not equal one made at once.
"""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from metier.discover.io.packages import weights_folder
from metier.errors import StoreError
from metier.find.wordpiece import WordPieces

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.find.model import Floats
    from metier.model import JsonObject

WEIGHTS_FOLDER = weights_folder()
"""Where metier-weights is installed; nothing where it is not."""
MODEL_FILE = "model.onnx"
VOCABULARY_FILE = "vocab.txt"
ABOUT_FILE = "model.json"
QUERY_TOKENS = 80
PASSAGE_TOKENS = 128
"""Pieces of a text that are read, as the model was trained."""
READER_FILE = "reader.onnx"
READER_ABOUT_FILE = "reader.json"
LOOK_FILE = "reader.look"
"""One signed byte for each piece of a word: the cheap first look that chooses what is read."""
READER_TOKENS = 192
MIN_READ_TOKENS = 40
"""About half of the shortest passage that it was taught with: what it says of less is chance."""
MAX_READ_PASSAGES = 8
"""Passages of one skill that the model reads: those that the first look minds most."""
THREADS = 2
MAX_UNTHREADED_TEXTS = 4
"""Texts for which starting threads takes longer than running them."""
_ERRORS_ONLY = 3
"""onnxruntime says nothing but errors: its warnings are about the machine, and would stand among
our own answers."""


NO_WEIGHTS = "the models are not installed (pip install 'metier[embed]')"
NO_RUNTIME = "onnxruntime is not installed (pip install 'metier[embed]')"
INSTALL = "run: pip install 'metier[embed]'"
REINSTALL = "run: pip install --force-reinstall metier-weights"
EMBEDDER_OFF = 'set route.vectors = "off"'
READER_OFF = 'set scan.model = "off"'
"""How to do without each of the models."""
EMBEDDER_FILES = (MODEL_FILE, VOCABULARY_FILE, ABOUT_FILE)
READER_FILES = (MODEL_FILE, VOCABULARY_FILE, READER_FILE, READER_ABOUT_FILE, LOOK_FILE)


def why_unavailable(folder: str = WEIGHTS_FOLDER, files: Sequence[str] = EMBEDDER_FILES) -> str:
    """Say why a model cannot run here; nothing when it can."""
    if not folder:
        return NO_WEIGHTS
    missing = [name for name in files if not os.path.isfile(os.path.join(folder, name))]
    if missing:
        return f"metier-weights is damaged: {', '.join(missing)} missing"
    return "" if find_spec("onnxruntime") else NO_RUNTIME


class OnnxEmbedder:
    """An embedder that loads its model when it is first asked for a vector."""

    def __init__(self, folder: str = WEIGHTS_FOLDER) -> None:
        """Remember where the weights are; touch nothing yet."""
        self._folder = folder
        self._about: JsonObject = {}
        self._ready: Callable[[str, int], Floats] | None = None
        self._alone = Lock()

    @property
    def name(self) -> str:
        """The model and the beginning of its digest, as written down beside it: the weights are not
        read for this.
        """
        return str(self._known()["name"])

    @property
    def width(self) -> int:
        """How many dimensions a vector has."""
        return int(self._known()["width"])

    def queries(self, texts: Sequence[str]) -> Floats:
        """Give a vector of unit length for each thing that somebody asks for."""
        return self._all(texts, QUERY_TOKENS)

    def passages(self, texts: Sequence[str]) -> Floats:
        """Give a vector of unit length for each piece of a skill."""
        return self._all(texts, PASSAGE_TOKENS)

    def _all(self, texts: Sequence[str], limit: int) -> Floats:
        if not texts:
            return np.zeros((0, self.width), np.float32)
        run = self._loaded()
        if len(texts) < MAX_UNTHREADED_TEXTS:
            return np.concatenate([run(text, limit) for text in texts])
        with ThreadPoolExecutor(THREADS) as pool:
            return np.concatenate(list(pool.map(lambda text: run(text, limit), texts)))

    def _known(self) -> JsonObject:
        if not self._about:
            try:
                with open(os.path.join(self._folder, ABOUT_FILE), encoding="utf-8") as file:
                    about = json.load(file)
                self._about = {"name": about["name"], "width": about["width"]}
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise _broken(self._folder, error, EMBEDDER_OFF) from error
        return self._about

    def _loaded(self) -> Callable[[str, int], Floats]:
        with self._alone:
            if self._ready is None:
                self._ready = _load(self._folder)
            return self._ready


class OnnxReader:
    """Reads passages of prose; loads its model when it is first given one."""

    def __init__(self, folder: str = WEIGHTS_FOLDER) -> None:
        """Remember where the weights are; touch nothing yet."""
        self._folder = folder
        self._about: JsonObject = {}
        self._ready: LoadedReader | None = None
        self._alone = Lock()

    @property
    def name(self) -> str:
        """The model and the beginning of its digest, as written down beside it."""
        return str(self._known()["name"])

    def read(self, texts: Sequence[str]) -> list[tuple[int, float]]:
        """Give the passages that the first look minds most, each with what the model says: 0 where it
        begins to mind, 1 where it is sure.
        """
        if not texts:
            return []
        with self._alone:
            if self._ready is None:
                self._ready = LoadedReader(self._folder)
        about = self._known()
        limit, sure = about["limit"], about["sure"]
        found = self._ready.read(texts, about["look"])
        return [(at, (value - limit) / (sure - limit)) for at, value in found]

    def _known(self) -> JsonObject:
        if not self._about:
            try:
                self._about = _read_about(self._folder)
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise _broken(self._folder, error, READER_OFF) from error
        return self._about


class LoadedReader:
    """The reader's weights, its vocabulary and its first look."""

    def __init__(self, folder: str) -> None:
        """Load them."""
        reason = why_unavailable(folder, READER_FILES)
        if reason:
            raise StoreError(reason, hint=_cure(reason, READER_OFF))
        onnxruntime = _runtime(READER_OFF)
        try:
            with open(os.path.join(folder, VOCABULARY_FILE), encoding="utf-8") as file:
                self.vocabulary = WordPieces(file.read())
            self.look = _read_look(folder, len(self.vocabulary))
            self.session = onnxruntime.InferenceSession(
                os.path.join(folder, READER_FILE),
                _options(onnxruntime),
                providers=["CPUExecutionProvider"],
            )
        except Exception as error:  # onnxruntime's own have nothing in common but this
            raise _broken(folder, error, READER_OFF) from error

    def read(self, texts: Sequence[str], least: float) -> list[tuple[int, float]]:
        """Read the passages that are worth it, in the order in which they stand: those of which
        the first look says `least` or more, and that are long enough to say something of.
        """
        tokens, minded = self.look_at(texts)
        minded[[len(one) < MIN_READ_TOKENS for one in tokens]] = -np.inf
        most = np.argsort(-minded, kind="stable")[:MAX_READ_PASSAGES]
        chosen = np.sort(most[minded[most] >= least])
        return [
            (int(at), float(self.session.run(None, {"tokens": tokens[at][None]})[0][0, 0]))
            for at in chosen
        ]

    def look_at(self, texts: Sequence[str]) -> tuple[list[Any], Floats]:
        """Give the pieces of words of each passage, and what the first look says of it."""
        tokens = [np.array(self.vocabulary.encode(text, READER_TOKENS), np.int64) for text in texts]
        return tokens, np.array([self.look[one].sum() / len(one) ** 0.5 for one in tokens])


def _read_about(folder: str) -> JsonObject:
    """Read the reader's name and limits."""
    with open(os.path.join(folder, READER_ABOUT_FILE), encoding="utf-8") as file:
        about = json.load(file)
    numbers = {name: float(about[name]) for name in ("limit", "sure", "look")}
    if not numbers["limit"] < numbers["sure"]:
        raise ValueError(f"the limits in {READER_ABOUT_FILE} make no sense")
    return {"name": str(about["name"]), **numbers}


def _read_look(folder: str, pieces: int) -> Floats:
    """Read the first look: one number for each piece of a word."""
    look = np.fromfile(os.path.join(folder, LOOK_FILE), np.int8).astype(np.float32)
    if len(look) != pieces:
        raise ValueError(f"{LOOK_FILE} does not fit {VOCABULARY_FILE}")
    return look


def _load(folder: str) -> Callable[[str, int], Floats]:
    """Load the weights; give what turns one text into one vector."""
    reason = why_unavailable(folder)
    if reason:
        raise StoreError(reason, hint=_cure(reason, EMBEDDER_OFF))
    onnxruntime = _runtime(EMBEDDER_OFF)
    try:
        with open(os.path.join(folder, VOCABULARY_FILE), encoding="utf-8") as file:
            vocabulary = WordPieces(file.read())
        options = _options(onnxruntime)
        path = os.path.join(folder, MODEL_FILE)
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own have nothing in common but this
        raise _broken(folder, error, EMBEDDER_OFF) from error

    def run(text: str, limit: int) -> Floats:
        return session.run(None, {"tokens": np.array([vocabulary.encode(text, limit)], np.int64)})[
            0
        ]

    return run


def _runtime(otherwise: str) -> Any:
    """Give onnxruntime; one that was built for another machine or another numpy is found, and
    cannot be loaded. `otherwise` says how to do without.
    """
    try:
        import onnxruntime  # type: ignore[import-untyped,unused-ignore]

        onnxruntime.set_default_logger_severity(_ERRORS_ONLY)
        onnxruntime.disable_telemetry_events()
    except Exception as error:  # whatever its own libraries fail with
        reason = f"onnxruntime is installed but cannot be loaded: {error}"
        raise StoreError(
            reason, hint=f"run: pip install --force-reinstall onnxruntime, or {otherwise}"
        ) from error
    return onnxruntime


def _options(onnxruntime: Any) -> Any:
    """Give what is set for a session: texts run side by side, each on the thread that asks, and no
    memory is hoarded.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern = options.enable_cpu_mem_arena = False
    options.graph_optimization_level = (
        onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    )  # the file holds the fused operators
    options.log_severity_level = _ERRORS_ONLY
    return options


def _cure(reason: str, otherwise: str) -> str:
    """Say what to do about a model that cannot run."""
    cure = INSTALL if reason in {NO_WEIGHTS, NO_RUNTIME} else REINSTALL
    return f"{cure}, or {otherwise}"


def _broken(folder: str, error: Exception, otherwise: str) -> StoreError:
    return StoreError(
        f"cannot load the model in {folder}: {error}", hint=f"{REINSTALL}, or {otherwise}"
    )
