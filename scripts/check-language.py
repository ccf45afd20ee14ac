#!/usr/bin/env python3
"""Checks how the documentation is written: words, and the length of lines, table cells, sentences and pages.

Words that the project does not use (WORDS) are counted in every Markdown file, in the comments of YAML, Rust, Python and
shell files, in docstrings and messages (string literals with a space), and so in the program's help. The parts of names in
Rust and Python are compared with NAMES. Sentences are measured over README.md and docs/. Code, links' targets and generated
tables (`<!-- NAME:begin -->` to `<!-- NAME:end -->`) are not prose, and literals and names of tests are not read. Words that
are stored or quoted are in EXCEPTIONS. Prints counts, and ends with 1 if a rule is broken.
"""

import ast
import fnmatch
import io
import pathlib
import re
import subprocess
import sys
import tokenize

# what is not written: use instead
WORDS = {
    r"buys?|buying|bought|buyers?|purchas\w*": "evaluate, score, call",
    r"bills?|billed": "call estimate",
    r"says?|said|(?<!cannot )tells?|told|speaks?|spoken|complain(?:s|ts?|ed)?": "prints, states, warns, shows",
    r"beside": "next to",
    r"so many|so much as": "a number of",
    r"anew|afresh": "again",
    r"go(?:es)? on|gone on": "resumes, continues",
    r"heed\w*": "respects",
    r"mend(?:s|ed|ing)?": "fix",
    r"dear(?:er|est)?": "expensive",
    r"at hand|under way": "available, in flight",
    r"rivals?|kitchens?|purses?|shopping": "baseline, limit",
    r"the house|floors?": "workspace, layers, modules",
    r"popularity": "hubness",
    r"one's own": "your own",
    r"neighbour\w*|behaviour\w*|colour\w*|licence\w*|catalogue\w*|favour\w*|centre\w*|grey|judgement": "American spelling",
    r"(?:normal|initial|serial|optim|recogn|organ|summar|general|token|factor|real|anal)[iy]s(?:e|es|ed|ing|ation|ations)":
        "American spelling",
}
# parts of the names of types, functions, fields and variables
NAMES = re.compile(
    "bills?|billed|buys?|bought|buyers?|purchas(?:e|es|ed)|purses?|popularity|neighbours?|behaviours?|catalogues?|colours?|coloured"
    "|licences?|centres?|grey|judgement|desk|rivals?|heed\w*|mend|mends|mended|mending|dear|dearer|dearest|anew|afresh"
    "|beside|said|told|tells|says|speaks|spoken|complaints?|kitchen|normalised?|optimised?|initialised?|serialised?"
)
# (files, word, reason): what is stored, read as an old name, or quoted from another program
EXCEPTIONS = [
    ("python/landmark/*", "popularity", "parameter of the estimator"),
    ("crates/python/src/methods.rs", "popularity", "the same"),
    ("python/landmark/*", "normalise", "parameter of `TreeKernel`"),
    ("crates/python/src/oracle.rs", "normalise", "the same"),
    ("crates/neighbors/examples/neighbor_times.rs", "neighbour", "name of a random stream"),
    ("experiments/neighbors/src/retrieval/methods.rs", "popularity", "name in published rows"),
    ("experiments/neighbors/src/coverage.rs", "told", "the same"),
    ("crates/report/src/claims*", "says", "key of claims.yaml"),
    ("crates/report/src/reference.rs", "says", "the same"),
    ("crates/xtask/src/claims.rs", "says", "the same"),
]
LINE, CELL, PAGE = 120, 200, 150
MEAN, LONGEST = 18, 40
PATTERNS = {re.compile(rf"\b(?:{words})\b", re.IGNORECASE): use for words, use in WORDS.items()}


def files(*patterns):
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", *patterns]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted(path for name in set(listed) if name and (path := pathlib.Path(name)).exists())


def prose(text):
    """The lines of a page outside of code blocks, generated tables and front matter, with their numbers."""
    code = made = False
    front = text.startswith("---\n")
    for number, line in enumerate(text.split("\n"), 1):
        if front:
            front = number == 1 or line != "---"
        elif re.match(r"\s*(```|~~~)", line):
            code = not code
        elif re.match(r"<!-- [\w-]+:begin", line):
            made = True
        elif re.match(r"<!-- [\w-]+:end", line):
            made = False
        elif not code and not made:
            yield number, line


def without_code(text):
    """The text with `code` blanked, also where it runs over the end of a line."""
    text = re.sub(r"^[ \t]*```.*?^[ \t]*```", lambda block: "\n" * block[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*(?:\n[^`\n]+)?`", lambda code: "`x`" + "\n" * code[0].count("\n"), text)


def plain(line):
    """A line without code, pictures and the targets of links."""
    line = re.sub(r"`[^`]*`", "x", line)
    line = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", line)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line)


def sentences(text):
    """The sentences of paragraphs and list items; headings, tables and pictures have none."""
    blocks, current = [], []
    for _, line in prose(text):
        s = line.strip()
        if not s or s.startswith(("|", "#", "<", "![", ":::")):
            blocks.append(current)
            current = []
            continue
        item = re.match(r"(?:[-*]|\d+\.)\s+(.*)", s)
        if item:
            blocks.append(current)
            current, s = [], item[1]
        current.append(s)
    blocks.append(current)
    for block in blocks:
        text = plain(re.sub(r"`[^`]*`", "x", " ".join(block)))
        text = re.sub(r"\b(e\.g|i\.e|vs|et al|Fig|Sec)\.", r"\1", text)
        for sentence in re.split(r"(?<=[.!?:])[\"*)]*\s+(?=[\"*(]*[A-Z0-9`x\[])", text):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if len(words) > 2:
                yield len(words), sentence


def rust_comments(text):
    """The comments that fill a line, or end one, without code blocks; with their numbers."""
    is_code = False
    for number, line in enumerate(text.split("\n"), 1):
        comment = re.match(r"\s*//[/!]?(.*)", line)
        if comment and re.match(r"\s*```", comment[1]):
            is_code = not is_code
        elif not comment:
            is_code = False
            comment = re.search(r"[;,{})]\s+// (.*)", line)
        if comment and not is_code:
            yield number, comment[1]


def python_comments(text):
    """Comments, and docstrings without doctests and the names of parameters; with their numbers."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            string = node.body[0].value
            for place, line in enumerate(string.value.split("\n")):
                if not re.match(r"\s*(>>>|\.\.\. |\w+ : )", line):
                    yield string.lineno + place, line


RUST = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<string>(?P<kind>b|c)?(?:r(?P<hashes>\#*)"(?P<raw>.*?)"(?P=hashes)|"(?P<text>(?:[^"\\]|\\.)*)"))
    |(?P<char>b?'(?:[^'\\\n]|\\(?:.|x..|u\{[^}]*\}))')
    |(?P<test>\#\[cfg\((?:test|all\(test,[^]]*)\)\])
    |(?P<open>\{)|(?P<close>\})|(?P<end>;)
    |(?P<name>[A-Za-z_]\w*)""",
    re.DOTALL | re.VERBOSE,
)


def rust_literals(text):
    """The string literals and the names of a Rust file outside its test modules: kind, number of the line, text."""
    depth, test_at = 0, None
    for token in RUST.finditer(text):
        kind = token.lastgroup if token["string"] is None else "string"
        if kind == "test" and test_at is None:
            test_at = depth
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
            if depth == test_at:
                test_at = None
        elif kind == "end" and depth == test_at:
            test_at = None
        elif kind in ("string", "name") and test_at is None:
            number = text.count("\n", 0, token.start()) + 1
            if kind == "name":
                yield kind, number, token[0]
            elif token["kind"] is None:
                literal = token["raw"] if token["text"] is None else re.sub(r"\\(?:\n\s*|n|t)", " ", token["text"])
                yield kind, number, re.sub(r"\{\w*(?::[^{}]*)?\}", "x", literal)


def python_literals(text):
    """The string literals but docstrings, and the names of a Python file: kind, number of the line, text."""
    tree = ast.parse(text)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    read = {
        id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None
    }
    for node in ast.walk(tree):  # a whole before its parts
        if isinstance(node, ast.JoinedStr):
            read.update(map(id, node.values))
            literal = "".join(part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
            yield "string", node.lineno, literal
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in read:
            yield "string", node.lineno, node.value
        for field in ("id", "arg", "attr", "name"):
            if isinstance(name := getattr(node, field, None), str):
                yield "name", getattr(node, "lineno", 1), name


def is_test(file):
    return "tests" in file.parts or file.stem == "tests" or file.stem.startswith("test_")


def without_tests(sources):
    """The Rust files but tests, and but the modules that are declared for tests."""
    for_tests = set()
    for file in sources:
        folder = file.parent if file.stem in ("lib", "main", "mod") else file.with_suffix("")
        for name in re.findall(r"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))? )?mod (\w+);", file.read_text(encoding="utf-8")):
            for_tests.update((folder / f"{name}.rs", folder / name))
    return [file for file in sources if not is_test(file) and not for_tests.intersection((file, *file.parents))]


def scripts_in(shell):
    """The files of scripts/ without an ending that are run by the given program."""
    return [file for file in files("scripts/*", "examples/*.sh") if file.suffix in ("", ".sh") and re.match(rf"#!.*{shell}", file.read_text("utf-8"))]


def main():
    problems, counts, used = [], dict.fromkeys(PATTERNS, 0), set()

    def is_excepted(file, word):
        for exception in EXCEPTIONS:
            if fnmatch.fnmatch(str(file), exception[0]) and word.lower() == exception[1]:
                used.add(exception)
                return True
        return False

    def check(file, number, text):
        for pattern, use in PATTERNS.items():
            for word in pattern.findall(plain(text)):
                if not is_excepted(file, word):
                    counts[pattern] += 1
                    problems.append(f"{file}:{number}: `{word}`: write {use}")

    def check_literals(file, literals):
        names = {}
        for kind, number, text in literals:
            if kind == "name":
                names.setdefault(text, number)
            elif re.search(r"\s", text.strip()):
                for place, line in enumerate(text.split("\n")):
                    check(file, number + place, line)
        for name, number in names.items():
            for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name):
                if NAMES.fullmatch(part.lower()) and not is_excepted(file, part):
                    problems.append(f"{file}:{number}: the name `{name}` has the part `{part}`")

    for page in files("*.md"):
        text = page.read_text(encoding="utf-8")
        is_manual = page.parts[0] in ("README.md", "docs")
        is_published = page.parts[0] == "results" and len(page.parts) > 2
        if is_published:  # tables that runs wrote
            continue
        for number, line in prose(without_code(text)):
            check(page, number, line)
        for number, line in prose(text) if str(page) not in GENERATED else ():
            if line.lstrip().startswith("|"):
                longest = max(len(cell.strip()) for cell in re.split(r"(?<!\\)\|", line))
                if longest > CELL:
                    problems.append(f"{page}:{number}: a table cell of {longest} characters (at most {CELL})")
            elif len(line) > LINE and " " in line.strip()[:LINE]:
                if not re.match(r"\s*(!\[|\[)[^\]]*\]\(\S+\)$", line):
                    problems.append(f"{page}:{number}: a line of {len(line)} characters (at most {LINE})")
        lines = text.count("\n")
        if is_manual and lines > PAGE and "<!-- " not in text and str(page) not in EXTENDED:
            problems.append(f"{page}: {lines} lines (at most {PAGE})")
    lengths = []
    for page in files("README.md", "docs/*.md"):
        for length, sentence in sentences(page.read_text(encoding="utf-8")):
            lengths.append(length)
            if length > LONGEST:
                problems.append(f"{page}: a sentence of {length} words (at most {LONGEST}): {sentence[:100]}")
    for file in files("*.yaml", "*.yml"):
        for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
            if comment := re.search(r"(?:^|\s)#(.*)", line):
                check(file, number, comment[1])
    for sources, comments in ((files("*.rs"), rust_comments), (files("*.py", "*.pyi") + scripts_in("python3"), python_comments)):
        for file in sources:
            for number, comment in comments(file.read_text(encoding="utf-8")):
                check(file, number, comment)
    for file in without_tests(files("*.rs")):
        check_literals(file, rust_literals(file.read_text(encoding="utf-8")))
    for file in files("*.py", "*.pyi") + scripts_in("python3"):
        if not is_test(file) and file.name != "check-language.py":
            check_literals(file, python_literals(file.read_text(encoding="utf-8")))
    for file in scripts_in("bash"):
        for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
            check(file, number, line)
    problems += [f"scripts/check-language.py: no longer needed: the exception {exception}" for exception in EXCEPTIONS if exception not in used]
    mean = sum(lengths) / len(lengths)
    if mean > MEAN:
        problems.append(f"README.md and docs: sentences of {mean:.1f} words on average (at most {MEAN})")
    print("\n".join(problems))
    print(f"{len(lengths)} sentences in README.md and docs: {mean:.1f} words on average, {max(lengths)} at most")
    print(f"words that are not used: {sum(counts.values())} found")
    return bool(problems)


# the pages of all commands and all keys, and the list of published runs, are generated
GENERATED = {"docs/reference/command-line.md", "docs/reference/configuration.md", "results/README.md"}
# the page of the Python interface is longer: its code blocks are one program
EXTENDED = GENERATED | {"docs/python.md"}

if __name__ == "__main__":
    sys.exit(main())
