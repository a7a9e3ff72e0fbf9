# SPDX-License-Identifier: BSD-3-Clause
"""The table of tools: efforts, sources and limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from peers.instance import Instance


@dataclass(frozen=True)
class Tool:
    """A line of the table of tools.

    Attributes
    ----------
    name
        Name in tables and options.
    adapter
        A module of `peers.adapters`; empty if the tool cannot be run here.
    efforts
        Efforts from quick to thorough.
    about
        Description of the tool and its use.
    peer
        False for Topoloom.
    """

    name: str
    adapter: str
    efforts: Sequence[str]
    about: str
    peer: bool = True


TOOLS = [
    Tool(
        "ours",
        "ours",
        ("fast", "default", "best"),
        "`topoloom map --effort`",
        peer=False,
    ),
    Tool(
        "simple",
        "ours",
        ("mapper:block", "mapper:gge", "mapper:mahd+swap"),
        "block order (doing nothing), greedy graph embedding, mahd and swap",
        peer=False,
    ),
    Tool(
        "scotch",
        "scotch",
        ("default", "quality", "forced", "quality-forced"),
        "static mapping by the program; on the true machine, ragged allocations as "
        "`sub`; `forced` is `-b0`, `quality` is `-cq`",
    ),
    Tool(
        "pyscotch",
        "pyscotch",
        ("default", "quality", "forced", "quality-forced"),
        "the same by the library",
    ),
    Tool(
        "kahip",
        "kahip",
        (
            "multisection-fast",
            "multisection-eco",
            "multisection-strong",
            "kway-strong",
            "multisection-eco-balanced",
        ),
        "global multisection, and kaffpa with mapping; `balanced` is "
        "`--enforce_balance`; machines as trees",
    ),
    Tool(
        "sharedmap",
        "sharedmap",
        ("fast", "eco", "strong"),
        "of chszlablib; machines as trees",
    ),
    Tool(
        "mtkahypar",
        "mtkahypar",
        ("default", "quality", "highest"),
        "`map_onto_graph` on the complete graph of distances",
    ),
    Tool(
        "kaminpar",
        "kaminpar",
        ("default", "strong"),
        "a partitioner: block i goes to place i",
    ),
    Tool("metis", "metis", ("kway", "rb"), "a partitioner: block i goes to place i"),
    Tool("viem", "", (), "in no package that we can install"),
    Tool("intmap", "", (), "in no package that we can install"),
    Tool("treematch", "", (), "in no package that we can install"),
]

#: Efforts that do not run by default, because they are slow or seldom better.
ON_DEMAND = {("kahip", "multisection-eco-balanced"), ("mtkahypar", "highest")}


def is_applicable(effort: str, instance: Instance) -> bool:
    """Whether an effort applies: forced balance only with one rank per slot."""
    return not (instance.n_to_1 and "forced" in effort)


def select_tools(
    names: Sequence[str], efforts: Sequence[str]
) -> list[tuple[Tool, str]]:
    """Return tools and efforts by name; without names, all except `ON_DEMAND`."""
    return [
        (tool, effort)
        for tool in TOOLS
        if not names or tool.name in names
        for effort in tool.efforts
        if (effort in efforts if efforts else (tool.name, effort) not in ON_DEMAND)
    ]
