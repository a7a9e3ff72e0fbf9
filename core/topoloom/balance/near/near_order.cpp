// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/near/near_order.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "topoloom/balance/near/distances.hpp"
#include "topoloom/machine/allocations/curves.hpp"

namespace topoloom {

namespace {

/// Positions along the curve of the nodes that ranks use, indexed by node; 0 for other nodes.
std::vector<std::uint32_t> find_node_positions(const Machine& machine, std::span<const Slot> slots) {
    std::vector<char> is_used(machine.node_count(), 0);
    for (const Slot slot : slots) is_used[machine.node(slot).value] = 1;
    std::vector<Node> nodes;
    for (std::uint32_t node = 0; node < is_used.size(); ++node) {
        if (is_used[node]) nodes.emplace_back(node);
    }
    const Allocation allocation(machine, nodes);
    std::vector<std::uint32_t> places(machine.node_count(), 0);
    const std::uint32_t per_node = machine.slots_per_node();
    const std::vector<std::uint32_t> order = sort_along_curve(Curve::hilbert, allocation);
    for (std::uint32_t i = 0; i < order.size(); i += per_node)
        places[machine.node(allocation.slots()[order[i]]).value] = i / per_node;
    return places;
}

}  // namespace

std::vector<std::uint32_t> near_order(const Machine& machine, std::span<const Slot> slots) {
    std::vector<std::uint64_t> keys(slots.size());
    if (machine.has_grid()) {
        const std::vector<std::uint32_t> places = find_node_positions(machine, slots);
        const std::uint32_t per_node = machine.slots_per_node();
        for (std::size_t i = 0; i < slots.size(); ++i)
            keys[i] =
                std::uint64_t{places[machine.node(slots[i]).value]} * per_node + slots[i].value % per_node;
    } else {
        for (std::size_t i = 0; i < slots.size(); ++i) keys[i] = slots[i].value;
    }
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = keys[i] << 32 | i;
    std::ranges::sort(keys);
    std::vector<std::uint32_t> order(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) order[i] = static_cast<std::uint32_t>(keys[i]);
    return order;
}

std::vector<std::uint64_t> meeting_times(const Machine& machine, std::span<const Slot> slots,
                                         std::span<const std::uint32_t> order) {
    const std::vector<std::uint32_t> distances = distances_along(machine, slots, order);
    std::vector<std::uint64_t> times(distances.size());
    std::uint64_t groups = 0;  // number of groups of ranks at distance 0
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (distances[i] > 0) ++groups;
        times[i] = std::uint64_t{distances[i]} << 6 | static_cast<std::uint64_t>(std::countr_zero(groups));
    }
    return times;
}

}  // namespace topoloom
