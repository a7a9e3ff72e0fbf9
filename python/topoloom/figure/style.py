# SPDX-License-Identifier: BSD-3-Clause
"""Colors and fonts of all figures; color-blind people can tell the colors apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

BEFORE = "#b35806"  # dashed lines distinguish views in addition to colors
AFTER = "#1b4f8a"
NEUTRAL = "#d9d9d9"
TEXT = "#222222"

SETTINGS: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.edgecolor": "#888888",
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "text.color": TEXT,
    "axes.labelcolor": TEXT,
    "svg.fonttype": "path",
    "text.parse_math": False,  # names may contain any character
    "svg.hashsalt": "topoloom",
}


def make_color_scale(palest: float = 0.12) -> Colormap:
    """Make the color scale from pale green (low) to nearly black (high)."""
    import matplotlib
    from matplotlib.colors import ListedColormap

    viridis = matplotlib.colormaps["viridis_r"]
    steps = [palest + (1 - palest) * i / 255 for i in range(256)]
    return ListedColormap([viridis(step) for step in steps])
