#!/usr/bin/env python3
"""Checks that every relative link and image of the Markdown files leads to a file, every #anchor to a heading, and that the tests that
docs/dev/inputs.md names exist.

Only files under version control (or about to be) are read; links to other sites are not followed.
"""

import pathlib
import re
import subprocess
import sys
import urllib.parse

LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
CODE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)


def anchors(text):
    """The ids that a page gives its headings: lower case, spaces as hyphens, punctuation dropped, repetitions numbered."""
    found = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))
    for heading in re.findall(r"^#{1,6}\s+(.+?)\s*#*$", CODE.sub("", text), re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()).replace(" ", "-")
        name, number = plain, 0
        while name in found:
            number += 1
            name = f"{plain}-{number}"
        found.add(name)
    return found


def broken(page):
    text = page.read_text(encoding="utf-8")
    for link in LINK.findall(re.sub(r"`[^`\n]*`", "", CODE.sub("", text))):
        if re.match(r"[a-z][a-z0-9+.-]*:", link, re.IGNORECASE):
            continue
        path, _, anchor = urllib.parse.unquote(link).partition("#")
        target = page.parent / path if path else page
        if not target.exists():
            yield f"{page}: `{link}` leads nowhere"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
            yield f"{page}: `{link}` names no heading of {target}"


def missing_tests(page):
    """Names of tests in backticks that no Rust file has."""
    sources = subprocess.run(["git", "ls-files", "-z", "crates/*.rs", "experiments/*.rs"], check=True, capture_output=True, text=True).stdout
    files = [pathlib.Path(name) for name in sources.split("\0") if name and pathlib.Path(name).exists()]
    known = {name for file in files for name in re.findall(r"fn (\w+)", file.read_text(encoding="utf-8"))}
    rows = "\n".join(line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|"))
    for name, is_cut in re.findall(r"`(\w+_\w+_\w+?)_?(…?)`", rows):
        if name not in known and not (is_cut and any(other.startswith(name) for other in known)):
            yield f"{page}: there is no test `{name}`"


listed = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "*.md"], check=True, capture_output=True, text=True
)
pages = sorted({pathlib.Path(name) for name in listed.stdout.split("\0") if name})
problems = [problem for page in pages if page.exists() for problem in broken(page)]
problems += missing_tests(pathlib.Path("docs/dev/inputs.md"))
print("\n".join(problems) or f"links of {len(pages)} Markdown files: all lead somewhere")
sys.exit(bool(problems))
