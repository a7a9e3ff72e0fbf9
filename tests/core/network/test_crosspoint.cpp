// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "network/random_network.hpp"
#include "topoloom/base/budget.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/network/crosspoint/crosspoint.hpp"
#include "topoloom/network/programs/collective_run.hpp"
#include "topoloom/network/programs/run_to_end.hpp"
#include "topoloom/network/workloads/measure_load.hpp"
#include "topoloom/network/workloads/multicast_load.hpp"
#include "topoloom/network/workloads/open_loop.hpp"
#include "topoloom/network/workloads/traffic_pattern.hpp"

using namespace topoloom;

namespace {

/// A network of crosspoint switches under load.
struct LoadedCrosspoint {
    Machine machine;
    Fabric fabric{machine};
    Paths paths;
    TrafficPattern traffic;
    OpenLoop senders;
    std::unique_ptr<PacketNetwork> network;

    LoadedCrosspoint(const std::string& text, const std::string& to, std::uint32_t packet,
                     const SwitchOptions& options, double load, Routing routing = Routing::own)
        : machine(make_machine(text)),
          paths(fabric, routing),
          traffic(to, machine.node_count(), 1),
          senders(traffic, machine.node_count(), packet, load, 1),
          network(make_crosspoint_network(fabric, paths, senders, options, 1)) {}

    double measure_accepted_load(std::uint64_t cycles) {
        network->run(2000);
        (void)network->take_received();
        network->run(cycles);
        return static_cast<double>(network->take_received().flits) / static_cast<double>(cycles) /
               static_cast<double>(machine.node_count());
    }
};

SpanningTree tree_of(const Machine& machine, const Multicast& multicast) {
    return with_topology(machine, [&]<class T>(const T& topology) {
        if constexpr (std::is_same_v<T, FatTree>)
            return switch_trees(topology, std::vector<Multicast>{multicast}).front();
        return route_tree(machine, multicast);
    });
}

std::vector<Node> all_nodes(const Machine& machine) {
    std::vector<Node> nodes;
    for (const Node node : ids<Node>(machine.node_count())) nodes.push_back(node);
    return nodes;
}

SwitchGroup make_group(const Machine& machine, SwitchCollective collective, Node root,
                       std::vector<Node> members) {
    return {collective, tree_of(machine, {root, members}), std::move(members)};
}

/// The time of a collective, and the loads of the channels that it uses.
struct CollectiveResult {
    std::uint64_t end = 0;
    std::vector<std::uint64_t> carried{};
    std::vector<std::uint64_t> finish{};
};

struct CollectiveSetup {
    SwitchOptions options{.vcs = 1, .buffer = 32};
    PacketFormat format{.flit = 32, .payload = 256, .header = 0};
    MessageCycles costs{};
    CombineOptions combine{};
    std::vector<ChannelTimes> times{};
};

CollectiveResult run_collective(const Machine& machine, const std::vector<SwitchGroup>& groups,
                                std::int64_t bytes, CollectiveSetup setting = {}) {
    const Fabric fabric(machine);
    const Paths paths(fabric);
    setting.options.vcs = paths.class_count();
    CollectiveRun members(groups, machine.node_count(), Bytes{bytes}, setting.format, setting.costs);
    const auto network = make_crosspoint_network(fabric, paths, members, setting.options, 1, setting.times,
                                                 groups, setting.combine);
    const Budget budget;
    Meter meter(budget);
    CollectiveResult done{.end = run_to_end(*network, members, meter)};
    network->run(1000);
    network->check();
    CHECK(network->usage().stored == 0);
    done.carried = network->carried();
    for (const Node node : ids<Node>(machine.node_count())) done.finish.push_back(members.finish(node));
    return done;
}

/// Switches with multicast groups.
struct MulticastSwitches {
    Machine machine;
    Fabric fabric{machine};
    Paths paths{fabric};
    MulticastSets sets;
    std::vector<SwitchGroup> groups = multicast_groups(machine, sets);

    MulticastSwitches(const std::string& text, std::string_view traffic)
        : machine(make_machine(text)), sets(traffic, machine.node_count(), 1) {}
};

/// Two workloads that send alternately.
class AlternatingWorkloads final : public Workload {
   public:
    AlternatingWorkloads(Workload& single, Workload& groups, std::size_t nodes)
        : single_(single), groups_(groups), nodes_(nodes) {}
    [[nodiscard]] std::uint32_t longest_packet() const override {
        return std::max(single_.longest_packet(), groups_.longest_packet());
    }
    [[nodiscard]] std::uint64_t next(Node node) const override {
        return std::min(single_.next(node), groups_.next(node));
    }
    [[nodiscard]] PacketRequest take(Node node, std::uint64_t cycle) override {
        groups_turn_ = !groups_turn_;
        const bool of_groups = groups_.next(node) <= cycle && (groups_turn_ || single_.next(node) > cycle);
        return (of_groups ? groups_ : single_).take(node, cycle);
    }
    void on_received(Node node, const PacketRequest& order, std::uint64_t cycle) override {
        (order.to.value >= nodes_ ? groups_ : single_).on_received(node, order, cycle);
    }

   private:
    Workload& single_;
    Workload& groups_;
    std::size_t nodes_;
    bool groups_turn_ = false;
};

const char* const machines[] = {"fattree:3:3", "fattree:4:4:2", "torus:4x3",
                                "torus:3x3x2", "mesh:3x3",      "dragonfly:4x2x2,routing=minimal",
                                "hyperx:3x3",  "fattree:8"};

}  // namespace

TEST_CASE("a packet without contention takes the time of its crosspoints and channels") {
    for (const std::uint32_t flits : {1U, 4U})
        for (const std::uint32_t routing : {0U, 1U, 3U})
            for (const std::uint32_t channel : {1U, 5U}) {
                const SwitchOptions options{.routing = routing, .crossing = 2, .channel = channel};
                LoadedCrosspoint one("torus:8", "shift(by=3)", flits, options, 0.0002);
                one.network->run(200000);
                const ReceivedPackets received = one.network->take_received();
                REQUIRE(received.packets > 10);
                const std::uint64_t expected = channel + 4 * (routing + 2 + channel) + flits - 1;
                CHECK(received.by_latency[expected] >= received.packets * 95 / 100);
                for (std::uint64_t less = 0; less < expected; ++less) CHECK(received.by_latency[less] == 0);
            }
}

TEST_CASE("at each output, packets wait as long as in a queue of its own") {
    // Karol, Hluchyj, Morgan 1987: N inputs with probability p per slot; the mean wait is (N - 1) / N p / (2
    // (1 - p)).
    for (const double load : {0.5, 0.8}) {
        const SwitchOptions options{.vcs = 1, .buffer = 256, .routing = 0};
        LoadedCrosspoint one("fattree:16", "uniform", 1, options, load);
        one.network->run(5000);
        (void)one.network->take_received();
        one.network->run(400000);
        const ReceivedPackets received = one.network->take_received();
        // In every cycle, each of the 15 other nodes sends to this output with probability p / 15.
        const double wait = 14.0 / 15 * load / (2 * (1 - load));
        const double alone = 1 + 1 + 1;
        CHECK(static_cast<double>(received.latency) / static_cast<double>(received.packets) - alone ==
              doctest::Approx(wait).epsilon(0.01));
    }
}

TEST_CASE("a fat tree sustains the full load of complement traffic and most of uniform traffic") {
    const SwitchOptions options{.vcs = 1, .buffer = 16};
    CHECK(LoadedCrosspoint("fattree:4:4:4", "complement", 4, options, 1).measure_accepted_load(20000) > 0.99);
    CHECK(LoadedCrosspoint("fattree:16:16", "uniform", 4, options, 1, Routing::minimal_adaptive)
              .measure_accepted_load(5000) > 0.75);
}

TEST_CASE("packets and credits are conserved in any configuration, and all packets arrive") {
    Rng rng(3);
    const auto wired = testing::small_machines();
    for (int drawn = 0; drawn < 200; ++drawn) {
        const testing::WiredMachine& one = *wired[rng.below(static_cast<std::uint32_t>(wired.size()))];
        const std::uint32_t longest = 1 + rng.below(5);
        const SwitchOptions options{.vcs = one.paths.class_count() + rng.below(3),
                                    .buffer = longest * (1 + rng.below(3)),
                                    .routing = rng.below(3),
                                    .crossing = 1 + rng.below(3),
                                    .channel = 1 + rng.below(4),
                                    .arbiter = static_cast<Arbiter>(rng.below(3)),
                                    .fanout = static_cast<Fanout>(rng.below(3))};
        testing::RandomExchange exchange(one.machine.node_count(), longest, 1 + rng.below(8),
                                         rng.below(2) == 0, rng);
        const auto network = make_crosspoint_network(one.fabric, one.paths, exchange, options, drawn);
        while (exchange.remaining_packets() > 0) {
            network->run(1);
            network->check();
            REQUIRE(network->cycle() < 100000);
        }
    }
}

TEST_CASE("collectives in switches and other packets share links, and all arrive") {
    Rng rng(17);
    const auto wired = testing::small_machines();
    for (int drawn = 0; drawn < 100; ++drawn) {
        const testing::WiredMachine& one = *wired[rng.below(static_cast<std::uint32_t>(wired.size()))];
        const std::vector<Node> nodes = all_nodes(one.machine);
        std::vector<SwitchGroup> groups;
        const bool multicasts_only = rng.below(2) == 0;
        for (std::uint32_t group = 0; group < 1 + rng.below(5); ++group)
            groups.push_back(make_group(
                one.machine,
                multicasts_only ? SwitchCollective::multicast : static_cast<SwitchCollective>(rng.below(3)),
                nodes[rng.below(static_cast<std::uint32_t>(nodes.size()))], nodes));
        CollectiveRun members(groups, nodes.size(), Bytes{rng.below(2000)}, {32, 128, 0}, {});
        testing::RandomExchange exchange(nodes.size(), 4, 1 + rng.below(8), rng.below(2) == 0, rng);
        AlternatingWorkloads both(exchange, members, nodes.size());
        const SwitchOptions options{.vcs = one.paths.class_count(), .buffer = 4 * (1 + rng.below(3))};
        const auto network = make_crosspoint_network(one.fabric, one.paths, both, options, drawn, {}, groups,
                                                     {.units = 1 + rng.below(4)});
        while (exchange.remaining_packets() > 0 || !members.is_done()) {
            network->run(1);
            network->check();
            REQUIRE(network->cycle() < 100000);
        }
    }
}

TEST_CASE("a multicast crosses each link of its tree once, for any sender") {
    Rng rng(5);
    for (const char* const text : machines) {
        const Machine machine = make_machine(text);
        for (int drawn = 0; drawn < 5; ++drawn) {
            std::vector<Node> members;
            for (const Node node : ids<Node>(machine.node_count()))
                if (rng.below(2) == 0) members.push_back(node);
            if (members.size() < 2) continue;
            const Node root = members[rng.below(static_cast<std::uint32_t>(members.size()))];
            const SwitchGroup group = make_group(machine, SwitchCollective::multicast, root, members);
            const CollectiveResult done = run_collective(machine, {group}, 1000);
            const TreeLoads loads = tree_loads(machine, std::vector<SpanningTree>{group.tree});
            // Four packets: three of 8 flits, and one of 232 bytes.
            for (const Link link : ids<Link>(machine.link_count()))
                CHECK(done.carried[link.value] == 32 * std::uint64_t{loads.on_link[link.value]});
            for (const Node member : members) CHECK(done.finish[member.value] > 0);
        }
    }
}

TEST_CASE("a reduction crosses each link of its tree once, towards the root") {
    for (const char* const text : machines) {
        const Machine machine = make_machine(text);
        for (const std::uint32_t units : {1U, 3U}) {
            const SwitchGroup group =
                make_group(machine, SwitchCollective::reduce, Node{2}, all_nodes(machine));
            CollectiveSetup setting;
            setting.combine.units = units;
            const CollectiveResult done = run_collective(machine, {group}, 1000, setting);
            const std::uint64_t flits =
                std::accumulate(done.carried.begin(), done.carried.end(), std::uint64_t{0});
            const Fabric fabric(machine);
            // A node that is also a router has a channel to the router, and the root has a channel from it.
            std::uint64_t own = 0;
            for (const Node node : ids<Node>(machine.node_count())) own += fabric.is_own_router(node) ? 1 : 0;
            CHECK(flits == 32 * (group.tree.links.size() + own));
        }
    }
}

TEST_CASE("all members get the result of an allreduce") {
    for (const char* const text : machines) {
        const Machine machine = make_machine(text);
        const SwitchGroup group =
            make_group(machine, SwitchCollective::allreduce, Node{0}, all_nodes(machine));
        for (const std::int64_t bytes : {0, 8, 5000}) {
            const CollectiveResult done = run_collective(machine, {group}, bytes);
            for (const std::uint64_t finish : done.finish) CHECK(finish > 0);
            CHECK(done.end == std::ranges::max(done.finish));
        }
    }
}

TEST_CASE("a reduction in a switch takes the time of its channels and its reduction unit") {
    const Machine machine = make_machine("fattree:8");
    CollectiveSetup setting{.options = {.buffer = 64, .routing = 1, .crossing = 2, .channel = 5}};
    setting.costs = {.send = 100, .receive = 70};
    const SwitchGroup group = make_group(machine, SwitchCollective::reduce, Node{3}, all_nodes(machine));
    for (const std::uint32_t flits : {1U, 4U}) {
        for (const std::uint32_t period : {1U, 3U}) {
            setting.combine = {.units = 1, .period = period * ChannelTimes::cycle};
            const CollectiveResult done = run_collective(machine, {group}, 32 * flits, setting);
            const std::uint64_t to_unit = 5 + 3 + flits - 1, from_unit = 3 + 5 + flits - 1;
            CHECK(done.end == 100 + to_unit + 7 * flits * period + from_unit + 70);
        }
    }
    // Two of the three units have four of the eight inputs each; the third unit combines their results. Node 3
    // sends nothing because it is the root of the reduction.
    setting.combine = {.units = 3, .period = ChannelTimes::cycle};
    CHECK(run_collective(machine, {group}, 32, setting).end == 100 + 8 + 4 + 3 + 1 + 3 + 5 + 70);
}

TEST_CASE("link-disjoint trees multiply the bandwidth of a bcast") {
    const Machine machine = make_machine("torus:4x4");
    const Fabric fabric(machine);
    const std::vector<Node> members = all_nodes(machine);
    CollectiveSetup setting;
    // Trees use all four links of each router.
    for (const ChannelId id : ids<ChannelId>(fabric.channel_count())) {
        const Channel& channel = fabric.channel(id);
        const bool is_node = channel.is_entry() || channel.is_exit();
        setting.times.push_back({.delay = 1, .period = (is_node ? 1U : 4U) * ChannelTimes::cycle});
    }
    std::vector<SwitchGroup> disjoint;
    with_topology(machine, [&](const auto& topology) {
        if constexpr (requires { disjoint_trees(topology, Multicast{}); })
            for (const SpanningTree& tree : disjoint_trees(topology, {Node{0}, members}))
                disjoint.push_back({SwitchCollective::multicast, tree, members});
    });
    REQUIRE(disjoint.size() == 4);
    const std::int64_t bytes = 1 << 20;
    const SwitchGroup one = make_group(machine, SwitchCollective::multicast, Node{0}, members);
    const double alone = static_cast<double>(run_collective(machine, {one}, bytes, setting).end);
    const double together = static_cast<double>(run_collective(machine, disjoint, bytes / 4, setting).end);
    CHECK(alone / together >= 0.9 * 4);
}

TEST_CASE("concurrent groups give the same results as separate groups") {
    Rng rng(11);
    for (const char* const text : machines) {
        const Machine machine = make_machine(text);
        std::vector<SwitchGroup> groups;
        for (std::uint32_t group = 0; group < 6; ++group)
            groups.push_back(make_group(machine, static_cast<SwitchCollective>(group % 3),
                                        Node{rng.below(static_cast<std::uint32_t>(machine.node_count()))},
                                        all_nodes(machine)));
        CollectiveSetup setting{.options = {.buffer = 8}};
        setting.combine.units = 1 + rng.below(4);
        std::vector<std::uint64_t> alone(Fabric(machine).channel_count());
        for (const SwitchGroup& group : groups) {
            const CollectiveResult one = run_collective(machine, {group}, 3000, setting);
            for (std::size_t c = 0; c < alone.size(); ++c) alone[c] += one.carried[c];
        }
        CHECK(run_collective(machine, groups, 3000, setting).carried == alone);
    }
}

TEST_CASE("multicasts with an average of four copies saturate a switch at a quarter of the link rate") {
    const MulticastSwitches switches("fattree:8", "multicast(fanout=4,sets=64)");
    const auto measure = [&](double load) {
        MulticastLoad senders(switches.sets, 8, 4, load, 1);
        const auto network = make_crosspoint_network(switches.fabric, switches.paths, senders,
                                                     {.vcs = 1, .buffer = 16}, 1, {}, switches.groups);
        const Budget budget;
        Meter meter(budget);
        return measure_load(*network, senders, {}, meter);
    };
    CHECK_FALSE(measure(0.22).saturated);
    CHECK(measure(0.28).saturated);
}

TEST_CASE("input queues accept less load than crosspoints, and least if all copies must leave at once") {
    const MulticastSwitches switches("fattree:10", "multicast(fanout=4,sets=512,senders=2)");
    const auto accepted_load = [&](Fanout fanout) {
        MulticastLoad senders(switches.sets, 10, 1, 1, 1);
        const auto network =
            make_crosspoint_network(switches.fabric, switches.paths, senders,
                                    {.vcs = 1, .buffer = 16, .fanout = fanout}, 1, {}, switches.groups);
        network->run(1000);
        network->check();
        (void)network->take_received();
        network->run(20000);
        network->check();
        return static_cast<double>(network->take_received().flits) / 20000 / (2 * switches.sets.fanout);
    };
    const double split = accepted_load(Fanout::split), whole = accepted_load(Fanout::whole);
    CHECK(whole < split);
    CHECK(split < accepted_load(Fanout::crosspoints));
    // Two senders conflict unless their sets of targets are disjoint. On a conflict one of them waits.
    CHECK(whole > 0.5);
}

TEST_CASE(
    "with one queue per input, a large switch sustains 2 - sqrt 2 of the full load of unicast packets") {
    for (const Fanout fanout : {Fanout::split, Fanout::whole}) {
        const SwitchOptions options{.vcs = 1, .buffer = 64, .routing = 0, .fanout = fanout};
        CHECK(LoadedCrosspoint("fattree:256", "uniform", 1, options, 1).measure_accepted_load(4000) ==
              doctest::Approx(2 - std::sqrt(2.0)).epsilon(0.01));
    }
}

TEST_CASE("options that crosspoints do not support are refused with a one-line error") {
    const auto refused = [](const SwitchOptions& options, const char* text, const char* why,
                            Routing routing = Routing::own) {
        CHECK_THROWS_WITH_AS(LoadedCrosspoint(text, "uniform", 4, options, 0.1, routing), why, Error);
    };
    refused({.vcs = 1, .buffer = 3}, "fattree:4",
            "the buffer of a crosspoint, 3 flits, cannot hold a packet of 4; enlarge it");
    refused(
        {.vcs = 3, .buffer = 8}, "torus:4x4",
        "adaptive routing on 'torus:4x4' needs escape channels, which output-queued switches do not have; "
        "choose the machine's own routing ('own'), or input-queued switches",
        Routing::minimal_adaptive);
    const Machine machine = make_machine("fattree:4");
    const SwitchGroup alone{SwitchCollective::multicast, {Node{0}, {}}, {Node{0}}};
    CHECK_THROWS_WITH_AS(run_collective(machine, {alone}, 8), "a group needs at least two members, not one",
                         Error);
    SwitchGroup missing = make_group(machine, SwitchCollective::reduce, Node{0}, {Node{0}, Node{1}});
    missing.members.push_back(Node{2});
    CHECK_THROWS_WITH_AS(run_collective(machine, {missing}, 8),
                         "the tree of node 0 does not lead to node 2, a member", Error);
}
