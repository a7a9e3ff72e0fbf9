// SPDX-License-Identifier: BSD-3-Clause
// Switches simulated cycle by cycle, for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <span>

#include "network/switch_wiring.hpp"
#include "rooms.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/network/workloads/closed_loop.hpp"
#include "topoloom/network/workloads/measure_load.hpp"
#include "topoloom/network/workloads/multicast_load.hpp"
#include "topoloom/network/workloads/open_loop.hpp"
#include "watch.hpp"

namespace topoloom::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

/// Nodes that send at random, to one node at a time or to several.
struct Senders {
    Senders(const SwitchWiring& wiring, std::string_view traffic, std::string_view injection,
            std::uint32_t packet, double load, std::uint64_t seed) {
        const Injection when(injection);
        const std::size_t nodes = wiring.fabric.node_count();
        if (MulticastSets::is_named(traffic)) {
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

void bind_network(nb::module_& m) {
    nb::class_<LoadSample>(m, "LoadSample", "What is in use during a batch of cycles.")
        .def_ro("cycle", &LoadSample::cycle, "The last one.")
        .def_ro("accepted", &LoadSample::accepted, "Flits per sending node and cycle.")
        .def_ro("channel_use", &LoadSample::channel_use, "Flits per output of a switch and cycle.")
        .def_ro("buffer_fill", &LoadSample::buffer_fill, "Share of all buffers, in the last cycle.");
    nb::class_<LoadMeasure>(m, "LoadMeasure", "What switches do under a load; latencies in cycles.")
        .def_ro("offered", &LoadMeasure::offered, "Flits per sending node and cycle.")
        .def_ro("accepted", &LoadMeasure::accepted, "Those that nodes received.")
        .def_ro("latency_mean", &LoadMeasure::latency_mean)
        .def_ro("half_width", &LoadMeasure::half_width, "Of the mean's 95 % confidence interval.")
        .def_ro("latency_p50", &LoadMeasure::latency_p50)
        .def_ro("latency_p99", &LoadMeasure::latency_p99)
        .def_ro("saturated", &LoadMeasure::saturated, "Sources fall ever further behind.")
        .def_ro("warm_up", &LoadMeasure::warm_up, "Cycles that were left out.")
        .def_ro("measured", &LoadMeasure::measured, "Cycles.")
        .def_ro("packets", &LoadMeasure::packets)
        .def_ro("stalled", &LoadMeasure::stalled,
                "Packets that wait for each other in a circle; empty: none do.")
        .def_ro("by_latency", &LoadMeasure::by_latency, "[cycles]: packets.")
        .def_ro("by_source", &LoadMeasure::by_source, "[node that sends]: flits per cycle.")
        .def_prop_ro("fairness", &LoadMeasure::fairness, "Jain's, of the rates of sources; 1: all the same.")
        .def_ro("series", &LoadMeasure::series, "Over time, batch by batch.");
    nb::class_<SwitchWiring>(m, "SwitchWiring", "Switches, ports and channels of a machine, and its routes.")
        .def(nb::init<const Machine&, std::string_view>(), "machine"_a, "routing"_a = "own",
             nb::keep_alive<1, 2>(), nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro(
            "switches", [](const SwitchWiring& wiring) { return wiring.fabric.router_count(); }, "How many.")
        .def_prop_ro(
            "classes", [](const SwitchWiring& wiring) { return wiring.paths.class_count(); },
            "Virtual channels that routes need at least, so that no packets wait for each other for ever.")
        .def_prop_ro(
            "routing",
            [](const SwitchWiring& wiring) {
                return std::string(routings[static_cast<std::size_t>(wiring.paths.routing())].name);
            },
            "What `own` comes to.")
        .def(
            "measure_load",
            [](const SwitchWiring& wiring, std::string_view traffic, double load, std::uint32_t vcs,
               std::uint32_t buffer, std::uint32_t packet, std::string_view switching, std::uint32_t channel,
               std::uint32_t crossing, std::string_view router, std::string_view arbiter,
               std::string_view allocator, std::uint32_t iterations, std::string_view injection,
               bool watch_waits, std::uint64_t seed, int threads, const std::optional<Progress>& progress) {
                const NamedSwitch how =
                    named_switch({router, switching, arbiter, allocator}, {.vcs = vcs,
                                                                           .buffer = buffer,
                                                                           .crossing = crossing,
                                                                           .channel = channel,
                                                                           .iterations = iterations,
                                                                           .allow_deadlock = watch_waits});
                const Senders senders(wiring, traffic, injection, packet, load, seed);
                Watch watch(progress);
                const Budget budget = make_budget(std::nullopt, std::nullopt, watch);
                Meter meter(budget);
                return watch.run([&] {
                    const auto network =
                        make_network(wiring, *senders.source, how, seed, threads, {}, senders.groups);
                    try {
                        return measure_load(*network, *senders.source, {}, meter);
                    } catch (const Stalled& stalled) {
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
            "Measure latencies of packets while each node makes `load` flits per cycle.\n\n"
            "Buffers, of each virtual channel, and packets are in flits; a channel takes that many cycles, "
            "and\n"
            "crossing a switch that many after one for routing.\n"
            "The result does not depend on the threads; 0: one per core. With `watch` packets take any "
            "virtual\n"
            "channel, and the measure ends with the first that wait for each other in a circle.");
    bind_alternatives(m, "routings", routings,
                      "By what packets choose among routes: names, and what they mean.");
    bind_alternatives(m, "routers", routers, "How switches queue.");
    bind_alternatives(m, "arbiters", arbiters, "By what requesters of one thing come first.");
    bind_alternatives(m, "allocators", allocators, "How inputs and outputs are matched.");
    bind_alternatives(m, "switchings", switchings, "When a packet goes on.");
    bind_alternatives(m, "traffics", traffics,
                      "Synthetic traffic: names with their options, and what they mean.");
    bind_alternatives(m, "injections", injections,
                      "When nodes make packets: names with their options, and what they mean.");
}

}  // namespace topoloom::python
