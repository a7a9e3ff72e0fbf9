# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: B018, F821
"""Names whose callers vulture cannot see. Remove a name with its definition."""

# click calls these methods of its classes.
list_commands
format_commands
get_usage_pieces

# Python, IPython, pickle, NumPy, PyTorch, expat and MkDocs read or call these.
__annotations__
__signature__
_repr_html_
find_class
persistent_load
writeable
parent_pg
StartDoctypeDeclHandler
on_page_content

# The compiled module calls these (in_python in bindings/).
from_networkx
to_networkx
from_scipy
to_scipy
sparse_matrix
complaint
reduced
machine_html
graph_html
judgement_html

# topoloom.cli.complete loads these by name.
SWITCHING
traffic_names
injection_names
router_names
routing_names
arbiter_names
allocator_names

# Users call these: of topoloom.mpi_balance, of topoloom.mpi_streams, in own mappers.
exchange_sized
push
evaluator

# Jinja templates of the report print these.
error_ticks
ideal
is_command

# Fields that _asdict and asdict write to JSON or to tables.
replicate
shard
peak
segment_bytes
pipelined_s
binomial_broadcast_s
binomial_scatter_s
binomial_gather_s
loads_of_links
loads_of_switches
independent
byte_count
search_wall
process_rss
