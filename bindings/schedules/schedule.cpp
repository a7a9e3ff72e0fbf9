// SPDX-License-Identifier: BSD-3-Clause
// Exposes the schedules of collectives to Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "option_list.hpp"
#include "search_monitor.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/place/problem.hpp"
#include "topoloom/schedule/any_schedule.hpp"
#include "topoloom/schedule/check_schedule.hpp"
#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/schedule/collectives/schedule_graph.hpp"
#include "topoloom/schedule/cost/cost.hpp"
#include "topoloom/schedule/cost/messages.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

const Collective& collective(const AnySchedule& schedule) { return schedule.collective(); }

std::uint64_t rounds(const AnySchedule& schedule) { return schedule.rounds(); }

void check_round(const AnySchedule& schedule, std::uint64_t round) {
    if (round >= rounds(schedule)) fail("no round ", round, "; there are ", rounds(schedule));
}

template <class T>
nb::object make_message_array(const std::vector<SentMessage>& messages, T SentMessage::* member) {
    using Number = typename NumpyNumber<T>::type;
    std::vector<Number> numbers;
    for (const SentMessage& message : messages) numbers.push_back((message.*member).value);
    return new_array(std::move(numbers));
}

nb::tuple list_round_messages(const AnySchedule& schedule, std::uint64_t round) {
    check_round(schedule, round);
    std::vector<SentMessage> messages;
    list_messages(schedule, round, messages);
    return nb::make_tuple(make_message_array(messages, &SentMessage::from),
                          make_message_array(messages, &SentMessage::to),
                          make_message_array(messages, &SentMessage::bytes));
}

/// Maximum number of messages in a list; a list of that many takes 1 to 2 GiB.
constexpr std::size_t max_listed_messages = std::size_t{1} << 26;

nb::tuple list_all_messages(const AnySchedule& schedule) {
    std::vector<SentMessage> messages;
    std::vector<std::uint64_t> round_of;
    std::vector<SentMessage> of_round;
    for (std::uint64_t round = 0; round < rounds(schedule); ++round) {
        of_round.clear();
        list_messages(schedule, round, of_round);
        messages.insert(messages.end(), of_round.begin(), of_round.end());
        if (messages.size() > max_listed_messages)
            fail("there are more than ", max_listed_messages,
                 " messages; take those of each round, messages(round)");
        round_of.resize(messages.size(), round);
    }
    return nb::make_tuple(new_array(std::move(round_of)), make_message_array(messages, &SentMessage::from),
                          make_message_array(messages, &SentMessage::to),
                          make_message_array(messages, &SentMessage::bytes));
}

nb::tuple list_message_blocks(const AnySchedule& schedule, std::uint64_t round) {
    check_round(schedule, round);
    std::vector<SentMessage> messages;
    list_messages(schedule, round, messages);
    std::vector<std::uint64_t> first{0};
    std::vector<std::uint64_t> blocks;
    for (const SentMessage& message : messages) {
        schedule.blocks(message.from, message.to, round,
                        [&](std::uint64_t block) { blocks.push_back(block); });
        first.push_back(blocks.size());
    }
    return nb::make_tuple(new_array(std::move(first)), new_array(std::move(blocks)));
}

nb::list list_blocks(const AnySchedule& schedule, std::uint64_t round, std::uint32_t from, std::uint32_t to) {
    check_round(schedule, round);
    nb::list blocks;
    bool sent = false;
    if (from < schedule.collective().ranks())
        schedule.sends(Rank{from}, round, [&](Rank peer, Bytes) { sent = sent || peer == Rank{to}; });
    if (!sent) fail("rank ", from, " sends nothing to rank ", to, " in round ", round);
    schedule.blocks(Rank{from}, Rank{to}, round, [&](std::uint64_t block) { blocks.append(block); });
    return blocks;
}

/// The communication graph of an allgather, in which every message has `bytes` bytes.
CommGraph allgather_pattern(std::string_view name, std::size_t ranks, std::int64_t bytes, bool unit) {
    const Call call{Operation::allgather, ranks, Bytes{unit ? 0 : bytes}};
    if (unit && bytes < 0) fail("allgather: ", bytes, " bytes; there must be 0 or more");
    return pattern(make_schedule(call, name), unit ? std::optional(Bytes{bytes}) : std::nullopt);
}

nb::list list_schedules() {
    nb::list list;
    for (const ScheduleEntry& entry : schedules()) {
        nb::dict one;
        one["name"] = entry.name;
        nb::list operations;
        for (const Operation operation : entry.operations) operations.append(operation_name(operation));
        one["operations"] = operations;
        one["summary"] = entry.summary;
        one["source"] = entry.source;
        one["cost"] = entry.cost;
        one["ranks"] = entry.ranks;
        one["options"] = option_list(entry.options());
        list.append(one);
    }
    return list;
}

}  // namespace

void bind_schedule(nb::module_& m) {
    nb::class_<ScheduleCost>(m, "ScheduleCost", "The cost of a schedule.")
        .def_ro("time", &ScheduleCost::time, "Seconds, summed over the rounds.")
        .def_ro("cpu", &ScheduleCost::cpu, "CPU seconds of the busiest rank, summed over the rounds.")
        .def_ro("congestion", &ScheduleCost::congestion,
                "Seconds of the busiest link, summed over the rounds; 0 without a machine.")
        .def_ro("rounds", &ScheduleCost::rounds)
        .def_ro("messages", &ScheduleCost::messages,
                "Messages of a rank that sends the most in each round, summed over the rounds.")
        .def_prop_ro("bytes", [](const ScheduleCost& c) { return c.bytes.value; }, "Bytes of the same rank.");

    nb::class_<AnySchedule>(m, "Schedule",
                            "A collective as rounds of messages, which are computed on demand.")
        .def(
            "__init__",
            [](AnySchedule* schedule, std::string_view name, std::string_view operation, std::size_t ranks,
               std::int64_t bytes, std::uint32_t root, std::optional<std::size_t> degree, bool in_all) {
                std::shared_ptr<const Demand> demand;
                if (degree) demand = std::make_shared<Demand>(ranks, *degree, Bytes{bytes});
                new (schedule) AnySchedule(make_schedule(
                    {parse_operation(operation), ranks, Bytes{bytes}, Rank{root}, demand, in_all}, name));
            },
            "name"_a, "operation"_a, "ranks"_a, "bytes"_a, "root"_a = 0, "degree"_a = nb::none(),
            "in_all"_a = false,
            "name is one of schedules(), with options as in chain(segment=4096). bytes are those of the "
            "whole\n"
            "vector (bcast, reduce, allreduce), of a rank (scatter, gather, allgather, reduce_scatter) "
            "or\n"
            "of a pair (alltoall). A many-to-many has a degree: to how many of the next ranks each sends. "
            "in_all:\n"
            "bytes of all ranks together (allgather, reduce_scatter), whose blocks may differ by one.")
        .def_static(
            "many_to_many",
            [](std::string_view name, const CommGraph& demand, bool multicast) {
                const Operation operation =
                    multicast ? Operation::many_to_many_multicast : Operation::many_to_many;
                return make_schedule(
                    {operation, demand.rank_count(), Bytes{0}, Rank{0}, std::make_shared<Demand>(demand)},
                    name);
            },
            "name"_a, "demand"_a, "multicast"_a = false,
            "Makes a many-to-many from a communication graph of the bytes from rank to rank.")
        .def_prop_ro("operation",
                     [](const AnySchedule& s) { return operation_name(collective(s).operation()); })
        .def_prop_ro("ranks", [](const AnySchedule& s) { return collective(s).ranks(); })
        .def_prop_ro("rounds", &rounds)
        .def("messages", &list_round_messages, "round"_a,
             nb::sig("def messages(self, round: int) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]"),
             "Lists senders, receivers and bytes of the messages of a round.")
        .def("blocks", &list_blocks, "round"_a, "source"_a, "target"_a,
             nb::sig("def blocks(self, round: int, source: int, target: int) -> list[int]"),
             "Lists the blocks of data in a message.")
        .def("all_messages", &list_all_messages,
             nb::sig("def all_messages(self) -> tuple[numpy.typing.NDArray[numpy.uint64], "
                     "numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.uint32], "
                     "numpy.typing.NDArray[numpy.int64]]"),
             "Lists rounds, senders, receivers and bytes of all messages: four arrays of equal length.")
        .def("message_blocks", &list_message_blocks, "round"_a,
             nb::sig("def message_blocks(self, round: int) -> tuple[numpy.typing.NDArray[numpy.uint64], "
                     "numpy.typing.NDArray[numpy.uint64]]"),
             "Lists the blocks in all messages of a round: (first, block). Those of the i-th of\n"
             "messages(round) are block[first[i]:first[i + 1]].")
        .def("__repr__",
             [](const AnySchedule& s) {
                 return "Schedule(" + std::string(operation_name(collective(s).operation())) + ", " +
                        std::to_string(collective(s).ranks()) + " ranks, " + std::to_string(rounds(s)) +
                        " rounds)";
             })
        .def(
            "check", [](const AnySchedule& schedule) { check_schedule(schedule); },
            nb::call_guard<nb::gil_scoped_release>(),
            "Executes the schedule symbolically; raises Error unless each rank ends with the correct blocks.")
        .def(
            "graph",
            [](const AnySchedule& s, int threads) {
                return pattern(s, std::nullopt, check_threads(threads));
            },
            "threads"_a = 0, nb::call_guard<nb::gil_scoped_release>(),
            "Makes the communication graph of all messages.")
        .def(
            "phase",
            [](const AnySchedule& schedule, std::uint64_t round) {
                check_round(schedule, round);
                return phase(schedule, round);
            },
            "round"_a, "Makes the communication graph of one round.")
        .def(
            "cost",
            [](const AnySchedule& schedule, const NetworkModel& model) { return cost(schedule, model); },
            "model"_a, nb::call_guard<nb::gil_scoped_release>(),
            "Computes the cost by the model alone, without a machine.")
        .def(
            "cost_on",
            [](const AnySchedule& schedule, const Allocation& allocation, const Placement& placement,
               const NetworkModel* model) {
                placement.require_compatible_with(allocation);
                const Machine& machine = allocation.machine();
                const std::optional<Progress> silent;
                SearchMonitor monitor(silent);
                const Budget budget = make_budget(std::nullopt, std::nullopt, monitor);
                return monitor.run([&] {
                    return run_cost(schedule, model == nullptr ? machine_model(machine) : *model, machine,
                                    placement.slots(), budget);
                });
            },
            "allocation"_a, "placement"_a, "model"_a = nb::none(),
            "Computes the cost on the links of a placement. Ranks wait only for their own messages, and\n"
            "messages within a node pass its memory. Without a model, the machine gives startup time and\n"
            "port bandwidth.");
    m.def(
        "program_time",
        [](const std::vector<const AnySchedule*>& steps, const Allocation& allocation,
           const Placement& placement, const NetworkModel* model) {
            placement.require_compatible_with(allocation);
            const Machine& machine = allocation.machine();
            const nb::gil_scoped_release unlocked;
            return program_time(steps, model == nullptr ? machine_model(machine) : *model, machine,
                                placement.slots());
        },
        "steps"_a, "allocation"_a, "placement"_a, "model"_a = nb::none(),
        "Computes the seconds of consecutive schedules, as `Schedule.cost_on` does for one.");
    using Unlocked = nb::call_guard<nb::gil_scoped_release>;
    for (const auto& [function, schedule] :
         {std::pair("recursive_doubling", "recursive-doubling"), std::pair("bruck", "bruck")}) {
        m.def(
            function,
            [schedule](std::size_t ranks, std::int64_t bytes, bool unit) {
                return allgather_pattern(schedule, ranks, bytes, unit);
            },
            "rank_count"_a, "bytes"_a = 1, "unit"_a = false, Unlocked(),
            "Makes the graph of an allgather; unit: every message has `bytes`.");
    }
    m.def(
        "binomial_tree",
        [](std::size_t ranks, std::int64_t bytes, std::uint32_t root) {
            return pattern(make_schedule({Operation::bcast, ranks, Bytes{bytes}, Rank{root}}, "binomial"));
        },
        "rank_count"_a, "bytes"_a = 1, "root"_a = 0, Unlocked(),
        "Makes the graph of a bcast from root along MPICH's binomial tree.");
    m.def(
        "alltoall",
        [](std::size_t ranks, std::int64_t bytes) {
            return pattern(make_schedule({Operation::alltoall, ranks, Bytes{bytes}}, "at-once"));
        },
        "rank_count"_a, "bytes"_a = 1, Unlocked(),
        "Makes a graph in which each rank sends to every other one.");
    m.def("schedules", &list_schedules, "Lists all schedules with their operations and options.",
          nb::sig("def schedules() -> list[dict[str, object]]"));
}

}  // namespace topoloom::python
