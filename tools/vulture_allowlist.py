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

# topoloom.machines.import_formats loads these by name.
read_aws_topology
read_google_instances
read_hwloc
read_ibnetdiscover
read_kubernetes_nodes
read_nccl_topology
read_oracle_hosts
read_scotch_target
read_simgrid_platform
read_slingshot
read_slurm_address
read_slurm_conf
read_slurm_nodes
read_slurm_yaml
read_tofu
read_xtdb2proc
read_xtprocadmin
recognizes_slingshot
recognizes_slurm_address
recognizes_tofu

# Users call these: of topoloom.mpi_balance, of topoloom.mpi_streams, in own mappers.
exchange_sized
push
evaluator

# Jinja templates of the report print these.
caption
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
