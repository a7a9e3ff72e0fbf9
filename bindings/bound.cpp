// SPDX-License-Identifier: BSD-3-Clause
// Exposes lower bounds of objectives to Python.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "arrays.hpp"
#include "bindings.hpp"
#include "search_monitor.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/bound/congestion_bound.hpp"
#include "topoloom/bound/hop_bytes_bound.hpp"
#include "topoloom/bound/time_bound.hpp"
#include "topoloom/pattern/phase_sum.hpp"
#include "topoloom/place/capacity.hpp"

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
                   const std::optional<Progress>& progress, const std::optional<Numbers>& background) {
    check_threads(threads);
    std::vector<double> of_others;
    if (background) of_others = copy_elements<double>(*background, "background");
    SearchMonitor monitor(progress);
    const Budget budget = make_budget(seconds, work, monitor);
    if (std::ranges::count(phases, nullptr) > 0)
        throw nb::type_error("phases must hold a CommGraph each, not None");
    return monitor.run([&] {
        require_phases_add_up(phases, graph);
        const Capacity capacity(graph, allocation, sharing.value_or(Sharing{}));
        std::vector<std::uint32_t> ranks_on_slots;
        const bool shared = !capacity.one_rank_per_slot();
        if (shared && !graph.proxied().empty())
            fail(
                "no bounds are known for ranks that share slots and send through proxies; make the pattern "
                "without proxies");
        if (shared) ranks_on_slots = max_ranks_on_slots(capacity.masses(), capacity.capacities());
        BoundProblem problem =
            BoundProblem(graph, allocation, std::move(ranks_on_slots), threads).with_background(of_others);
        Meter meter(budget);
        problem.raise_cuts(meter);
        Bounds found;
        Meter share(meter.sub_budget(0.5));
        found.congestion = congestion_bound(problem, share);
        meter.spend(share.work_done());
        if (allocation.machine().has_bandwidths()) {
            // Before the hop-bytes, whose proofs take as much work as there is.
            Meter part(meter.sub_budget(0.25));
            found.time = time_bound(problem, phases, found.congestion, part);
            meter.spend(part.work_done());
        }
        found.hop_bytes = hop_bytes_bound(problem, meter);
        return found;
    });
}

}  // namespace

void bind_bound(nb::module_& m) {
    nb::class_<Bounds>(m, "Bounds", "Lower bounds for all placements, and their proofs.")
        .def_prop_ro("hop_bytes", [](const Bounds& b) { return b.hop_bytes.value; })
        .def_prop_ro(
            "hop_bytes_by", [](const Bounds& b) { return b.hop_bytes.by; },
            "The proof: sparse, cuts, gilmore-lawler, projection or dual-ascent.")
        .def_prop_ro(
            "congestion", [](const Bounds& b) { return b.congestion.value; },
            "Lower bound of `Judgement.congestion_max`: load of a link divided by bandwidth.")
        .def_prop_ro(
            "congestion_by", [](const Bounds& b) { return b.congestion.by; },
            "The proof: message, injection, cut, routes, average, prices, background or nothing.")
        .def_prop_ro(
            "congestion_where", [](const Bounds& b) { return b.congestion.where; },
            "The part of the allocation for which the bound is proven.")
        .def_prop_ro(
            "time", [](const Bounds& b) { return b.time ? std::optional(b.time->value) : std::nullopt; },
            "Lower bound of `topoloom.placements.predicted_time` in seconds; None without bandwidths.")
        .def_prop_ro(
            "time_by", [](const Bounds& b) { return b.time ? b.time->by : "nothing"; },
            "The dominant part: network, memory, sender or nothing.")
        .def_prop_ro(
            "time_where", [](const Bounds& b) { return b.time ? b.time->where : ""; },
            "The rank that dominates, or the proof of the network's load.");
    m.def("find_bounds", &find_bounds, "graph"_a, "allocation"_a, nb::kw_only(),
          "phases"_a = std::vector<const CommGraph*>{}, "sharing"_a = nb::none(), "seconds"_a = nb::none(),
          "work"_a = nb::none(), "threads"_a = 0, "progress"_a = nb::none(), "background"_a = nb::none(),
          "Computes lower bounds of hop-bytes, congestion and time for all placements.\n\n"
          "Phases are for time only: consecutive graphs whose sum is the graph. Ranks may share slots as "
          "for place(). A budget ends the search for better proofs. The background, bytes of other jobs "
          "by link id, adds to the loads of links.");
}

}  // namespace topoloom::python
