#!/usr/bin/env python3
"""A BERT cross-encoder behind HTTP, as rerankers are served: config.json, tokenizer.json and model.safetensors of one folder.

    pip install numpy tokenizers safetensors
    python3 serve_cross_encoder.py models/my-reranker [--port 8378] [--max-length 128]

/rerank (query, documents) and /score (text_1, text_2) answer the probability σ(head([CLS] document [SEP] query [SEP])). The forward pass is NumPy
in single precision and runs on the processor: to compare with and to try things, not to serve many.
"""

import argparse
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock

try:
    import numpy as np
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer
except ImportError as error:
    sys.exit(f"{error}; run: pip install numpy tokenizers safetensors")


def erf(x):
    """Numerical Recipes' erfc by a Chebyshev fit; off by 1.2e-7 at most."""
    t = 1.0 / (1.0 + 0.5 * np.abs(x))
    terms = (1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277)
    series = np.zeros_like(t)
    for term in reversed(terms):
        series = series * t + term
    tail = t * np.exp(-x * x - 1.26551223 + t * series)
    return np.where(x >= 0, 1.0 - tail, tail - 1.0)


class CrossEncoder:
    def __init__(self, folder, max_length):
        self.config = json.loads((folder / "config.json").read_text())
        self.weights = load_file(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(max_length)
        if self.config["model_type"] != "bert" or "classifier.weight" not in self.weights:
            sys.exit(f"`{folder}` holds no BERT with a head")

    def linear(self, x, name):
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(self.config["layer_norm_eps"]))
        return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def logit(self, a, b):
        tokens = self.tokenizer.encode(a, b)
        table = lambda name, rows: self.weights[f"embeddings.{name}_embeddings.weight"][rows]
        x = table("word", tokens.ids) + table("position", range(len(tokens.ids))) + table("token_type", tokens.type_ids)
        x = self.norm(x, "embeddings.LayerNorm")
        heads = self.config["num_attention_heads"]
        split = lambda x: x.reshape(len(x), heads, -1).transpose(1, 0, 2)
        for layer in range(self.config["num_hidden_layers"]):
            at = f"encoder.layer.{layer}"
            query, key, value = (split(self.linear(x, f"{at}.attention.self.{part}")) for part in ("query", "key", "value"))
            scores = query @ key.transpose(0, 2, 1) / np.float32(np.sqrt(query.shape[-1]))
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            mixed = (scores / scores.sum(-1, keepdims=True) @ value).transpose(1, 0, 2).reshape(len(x), -1)
            x = self.norm(x + self.linear(mixed, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm")
            wide = self.linear(x, f"{at}.intermediate.dense")
            wide = wide * np.float32(0.5) * (1 + erf(wide / np.float32(np.sqrt(2)))).astype(np.float32)
            x = self.norm(x + self.linear(wide, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        return self.linear(np.tanh(self.linear(x[0], "pooler.dense")), "classifier")

    def score(self, a, b):
        logits = self.logit(a, b).astype(np.float64)
        return float(1 / (1 + np.exp(-logits[0])))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    turn = Lock()

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.turn:
            if self.path == "/rerank":
                scores = [model.score(text, body["query"]) for text in body["documents"]]
                answer = {"results": [{"index": k, "relevance_score": score} for k, score in enumerate(scores)]}
            elif self.path == "/score":
                scores = [model.score(a, b) for a, b in zip(body["text_1"], body["text_2"], strict=True)]
                answer = {"data": [{"index": k, "score": score} for k, score in enumerate(scores)]}
            else:
                return self.answer(404, {"error": "there are /rerank and /score"})
        self.answer(200, {"model": name, **answer})

    def answer(self, status, body):
        payload = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=8378, help="0: any that is free")
    parser.add_argument("--max-length", type=int, default=128, help="tokens of a pair, at most")
    options = parser.parse_args()
    model, name = CrossEncoder(options.folder, options.max_length), options.folder.name
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    print(f"http://127.0.0.1:{server.server_port}: /rerank, /score", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
