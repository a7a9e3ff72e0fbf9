// SPDX-License-Identifier: BSD-3-Clause
// Exposes metrics of placements and allocations to Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call_python.hpp"
#include "search_monitor.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/metric/allocation_shape.hpp"
#include "topoloom/metric/background.hpp"
#include "topoloom/metric/judge.hpp"
#include "topoloom/metric/proxies.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

using Loader = std::tuple<std::uint32_t, std::uint32_t, double>;
using Hot = std::tuple<std::string, double, double, std::vector<Loader>>;

/// The metrics of a placement, and its hottest links, which take a separate pass.
struct MetricsWithHotLinks {
    Judgement measures;
    std::vector<Hot> hottest;
    std::vector<double> hottest_background;  // bytes of other jobs on each of them
    std::optional<double> congestion_with_background;
};

MetricsWithHotLinks judge_allocated(const CommGraph& graph, const Allocation& allocation,
                                    const Placement& placement, std::size_t hottest, int threads,
                                    const std::optional<Numbers>& background) {
    check_threads(threads);
    std::vector<double> of_others;
    if (background) of_others = copy_elements<double>(*background, "background");
    const nb::gil_scoped_release release;
    placement.require_compatible_with(allocation);
    const Machine& machine = allocation.machine();
    MetricsWithHotLinks judged{judge(graph, machine, placement, threads), {}, {}, {}};
    std::optional<Judgement> loaded;
    if (!of_others.empty()) {
        loaded = add_background(judged.measures, machine, of_others);
        judged.congestion_with_background = loaded->congestion_max;
    }
    if (hottest == 0) return judged;
    const Judgement& hot = loaded ? *loaded : judged.measures;
    for (const HotLink& link : hottest_links(graph, machine, placement, hot, hottest, threads)) {
        if (loaded) judged.hottest_background.push_back(of_others[link.link.value]);
        std::vector<Loader> loaders;
        for (const Contribution& c : link.contributors)
            loaders.emplace_back(c.source.value, c.target.value, c.bytes);
        judged.hottest.emplace_back(link.name, link.bytes, link.congestion, std::move(loaders));
    }
    return judged;
}

/// The shape of an allocation, and the link loads from which it was computed.
struct ShapeAndLoads {
    BigVector<double> loads;
    AllocationShape shape;
};

ShapeAndLoads compute_shape(const Allocation& allocation, int threads) {
    BigVector<double> loads = all_pairs_loads(allocation, check_threads(threads));
    AllocationShape shape = allocation_shape(allocation, loads);
    return {std::move(loads), std::move(shape)};
}

template <auto member>
auto measure(nb::handle_t<MetricsWithHotLinks> j) {
    const auto& values = nb::cast<const MetricsWithHotLinks&>(j).measures.*member;
    using Element = typename std::decay_t<decltype(values)>::value_type;
    return view(std::span<const Element>(values), j);
}

}  // namespace

void bind_metric(nb::module_& m) {
    nb::class_<MetricsWithHotLinks>(m, "Judgement",
                                    "The metrics of a placement; docs/concepts.md defines them.")
        .def("_repr_html_", html_repr<MetricsWithHotLinks>("judgement_html"))
        .def_prop_ro("hop_bytes", [](const MetricsWithHotLinks& j) { return j.measures.hop_bytes; })
        .def_prop_ro("hops_per_byte", [](const MetricsWithHotLinks& j) { return j.measures.hops_per_byte; })
        .def_prop_ro("dilation_average",
                     [](const MetricsWithHotLinks& j) { return j.measures.dilation_average; })
        .def_prop_ro("dilation_max", [](const MetricsWithHotLinks& j) { return j.measures.dilation_max; })
        .def_prop_ro("traffic_average",
                     [](const MetricsWithHotLinks& j) { return j.measures.traffic_average; })
        .def_prop_ro("congestion_max", [](const MetricsWithHotLinks& j) { return j.measures.congestion_max; })
        .def_prop_ro("inter_node_bytes",
                     [](const MetricsWithHotLinks& j) { return j.measures.inter_node_bytes.value; })
        .def_prop_ro(
            "inter_node_max", [](const MetricsWithHotLinks& j) { return j.measures.inter_node_max.value; },
            "The most bytes into or out of one node: the larger of both directions.")
        .def_prop_ro(
            "load_max", [](const MetricsWithHotLinks& j) { return j.measures.load_max; },
            "The largest sum of the ranks' loads on one slot.")
        .def_prop_ro(
            "minimal_share", [](const MetricsWithHotLinks& j) { return j.measures.minimal_share; },
            "The share of traffic on minimal routes, the rest on detours; None unless routing is adaptive.")
        .def_prop_ro("loads", &measure<&Judgement::loads>, "float64 array (links,): bytes on each link.")
        .def_prop_ro("node_bytes_out", &measure<&Judgement::bytes_out>)
        .def_prop_ro("node_bytes_in", &measure<&Judgement::bytes_in>)
        .def_prop_ro("node_messages_out", &measure<&Judgement::messages_out>)
        .def_prop_ro("node_messages_in", &measure<&Judgement::messages_in>)
        .def_ro("hottest", &MetricsWithHotLinks::hottest,
                "The hottest links: (link name, bytes, bytes / bandwidth, [(source, target, bytes)]), with "
                "the background.")
        .def_ro("hottest_background", &MetricsWithHotLinks::hottest_background,
                "The bytes of other jobs on each of the hottest links; empty without a background.")
        .def_ro("congestion_with_background", &MetricsWithHotLinks::congestion_with_background,
                "The largest load of a link, with the background, divided by bandwidth; None without one.");

    nb::class_<ShapeAndLoads>(m, "AllocationShape", "The shape of an allocation on its machine.")
        .def_prop_ro(
            "components", [](const ShapeAndLoads& s) { return s.shape.components; },
            "The number of connected components of its part of the network.")
        .def_prop_ro("links_inside", [](const ShapeAndLoads& s) { return s.shape.links_inside; })
        .def_prop_ro(
            "links_leaving", [](const ShapeAndLoads& s) { return s.shape.links_leaving; },
            "The surface: directed links to vertices that it does not own.")
        .def_prop_ro(
            "links_used", [](const ShapeAndLoads& s) { return s.shape.links_used; },
            "Links used by routes between its nodes.")
        .def_prop_ro(
            "links_foreign", [](const ShapeAndLoads& s) { return s.shape.foreign.size(); },
            "Used links with an end that it does not own.")
        .def_prop_ro(
            "foreign_links",
            [](nb::handle_t<ShapeAndLoads> s) {
                return view(std::span<const std::uint32_t>(nb::cast<const ShapeAndLoads&>(s).shape.foreign),
                            s);
            },
            "uint32 array: the ids of foreign links, ascending.")
        .def_prop_ro(
            "foreign_share", [](const ShapeAndLoads& s) { return s.shape.foreign_share; },
            "The share of hops between its nodes over foreign links.")
        .def_prop_ro(
            "loads",
            [](nb::handle_t<ShapeAndLoads> s) {
                return view(std::span<const double>(nb::cast<const ShapeAndLoads&>(s).loads), s);
            },
            "float64 array (links,): messages on each link if each node sends one to every other.");
    m.def("allocation_shape", &compute_shape, "allocation"_a, "threads"_a = 0,
          nb::call_guard<nb::gil_scoped_release>(),
          "Computes the shape from the routes between all pairs of nodes: O(nodes^2 * route).");
    m.def(
        "through_proxies",
        [](const CommGraph& graph, const Placement& placement) {
            if (placement.slots().size() != graph.rank_count())
                fail("the pattern has ", graph.rank_count(), " ranks, but the placement has ",
                     placement.slots().size());
            return apply_proxies(graph, placement.slots());
        },
        "graph"_a, "placement"_a, nb::call_guard<nb::gil_scoped_release>(),
        "Makes the graph that is sent if slots need the data of proxied ranks once. It has no proxied\n"
        "ranks, and the same judgement.");
    m.def("judge", &judge_allocated, "graph"_a, "allocation"_a, "placement"_a, "hottest"_a = 10,
          "threads"_a = 0, "background"_a = nb::none(),
          "Computes the metrics of a placement in one pass over the messages. The background is the bytes of "
          "other jobs by link id.");
}

}  // namespace topoloom::python
