// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds for Python.
#include <nanobind/stl/array.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "arrays.hpp"
#include "rooms.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/bound/bus_affinity.hpp"
#include "topoloom/bound/congestion_bound.hpp"
#include "topoloom/bound/hop_bytes_bound.hpp"
#include "topoloom/bound/time_bound.hpp"
#include "topoloom/pattern/phase_sum.hpp"
#include "topoloom/place/capacity.hpp"
#include "watch.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

struct Bounds {
    HopBytesBound hop_bytes;
    CongestionBound congestion;
    std::optional<TimeBound> time;
};

Bounds find_bounds(const CommGraph& graph, const Allocation& allocation,
                   const std::vector<const CommGraph*>& phases, const std::optional<Sharing>& sharing,
                   std::optional<double> seconds, std::optional<std::uint64_t> work, int threads,
                   const std::optional<Progress>& progress) {
    checked_threads(threads);
    Watch watch(progress);
    const Budget budget = make_budget(seconds, work, watch);
    if (std::ranges::count(phases, nullptr) > 0)
        throw nb::type_error("phases must hold a CommGraph each, not None");
    return watch.run([&] {
        require_sum(phases, graph);
        const Capacity capacity(graph, allocation, sharing.value_or(Sharing{}));
        std::vector<std::uint32_t> ranks_on_slots;
        const bool shared = !capacity.one_rank_per_slot();
        if (shared && !graph.proxied().empty())
            fail(
                "no bounds are known for ranks that share slots and send through proxies; make the pattern "
                "without proxies");
        if (shared) ranks_on_slots = max_ranks_on_slots(capacity.masses(), capacity.capacities());
        const BoundProblem problem(graph, allocation, std::move(ranks_on_slots), threads);
        Meter meter(budget);
        Bounds found;
        found.congestion = congestion_bound(problem, meter);
        found.hop_bytes = hop_bytes_bound(problem, meter);
        if (allocation.machine().has_bandwidths())
            found.time = time_bound(problem, phases, found.congestion, meter);
        return found;
    });
}

/// The best assignments of eight threads, and how messages share the bus in them.
std::pair<std::array<std::int32_t, 4>, std::vector<BusAffinity>> best_bus_affinities(
    const Allocation& allocation, const CommGraph& graph) {
    const Machine& machine = allocation.machine();
    const auto* const bus = std::get_if<RingBus>(&machine.topology());
    if (bus == nullptr) fail("bus affinities are for ring buses, not for ", machine.text());
    std::vector<Node> nodes;
    for (const Slot slot : allocation.slots()) nodes.push_back(machine.node(slot));
    const BusAffinities found = rank_bus_affinities(*bus, nodes, graph);
    const BusScore& score = found.ranking.front().score;
    std::vector<BusAffinity> best;
    for (std::size_t i = 0; i < found.optima; ++i) best.push_back(found.ranking[i].element_of_thread);
    return {{score.peak, score.imbalance, score.excess, score.half_way}, best};
}

}  // namespace

void bind_bound(nb::module_& m) {
    nb::class_<Bounds>(m, "Bounds", "What no placement can be better than, and what proves it.")
        .def_prop_ro("hop_bytes", [](const Bounds& b) { return b.hop_bytes.value; })
        .def_prop_ro(
            "hop_bytes_by", [](const Bounds& b) { return b.hop_bytes.by; },
            "sparse, gilmore-lawler, projection or dual-ascent.")
        .def_prop_ro(
            "congestion", [](const Bounds& b) { return b.congestion.value; },
            "Largest load of a link divided by its bandwidth, as `Judgement.congestion_max`.")
        .def_prop_ro(
            "congestion_by", [](const Bounds& b) { return b.congestion.by; },
            "message, injection, cut, average, prices or nothing.")
        .def_prop_ro(
            "congestion_where", [](const Bounds& b) { return b.congestion.where; },
            "The part of the allocation that the proof speaks of.")
        .def_prop_ro(
            "time", [](const Bounds& b) { return b.time ? std::optional(b.time->value) : std::nullopt; },
            "Seconds, as `topoloom.placements.predicted_time`; None where the machine gives no bandwidths.")
        .def_prop_ro(
            "time_by", [](const Bounds& b) { return b.time ? b.time->by : "nothing"; },
            "The part that takes most: network, memory, sender or nothing.")
        .def_prop_ro(
            "time_where", [](const Bounds& b) { return b.time ? b.time->where : ""; },
            "The rank, or what proves the load of the network.");
    m.def(
        "find_bounds", &find_bounds, "graph"_a, "allocation"_a, nb::kw_only(),
        "phases"_a = std::vector<const CommGraph*>{}, "sharing"_a = nb::none(), "seconds"_a = nb::none(),
        "work"_a = nb::none(), "threads"_a = 0, "progress"_a = nb::none(),
        "Proves how few hop-bytes, how little congestion, and how little time any placement has at least.\n\n"
        "Phases count for time alone: graphs sent one after the other, whose sum is the graph. Ranks may "
        "share slots as for place(). A budget ends the search for better proofs.");
    m.def("best_bus_affinities", &best_bus_affinities, "allocation"_a, "graph"_a,
          "All of the 8! assignments of threads to the elements of a ring bus that score best, and their "
          "score:\n"
          "load of the busiest link, imbalance of the directions, excess over two messages on a link, and\n"
          "messages that go half-way around; in halves of messages.");
    nb::class_<Bipartitions>(m, "Bipartitions",
                             "NodeHalves of the threads of a blade, by the bytes between them.")
        .def_prop_ro(
            "best", [](const Bipartitions& b) { return b.best.on_first; },
            "Bit t is set for threads of processor 0, the side that sends more.")
        .def_prop_ro("best_bytes", [](const Bipartitions& b) { return b.best.crossing.value; })
        .def_prop_ro("worst", [](const Bipartitions& b) { return b.worst.on_first; })
        .def_prop_ro("worst_bytes", [](const Bipartitions& b) { return b.worst.crossing.value; })
        .def_ro("optima", &Bipartitions::optima, "NodeHalves that are as good as the best.")
        .def_ro("pessima", &Bipartitions::pessima);
    m.def("rank_bipartitions", &rank_bipartitions, "graph"_a,
          "Looks at all halves of an even number of up to 24 threads.");
}

}  // namespace topoloom::python
