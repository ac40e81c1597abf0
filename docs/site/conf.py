"""The settings of Sphinx for the manual as a site, which build.py makes."""

from typing import Any

from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

import anabranch

REPOSITORY = "https://github.com/anabranch/anabranch"

# Drawings that tests read, by their names.
lexers |= {name: TextLexer() for name in ("crates", "python-parts")}

project = "Anabranch"
author = "The Anabranch authors"
version = release = anabranch.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
# GitHub's names of headings, to which pages link.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autoclass_content = "class"
napoleon_google_docstring = True
napoleon_use_ivar = True
html_theme = "furo"
html_title = f"Anabranch {release}"
html_show_copyright = False
html_copy_source = False
html_static_path = ["_static"]
html_js_files = ["live.js"]
html_css_files = ["live.css"]
html_theme_options = {"source_repository": f"{REPOSITORY}/", "source_branch": "main", "source_directory": ""}


def setup(app: Any) -> None:
    """Lets sentences have colons: napoleon takes what is before one for the type of an attribute."""

    def attribute(_: Any, what: str, *arguments: Any) -> None:
        if what in ("attribute", "property"):
            # An empty comment, which is no text before a colon.
            arguments[-1][:0] = ["..", ""]

    app.connect("autodoc-process-docstring", attribute, priority=400)
