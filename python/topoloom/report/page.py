# SPDX-License-Identifier: BSD-3-Clause
"""The report as one page: template, style, scripts and data in a single HTML file.

The page fetches nothing, and its security policy forbids that anything but its own
script runs.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from topoloom.report.data import Report, page_data
from topoloom.report.pack import Pack
from topoloom.report.text import facts
from topoloom.support.files import write_text

#: Modules of the page, each after those that it imports from.
SCRIPTS = (
    "format.js",
    "pack.js",
    "canvas.js",
    "paper.js",
    "model.js",
    "matrix.js",
    "traffic.js",
    "camera.js",
    "scene.js",
    "nodes.js",
    "main.js",
)
_IMPORT = re.compile(r"^import .*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def save_report(path: str | Path, report: Report) -> None:
    """Write the page, wholly or not at all.

    Raises
    ------
    topoloom.Error
        If there are more ranks or nodes than a page can hold.
    OSError
        If the file cannot be written.
    """
    write_text(path, render(report))


def render(report: Report) -> str:
    """Build the page; the same report gives the same text."""
    data, pack = page_data(report)
    return render_page("report.html.j2", SCRIPTS, facts(report), data, pack)


def render_page(
    template: str,
    scripts: Sequence[str],
    texts: Mapping[str, Any],
    data: Mapping[str, Any],
    pack: Pack,
) -> str:
    """Fill a template of `assets` in, which extends ``page.html.j2``.

    Parameters
    ----------
    scripts
        Modules of `assets`, each after those that it imports from.
    texts
        What the template names.
    data, pack
        What the scripts draw.
    """
    assets = Environment(
        loader=FunctionLoader(_asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    style = _asset("report.css")
    script = "\n".join(_plain(_asset(name)) for name in scripts)
    page = assets.get_template(template).render(
        **texts,
        data=data,
        arrays=Markup(pack.text()),
        style=Markup(style),
        style_hash=_hash(style),
        script=Markup(script),
        script_hash=_hash(script),
    )
    # Names of files may be no text.
    return page.encode(errors="replace").decode()


def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def _plain(module: str) -> str:
    """Make a module fit into one script with the others."""
    return _EXPORT.sub("", _IMPORT.sub("", module))


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()
