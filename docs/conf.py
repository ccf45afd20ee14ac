"""The documentation as a site: Sphinx over the Markdown of this folder and the docstrings of the Python package (`scripts/docs`)."""

import os
import sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root / "python"))

project = "Landmark"
author = "The Landmark authors"
copyright = author
release = next(
    line.split('"')[1] for line in (root / "Cargo.toml").read_text().splitlines() if line.startswith("version = ")
)

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.intersphinx", "numpydoc"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"Landmark {release}"
html_static_path = []

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
# links out of this folder lead to files of the repository, which scripts/check-links.py follows
suppress_warnings = ["myst.xref_missing"]

# the compiled half of the package is not needed to read its docstrings
autodoc_mock_imports = ["landmark._native"]
autodoc_typehints = "none"
autosummary_generate = False
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# references to other projects, if their indexes can be reached
intersphinx_mapping = (
    {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }
    if os.environ.get("LANDMARK_DOCS_INTERSPHINX")
    else {}
)
