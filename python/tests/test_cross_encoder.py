"""A real cross-encoder from Python, by transformers, next to the program's own forward pass: the same neighbors."""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_same_bits import ROOT, run

from landmark import Landmark

# tokens of a pair, as the program cuts them by default
LONGEST = 128
LANDMARKS, ITEMS, K = 16, 48, 5
# numbers of a MiniLM's state
MINI_LM = 384

CONFIG = """
name: cross
experiment: own_data
dataset: {{ name: texts, path: items.txt }}
oracle: {{ kind: cross_encoder, model: {model}, order: mean, device: cpu, max_length: {longest} }}
methods: [shift_ridge]
ranks: {landmarks}
seed: 3
error_estimate: 100
output: {{ formats: [npy] }}
"""


def models() -> Path:
    """The folder that `landmark model fetch` fills."""
    return Path(os.environ.get("LANDMARK_MODELS", ROOT / "models"))


def cross_encoder(scratch: Path) -> Path:
    """A fine-tuned MiniLM where there is one, else the pretrained one under a head that is drawn."""
    tuned = sorted(path.parent for path in (models() / "fine-tuned").glob("*/model.safetensors"))
    for folder in tuned:
        # the smoke profiles leave models of 16 numbers there
        if json.loads((folder / "config.json").read_text())["hidden_size"] == MINI_LM:
            return folder
    pretrained = models() / "all-MiniLM-L6-v2"
    if not (pretrained / "model.safetensors").exists():
        pytest.skip(f"no MiniLM in `{models()}`: `landmark model fetch`, or name its folder by LANDMARK_MODELS")
    numpy = pytest.importorskip("safetensors.numpy")
    folder = scratch / "model"
    folder.mkdir()
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(pretrained / name, folder / name)
    weights = numpy.load_file(pretrained / "model.safetensors")
    width = json.loads((folder / "config.json").read_text())["hidden_size"]
    rng = np.random.default_rng(7)
    weights["classifier.weight"] = rng.normal(scale=0.3, size=(1, width)).astype(np.float32)
    weights["classifier.bias"] = np.zeros(1, dtype=np.float32)
    numpy.save_file(weights, folder / "model.safetensors")
    return folder


def by_transformers(folder: Path) -> Callable[[list[tuple[str, str]]], Any]:
    """Probabilities of pairs of texts, as transformers computes them."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    load_file = pytest.importorskip("safetensors.torch").load_file
    config = transformers.AutoConfig.from_pretrained(folder, num_labels=1)
    model = transformers.BertForSequenceClassification(config).eval()
    weights = {name if name.startswith("classifier.") else f"bert.{name}": of for name, of in load_file(folder / "model.safetensors").items()}
    refused = model.load_state_dict(weights, strict=False)
    assert not refused.missing_keys, refused.missing_keys
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"), pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", unk_token="[UNK]"
    )

    @torch.inference_mode()
    def score(pairs: list[tuple[str, str]]) -> Any:
        first, second = (list(side) for side in zip(*pairs))
        settings = {"padding": True, "truncation": True, "max_length": LONGEST, "return_tensors": "pt", "return_token_type_ids": True}
        return torch.sigmoid(model(**tokenizer(first, second, **settings)).logits[:, 0])

    return score


def test_a_cross_encoder_of_transformers_finds_the_neighbors_of_the_program(tmp_path: Path) -> None:
    folder = cross_encoder(tmp_path)
    score = by_transformers(folder)
    with open(ROOT / "configs/own_data/sentences.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    texts = [row["text"] for row in rows[:ITEMS]]
    (tmp_path / "items.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    config = tmp_path / "cross.yaml"
    config.write_text(CONFIG.format(model=folder, landmarks=LANDMARKS, longest=LONGEST))
    run(config, "--results", tmp_path / "results", "--store", tmp_path / "store", "--quiet")
    theirs = Landmark.load(next((tmp_path / "results").rglob("factors")))

    lm = Landmark(score, LANDMARKS, order="mean", random_state=3, name="texts", error_samples=100).fit(texts)
    assert lm.component_indices_.tolist() == theirs.component_indices_.tolist()
    every = np.arange(ITEMS)
    ours, its = lm.similarities(every, every), theirs.similarities(every, every)
    _, near = lm.kneighbors(n_neighbors=K)
    _, wanted = theirs.kneighbors(n_neighbors=K)
    shared = float(np.mean([len(set(a) & set(b)) / K for a, b in zip(near.tolist(), wanted.tolist())]))
    print(
        f"\n{folder.name}: {ITEMS} sentences, {LANDMARKS} landmarks, {lm.n_calls_:,} calls of transformers: entries of K̃, from {its.min():.3f} to "
        f"{its.max():.3f}, differ by {np.abs(ours - its).max():.1e} at most, and {shared:.1%} of the {K} nearest are the same"
    )
    # two forward passes in single precision, and factors that solve with their scores
    np.testing.assert_allclose(ours, its, atol=2e-3)
    for item, (mine, its_own) in enumerate(zip(near.tolist(), wanted.tolist())):
        for other in set(mine) ^ set(its_own):
            # a tie, to the same tolerance, at the end of the list
            assert abs(its[item, other] - its[item, its_own[-1]]) < 2e-3, (item, mine, its_own)
    assert shared > 0.98
