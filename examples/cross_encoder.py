#!/usr/bin/env python3
"""A HuggingFace cross-encoder as a scoring program for Landmark.

    pip install torch transformers
    python3 cross_encoder.py FOLDER_OR_NAME [--device cuda] [--tokens 256]

Any sequence-pair classifier with one output (a regression or ranking head) works, for example those named `cross-encoder/…`.
The score of (a, b) is not that of (b, a), so the configuration sets `symmetrize: mean`. The identity is a digest of the
weights and of everything else that moves a score; run several `processes` on a CPU, one on a GPU.
"""

import argparse
import hashlib
import json
import sys

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("model", help="a folder with the model, or its name on the hub")
parser.add_argument("--device", default="cpu")
parser.add_argument("--tokens", type=int, default=256, help="longest pair, in tokens")
parser.add_argument("--threads", type=int, default=1, help="threads of each process on a CPU")
options = parser.parse_args()

# whatever libraries print goes to standard error: standard output is for answers
answers, sys.stdout = sys.stdout, sys.stderr

import torch  # noqa: E402
from transformers import AutoModelForSequenceClassification, AutoTokenizer  # noqa: E402

torch.set_num_threads(options.threads)
tokenizer = AutoTokenizer.from_pretrained(options.model)
model = AutoModelForSequenceClassification.from_pretrained(options.model).to(options.device).eval()
if model.config.num_labels != 1:
    sys.exit(f"{options.model} has {model.config.num_labels} outputs; a score needs a model with one")


def identity():
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.cpu().contiguous().numpy().tobytes())
    name = options.model.rstrip("/").split("/")[-1]  # the same weights elsewhere are the same scorer
    return f"{name} {digest.hexdigest()[:16]}, {options.tokens} tokens, {model.dtype}"


@torch.inference_mode()
def score(pairs):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    batch = tokenizer(first, second, padding=True, truncation=True, max_length=options.tokens, return_tensors="pt")
    return model(**batch.to(options.device)).logits[:, 0].float().cpu().tolist()


def answer(message):
    print(json.dumps(message), file=answers, flush=True)


sys.stdin.readline()  # the greeting of Landmark
answer({"landmark": 1, "identity": identity(), "symmetric": False})
for line in sys.stdin:
    batch = json.loads(line)
    answer({"batch": batch["batch"], "scores": score(batch["pairs"])})
