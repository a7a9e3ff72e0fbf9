# SPDX-License-Identifier: BSD-3-Clause
"""Describes the hottest links of a judgement for ``--json`` and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from topoloom._core import Judgement
from topoloom.machines.link_names import format_link

if TYPE_CHECKING:
    from topoloom.documents.placements import HottestLink


def list_hottest_links(
    judgement: Judgement, names: Mapping[str, str]
) -> list[HottestLink]:
    """List the hottest links of a judgement; `names` are those of nodes and switches.

    With a background, each has the bytes of other jobs and their share of the load.
    """
    links: list[HottestLink] = [
        {
            "link": format_link(link, names),
            "bytes": load,
            "seconds": seconds,
            "loaded_by": [
                {"source": int(s), "target": int(t), "bytes": float(b)}
                for s, t, b in loaders
            ],
        }
        for link, load, seconds, loaders in judgement.hottest
    ]
    # Without a background, the list of its loads is empty.
    for link, others in zip(links, judgement.hottest_background, strict=False):
        link["background_bytes"] = others
        link["background_share"] = others / link["bytes"]
    return links
