// SPDX-License-Identifier: BSD-3-Clause
// Exposes the balancers to Python.
#include <nanobind/stl/string_view.h>

#include <limits>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "option_list.hpp"
#include "search_monitor.hpp"
#include "topoloom/balance/balancer.hpp"
#include "topoloom/balance/tasks/measures.hpp"
#include "topoloom/balance/tasks/tasks.hpp"
#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

/// A plan, and the loads before it.
struct PlannedLoads {
    std::vector<std::int64_t> loads;
    Plan plan;

    [[nodiscard]] std::vector<std::int64_t> ends() const { return loads_after(loads, plan); }
};

PlannedLoads balance_loads(const Integers& given, std::string_view method, const Allocation* allocation,
                           const Placement* placement) {
    const std::span<const std::int64_t> loads = elements<std::int64_t>(given, "loads");
    if ((allocation == nullptr) != (placement == nullptr))
        throw nb::type_error("allocation and placement belong together; give both or none");
    const nb::gil_scoped_release released;
    BalanceProblem problem{loads};
    if (placement != nullptr) {
        placement->require_compatible_with(*allocation);
        problem.machine = &allocation->machine();
        problem.slots = placement->slots();
    }
    return {{loads.begin(), loads.end()}, balance(problem, method)};
}

nb::dict make_measures_dict(const PlanMeasures& measures) {
    nb::dict dict;
    dict["messages"] = measures.messages;
    dict["tasks"] = measures.tasks;
    dict["max_receives"] = measures.max_receives;
    dict["max_tasks_received"] = measures.max_tasks_received;
    dict["max_sends"] = measures.max_sends;
    dict["max_tasks_sent"] = measures.max_tasks_sent;
    return dict;
}

nb::object make_transfer_rows(const Plan& plan) {
    BigVector<std::int64_t> rows;
    rows.reserve(3 * plan.size());
    for (const auto& [from, to, tasks] : plan) {
        rows.push_back(from.value);
        rows.push_back(to.value);
        rows.push_back(tasks);
    }
    return new_array(std::move(rows), plan.size()).attr("reshape")(-1, 3);
}

/// The new owners of tasks, and the measures before and after they move.
struct WeightedBalance {
    std::vector<Rank> owners;
    TaskMeasures measures;
    TaskMeasures before;
};

WeightedBalance balance_weighted(const Numbers& loads, const Integers& bytes, const Ids& owners,
                                 std::size_t ranks, std::int64_t memory, double tolerance,
                                 const CommGraph* graph, double periods, const Allocation* allocation,
                                 const Placement* placement) {
    if ((allocation == nullptr) != (placement == nullptr))
        throw nb::type_error("allocation and placement belong together; give both or none");
    Tasks tasks{.loads = elements<double>(loads, "loads"),
                .owners = elements<Rank>(owners, "owners"),
                .ranks = ranks,
                .bytes = elements<std::int64_t>(bytes, "bytes"),
                .memory = memory,
                .tolerance = tolerance,
                .graph = graph,
                .periods = periods,
                .poll = check_signals};
    const nb::gil_scoped_release released;
    if (placement != nullptr) {
        placement->require_compatible_with(*allocation);
        tasks.machine = &allocation->machine();
        tasks.slots = placement->slots();
    }
    const bool alone = graph == nullptr && placement == nullptr;
    std::vector<Rank> found = alone ? balance_with_few_bytes(tasks) : repartition(tasks);
    const TaskMeasures measures = measure_tasks(tasks, found);
    return {std::move(found), measures, measure_tasks(tasks, tasks.owners)};
}

nb::list list_balancers() {
    nb::list list;
    for (const Balancer& entry : balancers()) {
        nb::dict one;
        one["name"] = entry.name;
        one["summary"] = entry.summary;
        one["source"] = entry.source;
        one["needs"] = entry.needs_machine ? "machine" : "";
        one["options"] = option_list(entry.options());
        list.append(one);
    }
    return list;
}

}  // namespace

void bind_balance(nb::module_& m) {
    nb::class_<PlannedLoads>(m, "Balance", "A redistribution of tasks, and its costs.")
        .def_prop_ro(
            "plan", [](const PlannedLoads& b) { return make_transfer_rows(b.plan); },
            nb::sig("def plan(self) -> numpy.typing.NDArray[numpy.int64]"),
            "Transfers: rows of from, to and count, ascending; shape ``(messages, 3)``.")
        .def_prop_ro(
            "ends", [](const PlannedLoads& b) { return new_array(b.ends()); },
            nb::sig("def ends(self) -> numpy.typing.NDArray[numpy.int64]"),
            "The load of each rank after the plan.")
        .def_prop_ro(
            "measures",
            [](const PlannedLoads& b) { return make_measures_dict(measure_plan(b.plan, b.loads.size())); },
            nb::sig("def measures(self) -> dict[str, int]"),
            "Messages and tasks, in total and at most per rank: messages, tasks, max_receives, "
            "max_tasks_received, max_sends, max_tasks_sent.")
        .def_prop_ro(
            "least",
            [](const PlannedLoads& b) { return make_measures_dict(least_measures(b.loads, b.ends())); },
            nb::sig("def least(self) -> dict[str, int]"),
            "Lower bounds of these measures for single-round plans with the same final loads.")
        .def_prop_ro(
            "rounds", [](const PlannedLoads& b) { return rounds_of(b.loads, b.plan); },
            "The number of rounds: more than 1 if ranks forward received tasks.");
    m.def("balance", &balance_loads, "loads"_a, nb::kw_only(), "method"_a = "auto",
          "allocation"_a = nb::none(), "placement"_a = nb::none(),
          "Computes a redistribution of equal tasks; loads are the tasks of each rank.\n\n"
          "`balancers()` lists the methods. Some choose near partners, by a placement and its allocation. "
          "Throws Error for no ranks, negative loads, loads that add up to 2**62 or more, and a placement of "
          "another number of ranks.");
    nb::class_<WeightedBalance>(m, "WeightedBalance",
                                "A redistribution of tasks with unequal loads and sizes.")
        .def_prop_ro(
            "owners", [](const WeightedBalance& b) { return view<Rank>(b.owners, nb::find(b)); },
            nb::sig("def owners(self) -> numpy.typing.NDArray[numpy.uint32]"), "The rank of each task.")
        .def_prop_ro(
            "load_max", [](const WeightedBalance& b) { return b.measures.load_max; },
            "The load of the busiest rank after the redistribution.")
        .def_prop_ro(
            "load_limit", [](const WeightedBalance& b) { return b.measures.load_limit; },
            "The largest allowed load: the mean plus the tolerance or, if larger, the largest task.")
        .def_prop_ro(
            "moved_bytes", [](const WeightedBalance& b) { return b.measures.moved_bytes; },
            "Bytes of all tasks that change ranks.")
        .def_prop_ro(
            "least_bytes", [](const WeightedBalance& b) { return b.measures.least_bytes; },
            "A lower bound of the bytes that must move to meet the load limit and the memory limit.")
        .def_prop_ro(
            "cut_bytes", [](const WeightedBalance& b) { return b.measures.cut_bytes; },
            "Bytes per period between tasks on different ranks.")
        .def_prop_ro(
            "hop_bytes", [](const WeightedBalance& b) { return b.measures.hop_bytes; },
            "Cut bytes times distance; 0 without a machine.")
        .def_prop_ro(
            "cut_bytes_before", [](const WeightedBalance& b) { return b.before.cut_bytes; },
            "Cut bytes before the redistribution.")
        .def_prop_ro(
            "hop_bytes_before", [](const WeightedBalance& b) { return b.before.hop_bytes; },
            "Hop-bytes before the redistribution.")
        .def_prop_ro(
            "moved_hop_bytes", [](const WeightedBalance& b) { return b.measures.moved_hop_bytes; },
            "Bytes of tasks that change ranks, times distance.")
        .def_prop_ro(
            "cost", [](const WeightedBalance& b) { return b.measures.cost; },
            "The objective with a graph or placement: bytes cut in all periods plus bytes moved; with a "
            "placement each times the distance plus a sixteenth.")
        .def_prop_ro(
            "cost_before", [](const WeightedBalance& b) { return b.before.cost; },
            "The objective before the redistribution.");
    m.def("balance_weighted", &balance_weighted, "loads"_a, "bytes"_a, "owners"_a, "ranks"_a, nb::kw_only(),
          "memory"_a = std::numeric_limits<std::int64_t>::max(), "tolerance"_a = 0.02, "graph"_a = nb::none(),
          "periods"_a = 1.0, "allocation"_a = nb::none(), "placement"_a = nb::none(),
          "Moves tasks so that no load exceeds the mean by more than the tolerance, no rank exceeds its "
          "memory, and few bytes move.\n\n"
          "With a graph of the bytes between tasks in a period, few of these pass between ranks. With a "
          "placement of the ranks, bytes count times the distance, or a sixteenth of a hop inside a node. "
          "Raises Error for invalid loads, bytes and owners, and if no rank has memory for the bytes.");
    m.def("balancers", &list_balancers, nb::sig("def balancers() -> list[dict[str, object]]"),
          "Lists all balancers with their options.");
}

}  // namespace topoloom::python
