// SPDX-License-Identifier: BSD-3-Clause
// Exposes the simulation of message programs on switches to Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "machine_tree.hpp"
#include "network/switch_wiring.hpp"
#include "search_monitor.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/base/memory.hpp"
#include "topoloom/network/programs/collective_run.hpp"
#include "topoloom/network/programs/goal_text.hpp"
#include "topoloom/network/programs/network_timing.hpp"
#include "topoloom/network/programs/operation_run.hpp"
#include "topoloom/network/programs/program_run.hpp"
#include "topoloom/network/programs/run_to_end.hpp"
#include "topoloom/network/programs/schedule_program.hpp"
#include "topoloom/network/programs/stored_program.hpp"
#include "topoloom/schedule/any_schedule.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

/// The switch model of a simulation.
struct SwitchSettings {
    PacketFormat format;
    SwitchModel how;
    SwitchSpeeds speeds;
    std::uint32_t units = 1;
};

/// The result of a simulated program.
struct ProgramMeasure {
    bool complete = false;
    double cycle = 0;  // seconds
    std::uint64_t cycles = 0;
    std::uint64_t packets = 0;
    std::uint64_t flit_hops = 0;
    std::vector<std::uint64_t> finish{};
    std::vector<double> busy{};  // [channel]: seconds
};

/// Seed, threads and progress callback of a simulation.
struct SimulationOptions {
    std::uint64_t seed;
    int threads;
    const std::optional<Progress>& progress;
};

/// For each channel, how many cycles it was sending.
std::vector<double> busy_cycles(const NetworkTiming& times, const std::vector<std::uint64_t>& carried) {
    std::vector<double> busy(carried.size());
    for (std::size_t c = 0; c < busy.size(); ++c)
        busy[c] = static_cast<double>(carried[c]) * times.channels[c].period / ChannelTimes::cycle;
    return busy;
}

/// Simulates the workload that make(times) creates. Afterwards, finish(workload, cycles) writes the cycle in
/// which each rank completed.
template <class Make, class Finish>
ProgramMeasure simulate(const SwitchWiring& wiring, const SwitchSettings& settings,
                        const SimulationOptions& run, std::span<const SwitchGroup> groups, const Make& make,
                        const Finish& finish) {
    SearchMonitor monitor(run.progress);
    return monitor.run([&] {
        const NetworkTiming times = compute_network_timing(
            wiring.fabric, settings.format, settings.how.options, settings.speeds, settings.units);
        const std::uint64_t needed = simulation_memory(wiring.fabric, times);
        if (needed > usable_memory())
            fail("buffers and channels of ", wiring.fabric.router_count(), " switches take ", needed >> 20,
                 " MiB, more than is available; choose smaller buffers, fewer virtual channels or larger "
                 "flits");
        const auto senders = make(times);
        const auto network = make_network(wiring, *senders, {settings.how.router, times.options}, run.seed,
                                          check_threads(run.threads), times.channels, groups, times.combine);
        ProgramMeasure found{.cycle = times.cycle};
        Budget budget;
        budget.keep_going = [&](std::uint64_t) {
            found.packets += network->take_received().packets;
            return monitor(found.packets);
        };
        Meter meter(budget);
        const std::uint64_t longest = std::ranges::max(times.channels, {}, &ChannelTimes::delay).delay;
        const std::uint64_t end = run_to_end(*network, *senders, meter, longest);
        found.complete = end != never;
        found.cycles = found.complete ? end : network->cycle();
        found.flit_hops = network->flit_hops();
        found.packets += network->take_received().packets;
        finish(*senders, found.finish);
        found.busy = busy_cycles(times, network->carried());
        for (double& cycles : found.busy) cycles *= found.cycle;
        return found;
    });
}

std::vector<Node> list_nodes(const Ids& node_of_rank) {
    std::vector<Node> nodes;
    for (const std::uint32_t node : node_of_rank.values("node_of_rank")) nodes.push_back(Node{node});
    return nodes;
}

const auto list_finishes = [](const auto& ranks, std::vector<std::uint64_t>& finish) {
    for (const Rank rank : ids<Rank>(ranks.rank_count())) finish.push_back(ranks.finish(rank));
};

ProgramMeasure simulate_program(const SwitchWiring& wiring, const Program& program, const Ids& node_of_rank,
                                const SwitchSettings& settings, const SimulationOptions& run) {
    const std::vector<Node> nodes = list_nodes(node_of_rank);
    return simulate(
        wiring, settings, run, {},
        [&](const NetworkTiming& times) {
            return std::make_unique<ProgramRun>(program, nodes, wiring.fabric.node_count(), settings.format,
                                                times.messages);
        },
        list_finishes);
}

ProgramMeasure simulate_operations(const SwitchWiring& wiring, const OperationGraph& graph,
                                   const Ids& node_of_rank, const SwitchSettings& settings,
                                   const SimulationOptions& run) {
    const std::vector<Node> nodes = list_nodes(node_of_rank);
    return simulate(
        wiring, settings, run, {},
        [&](const NetworkTiming& times) {
            return std::make_unique<OperationRun>(graph, nodes, wiring.fabric.node_count(), settings.format,
                                                  times.messages, 1e-9 / times.cycle);
        },
        list_finishes);
}

ProgramMeasure simulate_collective(const SwitchWiring& wiring, std::string_view collective,
                                   const std::vector<const MachineTree*>& trees,
                                   const std::vector<Ids>& members, std::int64_t bytes,
                                   const SwitchSettings& settings, const SimulationOptions& run) {
    if (trees.size() != members.size())
        fail("each tree needs its members: there are ", trees.size(), " trees and ", members.size(),
             " lists of members");
    std::vector<SwitchGroup> groups;
    for (std::size_t i = 0; i < trees.size(); ++i) {
        if (trees[i] == nullptr) throw nb::type_error("trees must hold a SpanningTree each, not None");
        require_made_for(wiring.fabric.machine(), trees[i]->machine, "a tree");
        SwitchGroup& group = groups.emplace_back(
            SwitchGroup{parse_alternative<SwitchCollective>("collective", collective, switch_collectives),
                        trees[i]->tree,
                        {}});
        for (const std::uint32_t member : members[i].values("members")) group.members.push_back(Node{member});
    }
    return simulate(
        wiring, settings, run, groups,
        [&](const NetworkTiming& times) {
            return std::make_unique<CollectiveRun>(groups, wiring.fabric.node_count(), Bytes{bytes},
                                                   settings.format, times.messages);
        },
        [&](const CollectiveRun& nodes, std::vector<std::uint64_t>& finish) {
            for (const Node node : ids<Node>(wiring.fabric.node_count()))
                finish.push_back(nodes.finish(node));
        });
}

std::vector<StoredMessage> list_messages(const Ids& source, const Ids& target, const Integers& bytes) {
    const auto from = source.values("source"), to = target.values("target");
    const auto sizes = bytes.values("bytes");
    if (from.size() != to.size() || from.size() != sizes.size())
        fail("source, target and bytes must have equal lengths, not ", from.size(), ", ", to.size(), " and ",
             sizes.size());
    std::vector<StoredMessage> messages;
    messages.reserve(from.size());
    for (std::size_t i = 0; i < from.size(); ++i)
        messages.push_back({Rank{from[i]}, Rank{to[i]}, 0, Bytes{sizes[i]}});
    return messages;
}

}  // namespace

void bind_network_programs(nb::module_& m) {
    nb::class_<SwitchSettings>(m, "SwitchSettings",
                               "How switches are simulated, and how messages are divided into packets.")
        .def(
            "__init__",
            [](SwitchSettings* self, std::uint32_t vcs, std::optional<double> buffer, std::uint32_t flit,
               std::uint32_t payload, std::uint32_t header, std::string_view switching,
               std::string_view router, std::string_view arbiter, std::string_view allocator,
               std::uint32_t iterations, std::optional<double> switch_latency,
               std::optional<double> injection, std::uint32_t units, std::optional<double> combining) {
                const SwitchModel how = parse_switch({router, switching, arbiter, allocator},
                                                     {.vcs = vcs, .iterations = iterations});
                const bool crosspoints = can_copy(how.router);
                new (self) SwitchSettings{{flit, payload, header},
                                          how,
                                          {.switch_latency = switch_latency,
                                           .injection = injection,
                                           .buffer = buffer,
                                           .crosspoints = crosspoints,
                                           .combining = combining},
                                          units};
            },
            nb::kw_only(), "vcs"_a, "buffer"_a = nb::none(), "flit"_a = 64, "payload"_a = 1024,
            "header"_a = 32, "switching"_a = "wormhole", "router"_a = "input-queued",
            "arbiter"_a = "round-robin", "allocator"_a = "islip", "iterations"_a = 1,
            "switch_latency"_a = nb::none(), "injection"_a = nb::none(), "units"_a = 1,
            "combining"_a = nb::none(),
            "Sizes are in bytes, the switch's latency in seconds, injection in bytes per second.\n\n"
            "buffer is that of a virtual channel; None: what keeps the longest link busy. switch_latency "
            "None: a\n"
            "part of the links' latencies. injection, of nodes that are their own switches; None: as much as "
            "all\n"
            "links of the node. units combine in an output-queued switch, `combining` bytes per second each; "
            "None: as\n"
            "fast as all that comes into a switch.");
    nb::class_<ProgramMeasure>(m, "ProgramMeasure", "The result of simulating messages in switches.")
        .def_ro("complete", &ProgramMeasure::complete,
                "Whether all ranks finished; False if the simulation was stopped.")
        .def_ro("cycles", &ProgramMeasure::cycles,
                "Cycles until the last rank finished, or the simulation was stopped.")
        .def_ro("cycle_seconds", &ProgramMeasure::cycle)
        .def_prop_ro(
            "seconds",
            [](const ProgramMeasure& found) { return static_cast<double>(found.cycles) * found.cycle; })
        .def_prop_ro(
            "finish",
            [](const ProgramMeasure& found) {
                std::vector<double> seconds;
                for (const std::uint64_t cycles : found.finish)
                    seconds.push_back(static_cast<double>(cycles) * found.cycle);
                return new_array(std::move(seconds));
            },
            "float64 array (ranks,): seconds until each rank finished.")
        .def_ro("packets", &ProgramMeasure::packets, "The number of packets received.")
        .def_ro("flit_hops", &ProgramMeasure::flit_hops, "Flits times the switches that they crossed.")
        .def_prop_ro(
            "busy_seconds", [](const ProgramMeasure& found) { return new_array(std::vector(found.busy)); },
            "float64 array (channels,): seconds during which each channel sent.");
    nb::class_<OperationGraph>(m, "OperationGraph",
                               "Sends, receives and computations of ranks, and their dependencies.")
        .def_prop_ro("rank_count", &OperationGraph::rank_count)
        .def("__len__", [](const OperationGraph& graph) { return graph.operations().size(); })
        .def_prop_ro("messages", &communication_graph, "All messages as a communication graph.")
        .def_prop_ro(
            "sends",
            [](const OperationGraph& graph) {
                std::vector<std::int64_t> source, target, bytes;
                for (const RankOperation& one : graph.operations()) {
                    if (one.kind != RankOperation::Kind::send) continue;
                    source.push_back(one.rank.value);
                    target.push_back(one.peer.value);
                    bytes.push_back(static_cast<std::int64_t>(one.size));
                }
                return std::tuple(new_array(std::move(source)), new_array(std::move(target)),
                                  new_array(std::move(bytes)));
            },
            "Source, target and bytes of each message: three arrays.");
    m.def(
        "read_goal", [](const nb::bytes& data) { return read_goal_text({data.c_str(), data.size()}); },
        "data"_a, "Reads GOAL text into operations. Dependencies must not form a cycle.");
    m.def(
        "channel_name",
        [](const SwitchWiring& wiring, std::size_t channel) {
            if (channel >= wiring.fabric.channel_count())
                fail("channel ", channel, "; there are ", wiring.fabric.channel_count());
            return wiring.fabric.name(ChannelId{channel});
        },
        "wiring"_a, "channel"_a,
        "Names a channel: a link of the machine by its id or, after all links, a channel from or to a node.");
    m.def(
        "channel_switches",
        [](const SwitchWiring& wiring) {
            std::vector<std::int64_t> switches;
            for (const ChannelId id : ids<ChannelId>(wiring.fabric.channel_count())) {
                const Channel& channel = wiring.fabric.channel(id);
                switches.push_back(channel.is_entry() ? -1 : std::int64_t{channel.from});
            }
            return new_array(std::move(switches));
        },
        "wiring"_a, "int64 array (channels,): the switch that each channel leaves; -1: it leaves a node.");
    m.def(
        "simulate_messages",
        [](const SwitchWiring& wiring, const Ids& node_of_rank, const Ids& source, const Ids& target,
           const Integers& bytes, const SwitchSettings& settings, std::uint64_t seed, int threads,
           const std::optional<Progress>& progress) {
            const StoredProgram program(node_of_rank.values("node_of_rank").size(),
                                        list_messages(source, target, bytes));
            return simulate_program(wiring, program, node_of_rank, settings, {seed, threads, progress});
        },
        "wiring"_a, "node_of_rank"_a, "source"_a, "target"_a, "bytes"_a, nb::kw_only(), "settings"_a,
        "seed"_a = 1, "threads"_a = 1, "progress"_a = nb::none(),
        "Simulates messages that all ranks send at once, each rank in the given order.");
    m.def(
        "simulate_operations",
        [](const SwitchWiring& wiring, const Ids& node_of_rank, const OperationGraph& operations,
           const SwitchSettings& settings, std::uint64_t seed, int threads,
           const std::optional<Progress>& progress) {
            return simulate_operations(wiring, operations, node_of_rank, settings, {seed, threads, progress});
        },
        "wiring"_a, "node_of_rank"_a, "operations"_a, nb::kw_only(), "settings"_a, "seed"_a = 1,
        "threads"_a = 1, "progress"_a = nb::none(),
        "Simulates operations. Each starts when its dependencies are done.");
    m.def(
        "simulate_schedule",
        [](const SwitchWiring& wiring, const Ids& node_of_rank, const AnySchedule& schedule,
           const SwitchSettings& settings, std::uint64_t seed, int threads,
           const std::optional<Progress>& progress) {
            const ScheduleProgram program(schedule);
            return simulate_program(wiring, program, node_of_rank, settings, {seed, threads, progress});
        },
        "wiring"_a, "node_of_rank"_a, "schedule"_a, nb::kw_only(), "settings"_a, "seed"_a = 1,
        "threads"_a = 1, "progress"_a = nb::none(),
        "Simulate a collective: a rank begins a round when it has sent and received what the round before "
        "has.");
    m.def(
        "simulate_in_switches",
        [](const SwitchWiring& wiring, std::string_view collective,
           const std::vector<const MachineTree*>& trees, const std::vector<Ids>& members, std::int64_t bytes,
           const SwitchSettings& settings, std::uint64_t seed, const std::optional<Progress>& progress) {
            return simulate_collective(wiring, collective, trees, members, bytes, settings,
                                       {seed, 1, progress});
        },
        "wiring"_a, "collective"_a, "trees"_a, "members"_a, "bytes"_a, nb::kw_only(), "settings"_a,
        "seed"_a = 1, "progress"_a = nb::none(),
        "Simulate a collective that output-queued switches do: along each tree its members, nodes, send a "
        "message\n"
        "of these bytes, or the root does; 0: a barrier. finish is by node, 0 where it is not a member.");
    bind_alternatives(m, "switch_collectives", switch_collectives,
                      "Lists collectives of switches: (name, help).");
}

}  // namespace topoloom::python
