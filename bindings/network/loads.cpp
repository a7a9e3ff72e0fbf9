// SPDX-License-Identifier: BSD-3-Clause
// Exposes the cycle-level simulation of switches under random load to Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <span>

#include "bindings.hpp"
#include "network/switch_wiring.hpp"
#include "search_monitor.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/network/workloads/closed_loop.hpp"
#include "topoloom/network/workloads/measure_load.hpp"
#include "topoloom/network/workloads/multicast_load.hpp"
#include "topoloom/network/workloads/open_loop.hpp"

namespace topoloom::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

/// A random workload of unicast or multicast packets.
struct RandomSenders {
    RandomSenders(const SwitchWiring& wiring, std::string_view traffic, std::string_view injection,
                  std::uint32_t packet, double load, std::uint64_t seed) {
        const Injection when(injection);
        const std::size_t nodes = wiring.fabric.node_count();
        if (MulticastSets::is_multicast_text(traffic)) {
            sets.emplace(traffic, nodes, seed);
            if (sets->in_switches) groups = multicast_groups(wiring.fabric.machine(), *sets);
            source = std::make_unique<MulticastLoad>(*sets, nodes, packet, load, seed, when);
        } else {
            pattern.emplace(traffic, nodes, seed);
            if (when.kind == Injection::Kind::closed)
                source = std::make_unique<ClosedLoop>(*pattern, nodes, packet, load, seed, when);
            else
                source = std::make_unique<OpenLoop>(*pattern, nodes, packet, load, seed, when);
        }
    }
    std::optional<TrafficPattern> pattern{};
    std::optional<MulticastSets> sets{};
    std::vector<SwitchGroup> groups{};
    std::unique_ptr<LoadSource> source{};
};

}  // namespace

void bind_switch_loads(nb::module_& m) {
    nb::class_<LoadSample>(m, "LoadSample", "Utilization during a batch of cycles.")
        .def_ro("cycle", &LoadSample::cycle, "The last cycle of the batch.")
        .def_ro("accepted", &LoadSample::accepted, "Flits per sending node and cycle.")
        .def_ro("channel_use", &LoadSample::channel_use, "Flits per output of a switch and cycle.")
        .def_ro("buffer_fill", &LoadSample::buffer_fill, "Share of buffer space in use in the last cycle.");
    nb::class_<LoadMeasure>(m, "LoadMeasure", "The result of simulating a load; latencies are in cycles.")
        .def_ro("offered", &LoadMeasure::offered, "Flits per sending node and cycle.")
        .def_ro("accepted", &LoadMeasure::accepted, "Flits received per sending node and cycle.")
        .def_ro("latency_mean", &LoadMeasure::latency_mean)
        .def_ro("half_width", &LoadMeasure::half_width,
                "Half the width of the 95 % confidence interval of the mean.")
        .def_ro("latency_p50", &LoadMeasure::latency_p50)
        .def_ro("latency_p99", &LoadMeasure::latency_p99)
        .def_ro("saturated", &LoadMeasure::saturated, "Whether sources fall ever further behind.")
        .def_ro("warm_up", &LoadMeasure::warm_up, "Cycles before the measurement.")
        .def_ro("measured", &LoadMeasure::measured, "Cycles of the measurement.")
        .def_ro("packets", &LoadMeasure::packets)
        .def_ro("stalled", &LoadMeasure::stalled, "The packets of a deadlock; empty if there is none.")
        .def_ro("by_latency", &LoadMeasure::by_latency, "Number of packets by latency.")
        .def_ro("by_source", &LoadMeasure::by_source, "Flits per cycle by sending node.")
        .def_prop_ro("fairness", &LoadMeasure::fairness,
                     "Jain's fairness index of the rates of sources; 1: all are equal.")
        .def_ro("series", &LoadMeasure::series, "Samples over time, batch by batch.");
    nb::class_<SwitchWiring>(m, "SwitchWiring", "Switches, ports and channels of a machine, and its routes.")
        .def(nb::init<const Machine&, std::string_view>(), "machine"_a, "routing"_a = "own",
             nb::keep_alive<1, 2>(), nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro(
            "switches", [](const SwitchWiring& wiring) { return wiring.fabric.router_count(); },
            "The number of switches.")
        .def_prop_ro(
            "classes", [](const SwitchWiring& wiring) { return wiring.paths.class_count(); },
            "The fewest virtual channels with which routes are free of deadlock.")
        .def_prop_ro(
            "routing",
            [](const SwitchWiring& wiring) {
                return std::string(routings[static_cast<std::size_t>(wiring.paths.routing())].name);
            },
            "The name of the routing; `own` is resolved.")
        .def(
            "measure_load",
            [](const SwitchWiring& wiring, std::string_view traffic, double load, std::uint32_t vcs,
               std::uint32_t buffer, std::uint32_t packet, std::string_view switching, std::uint32_t channel,
               std::uint32_t crossing, std::string_view router, std::string_view arbiter,
               std::string_view allocator, std::uint32_t iterations, std::string_view injection,
               bool watch_waits, std::uint64_t seed, int threads, const std::optional<Progress>& progress) {
                const SwitchModel how =
                    parse_switch({router, switching, arbiter, allocator}, {.vcs = vcs,
                                                                           .buffer = buffer,
                                                                           .crossing = crossing,
                                                                           .channel = channel,
                                                                           .iterations = iterations,
                                                                           .allow_deadlock = watch_waits});
                const RandomSenders senders(wiring, traffic, injection, packet, load, seed);
                SearchMonitor monitor(progress);
                const Budget budget = make_budget(std::nullopt, std::nullopt, monitor);
                Meter meter(budget);
                return monitor.run([&] {
                    const auto network =
                        make_network(wiring, *senders.source, how, seed, threads, {}, senders.groups);
                    try {
                        return measure_load(*network, *senders.source, {}, meter);
                    } catch (const DeadlockError& stalled) {
                        if (!watch_waits) throw;
                        return LoadMeasure{.offered = load, .stalled = stalled.what()};
                    }
                });
            },
            "traffic"_a, "load"_a, nb::kw_only(), "vcs"_a, "buffer"_a = 8, "packet"_a = 4,
            "switching"_a = "wormhole", "channel"_a = 1, "crossing"_a = 1, "router"_a = "input-queued",
            "arbiter"_a = "round-robin", "allocator"_a = "islip", "iterations"_a = 1,
            "injection"_a = "bernoulli", "watch"_a = false, "seed"_a = 1, "threads"_a = 1,
            "progress"_a = nb::none(),
            "Measures latencies of packets while each node generates `load` flits per cycle.\n\n"
            "Buffers, of each virtual channel, and packets are in flits; a channel takes that many cycles, "
            "and\n"
            "crossing a switch that many after one for routing.\n"
            "The result does not depend on the threads; 0: up to one per core. With `watch` packets take any "
            "virtual\n"
            "channel, and the measure ends with the first that wait for each other in a circle.");
    bind_alternatives(m, "routings", routings, "Lists routings: (name, help).");
    bind_alternatives(m, "routers", routers, "Lists queueing schemes of switches: (name, help).");
    bind_alternatives(m, "arbiters", arbiters, "Lists arbiters: (name, help).");
    bind_alternatives(m, "allocators", allocators, "Lists allocators of outputs to inputs: (name, help).");
    bind_alternatives(m, "switchings", switchings, "Lists flow controls of switches: (name, help).");
    bind_alternatives(m, "traffics", traffics,
                      "Lists synthetic traffic patterns: (name with options, help).");
    bind_alternatives(m, "injections", injections, "Lists injection processes: (name with options, help).");
}

}  // namespace topoloom::python
