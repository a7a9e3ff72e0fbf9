// SPDX-License-Identifier: BSD-3-Clause
// Exposes predicted costs of calls, and choices of schedules, to Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/schedule/any_schedule.hpp"
#include "topoloom/strategy/candidates.hpp"
#include "topoloom/strategy/decision_table.hpp"
#include "topoloom/strategy/machine_file.hpp"
#include "topoloom/strategy/placement_file.hpp"
#include "topoloom/strategy/strategy.hpp"
#include "topoloom/strategy/usual_schedule.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

/// The strategy refers to the allocation's machine, which must outlive it.
void make_strategy(Strategy* strategy, const Allocation& allocation, const Placement& placement,
                   const NetworkModel* model) {
    placement.require_compatible_with(allocation);
    const std::vector<Slot> slots(placement.slots().begin(), placement.slots().end());
    new (strategy) Strategy(slots.size(), cost_basis_on({std::shared_ptr<void>(), &allocation.machine()},
                                                        slots, model ? std::optional(*model) : std::nullopt));
}

}  // namespace

void bind_strategy(nb::module_& m) {
    using Unlocked = nb::call_guard<nb::gil_scoped_release>;
    nb::class_<Strategy>(m, "Strategy",
                         "Costs of calls for given locations of ranks, and the schedules that "
                         "libtopoloom-collective chooses.")
        .def(
            "__init__",
            [](Strategy* strategy, std::size_t ranks, const NetworkModel& model) {
                new (strategy) Strategy(ranks, cost_basis_apart(ranks, model));
            },
            "ranks"_a, "model"_a, "The basis with each rank on a node of its own.")
        .def("__init__", &make_strategy, "allocation"_a, "placement"_a, "model"_a = nb::none(),
             nb::keep_alive<1, 2>(),
             "Messages pass the links of a placement. Without a model, costs are those of the machine.")
        .def(
            "cost",
            [](const Strategy& strategy, const AnySchedule& schedule) {
                return schedule_cost(schedule, strategy.basis());
            },
            "schedule"_a, Unlocked(),
            "Computes the cost of a schedule whose ranks wait only for their own messages. With more than "
            "2^16\n"
            "messages on a machine it is estimated from a sample in synchronized rounds. Ranks of a node\n"
            "send through its memory.")
        .def(
            "choose",
            [](Strategy& strategy, std::string_view operation, std::int64_t bytes, bool in_rank_order) {
                return strategy.choose(parse_operation(operation), Bytes{bytes}, in_rank_order);
            },
            "operation"_a, "bytes"_a, "in_rank_order"_a = false, Unlocked(),
            "Chooses the schedule of a call; in_rank_order: its operator is not commutative.")
        .def_static(
            "size_of",
            [](std::string_view operation, std::int64_t bytes) {
                return Strategy::round_size(parse_operation(operation), Bytes{bytes}).value;
            },
            "operation"_a, "bytes"_a,
            "Rounds bytes down to one of 16 sizes per doubling. Calls of one rounded size get the same "
            "schedule.");
    m.def(
        "check_decision_table", [](std::string_view text) { (void)DecisionTable(text); }, "text"_a,
        "Raises Error, naming the line, if libtopoloom-collective cannot read a decision table.");
    m.def(
        "check_machine_file",
        [](std::string_view text) {
            const MachineFile file = read_machine_file(text);
            if (!file.machine.empty()) (void)make_machine(file.machine);
        },
        "text"_a, "Checks a file like check_decision_table.");
    m.def(
        "check_placement_file", [](std::string_view text) { (void)read_placement_file(text); }, "text"_a,
        "Checks a file like check_decision_table.");
    m.def("check_schedule_text", &check_schedule_text, "text"_a,
          "Raises Error if the name or the options of a schedule are invalid for all numbers of ranks.");
    m.def(
        "usual_schedule",
        [](std::string_view operation, std::size_t ranks, std::int64_t bytes, bool in_all) {
            const Call call{.operation = parse_operation(operation),
                            .ranks = ranks,
                            .bytes = Bytes{bytes},
                            .in_all = in_all};
            return usual_schedule(call);
        },
        "operation"_a, "ranks"_a, "bytes"_a, "in_all"_a = false,
        "The default schedule of MPICH, with options; bytes as for Schedule.");
    m.def(
        "candidates",
        [](std::string_view operation, std::size_t ranks, std::int64_t bytes,
           const std::vector<std::string>& fitted) {
            return candidates({parse_operation(operation), ranks, Bytes{bytes}}, fitted);
        },
        "operation"_a, "ranks"_a, "bytes"_a, "fitted"_a = std::vector<std::string>{},
        "Lists the candidate schedules of a call: with default options, as from fitted_schedules(), and "
        "with\n"
        "promising values of options.");
}

}  // namespace topoloom::python
