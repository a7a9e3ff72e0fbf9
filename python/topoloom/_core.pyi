"""
The compiled core of Topoloom. Import its names from `topoloom` and its subpackages.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Final, overload

import networkx
import numpy
import numpy.typing
from numpy.typing import NDArray
import scipy.sparse


class Error(ValueError):
    """Invalid input: what is wrong, where, and what to do."""

class CommGraph:
    """
    A communication graph: bytes and messages from rank to rank; directed, sparse.
    """

    @staticmethod
    def from_edges(rank_count: int, source: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], target: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], bytes: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], messages: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int] | None = None, load: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float] | None = None, proxied: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int] | None = None) -> CommGraph:
        """
        A graph from its edges: i goes from source[i] to target[i].

        Duplicates are summed; what ranks send to themselves is kept apart.

        Parameters
        ----------
        rank_count : int
            Ranks are 0 to rank_count - 1.
        source, target : array of int, shape (m,)
            Ranks.
        bytes : array of int, shape (m,)
            At least 0; 64 bits. Floats must be integers.
        messages : array of int, shape (m,), default 1 each
            At least 0.
        load : array of float, shape (ranks,), default 1 each
            Compute weights of ranks, finite and at least 0.
        proxied : array of int, default none
            Ranks whose data a slot needs once, however many of its ranks want it.

        Raises
        ------
        topoloom.Error
            For ranks out of range, arrays that do not fit together, and numbers that are negative, not
            integers, not finite or too large, by the first such number.
        """

    @staticmethod
    def from_csr(first: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], peer: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], bytes: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], messages: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int] | None = None, load: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float] | None = None, self_bytes: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int] | None = None, self_messages: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int] | None = None, proxied: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int] | None = None) -> CommGraph:
        """
        A graph from compressed rows, as in a SciPy csr_array.

        Duplicates are summed; what ranks send to themselves is kept apart.

        Parameters
        ----------
        first : array of int, shape (ranks + 1,)
            The edges of rank u are first[u] to first[u + 1] - 1.
        peer : array of int, shape (m,)
            The ranks that edges go to.
        bytes : array of int, shape (m,)
            At least 0; 64 bits. Floats must be integers.
        messages : array of int, shape (m,), default 1 each
            At least 0.
        load : array of float, shape (ranks,), default 1 each
            Compute weights of ranks, finite and at least 0.
        self_bytes, self_messages : array of int, shape (ranks,), default 0 each
            What ranks send to themselves.
        proxied : array of int, default none
            Ranks whose data a slot needs once, however many of its ranks want it.

        Raises
        ------
        topoloom.Error
            For ranks out of range, arrays that do not fit together, and numbers that are negative, not
            integers, not finite or too large, by the first such number.
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
    def first(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), writable=False)]:
        """
        uint64 array (ranks + 1,): the edges of rank u are first[u] to first[u + 1] - 1.
        """

    @property
    def peer(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """
        uint32 array (edges,): the ranks that edges go to, ascending in each row.
        """

    @property
    def bytes(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]:
        """int64 array (edges,)."""

    @property
    def messages(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]:
        """int64 array (edges,)."""

    @property
    def load(self) -> numpy.typing.NDArray[numpy.float64]:
        """Compute weight of each rank; 1 unless given."""

    @property
    def self_bytes(self) -> numpy.typing.NDArray[numpy.int64]:
        """Bytes that each rank sends to itself."""

    @property
    def self_messages(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def proxied(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """
        uint32 array: ranks whose data a slot needs once, however many of its ranks want it.
        """

    def symmetric(self) -> CommGraph:
        """
        The symmetrized graph: both directions of a pair have the sum of the two.
        """

    @staticmethod
    def from_scipy(matrix: scipy.sparse.sparray | scipy.sparse.spmatrix, messages: scipy.sparse.sparray | scipy.sparse.spmatrix | None = None) -> CommGraph:
        """
        A graph from a sparse matrix of bytes: [u, v] is what rank u sends to rank v.

        Every stored entry is an edge, zeros too; duplicates are summed. The diagonal is what ranks
        send to themselves. Needs SciPy.

        Parameters
        ----------
        matrix : scipy.sparse array or matrix, shape (n, n)
            Bytes: integers, of any type.
        messages : scipy.sparse array or matrix, shape (n, n), default None
            In how many messages; an edge without an entry has none. None: one for each stored entry.

        Raises
        ------
        topoloom.Error
            For a matrix that is not square, numbers that are negative, not integers or not finite, and
            without SciPy.
        """

    def to_scipy(self, values: str = 'bytes') -> scipy.sparse.csr_array:
        """
        The graph as a sparse matrix, what ranks send to themselves on its diagonal. Needs SciPy.

        Parameters
        ----------
        values : {'bytes', 'messages'}, default 'bytes'
            What is in it.

        Returns
        -------
        scipy.sparse.csr_array
            int64, shape (n, n); both matrices have the same entries, so that
            `CommGraph.from_scipy(g.to_scipy(), g.to_scipy('messages'))` is the graph g, but for loads.
        """

    @staticmethod
    def from_networkx(graph: networkx.Graph, weight: str | None = 'bytes') -> CommGraph:
        """
        A communication graph from one of NetworkX.

        Where the labels are 0 to n-1 these are the ranks; else ranks follow the graph's order, and
        rank i is `list(graph)[i]`. An edge of an undirected graph is one in both directions, each with
        its bytes. Parallel edges are summed.

        Parameters
        ----------
        graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
            Edges may have 'messages' (1 if not), vertices a 'load' (1 if not).
        weight : str or None, default 'bytes'
            The attribute of edges with their bytes, integers; None: 1 byte each.

        Raises
        ------
        topoloom.Error
            For edges without that attribute, and numbers that are negative, not integers or not finite.
        """

    def to_networkx(self) -> networkx.DiGraph:
        """
        The graph as a networkx.DiGraph of the ranks 0 to n-1. Needs NetworkX.

        Edges have 'bytes' and 'messages', vertices a 'load'; what ranks send to themselves are
        self-loops. `CommGraph.from_networkx` makes the same graph of it.
        """

    def __repr__(self) -> str: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __reduce__(self) -> tuple[object, ...]: ...

def stencil(grid: Sequence[int], points: int, periodic: bool | Sequence[bool] = True, bytes: int = 1) -> CommGraph:
    """
    Makes a halo exchange on a row-major grid of ranks: 2d+1 points for a star, 3^d for a box.
    """

def ring(rank_count: int, bytes: int = 1) -> CommGraph:
    """Makes a ring: each rank sends to the next, the last to the first."""

def random_geometric(rank_count: int, bytes: int = 1, seed: int = 1, degree: float = 6.0) -> CommGraph:
    """
    Makes a random geometric graph: points of the unit square exchange with near points.
    """

def triangular_grid(rows: int, order: str) -> list[tuple[int, int]]:
    """Lists row and column of each rank; order: dm, cm, bdm or bcm."""

def triangular_messages(rows: int, order: str, group: str, bytes: int = 1) -> CommGraph:
    """
    Makes the messages of groups along binomial trees from the diagonal. group: column, row, orthogonalization,
    column-reduction, row-reduction, gather or all-reduce.
    """

def triangular_levels(rows: int, order: str, group: str, bytes: int = 1) -> list[CommGraph]:
    """Makes the same messages as one graph per level of the trees."""

def hybrid_rows(rows: int, threads: int) -> int:
    """
    The rows of a triangular grid of ranks with this number of threads: the nearest odd number.
    """

def molecular_cells(width: float = 16.0) -> list[int]:
    """
    The cells of the ApoA1 benchmark that are at least this number of angstroms wide.
    """

def molecular_dynamics(cells: Sequence[int], atoms: int = 92224, seed: int = 1, proxies: bool = True) -> CommGraph:
    """
    Makes ranks for the cells in order (patches), then one per interacting pair (computes).
    """

def read_metis(data: bytes) -> CommGraph: ...

def read_matrix_market(data: bytes) -> CommGraph: ...

def read_dense_matrix(data: bytes) -> CommGraph: ...

def read_monitoring(data: bytes) -> CommGraph: ...

class Machine:
    """A network and its nodes, from a machine text such as torus:8x8x8."""

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
        """
        The number of consecutive nodes in a host: its GPUs on rails, otherwise 1.
        """

    @property
    def slot_count(self) -> int: ...

    @property
    def levels(self) -> list[int]:
        """Arities of the levels inside a node, bottom-up."""

    @property
    def has_failures(self) -> bool:
        """Whether nodes, routers or links are down."""

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
        """The same for arrays of equal length, pair by pair."""

    @overload
    def distance(self, slot_a: int, slot_b: int) -> int:
        """The distance in hop-bytes."""

    @overload
    def distance(self, slot_a: numpy.typing.NDArray[numpy.integer] | Sequence[int], slot_b: numpy.typing.NDArray[numpy.integer] | Sequence[int]) -> numpy.typing.NDArray[numpy.uint32]:
        """The same for arrays of equal length, pair by pair."""

    @overload
    def hops(self, node_a: int, node_b: int) -> int:
        """The number of links on the route."""

    @overload
    def hops(self, node_a: numpy.typing.NDArray[numpy.integer] | Sequence[int], node_b: numpy.typing.NDArray[numpy.integer] | Sequence[int]) -> numpy.typing.NDArray[numpy.uint32]:
        """The same for arrays of equal length, pair by pair."""

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

    @overload
    def link_ends(self, link: int) -> tuple[int, int]:
        """The vertices (from, to); routers of a grid are numbered row-major."""

    @overload
    def link_ends(self, link: numpy.typing.NDArray[numpy.integer] | Sequence[int] | None = None) -> numpy.typing.NDArray[numpy.uint32]:
        """
        The same for an array of links, by default all: uint32 array (links, 2).
        """

    @overload
    def bandwidth(self, link: int) -> float:
        """The bandwidth in bytes per second."""

    @overload
    def bandwidth(self, link: numpy.typing.NDArray[numpy.integer] | Sequence[int] | None = None) -> numpy.typing.NDArray[numpy.float64]:
        """The same for an array of links, by default all."""

    @overload
    def latency(self, link: int) -> float:
        """The latency in seconds."""

    @overload
    def latency(self, link: numpy.typing.NDArray[numpy.integer] | Sequence[int] | None = None) -> numpy.typing.NDArray[numpy.float64]:
        """The same for an array of links, by default all."""

    @property
    def port_bandwidth(self) -> float:
        """
        Bandwidth of a node's network port in each direction, bytes per second; inf: unlimited.
        """

    @property
    def memory_bandwidth(self) -> float:
        """
        Memory bandwidth of a node for reads and for writes, bytes per second; inf: unlimited.
        """

    @property
    def startup(self) -> float:
        """Sender overhead of an inter-node message, seconds."""

    @property
    def node_latency(self) -> float:
        """Latency of an inter-node message without startup and links, seconds."""

    @property
    def memory_startup(self) -> float:
        """Sender overhead of an intra-node message, seconds."""

    @property
    def assumed_speeds(self) -> list[str]:
        """
        The assumed ones of startup, node_latency, memory_bandwidth and memory_startup.
        """

    @property
    def has_bandwidths(self) -> bool:
        """
        Whether bandwidths are known, so that loads have times; otherwise loads are bytes.
        """

    @property
    def distances_are_hops(self) -> bool:
        """
        Whether all distances are hops: without weights, and without distances inside nodes.
        """

    @property
    def host_hops(self) -> int:
        """
        Links between a node and its router; 0 if a node is its router, or in trees.
        """

    @property
    def remarks(self) -> list[str]:
        """
        Assumptions about the machine and oddities in its description, one line each.
        """

    def summary(self) -> dict[str, object]: ...

    @property
    def links_up(self) -> numpy.typing.NDArray[numpy.uint32]:
        """The links that are up, ascending."""

    @property
    def vertex_count(self) -> int:
        """The number of vertices: routers, switches, and nodes with links."""

    def hop_matrix(self, nodes: numpy.typing.NDArray[numpy.integer] | Sequence[int] | None = None) -> numpy.typing.NDArray[numpy.uint32]:
        """
        Computes the hops between all of the nodes.

        Parameters
        ----------
        nodes : array of int, default all
            Numbers of nodes; with failures give `nodes_up`.

        Returns
        -------
        array
            uint32, shape (n, n): [i, j] is `hops(nodes[i], nodes[j])`.

        Raises
        ------
        topoloom.Error
            For nodes that do not exist, are down or do not reach each other, and where the matrix
            does not fit in memory.
        """

    def distance_matrix(self, slots: numpy.typing.NDArray[numpy.integer] | Sequence[int] | None = None) -> numpy.typing.NDArray[numpy.uint32]:
        """
        Computes the distances between all of the slots.

        Parameters
        ----------
        slots : array of int, default all
            Numbers of slots, such as those of an allocation.

        Returns
        -------
        array
            uint32, shape (n, n): [i, j] is `distance(slots[i], slots[j])`.

        Raises
        ------
        topoloom.Error
            For slots that do not exist, whose nodes are down or do not reach each other, and where the
            matrix does not fit in memory.
        """

    def route_matrix(self, node_a: numpy.typing.NDArray[numpy.integer] | Sequence[int], node_b: numpy.typing.NDArray[numpy.integer] | Sequence[int]) -> scipy.sparse.csr_array:
        """
        Computes the routes of pairs of nodes as a sparse matrix. Needs SciPy.

        With r = route_matrix(a, b), r.T @ bytes are the bytes on every link when each pair sends its
        bytes. Where routing adapts to the load, these are the routes in an idle network.

        Parameters
        ----------
        node_a, node_b : array of int
            Pair i is from node_a[i] to node_b[i].

        Returns
        -------
        scipy.sparse.csr_array
            float64, shape (pairs, link_count): the share of a message of pair i that link j carries.
            Rows of a node to itself are empty; the others add up to the hops, or to more where routes
            make detours.

        Raises
        ------
        topoloom.Error
            For nodes that do not exist, pairs without a route, arrays that are not equally long, and
            without SciPy.
        """

    @staticmethod
    def from_links(links: numpy.typing.NDArray[numpy.integer] | Sequence[Sequence[int]], bandwidth: numpy.typing.NDArray[numpy.floating] | Sequence[float] | float, latency: numpy.typing.NDArray[numpy.floating] | Sequence[float] | float = 0.0, nodes: int | None = None, routes: Sequence[Sequence[int]] | None = None, directed: bool = False) -> Machine:
        """
        Makes a machine from its links.

        Links have ids in the order of (from, to), not of the argument: see `link_ends()`. Nodes and
        failures can be added to the text: `Machine(machine.text + '+node:2:8')`.

        Parameters
        ----------
        links : array of int, shape (L, 2)
            The two vertices that each joins. Vertices 0 to nodes-1 are nodes, the others switches.
        bandwidth : float or array of float, shape (L,)
            Bytes per second and direction; 1 for all where only bytes count.
        latency : float or array of float, shape (L,), default 0
            Seconds.
        nodes : int, default None
            How many of the vertices are nodes; None: all of them.
        routes : sequence of sequences of int, default None
            Vertices from one node to another, for pairs that do not take a shortest path, at every
            vertex to the neighbor with the lowest number.
        directed : bool, default False
            Whether each leads only from its first vertex to its second, or both ways.

        Raises
        ------
        topoloom.Error
            For double links and loops, bandwidths that are not positive, negative latencies, nodes that
            do not reach each other, and routes that do not follow links.
        """

    @staticmethod
    def from_networkx(graph: networkx.Graph, nodes: Iterable[object] | None = None, bandwidth: str | None = 'bandwidth', latency: str | None = 'latency') -> Machine:
        """
        Makes a machine from a NetworkX graph of its links, which lead both ways unless it is a DiGraph.

        Parameters
        ----------
        graph : networkx.Graph or networkx.DiGraph
            Vertices of any labels.
        nodes : iterable of labels, default all
            The vertices that are nodes: node i is the i-th of them. The others are switches, in the
            graph's order.
        bandwidth : str or None, default 'bandwidth'
            The attribute of links with their bytes per second, per direction; None, or where no link
            has it: 1.
        latency : str or None, default 'latency'
            The attribute with their seconds; None, or where no link has it: 0.

        Raises
        ------
        topoloom.Error
            Where `from_links` does, for labels that the graph does not have, attributes that only some
            links have, and parallel links.
        """

    def __repr__(self) -> str: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __reduce__(self) -> tuple[object, ...]: ...

class Allocation:
    """The slots of a job, in launcher order."""

    def __init__(self, machine: Machine, nodes: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], slots: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int] | None = None) -> None:
        """
        Parameters
        ----------
        machine : Machine
        nodes : array of int
            Numbers of nodes, in the order in which the launcher fills them.
        slots : array of int, default all slots of the nodes
            Numbers of slots of the machine, those of the first node first.

        Raises
        ------
        topoloom.Error
            For nodes or slots that do not exist or come twice, that are down, or that failures cut off.
        """

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
        """The average distance over ordered pairs of different nodes."""

    def components(self) -> list[int]:
        """By node: the connected component of the network that it belongs to."""

    def __repr__(self) -> str: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __reduce__(self) -> tuple[object, ...]: ...

def fragmented_allocation(machine: Machine, node_count: int, fragments: int, seed: int = 1) -> Allocation:
    """
    Makes a fragmented allocation as schedulers do: boxes, planes and lines.
    """

def compact_nodes(free: Allocation, count: int, seed: int = 1) -> Allocation:
    """Chooses this number of free nodes that are close together."""

class Placement:
    """rank -> slot; a placement that exists is valid."""

    def __init__(self, allocation: Allocation, slots: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], shared: bool = False) -> None:
        """
        Parameters
        ----------
        allocation : Allocation
        slots : array of int, shape (ranks,)
            The slot of the machine that each rank gets.
        shared : bool, default False
            Whether several ranks may sit on one slot.

        Raises
        ------
        topoloom.Error
            For slots that are not part of the allocation, and, unless shared, those that come twice.
        """

    @property
    def machine_text(self) -> str:
        """The text of the machine that it was made for."""

    @property
    def shared(self) -> bool:
        """Whether several ranks may sit on one slot."""

    @property
    def slots(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """uint32 array (ranks,): the slot of each rank."""

    def __repr__(self) -> str: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __reduce__(self) -> tuple[object, ...]: ...

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
        """The numbers of the body; not for a graph."""

    @property
    def items(self) -> list[str]:
        """The items after the body without an equals sign."""

    @property
    def options(self) -> list[tuple[str, str]]:
        """(key, value) in the given order."""

class MachineText:
    """The parts of a machine text, unread."""

    def __init__(self, text: str) -> None: ...

    @property
    def network(self) -> str:
        """The text of the topology, without failures and nodes."""

    @property
    def topology(self) -> TextSection:
        """The topology as a section."""

    @property
    def down(self) -> list[str]:
        """The items that are down, such as 17, v40, 0-1, 5>6."""

    @property
    def node(self) -> TextSection | None:
        """The section of the nodes, or None."""

def topologies() -> list[dict[str, object]]:
    """
    Lists the kinds of topologies with their options, and the sections that may follow them.
    """

class Judgement:
    """The metrics of a placement; docs/concepts.md defines them."""

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
        """The most bytes into or out of one node: the larger of both directions."""

    @property
    def load_max(self) -> float:
        """The largest sum of the ranks' loads on one slot."""

    @property
    def minimal_share(self) -> float | None:
        """
        The share of traffic on minimal routes, the rest on detours; None unless routing is adaptive.
        """

    @property
    def loads(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """float64 array (links,): bytes on each link."""

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
        """
        The hottest links: (link name, bytes, bytes / bandwidth, [(source, target, bytes)]).
        """

class AllocationShape:
    """The shape of an allocation on its machine."""

    @property
    def components(self) -> int:
        """The number of connected components of its part of the network."""

    @property
    def links_inside(self) -> int: ...

    @property
    def links_leaving(self) -> int:
        """The surface: directed links to vertices that it does not own."""

    @property
    def links_used(self) -> int:
        """Links used by routes between its nodes."""

    @property
    def links_foreign(self) -> int:
        """Used links with an end that it does not own."""

    @property
    def foreign_links(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """uint32 array: the ids of foreign links, ascending."""

    @property
    def foreign_share(self) -> float:
        """The share of hops between its nodes over foreign links."""

    @property
    def loads(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """
        float64 array (links,): messages on each link if each node sends one to every other.
        """

def allocation_shape(allocation: Allocation, threads: int = 0) -> AllocationShape:
    """
    Computes the shape from the routes between all pairs of nodes: O(nodes^2 * route).
    """

def through_proxies(graph: CommGraph, placement: Placement) -> CommGraph:
    """
    Makes the graph that is sent if slots need the data of proxied ranks once. It has no proxied
    ranks, and the same judgement.
    """

def judge(graph: CommGraph, allocation: Allocation, placement: Placement, hottest: int = 10, threads: int = 0) -> Judgement:
    """Computes the metrics of a placement in one pass over the messages."""

class LoadSample:
    """Utilization during a batch of cycles."""

    @property
    def cycle(self) -> int:
        """The last cycle of the batch."""

    @property
    def accepted(self) -> float:
        """Flits per sending node and cycle."""

    @property
    def channel_use(self) -> float:
        """Flits per output of a switch and cycle."""

    @property
    def buffer_fill(self) -> float:
        """Share of buffer space in use in the last cycle."""

class LoadMeasure:
    """The result of simulating a load; latencies are in cycles."""

    @property
    def offered(self) -> float:
        """Flits per sending node and cycle."""

    @property
    def accepted(self) -> float:
        """Flits received per sending node and cycle."""

    @property
    def latency_mean(self) -> float: ...

    @property
    def half_width(self) -> float:
        """Half the width of the 95 % confidence interval of the mean."""

    @property
    def latency_p50(self) -> float: ...

    @property
    def latency_p99(self) -> float: ...

    @property
    def saturated(self) -> bool:
        """Whether sources fall ever further behind."""

    @property
    def warm_up(self) -> int:
        """Cycles before the measurement."""

    @property
    def measured(self) -> int:
        """Cycles of the measurement."""

    @property
    def packets(self) -> int: ...

    @property
    def stalled(self) -> str:
        """The packets of a deadlock; empty if there is none."""

    @property
    def by_latency(self) -> list[int]:
        """Number of packets by latency."""

    @property
    def by_source(self) -> list[float]:
        """Flits per cycle by sending node."""

    @property
    def fairness(self) -> float:
        """Jain's fairness index of the rates of sources; 1: all are equal."""

    @property
    def series(self) -> list[LoadSample]:
        """Samples over time, batch by batch."""

class SwitchWiring:
    """Switches, ports and channels of a machine, and its routes."""

    def __init__(self, machine: Machine, routing: str = 'own') -> None: ...

    @property
    def switches(self) -> int:
        """The number of switches."""

    @property
    def classes(self) -> int:
        """The fewest virtual channels with which routes are free of deadlock."""

    @property
    def routing(self) -> str:
        """The name of the routing; `own` is resolved."""

    def measure_load(self, traffic: str, load: float, *, vcs: int, buffer: int = 8, packet: int = 4, switching: str = 'wormhole', channel: int = 1, crossing: int = 1, router: str = 'input-queued', arbiter: str = 'round-robin', allocator: str = 'islip', iterations: int = 1, injection: str = 'bernoulli', watch: bool = False, seed: int = 1, threads: int = 1, progress: Callable[[int], object] | None = None) -> LoadMeasure:
        """
        Measures latencies of packets while each node generates `load` flits per cycle.

        Buffers, of each virtual channel, and packets are in flits; a channel takes that many cycles, and
        crossing a switch that many after one for routing.
        The result does not depend on the threads; 0: one per core. With `watch` packets take any virtual
        channel, and the measure ends with the first that wait for each other in a circle.
        """

def routings() -> list[tuple[str, str]]:
    """Lists routings: (name, help)."""

def routers() -> list[tuple[str, str]]:
    """Lists queueing schemes of switches: (name, help)."""

def arbiters() -> list[tuple[str, str]]:
    """Lists arbiters: (name, help)."""

def allocators() -> list[tuple[str, str]]:
    """Lists allocators of outputs to inputs: (name, help)."""

def switchings() -> list[tuple[str, str]]:
    """Lists flow controls of switches: (name, help)."""

def traffics() -> list[tuple[str, str]]:
    """Lists synthetic traffic patterns: (name with options, help)."""

def injections() -> list[tuple[str, str]]:
    """Lists injection processes: (name with options, help)."""

class MessageCosts:
    """Costs of a message besides its line, in seconds and seconds per byte."""

    def __init__(self) -> None: ...

    @property
    def latency(self) -> float:
        """L: the latency of a message after its turn."""

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
        """Per block that is combined with others."""

    @combine.setter
    def combine(self, arg: float, /) -> None: ...

    @property
    def gamma(self) -> float:
        """Per byte copied to combine messages."""

    @gamma.setter
    def gamma(self, arg: float, /) -> None: ...

    @property
    def reduce(self) -> float:
        """Per byte reduced on arrival."""

    @reduce.setter
    def reduce(self, arg: float, /) -> None: ...

    @property
    def delta(self) -> float:
        """Per byte staged in NIC memory."""

    @delta.setter
    def delta(self, arg: float, /) -> None: ...

    @property
    def beta_em(self) -> float:
        """Per byte sent from NIC memory; 0: never sent from there."""

    @beta_em.setter
    def beta_em(self, arg: float, /) -> None: ...

    @property
    def node_alpha(self) -> float:
        """
        Per message of all processes of a node together; 0: they do not slow each other.
        """

    @node_alpha.setter
    def node_alpha(self, arg: float, /) -> None: ...

    @property
    def packet(self) -> float:
        """
        Bytes after which a sender waits for an acknowledgment; 0: it never waits.
        """

    @packet.setter
    def packet(self, arg: float, /) -> None: ...

    @property
    def barrier_round(self) -> float:
        """
        Per round of the log2 P rounds of a barrier; 0: a message, sent and received.
        """

    @barrier_round.setter
    def barrier_round(self, arg: float, /) -> None: ...

    @property
    def node_beta(self) -> float:
        """
        Per byte of all processes of a node together; 0: they do not slow each other.
        """

    @node_beta.setter
    def node_beta(self, arg: float, /) -> None: ...

class NetworkModel:
    """Costs of messages by size alone, in seconds."""

    @staticmethod
    def regimes(lines: Sequence[tuple[float, float, int | None]], costs: MessageCosts = ...) -> NetworkModel:
        """
        Lines (alpha, beta, largest size), ascending, the last with None: the line of the size applies.
        """

    @staticmethod
    def largest(lines: Sequence[tuple[float, float, int | None]], costs: MessageCosts = ...) -> NetworkModel:
        """Lines (alpha, beta, None): the largest cost applies."""

    @staticmethod
    def loggp(L: float, o: float, g: float, G: float, costs: MessageCosts = ...) -> NetworkModel:
        """
        From LogGP's parameters in seconds; they set latency, send_cpu and receive_cpu.
        """

    def with_link_factors(self, factors: Sequence[tuple[float, float, int | None]]) -> NetworkModel:
        """
        Adds link factors (latency factor, bandwidth factor, largest size), ascending, the last with None.
        """

    def with_alone(self, lines: Sequence[tuple[float, float, int | None]]) -> NetworkModel:
        """
        Replaces the latency of a single message by lines (alpha, beta, largest size).
        """

    def with_inside(self, inside: NetworkModel) -> NetworkModel:
        """Adds a model for intra-node messages."""

    def time(self, bytes: int, processes: int = 1) -> float:
        """
        The time per message if this number of processes of a node send several each.
        """

    def latency(self, bytes: int) -> float:
        """The latency of a single message after its turn."""

    def arrival(self, bytes: int) -> float:
        """The time until a single message has arrived."""

    def nic_time(self, bytes: int, processes: int = 1) -> float:
        """Like `time`, from NIC memory."""

    def in_packets(self, bytes: int, way: float, bandwidth: float) -> float:
        """
        Like `time`, on a route of this latency and bandwidth with acknowledged packets; 0 without them.
        """

    def barrier(self, ranks: int) -> float:
        """The time of a barrier."""

    def cpu(self, bytes: int) -> float:
        """CPU time of both ends."""

    def send_cpu(self, bytes: int) -> float: ...

    def receive_cpu(self, bytes: int) -> float: ...

    def copy(self, bytes: int, blocks: float = 0.0) -> float:
        """The time to copy these bytes and blocks into one message."""

    def reduce(self, bytes: int) -> float:
        """The time to reduce received bytes."""

    def stage(self, bytes: int) -> float:
        """The time to stage bytes in NIC memory."""

    @property
    def lines(self) -> list[tuple[float, float, int | None]]:
        """The lines, as for `regimes` and `largest`."""

    @property
    def link_factors(self) -> list[tuple[float, float, int | None]]:
        """The link factors, as for `with_link_factors`; none: all 1."""

    @property
    def alone(self) -> list[tuple[float, float, int | None]]:
        """
        The lines of single messages, as for `with_alone`; none: `costs.latency` applies.
        """

    @property
    def inside(self) -> NetworkModel | None:
        """The model of intra-node messages, or None."""

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
        channels: the number of messages that a node sends concurrently at full speed.
        """

class NodeMap:
    """The nodes of a process grid, for costs of its lines."""

    def __init__(self, extents: Sequence[int], node_of_cell: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int]) -> None:
        """node_of_cell: row-major, with nodes numbered 0, 1, ... without gaps."""

    @property
    def extents(self) -> list[int]: ...

    @property
    def leaving(self) -> list[list[int]]:
        """
        By axis and node: the cells whose successor along the axis is on another node.
        """

    @property
    def inner_rounds(self) -> list[int]:
        """
        By axis: rounds of a binomial tree with steps of 1, 2, 4, ... cells before one leaves a node.
        """

    @property
    def external_links(self) -> int:
        """The most concurrent messages that leave a node, summed over the axes."""

    def pipelined_time(self, links: GridLinks, bytes: float, segment: float, *, reading: str = 'counted') -> float:
        """
        Predicts the seconds of a segmented broadcast or reduction along the chains of each axis.
        Readings: counted, messages that leave a node along an axis share its channels; printed, a
        message to another node is faster by the number of channels.
        """

    def best_segment(self, links: GridLinks, bytes: float, *, reading: str = 'counted') -> float:
        """The segment size with the least pipelined_time()."""

    def binomial_time(self, collective: str, links: GridLinks, bytes: float) -> float:
        """
        Bounds the seconds of a broadcast, reduce, scatter or gather along binomial trees of each axis:
        in all but the inner rounds a node sends as many messages as it has external links.
        """

def node_tiles(extents: Sequence[int], cores: int, weights: Sequence[float] = []) -> list[list[int]]:
    """
    Lists the tiles of this number of cells that divide a grid, by increasing surface.
    """

def tile_surface(tile: Sequence[int], weights: Sequence[float] = []) -> float:
    """
    Counts the external links of a tile inside a larger grid, weighted by axis.
    """

def nearest_extents(extents: Sequence[int], cells: int) -> list[int]:
    """
    Finds the extents of a grid with this number of cells that are nearest to the given ones.
    """

class ScheduleCost:
    """The cost of a schedule."""

    @property
    def time(self) -> float:
        """Seconds, summed over the rounds."""

    @property
    def cpu(self) -> float:
        """CPU seconds of the busiest rank, summed over the rounds."""

    @property
    def congestion(self) -> float:
        """
        Seconds of the busiest link, summed over the rounds; 0 without a machine.
        """

    @property
    def rounds(self) -> int: ...

    @property
    def messages(self) -> int:
        """Messages of a rank that sends the most in every round."""

    @property
    def bytes(self) -> int:
        """Bytes of the same rank."""

class Schedule:
    """A collective as rounds of messages, which are computed on demand."""

    def __init__(self, name: str, operation: str, ranks: int, bytes: int, root: int = 0, degree: int | None = None, in_all: bool = False) -> None:
        """
        name is one of schedules(), with options as in chain(segment=4096). bytes are those of the whole
        vector (broadcast, reduce, all-reduce), of a rank (scatter, gather, all-gather, reduce-scatter) or
        of a pair (all-to-all). A many-to-many has a degree: to how many of the next ranks each sends. in_all:
        bytes of all ranks together (all-gather, reduce-scatter), whose blocks may differ by one.
        """

    @staticmethod
    def many_to_many(name: str, demand: CommGraph, multicast: bool = False) -> Schedule:
        """
        Makes a many-to-many from a communication graph of the bytes from rank to rank.
        """

    @property
    def operation(self) -> str: ...

    @property
    def ranks(self) -> int: ...

    @property
    def rounds(self) -> int: ...

    def messages(self, round: int) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
        """Lists senders, receivers and bytes of the messages of a round."""

    def blocks(self, round: int, source: int, target: int) -> list[int]:
        """Lists the blocks of data in a message."""

    def all_messages(self) -> tuple[numpy.typing.NDArray[numpy.uint64], numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.int64]]:
        """
        Lists rounds, senders, receivers and bytes of all messages: four arrays of equal length.
        """

    def message_blocks(self, round: int) -> tuple[numpy.typing.NDArray[numpy.uint64], numpy.typing.NDArray[numpy.uint64]]:
        """
        Lists the blocks in all messages of a round: (first, block). Those of the i-th of
        messages(round) are block[first[i]:first[i + 1]].
        """

    def __repr__(self) -> str: ...

    def check(self) -> None:
        """
        Executes the schedule symbolically; raises Error unless each rank ends with the correct blocks.
        """

    def graph(self, threads: int = 0) -> CommGraph:
        """Makes the communication graph of all messages."""

    def phase(self, round: int) -> CommGraph:
        """Makes the communication graph of one round."""

    def cost(self, model: NetworkModel) -> ScheduleCost:
        """Computes the cost by the model alone, without a machine."""

    def cost_on(self, allocation: Allocation, placement: Placement, model: NetworkModel | None = None) -> ScheduleCost:
        """
        Computes the cost on the links of a placement. Ranks wait only for their own messages, and
        messages within a node pass its memory. Without a model, the machine gives startup time and
        port bandwidth.
        """

def program_time(steps: Sequence[Schedule], allocation: Allocation, placement: Placement, model: NetworkModel | None = None) -> float:
    """
    Computes the seconds of consecutive schedules, as `Schedule.cost_on` does for one.
    """

def recursive_doubling(rank_count: int, bytes: int = 1, unit: bool = False) -> CommGraph:
    """Makes the graph of an all-gather; unit: every message has `bytes`."""

def bruck(rank_count: int, bytes: int = 1, unit: bool = False) -> CommGraph:
    """Makes the graph of an all-gather; unit: every message has `bytes`."""

def binomial_tree(rank_count: int, bytes: int = 1, root: int = 0) -> CommGraph:
    """Makes the graph of a broadcast from root along MPICH's binomial tree."""

def all_to_all(rank_count: int, bytes: int = 1) -> CommGraph:
    """Makes a graph in which each rank sends to every other one."""

def schedules() -> list[dict[str, object]]:
    """Lists all schedules with their operations and options."""

class SwitchSettings:
    """How switches are simulated, and how messages are divided into packets."""

    def __init__(self, *, vcs: int, buffer: float | None = None, flit: int = 64, payload: int = 1024, header: int = 32, switching: str = 'wormhole', router: str = 'input-queued', arbiter: str = 'round-robin', allocator: str = 'islip', iterations: int = 1, switch_latency: float | None = None, injection: float | None = None, units: int = 1, combining: float | None = None) -> None:
        """
        Sizes are in bytes, the switch's latency in seconds, injection in bytes per second.

        buffer is that of a virtual channel; None: what keeps the longest link busy. switch_latency None: a
        part of the links' latencies. injection, of nodes that are their own switches; None: as much as all
        links of the node. units combine in an output-queued switch, `combining` bytes per second each; None: as
        fast as all that comes into a switch.
        """

class ProgramMeasure:
    """The result of simulating messages in switches."""

    @property
    def complete(self) -> bool:
        """Whether all ranks finished; False if the simulation was stopped."""

    @property
    def cycles(self) -> int:
        """Cycles until the last rank finished, or the simulation was stopped."""

    @property
    def cycle_seconds(self) -> float: ...

    @property
    def seconds(self) -> float: ...

    @property
    def finish(self) -> object:
        """float64 array (ranks,): seconds until each rank finished."""

    @property
    def packets(self) -> int:
        """The number of packets received."""

    @property
    def flit_hops(self) -> int:
        """Flits times the switches that they crossed."""

    @property
    def busy_seconds(self) -> object:
        """float64 array (channels,): seconds during which each channel sent."""

class OperationGraph:
    """Sends, receives and computations of ranks, and their dependencies."""

    @property
    def rank_count(self) -> int: ...

    def __len__(self) -> int: ...

    @property
    def messages(self) -> CommGraph:
        """All messages as a communication graph."""

    @property
    def sends(self) -> tuple[object, object, object]:
        """Source, target and bytes of each message: three arrays."""

def read_goal(data: bytes) -> OperationGraph:
    """Reads GOAL text into operations. Dependencies must not form a cycle."""

def channel_name(wiring: SwitchWiring, channel: int) -> str:
    """
    Names a channel: a link of the machine by its id or, after all links, a channel from or to a node.
    """

def channel_switches(wiring: SwitchWiring) -> object:
    """
    int64 array (channels,): the switch that each channel leaves; -1: it leaves a node.
    """

def simulate_messages(wiring: SwitchWiring, node_of_rank: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], source: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], target: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], bytes: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], *, settings: SwitchSettings, seed: int = 1, threads: int = 1, progress: Callable[[int], object] | None = None) -> ProgramMeasure:
    """
    Simulates messages that all ranks send at once, each rank in the given order.
    """

def simulate_operations(wiring: SwitchWiring, node_of_rank: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], operations: OperationGraph, *, settings: SwitchSettings, seed: int = 1, threads: int = 1, progress: Callable[[int], object] | None = None) -> ProgramMeasure:
    """Simulates operations. Each starts when its dependencies are done."""

def simulate_schedule(wiring: SwitchWiring, node_of_rank: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], schedule: Schedule, *, settings: SwitchSettings, seed: int = 1, threads: int = 1, progress: Callable[[int], object] | None = None) -> ProgramMeasure:
    """
    Simulate a collective: a rank begins a round when it has sent and received what the round before has.
    """

def simulate_in_switches(wiring: SwitchWiring, collective: str, trees: Sequence[SpanningTree], members: Sequence[numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int]], bytes: int, *, settings: SwitchSettings, seed: int = 1, progress: Callable[[int], object] | None = None) -> ProgramMeasure:
    """
    Simulate a collective that output-queued switches do: along each tree its members, nodes, send a message
    of these bytes, or the root does; 0: a barrier. finish is by node, 0 where it is not a member.
    """

def switch_collectives() -> list[tuple[str, str]]:
    """Lists collectives of switches: (name, help)."""

class Objective:
    """The objective of a search, such as `Objective.congestion`."""

    def __init__(self, name: str) -> None:
        """
        Makes it from its name: auto, hop-bytes, congestion, congestion-soft, time, or a mix such as
        weighted(hop-bytes=1;congestion=2).
        """

    @staticmethod
    def weighted(*, hop_bytes: float = 0.0, congestion: float = 0.0, congestion_soft: float = 0.0, time: float = 0.0) -> Objective:
        """
        A weighted mix; each objective is relative to its value for block placement.
        """

    @property
    def name(self) -> str: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[object, ...]: ...

    auto: Final[Objective] = ...
    """The objective that choose_objective() selects for the problem."""

    hop_bytes: Final[Objective] = ...
    """Bytes times distance."""

    congestion: Final[Objective] = ...
    """Seconds of the busiest link."""

    congestion_soft: Final[Objective] = ...
    """Congestion with a smooth maximum over all links."""

    time: Final[Objective] = ...
    """Predicted seconds, including startups and latencies."""

class Sharing:
    """Capacities of slots that ranks share."""

    def __init__(self, imbalance: float | None = None, capacities: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float] | None = None) -> None:
        """
        Where ranks outnumber slots, a slot holds up to (1 + imbalance) times its share of the load;
        or capacities give the load that each slot of the allocation may hold.
        """

    @property
    def imbalance(self) -> float | None: ...

    @property
    def capacities(self) -> list[float]:
        """The capacity of each slot; empty: equal shares."""

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[object, ...]: ...

class Balance:
    """A redistribution of tasks, and its costs."""

    @property
    def plan(self) -> numpy.typing.NDArray[numpy.int64]:
        """
        Transfers: rows of from, to and count, ascending; shape ``(messages, 3)``.
        """

    @property
    def ends(self) -> numpy.typing.NDArray[numpy.int64]:
        """The load of each rank after the plan."""

    @property
    def measures(self) -> dict[str, int]:
        """
        Messages and tasks, in total and at most per rank: messages, tasks, max_receives, max_tasks_received, max_sends, max_tasks_sent.
        """

    @property
    def least(self) -> dict[str, int]:
        """
        Lower bounds of the measures, for plans of one round with the same final loads.
        """

    @property
    def rounds(self) -> int:
        """The number of rounds: more than 1 if ranks forward received tasks."""

def balance(loads: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], *, method: str = 'auto', allocation: Allocation | None = None, placement: Placement | None = None) -> Balance:
    """
    Computes a redistribution of equal tasks; loads are the tasks of each rank.

    `balancers()` lists the methods. Some choose near partners, by a placement and its allocation. Throws Error for no ranks, negative loads, loads that add up to 2**62 or more, and a placement of another number of ranks.
    """

class WeightedBalance:
    """A redistribution of tasks with unequal loads and sizes."""

    @property
    def owners(self) -> numpy.typing.NDArray[numpy.uint32]:
        """The rank of each task."""

    @property
    def load_max(self) -> float:
        """The load of the busiest rank after the redistribution."""

    @property
    def load_limit(self) -> float:
        """
        The largest allowed load: the mean with the tolerance, or the largest task.
        """

    @property
    def moved_bytes(self) -> int:
        """Bytes of all tasks that change ranks."""

    @property
    def least_bytes(self) -> int:
        """
        A lower bound of the bytes that must move to meet load limit and memory.
        """

    @property
    def cut_bytes(self) -> int:
        """Bytes per period between tasks on different ranks."""

    @property
    def hop_bytes(self) -> float:
        """Cut bytes times distance; 0 without a machine."""

    @property
    def cut_bytes_before(self) -> int:
        """Cut bytes before the redistribution."""

    @property
    def hop_bytes_before(self) -> float:
        """Hop-bytes before the redistribution."""

    @property
    def moved_hop_bytes(self) -> float:
        """Bytes of tasks that change ranks, times distance."""

    @property
    def cost(self) -> float:
        """
        The objective with a graph or placement: bytes cut in all periods plus bytes moved; with a placement each times the distance plus a sixteenth.
        """

    @property
    def cost_before(self) -> float:
        """The objective before the redistribution."""

def balance_weighted(loads: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float], bytes: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], owners: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], ranks: int, *, memory: int = 9223372036854775807, tolerance: float = 0.02, graph: CommGraph | None = None, periods: float = 1.0, allocation: Allocation | None = None, placement: Placement | None = None) -> WeightedBalance:
    """
    Moves tasks so that no load exceeds the mean by more than the tolerance, no rank exceeds its memory, and few bytes move.

    With a graph of the bytes between tasks in a period, few of these pass between ranks. With a placement of the ranks, bytes count times the distance, or a sixteenth of a hop inside a node. Raises Error for invalid loads, bytes and owners, and if no rank has memory for the bytes.
    """

def balancers() -> list[dict[str, object]]:
    """Lists all balancers with their options."""

class Bounds:
    """Lower bounds for all placements, and their proofs."""

    @property
    def hop_bytes(self) -> int: ...

    @property
    def hop_bytes_by(self) -> str:
        """The proof: sparse, gilmore-lawler, projection or dual-ascent."""

    @property
    def congestion(self) -> float:
        """
        Lower bound of `Judgement.congestion_max`: load of a link divided by bandwidth.
        """

    @property
    def congestion_by(self) -> str:
        """The proof: message, injection, cut, average, prices or nothing."""

    @property
    def congestion_where(self) -> str:
        """The part of the allocation to which the proof applies."""

    @property
    def time(self) -> float | None:
        """
        Lower bound of `topoloom.placements.predicted_time` in seconds; None without bandwidths.
        """

    @property
    def time_by(self) -> str:
        """The dominant part: network, memory, sender or nothing."""

    @property
    def time_where(self) -> str:
        """The rank, or the proof of the load of the network."""

def find_bounds(graph: CommGraph, allocation: Allocation, *, phases: Sequence[CommGraph] = [], sharing: Sharing | None = None, seconds: float | None = None, work: int | None = None, threads: int = 0, progress: Callable[[int], object] | None = None) -> Bounds:
    """
    Computes lower bounds of hop-bytes, congestion and time for all placements.

    Phases are for time only: consecutive graphs whose sum is the graph. Ranks may share slots as for place(). A budget ends the search for better proofs.
    """

class PlaceResult:
    """The result of place()."""

    @property
    def placement(self) -> Placement:
        """The best placement found."""

    @property
    def work(self) -> int:
        """Candidates evaluated."""

    @property
    def proven(self) -> float | None:
        """A proven lower bound of the objective; None if the search proved none."""

    @property
    def optimal(self) -> bool:
        """Whether the placement is proven to be optimal."""

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[object, ...]: ...

def place(graph: CommGraph, allocation: Allocation, mapper: str = 'auto', *, objective: Objective | str = ..., phases: Sequence[CommGraph] = [], background: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float] | None = None, sharing: Sharing | None = None, previous: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int] | None = None, migration_cost: int = 0, seed: int = 1, seconds: float | None = None, work: int | None = None, threads: int = 0, progress: Callable[[int], object] | None = None) -> PlaceResult:
    """
    Places the ranks of a graph on the slots of an allocation.

    Parameters
    ----------
    graph : CommGraph
        Bytes and messages from rank to rank, such as from `topoloom.load_graph`.
    allocation : Allocation
        The available slots, such as `Allocation.whole(machine)`.
    mapper : str, default 'auto'
        A chain such as 'gge,swap'; `topoloom.mappers()` lists them.
    objective : Objective or str, default Objective.auto
        What to minimize; for `Objective.auto`, the result of `choose_objective`.
    phases : sequence of CommGraph, default ()
        Graphs whose messages never contend, and whose sum is the graph; none: one phase.
    background : array of float, bytes, default None
        Loads of other jobs by link id.
    sharing : Sharing, default None
        Capacities of shared slots; None: each rank gets a slot of its own.
    previous : array of int, slot ids, default None
        The earlier slot of each rank; -1: none.
    migration_cost : int, bytes, default 0
        The bytes that a rank moves if it leaves its previous slot.
    seed : int, default 1
        The same seed gives the same placement.
    seconds : float, seconds, default None
        Stop after this time; None: no limit.
    work : int, candidates, default None
        Stop after evaluating this number of them; unlike seconds, repeatable.
    threads : int, default 0
        Threads of the search; 0: one per core.
    progress : callable, default None
        Called regularly with the candidates evaluated. If it returns False, the search ends with the
        best placement so far.

    Returns
    -------
    PlaceResult
        The placement, the candidates evaluated, and what was proven.
    """

def objective_value(graph: CommGraph, allocation: Allocation, placement: Placement, *, objective: Objective | str, phases: Sequence[CommGraph] = [], background: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float] | None = None) -> float:
    """
    Computes the objective of place(): hop-bytes, seconds, or a mix relative to block placement.
    Ranks may share slots.
    """

def predicted_time(graph: CommGraph, allocation: Allocation, placement: Placement, *, phases: Sequence[CommGraph] = [], background: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float] | None = None) -> float:
    """
    Predicts the seconds of the messages: startups, latencies, and the busiest link, NIC or memory;
    0 if the machine gives no bandwidths. Ranks may share slots.
    """

def choose_objective(graph: CommGraph, allocation: Allocation, *, phases: Sequence[CommGraph] = [], background: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float] | None = None, sharing: Sharing | None = None) -> tuple[Objective, str]:
    """Resolves Objective.auto: (objective, reason)."""

class ChosenNodes:
    """Chosen nodes for a pattern, and the placement of its ranks."""

    @property
    def allocation(self) -> Allocation:
        """The chosen nodes, in the order of the free nodes."""

    @property
    def placement(self) -> Placement: ...

    @property
    def hop_bytes(self) -> int:
        """Hop-bytes of the placement."""

    @property
    def first_hop_bytes(self) -> int:
        """Hop-bytes of the same mapper on the first free nodes."""

    @property
    def random_hop_bytes(self) -> int | None:
        """
        Hop-bytes of the same mapper on random nodes; None if the budget ended before.
        """

    @property
    def work(self) -> int:
        """Candidates evaluated."""

def choose_nodes(graph: CommGraph, free: Allocation, count: int, mapper: str = 'auto', *, seed: int = 1, seconds: float | None = None, work: int | None = None, threads: int = 0, progress: Callable[[int], object] | None = None) -> ChosenNodes:
    """
    Chooses free nodes with few hop-bytes of the pattern, and places its ranks.
    """

def mappers() -> list[dict[str, object]]:
    """Lists all mappers with their options."""

class Evaluator:
    """
    A placement with an incrementally updated value of its objective, and gains of changes.
    """

    def __init__(self, graph: CommGraph, allocation: Allocation, placement: Placement, *, objective: Objective | str = ..., phases: Sequence[CommGraph] = [], background: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float] | None = None) -> None:
        """
        Starts from a placement, in which ranks may share slots. Capacities are not checked. Objective,
        phases and background are as for `topoloom.place`.
        """

    @property
    def value(self) -> float:
        """The value of the objective, equal to that of `objective_value`."""

    @property
    def placement(self) -> Placement:
        """A copy of the current placement."""

    @overload
    def gain_of_swap(self, rank_a: int, rank_b: int) -> float:
        """
        Computes by how much the value falls if two ranks exchange slots; negative: it rises.
        """

    @overload
    def gain_of_swap(self, rank_a: numpy.typing.NDArray[numpy.integer] | Sequence[int], rank_b: numpy.typing.NDArray[numpy.integer] | Sequence[int] | int) -> numpy.typing.NDArray[numpy.float64]:
        """
        The same for many independent candidates: arrays of equal length, or one rank for all.
        """

    @overload
    def gain_of_swap(self, rank_a: int, rank_b: numpy.typing.NDArray[numpy.integer] | Sequence[int]) -> numpy.typing.NDArray[numpy.float64]:
        """The same for one rank with each of an array."""

    @overload
    def gain_of_move(self, rank: int, slot: int) -> float:
        """
        Computes by how much the value falls if a rank moves to a slot, which must be free unless ranks
        share slots; negative: it rises.
        """

    @overload
    def gain_of_move(self, rank: numpy.typing.NDArray[numpy.integer] | Sequence[int], slot: numpy.typing.NDArray[numpy.integer] | Sequence[int] | int) -> numpy.typing.NDArray[numpy.float64]:
        """
        The same for many independent candidates: arrays of equal length, or one slot for all.
        """

    @overload
    def gain_of_move(self, rank: int, slot: numpy.typing.NDArray[numpy.integer] | Sequence[int]) -> numpy.typing.NDArray[numpy.float64]:
        """The same for one rank with each of an array."""

    def swap(self, rank_a: int, rank_b: int) -> None:
        """Exchanges the slots of two ranks."""

    def move(self, rank: int, slot: int) -> None:
        """Moves a rank to a slot, which must be free unless ranks share slots."""

    def undo(self) -> None:
        """Reverts the last swap or move, once."""

def slot_capacities(graph: CommGraph, allocation: Allocation, sharing: Sharing | None = None) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]]:
    """
    Computes integer loads of ranks, and capacities of the slots of the allocation. All are 1 if ranks
    do not share slots.
    """

def place_experts(loads: numpy.typing.NDArray[numpy.floating] | Sequence[Sequence[float]], nodes: numpy.typing.NDArray[numpy.integer] | Sequence[int], slots: int, choices: numpy.typing.NDArray[numpy.integer] | None = None, *, nearest: bool = False, slack: float = 0.01, seed: int = 1, threads: int = 0) -> tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.uint32]]:
    """
    Places the experts of layers on GPUs: by loads alone, and for few visits of nodes.

    loads: of a layer in each row; nodes: of each GPU; slots: experts on a GPU; choices: experts of a token in each row, -1 for none, layer after layer, as many tokens for each. Both results have a row for each layer: the experts slot by slot, GPU by GPU. The second keeps within `slack` of the first's busiest GPU, and was found from every second token, the first included. Throws Error for what cannot be.
    """

def measure_experts(loads: numpy.typing.NDArray[numpy.floating] | Sequence[Sequence[float]], nodes: numpy.typing.NDArray[numpy.integer] | Sequence[int], held: numpy.typing.NDArray[numpy.integer], choices: numpy.typing.NDArray[numpy.integer] | None = None, *, nearest: bool = False) -> numpy.typing.NDArray[numpy.float64]:
    """
    Rows of a layer each: nodes beside its own that a token visits, or where there are no choices the share of tokens that leave their node; the load of the busiest GPU; the mean load of GPUs.

    held: experts slot by slot, a layer in each row; the rest as for `place_experts`.
    """

def call_mapper(address: int, graph: CommGraph, allocation: Allocation, *, objective: Objective | str, phases: Sequence[CommGraph], background: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float] | None, load: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], capacity: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], shared: bool, seed: int, seconds: float | None, work: int | None, progress: Callable[[int], object] | None) -> list[int]:
    """
    Calls the topoloom_mapper at this address and returns its slots. The address is not checked.
    """

class AxisOrder:
    """An order of a mesh of ranks along a line of slots."""

    @property
    def pieces(self) -> list[tuple[int, int]]:
        """
        (axis, size) along the line, fastest first; pieces of an axis from its lowest digit up.
        """

    @property
    def back_and_forth(self) -> list[bool]:
        """By axis: whether every other row of a piece runs backwards."""

    @property
    def slots(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """
        uint32 array (ranks,): the slot of each rank; the first axis is the fastest.
        """

    @property
    def seconds(self) -> list[float]:
        """Seconds by traffic."""

    @property
    def total(self) -> float:
        """Seconds of all traffic."""

def order_axes(allocation: Allocation, extents: Sequence[int], traffic: Sequence[tuple[Sequence[int], str, int]], progress: Callable[[int], object] | None = None) -> tuple[AxisOrder, AxisOrder, AxisOrder]:
    """
    Orders axes: (as given, in their best order, also split). Traffic is (axes, collective, bytes per rank). `progress` is called with the work done; False ends the search.
    """

def order_layouts(allocation: Allocation, layouts: Sequence[Sequence[tuple[Sequence[int], Sequence[int], str, int]]], progress: Callable[[int], object] | None = None) -> tuple[AxisOrder, tuple[int, AxisOrder], tuple[int, AxisOrder]]:
    """
    Orders layouts: the first, the best on the same slots with its index, and the best with other slots. A layout has (extents, axes, collective, bytes per rank) for each traffic. `progress` is called with the work done; False ends the search.
    """

def mesh_phases(extents: Sequence[int], traffic: tuple[Sequence[int], str, int]) -> list[CommGraph]:
    """
    Makes the phases of one traffic of a mesh, whose first axis is the fastest.
    """

class Step:
    """Concurrent messages between ranks."""

    def __init__(self, messages: Sequence[tuple[int, int]]) -> None:
        """(from, to) of each message."""

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
        """The distinct rounds of a schedule such as k-shift(k=8), in order."""

    @property
    def messages(self) -> list[tuple[int, int]]: ...

    @property
    def rounds(self) -> int:
        """The number of rounds that are this step."""

class Meetings:
    """Contention of concurrent messages."""

    @property
    def places(self) -> int:
        """Contended links, or subtrees that may have such links above."""

    @property
    def most(self) -> float:
        """The most messages on one link."""

def meetings_any_ascent(machine: Machine, step: Step, node_of_rank: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int]) -> Meetings:
    """Computes where messages may contend on a fat tree, for any routes up."""

def meetings_on_routes(machine: Machine, step: Step, node_of_rank: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int]) -> Meetings:
    """Computes where messages contend on the routes of the machine."""

def find_free_order(machine: Machine, nodes: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], steps: Sequence[Step], on_routes: bool = False, work: int = 10000000, seed: int = 1) -> tuple[list[int], int, bool]:
    """
    Orders nodes with few contended rounds, on the routes of any machine or for any routes up a fat tree: (nodes by rank, contended rounds, whether that is proven minimal).
    """

def with_gaps(machine: Machine, nodes: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int]) -> list[int | None]:
    """
    Positions of nodes, None for gaps, such that exchanges with position p xor j never contend.
    """

def fitted_schedules(allocation: Allocation, placement: Placement) -> list[str]:
    """Lists schedules with options for the nodes of the ranks."""

class SpanningTree:
    """A tree of links from a root to the members of a group."""

    @property
    def root(self) -> int: ...

    @property
    def links(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """uint32 array: the links, each after the one that leads to it."""

def tree_kinds(machine: Machine) -> list[str]:
    """Lists the kinds of spanning_trees() for a machine."""

def spanning_trees(machine: Machine, kind: str, multicasts: Sequence[tuple[int, Sequence[int]]]) -> list[SpanningTree]:
    """
    Makes trees for (root, members): 'least-loaded' or 'last' parents of a fat tree, 'routes' of any machine, or all 'disjoint' trees of a torus.
    """

def tree_loads(machine: Machine, trees: Sequence[SpanningTree]) -> tuple[list[int], list[int]]:
    """Counts the trees on each link, and on each switch, router or node."""

def solve_qap(a: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[Sequence[int]], b: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[Sequence[int]], *, seed: int = 1, seconds: float | None = None, work: int | None = None, threads: int = 0, target: int | None = None) -> tuple[list[int], int, int]:
    """
    Minimizes the sum of a[i, j] * b[p[i], p[j]]; returns (p, value, work done).

    Ends at the target value, or with the budget: about a second where none is given.
    """

def rank_program(schedule: Schedule, rank: int) -> tuple[int, list[tuple[list[tuple[bool, tuple[str, int], tuple[str, int], int]], list[tuple[int, tuple[str, int], int]], list[tuple[int, tuple[str, int], int]], list[tuple[bool, tuple[str, int], tuple[str, int], int]], list[tuple[bool, tuple[str, int], tuple[str, int], int]]]]]:
    """
    Compiles a schedule for a rank: (scratch bytes, rounds). A round has copies before, receives, sends,
    copies meanwhile, and operations after. A message is (peer, location, bytes), an operation
    (combines, from, to, bytes), a location (memory, offset) in `input`, `output` or `scratch`.
    A broadcast has no input.
    """

CELL_MEMORY: int = 11

def named_affinities() -> list[tuple[str, str, list[int]]]:
    """
    Lists named assignments of eight threads to the elements of the Cell: (name, summary, element of
    each thread).
    """

def bus_stations(allocation: Allocation) -> list[int]:
    """
    Lists the stations of elements 0 ... 7: the SPEs of the Cell, or the eight slots in order.
    """

class BusAffinities:
    """All 40,320 assignments, the best first."""

    @property
    def scores(self) -> object:
        """
        A row per assignment: load of the busiest link, imbalance of the directions, excess over two
        messages on links, half-way bytes; in halves of `unit`. Rows are compared
        lexicographically; less is better.
        """

    @property
    def elements(self) -> numpy.typing.NDArray[numpy.uint8]:
        """A row per assignment: the element of each thread."""

    def rates(self, allocation: Allocation, graph: CommGraph, *, piece: int = 16384, startup: float = 0.0, memory: int | None = None, ring_ends: bool = False) -> numpy.typing.NDArray[numpy.float64]:
        """
        A row per assignment, in bytes per second: worst, mean and best of the slowest message, then
        over all messages, as in bus_rates().
        """

    @property
    def optima(self) -> int:
        """The number of assignments as good as the first."""

    @property
    def unit(self) -> int:
        """The largest number of bytes that divides the sizes of all messages."""

def rank_bus_affinities(allocation: Allocation, graph: CommGraph) -> BusAffinities:
    """Scores all assignments of eight threads to the elements of a ring bus."""

class BusRates:
    """
    Bytes per second: worst, mean and best over the directions of half-way messages.
    """

    @property
    def messages(self) -> numpy.typing.NDArray[numpy.float64]:
        """A row per message."""

    @property
    def slowest(self) -> list[float]:
        """Rates of the slowest message."""

    @property
    def average(self) -> list[float]:
        """Rates over all messages."""

    @property
    def ways(self) -> int:
        """The number of combinations of directions of half-way messages."""

def bus_rates(machine: Machine, sources: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], targets: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], bytes: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], *, piece: int = 16384, startup: float = 0.0, memory: int | None = None, ring_ends: bool = False) -> BusRates:
    """
    Computes the rates of concurrent messages between stations of a ring bus. Pieces take turns on its
    rings, each of which has up to `transfers` disjoint ones. `memory` is the station of the memory
    controller; `ring_ends` enables an effect observed at the ends of the bus.
    """

class Bipartitions:
    """
    Bipartitions of the threads of a blade, by the bytes between the halves.
    """

    @property
    def best(self) -> int:
        """Bit t is set for threads of processor 0, the half that sends more."""

    @property
    def best_bytes(self) -> int: ...

    @property
    def worst(self) -> int: ...

    @property
    def worst_bytes(self) -> int: ...

    @property
    def optima(self) -> int:
        """The number of bipartitions as good as the best."""

    @property
    def pessima(self) -> int: ...

def rank_bipartitions(graph: CommGraph) -> Bipartitions:
    """Enumerates the bipartitions of an even number of up to 24 threads."""

class Wiring:
    """
    The links of a machine that are up, as arrays; vertices are routers, switches or nodes.
    """

    def __init__(self, machine: Machine) -> None: ...

    @property
    def vertex_count(self) -> int: ...

    @property
    def vertex(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """uint32 array (nodes,): the vertex that each node is attached to."""

    @property
    def link_from(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """uint32 array (links,): the vertex that each link leaves."""

    @property
    def link_to(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """uint32 array (links,): the vertex that each link enters."""

    @property
    def bandwidth(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """float64 array (links,): bytes per second of each link."""

class Bisection:
    """
    The bisection bandwidth of a machine: a lower bound, and a bisection that was found.
    """

    @property
    def at_least(self) -> float:
        """
        Lower bound of all bisections, bytes per second of both directions together.
        """

    @property
    def at_most(self) -> float:
        """The bandwidth of the bisection that was found."""

    @property
    def link_count(self) -> int:
        """Directed links between the halves that were found."""

    @property
    def exact(self) -> bool:
        """Whether both are equal."""

def bisect_machine(machine: Machine, seed: int = 1) -> Bisection:
    """
    Finds a bisection of the nodes with little bandwidth, and a lower bound on all.
    """

class CombiningCosts:
    """Seconds per message and per byte."""

    def __init__(self, *, alpha: float = 0.0, beta: float = 0.0, gamma: float = 0.0, beta_em: float = 0.0, delta: float = 0.0) -> None:
        """
        alpha per message; beta per byte sent, gamma copied, beta_em sent from NIC memory, delta copied there.
        """

def all_to_all_time(strategy: str, ranks: int, bytes: float, costs: CombiningCosts, *, printed: bool = False) -> float:
    """
    Predicts the seconds of an all-to-all with bytes per pair. Strategies: direct, mesh, grid, hypercube.
    """

def all_gather_time(strategy: str, ranks: int, bytes: float, costs: CombiningCosts, *, printed: bool = False) -> float:
    """Predicts the seconds of an all-gather with bytes per rank."""

def nic_all_gather_time(strategy: str, ranks: int, bytes: float, costs: CombiningCosts, *, direct: int = 0, printed: bool = False) -> float:
    """
    Predicts the same from NIC memory; the last `direct` dimensions of a hypercube are one round.
    """

def relay_all_gather_time(ranks: int, k: int, bytes: float, costs: CombiningCosts) -> float:
    """Predicts the same for k-prefix or k-shift."""

def many_to_many_time(strategy: str, ranks: int, degree: float, bytes: float, costs: CombiningCosts, *, printed: bool = False) -> float:
    """
    Predicts the seconds of a many-to-many with bytes to each of `degree` ranks.
    """

def virtual_mesh_receivers(ranks: int, axes: int, rank: int) -> list[list[int]]:
    """
    By round: the receivers of a rank on a virtual mesh of 2 or 3 axes, with substitutes for holes.
    """

class CostSample:
    """A sample of costs without outliers far above the median."""

    @property
    def mean(self) -> float: ...

    @property
    def sigma(self) -> float:
        """The standard deviation, with n - 1."""

    @property
    def n(self) -> int:
        """The size of the sample without outliers."""

    @property
    def outliers(self) -> int:
        """The number of outliers."""

class CostGroup:
    """A group of processes."""

    @property
    def members(self) -> list[int]:
        """The processes of the group, ascending."""

    @property
    def inside(self) -> CostSample:
        """Costs of messages inside the group."""

    @property
    def into(self) -> CostSample:
        """Costs of messages from the sibling groups."""

    @property
    def t(self) -> float:
        """
        Student's t of the incoming against the inner costs, with pooled variance.
        """

    @property
    def p(self) -> float:
        """The two-sided probability of that t for equal means."""

    @property
    def chance(self) -> float:
        """
        Upper bound of the probability of its subgroups if it is homogeneous; 1 without any.
        """

    @property
    def groups(self) -> list[CostGroup]:
        """The subgroups; none if it is homogeneous."""

class CostGroups:
    """Groups of processes with low costs inside."""

    @property
    def of(self) -> list[int]:
        """The outermost group of each process, numbered by lowest process."""

    @property
    def count(self) -> int:
        """The number of outermost groups."""

    @property
    def chance(self) -> float:
        """
        Upper bound of the probability of these groups if all processes are alike; 1 for one group.
        """

    @property
    def groups(self) -> list[CostGroup]:
        """The outermost groups; none if all processes are alike."""

def find_cost_groups(costs: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[Sequence[float]], *, significance: float = 0.01) -> CostGroups:
    """
    Finds groups of processes by the seconds of messages between them: costs[from, to]. The significance bounds the probability of splitting processes that are alike.
    """

def group_costs(costs: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[Sequence[float]], groups: CostGroups, *, significance: float = 0.01) -> numpy.typing.NDArray[numpy.float64]:
    """
    Replaces each cost by the mean, without outliers, of its two groups or of its homogeneous group. Means that do not differ at this significance are pooled.
    """

def binomial_order(costs: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[Sequence[float]], method: str, *, root: int = 0, channels: int = 1, seed: int = 1) -> list[int]:
    """
    Chooses the process at each position of a binomial tree. Methods: standard, fastest-edge-first, channel-aware, random.
    """

def binomial_scatter_steps(costs: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[Sequence[float]], order: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], *, channels: int = 1, groups: CostGroups | None = None, reading: str = 'growing') -> list[float]:
    """
    Predicts the seconds of each step of a binomial scatter, with costs per block. Without groups it calls find_cost_groups(). Readings: growing, messages of a step within a group share one channel and those between the same two groups all, and each more adds half the bandwidth of one; printed, those within a group share all too, and more add nothing; node, all of them share all, and each more adds half; independent, none share.
    """

def grid_line_messages(extents: Sequence[int], operation: str, bytes: int, *, root: int = 0, pieces: int = 0) -> list[list[tuple[int, int, int]]]:
    """
    Lists (from, to, bytes) by round for a broadcast, reduce, scatter or gather along all lines of an axis at once, axis after axis. Lines are binomial trees, or chains if there are pieces.
    """

class Strategy:
    """
    Costs of calls for given locations of ranks, and the schedules that libtopoloom-collective chooses.
    """

    @overload
    def __init__(self, ranks: int, model: NetworkModel) -> None:
        """Each rank is on a node of its own."""

    @overload
    def __init__(self, allocation: Allocation, placement: Placement, model: NetworkModel | None = None) -> None:
        """
        Messages pass the links of a placement. Without a model, costs are those of the machine.
        """

    def cost(self, schedule: Schedule) -> ScheduleCost:
        """
        Computes the cost of a schedule whose ranks wait only for their own messages. With more than 2^16
        messages on a machine it is estimated from a sample in synchronized rounds. Ranks of a node
        send through its memory.
        """

    def choose(self, operation: str, bytes: int, in_rank_order: bool = False) -> str:
        """
        Chooses the schedule of a call; in_rank_order: its operator is not commutative.
        """

    @staticmethod
    def size_of(operation: str, bytes: int) -> int:
        """
        The size class of a call, of 16 between powers of two: calls of a class take the same schedule.
        """

def check_decision_table(text: str) -> None:
    """
    Raises Error, with the line, for a decision table that libtopoloom-collective cannot read.
    """

def check_machine_file(text: str) -> None:
    """Checks a file like check_decision_table."""

def check_placement_file(text: str) -> None:
    """Checks a file like check_decision_table."""

def check_schedule_text(text: str) -> None:
    """
    Raises Error for the name or options of a schedule that are invalid for any number of ranks.
    """

def usual_schedule(operation: str, ranks: int, bytes: int, in_all: bool = False) -> str:
    """The default schedule of MPICH, with options; bytes as for Schedule."""

def candidates(operation: str, ranks: int, bytes: int, fitted: Sequence[str] = []) -> list[str]:
    """
    Lists the candidate schedules of a call: with default options, as from fitted_schedules(), and with
    promising values of options.
    """
