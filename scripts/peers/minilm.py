"""What HuggingFace transformers computes with all-MiniLM-L6-v2, for crates/neural/tests/golden/minilm.json.

    python scripts/peers/minilm.py models/all-MiniLM-L6-v2        (torch and transformers)
"""
import json
import os
import sys

import torch
from transformers import AutoModel, AutoTokenizer

SENTENCES = ["A man is playing a large flute.", "Someone plays the flute.", "The harbour reopened on Tuesday after the storm."]
PAIR = (SENTENCES[0], SENTENCES[1])

folder = sys.argv[1]
tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
with torch.no_grad():
    embeddings = []
    for sentence in SENTENCES:
        states = model(**tokenizer(sentence, return_tensors="pt")).last_hidden_state[0]
        embeddings.append(torch.nn.functional.normalize(states.mean(0), dim=0))
    cosines = [float(embeddings[i] @ embeddings[j]) for i in range(3) for j in range(i)]
    inputs = tokenizer(*PAIR, return_tensors="pt")
    states = model(**inputs).last_hidden_state[0]
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "crates", "neural", "tests", "golden", "minilm.json")
with open(path, "w") as file:
    json.dump({"sentences": SENTENCES, "cosines": cosines, "embedding": embeddings[0][:8].tolist(),
               "pair_ids": inputs["input_ids"][0].tolist(), "pair_types": inputs["token_type_ids"][0].tolist(),
               "pair_first": states[0][:8].tolist(), "pair_last": states[-1][:8].tolist()}, file, indent=1)
    file.write("\n")
