# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: B018, F821
"""Names whose uses vulture does not find. Remove an entry with its definition."""

# Read or called by click.
context_class
formatter_class
list_commands
format_commands
get_usage_pieces
get_help_extra
get_completion_args
format_completion

# Read or called by Python, IPython, pickle, NumPy, PyTorch, expat, pydantic or MkDocs.
__annotations__
__signature__
_repr_html_
find_class
persistent_load
writeable
parent_pg
StartDoctypeDeclHandler
on_page_content
on_page_markdown
on_files
field_title_should_be_set
typed_dict_schema

# Read by JAX, or by the format of a table.
coords
slice_index
core_on_chip
device_kind
meshes

# Read by the templates of pages.
zero
change_text

# Types of JSON documents, named in the text of a cast.
AxisOperation
AxisTraffic
BestAxisOrder
BytesPerRankFields
DirectionFields
ExpertCostFields
FoundOrder
GapMeasures
HalvesFields
ImprovementStep
LineTrafficFields
ListDocument
LowerBounds
MapperResult
Measures
MessageCostFields
MessageFields
ObjectiveMeasures
PlacementOnPage
PlanMeasures
RandomFields
ReportedGpu
RunSeconds
ScoreFields
SimulatedMoves
StoredCollectivesFields
TreeLoadFields
TriedSlack
UnplacedRunSeconds

# Called by the compiled module (in_python in bindings/).
from_networkx
to_networkx
from_scipy
to_scipy
build_sparse_matrix
describe_call_error
reduced
machine_html
graph_html
judgement_html

# Read by lizard.
_logical_operators
_ternary_operators

# Loaded by topoloom.cli.completions by their names.
SWITCHING
traffic_names
injection_names
router_names
routing_names
arbiter_names
allocator_names

# Loaded by topoloom.machines.import_formats by their names.
read_amd_topology
read_aws_topology
read_google_instances
read_hwloc
read_ibnetdiscover
read_kubernetes_nodes
read_nccl_topology
read_nvidia_topology
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

# Called by users of topoloom.mpi, and by user-defined mappers.
exchange_sized
push
evaluator

# Printed by Jinja templates of the report.
caption
error_ticks
ideal
is_command

# Fields written to JSON or tables by _asdict and asdict.
replicate
shard
peak
segment_bytes
pipelined_seconds
binomial_bcast_seconds
binomial_scatter_seconds
binomial_gather_seconds
loads_of_links
loads_of_switches
independent
byte_count
search_wall
process_rss

# Read by NumPy.
fid
