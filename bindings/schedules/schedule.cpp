// SPDX-License-Identifier: BSD-3-Clause
// Collective schedules for Python.
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
#include "option_list.hpp"
#include "rooms.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/place/problem.hpp"
#include "topoloom/schedule/any_schedule.hpp"
#include "topoloom/schedule/check_schedule.hpp"
#include "topoloom/schedule/collectives/pattern.hpp"
#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/schedule/cost/cost.hpp"
#include "topoloom/schedule/cost/messages.hpp"
#include "watch.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

const Collective& collective(const AnySchedule& schedule) { return schedule.collective(); }

std::uint64_t rounds(const AnySchedule& schedule) { return schedule.rounds(); }

void check_round(const AnySchedule& schedule, std::uint64_t round) {
    if (round >= rounds(schedule)) fail("no round ", round, "; there are ", rounds(schedule));
}

template <class T>
nb::object array_of(const std::vector<SentMessage>& messages, T SentMessage::* member) {
    using Number = typename Plain<T>::type;
    auto* numbers = new std::vector<Number>;
    nb::capsule owner(numbers, [](void* p) noexcept { delete static_cast<std::vector<Number>*>(p); });
    for (const SentMessage& message : messages) numbers->push_back((message.*member).value);
    return nb::cast(nb::ndarray<nb::numpy, Number, nb::ndim<1>>(numbers->data(), {numbers->size()}, owner));
}

nb::tuple messages_of(const AnySchedule& schedule, std::uint64_t round) {
    check_round(schedule, round);
    std::vector<SentMessage> messages;
    list_messages(schedule, round, messages);
    return nb::make_tuple(array_of(messages, &SentMessage::from), array_of(messages, &SentMessage::to),
                          array_of(messages, &SentMessage::bytes));
}

/// A gigabyte or two.
constexpr std::size_t max_listed = std::size_t{1} << 26;

nb::tuple all_messages_of(const AnySchedule& schedule) {
    std::vector<SentMessage> messages;
    std::vector<std::uint64_t> round_of;
    std::vector<SentMessage> of_round;
    for (std::uint64_t round = 0; round < rounds(schedule); ++round) {
        of_round.clear();
        list_messages(schedule, round, of_round);
        messages.insert(messages.end(), of_round.begin(), of_round.end());
        if (messages.size() > max_listed)
            fail("there are more than ", max_listed, " messages; take those of each round, messages(round)");
        round_of.resize(messages.size(), round);
    }
    return nb::make_tuple(new_array(std::move(round_of)), array_of(messages, &SentMessage::from),
                          array_of(messages, &SentMessage::to), array_of(messages, &SentMessage::bytes));
}

nb::tuple message_blocks_of(const AnySchedule& schedule, std::uint64_t round) {
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

nb::list blocks_of(const AnySchedule& schedule, std::uint64_t round, std::uint32_t from, std::uint32_t to) {
    check_round(schedule, round);
    nb::list blocks;
    bool sent = false;
    if (from < schedule.collective().ranks())
        schedule.sends(Rank{from}, round, [&](Rank peer, Bytes) { sent = sent || peer == Rank{to}; });
    if (!sent) fail("rank ", from, " sends nothing to rank ", to, " in round ", round);
    schedule.blocks(Rank{from}, Rank{to}, round, [&](std::uint64_t block) { blocks.append(block); });
    return blocks;
}

/// The sum of an all-gather; unit: every message has `bytes`.
CommGraph all_gather_pattern(std::string_view name, std::size_t ranks, std::int64_t bytes, bool unit) {
    const Call call{Operation::all_gather, ranks, Bytes{unit ? 0 : bytes}};
    if (unit && bytes < 0) fail("all-gather: ", bytes, " bytes; there must be 0 or more");
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
    nb::class_<ScheduleCost>(m, "ScheduleCost", "What a schedule costs.")
        .def_ro("time", &ScheduleCost::time, "Seconds, summed over the rounds.")
        .def_ro("cpu", &ScheduleCost::cpu, "Seconds that the busiest rank of every round sends and copies.")
        .def_ro("congestion", &ScheduleCost::congestion,
                "Seconds that the busiest link of every round needs; 0 without a machine.")
        .def_ro("rounds", &ScheduleCost::rounds)
        .def_ro("messages", &ScheduleCost::messages, "Of a rank that sends the most in every round.")
        .def_prop_ro("bytes", [](const ScheduleCost& c) { return c.bytes.value; }, "Of the same rank.");

    nb::class_<AnySchedule>(m, "Schedule", "A collective as rounds of messages, described and never stored.")
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
            "vector (broadcast, reduce, all-reduce), of a rank (scatter, gather, all-gather, reduce-scatter) "
            "or\n"
            "of a pair (all-to-all). A many-to-many has a degree: to how many of the next ranks each sends. "
            "in_all:\n"
            "bytes of all ranks together (all-gather, reduce-scatter), whose blocks may differ by one.")
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
            "Who wants how many bytes of whom, as a communication graph.")
        .def_prop_ro("operation",
                     [](const AnySchedule& s) { return operation_name(collective(s).operation()); })
        .def_prop_ro("ranks", [](const AnySchedule& s) { return collective(s).ranks(); })
        .def_prop_ro("rounds", &rounds)
        .def("messages", &messages_of, "round"_a,
             nb::sig("def messages(self, round: int) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]"),
             "Senders, receivers and bytes of the messages of a round.")
        .def("blocks", &blocks_of, "round"_a, "source"_a, "target"_a,
             nb::sig("def blocks(self, round: int, source: int, target: int) -> list[int]"),
             "Blocks of data that a message carries.")
        .def("all_messages", &all_messages_of,
             nb::sig("def all_messages(self) -> tuple[numpy.typing.NDArray[numpy.uint64], "
                     "numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.uint32], "
                     "numpy.typing.NDArray[numpy.int64]]"),
             "Rounds, senders, receivers and bytes of all messages, round by round: four arrays of one "
             "length.")
        .def("message_blocks", &message_blocks_of, "round"_a,
             nb::sig("def message_blocks(self, round: int) -> tuple[numpy.typing.NDArray[numpy.uint64], "
                     "numpy.typing.NDArray[numpy.uint64]]"),
             "Blocks that all messages of a round carry: (first, block), where those of the i-th of\n"
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
            "Plays the schedule; raises Error unless every rank ends with exactly what is promised.")
        .def(
            "graph",
            [](const AnySchedule& s, int threads) {
                return pattern(s, std::nullopt, checked_threads(threads));
            },
            "threads"_a = 0, nb::call_guard<nb::gil_scoped_release>(),
            "All messages as one communication graph.")
        .def(
            "phase",
            [](const AnySchedule& schedule, std::uint64_t round) {
                check_round(schedule, round);
                return phase(schedule, round);
            },
            "round"_a, "The messages of one round as a communication graph.")
        .def(
            "cost",
            [](const AnySchedule& schedule, const NetworkModel& model) { return cost(schedule, model); },
            "model"_a, nb::call_guard<nb::gil_scoped_release>(), "What its messages cost alone.")
        .def(
            "cost_on",
            [](const AnySchedule& schedule, const Allocation& allocation, const Placement& placement,
               const NetworkModel* model) {
                placement.require_on(allocation);
                const Machine& machine = allocation.machine();
                const std::optional<Progress> silent;
                Watch watch(silent);
                const Budget budget = make_budget(std::nullopt, std::nullopt, watch);
                return watch.run([&] {
                    return run_cost(schedule, model == nullptr ? machine_model(machine) : *model, machine,
                                    placement.slots(), budget);
                });
            },
            "allocation"_a, "placement"_a, "model"_a = nb::none(),
            "What it costs on the links under a placement, where ranks wait only for what comes to them and\n"
            "messages within a node pass its memory; without a model, with the machine's own startup time "
            "and port\n"
            "bandwidth.");
    m.def(
        "program_time",
        [](const std::vector<const AnySchedule*>& steps, const Allocation& allocation,
           const Placement& placement, const NetworkModel* model) {
            placement.require_on(allocation);
            const Machine& machine = allocation.machine();
            const nb::gil_scoped_release unlocked;
            return program_time(steps, model == nullptr ? machine_model(machine) : *model, machine,
                                placement.slots());
        },
        "steps"_a, "allocation"_a, "placement"_a, "model"_a = nb::none(),
        "Seconds of a program of schedules one after the other, as `Schedule.cost_on` says of one.");
    using Unlocked = nb::call_guard<nb::gil_scoped_release>;
    for (const auto& [function, schedule] :
         {std::pair("recursive_doubling", "recursive-doubling"), std::pair("bruck", "bruck")}) {
        m.def(
            function,
            [schedule](std::size_t ranks, std::int64_t bytes, bool unit) {
                return all_gather_pattern(schedule, ranks, bytes, unit);
            },
            "rank_count"_a, "bytes"_a = 1, "unit"_a = false, Unlocked(),
            "All-gather; unit: every message has `bytes`.");
    }
    m.def(
        "binomial_tree",
        [](std::size_t ranks, std::int64_t bytes, std::uint32_t root) {
            return pattern(
                make_schedule({Operation::broadcast, ranks, Bytes{bytes}, Rank{root}}, "binomial"));
        },
        "rank_count"_a, "bytes"_a = 1, "root"_a = 0, Unlocked(),
        "Broadcast from root along MPICH's binomial tree.");
    m.def(
        "all_to_all",
        [](std::size_t ranks, std::int64_t bytes) {
            return pattern(make_schedule({Operation::all_to_all, ranks, Bytes{bytes}}, "at-once"));
        },
        "rank_count"_a, "bytes"_a = 1, Unlocked(), "Every rank sends to every other one.");
    m.def("schedules", &list_schedules, "All schedules with their operations and options.",
          nb::sig("def schedules() -> list[dict[str, object]]"));
}

}  // namespace topoloom::python
