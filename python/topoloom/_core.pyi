"""
The compiled core of Topoloom. Import its names from `topoloom` and its rooms.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Final, overload

import networkx
import numpy
import numpy.typing
from numpy.typing import NDArray
import scipy.sparse


class Error(ValueError):
    """What is wrong with an input, where, and what to do."""

class CommGraph:
    """
    Who sends how many bytes in how many messages to whom; directed, sparse.
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
        """What each rank sends to itself."""

    @property
    def self_messages(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def proxied(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """
        uint32 array: ranks whose data a slot needs once, however many of its ranks want it.
        """

    def symmetric(self) -> CommGraph:
        """Both directions of every pair, each with the sum of the two."""

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
    What the groups send along binomial trees from the diagonal. group: column, row, orthogonalization,
    column-reduction, row-reduction, gather or all-reduce.
    """

def triangular_levels(rows: int, order: str, group: str, bytes: int = 1) -> list[CommGraph]:
    """
    The same messages, a graph for each level of the trees: one after another.
    """

def hybrid_rows(rows: int, threads: int) -> int:
    """
    Rows of a triangular grid whose ranks have this number of threads: the nearest odd number.
    """

def molecular_cells(width: float = 16.0) -> list[int]:
    """
    Cells of the ApoA1 benchmark's box that are at least this number of angstroms wide.
    """

def molecular_dynamics(cells: Sequence[int], atoms: int = 92224, seed: int = 1, proxies: bool = True) -> CommGraph:
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

    @overload
    def link_ends(self, link: int) -> tuple[int, int]:
        """(from, to); on a torus vertex v is that of the v-th coordinates."""

    @overload
    def link_ends(self, link: numpy.typing.NDArray[numpy.integer] | Sequence[int] | None = None) -> numpy.typing.NDArray[numpy.uint32]:
        """The same of an array of links, or of all: uint32 array (links, 2)."""

    @overload
    def bandwidth(self, link: int) -> float:
        """Bytes per second."""

    @overload
    def bandwidth(self, link: numpy.typing.NDArray[numpy.integer] | Sequence[int] | None = None) -> numpy.typing.NDArray[numpy.float64]:
        """The same of an array of links, or of all by their ids."""

    @overload
    def latency(self, link: int) -> float:
        """Seconds."""

    @overload
    def latency(self, link: numpy.typing.NDArray[numpy.integer] | Sequence[int] | None = None) -> numpy.typing.NDArray[numpy.float64]:
        """The same of an array of links, or of all by their ids."""

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
    def assumed_speeds(self) -> list[str]:
        """
        Which of these nobody has said: startup, node_latency, memory_bandwidth, memory_startup.
        """

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

    @property
    def links_up(self) -> numpy.typing.NDArray[numpy.uint32]:
        """The links that are not down, ascending."""

    @property
    def vertex_count(self) -> int:
        """Routers, switches and nodes that links join."""

    def hop_matrix(self, nodes: numpy.typing.NDArray[numpy.integer] | Sequence[int] | None = None) -> numpy.typing.NDArray[numpy.uint32]:
        """
        Hops from each of the nodes to each.

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
        What hop-bytes multiply with, from each of the slots to each.

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
        Routes of pairs of nodes as a sparse matrix; needs SciPy.

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
        A machine from its links.

        Links get ids in the order of (from, to), whatever the order here: see `link_ends()`. What is
        inside nodes, or down, can be added to the text: `Machine(machine.text + '+node:2:8')`.

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
            For links twice or to oneself, bandwidths that are not positive, latencies below 0, nodes
            that do not reach each other, and routes that do not follow links.
        """

    @staticmethod
    def from_networkx(graph: networkx.Graph, nodes: Iterable[object] | None = None, bandwidth: str | None = 'bandwidth', latency: str | None = 'latency') -> Machine:
        """
        A machine from a NetworkX graph of its links, which lead both ways unless it is a DiGraph.

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
    """The slots that a job was given, in the launcher's order."""

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
        """Over ordered pairs of different nodes."""

    def components(self) -> list[int]:
        """
        For every node the number of the connected piece of the network that it belongs to.
        """

    def __repr__(self) -> str: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __reduce__(self) -> tuple[object, ...]: ...

def fragmented_allocation(machine: Machine, node_count: int, fragments: int, seed: int = 1) -> Allocation:
    """A ragged allocation as schedulers leave them: boxes, planes and lines."""

def compact_nodes(free: Allocation, count: int, seed: int = 1) -> Allocation:
    """This number of free nodes, as close together as was found."""

class Placement:
    """rank -> slot; every placement that exists is valid."""

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
        """Of the machine that it was made for."""

    @property
    def shared(self) -> bool:
        """Whether several ranks may sit on one slot."""

    @property
    def slots(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """uint32 array, the slot of every rank."""

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

def through_proxies(graph: CommGraph, placement: Placement) -> CommGraph:
    """
    What is sent where slots need the data of proxied ranks once: a graph without proxied ranks, that
    `judge` measures the same.
    """

def judge(graph: CommGraph, allocation: Allocation, placement: Placement, hottest: int = 10, threads: int = 0) -> Judgement:
    """Measures a placement in one pass over the messages."""

class LoadSample:
    """What is in use during a batch of cycles."""

    @property
    def cycle(self) -> int:
        """The last one."""

    @property
    def accepted(self) -> float:
        """Flits per sending node and cycle."""

    @property
    def channel_use(self) -> float:
        """Flits per output of a switch and cycle."""

    @property
    def buffer_fill(self) -> float:
        """Share of all buffers, in the last cycle."""

class LoadMeasure:
    """What switches do under a load; latencies in cycles."""

    @property
    def offered(self) -> float:
        """Flits per sending node and cycle."""

    @property
    def accepted(self) -> float:
        """Those that nodes received."""

    @property
    def latency_mean(self) -> float: ...

    @property
    def half_width(self) -> float:
        """Of the mean's 95 % confidence interval."""

    @property
    def latency_p50(self) -> float: ...

    @property
    def latency_p99(self) -> float: ...

    @property
    def saturated(self) -> bool:
        """Sources fall ever further behind."""

    @property
    def warm_up(self) -> int:
        """Cycles that were left out."""

    @property
    def measured(self) -> int:
        """Cycles."""

    @property
    def packets(self) -> int: ...

    @property
    def stalled(self) -> str:
        """Packets that wait for each other in a circle; empty: none do."""

    @property
    def by_latency(self) -> list[int]:
        """[cycles]: packets."""

    @property
    def by_source(self) -> list[float]:
        """[node that sends]: flits per cycle."""

    @property
    def fairness(self) -> float:
        """Jain's, of the rates of sources; 1: all the same."""

    @property
    def series(self) -> list[LoadSample]:
        """Over time, batch by batch."""

class SwitchWiring:
    """Switches, ports and channels of a machine, and its routes."""

    def __init__(self, machine: Machine, routing: str = 'own') -> None: ...

    @property
    def switches(self) -> int:
        """How many."""

    @property
    def classes(self) -> int:
        """
        Virtual channels that routes need at least, so that no packets wait for each other for ever.
        """

    @property
    def routing(self) -> str:
        """What `own` comes to."""

    def measure_load(self, traffic: str, load: float, *, vcs: int, buffer: int = 8, packet: int = 4, switching: str = 'wormhole', channel: int = 1, crossing: int = 1, router: str = 'input-queued', arbiter: str = 'round-robin', allocator: str = 'islip', iterations: int = 1, injection: str = 'bernoulli', watch: bool = False, seed: int = 1, threads: int = 1, progress: Callable[[int], object] | None = None) -> LoadMeasure:
        """
        Measure latencies of packets while each node makes `load` flits per cycle.

        Buffers, of each virtual channel, and packets are in flits; a channel takes that many cycles, and
        crossing a switch that many after one for routing.
        The result does not depend on the threads; 0: one per core. With `watch` packets take any virtual
        channel, and the measure ends with the first that wait for each other in a circle.
        """

def routings() -> list[tuple[str, str]]:
    """By what packets choose among routes: names, and what they mean."""

def routers() -> list[tuple[str, str]]:
    """How switches queue."""

def arbiters() -> list[tuple[str, str]]:
    """By what requesters of one thing come first."""

def allocators() -> list[tuple[str, str]]:
    """How inputs and outputs are matched."""

def switchings() -> list[tuple[str, str]]:
    """When a packet goes on."""

def traffics() -> list[tuple[str, str]]:
    """Synthetic traffic: names with their options, and what they mean."""

def injections() -> list[tuple[str, str]]:
    """When nodes make packets: names with their options, and what they mean."""

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
        """Of each block that is put together with others."""

    @combine.setter
    def combine(self, arg: float, /) -> None: ...

    @property
    def gamma(self) -> float:
        """A byte, to copy when messages are combined."""

    @gamma.setter
    def gamma(self, arg: float, /) -> None: ...

    @property
    def reduce(self) -> float:
        """A byte, to apply a reduction to it when it has come."""

    @reduce.setter
    def reduce(self, arg: float, /) -> None: ...

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
    def node_alpha(self) -> float:
        """
        Per message of all processes of a node together; 0: they do not slow each other.
        """

    @node_alpha.setter
    def node_alpha(self, arg: float, /) -> None: ...

    @property
    def packet(self) -> float:
        """Bytes after which a sender waits for an answer; 0: it never waits."""

    @packet.setter
    def packet(self, arg: float, /) -> None: ...

    @property
    def barrier_round(self) -> float:
        """
        Of each of log2 P rounds of a barrier; 0: a message, sent and received.
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

    def with_link_factors(self, factors: Sequence[tuple[float, float, int | None]]) -> NetworkModel:
        """
        The same on links with (latency factor, bandwidth factor, most bytes), ascending, the last with None.
        """

    def with_alone(self, lines: Sequence[tuple[float, float, int | None]]) -> NetworkModel:
        """
        The same where one message alone takes its line (alpha, beta, most bytes), instead of a latency.
        """

    def with_inside(self, inside: NetworkModel) -> NetworkModel:
        """The same where messages inside a node take what this says."""

    def time(self, bytes: int, processes: int = 1) -> float:
        """
        From one message to the next where each of this number of processes of a node sends several.
        """

    def latency(self, bytes: int) -> float:
        """How much later than its turn a message alone arrives."""

    def arrival(self, bytes: int) -> float:
        """Until a message alone has arrived."""

    def nic_time(self, bytes: int, processes: int = 1) -> float:
        """As `time`, from the network card's memory."""

    def in_packets(self, bytes: int, way: float, bandwidth: float) -> float:
        """
        As `time`, on a way of this latency and bandwidth, where packets wait for answers; 0 where none do.
        """

    def barrier(self, ranks: int) -> float:
        """Until all ranks know that all have come."""

    def cpu(self, bytes: int) -> float:
        """CPU of both ends."""

    def send_cpu(self, bytes: int) -> float: ...

    def receive_cpu(self, bytes: int) -> float: ...

    def copy(self, bytes: int, blocks: float = 0.0) -> float:
        """To copy these bytes, of this number of blocks, into one message."""

    def reduce(self, bytes: int) -> float:
        """To apply a reduction to bytes that have come."""

    def stage(self, bytes: int) -> float:
        """To bring bytes into the network card's memory."""

    @property
    def lines(self) -> list[tuple[float, float, int | None]]:
        """As `regimes` and `largest` take them."""

    @property
    def link_factors(self) -> list[tuple[float, float, int | None]]:
        """As `with_link_factors` takes them; none: all 1."""

    @property
    def alone(self) -> list[tuple[float, float, int | None]]:
        """As `with_alone` takes them; none: `costs.latency` counts."""

    @property
    def inside(self) -> NetworkModel | None:
        """Of messages inside a node, if something is said of them."""

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

    def pipelined_time(self, links: GridLinks, bytes: float, segment: float, *, reading: str = 'counted') -> float:
        """
        Seconds of a broadcast or reduction down the chains of every axis, in segments. Readings:
        counted, messages that leave a node along an axis share its channels; printed, a message to
        another node is as many times as fast as there are channels.
        """

    def best_segment(self, links: GridLinks, bytes: float, *, reading: str = 'counted') -> float:
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

    def all_messages(self) -> tuple[numpy.typing.NDArray[numpy.uint64], numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.int64]]:
        """
        Rounds, senders, receivers and bytes of all messages, round by round: four arrays of one length.
        """

    def message_blocks(self, round: int) -> tuple[numpy.typing.NDArray[numpy.uint64], numpy.typing.NDArray[numpy.uint64]]:
        """
        Blocks that all messages of a round carry: (first, block), where those of the i-th of
        messages(round) are block[first[i]:first[i + 1]].
        """

    def __repr__(self) -> str: ...

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

    def cost_on(self, allocation: Allocation, placement: Placement, model: NetworkModel | None = None) -> ScheduleCost:
        """
        What it costs on the links under a placement, where ranks wait only for what comes to them and
        messages within a node pass its memory; without a model, with the machine's own startup time and port
        bandwidth.
        """

def program_time(steps: Sequence[Schedule], allocation: Allocation, placement: Placement, model: NetworkModel | None = None) -> float:
    """
    Seconds of a program of schedules one after the other, as `Schedule.cost_on` says of one.
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

class SwitchSettings:
    """How switches are simulated, and how messages are cut."""

    def __init__(self, *, vcs: int, buffer: float | None = None, flit: int = 64, payload: int = 1024, header: int = 32, switching: str = 'wormhole', router: str = 'input-queued', arbiter: str = 'round-robin', allocator: str = 'islip', iterations: int = 1, switch_latency: float | None = None, injection: float | None = None, units: int = 1, combining: float | None = None) -> None:
        """
        Sizes are in bytes, the switch's latency in seconds, injection in bytes per second.

        buffer is that of a virtual channel; None: what keeps the longest link busy. switch_latency None: a
        part of the links' latencies. injection, of nodes that are their own switches; None: as much as all
        links of the node. units combine in an output-queued switch, `combining` bytes per second each; None: as
        fast as all that comes into a switch.
        """

class ProgramMeasure:
    """What messages did in simulated switches."""

    @property
    def complete(self) -> bool:
        """False: it was stopped before."""

    @property
    def cycles(self) -> int:
        """Until the last rank was done, or it was stopped."""

    @property
    def cycle_seconds(self) -> float: ...

    @property
    def seconds(self) -> float: ...

    @property
    def finish(self) -> object:
        """[rank]: seconds until it was done."""

    @property
    def packets(self) -> int:
        """That were received."""

    @property
    def flit_hops(self) -> int:
        """Flits that crossed a switch, once for each."""

    @property
    def busy_seconds(self) -> object:
        """[channel]: seconds that it was sending."""

class OperationGraph:
    """Sends, receives and work of ranks, and what each waits for."""

    @property
    def rank_count(self) -> int: ...

    def __len__(self) -> int: ...

    @property
    def messages(self) -> CommGraph:
        """All that is sent, whenever that is."""

    @property
    def sends(self) -> tuple[object, object, object]:
        """Source, target and bytes of every message."""

def read_goal(data: bytes) -> OperationGraph:
    """
    Operations of GOAL text, none of which may wait for each other in a circle.
    """

def channel_name(wiring: SwitchWiring, channel: int) -> str:
    """
    Name a channel: a link of the machine, by its number, or, after all links, from or to a node.
    """

def channel_switches(wiring: SwitchWiring) -> object:
    """[channel]: the switch that it leads from; -1: it leads from a node."""

def simulate_messages(wiring: SwitchWiring, node_of_rank: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], source: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], target: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], bytes: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], *, settings: SwitchSettings, seed: int = 1, threads: int = 1, progress: Callable[[int], object] | None = None) -> ProgramMeasure:
    """
    Simulate messages that all ranks send at once, each its own in the order given.
    """

def simulate_operations(wiring: SwitchWiring, node_of_rank: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], operations: OperationGraph, *, settings: SwitchSettings, seed: int = 1, threads: int = 1, progress: Callable[[int], object] | None = None) -> ProgramMeasure:
    """
    Simulate operations, each of which begins when what it waits for is done.
    """

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
    """What switches can do: names, and what they mean."""

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

class Balance:
    """Who hands how many tasks to whom, and what that costs."""

    @property
    def plan(self) -> numpy.typing.NDArray[numpy.int64]:
        """Rows of from, to and count, ascending; shape ``(messages, 3)``."""

    @property
    def ends(self) -> numpy.typing.NDArray[numpy.int64]:
        """The load of every rank once the plan is carried out."""

    @property
    def measures(self) -> dict[str, int]:
        """
        Messages and tasks, in all and the most of one rank: messages, tasks, max_receives, max_tasks_received, max_sends, max_tasks_sent.
        """

    @property
    def least(self) -> dict[str, int]:
        """
        What none of these can be below in a plan of one round that ends with the same loads.
        """

    @property
    def rounds(self) -> int:
        """More than 1 where ranks hand on what they were given."""

def balance(loads: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], *, method: str = 'auto', allocation: Allocation | None = None, placement: Placement | None = None) -> Balance:
    """
    Spreads equal tasks evenly over ranks; loads count those of each rank.

    `balancers()` lists the methods; some choose near partners, by a placement and its allocation. Throws Error for no ranks, negative loads, loads that add up to 2**62 or more, and a placement of another number of ranks.
    """

class WeightedBalance:
    """Where tasks of unequal loads and sizes go."""

    @property
    def owners(self) -> numpy.typing.NDArray[numpy.uint32]:
        """The rank of each task."""

    @property
    def load_max(self) -> float:
        """Of the busiest rank, once tasks have moved."""

    @property
    def load_limit(self) -> float:
        """The mean with the tolerance, or the largest task."""

    @property
    def moved_bytes(self) -> int:
        """Of all tasks that change ranks."""

    @property
    def least_bytes(self) -> int:
        """What must move until no rank exceeds the limit, or its memory."""

    @property
    def cut_bytes(self) -> int:
        """That tasks of different ranks send to each other in a period."""

    @property
    def hop_bytes(self) -> float:
        """The same, times the distance on the machine; 0 without one."""

    @property
    def cut_bytes_before(self) -> int:
        """That they sent before tasks moved."""

    @property
    def hop_bytes_before(self) -> float:
        """The same, times the distance."""

    @property
    def moved_hop_bytes(self) -> float:
        """Of all tasks that change ranks, times the distance."""

    @property
    def cost(self) -> float:
        """
        Bytes cut in all periods and bytes moved, summed; with a placement times the distance and a sixteenth. What is made little where tasks have a graph or a placement.
        """

    @property
    def cost_before(self) -> float:
        """The same before tasks moved."""

def balance_weighted(loads: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float], bytes: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], owners: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], ranks: int, *, memory: int = 9223372036854775807, tolerance: float = 0.02, graph: CommGraph | None = None, periods: float = 1.0, allocation: Allocation | None = None, placement: Placement | None = None) -> WeightedBalance:
    """
    Moves tasks with loads and sizes so that no rank's load exceeds the mean by more than the tolerance, nor its bytes the memory, and few bytes travel.

    With a graph of what tasks send to each other in a period, few of these bytes pass between ranks, either; with a placement of the ranks, both count times the distance, and inside a node a sixteenth of a hop. Throws Error for loads, bytes and owners that cannot be, and where no place is found for the bytes.
    """

def balancers() -> list[dict[str, object]]:
    """All balancers with their options."""

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

    @property
    def time(self) -> float | None:
        """
        Seconds, as `topoloom.placements.predicted_time`; None where the machine gives no bandwidths.
        """

    @property
    def time_by(self) -> str:
        """The part that takes most: network, memory, sender or nothing."""

    @property
    def time_where(self) -> str:
        """The rank, or what proves the load of the network."""

def find_bounds(graph: CommGraph, allocation: Allocation, *, phases: Sequence[CommGraph] = [], sharing: Sharing | None = None, seconds: float | None = None, work: int | None = None, threads: int = 0, progress: Callable[[int], object] | None = None) -> Bounds:
    """
    Proves how few hop-bytes, how little congestion, and how little time any placement has at least.

    Phases count for time alone: graphs sent one after the other, whose sum is the graph. Ranks may share slots as for place(). A budget ends the search for better proofs.
    """

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

    def __reduce__(self) -> tuple[object, ...]: ...

def place(graph: CommGraph, allocation: Allocation, mapper: str = 'auto', *, objective: Objective | str = ..., phases: Sequence[CommGraph] = [], background: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float] | None = None, sharing: Sharing | None = None, previous: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int] | None = None, migration_cost: int = 0, seed: int = 1, seconds: float | None = None, work: int | None = None, threads: int = 0, progress: Callable[[int], object] | None = None) -> PlaceResult:
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

def choose_nodes(graph: CommGraph, free: Allocation, count: int, mapper: str = 'auto', *, seed: int = 1, seconds: float | None = None, work: int | None = None, threads: int = 0, progress: Callable[[int], object] | None = None) -> ChosenNodes:
    """
    Chooses the free nodes on which the pattern has the fewest hop-bytes, and places its ranks.
    """

def mappers() -> list[dict[str, object]]:
    """All mappers with their options."""

class Evaluator:
    """
    A placement that you change: its value under an objective, kept up to date, and what changes would gain.
    """

    def __init__(self, graph: CommGraph, allocation: Allocation, placement: Placement, *, objective: Objective | str = ..., phases: Sequence[CommGraph] = [], background: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[float] | None = None) -> None:
        """
        Starts from a placement; ranks may share slots where it lets them. What a slot can hold is not
        checked. Objective, phases and background are those of `topoloom.place`.
        """

    @property
    def value(self) -> float:
        """
        The objective's value: what `objective_value` gives for the placement, bit for bit.
        """

    @property
    def placement(self) -> Placement:
        """A copy of the placement as it is."""

    @overload
    def gain_of_swap(self, rank_a: int, rank_b: int) -> float:
        """
        By how much the value would fall if two ranks exchanged their slots; negative: rise.
        """

    @overload
    def gain_of_swap(self, rank_a: numpy.typing.NDArray[numpy.integer] | Sequence[int], rank_b: numpy.typing.NDArray[numpy.integer] | Sequence[int] | int) -> numpy.typing.NDArray[numpy.float64]:
        """
        The same for many candidates, each by itself: arrays of as many ranks, or one rank for all.
        """

    @overload
    def gain_of_swap(self, rank_a: int, rank_b: numpy.typing.NDArray[numpy.integer] | Sequence[int]) -> numpy.typing.NDArray[numpy.float64]:
        """The same of one rank with each of an array."""

    @overload
    def gain_of_move(self, rank: int, slot: int) -> float:
        """
        By how much the value would fall if a rank moved to a slot, which must be free unless ranks
        share slots; negative: rise.
        """

    @overload
    def gain_of_move(self, rank: numpy.typing.NDArray[numpy.integer] | Sequence[int], slot: numpy.typing.NDArray[numpy.integer] | Sequence[int] | int) -> numpy.typing.NDArray[numpy.float64]:
        """
        The same for many candidates, each by itself: arrays of as many, or one slot for all.
        """

    @overload
    def gain_of_move(self, rank: int, slot: numpy.typing.NDArray[numpy.integer] | Sequence[int]) -> numpy.typing.NDArray[numpy.float64]:
        """The same of one rank with each of an array."""

    def swap(self, rank_a: int, rank_b: int) -> None:
        """Exchanges the slots of two ranks."""

    def move(self, rank: int, slot: int) -> None:
        """Moves a rank to a slot, which must be free unless ranks share slots."""

    def undo(self) -> None:
        """
        Takes back the last swap or move; only once, but a swap is its own reverse.
        """

def slot_capacities(graph: CommGraph, allocation: Allocation, sharing: Sharing | None = None) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]]:
    """
    What fits, in integers: the load of every rank, and how much each slot of the allocation may hold.
    All 1 where ranks do not share slots.
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
    The slots that the topoloom_mapper at this address chooses. Nothing checks the address.
    """

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

def order_axes(allocation: Allocation, extents: Sequence[int], traffic: Sequence[tuple[Sequence[int], str, int]], progress: Callable[[int], object] | None = None) -> tuple[AxisOrder, AxisOrder, AxisOrder]:
    """
    The axes as given, in their best order, and split as well. Traffic: (axes, collective, bytes per rank). `progress` is called now and then with the work done; False ends the search.
    """

def order_layouts(allocation: Allocation, layouts: Sequence[Sequence[tuple[Sequence[int], Sequence[int], str, int]]], progress: Callable[[int], object] | None = None) -> tuple[AxisOrder, tuple[int, AxisOrder], tuple[int, AxisOrder]]:
    """
    The first layout, the best on the same slots with its index, and the best with ranks put elsewhere. A layout has, for each traffic, (extents, axes, collective, bytes per rank). `progress` is called now and then with the work done; False ends the search.
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

def fitted_schedules(allocation: Allocation, placement: Placement) -> list[str]:
    """Schedules with options that suit where ranks are on a machine."""

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

def rank_program(schedule: Schedule, rank: int) -> tuple[int, list[tuple[list[tuple[bool, tuple[str, int], tuple[str, int], int]], list[tuple[int, tuple[str, int], int]], list[tuple[int, tuple[str, int], int]], list[tuple[bool, tuple[str, int], tuple[str, int], int]], list[tuple[bool, tuple[str, int], tuple[str, int], int]]]]]:
    """
    Bytes of scratch memory, and the rounds of a rank: copies before, receives, sends, copies meanwhile,
    work after. A message is (peer, place, bytes), a work (combines, from, to, bytes), a place
    (memory, offset) in `input`, `output` or `scratch`. A broadcast has no input.
    """

CELL_MEMORY: int = 11

def named_affinities() -> list[tuple[str, str, list[int]]]:
    """
    Assignments of eight threads to the elements of the Cell that have a name: name, what it is, and
    the element of every thread.
    """

def bus_stations(allocation: Allocation) -> list[int]:
    """
    Stations of elements 0 ... 7: of the SPEs of the Cell, or of the eight slots in order.
    """

class BusAffinities:
    """All 40,320 assignments, the best first."""

    @property
    def scores(self) -> object:
        """
        A row for each: load of the busiest link, imbalance of the directions, excess over two
        messages on links, what goes half-way around; in halves of `unit`. Less is better, the
        first number first.
        """

    @property
    def elements(self) -> numpy.typing.NDArray[numpy.uint8]:
        """A row for each: the element of every thread."""

    def rates(self, allocation: Allocation, graph: CommGraph, *, piece: int = 16384, startup: float = 0.0, memory: int | None = None, ring_ends: bool = False) -> numpy.typing.NDArray[numpy.float64]:
        """
        A row for each, in bytes per second: worst, mean and best of the slowest message, then over
        all messages; as bus_rates() finds them.
        """

    @property
    def optima(self) -> int:
        """How many are as good as the first."""

    @property
    def unit(self) -> int:
        """Bytes: the largest size that divides those of all messages."""

def rank_bus_affinities(allocation: Allocation, graph: CommGraph) -> BusAffinities:
    """Scores all assignments of eight threads to the elements of a ring bus."""

class BusRates:
    """
    Bytes per second: worst, mean and best over the ways of half-way messages.
    """

    @property
    def messages(self) -> numpy.typing.NDArray[numpy.float64]:
        """A row for each message."""

    @property
    def slowest(self) -> list[float]:
        """Of the slowest message."""

    @property
    def average(self) -> list[float]:
        """Over all messages."""

    @property
    def ways(self) -> int:
        """Of the half-way messages together."""

def bus_rates(machine: Machine, sources: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], targets: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], bytes: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], *, piece: int = 16384, startup: float = 0.0, memory: int | None = None, ring_ends: bool = False) -> BusRates:
    """
    Bandwidths of messages between stations of a ring bus that start at once: pieces in turn on its
    rings, each of which carries as many disjoint ones as its `transfers`. `memory` is the station of
    the memory controller, `ring_ends` an effect that was observed at the ends of the bus.
    """

class Bipartitions:
    """Halves of the threads of a blade, by the bytes between them."""

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
        """Halves that are as good as the best."""

    @property
    def pessima(self) -> int: ...

def rank_bipartitions(graph: CommGraph) -> Bipartitions:
    """Looks at all halves of an even number of up to 24 threads."""

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

def nic_all_gather_time(strategy: str, ranks: int, bytes: float, costs: CombiningCosts, *, direct: int = 0, printed: bool = False) -> float:
    """
    The same, sent from memory of the NIC; the last `direct` dimensions of a hypercube are one round.
    """

def relay_all_gather_time(ranks: int, k: int, bytes: float, costs: CombiningCosts) -> float:
    """The same by k-prefix or k-shift."""

def many_to_many_time(strategy: str, ranks: int, degree: float, bytes: float, costs: CombiningCosts, *, printed: bool = False) -> float:
    """
    Seconds of a many-to-many of this number of bytes to each of `degree` ranks.
    """

def virtual_mesh_receivers(ranks: int, axes: int, rank: int) -> list[list[int]]:
    """
    By round: to whom a rank of a virtual mesh of 2 or 3 axes sends, holes stood in for.
    """

class CostSample:
    """Costs without outliers, those far above the median."""

    @property
    def mean(self) -> float: ...

    @property
    def sigma(self) -> float:
        """Their standard deviation, with n - 1."""

    @property
    def n(self) -> int:
        """How many are left."""

    @property
    def outliers(self) -> int:
        """How many were left out."""

class CostGroup:
    """A group of processes beside others."""

    @property
    def members(self) -> list[int]:
        """Its processes, ascending."""

    @property
    def inside(self) -> CostSample:
        """Messages from each of them to each other."""

    @property
    def into(self) -> CostSample:
        """Messages to them from the groups beside it."""

    @property
    def t(self) -> float:
        """
        Student's t of what comes in against what stays inside, with pooled variance.
        """

    @property
    def p(self) -> float:
        """The two-sided probability of that t if both had one mean."""

    @property
    def chance(self) -> float:
        """
        At most how probable its own groups are if it is homogeneous; 1 without any.
        """

    @property
    def groups(self) -> list[CostGroup]:
        """The groups in it; none if it is homogeneous."""

class CostGroups:
    """Processes that are nearer to each other than to others."""

    @property
    def of(self) -> list[int]:
        """The outermost group of every process, numbered by their lowest ones."""

    @property
    def count(self) -> int:
        """The number of outermost groups."""

    @property
    def chance(self) -> float:
        """
        At most how probable these are if all processes are alike; 1 for one group.
        """

    @property
    def groups(self) -> list[CostGroup]:
        """The outermost groups; none if all processes are alike."""

def find_cost_groups(costs: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[Sequence[float]], *, p: float = 0.01) -> CostGroups:
    """
    Groups of processes by the seconds of messages from each, by row, to each. With probability p at most, processes that are alike are split.
    """

def group_costs(costs: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[Sequence[float]], groups: CostGroups, *, p: float = 0.01) -> numpy.typing.NDArray[numpy.float64]:
    """
    The mean, without outliers, of messages between the same two groups, in the place of each of them, and of those inside a group that is not split; means that do not differ with probability p are pooled.
    """

def binomial_order(costs: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[Sequence[float]], method: str, *, root: int = 0, channels: int = 1, seed: int = 1) -> list[int]:
    """
    The process on every position of a binomial tree. Methods: standard, fastest-edge-first, channel-aware, random.
    """

def binomial_scatter_steps(costs: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[Sequence[float]], order: numpy.typing.NDArray[numpy.integer] | numpy.typing.NDArray[numpy.floating] | Sequence[int], *, channels: int = 1, groups: CostGroups | None = None, reading: str = 'growing') -> list[float]:
    """
    Seconds of every step of a binomial scatter of one block to each, where costs are of a block; without groups of find_cost_groups() it finds them. Readings: growing, messages of a step within a group share one channel and those between the same two groups all, and each more adds half the bandwidth of one; printed, those within a group share all too, and more add nothing; node, all of them share all, and each more adds half; independent, none share.
    """

def grid_line_messages(extents: Sequence[int], operation: str, bytes: int, *, root: int = 0, pieces: int = 0) -> list[list[tuple[int, int, int]]]:
    """
    By round: (from, to, bytes) of a broadcast, reduce, scatter or gather along all lines of an axis at once, axis after axis, from or to the same position of every line: along binomial trees, or down chains in this number of pieces.
    """

class Strategy:
    """
    What calls cost where their ranks are, and which schedules libtopoloom-collective takes for them.
    """

    @overload
    def __init__(self, ranks: int, model: NetworkModel) -> None:
        """Every rank is on a node of its own."""

    @overload
    def __init__(self, allocation: Allocation, placement: Placement, model: NetworkModel | None = None) -> None:
        """
        Messages pass the links under a placement; without a model they cost what the machine says.
        """

    def cost(self, schedule: Schedule) -> ScheduleCost:
        """
        What a schedule costs where ranks wait only for what comes to them; with more than 2^16
        messages on a machine, about that, by some of them in rounds that wait for each other. Ranks
        of a node send through its memory.
        """

    def choose(self, operation: str, bytes: int, in_rank_order: bool = False) -> str:
        """
        The schedule that a call takes; in_rank_order if its operator is not commutative.
        """

    @staticmethod
    def size_of(operation: str, bytes: int) -> int:
        """
        One of 16 sizes between two powers of two that stands for this one: calls of both take the same schedule.
        """

def check_decision_table(text: str) -> None:
    """
    Raises Error, which names the line, for what libtopoloom-collective would not read as one.
    """

def check_machine_file(text: str) -> None:
    """As check_decision_table."""

def check_placement_file(text: str) -> None:
    """As check_decision_table."""

def check_schedule_text(text: str) -> None:
    """
    Raises Error for the name of a schedule, or options, that are never right, whatever the number of
    ranks.
    """

def usual_schedule(operation: str, ranks: int, bytes: int, in_all: bool = False) -> str:
    """What MPICH takes by default, with options; bytes as Schedule has them."""

def candidates(operation: str, ranks: int, bytes: int, fitted: Sequence[str] = []) -> list[str]:
    """
    Schedules that a call may take, each as it is by default, as fitted_schedules() has it, and with
    the values of its options that are worth a try.
    """
