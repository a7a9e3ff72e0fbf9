// SPDX-License-Identifier: BSD-3-Clause
// Exposes process grids on nodes to Python: node maps, tiles, and predicted times of collectives.
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "arrays.hpp"
#include "bindings.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/place/grid/cell_orders.hpp"
#include "topoloom/place/state/rank_grid.hpp"
#include "topoloom/schedule/cost/grid_times.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

GridCollective parse_collective(std::string_view name) {
    constexpr std::array<std::string_view, 4> names{"bcast", "reduce", "scatter", "gather"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return static_cast<GridCollective>(i);
    }
    fail("no collective '", name, "' on grids; there are bcast, reduce, scatter and gather");
}

FormulaVariant parse_reading(std::string_view name) {
    if (name != "counted" && name != "printed")
        throw Error(unknown_name_message("reading", std::string(name), {"counted", "printed"}));
    return name == "printed" ? FormulaVariant::printed : FormulaVariant::counted;
}

}  // namespace

void bind_process_grid(nb::module_& m) {
    nb::class_<GridLinks>(m, "GridLinks", "Hockney's model between and inside nodes, in seconds.")
        .def(
            "__init__",
            [](GridLinks* links, double latency, double outer, double inner, double reduce,
               std::uint32_t channels) { new (links) GridLinks{latency, outer, inner, reduce, channels}; },
            nb::kw_only(), "latency_s"_a = 0.0, "outer_s_per_byte"_a = 0.0, "inner_s_per_byte"_a = 0.0,
            "reduce_s_per_byte"_a = 0.0, "channels"_a = 1,
            "channels: the number of messages that a node sends concurrently at full speed.");

    nb::class_<NodeMap>(m, "NodeMap", "The nodes of a process grid, for costs of its lines.")
        .def(
            "__init__",
            [](NodeMap* map, Extents extents, const Ids& node_of_cell) {
                new (map) NodeMap(node_map(extents, elements<std::uint32_t>(node_of_cell, "node_of_cell")));
            },
            "extents"_a, "node_of_cell"_a,
            "node_of_cell: row-major, with nodes numbered 0, 1, ... without gaps.")
        .def_ro("extents", &NodeMap::extents)
        .def_ro("leaving", &NodeMap::leaving,
                "By axis and node: the cells whose successor along the axis is on another node.")
        .def_ro("inner_rounds", &NodeMap::inner_rounds,
                "By axis: the rounds of a binomial tree, with steps of 1, 2, 4, ... cells, before a message "
                "leaves a node.")
        .def_prop_ro(
            "external_links", [](const NodeMap& map) { return map.external_links(); },
            "The most concurrent messages that leave a node, summed over the axes.")
        .def(
            "pipelined_time",
            [](const NodeMap& map, const GridLinks& links, double bytes, double segment,
               std::string_view reading) {
                return pipelined_time(map, links, bytes, segment, parse_reading(reading));
            },
            "links"_a, "bytes"_a, "segment"_a, nb::kw_only(), "reading"_a = "counted",
            "Predicts the seconds of a segmented bcast or reduction along the chains of each axis.\n"
            "Readings: counted, messages that leave a node along an axis share its channels; printed, a\n"
            "message to another node is faster by the number of channels.")
        .def(
            "best_segment",
            [](const NodeMap& map, const GridLinks& links, double bytes, std::string_view reading) {
                return best_segment(map, links, bytes, parse_reading(reading));
            },
            "links"_a, "bytes"_a, nb::kw_only(), "reading"_a = "counted",
            "The segment size for which pipelined_time() is least.")
        .def(
            "binomial_time",
            [](const NodeMap& map, std::string_view collective, const GridLinks& links, double bytes) {
                return binomial_time(map, parse_collective(collective), links, bytes);
            },
            "collective"_a, "links"_a, "bytes"_a,
            "Bounds the seconds of a bcast, reduce, scatter or gather along binomial trees of each "
            "axis:\n"
            "in all but the inner rounds a node sends as many messages as it has external links.");

    m.def(
        "node_tiles",
        [](const Extents& extents, std::uint64_t cores, const std::vector<double>& weights) {
            if (weights.empty())
                return grid::node_tiles({extents, std::vector<double>(extents.size(), 1.0)}, cores);
            if (weights.size() != extents.size())
                fail("there are ", weights.size(), " weights for ", extents.size(),
                     " axes; give one per axis");
            return grid::node_tiles({extents, weights}, cores);
        },
        "extents"_a, "cores"_a, "weights"_a = std::vector<double>{},
        "Lists the tiles of this number of cells that divide a grid, by increasing surface.");
    m.def(
        "tile_surface",
        [](const Extents& tile, const std::vector<double>& weights) {
            if (!weights.empty() && weights.size() != tile.size())
                fail("there are ", weights.size(), " weights for ", tile.size(), " axes; give one per axis");
            return tile_surface(tile, weights);
        },
        "tile"_a, "weights"_a = std::vector<double>{},
        "Counts the external links of a tile inside a larger grid, weighted by axis.");
    m.def("nearest_extents", &nearest_extents, "extents"_a, "cells"_a,
          "Finds the extents of a grid with this number of cells that are nearest to the given ones.");
}

}  // namespace topoloom::python
