"""A chat model as judge: an `async def` of two items, sixteen requests in flight at a time, within a budget of calls.

The judge here is a server that ships with Landmark and answers as OpenAI's does (`examples/mock_server.py`); point URL at yours.
"""

import asyncio
import json
import subprocess
import sys
import urllib.request

from common import ROOT, sentences

from landmark import Landmark

PORT = 8399
URL = f"http://127.0.0.1:{PORT}/v1/chat/completions"
PROMPT = "How alike are these two in meaning, from 0 (nothing in common) to 10 (the same)?\nA: {}\nB: {}"


def ask(a, b):
    body = {"model": "judge", "temperature": 0, "messages": [{"role": "user", "content": PROMPT.format(a, b)}]}
    request = urllib.request.Request(URL, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return float(json.load(answer)["choices"][0]["message"]["content"]) / 10


async def judge(a, b):
    """Your client's own coroutine stands here; exceptions come back as themselves, with the pair."""
    return await asyncio.to_thread(ask, a, b)


server = subprocess.Popen([sys.executable, str(ROOT / "examples/mock_server.py"), "--port", str(PORT)], stdout=subprocess.PIPE)
try:
    server.stdout.readline()
    texts, _ = sentences(60)
    lm = Landmark(judge, n_components=12, budget=1000, concurrency=16, identity="judge, prompt 1", error_samples=100)
    print(lm.plan(texts))
    lm.fit(texts)
    print(f"{lm.n_calls_} calls, relative error {lm.error_:.3f}")
    similarities, items = lm.kneighbors(n_neighbors=3)
    print(f"nearest to `{texts[0]}`: `{texts[items[0, 0]]}` ({similarities[0, 0]:.2f})")
finally:
    server.terminate()
    server.wait()
