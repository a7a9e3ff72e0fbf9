// SPDX-License-Identifier: BSD-3-Clause
// Returns properties of links and node pairs as arrays, and makes machines from arrays.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "call_python.hpp"
#include "machines/machine_methods.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/machine/network_matrices.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/machine/text/graph_writer.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

/// Collects the answers for the given links, by default for all. Returns an array, or a single number for a
/// single link.
template <class Number, class Answer>
nb::object query_links(const Machine& m, const std::optional<Ids>& given, const Answer& answer) {
    const NetworkView network(m.topology());
    const std::size_t count = network.link_count();
    std::vector<Number> answers;
    if (given) {
        for (const std::uint32_t link : given->values("link")) {
            if (link >= count) fail("link ", link, " does not exist: the machine has ", count);
            answer(network, Link{link}, answers);
        }
    } else {
        answers.reserve(count);
        for (const Link link : ids<Link>(count)) answer(network, link, answers);
    }
    if (given && given->is_single() && answers.size() == 1) return nb::cast(answers[0]);
    return new_array(std::move(answers));
}

nb::object bandwidths(const Machine& m, const std::optional<Ids>& links) {
    return query_links<double>(m, links, [](const NetworkView& network, Link link, auto& answers) {
        answers.push_back(network.bandwidth(link).value);
    });
}

nb::object latencies(const Machine& m, const std::optional<Ids>& links) {
    return query_links<double>(m, links, [](const NetworkView& network, Link link, auto& answers) {
        answers.push_back(network.latency(link).value);
    });
}

nb::object ends(const Machine& m, const std::optional<Ids>& links) {
    const nb::object flat =
        query_links<std::uint32_t>(m, links, [](const NetworkView& network, Link link, auto& answers) {
            const LinkEnds two = network.ends(link);
            answers.push_back(two.from);
            answers.push_back(two.to);
        });
    if (links && links->is_single()) return flat;
    return flat.attr("reshape")(-1, 2);
}

nb::object links_up(const Machine& m) {
    std::vector<std::uint32_t> up;
    const NetworkView network(m.topology());
    for (const Link link : ids<Link>(network.link_count())) {
        if (network.is_up(link)) up.push_back(link.value);
    }
    return new_array(std::move(up));
}

/// The ids in the argument; all ids if the argument is missing.
template <class I>
std::vector<I> ids_or_all(const std::optional<Ids>& given, const char* name, std::size_t count) {
    if (given) return copy_elements<I>(*given, name);
    const ids<I> all(count);
    return {all.begin(), all.end()};
}

template <class Make>
nb::object make_square_array(std::size_t rows, const Make& make) {
    PairMatrix matrix;
    {
        const nb::gil_scoped_release unlocked;
        matrix = make();
    }
    return new_array(std::move(matrix)).attr("reshape")(rows, rows);
}

nb::object hops_of_nodes(const Machine& m, const std::optional<Ids>& given) {
    const std::vector<Node> nodes = ids_or_all<Node>(given, "nodes", m.node_count());
    return make_square_array(nodes.size(), [&] { return hop_matrix(m, nodes); });
}

nb::object distances_of_slots(const Machine& m, const std::optional<Ids>& given) {
    const std::vector<Slot> slots = ids_or_all<Slot>(given, "slots", m.slot_count());
    return make_square_array(slots.size(), [&] { return distance_matrix(m, slots); });
}

nb::object routes(const Machine& m, const Ids& a, const Ids& b) {
    const std::span<const Node> from = elements<Node>(a, "node_a");
    const std::span<const Node> to = elements<Node>(b, "node_b");
    RouteMatrix rows;
    {
        const nb::gil_scoped_release unlocked;
        rows = route_matrix(m, from, to);
    }
    return call_python("topoloom.machines.route_matrix", "build_sparse_matrix", from.size(), m.link_count(),
                       new_array(std::move(rows.first)), new_array(std::move(rows.link)),
                       new_array(std::move(rows.share)));
}

Machine from_links(const ArrayArgument<std::uint32_t, 2>& links, const Numbers& bandwidth,
                   const Numbers& latency, std::optional<std::uint32_t> nodes,
                   const std::optional<std::vector<Ids>>& given_routes, bool directed) {
    const std::span<const std::uint32_t> link_ends = links.values("links");
    if (links.size(1) != 2)
        fail("links has rows of ", links.size(1), "; give pairs of vertices, one per link");
    std::vector<std::vector<std::uint32_t>> stops;
    if (given_routes) {
        for (std::size_t i = 0; i < given_routes->size(); ++i) {
            const std::string name = "routes[" + std::to_string(i) + "]";
            stops.push_back(copy_elements<std::uint32_t>((*given_routes)[i], name.c_str()));
        }
    }
    return make_graph_machine({link_ends, bandwidth.values("bandwidth"), latency.values("latency"), directed},
                              nodes, std::move(stops));
}

}  // namespace

void add_machine_arrays(nb::class_<Machine>& machine) {
    machine
        .def("link_ends", &ends, "link"_a = nb::none(),
             nb::sig("def link_ends(self, link: numpy.typing.NDArray[numpy.integer] | Sequence[int] | None = "
                     "None) -> numpy.typing.NDArray[numpy.uint32]"),
             "The same for an array of links, by default all: uint32 array (links, 2).")
        .def("bandwidth", &bandwidths, "link"_a = nb::none(),
             nb::sig("def bandwidth(self, link: numpy.typing.NDArray[numpy.integer] | Sequence[int] | None = "
                     "None) -> numpy.typing.NDArray[numpy.float64]"),
             "The same for an array of links, by default all.")
        .def("latency", &latencies, "link"_a = nb::none(),
             nb::sig("def latency(self, link: numpy.typing.NDArray[numpy.integer] | Sequence[int] | None = "
                     "None) -> numpy.typing.NDArray[numpy.float64]"),
             "The same for an array of links, by default all.")
        .def_prop_ro("links_up", &links_up,
                     nb::sig("def links_up(self) -> numpy.typing.NDArray[numpy.uint32]"),
                     "The links that are up, ascending.")
        .def_prop_ro(
            "vertex_count", [](const Machine& m) { return NetworkView(m.topology()).vertex_count(); },
            "The number of vertices: routers, switches, and nodes with links.")
        .def("hop_matrix", &hops_of_nodes, "nodes"_a = nb::none(),
             nb::sig("def hop_matrix(self, nodes: numpy.typing.NDArray[numpy.integer] | Sequence[int] | None "
                     "= None) -> numpy.typing.NDArray[numpy.uint32]"),
             "Computes the hops between all of the nodes.\n\n"
             "Parameters\n"
             "----------\n"
             "nodes : array of int, default all\n"
             "    Numbers of nodes; with failures give `nodes_up`.\n\n"
             "Returns\n"
             "-------\n"
             "array\n"
             "    uint32, shape (n, n): [i, j] is `hops(nodes[i], nodes[j])`.\n\n"
             "Raises\n"
             "------\n"
             "topoloom.Error\n"
             "    For nodes that do not exist, are down or do not reach each other, and where the matrix\n"
             "    does not fit in memory.")
        .def("distance_matrix", &distances_of_slots, "slots"_a = nb::none(),
             nb::sig("def distance_matrix(self, slots: numpy.typing.NDArray[numpy.integer] | Sequence[int] | "
                     "None = None) -> numpy.typing.NDArray[numpy.uint32]"),
             "Computes the distances between all of the slots.\n\n"
             "Parameters\n"
             "----------\n"
             "slots : array of int, default all\n"
             "    Numbers of slots, such as those of an allocation.\n\n"
             "Returns\n"
             "-------\n"
             "array\n"
             "    uint32, shape (n, n): [i, j] is `distance(slots[i], slots[j])`.\n\n"
             "Raises\n"
             "------\n"
             "topoloom.Error\n"
             "    For slots that do not exist, whose nodes are down or do not reach each other, and where "
             "the\n"
             "    matrix does not fit in memory.")
        .def(
            "route_matrix", &routes, "node_a"_a, "node_b"_a,
            nb::sig("def route_matrix(self, node_a: numpy.typing.NDArray[numpy.integer] | Sequence[int], "
                    "node_b: numpy.typing.NDArray[numpy.integer] | Sequence[int]) -> scipy.sparse.csr_array"),
            "Computes the routes of pairs of nodes as a sparse matrix. Needs SciPy.\n\n"
            "With r = route_matrix(a, b), r.T @ bytes are the bytes on every link when each pair sends its\n"
            "bytes. Where routing adapts to the load, these are the routes in an idle network.\n\n"
            "Parameters\n"
            "----------\n"
            "node_a, node_b : array of int\n"
            "    Pair i is from node_a[i] to node_b[i].\n\n"
            "Returns\n"
            "-------\n"
            "scipy.sparse.csr_array\n"
            "    float64, shape (pairs, link_count): the share of a message of pair i that link j carries.\n"
            "    Rows of a node to itself are empty; the others add up to the hops, or to more where routes\n"
            "    make detours.\n\n"
            "Raises\n"
            "------\n"
            "topoloom.Error\n"
            "    For nodes that do not exist, pairs without a route, arrays that are not equally long, and\n"
            "    without SciPy.")
        .def_static(
            "from_links", &from_links, "links"_a, "bandwidth"_a, "latency"_a = 0.0, "nodes"_a = nb::none(),
            "routes"_a = nb::none(), "directed"_a = false,
            nb::sig(
                "def from_links(links: numpy.typing.NDArray[numpy.integer] | Sequence[Sequence[int]], "
                "bandwidth: numpy.typing.NDArray[numpy.floating] | Sequence[float] | float, latency: "
                "numpy.typing.NDArray[numpy.floating] | Sequence[float] | float = 0.0, nodes: int | None = "
                "None, routes: Sequence[Sequence[int]] | None = None, directed: bool = False) -> Machine"),
            "Makes a machine from its links.\n\n"
            "Links have ids in the order of (from, to), not of the argument: see `link_ends()`. Nodes and\n"
            "failures can be added to the text: `Machine(machine.text + '+node:2:8')`.\n\n"
            "Parameters\n"
            "----------\n"
            "links : array of int, shape (L, 2)\n"
            "    The two vertices that each joins. Vertices 0 to nodes-1 are nodes, the others switches.\n"
            "bandwidth : float or array of float, shape (L,)\n"
            "    Bytes per second and direction; 1 for all where only bytes count.\n"
            "latency : float or array of float, shape (L,), default 0\n"
            "    Seconds.\n"
            "nodes : int, default None\n"
            "    How many of the vertices are nodes; None: all of them.\n"
            "routes : sequence of sequences of int, default None\n"
            "    Vertices from one node to another, for pairs that do not take a shortest path, at every\n"
            "    vertex to the neighbor with the lowest number.\n"
            "directed : bool, default False\n"
            "    Whether each leads only from its first vertex to its second, or both ways.\n\n"
            "Raises\n"
            "------\n"
            "topoloom.Error\n"
            "    For double links and loops, bandwidths that are not positive, negative latencies, nodes "
            "that\n"
            "    do not reach each other, and routes that do not follow links.")
        .def_static(
            "from_networkx",
            [](nb::handle graph, nb::handle nodes, nb::handle bandwidth, nb::handle latency) {
                return call_python("topoloom.machines.networkx_machine", "from_networkx", graph, nodes,
                                   bandwidth, latency);
            },
            "graph"_a.none(), "nodes"_a = nb::none(), "bandwidth"_a.none() = "bandwidth",
            "latency"_a.none() = "latency",
            nb::sig(
                "def from_networkx(graph: networkx.Graph, nodes: collections.abc.Iterable[object] | None = "
                "None, bandwidth: str | None = 'bandwidth', latency: str | None = 'latency') -> Machine"),
            "Makes a machine from a NetworkX graph of its links, which lead both ways unless it is a "
            "DiGraph.\n\n"
            "Parameters\n"
            "----------\n"
            "graph : networkx.Graph or networkx.DiGraph\n"
            "    Vertices of any labels.\n"
            "nodes : iterable of labels, default all\n"
            "    The vertices that are nodes: node i is the i-th of them. The others are switches, in the\n"
            "    graph's order.\n"
            "bandwidth : str or None, default 'bandwidth'\n"
            "    The attribute of links with their bytes per second, per direction; None, or where no link\n"
            "    has it: 1.\n"
            "latency : str or None, default 'latency'\n"
            "    The attribute with their seconds; None, or where no link has it: 0.\n\n"
            "Raises\n"
            "------\n"
            "topoloom.Error\n"
            "    Where `from_links` does, for labels that the graph does not have, attributes that only "
            "some\n"
            "    links have, and parallel links.");
}

}  // namespace topoloom::python
