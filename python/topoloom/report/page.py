# SPDX-License-Identifier: BSD-3-Clause
"""Renders the report as a single HTML file: template, style, scripts and data.

The page loads nothing from the network. Its security policy allows no scripts except
the included one.
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

from topoloom.report.packed_arrays import PackedArrays
from topoloom.report.page_data import Report, collect_page_data
from topoloom.report.text import collect_page_texts
from topoloom.support.files import check_page_name, write_text

#: JavaScript modules of the page, in dependency order.
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
    """Write the page of a report atomically.

    Raises `topoloom.Error` if there are too many ranks or nodes for a page, or its name
    does not end with .html. Raises `OSError` if the file cannot be written.
    """
    check_page_name(path)
    write_text(path, render_report(report))


def render_report(report: Report) -> str:
    """Render the page of a report; equal reports produce equal text."""
    data, pack = collect_page_data(report)
    return render_page(
        "report.html.j2", SCRIPTS, collect_page_texts(report), data, pack
    )


def render_page(
    template: str,
    scripts: Sequence[str],
    texts: Mapping[str, Any],
    data: Mapping[str, Any],
    pack: PackedArrays,
) -> str:
    """Render a template of `assets` that extends ``page.html.j2``.

    Parameters
    ----------
    scripts
        JavaScript modules of `assets`, in dependency order.
    texts
        Variables of the template.
    data, pack
        Values and packed arrays for the scripts.
    """
    assets = Environment(
        loader=FunctionLoader(_read_asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    style = _read_asset("report.css")
    script = "\n".join(_strip_module_syntax(_read_asset(name)) for name in scripts)
    page = assets.get_template(template).render(
        **texts,
        data=data,
        arrays=Markup(pack.format_html()),
        style=Markup(style),
        style_hash=_hash_text(style),
        script=Markup(script),
        script_hash=_hash_text(script),
    )
    # Names of files may contain invalid Unicode.
    return page.encode(errors="replace").decode()


def _read_asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def _strip_module_syntax(module: str) -> str:
    """Remove imports and exports, because all modules are merged into one script."""
    return _EXPORT.sub("", _IMPORT.sub("", module))


def _hash_text(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()
