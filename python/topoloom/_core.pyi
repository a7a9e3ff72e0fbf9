"""
The compiled core of Topoloom. Import its names from `topoloom` and its rooms.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Final, overload

import numpy
import numpy.typing
from numpy.typing import NDArray


class Error(ValueError):
    """What is wrong with an input, where, and what to do."""

class CommGraph:
    """
    Who sends how many bytes in how many messages to whom; directed, sparse.
    """

    @staticmethod
    def from_edges(rank_count: int, source: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], target: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], bytes: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], messages: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int] | None = None, load: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float] | None = None) -> CommGraph:
        """
        Edge i goes from source[i] to target[i]. Duplicates are summed, self-messages kept apart.
        """

    @staticmethod
    def from_csr(first: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], peer: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], bytes: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], messages: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int] | None = None, load: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float] | None = None, self_bytes: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int] | None = None, self_messages: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int] | None = None) -> CommGraph:
        """
        The edges of rank u are first[u] .. first[u+1]-1, as in a SciPy csr_array.
        """

    @property
    def rank_count(self) -> int: ...

    @property
    def edge_count(self) -> int: ...

    @property
    def total_bytes(self) -> int:
        """Without self-messages."""

    @property
    def total_messages(self) -> int:
        """Without self-messages."""

    @property
    def first(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), writable=False)]: ...

    @property
    def peer(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]: ...

    @property
    def bytes(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]: ...

    @property
    def messages(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]: ...

    @property
    def load(self) -> numpy.typing.NDArray[numpy.float64]: ...

    @property
    def self_bytes(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def self_messages(self) -> numpy.typing.NDArray[numpy.int64]: ...

    def symmetric(self) -> CommGraph:
        """Both directions of every pair, each with the sum of the two."""

def stencil(grid: Sequence[int], points: int, periodic: bool | Sequence[bool] = True, bytes: int = 1) -> CommGraph:
    """
    Halo exchange on a row-major grid of ranks: 2d+1 points for a star, 3^d for a box.
    """

def ring(rank_count: int, bytes: int = 1) -> CommGraph:
    """Every rank sends to the next one, the last to the first."""

def random_geometric(rank_count: int, bytes: int = 1, seed: int = 1, degree: float = 6.0) -> CommGraph:
    """Random points of the unit square that talk to those near them."""

def triangular_grid(rows: int, order: str) -> list[tuple[int, int]]:
    """Row and column of every rank; order: dm, cm, bdm or bcm."""

def triangular_messages(rows: int, order: str, group: str, bytes: int = 1) -> CommGraph:
    """
    What the column, row or orthogonalization groups send down binomial trees from the diagonal.
    """

def hybrid_rows(rows: int, threads: int) -> int:
    """
    Rows of a triangular grid whose ranks have this number of threads: the nearest odd number.
    """

def molecular_cells(width: float = 16.0) -> list[int]:
    """
    Cells of the ApoA1 benchmark's box that are at least this number of angstroms wide.
    """

def molecular_dynamics(cells: Sequence[int], atoms: int = 92224, seed: int = 1) -> CommGraph:
    """
    Patches, the cells in order, and then a compute for every pair that interacts.
    """

def read_metis(data: bytes) -> CommGraph: ...

def read_matrix_market(data: bytes) -> CommGraph: ...

def read_dense_matrix(data: bytes) -> CommGraph: ...

def read_monitoring(data: bytes) -> CommGraph: ...

class Machine:
    """
    A network and what is inside its nodes, from a short text such as torus:8x8x8.
    """

    def __init__(self, text: str, remarks: Sequence[str] = []) -> None: ...

    @property
    def text(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def node_count(self) -> int: ...

    @property
    def slots_per_node(self) -> int: ...

    @property
    def nodes_per_host(self) -> int:
        """Nodes of a host, consecutive: the GPUs of one on rails, else 1."""

    @property
    def slot_count(self) -> int: ...

    @property
    def levels(self) -> list[int]:
        """How many parts each level inside a node has, from the slots up."""

    @property
    def has_failures(self) -> bool:
        """Whether something is down."""

    @property
    def link_count(self) -> int: ...

    @property
    def nodes_up(self) -> numpy.typing.NDArray[numpy.uint32]:
        """The nodes that are not down, ascending."""

    @overload
    def connected(self, node_a: int, node_b: int) -> bool:
        """
        Whether both nodes are up, and failures leave a route from the first to the second.
        """

    @overload
    def connected(self, node_a: numpy.typing.NDArray[numpy.integer] | Sequence[int], node_b: numpy.typing.NDArray[numpy.integer] | Sequence[int]) -> numpy.typing.NDArray[numpy.bool_]:
        """The same for arrays of as many nodes, pair by pair."""

    @overload
    def distance(self, slot_a: int, slot_b: int) -> int:
        """What hop-bytes multiply with."""

    @overload
    def distance(self, slot_a: numpy.typing.NDArray[numpy.integer] | Sequence[int], slot_b: numpy.typing.NDArray[numpy.integer] | Sequence[int]) -> numpy.typing.NDArray[numpy.uint32]:
        """The same for arrays of as many slots, pair by pair."""

    @overload
    def hops(self, node_a: int, node_b: int) -> int:
        """Links on the route."""

    @overload
    def hops(self, node_a: numpy.typing.NDArray[numpy.integer] | Sequence[int], node_b: numpy.typing.NDArray[numpy.integer] | Sequence[int]) -> numpy.typing.NDArray[numpy.uint32]:
        """The same for arrays of as many nodes, pair by pair."""

    def coordinates(self, node: int) -> list[int]: ...

    def node_at(self, coordinates: Sequence[int]) -> int: ...

    @property
    def shape(self) -> list[int]:
        """
        Extents of a torus or mesh, the last axis the fastest; empty for other networks.
        """

    @property
    def wraps(self) -> list[bool]: ...

    def route(self, node_a: int, node_b: int) -> list[tuple[int, float]]:
        """(link, share) in the order of the route."""

    def link_name(self, link: int) -> str: ...

    def link_ends(self, link: int) -> tuple[int, int]:
        """(from, to); on a torus vertex v is that of the v-th coordinates."""

    def bandwidth(self, link: int) -> float:
        """Bytes per second."""

    def latency(self, link: int) -> float:
        """Seconds."""

    @property
    def port_bandwidth(self) -> float:
        """
        Bytes per second that a node sends, and receives; inf if it has no such limit.
        """

    @property
    def memory_bandwidth(self) -> float:
        """
        Bytes per second that a node's messages read from its memory, and write there; inf if not limited.
        """

    @property
    def startup(self) -> float:
        """Seconds that each message over the network takes its sender."""

    @property
    def node_latency(self) -> float:
        """
        Seconds that a message over the network takes beside its startup and its links.
        """

    @property
    def memory_startup(self) -> float:
        """Seconds that each message inside a node takes its sender."""

    @property
    def has_bandwidths(self) -> bool:
        """
        Whether bandwidths are known, so that loads have times; else they count in bytes.
        """

    @property
    def distances_are_hops(self) -> bool:
        """Whether no link is weighed, and nothing inside nodes."""

    @property
    def host_hops(self) -> int:
        """
        Links between a node and its router; 0 where these are one, or a tree's lowest level joins them.
        """

    @property
    def remarks(self) -> list[str]:
        """
        What was assumed of the machine, and what is odd about it: one line each.
        """

    def summary(self) -> dict[str, object]: ...

    def __repr__(self) -> str: ...

class Allocation:
    """The slots that a job was given, in the launcher's order."""

    def __init__(self, machine: Machine, nodes: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], slots: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int] | None = None) -> None:
        """Without slots: all slots of the nodes."""

    @staticmethod
    def whole(machine: Machine) -> Allocation: ...

    @property
    def machine(self) -> Machine: ...

    @property
    def nodes(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]: ...

    @property
    def slots(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]: ...

    @property
    def slot_count(self) -> int: ...

    @property
    def average_distance(self) -> float:
        """Over ordered pairs of different nodes."""

    def components(self) -> list[int]:
        """
        For every node the number of the connected piece of the network that it belongs to.
        """

def fragmented_allocation(machine: Machine, node_count: int, fragments: int, seed: int = 1) -> Allocation:
    """A ragged allocation as schedulers leave them: boxes, planes and lines."""

def compact_nodes(free: Allocation, count: int, seed: int = 1) -> Allocation:
    """This number of free nodes, as close together as was found."""

class Placement:
    """rank -> slot; every placement that exists is valid."""

    def __init__(self, allocation: Allocation, slots: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], shared: bool = False) -> None: ...

    @property
    def shared(self) -> bool:
        """Whether several ranks may sit on one slot."""

    @property
    def slots(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """uint32 array, the slot of every rank."""

class TextSection:
    """A section of machine text: name:body,item,option=value,..."""

    @property
    def text(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def body(self) -> str: ...

    @property
    def sizes(self) -> list[int]:
        """The numbers of the body of anything but a graph."""

    @property
    def items(self) -> list[str]:
        """What stands behind the body without an equals sign."""

    @property
    def options(self) -> list[tuple[str, str]]:
        """(key, value), as they are given."""

class MachineText:
    """A machine's short text in its parts, unread."""

    def __init__(self, text: str) -> None: ...

    @property
    def network(self) -> str:
        """The text without failures and nodes."""

    @property
    def topology(self) -> TextSection:
        """The same as a section."""

    @property
    def down(self) -> list[str]:
        """What is down: 17, v40, 0-1, 5>6."""

    @property
    def node(self) -> TextSection | None:
        """What is said of nodes, or None."""

def topologies() -> list[dict[str, object]]:
    """
    The kinds of topologies in machine text, with their options, and what may follow them.
    """

class Judgement:
    """
    Everything worth knowing about a placement; see docs/concepts.md for the words.
    """

    @property
    def hop_bytes(self) -> int: ...

    @property
    def hops_per_byte(self) -> float: ...

    @property
    def dilation_average(self) -> float: ...

    @property
    def dilation_max(self) -> int: ...

    @property
    def traffic_average(self) -> float: ...

    @property
    def congestion_max(self) -> float: ...

    @property
    def inter_node_bytes(self) -> int: ...

    @property
    def inter_node_max(self) -> int:
        """The most bytes in or out of one node: the larger of both directions."""

    @property
    def load_max(self) -> float:
        """The largest sum of the ranks' loads on one slot."""

    @property
    def minimal_share(self) -> float | None:
        """
        The part of the traffic on minimal routes, the rest on detours; None unless routing adapts.
        """

    @property
    def loads(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """Bytes on every link, by link id."""

    @property
    def node_bytes_out(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]: ...

    @property
    def node_bytes_in(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]: ...

    @property
    def node_messages_out(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]: ...

    @property
    def node_messages_in(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]: ...

    @property
    def hottest(self) -> list[tuple[str, float, float, list[tuple[int, int, float]]]]:
        """(link name, bytes, bytes / bandwidth, [(source, target, bytes)])."""

class AllocationShape:
    """What an allocation looks like on its machine."""

    @property
    def components(self) -> int:
        """Connected pieces of the network that its nodes are attached to."""

    @property
    def links_inside(self) -> int: ...

    @property
    def links_leaving(self) -> int:
        """Its surface: directed links to what is not its own."""

    @property
    def links_used(self) -> int:
        """By routes between its nodes."""

    @property
    def links_foreign(self) -> int:
        """Of the links used, those with an end that is not its own alone."""

    @property
    def foreign_links(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """The ids of these links, ascending."""

    @property
    def foreign_share(self) -> float:
        """Of all hops between its nodes, those over foreign links."""

    @property
    def loads(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """
        Messages on every link, by link id, when every node sends one to every other.
        """

def allocation_shape(allocation: Allocation, threads: int = 0) -> AllocationShape:
    """Follows the routes between all pairs of nodes: O(nodes^2 * route)."""

def judge(graph: CommGraph, allocation: Allocation, placement: Placement, hottest: int = 10, threads: int = 0) -> Judgement:
    """Measures a placement in one pass over the messages."""

class MessageCosts:
    """What a message costs beside its line, in seconds and seconds per byte."""

    def __init__(self) -> None: ...

    @property
    def latency(self) -> float:
        """L: how much later than its turn a message alone arrives."""

    @latency.setter
    def latency(self, arg: float, /) -> None: ...

    @property
    def send_cpu(self) -> float: ...

    @send_cpu.setter
    def send_cpu(self, arg: float, /) -> None: ...

    @property
    def send_cpu_per_byte(self) -> float: ...

    @send_cpu_per_byte.setter
    def send_cpu_per_byte(self, arg: float, /) -> None: ...

    @property
    def receive_cpu(self) -> float: ...

    @receive_cpu.setter
    def receive_cpu(self, arg: float, /) -> None: ...

    @property
    def receive_cpu_per_byte(self) -> float: ...

    @receive_cpu_per_byte.setter
    def receive_cpu_per_byte(self, arg: float, /) -> None: ...

    @property
    def combine(self) -> float:
        """Of each message that is put together with others."""

    @combine.setter
    def combine(self, arg: float, /) -> None: ...

    @property
    def gamma(self) -> float:
        """A byte, to copy when messages are combined."""

    @gamma.setter
    def gamma(self, arg: float, /) -> None: ...

    @property
    def delta(self) -> float:
        """A byte, to stage in the network card's memory."""

    @delta.setter
    def delta(self, arg: float, /) -> None: ...

    @property
    def beta_em(self) -> float:
        """A byte sent from there; 0: never sent from there."""

    @beta_em.setter
    def beta_em(self, arg: float, /) -> None: ...

    @property
    def node_beta(self) -> float:
        """
        Per byte of all processes of a node together; 0: they do not slow each other.
        """

    @node_beta.setter
    def node_beta(self, arg: float, /) -> None: ...

class NetworkModel:
    """What messages cost by their size alone, in seconds."""

    @staticmethod
    def regimes(lines: Sequence[tuple[float, float, int | None]], costs: MessageCosts = ...) -> NetworkModel:
        """
        Lines (alpha, beta, most bytes), ascending, the last with None: the size's regime counts.
        """

    @staticmethod
    def largest(lines: Sequence[tuple[float, float, int | None]], costs: MessageCosts = ...) -> NetworkModel:
        """Lines (alpha, beta, None): the largest of all counts."""

    @staticmethod
    def loggp(L: float, o: float, g: float, G: float, costs: MessageCosts = ...) -> NetworkModel:
        """
        From LogGP's parameters in seconds; they set latency, send_cpu and receive_cpu.
        """

    def time(self, bytes: int, processes: int = 1) -> float:
        """
        From one message to the next where each of this number of processes of a node sends several.
        """

    def arrival(self, bytes: int) -> float:
        """Until a message alone has arrived."""

    def nic_time(self, bytes: int) -> float:
        """As `time` of one process, from the network card's memory."""

    def cpu(self, bytes: int) -> float:
        """CPU of both ends."""

    def send_cpu(self, bytes: int) -> float: ...

    def receive_cpu(self, bytes: int) -> float: ...

    def copy(self, bytes: int, messages: float = 0.0) -> float:
        """To copy these bytes out of these messages into one, or back."""

    def stage(self, bytes: int) -> float:
        """To bring bytes into the network card's memory."""

    @property
    def lines(self) -> list[tuple[float, float, int | None]]:
        """As `regimes` and `largest` take them."""

    @property
    def takes_largest(self) -> bool: ...

    @property
    def sends_from_nic(self) -> bool: ...

    @property
    def costs(self) -> MessageCosts: ...

class GridLinks:
    """Hockney's model between and inside nodes, in seconds."""

    def __init__(self, *, latency_s: float = 0.0, outer_s_per_byte: float = 0.0, inner_s_per_byte: float = 0.0, reduce_s_per_byte: float = 0.0, channels: int = 1) -> None:
        """
        channels is the number of messages that a node carries at once as fast as one.
        """

class NodeMap:
    """What the lines of a process grid cost the nodes that it is on."""

    def __init__(self, extents: Sequence[int], node_of_cell: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int]) -> None:
        """Nodes 0, 1, ... of the cells, row-major, numbered without gaps."""

    @property
    def extents(self) -> list[int]: ...

    @property
    def leaving(self) -> list[list[int]]:
        """
        By axis and node: its cells whose successor along the axis is on another node.
        """

    @property
    def inner_rounds(self) -> list[int]:
        """
        By axis: rounds of a binomial tree over steps of 1, 2, 4, ... cells, up to the first that leaves a
        node.
        """

    @property
    def external_links(self) -> int:
        """The most messages that leave a node at once, summed over the axes."""

    def pipelined_time(self, links: GridLinks, bytes: float, segment: float) -> float:
        """
        Seconds of a broadcast or reduction down the chains of every axis, in segments.
        """

    def best_segment(self, links: GridLinks, bytes: float) -> float:
        """Bytes for which that is least."""

    def binomial_time(self, collective: str, links: GridLinks, bytes: float) -> float:
        """
        Seconds that a broadcast, reduce, scatter or gather along binomial trees of every axis takes at
        most: a node sends as many messages as it has external links in every round but the inner ones.
        """

def node_tiles(extents: Sequence[int], cores: int, weights: Sequence[float] = []) -> list[list[int]]:
    """
    All tiles of this number of cells that divide a grid, those of the least surface first.
    """

def tile_surface(tile: Sequence[int], weights: Sequence[float] = []) -> float:
    """
    External links of a tile inside a larger grid, each times the weight of its axis.
    """

def nearest_extents(extents: Sequence[int], cells: int) -> list[int]:
    """
    Extents of a grid of this number of cells that are the nearest to those given.
    """

class ScheduleCost:
    """What a schedule costs."""

    @property
    def time(self) -> float:
        """Seconds, summed over the rounds."""

    @property
    def cpu(self) -> float:
        """Seconds that the busiest rank of every round sends and copies."""

    @property
    def congestion(self) -> float:
        """
        Seconds that the busiest link of every round needs; 0 without a machine.
        """

    @property
    def rounds(self) -> int: ...

    @property
    def messages(self) -> int:
        """Of a rank that sends the most in every round."""

    @property
    def bytes(self) -> int:
        """Of the same rank."""

class Schedule:
    """A collective as rounds of messages, described and never stored."""

    def __init__(self, name: str, operation: str, ranks: int, bytes: int, root: int = 0, degree: int | None = None, in_all: bool = False) -> None:
        """
        name is one of schedules(), with options as in chain(segment=4096). bytes are those of the whole
        vector (broadcast, reduce, all-reduce), of a rank (scatter, gather, all-gather, reduce-scatter) or
        of a pair (all-to-all). A many-to-many has a degree: to how many of the next ranks each sends. in_all:
        bytes of all ranks together (all-gather, reduce-scatter), whose blocks may differ by one.
        """

    @staticmethod
    def many_to_many(name: str, demand: CommGraph, multicast: bool = False) -> Schedule:
        """Who wants how many bytes of whom, as a communication graph."""

    @property
    def operation(self) -> str: ...

    @property
    def ranks(self) -> int: ...

    @property
    def rounds(self) -> int: ...

    def messages(self, round: int) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
        """Senders, receivers and bytes of the messages of a round."""

    def blocks(self, round: int, source: int, target: int) -> list[int]:
        """Blocks of data that a message carries."""

    def check(self) -> None:
        """
        Plays the schedule; raises Error unless every rank ends with exactly what is promised.
        """

    def graph(self, threads: int = 0) -> CommGraph:
        """All messages as one communication graph."""

    def phase(self, round: int) -> CommGraph:
        """The messages of one round as a communication graph."""

    def cost(self, model: NetworkModel) -> ScheduleCost:
        """What its messages cost alone."""

    def cost_on(self, allocation: Allocation, placement: Placement, model: NetworkModel | None = None, threads: int = 0) -> ScheduleCost:
        """
        What it costs on the links under a placement; without a model, with the machine's own startup time
        and port bandwidth.
        """

def recursive_doubling(rank_count: int, bytes: int = 1, unit: bool = False) -> CommGraph:
    """All-gather; unit: every message has `bytes`."""

def bruck(rank_count: int, bytes: int = 1, unit: bool = False) -> CommGraph:
    """All-gather; unit: every message has `bytes`."""

def binomial_tree(rank_count: int, bytes: int = 1, root: int = 0) -> CommGraph:
    """Broadcast from root along MPICH's binomial tree."""

def all_to_all(rank_count: int, bytes: int = 1) -> CommGraph:
    """Every rank sends to every other one."""

def schedules() -> list[dict[str, object]]:
    """All schedules with their operations and options."""

class Objective:
    """What a search minimizes, such as `Objective.congestion`."""

    def __init__(self, name: str) -> None:
        """
        From its name: auto, hop-bytes, congestion, congestion-soft, time, or a mix such as
        weighted(hop-bytes=1;congestion=2).
        """

    @staticmethod
    def weighted(*, hop_bytes: float = 0.0, congestion: float = 0.0, congestion_soft: float = 0.0, time: float = 0.0) -> Objective:
        """A mix of several, each as a share of what block placement has."""

    @property
    def name(self) -> str: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[object, ...]: ...

    auto: Final[Objective] = ...
    """The one that suits the problem: what choose_objective() gives."""

    hop_bytes: Final[Objective] = ...
    """Bytes times distance."""

    congestion: Final[Objective] = ...
    """Seconds that the busiest link needs."""

    congestion_soft: Final[Objective] = ...
    """The same with a smooth maximum over all links."""

    time: Final[Objective] = ...
    """Predicted seconds, startups and latencies included."""

class Sharing:
    """What a slot may hold where ranks share slots."""

    def __init__(self, imbalance: float | None = None, capacities: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float] | None = None) -> None:
        """
        Where ranks outnumber slots, a slot holds up to (1 + imbalance) times its share of the load;
        or capacities give the load that each slot of the allocation may hold.
        """

    @property
    def imbalance(self) -> float | None: ...

    @property
    def capacities(self) -> list[float]:
        """Empty: equal shares."""

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[object, ...]: ...

class Bounds:
    """What no placement can be better than, and what proves it."""

    @property
    def hop_bytes(self) -> int: ...

    @property
    def hop_bytes_by(self) -> str:
        """sparse, gilmore-lawler, projection or dual-ascent."""

    @property
    def congestion(self) -> float:
        """
        Largest load of a link divided by its bandwidth, as `Judgement.congestion_max`.
        """

    @property
    def congestion_by(self) -> str:
        """message, injection, cut, average, prices or nothing."""

    @property
    def congestion_where(self) -> str:
        """The part of the allocation that the proof speaks of."""

def find_bounds(graph: CommGraph, allocation: Allocation, *, sharing: Sharing | None = None, seconds: float | None = None, work: int | None = None, threads: int = 0, progress: Callable[[int], bool] | None = None) -> Bounds:
    """
    Proves how few hop-bytes, and how little congestion, any placement has at least.

    Ranks may share slots as for place(). A budget ends the search for better proofs.
    """

def best_bus_affinities(allocation: Allocation, graph: CommGraph) -> tuple[list[int], list[list[int]]]:
    """
    All of the 8! assignments of threads to the elements of a ring bus that score best, and their score:
    load of the busiest link, imbalance of the directions, excess over two messages on a link, and
    messages that go half-way around; in halves of messages.
    """

class Bipartitions:
    """NodeHalves of the threads of a blade, by the bytes between them."""

    @property
    def best(self) -> int:
        """Bit t is set for threads of processor 0, the side that sends more."""

    @property
    def best_bytes(self) -> int: ...

    @property
    def worst(self) -> int: ...

    @property
    def worst_bytes(self) -> int: ...

    @property
    def optima(self) -> int:
        """NodeHalves that are as good as the best."""

    @property
    def pessima(self) -> int: ...

def rank_bipartitions(graph: CommGraph) -> Bipartitions:
    """Looks at all halves of an even number of up to 24 threads."""

class PlaceResult:
    """What place() found."""

    @property
    def placement(self) -> Placement:
        """The best placement found."""

    @property
    def work(self) -> int:
        """Candidates evaluated."""

    @property
    def proven(self) -> float | None:
        """
        No placement has a lower value of the objective; None where the search proved nothing.
        """

    @property
    def optimal(self) -> bool:
        """Whether the placement is proven to be optimal."""

    def __repr__(self) -> str: ...

def place(graph: CommGraph, allocation: Allocation, mapper: str = 'auto', *, objective: Objective | str = ..., phases: Sequence[CommGraph] = [], background: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float] | None = None, sharing: Sharing | None = None, previous: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int] | None = None, migration_cost: int = 0, seed: int = 1, seconds: float | None = None, work: int | None = None, threads: int = 0, progress: Callable[[int], bool] | None = None) -> PlaceResult:
    """
    Place the ranks of a graph on the slots of an allocation.

    Parameters
    ----------
    graph : CommGraph
        Who sends how many bytes to whom, such as from `topoloom.load_graph`.
    allocation : Allocation
        The slots that the ranks may get, such as `Allocation.whole(machine)`.
    mapper : str, default 'auto'
        A chain such as 'gge,swap'; `topoloom.mappers()` lists them.
    objective : Objective or str, default Objective.auto
        What to minimize; `Objective.auto` is the one that `choose_objective` gives.
    phases : sequence of CommGraph, default ()
        Graphs whose messages never meet on links, and whose sum is the graph; none: it is one phase.
    background : array of float, bytes, default None
        What other jobs send over every link, by link id.
    sharing : Sharing, default None
        What a slot may hold; None: each rank gets a slot of its own.
    previous : array of int, slot ids, default None
        The earlier slot of every rank, -1 for a rank that had none.
    migration_cost : int, bytes, default 0
        What a rank that leaves its previous slot moves with it.
    seed : int, default 1
        The same seed gives the same placement.
    seconds : float, seconds, default None
        Stop after this time; None: when the mapper has ended.
    work : int, candidates, default None
        Stop after evaluating this number of them; unlike seconds, repeatable.
    threads : int, default 0
        Threads to search with; 0: one for each core.
    progress : callable, default None
        Called now and then with the candidates evaluated; where it returns False, the best placement
        so far is returned.

    Returns
    -------
    PlaceResult
        The placement, the candidates evaluated, and what was proven.
    """

def objective_value(graph: CommGraph, allocation: Allocation, placement: Placement, *, objective: Objective | str, phases: Sequence[CommGraph] = [], background: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float] | None = None) -> float:
    """
    What place() minimizes: hop-bytes, seconds, or a mix in parts of what block placement has.
    Ranks may share slots.
    """

def predicted_time(graph: CommGraph, allocation: Allocation, placement: Placement, *, phases: Sequence[CommGraph] = [], background: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float] | None = None) -> float:
    """
    Seconds that the messages take: startups, latencies, and the busiest link, network card or
    memory; 0 where the machine gives no bandwidths. Ranks may share slots.
    """

def choose_objective(graph: CommGraph, allocation: Allocation, *, phases: Sequence[CommGraph] = [], background: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float] | None = None, sharing: Sharing | None = None) -> tuple[Objective, str]:
    """What Objective.auto stands for here, and why."""

class ChosenNodes:
    """Nodes for a pattern, and where its ranks go on them."""

    @property
    def allocation(self) -> Allocation:
        """The chosen nodes, in the order of the free ones."""

    @property
    def placement(self) -> Placement: ...

    @property
    def hop_bytes(self) -> int:
        """Of the placement."""

    @property
    def first_hop_bytes(self) -> int:
        """What the same mapper reached on the first free nodes."""

    @property
    def random_hop_bytes(self) -> int | None:
        """The same on random ones; None if the budget ended before."""

    @property
    def work(self) -> int:
        """Candidates evaluated."""

def choose_nodes(graph: CommGraph, free: Allocation, count: int, mapper: str = 'auto', *, seed: int = 1, seconds: float | None = None, work: int | None = None, threads: int = 0, progress: Callable[[int], bool] | None = None) -> ChosenNodes:
    """
    Chooses the free nodes on which the pattern has the fewest hop-bytes, and places its ranks.
    """

def mappers() -> list[dict[str, object]]:
    """All mappers with their options."""

class AxisOrder:
    """A mesh of ranks laid along a line of slots."""

    @property
    def pieces(self) -> list[tuple[int, int]]:
        """
        (axis, size) along the line, the fastest first; those of an axis from its lowest digit up.
        """

    @property
    def back_and_forth(self) -> list[bool]:
        """By axis: whether every other row of a piece runs backwards."""

    @property
    def slots(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """
        The slot of every rank; ranks are numbered with the first axis the fastest.
        """

    @property
    def seconds(self) -> list[float]:
        """By traffic."""

    @property
    def total(self) -> float:
        """Seconds of all traffic."""

def order_axes(allocation: Allocation, extents: Sequence[int], traffic: Sequence[tuple[Sequence[int], str, int]], progress: Callable[[int], bool] | None = None) -> tuple[AxisOrder, AxisOrder, AxisOrder]:
    """
    The axes as given, in their best order, and split as well. Traffic: (axes, collective, bytes per rank). `progress` is called now and then with the work done; False ends the search.
    """

def mesh_phases(extents: Sequence[int], traffic: tuple[Sequence[int], str, int]) -> list[CommGraph]:
    """The phases of one traffic of a mesh, whose first axis is the fastest."""

class Step:
    """Messages between ranks that are sent at once."""

    def __init__(self, messages: Sequence[tuple[int, int]]) -> None:
        """(from, to) of each."""

    @staticmethod
    def shift(ranks: int, by: int) -> Step:
        """Rank r sends to r + by, wrapping at the end."""

    @staticmethod
    def prefix(ranks: int, by: int) -> Step:
        """Rank r sends to r xor by, if there is such a rank."""

    @staticmethod
    def blocks(ranks: int, block_to: Sequence[int]) -> Step:
        """Equal blocks of ranks send to each other, keeping their order."""

    @staticmethod
    def of_schedule(schedule: str, ranks: int, operation: str = 'all-gather') -> list[Step]:
        """The different rounds of a schedule such as k-shift(k=8), in order."""

    @property
    def messages(self) -> list[tuple[int, int]]: ...

    @property
    def rounds(self) -> int:
        """In how many of them it is taken."""

class Meetings:
    """Where messages that are sent at once meet."""

    @property
    def places(self) -> int:
        """Links, or subtrees above which such links may be."""

    @property
    def most(self) -> float:
        """Messages on one link, at worst."""

def meetings_any_ascent(machine: Machine, step: Step, node_of_rank: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int]) -> Meetings:
    """Where messages may meet on a fat tree, whichever routes they take up."""

def meetings_on_routes(machine: Machine, step: Step, node_of_rank: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int]) -> Meetings:
    """Where messages meet on the routes of the machine."""

def find_free_order(machine: Machine, nodes: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], steps: Sequence[Step], on_routes: bool = False, work: int = 10000000, seed: int = 1) -> tuple[list[int], int, bool]:
    """
    (nodes by rank, rounds in which messages meet, whether no order has fewer): on the routes of any machine, or on a fat tree whichever routes they take up.
    """

def with_gaps(machine: Machine, nodes: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int]) -> list[int | None]:
    """Nodes at positions between which exchanges p xor j meet nowhere."""

class SpanningTree:
    """Links that lead from a root to members of a group."""

    @property
    def root(self) -> int: ...

    @property
    def links(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """Each behind the one that leads to its beginning."""

def tree_kinds(machine: Machine) -> list[str]:
    """The kinds of spanning_trees that a machine has."""

def spanning_trees(machine: Machine, kind: str, multicasts: Sequence[tuple[int, Sequence[int]]]) -> list[SpanningTree]:
    """
    Trees for (root, members): 'least-loaded' or 'last' parents of a fat tree, 'routes' of any machine, or all 'disjoint' ones of a torus.
    """

def tree_loads(machine: Machine, trees: Sequence[SpanningTree]) -> tuple[list[int], list[int]]:
    """
    Trees of this machine through every link, and every switch, router or node.
    """

def solve_qap(a: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[Sequence[int]], b: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[Sequence[int]], *, seed: int = 1, seconds: float | None = None, work: int | None = None, threads: int = 0, target: int | None = None) -> tuple[list[int], int, int]:
    """
    Minimizes the sum of a[i, j] * b[p[i], p[j]]; returns (p, value, work done).

    Ends at the target value, or with the budget: about a second where none is given.
    """

class Wiring:
    """
    The links of a machine that are up, as arrays; vertices are routers, switches or nodes.
    """

    def __init__(self, machine: Machine) -> None: ...

    @property
    def vertex_count(self) -> int: ...

    @property
    def vertex(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """The vertex that each node is attached to."""

    @property
    def link_from(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """The vertex that each link leaves."""

    @property
    def link_to(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]: ...

    @property
    def bandwidth(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """Of each link, bytes per second."""

class Bisection:
    """
    What the links between two halves of a machine carry where they are joined worst.
    """

    @property
    def at_least(self) -> float:
        """No halving has less; bytes per second, both directions together."""

    @property
    def at_most(self) -> float:
        """Of the halving that was found."""

    @property
    def link_count(self) -> int:
        """Directed links between the halves found."""

    @property
    def exact(self) -> bool:
        """Whether the two are the same."""

def bisect_machine(machine: Machine, seed: int = 1) -> Bisection:
    """
    Finds a halving of the nodes whose links between the halves carry little, and a bound on all.
    """

class CombiningCosts:
    """Seconds per message and per byte."""

    def __init__(self, *, alpha: float = 0.0, beta: float = 0.0, gamma: float = 0.0, beta_em: float = 0.0, delta: float = 0.0) -> None:
        """
        Of a message; of a byte sent, copied, sent from memory of the NIC, and copied there.
        """

def all_to_all_time(strategy: str, ranks: int, bytes: float, costs: CombiningCosts, *, printed: bool = False) -> float:
    """
    Seconds of an all-to-all of this number of bytes per pair. Strategies: direct, mesh, grid, hypercube.
    """

def all_gather_time(strategy: str, ranks: int, bytes: float, costs: CombiningCosts, *, printed: bool = False) -> float:
    """The same of an all-gather of this number of bytes per rank."""

def nic_all_gather_time(strategy: str, ranks: int, bytes: float, costs: CombiningCosts, *, direct: int = 0) -> float:
    """
    The same, sent from memory of the NIC; the last `direct` dimensions of a hypercube are one round.
    """

def many_to_many_time(strategy: str, ranks: int, degree: float, bytes: float, costs: CombiningCosts, *, printed: bool = False) -> float:
    """
    Seconds of a many-to-many of this number of bytes to each of `degree` ranks.
    """

def virtual_mesh_receivers(ranks: int, axes: int, rank: int) -> list[list[int]]:
    """
    By round: to whom a rank of a virtual mesh of 2 or 3 axes sends, holes stood in for.
    """

class CostGroups:
    """Processes that are nearer to each other than to others."""

    @property
    def of(self) -> list[int]:
        """The group of every process, numbered by their lowest ones."""

    @property
    def count(self) -> int: ...

    @property
    def t(self) -> list[float]:
        """
        Of every group: Student's t of what comes in against what stays inside.
        """

def find_cost_groups(costs: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[Sequence[float]]) -> CostGroups:
    """
    Groups of processes by the seconds of messages from each, by row, to each.
    """

def binomial_order(costs: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[Sequence[float]], method: str, *, root: int = 0, channels: int = 1, seed: int = 1) -> list[int]:
    """
    The process on every position of a binomial tree. Methods: standard, fastest-edge-first, channel-aware, random.
    """

def binomial_scatter_steps(costs: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[Sequence[float]], order: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], *, channels: int = 1) -> list[float]:
    """
    Seconds of every step of a binomial scatter of one block to each, where costs are of a block.
    """

def grid_line_messages(extents: Sequence[int], operation: str, bytes: int, *, root: int = 0, pieces: int = 0) -> list[list[tuple[int, int, int]]]:
    """
    By round: (from, to, bytes) of a broadcast, reduce, scatter or gather along all lines of an axis at once, axis after axis, from or to the same position of every line: along binomial trees, or down chains in this number of pieces.
    """
