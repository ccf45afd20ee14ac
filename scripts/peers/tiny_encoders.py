"""Writes the two tiny encoders that the tests and the smoke profiles read, and what an independent NumPy
implementation (float64, from the published architecture) computes with them.

    python scripts/peers/tiny_encoders.py        (NumPy alone; run again it writes the same bytes)

crates/oracles/embedded/tiny-bert/         a BERT with a regression head, 2 layers of 16
crates/neural/tests/golden/tiny-roberta/   a RoBERTa with a head of two classes, 2 layers of 8
each: config.json, tokenizer.json, model.safetensors (float16, random: they know nothing)
crates/neural/tests/golden/tiny_encoders.json   hidden states and logits
"""
import json
import math
import os
import struct

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "crates")


def config(kind, hidden, heads, intermediate, vocabulary, positions, types, pad):
    return {
        "model_type": kind, "hidden_size": hidden, "num_hidden_layers": 2, "num_attention_heads": heads,
        "intermediate_size": intermediate, "vocab_size": vocabulary, "max_position_embeddings": positions,
        "type_vocab_size": types, "layer_norm_eps": 1e-12 if kind == "bert" else 1e-5, "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1, "hidden_act": "gelu", "pad_token_id": pad,
    }


def bert_tokenizer():
    words = ("a an the is are was in on of to and not no man woman dog cat bird child people city river train boat "
             "bread music walks runs plays sings sleeps opens closes old new small large red green rain snow sun").split()
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ",", "?", "'", "-"] + words
    vocab += [c for c in letters if c not in vocab] + ["##" + c for c in letters]
    special = [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
                "special": True} for i, t in enumerate(vocab[:5])]
    return len(vocab), {
        # what files of sentence encoders hold, and what must be ignored
        "version": "1.0", "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": None, "added_tokens": special,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                       "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                       {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
            "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                     {"SpecialToken": {"id": "[SEP]", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}},
                     {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
            "special_tokens": {t: {"id": t, "ids": [vocab.index(t)], "tokens": [t]} for t in ("[CLS]", "[SEP]")}},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": {t: i for i, t in enumerate(vocab)}},
    }


def byte_letters():
    """The visible stand-ins of the 256 bytes (GPT-2)."""
    visible = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    table, extra = {b: chr(b) for b in visible}, 0
    for b in range(256):
        if b not in table:
            table[b] = chr(256 + extra)
            extra += 1
    return [table[b] for b in range(256)]


def roberta_tokenizer():
    vocab = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"] + byte_letters() + ["\u0120a", "th", "the", "\u0120b"]
    special = [{"id": i, "content": t, "single_word": False, "lstrip": t == "<mask>", "rstrip": False,
                "normalized": False, "special": True} for i, t in enumerate(vocab[:5])]
    return len(vocab), {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True,
                           "add_prefix_space": False},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "",
                  "end_of_word_suffix": "", "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": {t: i for i, t in enumerate(vocab)},
                  "merges": [["\u0120", "a"], ["t", "h"], ["th", "e"], ["\u0120", "b"]]},
    }


def random_weights(c, outputs, rng):
    h, m, prefix = c["hidden_size"], c["intermediate_size"], c["model_type"] + "."
    w = {}

    def linear(name, rows, cols, spread):
        w[name + ".weight"] = rng.normal(0, spread, (rows, cols))
        w[name + ".bias"] = rng.normal(0, 0.1, rows)

    def norm(name):
        w[name + ".weight"] = 1 + rng.normal(0, 0.1, h)
        w[name + ".bias"] = rng.normal(0, 0.1, h)

    e = prefix + "embeddings."
    w[e + "word_embeddings.weight"] = rng.normal(0, 0.5, (c["vocab_size"], h))
    w[e + "position_embeddings.weight"] = rng.normal(0, 0.2, (c["max_position_embeddings"], h))
    w[e + "token_type_embeddings.weight"] = rng.normal(0, 0.2, (c["type_vocab_size"], h))
    norm(e + "LayerNorm")
    for k in range(c["num_hidden_layers"]):
        layer = f"{prefix}encoder.layer.{k}."
        for part in ("query", "key", "value"):
            linear(layer + "attention.self." + part, h, h, 0.3)
        linear(layer + "attention.output.dense", h, h, 0.3)
        norm(layer + "attention.output.LayerNorm")
        linear(layer + "intermediate.dense", m, h, 0.3)
        linear(layer + "output.dense", h, m, 0.3)
        norm(layer + "output.LayerNorm")
    if c["model_type"] == "bert":
        linear("bert.pooler.dense", h, h, 0.3)
        linear("classifier", outputs, h, 0.3)
    else:
        linear("classifier.dense", h, h, 0.3)
        linear("classifier.out_proj", outputs, h, 0.3)
    return {name: value.astype(np.float16) for name, value in w.items()}


def save(path, weights):
    header, blobs, at = {"__metadata__": {"format": "pt"}}, [], 0
    for name in sorted(weights):
        blob = weights[name].astype("<f2").tobytes()
        header[name] = {"dtype": "F16", "shape": list(weights[name].shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def forward(c, half, ids, types):
    """The published architecture, one sequence at a time. Returns hidden states (tokens x hidden) and logits."""
    w = {name.removeprefix(c["model_type"] + "."): value.astype(np.float64) for name, value in half.items()}
    eps, heads, h = c["layer_norm_eps"], c["num_attention_heads"], c["hidden_size"]
    erf = np.vectorize(math.erf)

    def linear(x, name):
        return x @ w[name + ".weight"].T + w[name + ".bias"]

    def norm(x, name):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + eps) * w[name + ".weight"] + w[name + ".bias"]

    first = 0 if c["model_type"] == "bert" else c["pad_token_id"] + 1
    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.token_type_embeddings.weight"][types]
    x = norm(x + w["embeddings.position_embeddings.weight"][first:first + len(ids)], "embeddings.LayerNorm")
    for k in range(c["num_hidden_layers"]):
        layer = f"encoder.layer.{k}."
        q, key, v = (linear(x, layer + "attention.self." + part) for part in ("query", "key", "value"))
        context = np.empty_like(x)
        for head in range(heads):
            part = slice(head * h // heads, (head + 1) * h // heads)
            scores = q[:, part] @ key[:, part].T / math.sqrt(h // heads)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            context[:, part] = scores / scores.sum(-1, keepdims=True) @ v[:, part]
        x = norm(linear(context, layer + "attention.output.dense") + x, layer + "attention.output.LayerNorm")
        wide = linear(x, layer + "intermediate.dense")
        wide = 0.5 * wide * (1 + erf(wide / math.sqrt(2)))
        x = norm(linear(wide, layer + "output.dense") + x, layer + "output.LayerNorm")
    head = ("pooler.dense", "classifier") if c["model_type"] == "bert" else ("classifier.dense", "classifier.out_proj")
    return x, linear(np.tanh(linear(x[0], head[0])), head[1])


def write(folder, c, tokenizer, outputs, seed, sequences):
    os.makedirs(folder, exist_ok=True)
    weights = random_weights(c, outputs, np.random.default_rng(seed))
    for name, value in (("config.json", c), ("tokenizer.json", tokenizer)):
        with open(os.path.join(folder, name), "w") as file:
            json.dump(value, file, indent=None if name == "tokenizer.json" else 1, ensure_ascii=True)
            file.write("\n")
    save(os.path.join(folder, "model.safetensors"), weights)
    cases = []
    for ids, types in sequences:
        states, logits = forward(c, weights, np.array(ids), np.array(types))
        cases.append({"ids": ids, "types": types, "states": states.round(12).tolist(), "logits": logits.round(12).tolist()})
    return cases


vocabulary, tokenizer = bert_tokenizer()
bert = write(os.path.join(ROOT, "oracles", "embedded", "tiny-bert"), config("bert", 16, 2, 32, vocabulary, 128, 2, 0), tokenizer, 1,
             2022, [([2, 12, 23, 33, 5, 3], [0] * 6), ([2, 12, 23, 33, 3, 11, 25, 34, 70, 80, 3], [0] * 5 + [1] * 6)])
vocabulary, tokenizer = roberta_tokenizer()
roberta = write(os.path.join(ROOT, "neural", "tests", "golden", "tiny-roberta"), config("roberta", 8, 2, 16, vocabulary, 40, 1, 1),
                tokenizer, 2, 2023, [([0, 90, 91, 2], [0] * 4), ([0, 90, 91, 92, 2, 2, 100, 101, 2], [0] * 9)])
with open(os.path.join(ROOT, "neural", "tests", "golden", "tiny_encoders.json"), "w") as file:
    json.dump({"bert": bert, "roberta": roberta}, file)
    file.write("\n")
