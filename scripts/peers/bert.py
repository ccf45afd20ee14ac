#!/usr/bin/env python3
"""A cross-encoder against HuggingFace transformers on the same pairs, model, dtype and threads, in one run; in int8 against theirs in bf16.

    scripts/peers/bert.py --example PATH --model models/fine-tuned/NAME --pairs PAIRS.tsv [--rounds 3] [--threads N]

The model is a folder with a head, such as configs/stsb.yaml leaves in models/fine-tuned. Needs torch and transformers. Sides take turns. Scoring: ours as it is, theirs at its best of several batch sizes, sorted by length,
under inference mode; tokenization is not timed on their side. Training: one epoch of AdamW at batch 32 with dropout, bf16 autocast on theirs.
PAIRS.tsv has a target between 0 and 1 and two sentences a line.
"""

import argparse
import json
import os
import statistics
import subprocess
import time

from aims import end, hold

parser = argparse.ArgumentParser()
parser.add_argument("--example", required=True)
parser.add_argument("--model", required=True)
parser.add_argument("--pairs", required=True)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--threads", type=int, default=os.cpu_count())
parser.add_argument("--skip-training", action="store_true")
parser.add_argument("--layers", help="path of the example time_layers: how near to the peak each operation comes is printed first")
options = parser.parse_args()
os.environ["OMP_NUM_THREADS"] = str(options.threads)

if options.layers:
    subprocess.run([options.layers, options.model], check=True)

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

torch.set_num_threads(options.threads)
tokenizer = AutoTokenizer.from_pretrained(options.model)
rows = [line.rstrip("\n").split("\t") for line in open(options.pairs, encoding="utf-8")]
encoded = tokenizer([r[1] for r in rows], [r[2] for r in rows], truncation=True, max_length=128)
order = sorted(range(len(rows)), key=lambda k: len(encoded["input_ids"][k]))


def batches(size):
    for start in range(0, len(order), size):
        chosen = order[start:start + size]
        part = {key: [encoded[key][k] for k in chosen] for key in ("input_ids", "token_type_ids", "attention_mask")}
        yield tokenizer.pad(part, return_tensors="pt"), torch.tensor([float(rows[k][0]) for k in chosen])


def load(dtype):
    return AutoModelForSequenceClassification.from_pretrained(options.model, num_labels=1, dtype=dtype)


def their_scores(dtype, size, ready):
    model = load(dtype).eval()
    with torch.inference_mode():
        model(**ready[0][0])
        start = time.perf_counter()
        for batch, _ in ready:
            model(**batch)
        return time.perf_counter() - start


def their_epoch():
    model = load(torch.float32).train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01)
    loss_of = torch.nn.BCEWithLogitsLoss()
    ready = list(batches(32))
    start = time.perf_counter()
    for batch, targets in ready:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = loss_of(model(**batch).logits.squeeze(1).float(), targets)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return time.perf_counter() - start


def ours(what, precision):
    command = [options.example, options.model, options.pairs, what, precision, "1"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(out.splitlines()[-1])


def line(name, mine, theirs, unit, at_least=None):
    ratio = statistics.median(theirs) / statistics.median(mine)
    print(f"{name}: ours {statistics.median(mine):.2f} s, transformers {statistics.median(theirs):.2f} s, "
          f"{ratio:.2f}x as fast ({unit}, median of {options.rounds} rounds, {options.threads} threads)")
    model = os.path.basename(os.path.normpath(options.model))
    hold(f"transformers over landmark, {name}, {model}", ratio, at_least=at_least, ours=statistics.median(mine), theirs=statistics.median(theirs))


for precision, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
    sized = {size: list(batches(size)) for size in (16, 32, 64, 128)}
    mine, whole, theirs, best = [], [], [], None
    for _ in range(options.rounds):
        mine.append(ours("score", precision)["seconds"])
        if precision == "bf16":
            whole.append(ours("score", "int8")["seconds"])
        times = {size: their_scores(dtype, size, ready) for size, ready in sized.items()}
        best = min(times, key=times.get)
        theirs.append(times[best])
    line(f"scoring {len(rows)} pairs, {precision}", mine, theirs, f"theirs at batch {best}", at_least=1.5)
    if whole:
        line(f"scoring {len(rows)} pairs, int8", whole, theirs, f"theirs in bf16 at batch {best}")
if not options.skip_training:
    mine, theirs = [], []
    for _ in range(options.rounds):
        mine.append(ours("train", "bf16")["epoch_seconds"])
        theirs.append(their_epoch())
    line(f"an epoch of {len(rows)} pairs, bf16", mine, theirs, "batch 32")
raise SystemExit(end())
