"""Fine-tunes a small cross-encoder on STS-B, for `sts_b_neighbors.py --model`. Minutes on two cores.

    python fine_tune_sts_b.py --data "$LANDMARK_DATA" --base all-MiniLM-L6-v2 --out stsb-cross-encoder

`--base` is a name on the hub or a folder, such as the one that `landmark model fetch` fills. Needs sentence-transformers and datasets.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from datasets import Dataset
from sentence_transformers import CrossEncoder, CrossEncoderTrainer, CrossEncoderTrainingArguments
from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss

parser = argparse.ArgumentParser()
parser.add_argument("--data", type=Path, required=True, help="folder with stsb/")
parser.add_argument("--base", default="sentence-transformers/all-MiniLM-L6-v2")
parser.add_argument("--out", type=Path, required=True)
parser.add_argument("--epochs", type=float, default=2)
parser.add_argument("--seed", type=int, default=2022)
options = parser.parse_args()


def pairs(part: str) -> tuple[list[str], list[str], list[float]]:
    rows = [line.split("\t") for line in (options.data / f"stsb/{part}.tsv").read_text("utf-8").splitlines()[1:]]
    return [row[-2] for row in rows], [row[-1] for row in rows], [float(row[-3]) / 5 for row in rows]


first, second, labels = pairs("train")
model = CrossEncoder(options.base, num_labels=1, max_length=128)
arguments = CrossEncoderTrainingArguments(
    output_dir=tempfile.mkdtemp(),
    num_train_epochs=options.epochs,
    per_device_train_batch_size=16,
    learning_rate=1e-4,
    warmup_steps=0.1,
    seed=options.seed,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
    disable_tqdm=True,
)
data = Dataset.from_dict({"sentence1": first, "sentence2": second, "label": labels})
CrossEncoderTrainer(model=model, args=arguments, train_dataset=data, loss=BinaryCrossEntropyLoss(model)).train()
model.save_pretrained(str(options.out))

first, second, labels = pairs("dev")
scores = model.predict(list(zip(first, second, strict=True)))
print(f"Pearson correlation on the {len(labels):,} pairs of dev: {np.corrcoef(scores, labels)[0, 1]:.3f}")
