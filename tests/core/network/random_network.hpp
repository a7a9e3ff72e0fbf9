// SPDX-License-Identifier: BSD-3-Clause
// Runs random switch networks until all packets have arrived.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/network/crosspoint/crosspoint.hpp"
#include "topoloom/network/input_queued/input_queued.hpp"

namespace topoloom::testing {

/// A workload in which nodes send random packets to random nodes. Optionally each packet gets a reply.
class RandomExchange final : public Workload {
   public:
    RandomExchange(std::size_t nodes, std::uint32_t longest, std::uint32_t packets, bool answers, Rng& rng)
        : longest_(longest), answers_(answers), due_(nodes) {
        for (std::vector<PacketRequest>& due : due_)
            for (std::uint32_t i = 0; i < packets; ++i) {
                const auto from = static_cast<std::uint32_t>(&due - due_.data());
                const std::uint32_t drawn = rng.below(static_cast<std::uint32_t>(nodes) - 1);
                due.push_back({Node{drawn + (drawn >= from ? 1 : 0)}, 1 + rng.below(longest), from,
                               std::uint64_t{20} * i * rng.below(2)});
            }
        left_ = nodes * packets * (answers ? 2 : 1);
    }

    [[nodiscard]] std::uint32_t longest_packet() const override { return longest_; }
    [[nodiscard]] std::uint64_t next(Node node) const override {
        return due_[node.value].empty() ? never : due_[node.value].back().made;
    }
    [[nodiscard]] PacketRequest take(Node node, std::uint64_t /*cycle*/) override {
        const PacketRequest order = due_[node.value].back();
        due_[node.value].pop_back();
        return order;
    }
    void on_received(Node node, const PacketRequest& order, std::uint64_t cycle) override {
        if (order.to != node) fail("a packet for node ", order.to.value, " came to node ", node.value);
        --left_;
        if (answers_ && order.message != no_index)
            due_[node.value].push_back({Node{order.message}, longest_, no_index, cycle});
    }
    /// Number of packets that have not arrived.
    [[nodiscard]] std::uint64_t remaining_packets() const { return left_; }

   private:
    std::uint32_t longest_;
    bool answers_;
    std::vector<std::vector<PacketRequest>> due_;  // by node; the packet to send next is last
    std::uint64_t left_ = 0;
};

/// Random machines and their routes.
struct WiredMachine {
    explicit WiredMachine(const std::string& text, Routing routing = Routing::own)
        : machine(make_machine(text)), paths(fabric, routing) {}
    Machine machine;
    Fabric fabric{machine};
    Paths paths;
};

/// Uses input-queued switches, or crosspoint switches in a quarter of the cases that these support.
inline std::unique_ptr<PacketNetwork> random_switches(const WiredMachine& wired, Workload& workload,
                                                      SwitchOptions options, std::uint64_t seed, Rng& rng) {
    const bool fits = options.buffer >= workload.longest_packet() && wired.paths.escape_classes() == 0;
    if (!fits || rng.below(4) > 0)
        return make_input_queued_network(wired.fabric, wired.paths, workload, options, seed);
    options.allocator = Allocator::islip;
    options.iterations = 1;
    if (wired.paths.next_hops() == nullptr) options.fanout = static_cast<Fanout>(rng.below(3));
    return make_crosspoint_network(wired.fabric, wired.paths, workload, options, seed);
}

/// Runs a network and checks every `check_every` cycles that packets and credits are conserved. Throws Error
/// if a packet is lost or blocked.
inline void run_random_network(const std::vector<std::unique_ptr<WiredMachine>>& machines, std::uint64_t seed,
                               std::uint64_t check_every) {
    constexpr std::uint64_t max_cycles = 100000;
    Rng rng(seed);
    const WiredMachine& wired = *machines[rng.below(static_cast<std::uint32_t>(machines.size()))];
    SwitchOptions options;
    options.vcs = wired.paths.class_count() + rng.below(4);
    options.buffer = 1 + rng.below(10);
    options.routing = rng.below(3);
    options.crossing = 1 + rng.below(3);
    options.channel = 1 + rng.below(4);
    const std::uint32_t longest = 1 + rng.below(6);
    options.arbiter = static_cast<Arbiter>(rng.below(3));
    if (options.arbiter == Arbiter::round_robin) {
        options.iterations = 1 + rng.below(3);
        options.allocator = static_cast<Allocator>(rng.below(2));
    }
    if (wired.paths.next_hops() == nullptr && rng.below(4) == 0) {
        options.queues = InputQueues::by_output;
        options.vcs = wired.paths.class_count();
    }
    if (options.buffer >= longest && rng.below(2) == 0) options.switching = Switching::cut_through;
    RandomExchange exchange(wired.machine.node_count(), longest, 1 + rng.below(8), rng.below(2) == 0, rng);
    const auto network = random_switches(wired, exchange, options, seed, rng);
    while (exchange.remaining_packets() > 0) {
        network->run(check_every);
        network->check();
        if (network->cycle() > max_cycles)
            fail(exchange.remaining_packets(), " packets stand still on ", wired.machine.text(), ", seed ",
                 seed);
    }
}

/// Small machines with every kind of route.
inline std::vector<std::unique_ptr<WiredMachine>> small_machines() {
    std::vector<std::unique_ptr<WiredMachine>> machines;
    for (const char* const text : {"torus:4x3", "torus:5", "torus:3x3x2", "mesh:3x3", "fattree:3:3",
                                   "hyperx:3x3", "dragonfly:4x2x2,routing=minimal"})
        machines.push_back(std::make_unique<WiredMachine>(text));
    return machines;
}

/// The same machines, and machines with adaptive routing.
inline std::vector<std::unique_ptr<WiredMachine>> routed_machines() {
    std::vector<std::unique_ptr<WiredMachine>> machines = small_machines();
    for (const char* const text :
         {"torus:4x3", "torus:5", "torus:4x4x3", "mesh:3x3", "fattree:3:3", "hyperx:3x3"})
        machines.push_back(std::make_unique<WiredMachine>(text, Routing::minimal_adaptive));
    for (const char* const text :
         {"dragonfly:4x2x2", "dragonfly:5x1x4,nodes=2", "dragonfly:4x1x2,nodes=2,routing=valiant"})
        for (const Routing routing : {Routing::valiant, Routing::ugal})
            machines.push_back(std::make_unique<WiredMachine>(text, routing));
    return machines;
}

}  // namespace topoloom::testing
