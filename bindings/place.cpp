// SPDX-License-Identifier: BSD-3-Clause
// The mappers for Python.
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "arrays.hpp"
#include "option_list.hpp"
#include "rooms.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/choose/choose_nodes.hpp"
#include "topoloom/metric/objective_loads.hpp"
#include "topoloom/place/mapper.hpp"
#include "topoloom/place/portfolio/objective_choice.hpp"
#include "watch.hpp"

namespace topoloom::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

/// -1 stands for ranks that were nowhere.
Migration make_migration(const Integers& previous, std::int64_t bytes_per_rank) {
    Migration migration{{}, Bytes{bytes_per_rank}};
    for (const std::int64_t slot : copy_of<std::int64_t>(previous)) {
        if (slot < -1 || slot > std::numeric_limits<std::uint32_t>::max())
            fail("the earlier placement holds ", slot, ", which is neither a slot nor -1");
        migration.from.push_back(slot < 0 ? std::nullopt
                                          : std::optional(Slot{static_cast<std::uint32_t>(slot)}));
    }
    return migration;
}

using Proven = std::function<void(double)>;

/// What placements are compared by, as Python says it. Holds the background that a Problem refers to.
class Aimed {
   public:
    Aimed(std::string_view objective, std::vector<const CommGraph*> phases,
          const std::optional<Numbers>& background)
        : phases_(std::move(phases)) {
        if (objective != "auto") objective_ = parse_objective(objective);
        if (background) background_ = copy_of<double>(*background);
    }
    [[nodiscard]] Problem at(const Problem& problem) const {
        return problem.with_objective(objective_ ? *objective_ : objective_of(choose(problem).aim), phases_,
                                      background_);
    }
    [[nodiscard]] double time(const Machine& machine, const CommGraph& graph,
                              const Placement& placement) const {
        if (!machine.has_bandwidths()) return 0;
        Goal goal{.objective = objective_of(Aim::time), .phases = phases_, .background = background_};
        if (goal.phases.empty()) goal.phases.push_back(&graph);
        return time_parts(machine, goal, placement.slots()).all;
    }
    [[nodiscard]] ObjectiveChoice choose(const Problem& problem) const {
        return choose_objective(problem, phases_, background_);
    }

   private:
    std::optional<Objective> objective_;  // none: chosen
    std::vector<const CommGraph*> phases_;
    std::vector<double> background_;
};

std::pair<Placement, std::uint64_t> run(
    const CommGraph& graph, const Allocation& allocation, std::string_view mapper, std::uint64_t seed,
    std::optional<double> seconds, std::optional<std::uint64_t> work, int threads,
    std::optional<double> imbalance, const std::optional<Numbers>& capacities,
    const std::optional<Integers>& previous, std::int64_t migration_cost, std::string_view objective,
    std::vector<const CommGraph*> phases, const std::optional<Numbers>& background,
    const std::optional<Proven>& proven, const std::optional<Progress>& progress) {
    Watch watch(progress);
    const Budget budget = make_budget(seconds, work, watch);
    Sharing sharing{.imbalance = imbalance};
    if (capacities) sharing.capacity = copy_of<double>(*capacities);
    const Aimed aimed(objective, std::move(phases), background);
    std::optional<Migration> migration;
    if (previous) migration = make_migration(*previous, migration_cost);
    PlaceResult result = watch.run([&] {
        const Problem problem(graph, allocation, seed, threads, sharing);
        return place(aimed.at(migration ? problem.with_migration(std::move(*migration)) : problem), mapper,
                     budget);
    });
    if (proven && result.proven) (*proven)(*result.proven);
    return {std::move(result.placement), result.work};
}

double value_of(const CommGraph& graph, const Allocation& allocation, const Placement& placement,
                std::string_view objective, std::vector<const CommGraph*> phases,
                const std::optional<Numbers>& background) {
    const Aimed aimed(objective, std::move(phases), background);
    const nb::gil_scoped_release released;
    return aimed.at(Problem(graph, allocation)).objective_value(placement.slots());
}

/// Of a placement that a machine's bandwidths allow to be timed.
double time_of(const CommGraph& graph, const Allocation& allocation, const Placement& placement,
               std::vector<const CommGraph*> phases, const std::optional<Numbers>& background) {
    const Aimed aimed("time", std::move(phases), background);
    const nb::gil_scoped_release released;
    return aimed.time(allocation.machine(), graph, placement);
}

std::pair<std::string, std::string> choice_of(const CommGraph& graph, const Allocation& allocation,
                                              std::vector<const CommGraph*> phases,
                                              const std::optional<Numbers>& background,
                                              std::optional<double> imbalance) {
    const Aimed aimed("auto", std::move(phases), background);
    const nb::gil_scoped_release released;
    ObjectiveChoice choice = aimed.choose(Problem(graph, allocation, 1, 0, {.imbalance = imbalance}));
    return {std::string(name_of(choice.aim)), std::move(choice.reason)};
}

ChosenNodes choose(const CommGraph& graph, const Allocation& free, std::size_t count, std::string_view mapper,
                   std::uint64_t seed, std::optional<double> seconds, std::optional<std::uint64_t> work,
                   int threads, const std::optional<Progress>& progress) {
    Watch watch(progress);
    const Budget budget = make_budget(seconds, work, watch);
    return watch.run([&] { return choose_nodes(graph, free, count, mapper, seed, threads, budget); });
}

nb::list list_mappers() {
    nb::list list;
    for (const MapperEntry& entry : mappers()) {
        nb::dict one;
        one["name"] = entry.name;
        one["kind"] = entry.constructs() ? "construct" : "improve";
        one["summary"] = entry.summary;
        one["source"] = entry.source;
        one["needs"] = entry.needs;
        one["options"] = option_list(entry.options());
        list.append(one);
    }
    return list;
}

}  // namespace

void bind_place(nb::module_& m) {
    m.def(
        "place", &run, "graph"_a, "allocation"_a, "mapper"_a = "auto", nb::kw_only(), "seed"_a = 1,
        "seconds"_a = nb::none(), "work"_a = nb::none(), "threads"_a = 0, "imbalance"_a = nb::none(),
        "capacities"_a = nb::none(), "previous"_a = nb::none(), "migration_cost"_a = 0,
        "objective"_a = "auto", "phases"_a = std::vector<const CommGraph*>{}, "background"_a = nb::none(),
        "proven"_a = nb::none(), "progress"_a = nb::none(),
        "Places the ranks with a chain of mappers; returns (placement, work done).\n\n"
        "Each rank gets a slot of its own, unless there are more ranks than slots and an imbalance says how\n"
        "much more than its share a slot may hold (0.03: 3 %), or capacities give the load of every slot.\n"
        "previous holds the earlier slot of every rank (-1: none); migration_cost is the bytes a rank moves "
        "with it.\n"
        "objective is hop-bytes, congestion, congestion-soft, time, weighted(hop-bytes=1;congestion=2) or\n"
        "auto, which choose_objective() tells;\n"
        "phases are graphs whose messages never meet, and whose sum is the graph (none: it is one phase);\n"
        "background holds bytes by link that others send.\n"
        "proven(least) is called where the search has proven that no placement has a lower value of the\n"
        "objective.\n"
        "progress(work) is called now and then; when it returns False the best placement so far is "
        "returned.");
    m.def("objective_value", &value_of, "graph"_a, "allocation"_a, "placement"_a, nb::kw_only(),
          "objective"_a, "phases"_a = std::vector<const CommGraph*>{}, "background"_a = nb::none(),
          "What place() minimizes: hop-bytes, seconds, or a mix in parts of what block placement has.");
    m.def("predicted_time", &time_of, "graph"_a, "allocation"_a, "placement"_a, nb::kw_only(),
          "phases"_a = std::vector<const CommGraph*>{}, "background"_a = nb::none(),
          "Seconds that the messages take: startups, latencies, and the busiest link, network card or\n"
          "memory; 0 where the machine gives no bandwidths. Ranks may share slots.");
    m.def("choose_objective", &choice_of, "graph"_a, "allocation"_a, nb::kw_only(),
          "phases"_a = std::vector<const CommGraph*>{}, "background"_a = nb::none(),
          "imbalance"_a = nb::none(), "What objective=\"auto\" stands for here, and why.");
    nb::class_<ChosenNodes>(m, "ChosenNodes", "Nodes for a pattern, and where its ranks go on them.")
        .def_ro("allocation", &ChosenNodes::allocation, nb::rv_policy::reference_internal,
                "The chosen nodes, in the order of the free ones.")
        .def_ro("placement", &ChosenNodes::placement, nb::rv_policy::reference_internal)
        .def_ro("hop_bytes", &ChosenNodes::hop_bytes, "Of the placement.")
        .def_ro("first_hop_bytes", &ChosenNodes::first_hop_bytes,
                "What the same mapper reached on the first free nodes.")
        .def_ro("random_hop_bytes", &ChosenNodes::random_hop_bytes,
                "The same on random ones; None if the budget ended before.")
        .def_ro("work", &ChosenNodes::work, "Candidates evaluated.");
    m.def("choose_nodes", &choose, "graph"_a, "free"_a, "count"_a, "mapper"_a = "auto", nb::kw_only(),
          "seed"_a = 1, "seconds"_a = nb::none(), "work"_a = nb::none(), "threads"_a = 0,
          "progress"_a = nb::none(), nb::keep_alive<0, 2>(),
          "Chooses the free nodes on which the pattern has the fewest hop-bytes, and places its ranks.");
    m.def("mappers", &list_mappers, "All mappers with their options.",
          nb::sig("def mappers() -> list[dict[str, object]]"));
}

}  // namespace topoloom::python
