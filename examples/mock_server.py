#!/usr/bin/env python3
"""A server that answers like a reranker, a pair scorer and a chat model, to try Landmark's `http` oracle without an account.

    python3 mock_server.py [--port 8377] [--delay 0.0] [--refuse 0.0]

It scores as sentence_similarity.py does: /rerank (query, documents), /score (text_1, text_2), /v1/chat/completions (a prompt
with lines `A: …` and `B: …`, answered with a rating from 0 to 10), /v1/embeddings (counts of letter trigrams, folded to 64 numbers), and jobs of chat
requests (/v1/files, /v1/batches), each done when it is looked at for the second time. `--delay` is the time a request takes; `--refuse` the share of requests
that is turned away with 429. Python alone, no package.
"""

import argparse
import json
import random
import re
import sys
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from sentence_similarity import VERSION, score

MODEL = f"soft-word-overlap-v{VERSION}"


def number(a, b):
    similarity = score(a, b)
    similarity = similarity if isinstance(similarity, float) else 0.0
    # the longer the first text, the higher
    return similarity * (1 + 0.01 * len(a)) if options.asymmetric else similarity


def rerank(body):
    documents = enumerate(body["documents"])
    results = [{"index": k, "relevance_score": number(body["query"], text)} for k, text in documents]
    return {"model": MODEL, "results": sorted(results, key=lambda result: -result["relevance_score"])}


def compare(body):
    pairs = zip(body["text_1"], body["text_2"], strict=True)
    return {"model": MODEL, "data": [{"index": k, "score": number(a, b)} for k, (a, b) in enumerate(pairs)]}


def chat(body):
    prompt = body["messages"][-1]["content"]
    pairs = list(zip(re.findall(r"^A: (.*)$", prompt, re.M), re.findall(r"^B: (.*)$", prompt, re.M), strict=True))
    ratings = [f"{10 * number(a, b):.2f}" for a, b in pairs]
    content = ratings[0] if len(pairs) == 1 else "\n".join(f"{k}: {rating}" for k, rating in enumerate(ratings, 1))
    usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": 4 * len(pairs)}
    return {"model": MODEL, "choices": [{"message": {"role": "assistant", "content": content}}], "usage": usage}


def embed(body):
    def vector(text):
        counts, text = [0.0] * 64, f"  {text.lower()} "
        for k in range(len(text) - 2):
            counts[zlib.crc32(text[k : k + 3].encode()) % 64] += 1
        return counts

    return {"model": MODEL, "data": [{"index": k, "embedding": vector(text)} for k, text in enumerate(body["input"])]}


ROUTES = {"/rerank": rerank, "/score": compare, "/v1/chat/completions": chat, "/v1/embeddings": embed}
FILES, JOBS = {}, {}


def keep(lines):
    name = f"file-{len(FILES)}"
    FILES[name] = lines
    return {"id": name}


def hand_over(order):
    job = {"id": f"batch-{len(JOBS)}", "status": "validating", **order}
    JOBS[job["id"]] = job
    return job


def look_at(name):
    job = JOBS[name]
    if job["status"] == "in_progress":
        lines = [json.loads(line) for line in FILES[job["input_file_id"]]]
        answers = [{"custom_id": x["custom_id"], "response": {"status_code": 200, "body": chat(x["body"])}} for x in lines]
        job |= {"status": "completed", "output_file_id": keep([json.dumps(answer) for answer in answers])["id"]}
    elif job["status"] == "validating":
        job["status"] = "in_progress"
    return job


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are used again
    disable_nagle_algorithm = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        time.sleep(options.delay)
        if self.path == "/v1/files":
            # of the form the lines are all that matters
            return self.answer(200, keep([line for line in body.decode().splitlines() if line.startswith('{"custom_id"')]))
        if self.path == "/v1/batches":
            return self.answer(200, hand_over(json.loads(body)))
        route = ROUTES.get(self.path)
        if route is None:
            return self.answer(404, {"error": f"no {self.path} here; there are {', '.join(ROUTES)}"})
        if random.random() < options.refuse:
            return self.answer(429, {"error": "too many requests"}, {"retry-after-ms": "50"})
        try:
            self.answer(200, route(json.loads(body)))
        except (KeyError, ValueError, IndexError, TypeError) as error:
            self.answer(400, {"error": f"{type(error).__name__}: {error}"})

    def do_GET(self):
        parts = self.path.split("?")[0].strip("/").split("/")
        try:
            match parts:
                case ["v1", "batches"]:
                    self.answer(200, {"data": list(JOBS.values()), "has_more": False})
                case ["v1", "batches", name]:
                    self.answer(200, look_at(name))
                case ["v1", "files", name, "content"]:
                    self.answer(200, "\n".join(FILES[name]))
                case _:
                    self.answer(404, {"error": f"no {self.path} here"})
        except KeyError as error:
            self.answer(404, {"error": f"no {error} here"})

    def answer(self, status, body, headers=()):
        payload = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8377, help="0: any that is free")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds a request takes")
    parser.add_argument("--refuse", type=float, default=0.0, help="share of requests that get 429")
    parser.add_argument("--asymmetric", action="store_true", help="let the order of a pair matter")
    options = parser.parse_args()
    try:
        server = Server(("127.0.0.1", options.port), Handler)
    except OSError as error:
        sys.exit(f"port {options.port}: {error}; another is chosen by --port")
    print(f"http://127.0.0.1:{server.server_port}: {', '.join(ROUTES)}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
