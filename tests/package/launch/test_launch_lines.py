# SPDX-License-Identifier: BSD-3-Clause
"""Launch lines: where launchers put ranks by their options."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from topoloom import Allocation, Error, Machine
from topoloom.allocations.launch_order import LaunchOrder
from topoloom.launch.orders.launch_line import read_launch_line
from topoloom.launch.orders.node_cores import LaunchError, NodeCores, RankCores
from topoloom.nodes.node_parts import Levels, NodeParts, NodeType

#: Lines without a number of ranks, of each launcher.
LINES = [
    "srun --distribution=cyclic",
    "srun -m block:cyclic",
    "srun -m cyclic:fcyclic",
    "srun -m plane=3",
    "srun -m block,Pack --ntasks-per-node=6",
    "srun -c 2 -m cyclic:block:cyclic,NoPack",
    "openmpi4",
    "openmpi4 --map-by ppr:2:l3cache --rank-by core",
    "openmpi4 --map-by socket:span --rank-by core:span --bind-to core",
    "openmpi4 --map-by slot:PE=2",
    "openmpi5",
    "openmpi5 --map-by numa --rank-by fill",
    "openmpi5 --map-by node:PE=2",
    "openmpi5 -N 3 --bind-to core",
    "mpiexec -ppn 3",
    "mpiexec -bind-to core:2 -map-by socket",
    "mpiexec --ppn 4 --depth 2 --cpu-bind depth",
    "pals --ppn 5 --cpu-bind numa",
    "jsrun -a 2 -c 4 -r 2 -d cyclic",
    "flux run -N 1 -c 2",
    "flux run -N 1 --taskmap=cyclic:2 -o cpu-affinity=per-task",
    "aprun -N 6 -d 2",
    "aprun -S 3 -cc depth",
    "pjm rank-map-bynode,max-proc-per-node=5",
]
SIZES = {"L2": 2, "L3": 4, "numa": 4, "package": 8}


@st.composite
def draw_nodes(draw: st.DrawFn) -> list[NodeCores]:
    """Draw nodes of up to two packages, some of whose cores are not the job's."""
    nodes = []
    for _ in range(draw(st.integers(1, 4))):
        cores = draw(st.sets(st.integers(0, 15), min_size=4))
        nodes.append(NodeCores(tuple(sorted(cores)), SIZES))
    return nodes


def place(line: str, nodes: Sequence[NodeCores], ranks: int) -> list[RankCores]:
    return read_launch_line(line).place(nodes, ranks)


def make_nodes(count: int, cores: int = 16) -> list[NodeCores]:
    return [NodeCores(tuple(range(cores)), SIZES)] * count


@given(st.sampled_from(LINES), draw_nodes(), st.integers(1, 40))
def test_every_rank_has_cores_of_its_node(
    line: str, nodes: list[NodeCores], ranks: int
) -> None:
    try:
        placed = place(line, nodes, ranks)
    except LaunchError:
        return
    each = read_launch_line(line).cores_per_rank
    assert len(placed) == ranks
    for node, cores in placed:
        assert len(cores) == each
        assert set(cores) <= set(nodes[node].cores)
    used = [(node, core) for node, cores in placed for core in cores]
    # Two ranks share a core only if a launcher binds them to the same cores.
    assert len(used) == len(set(used)) or "core:2" in line


@given(st.sampled_from(LINES), st.integers(1, 3), st.data())
def test_all_lines_place_few_ranks_on_equal_nodes(
    line: str, nodes: int, data: st.DataObject
) -> None:
    placed = place(line, make_nodes(nodes), 2 * data.draw(st.integers(1, nodes)))
    assert len({(node, cores[0]) for node, cores in placed}) == len(placed)


@given(draw_nodes(), st.data())
def test_lines_of_different_launchers_agree(
    nodes: list[NodeCores], data: st.DataObject
) -> None:
    ranks = data.draw(st.integers(1, sum(len(node.cores) for node in nodes)))
    filled = place("mpich", nodes, ranks)
    assert place("openmpi4 --map-by core", nodes, ranks) == filled
    assert place("openmpi5 --map-by core", nodes, ranks) == filled
    assert place("srun -m plane=1", nodes, ranks) == [
        RankCores(node, cores)
        for node, cores in place("srun -m cyclic:block", nodes, ranks)
    ]
    # srun's block has the ranks of cyclic, node by node.
    block, cyclic = (place(f"srun -m {m}", nodes, ranks) for m in ("block", "cyclic"))
    assert block == sorted(cyclic)


@given(st.integers(1, 4), st.integers(1, 64))
def test_cyclic_deals_ranks_to_nodes_and_packages(nodes: int, ranks: int) -> None:
    ranks = min(ranks, 16 * nodes)
    for rank, (node, cores) in enumerate(
        place("srun -m cyclic:cyclic", make_nodes(nodes), ranks)
    ):
        turn = rank // nodes
        assert node == rank % nodes
        assert cores == (turn % 2 * 8 + turn // 2,)


@given(st.permutations("XYZ"), st.integers(1, 24))
def test_pjm_orders_the_nodes_by_the_axes(axes: list[str], ranks: int) -> None:
    machine = Machine("torus:2x3x4")
    letters = "".join(axes)
    order = LaunchOrder(f"pjm --mpi rank-map-bychip={letters}")
    used = order.select_used_slots(Allocation.whole(machine), ranks).allocation
    for rank, slot in enumerate(used.slots.tolist()):
        place = machine.coordinates(slot)
        sizes = [machine.shape["XYZ".index(axis)] for axis in axes]
        strides = [math.prod(sizes[:i]) for i in range(3)]
        numbers = [place["XYZ".index(axis)] for axis in axes]
        assert rank == sum(n * s for n, s in zip(numbers, strides, strict=True))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("srun --frob=3", "no option '--frob=3'"),
        ("srun -m cyclic:foo", "'-m cyclic:foo': expected block or cyclic"),
        ("srun -m arbitrary", "reads the placement from SLURM_HOSTFILE"),
        ("srun --cpu-bind=map_ldom:0,1", "'--cpu-bind=map_ldom:0,1' is not supported"),
        ("srun --cpu-bind=map_cpu:0,x", "'--cpu-bind=map_cpu:0,x': 'x' is no CPU"),
        ("srun --ntasks-per-socket=2", "'--ntasks-per-socket=2' limits the ranks of"),
        ("env SLURM_THREADS_PER_CORE=2 srun", "'SLURM_THREADS_PER_CORE=2' may change"),
        ("mpirun --hostfile f", "'--hostfile f' chooses hosts; leave it out, and"),
        ("jsrun -c ALL", "'-c ALL': expected an integer"),
        ("flux submit -N 2", "only 'flux run' supports placements"),
        ("flux run -n 4", "needs -N, the number of nodes"),
        ("flux run -N 2 --taskmap=hostfile:f", "expected block, cyclic or cyclic:N"),
        ("aprun -j 2", "'-j 2': slots are cores"),
        ("aprun -cc 0:2", "'-cc 0:2': expected cpu, depth, none"),
        ("srun -w n1", "'-w n1' chooses hosts; leave it out, and name"),
        ("mpirun --map-by l4cache", "no resource 'l4cache'"),
        ("mpirun --map-by slot:foo", "no modifier 'foo'"),
        ("mpirun --rankfile f", "'--rankfile f' of mpirun is not supported"),
        ("mpiexec -map-by core", "without -bind-to"),
        ("pals --cpu-bind numa", "needs --ppn"),
        ("pjm rank-map-byfoo", "'rank-map-byfoo': expected rank-map-bychip"),
        ("jsrun -d random", "'-d random': expected packed, cyclic or plane:N"),
        ("foorun -n 4", "no launcher 'foorun'"),
        ("env SLURM_DISTRIBUTION=plane=2 srun", "'SLURM_DISTRIBUTION=plane=2' may"),
        ("OMP_NUM_THREADS=2", "'OMP_NUM_THREADS=2' names no launcher"),
    ],
)
def test_unknown_words_are_named(line: str, message: str) -> None:
    with pytest.raises(Error) as raised:
        read_launch_line(line)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("srun -m block:cyclic", "packages"),
        ("openmpi4", "NUMA domains"),
        ("openmpi5 --map-by ppr:1:l3cache", "L3 caches"),
        ("mpirun", "NUMA domains"),
        ("mpiexec -bind-to l2cache", "L2 caches"),
        ("pals --ppn 2 --cpu-bind socket", "packages"),
    ],
)
def test_missing_resources_are_named(line: str, missing: str) -> None:
    with pytest.raises(Error, match=f"needs {missing}, which"):
        place(line, [NodeCores((0, 1, 2, 3))] * 2, 4)


def test_the_cpus_of_map_cpu_are_those_of_the_operating_system() -> None:
    cpus = tuple(
        (core // 2 + core % 2 * 8, core // 2 + core % 2 * 8 + 16) for core in range(16)
    )
    node = NodeCores(tuple(range(16)), SIZES, cpus)
    placed = place("srun --cpu-bind=map_cpu:8,0*2,23 -c 1", [node] * 2, 8)
    assert [cores for _, cores in placed[:4]] == [(1,), (0,), (0,), (14,)]
    assert [rank.node for rank in placed] == [0] * 4 + [1] * 4
    pairs = place("srun --cpu-bind=verbose,map_cpu:1,0 -c 2", [node], 2)
    assert [cores for _, cores in pairs] == [(2, 3), (0, 1)]
    unknown = place("srun --cpu-bind=map_cpu:5,3", make_nodes(1), 2)
    assert [cores for _, cores in unknown] == [(5,), (3,)]
    with pytest.raises(LaunchError, match="uses CPU 32, but the job has no core"):
        place("srun --cpu-bind=map_cpu:32", [node], 1)


def test_variables_of_slurm_for_one_thread_per_core_change_nothing() -> None:
    nodes = make_nodes(2)
    plain = place("srun -c 2", nodes, 8)
    assert place("SLURM_THREADS_PER_CORE=1 srun -c 2", nodes, 8) == plain
    assert place("env SLURM_HINT=nomultithread srun -c 2", nodes, 8) == plain


def test_a_resource_set_of_all_cpus_is_a_host() -> None:
    placed = place(
        "jsrun -n 3 -a 4 -c ALL_CPUS -g ALL_GPUS -b packed:2", make_nodes(3), 12
    )
    assert [rank.node for rank in placed] == [0] * 4 + [1] * 4 + [2] * 4
    assert [cores for _, cores in placed[:4]] == [(0, 1), (2, 3), (4, 5), (6, 7)]
    with pytest.raises(LaunchError, match="puts 9 ranks of 2 cores in a resource"):
        place("jsrun -a 9 -c ALL_CPUS -b packed:2", make_nodes(1), 9)


def test_flux_deals_ranks_evenly_and_numbers_them_by_the_taskmap() -> None:
    nodes = make_nodes(3)
    block = place("flux run -N 3", nodes, 8)
    assert [rank.node for rank in block] == [0, 0, 0, 1, 1, 1, 2, 2]
    cyclic = place("flux run -N 3 --taskmap=cyclic", nodes, 8)
    assert [rank.node for rank in cyclic] == [0, 1, 2, 0, 1, 2, 0, 1]
    assert sorted(cyclic) == sorted(block)
    assert read_launch_line("flux run -N 3 --tasks-per-node=4 ./app").ranks == 12


def test_aprun_fills_numa_domains_only_with_their_share() -> None:
    placed = place("aprun -n 6 -N 4 -S 2 -d 2", make_nodes(2), 6)
    assert [(rank.node, rank.cores[0]) for rank in placed] == [
        *((0, 0), (0, 2), (0, 4), (0, 6)),
        *((1, 0), (1, 2)),
    ]
    one_each = place("aprun -S 1", make_nodes(1), 4)
    assert [cores for _, cores in one_each] == [(0,), (4,), (8,), (12,)]


def test_mpirun_is_refused_where_versions_differ() -> None:
    with pytest.raises(Error, match="write openmpi4 or openmpi5"):
        place("mpirun --map-by socket", make_nodes(1), 4)
    assert place("mpirun --map-by core", make_nodes(1), 2)


def test_a_line_may_be_the_whole_command() -> None:
    line = (
        "env OMP_NUM_THREADS=2 srun -N 2 -n 6 -c 2 --mpi=pmix -l -m cyclic ./app -n 9"
    )
    rules = read_launch_line(line)
    assert (rules.ranks, rules.cores_per_rank) == (6, 2)
    allocation = Allocation.whole(Machine("tree:3+node:16"))
    order = LaunchOrder(line)
    used = order.select_used_slots(allocation, 6).allocation
    assert used.slots.tolist() == [0, 16, 2, 18, 4, 20]
    with pytest.raises(Error, match="starts 6 ranks, but the job has 7"):
        order.select_used_slots(allocation, 7)


def test_used_slots_are_described() -> None:
    allocation = Allocation.whole(Machine("tree:4+node:8"))
    note = LaunchOrder("srun -m cyclic").select_used_slots(allocation, 6).note
    assert note == (
        "4 nodes of 8 slots: 6 ranks use 1 or 2 slots of each, as srun -m cyclic does"
    )


@pytest.mark.parametrize(
    ("line", "is_assumed"),
    [
        ("srun -m cyclic", True),
        ("srun -m plane=2", True),
        ("srun -m cyclic:block", False),
        ("srun --cpu-bind=none", False),
        ("srun --cpu-bind=map_cpu:0,1,2,3", False),
    ],
)
def test_the_order_inside_nodes_of_several_packages_is_said_to_be_assumed(
    line: str, is_assumed: bool
) -> None:
    allocation = Allocation.whole(Machine("tree:2+node:2:2"))
    for names, has_packages in (("package", "node"), True), (("L3", "package"), False):
        node = NodeParts(names)
        note = LaunchOrder(line).select_used_slots(allocation, 8, node=node).note
        assert ("write the second level" in note) == (is_assumed and has_packages)


def test_nodes_that_differ_have_their_own_packages() -> None:
    levels = (Levels((2, 2), (1, 2)), Levels((3, 2), (1, 2)))
    types = tuple(
        NodeType(
            (node,),
            levels[node],
            tuple(range(len(levels[node].list_places()))),
            NodeParts(("package", "node")),
        )
        for node in (0, 1)
    )
    machine = Machine("tree:2+node:6")
    allocation = Allocation(machine, [0, 1], [*range(4), *range(6, 12)])
    used = LaunchOrder("srun -m block:cyclic").select_used_slots(
        allocation, 10, node=NodeParts(types=types)
    )
    assert used.allocation.slots.tolist() == [0, 2, 1, 3, 6, 9, 7, 10, 8, 11]
