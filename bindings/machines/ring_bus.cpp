// SPDX-License-Identifier: BSD-3-Clause
// Exposes affinities of threads on ring buses to Python.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/bound/bus_affinity.hpp"
#include "topoloom/metric/bus_time.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

using Named = std::tuple<std::string_view, std::string_view, BusAffinity>;

std::vector<Named> list_affinities() {
    std::vector<Named> list;
    for (const NamedAffinity& one : named_affinities())
        list.emplace_back(one.name, one.summary, one.element_of_thread);
    return list;
}

std::array<std::uint32_t, bus_elements> list_stations(const Allocation& allocation) {
    std::array<std::uint32_t, bus_elements> stations;
    std::ranges::transform(find_element_stations(allocation), stations.begin(), &Node::value);
    return stations;
}

BusAffinities rank_affinities(const Allocation& allocation, const CommGraph& graph) {
    return rank_bus_affinities(ring_bus_of(allocation.machine()), find_element_stations(allocation), graph);
}

nb::object list_scores(const BusAffinities& found) {
    std::vector<std::int64_t> scores;
    for (const RankedAffinity& one : found.ranking)
        scores.insert(scores.end(),
                      {one.score.peak, one.score.imbalance, one.score.excess, one.score.half_way});
    return new_array(std::move(scores), found.ranking.size());
}

nb::object elements_of_threads(const BusAffinities& found) {
    std::vector<std::uint8_t> elements;
    for (const RankedAffinity& one : found.ranking)
        elements.insert(elements.end(), one.element_of_thread.begin(), one.element_of_thread.end());
    return new_array(std::move(elements), found.ranking.size());
}

BusTiming make_timing(std::int64_t piece, double startup, std::optional<std::uint32_t> memory,
                      bool ring_ends) {
    BusTiming timing{Bytes{piece}, Seconds{startup}};
    if (memory) timing.memory = Node{*memory};
    timing.ring_ends = ring_ends;
    return timing;
}

/// The slowest and average rates of all affinities, best affinity first.
nb::object list_rates_of_affinities(const BusAffinities& found, const Allocation& allocation,
                                    const CommGraph& graph, std::int64_t piece, double startup,
                                    std::optional<std::uint32_t> memory, bool ring_ends) {
    if (graph.rank_count() != bus_elements)
        fail("affinities are for 8 threads, not for ", graph.rank_count());
    const auto all = affinity_rates(ring_bus_of(allocation.machine()), find_element_stations(allocation),
                                    graph, found.ranking, make_timing(piece, startup, memory, ring_ends));
    std::vector<double> values;
    for (const auto& [slowest, average] : all) {
        for (const BusRate& rate : {slowest, average})
            values.insert(values.end(), {rate.worst.value, rate.mean.value, rate.best.value});
    }
    return new_array(std::move(values), all.size());
}

BusRates compute_rates(const Machine& machine, const Ids& sources, const Ids& targets, const Integers& bytes,
                       std::int64_t piece, double startup, std::optional<std::uint32_t> memory,
                       bool ring_ends) {
    const auto from = elements<Node>(sources, "sources");
    const auto to = elements<Node>(targets, "targets");
    const auto sizes = elements<Bytes>(bytes, "bytes");
    if (from.size() != to.size() || from.size() != sizes.size())
        fail("sources, targets and bytes must have equal lengths, not ", from.size(), ", ", to.size(),
             " and ", sizes.size());
    std::vector<BusMessage> messages;
    for (std::size_t i = 0; i < from.size(); ++i) messages.push_back({from[i], to[i], sizes[i]});
    return bus_rates(ring_bus_of(machine), messages, make_timing(piece, startup, memory, ring_ends));
}

/// The worst, mean and best rate of each message, one row per message.
nb::object list_message_rates(const BusRates& rates) {
    std::vector<double> values;
    for (const BusRate& rate : rates.of_message)
        values.insert(values.end(), {rate.worst.value, rate.mean.value, rate.best.value});
    return new_array(std::move(values), rates.of_message.size());
}

std::array<double, 3> make_rate_tuple(const BusRate& rate) {
    return {rate.worst.value, rate.mean.value, rate.best.value};
}

}  // namespace

void bind_ring_bus(nb::module_& m) {
    m.attr("CELL_MEMORY") = cell_memory.value;
    m.def("named_affinities", &list_affinities,
          "Lists named assignments of eight threads to the elements of the Cell: (name, summary, element of\n"
          "each thread).");
    m.def("bus_stations", &list_stations, "allocation"_a,
          "Lists the stations of elements 0 ... 7: the SPEs of the Cell, or the eight slots in order.");
    nb::class_<BusAffinities>(m, "BusAffinities", "All 40,320 assignments, the best first.")
        .def_prop_ro(
            "scores", &list_scores,
            "A row per assignment: load of the busiest link, imbalance of the directions, excess over two\n"
            "messages on links, half-way bytes; in halves of `unit`. Rows are compared\n"
            "lexicographically; less is better.")
        .def_prop_ro("elements", &elements_of_threads,
                     nb::sig("def elements(self) -> numpy.typing.NDArray[numpy.uint8]"),
                     "A row per assignment: the element of each thread.")
        .def("rates", &list_rates_of_affinities,
             nb::sig("def rates(self, allocation: Allocation, graph: CommGraph, *, piece: int = 16384, "
                     "startup: float = 0.0, memory: int | None = None, ring_ends: bool = False) -> "
                     "numpy.typing.NDArray[numpy.float64]"),
             "allocation"_a, "graph"_a, nb::kw_only(), "piece"_a = 16384, "startup"_a = 0.0,
             "memory"_a = nb::none(), "ring_ends"_a = false,
             "A row per assignment, in bytes per second: worst, mean and best of the slowest message, then\n"
             "over all messages, as in bus_rates().")
        .def_ro("optima", &BusAffinities::optima, "The number of assignments as good as the first.")
        .def_prop_ro(
            "unit", [](const BusAffinities& b) { return b.unit.value; },
            "The largest number of bytes that divides the sizes of all messages.");
    m.def("rank_bus_affinities", &rank_affinities, "allocation"_a, "graph"_a,
          "Scores all assignments of eight threads to the elements of a ring bus.");
    nb::class_<BusRates>(m, "BusRates",
                         "Bytes per second: worst, mean and best over the directions of half-way messages.")
        .def_prop_ro("messages", &list_message_rates,
                     nb::sig("def messages(self) -> numpy.typing.NDArray[numpy.float64]"),
                     "A row per message.")
        .def_prop_ro(
            "slowest", [](const BusRates& r) { return make_rate_tuple(r.slowest); },
            "Rates of the slowest message.")
        .def_prop_ro(
            "average", [](const BusRates& r) { return make_rate_tuple(r.average); },
            "Rates over all messages.")
        .def_ro("ways", &BusRates::ways, "The number of combinations of directions of half-way messages.");
    m.def(
        "bus_rates", &compute_rates, "machine"_a, "sources"_a, "targets"_a, "bytes"_a, nb::kw_only(),
        "piece"_a = 16384, "startup"_a = 0.0, "memory"_a = nb::none(), "ring_ends"_a = false,
        "Computes the rates of concurrent messages between stations of a ring bus. Pieces take turns on its\n"
        "rings, each of which has up to `transfers` disjoint ones. `memory` is the station of the memory\n"
        "controller; `ring_ends` enables an effect observed at the ends of the bus.");
    nb::class_<Bipartitions>(m, "Bipartitions",
                             "Bipartitions of the threads of a blade, by the bytes between the halves.")
        .def_prop_ro(
            "best", [](const Bipartitions& b) { return b.best.on_first; },
            "Bit t is set for threads of processor 0, the half that sends more.")
        .def_prop_ro("best_bytes", [](const Bipartitions& b) { return b.best.crossing.value; })
        .def_prop_ro("worst", [](const Bipartitions& b) { return b.worst.on_first; })
        .def_prop_ro("worst_bytes", [](const Bipartitions& b) { return b.worst.crossing.value; })
        .def_ro("optima", &Bipartitions::optima, "The number of bipartitions as good as the best.")
        .def_ro("pessima", &Bipartitions::pessima);
    m.def("rank_bipartitions", &rank_bipartitions, "graph"_a,
          "Enumerates the bipartitions of an even number of up to 24 threads.");
}

}  // namespace topoloom::python
