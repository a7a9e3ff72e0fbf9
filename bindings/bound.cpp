// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds for Python.
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <optional>

#include "arrays.hpp"
#include "rooms.hpp"
#include "topoloom/bound/congestion_bound.hpp"
#include "topoloom/bound/hop_bytes_bound.hpp"
#include "topoloom/place/room.hpp"
#include "watch.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

struct Bounds {
    HopBytesBound hop_bytes;
    CongestionBound congestion;
};

Bounds find_bounds(const CommGraph& graph, const Allocation& allocation, std::optional<double> imbalance,
                   const std::optional<Numbers>& capacities, std::optional<double> seconds,
                   std::optional<std::uint64_t> work, int threads, const std::optional<Progress>& progress) {
    Watch watch(progress);
    const Budget budget = make_budget(seconds, work, watch);
    Sharing sharing{.imbalance = imbalance};
    if (capacities) sharing.capacity = copy_of<double>(*capacities);
    return watch.run([&] {
        const Room room(graph, allocation, sharing);
        std::vector<std::uint32_t> ranks_on_slots;
        if (!room.one_rank_per_slot()) ranks_on_slots = most_ranks_on_slots(room.masses(), room.capacities());
        const BoundProblem problem(graph, allocation, std::move(ranks_on_slots), threads);
        Meter meter(budget);
        Bounds found;
        found.congestion = congestion_bound(problem, meter);
        found.hop_bytes = hop_bytes_bound(problem, meter);
        return found;
    });
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
            "The part of the allocation that the proof speaks of.");
    m.def("find_bounds", &find_bounds, "graph"_a, "allocation"_a, nb::kw_only(), "imbalance"_a = nb::none(),
          "capacities"_a = nb::none(), "seconds"_a = nb::none(), "work"_a = nb::none(), "threads"_a = 0,
          "progress"_a = nb::none(),
          "Proves how few hop-bytes, and how little congestion, any placement has at least.\n\n"
          "Ranks may share slots as for place(). A budget ends the search for better proofs.");
}

}  // namespace topoloom::python
