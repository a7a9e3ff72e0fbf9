// SPDX-License-Identifier: BSD-3-Clause
// Exposes communication graphs, their generators and text readers to Python.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <variant>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call_python.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/pattern/comm_graph.hpp"
#include "topoloom/pattern/generators/molecular_dynamics.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/pattern/generators/ring.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/pattern/generators/triangular_grid.hpp"
#include "topoloom/pattern/graph_equality.hpp"
#include "topoloom/pattern/readers/dense_matrix.hpp"
#include "topoloom/pattern/readers/edge_text.hpp"
#include "topoloom/pattern/readers/matrix_market.hpp"
#include "topoloom/pattern/readers/metis.hpp"
#include "topoloom/pattern/readers/monitoring.hpp"
#include "value_semantics.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

using Unlocked = nb::call_guard<nb::gil_scoped_release>;

template <class T, class Number>
std::span<const T> elements_or_none(const std::optional<ArrayArgument<Number>>& array, const char* name) {
    return array ? elements<T>(*array, name) : std::span<const T>{};
}

std::vector<double> copy_loads(const std::optional<Numbers>& load) {
    return load ? copy_elements<double>(*load, "load") : std::vector<double>{};
}

CommGraph add_proxies(CommGraph graph, const std::optional<Ids>& proxied) {
    const std::span<const Rank> ranks =
        proxied ? elements<Rank>(*proxied, "proxied") : std::span<const Rank>{};
    return std::move(graph).with_proxies({ranks.begin(), ranks.end()});
}

CommGraph from_edges(std::size_t rank_count, const Ids& source, const Ids& target, const Integers& bytes,
                     const std::optional<Integers>& messages, const std::optional<Numbers>& load,
                     const std::optional<Ids>& proxied) {
    return add_proxies(
        CommGraph::from_edges(rank_count, elements<Rank>(source, "source"), elements<Rank>(target, "target"),
                              elements<Bytes>(bytes, "bytes"),
                              elements_or_none<std::int64_t>(messages, "messages"), copy_loads(load)),
        proxied);
}

CommGraph from_csr(const ArrayArgument<std::uint64_t>& first, const Ids& peer, const Integers& bytes,
                   const std::optional<Integers>& messages, const std::optional<Numbers>& load,
                   const std::optional<Integers>& self_bytes, const std::optional<Integers>& self_messages,
                   const std::optional<Ids>& proxied) {
    return add_proxies(
        CommGraph::from_csr(elements<std::uint64_t>(first, "first"), elements<Rank>(peer, "peer"),
                            elements<Bytes>(bytes, "bytes"),
                            elements_or_none<std::int64_t>(messages, "messages"), copy_loads(load),
                            elements_or_none<Bytes>(self_bytes, "self_bytes"),
                            elements_or_none<std::int64_t>(self_messages, "self_messages")),
        proxied);
}

CommGraph make_stencil(const std::vector<std::uint32_t>& grid, std::size_t points,
                       const std::variant<bool, std::vector<bool>>& periodic, std::int64_t bytes) {
    std::vector<GridAxis> axes;
    const auto* each = std::get_if<std::vector<bool>>(&periodic);
    if (each && each->size() != grid.size())
        fail("periodic has ", each->size(), " entries for a grid of ", grid.size(), " axes");
    for (std::size_t d = 0; d < grid.size(); ++d)
        axes.push_back({grid[d], each ? (*each)[d] : std::get<bool>(periodic)});
    return stencil(axes, stencil_shape(grid.size(), points), Bytes{bytes});
}

std::string_view copy_text(const nb::bytes& data) { return {data.c_str(), data.size()}; }

/// Reads a graph whose values are multiplied by `factor`. Returns also how many values were rounded.
template <class Read>
std::pair<CommGraph, std::uint64_t> read_scaled(const nb::bytes& data, std::optional<double> factor,
                                                const Read& read) {
    ValueScale scale{.factor = factor.value_or(1)};
    CommGraph graph = read(copy_text(data), factor ? &scale : nullptr);
    return {std::move(graph), scale.rounded};
}

template <auto read>
void define_scaled_reader(nb::module_& m, const char* name) {
    m.def(
        name,
        [](const nb::bytes& data, std::optional<double> scale) { return read_scaled(data, scale, read); },
        "data"_a, "scale"_a = nb::none());
}

/// Makes an array with one value per rank. A view would not do: if all ranks have the same value, the graph
/// does not store it.
template <class T, class Value>
nb::object list_per_rank(const CommGraph& graph, const Value& value) {
    const nb::object array = nb::module_::import_("numpy").attr("empty")(
        graph.rank_count(), nb::str(std::is_same_v<T, double> ? "float64" : "int64"));
    auto writable = nb::cast<nb::ndarray<T, nb::ndim<1>, nb::c_contig>>(array);
    for (const Rank u : ids<Rank>(graph.rank_count())) writable.data()[u.value] = value(u);
    return array;
}

/// Adds conversions to and from sparse matrices of SciPy and graphs of NetworkX.
void add_conversions(nb::class_<CommGraph>& graph_class) {
    graph_class
        .def_static(
            "from_scipy",
            [](nb::handle matrix, nb::handle messages) {
                return call_python("topoloom.graphs.scipy_graph", "from_scipy", matrix, messages);
            },
            "matrix"_a.none(), "messages"_a = nb::none(),
            nb::sig("def from_scipy(matrix: scipy.sparse.sparray | scipy.sparse.spmatrix, messages: "
                    "scipy.sparse.sparray | scipy.sparse.spmatrix | None = None) -> CommGraph"),
            "A graph from a sparse matrix of bytes: [u, v] is what rank u sends to rank v.\n\n"
            "Every stored entry is an edge, zeros too; duplicates are summed. The diagonal is what ranks\n"
            "send to themselves. Needs SciPy.\n\n"
            "Parameters\n"
            "----------\n"
            "matrix : scipy.sparse array or matrix, shape (n, n)\n"
            "    Bytes: integers, of any type.\n"
            "messages : scipy.sparse array or matrix, shape (n, n), default None\n"
            "    In how many messages; an edge without an entry has none. None: one for each stored "
            "entry.\n\n"
            "Raises\n"
            "------\n"
            "topoloom.Error\n"
            "    For a matrix that is not square, numbers that are negative, not integers or not finite, "
            "and\n"
            "    without SciPy.")
        .def(
            "to_scipy",
            [](const CommGraph& g, std::string_view values) {
                return call_python("topoloom.graphs.scipy_graph", "to_scipy", nb::find(g), values);
            },
            "values"_a = "bytes",
            nb::sig("def to_scipy(self, values: str = 'bytes') -> scipy.sparse.csr_array"),
            "The graph as a sparse matrix, what ranks send to themselves on its diagonal. Needs SciPy.\n\n"
            "Parameters\n"
            "----------\n"
            "values : {'bytes', 'messages'}, default 'bytes'\n"
            "    What is in it.\n\n"
            "Returns\n"
            "-------\n"
            "scipy.sparse.csr_array\n"
            "    int64, shape (n, n); both matrices have the same entries, so that\n"
            "    `CommGraph.from_scipy(g.to_scipy(), g.to_scipy('messages'))` is the graph g, but for loads.")
        .def_static(
            "from_networkx",
            [](nb::handle graph, nb::handle weight) {
                return call_python("topoloom.graphs.networkx_graph", "from_networkx", graph, weight);
            },
            "graph"_a.none(), "weight"_a.none() = "bytes",
            nb::sig("def from_networkx(graph: networkx.Graph, weight: str | None = 'bytes') -> CommGraph"),
            "A communication graph from one of NetworkX.\n\n"
            "Where the labels are 0 to n-1 these are the ranks; else ranks follow the graph's order, and\n"
            "rank i is `list(graph)[i]`. An edge of an undirected graph is one in both directions, each "
            "with\n"
            "its bytes. Parallel edges are summed.\n\n"
            "Parameters\n"
            "----------\n"
            "graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph\n"
            "    Edges may have 'messages' (1 if not), vertices a 'load' (1 if not).\n"
            "weight : str or None, default 'bytes'\n"
            "    The attribute of edges with their bytes, integers; None: 1 byte each.\n\n"
            "Raises\n"
            "------\n"
            "topoloom.Error\n"
            "    For edges without that attribute, and numbers that are negative, not integers or not "
            "finite.")
        .def(
            "to_networkx",
            [](const CommGraph& g) {
                return call_python("topoloom.graphs.networkx_graph", "to_networkx", nb::find(g));
            },
            nb::sig("def to_networkx(self) -> networkx.DiGraph"),
            "The graph as a networkx.DiGraph of the ranks 0 to n-1. Needs NetworkX.\n\n"
            "Edges have 'bytes' and 'messages', vertices a 'load'; what ranks send to themselves are\n"
            "self-loops. `CommGraph.from_networkx` makes the same graph of it.");
}

void add_graph_value_semantics(nb::class_<CommGraph>& graph) {
    graph.def("__repr__", [](const CommGraph& g) {
        return "CommGraph(" + std::to_string(g.rank_count()) + " ranks, " + std::to_string(g.edge_count()) +
               " edges, " + std::to_string(g.total_bytes().value) + " bytes)";
    });
    add_equality(graph, &are_equal, &hash_graph);
    add_pickling(graph, "CommGraph", [](const nb::object& self, const CommGraph& g, const auto& add) {
        const auto unless_empty = [&](bool is_empty, const char* name) {
            return is_empty ? nb::object(nb::none()) : nb::object(self.attr(name));
        };
        return add(self.attr("first"), self.attr("peer"), self.attr("bytes"), self.attr("messages"),
                   unless_empty(g.all_loads().empty(), "load"),
                   unless_empty(g.all_self_bytes().empty(), "self_bytes"),
                   unless_empty(g.all_self_messages().empty(), "self_messages"),
                   unless_empty(g.proxied().empty(), "proxied"));
    });
}

}  // namespace

void bind_pattern(nb::module_& m) {
    nb::class_<CommGraph> graph(
        m, "CommGraph", "A communication graph: bytes and messages from rank to rank; directed, sparse.");
    graph.def("_repr_html_", html_repr<CommGraph>("graph_html"))
        .def_static("from_edges", &from_edges, "rank_count"_a, "source"_a, "target"_a, "bytes"_a,
                    "messages"_a = nb::none(), "load"_a = nb::none(), "proxied"_a = nb::none(),
                    "A graph from its edges: i goes from source[i] to target[i].\n\n"
                    "Duplicates are summed; what ranks send to themselves is kept apart.\n\n"
                    "Parameters\n"
                    "----------\n"
                    "rank_count : int\n"
                    "    Ranks are 0 to rank_count - 1.\n"
                    "source, target : array of int, shape (m,)\n"
                    "    Ranks.\n"
                    "bytes : array of int, shape (m,)\n"
                    "    At least 0; 64 bits. Floats must be integers.\n"
                    "messages : array of int, shape (m,), default 1 each\n"
                    "    At least 0.\n"
                    "load : array of float, shape (ranks,), default 1 each\n"
                    "    Compute weights of ranks, finite and at least 0.\n"
                    "proxied : array of int, default none\n"
                    "    Ranks whose data a slot needs once, however many of its ranks want it.\n\n"
                    "Raises\n"
                    "------\n"
                    "topoloom.Error\n"
                    "    For ranks out of range, arrays that do not fit together, and numbers that are "
                    "negative, not\n"
                    "    integers, not finite or too large, by the first such number.")
        .def_static("from_csr", &from_csr, "first"_a, "peer"_a, "bytes"_a, "messages"_a = nb::none(),
                    "load"_a = nb::none(), "self_bytes"_a = nb::none(), "self_messages"_a = nb::none(),
                    "proxied"_a = nb::none(),
                    "A graph from compressed rows, as in a SciPy csr_array.\n\n"
                    "Duplicates are summed; what ranks send to themselves is kept apart.\n\n"
                    "Parameters\n"
                    "----------\n"
                    "first : array of int, shape (ranks + 1,)\n"
                    "    The edges of rank u are first[u] to first[u + 1] - 1.\n"
                    "peer : array of int, shape (m,)\n"
                    "    The ranks that edges go to.\n"
                    "bytes : array of int, shape (m,)\n"
                    "    At least 0; 64 bits. Floats must be integers.\n"
                    "messages : array of int, shape (m,), default 1 each\n"
                    "    At least 0.\n"
                    "load : array of float, shape (ranks,), default 1 each\n"
                    "    Compute weights of ranks, finite and at least 0.\n"
                    "self_bytes, self_messages : array of int, shape (ranks,), default 0 each\n"
                    "    What ranks send to themselves.\n"
                    "proxied : array of int, default none\n"
                    "    Ranks whose data a slot needs once, however many of its ranks want it.\n\n"
                    "Raises\n"
                    "------\n"
                    "topoloom.Error\n"
                    "    For ranks out of range, arrays that do not fit together, and numbers that are "
                    "negative, not\n"
                    "    integers, not finite or too large, by the first such number.")
        .def_prop_ro("rank_count", &CommGraph::rank_count)
        .def_prop_ro("edge_count", &CommGraph::edge_count)
        .def_prop_ro(
            "total_bytes", [](const CommGraph& g) { return g.total_bytes().value; }, "Without self-messages.")
        .def_prop_ro("total_messages", &CommGraph::total_messages, "Without self-messages.")
        .def_prop_ro(
            "first", [](nb::handle_t<CommGraph> g) { return view(nb::cast<const CommGraph&>(g).first(), g); },
            "uint64 array (ranks + 1,): the edges of rank u are first[u] to first[u + 1] - 1.")
        .def_prop_ro(
            "peer",
            [](nb::handle_t<CommGraph> g) { return view(nb::cast<const CommGraph&>(g).all_peers(), g); },
            "uint32 array (edges,): the ranks that edges go to, ascending in each row.")
        .def_prop_ro(
            "bytes",
            [](nb::handle_t<CommGraph> g) { return view(nb::cast<const CommGraph&>(g).all_bytes(), g); },
            "int64 array (edges,).")
        .def_prop_ro(
            "messages",
            [](nb::handle_t<CommGraph> g) { return view(nb::cast<const CommGraph&>(g).all_messages(), g); },
            "int64 array (edges,).")
        .def_prop_ro(
            "load",
            [](const CommGraph& g) { return list_per_rank<double>(g, [&](Rank u) { return g.load(u); }); },
            nb::sig("def load(self) -> numpy.typing.NDArray[numpy.float64]"),
            "Compute weight of each rank; 1 unless given.")
        .def_prop_ro(
            "self_bytes",
            [](const CommGraph& g) {
                return list_per_rank<std::int64_t>(g, [&](Rank u) { return g.self_bytes(u).value; });
            },
            nb::sig("def self_bytes(self) -> numpy.typing.NDArray[numpy.int64]"),
            "Bytes that each rank sends to itself.")
        .def_prop_ro(
            "self_messages",
            [](const CommGraph& g) {
                return list_per_rank<std::int64_t>(g, [&](Rank u) { return g.self_messages(u); });
            },
            nb::sig("def self_messages(self) -> numpy.typing.NDArray[numpy.int64]"))
        .def_prop_ro(
            "proxied",
            [](nb::handle_t<CommGraph> g) { return view(nb::cast<const CommGraph&>(g).proxied(), g); },
            "uint32 array: ranks whose data a slot needs once, however many of its ranks want it.")
        .def("symmetric", &CommGraph::symmetric, Unlocked(),
             "The symmetrized graph: both directions of a pair have the sum of the two.");
    add_conversions(graph);
    add_graph_value_semantics(graph);

    m.def("stencil", &make_stencil, "grid"_a, "points"_a, "periodic"_a = true, "bytes"_a = 1, Unlocked(),
          "Makes a halo exchange on a row-major grid of ranks: 2d+1 points for a star, 3^d for a box.");
    m.def(
        "ring", [](std::size_t n, std::int64_t bytes) { return ring(n, Bytes{bytes}); }, "rank_count"_a,
        "bytes"_a = 1, "Makes a ring: each rank sends to the next, the last to the first.");
    m.def(
        "random_geometric",
        [](std::size_t n, std::int64_t bytes, std::uint64_t seed, double degree) {
            return random_geometric(n, Bytes{bytes}, seed, degree);
        },
        "rank_count"_a, "bytes"_a = 1, "seed"_a = 1, "degree"_a = 6.0, Unlocked(),
        "Makes a random geometric graph: points of the unit square exchange with near points.");

    m.def(
        "triangular_grid",
        [](std::uint32_t rows, std::string_view order) {
            std::vector<std::pair<std::uint32_t, std::uint32_t>> cells;
            for (const auto [row, column] : triangular_grid(rows, parse_triangular_order(order)))
                cells.emplace_back(row, column);
            return cells;
        },
        "rows"_a, "order"_a, "Lists row and column of each rank; order: dm, cm, bdm or bcm.");
    m.def(
        "triangular_messages",
        [](std::uint32_t rows, std::string_view order, std::string_view group, std::int64_t bytes) {
            return triangular_messages(rows, parse_triangular_order(order), parse_triangular_group(group),
                                       Bytes{bytes});
        },
        "rows"_a, "order"_a, "group"_a, "bytes"_a = 1,
        "Makes the messages of groups along binomial trees from the diagonal. group: column, row, "
        "orthogonalization,\n"
        "column-reduction, row-reduction, gather or allreduce.");
    m.def(
        "triangular_levels",
        [](std::uint32_t rows, std::string_view order, std::string_view group, std::int64_t bytes) {
            return triangular_levels(rows, parse_triangular_order(order), parse_triangular_group(group),
                                     Bytes{bytes});
        },
        "rows"_a, "order"_a, "group"_a, "bytes"_a = 1,
        "Makes the same messages as one graph per level of the trees.");
    m.def("hybrid_rows", &hybrid_rows, "rows"_a, "threads"_a,
          "The rows of a triangular grid of ranks with this number of threads: the nearest odd number.");
    m.def(
        "molecular_cells", [](double width) { return molecular_cells(apoa1, width); }, "width"_a = 16.0,
        "The cells of the ApoA1 benchmark that are at least this number of angstroms wide.");
    m.def("molecular_dynamics", &molecular_dynamics, "cells"_a, "atoms"_a = apoa1.atoms, "seed"_a = 1,
          "proxies"_a = true, Unlocked(),
          "Makes ranks for the cells in order (patches), then one per interacting pair (computes).");

    m.def("read_metis", [](const nb::bytes& data) { return read_metis(copy_text(data)); }, "data"_a);
    define_scaled_reader<read_matrix_market>(m, "read_matrix_market");
    define_scaled_reader<read_dense_matrix>(m, "read_dense_matrix");
    define_scaled_reader<read_dimacs>(m, "read_dimacs");
    m.def(
        "read_edge_list",
        [](const nb::bytes& data, std::optional<double> scale, const std::vector<unsigned>& columns) {
            std::vector<EdgeColumn> order;
            for (const unsigned column : columns) order.push_back(static_cast<EdgeColumn>(column));
            return read_scaled(data, scale, [&](std::string_view text, ValueScale* values) {
                return read_edge_list(text, order, values);
            });
        },
        "data"_a, "scale"_a = nb::none(), "columns"_a = std::vector<unsigned>{},
        "Columns are numbers of source, target, bytes and messages: 0 to 3.");
    m.def(
        "read_monitoring", [](const nb::bytes& data) { return read_monitoring(copy_text(data)); }, "data"_a);
}

}  // namespace topoloom::python
