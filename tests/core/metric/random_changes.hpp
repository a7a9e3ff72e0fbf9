// SPDX-License-Identifier: BSD-3-Clause
// Makes random changes to a placement whose loads are updated incrementally, and computes reference loads.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/metric/loads/load_tracker.hpp"
#include "topoloom/metric/route_loads.hpp"
#include "topoloom/pattern/comm_graph.hpp"

/// Reference link loads of all messages over minimal routes.
inline std::vector<double> reference_loads(const topoloom::CommGraph& graph, const topoloom::Machine& machine,
                                           std::span<const topoloom::Slot> slots) {
    using namespace topoloom;
    const LoadQuantizer quantizer(graph.total_bytes());
    std::vector<double> loads(machine.link_count());
    with_topology(machine, [&](const auto& network) {
        for (const Rank u : ids<Rank>(graph.rank_count())) {
            for (const Edge edge : graph.sends(u)) {
                const Node from = machine.node(slots[u.value]);
                const Node to = machine.node(slots[edge.peer.value]);
                if (from == to) continue;
                network.route(from, to, [&](Link link, double share) {
                    loads[link.value] += quantizer.round(static_cast<double>(edge.bytes.value) * share);
                });
            }
        }
    });
    return loads;
}

/// Ranks on slots, changed at random.
struct RandomChanges {
    std::vector<topoloom::Slot> slots;
    std::vector<topoloom::Slot> free;
    std::vector<topoloom::Slot> before;
    std::vector<topoloom::Slot> free_before;

    RandomChanges(const topoloom::Allocation& allocation, std::size_t ranks, topoloom::Rng& rng)
        : free(allocation.slots().begin(), allocation.slots().end()) {
        rng.shuffle(std::span(free));
        const auto placed = free.begin() + static_cast<std::ptrdiff_t>(ranks);
        slots.assign(free.begin(), placed);
        free.erase(free.begin(), placed);
    }

    /// Makes a random change: unconditionally, only if better, or only if the soft value stays below a limit.
    template <class Loads>
    void make_random_change(Loads& loads, topoloom::Rng& rng) {
        const auto some = [&](std::size_t count) { return rng.below(static_cast<std::uint32_t>(count)); };
        before = slots;
        free_before = free;
        const topoloom::Rank u{some(slots.size())};
        const topoloom::Rank v{some(slots.size())};
        const std::uint32_t how = rng.below(3);
        const std::int64_t most = loads.soft_value() + (rng.below(2) == 0 ? 0 : loads.soft_value() / 4);
        const topoloom::SoftLimit limit{.nearer = most, .farther = most - (rng.below(2) == 0 ? 0 : 1)};
        bool made = true;
        if (!free.empty() && rng.below(2) == 0) {
            topoloom::Slot& to = free[some(free.size())];
            if (how == 0) {
                loads.move(u, to);
            } else {
                made = how == 1 ? loads.move_if_better(u, to) : loads.move_if_soft_at_most(u, to, limit);
            }
            if (made) std::swap(slots[u.value], to);
        } else if (u != v) {
            if (how == 0) {
                loads.exchange(u, v);
            } else {
                made =
                    how == 1 ? loads.exchange_if_better(u, v) : loads.exchange_if_soft_at_most(u, v, limit);
            }
            if (made) std::swap(slots[u.value], slots[v.value]);
        } else {
            return;
        }
        if (made && rng.below(3) == 0) {
            loads.undo();
            slots = before;
            free = free_before;
        }
    }
};
