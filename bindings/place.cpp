// SPDX-License-Identifier: BSD-3-Clause
// Exposes the mappers to Python.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <optional>

#include "arrays.hpp"
#include "bindings.hpp"
#include "objectives.hpp"
#include "option_list.hpp"
#include "search_monitor.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/choose/choose_nodes.hpp"
#include "topoloom/metric/proxies.hpp"
#include "topoloom/place/effort.hpp"
#include "topoloom/place/mapper.hpp"
#include "topoloom/place/portfolio/objective_choice.hpp"
#include "topoloom/place/portfolio/plan_settings.hpp"
#include "value_semantics.hpp"

namespace topoloom::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

/// Entries of -1 mark ranks without an earlier slot.
Migration make_migration(const Integers& previous, std::int64_t bytes_per_rank) {
    Migration migration{{}, Bytes{bytes_per_rank}};
    for (const std::int64_t slot : elements<std::int64_t>(previous, "previous")) {
        if (slot < -1 || slot > std::numeric_limits<std::uint32_t>::max())
            fail("the earlier placement contains ", slot, ", which is neither a slot nor -1");
        migration.from.push_back(slot < 0 ? std::nullopt
                                          : std::optional(Slot{static_cast<std::uint32_t>(slot)}));
    }
    return migration;
}

using SlotOfRank = std::map<std::int64_t, std::int64_t>;

FixedRanks make_fixed_ranks(const SlotOfRank& slot_of_rank, std::size_t rank_count) {
    std::vector<FixedRank> fixed;
    for (const auto& [rank, slot] : slot_of_rank) {
        if (rank < 0 || slot < 0 || std::max(rank, slot) >= no_index)
            fail("rank ", rank, " cannot be fixed to slot ", slot, "; neither may be negative or too large");
        fixed.emplace_back(static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(slot));
    }
    return {rank_count, fixed};
}

/// The result of place(), and whether its placement is proven optimal.
struct PlaceOutcome {
    PlaceResult result;
    bool optimal;
};

/// The fields of a rejection by name, or None.
nb::object make_rejection_dict(const std::optional<Rejection>& rejection) {
    if (!rejection) return nb::none();
    nb::dict fields;
    fields["reason"] = rejection->reason == Rejection::Reason::slower ? "slower" : "no gain";
    fields["value"] = rejection->value;
    fields["predicted_seconds"] = rejection->seconds;
    fields["kept_value"] = rejection->kept_value;
    fields["kept_predicted_seconds"] = rejection->kept_seconds;
    return fields;
}

std::optional<Rejection> read_rejection_dict(const nb::object& fields) {
    if (fields.is_none()) return {};
    const auto number = [&](const char* name) { return nb::cast<double>(fields[name]); };
    const bool is_slower = nb::cast<std::string>(fields["reason"]) == "slower";
    return Rejection{.reason = is_slower ? Rejection::Reason::slower : Rejection::Reason::no_gain,
                     .value = number("value"),
                     .seconds = number("predicted_seconds"),
                     .kept_value = number("kept_value"),
                     .kept_seconds = number("kept_predicted_seconds")};
}

PlaceOutcome run_place(const CommGraph& graph, const Allocation& allocation, std::string_view mapper,
                       const ObjectiveOrName& objective, bool automatic_objective,
                       std::vector<const CommGraph*> phases, const std::optional<Numbers>& background,
                       const std::optional<Sharing>& sharing, const std::optional<Integers>& previous,
                       std::int64_t migration_cost, const SlotOfRank& fixed, std::uint64_t seed,
                       std::optional<double> seconds, std::optional<std::uint64_t> work, int threads,
                       const std::optional<Progress>& progress) {
    check_threads(threads);
    SearchMonitor monitor(progress);
    const Budget budget = make_budget(seconds, work, monitor);
    const ObjectiveInput input(resolve_objective(objective), std::move(phases), background);
    std::optional<Migration> migration;
    if (previous) migration = make_migration(*previous, migration_cost);
    return monitor.run([&] {
        const Problem plain = Problem(graph, allocation, seed, threads, sharing.value_or(Sharing{}))
                                  .with_fixed(make_fixed_ranks(fixed, graph.rank_count()));
        const Problem given = input.at(migration ? plain.with_migration(std::move(*migration)) : plain);
        const Problem problem = automatic_objective ? given.with_automatic_objective() : given;
        PlaceOutcome found{place(problem, mapper, budget), false};
        if (const std::optional<double> least = found.result.proven)
            found.optimal = problem.objective_value(found.result.placement.slots()) <= *least * (1 + 1e-9);
        return found;
    });
}

std::string make_repr(const PlaceOutcome& found) {
    const auto& [placement, work, exhausted, proven, rejected] = found.result;
    std::string text =
        "PlaceResult(" + std::to_string(placement.slots().size()) + " ranks, work " + std::to_string(work);
    if (proven) text += found.optimal ? ", proven optimal" : ", not proven optimal";
    return text + ")";
}

/// Calls use() with the graph; if ranks share slots, with the graph that counts messages through proxies.
double evaluate_with_proxies(const CommGraph& graph, const Placement& placement, const auto& use) {
    const bool sent_once = placement.use() == SlotUse::shared && !graph.proxied().empty();
    return sent_once ? use(apply_proxies(graph, placement.slots())) : use(graph);
}

double evaluate_objective(const CommGraph& graph, const Allocation& allocation, const Placement& placement,
                          const ObjectiveOrName& objective, std::vector<const CommGraph*> phases,
                          const std::optional<Numbers>& background) {
    const ObjectiveInput input(resolve_objective(objective), std::move(phases), background);
    const nb::gil_scoped_release released;
    placement.require_compatible_with(allocation);
    return evaluate_with_proxies(
        graph, placement, [&](const CommGraph& sent) { return input.value(sent, allocation, placement); });
}

double predict_time(const CommGraph& graph, const Allocation& allocation, const Placement& placement,
                    std::vector<const CommGraph*> phases, const std::optional<Numbers>& background) {
    const ObjectiveInput input(NamedObjective("time"), std::move(phases), background);
    const nb::gil_scoped_release released;
    placement.require_compatible_with(allocation);
    return evaluate_with_proxies(graph, placement, [&](const CommGraph& sent) {
        return input.times(allocation.machine(), sent, placement).all;
    });
}

double compute_latency_share(const CommGraph& graph, const Allocation& allocation, const Placement& placement,
                             std::vector<const CommGraph*> phases) {
    const ObjectiveInput input(NamedObjective("time"), std::move(phases), std::nullopt);
    const nb::gil_scoped_release released;
    placement.require_compatible_with(allocation);
    return evaluate_with_proxies(graph, placement, [&](const CommGraph& sent) {
        const TotalAndBusiestTimes times = input.times(allocation.machine(), sent, placement);
        return times.all > 0 ? 1 - times.busy / times.all : 0.0;
    });
}

std::pair<NamedObjective, std::string> choose_objective_kind(const CommGraph& graph,
                                                             const Allocation& allocation,
                                                             std::vector<const CommGraph*> phases,
                                                             const std::optional<Numbers>& background,
                                                             const std::optional<Sharing>& sharing) {
    const ObjectiveInput input(NamedObjective("auto"), std::move(phases), background);
    const nb::gil_scoped_release released;
    ObjectiveChoice choice = input.choose(Problem(graph, allocation, 1, 0, sharing.value_or(Sharing{})));
    return {NamedObjective(std::string(name_of(choice.objective))), std::move(choice.reason)};
}

ChosenNodes choose_free_nodes(const CommGraph& graph, const Allocation& free, std::size_t count,
                              std::string_view mapper, std::uint64_t seed, std::optional<double> seconds,
                              std::optional<std::uint64_t> work, int threads,
                              const std::optional<Progress>& progress) {
    check_threads(threads);
    SearchMonitor monitor(progress);
    const Budget budget = make_budget(seconds, work, monitor);
    return monitor.run([&] { return choose_nodes(graph, free, count, mapper, seed, threads, budget); });
}

nb::list list_mappers() {
    nb::list list;
    for (const MapperEntry& entry : mappers()) {
        nb::dict one;
        one["name"] = entry.name;
        one["kind"] = entry.is_constructor() ? "construct" : "improve";
        one["summary"] = entry.summary;
        one["source"] = entry.source;
        one["needs"] = entry.needs;
        one["options"] = option_list(entry.options());
        list.append(one);
    }
    return list;
}

nb::list list_plans() {
    nb::list list;
    for (const portfolio::PlanSetting& setting : portfolio::list_plan_settings()) {
        nb::dict one;
        one["problems"] = setting.problems;
        one["name"] = setting.name;
        one["summary"] = setting.summary;
        for (std::size_t effort = 0; effort < setting.values.size(); ++effort) {
            one[effort_names[effort].c_str()] = setting.values[effort];
        }
        list.append(one);
    }
    return list;
}

}  // namespace

void bind_place(nb::module_& m) {
    nb::class_<PlaceOutcome> found(m, "PlaceResult", "The result of place().");
    found
        .def_prop_ro(
            "placement", [](const PlaceOutcome& f) -> const Placement& { return f.result.placement; },
            nb::rv_policy::reference_internal, "The best placement found.")
        .def_prop_ro(
            "work", [](const PlaceOutcome& f) { return f.result.work; }, "Candidates evaluated.")
        .def_prop_ro(
            "proven", [](const PlaceOutcome& f) { return f.result.proven; },
            "A proven lower bound of the objective; None if the search proved none.")
        .def_ro("optimal", &PlaceOutcome::optimal, "Whether the placement is proven to be optimal.")
        .def_prop_ro(
            "rejected", [](const PlaceOutcome& f) { return make_rejection_dict(f.result.rejected); },
            nb::sig("def rejected(self) -> dict[str, str | float] | None"),
            "The best placement by an automatically chosen objective, if it was rejected: the reason "
            "(slower\n"
            "than block order, or no gain over it), its value and predicted time, and those of the "
            "placement\n"
            "that was kept instead. None if nothing was rejected.")
        .def("__repr__", &make_repr)
        .def_static(
            "_restored",
            [](const Placement& placement, std::uint64_t work, bool exhausted, std::optional<double> proven,
               bool optimal, const nb::object& rejected) {
                return PlaceOutcome{{placement, work, exhausted, proven, read_rejection_dict(rejected)},
                                    optimal};
            },
            "placement"_a, "work"_a, "exhausted"_a, "proven"_a.none(), "optimal"_a, "rejected"_a.none());
    add_pickling(found, "PlaceResult", [](const nb::object& self, const PlaceOutcome& one, const auto& add) {
        const PlaceResult& result = one.result;
        return add(result.placement, result.work, result.exhausted, self.attr("proven"), self.attr("optimal"),
                   self.attr("rejected"));
    });
    m.def(
        "place", &run_place, "graph"_a, "allocation"_a, "mapper"_a = "auto", nb::kw_only(),
        "objective"_a = NamedObjective("auto"), "automatic_objective"_a = false,
        "phases"_a = std::vector<const CommGraph*>{}, "background"_a = nb::none(), "sharing"_a = nb::none(),
        "previous"_a = nb::none(), "migration_cost"_a = 0, "fixed"_a = SlotOfRank{}, "seed"_a = 1,
        "seconds"_a = nb::none(), "work"_a = nb::none(), "threads"_a = 0, "progress"_a = nb::none(),
        "Places the ranks of a graph on the slots of an allocation.\n\n"
        "Parameters\n"
        "----------\n"
        "graph : CommGraph\n"
        "    Bytes and messages from rank to rank, such as from `topoloom.load_graph`.\n"
        "allocation : Allocation\n"
        "    The available slots, such as `Allocation.whole(machine)`.\n"
        "mapper : str, default 'auto'\n"
        "    A chain such as 'gge+swap'; `topoloom.mappers()` lists them.\n"
        "objective : Objective or str, default Objective.auto\n"
        "    What to minimize; for `Objective.auto`, the result of `choose_objective`.\n"
        "automatic_objective : bool, default False\n"
        "    Whether the user did not choose the objective; always for `Objective.auto`. Mapper 'auto' then\n"
        "    returns no placement with a longer predicted time than block order.\n"
        "phases : sequence of CommGraph, default ()\n"
        "    Graphs whose messages never contend, and whose sum is the graph; none: one phase.\n"
        "background : array of float, bytes, default None\n"
        "    Loads of other jobs by link id.\n"
        "sharing : Sharing, default None\n"
        "    Capacities of shared slots; None: each rank gets a slot of its own.\n"
        "previous : array of int, slot ids, default None\n"
        "    The earlier slot of each rank; -1: none.\n"
        "migration_cost : int, bytes, default 0\n"
        "    The bytes that a rank moves if it leaves its previous slot.\n"
        "fixed : dict from int to int, default {}\n"
        "    The slot ids of ranks that must be on given slots; every mapper leaves them there.\n"
        "seed : int, default 1\n"
        "    The same seed gives the same placement.\n"
        "seconds : float, seconds, default None\n"
        "    Stop after this time; None: no limit.\n"
        "work : int, candidates, default None\n"
        "    Stop after evaluating this number of them; unlike seconds, repeatable.\n"
        "threads : int, default 0\n"
        "    Threads of the search; 0: one per core.\n"
        "progress : callable, default None\n"
        "    Called regularly with the candidates evaluated. If it returns False, the search ends with the\n"
        "    best placement so far.\n\n"
        "Returns\n"
        "-------\n"
        "PlaceResult\n"
        "    The placement, the candidates evaluated, and what was proven.");
    m.def("objective_value", &evaluate_objective, "graph"_a, "allocation"_a, "placement"_a, nb::kw_only(),
          "objective"_a, "phases"_a = std::vector<const CommGraph*>{}, "background"_a = nb::none(),
          "Computes the objective of place(): hop-bytes, seconds, or a mix relative to block placement.\n"
          "Ranks may share slots.");
    m.def("predicted_time", &predict_time, "graph"_a, "allocation"_a, "placement"_a, nb::kw_only(),
          "phases"_a = std::vector<const CommGraph*>{}, "background"_a = nb::none(),
          "Predicts the seconds of the messages: startups, latencies, and the busiest link, NIC or memory;\n"
          "0 if the machine gives no bandwidths. Ranks may share slots.");
    m.def("latency_share", &compute_latency_share, "graph"_a, "allocation"_a, "placement"_a, nb::kw_only(),
          "phases"_a = std::vector<const CommGraph*>{},
          "Computes the share of startups and latencies in predicted_time(), from 0 to 1.");
    m.def("choose_objective", &choose_objective_kind, "graph"_a, "allocation"_a, nb::kw_only(),
          "phases"_a = std::vector<const CommGraph*>{}, "background"_a = nb::none(), "sharing"_a = nb::none(),
          "Resolves Objective.auto: (objective, reason).");
    nb::class_<ChosenNodes>(m, "ChosenNodes", "Chosen nodes for a pattern, and the placement of its ranks.")
        .def_ro("allocation", &ChosenNodes::allocation, nb::rv_policy::reference_internal,
                "The chosen nodes, in the order of the free nodes.")
        .def_ro("placement", &ChosenNodes::placement, nb::rv_policy::reference_internal)
        .def_ro("hop_bytes", &ChosenNodes::hop_bytes, "Hop-bytes of the placement.")
        .def_ro("first_hop_bytes", &ChosenNodes::first_hop_bytes,
                "Hop-bytes with the same mapper on the first free nodes.")
        .def_ro("random_hop_bytes", &ChosenNodes::random_hop_bytes,
                "Hop-bytes with the same mapper on random nodes; None if the budget ended before.")
        .def_ro("work", &ChosenNodes::work, "Candidates evaluated.");
    m.def("choose_nodes", &choose_free_nodes, "graph"_a, "free"_a, "count"_a, "mapper"_a = "auto",
          nb::kw_only(), "seed"_a = 1, "seconds"_a = nb::none(), "work"_a = nb::none(), "threads"_a = 0,
          "progress"_a = nb::none(), nb::keep_alive<0, 2>(),
          "Chooses free nodes on which the pattern has few hop-bytes, and places its ranks.");
    m.def("search_plans", &list_plans,
          "Lists the settings of the mapper auto with their values for each effort.",
          nb::sig("def search_plans() -> list[dict[str, object]]"));
    m.def("mappers", &list_mappers, "Lists all mappers with their options.",
          nb::sig("def mappers() -> list[dict[str, object]]"));
}

}  // namespace topoloom::python
