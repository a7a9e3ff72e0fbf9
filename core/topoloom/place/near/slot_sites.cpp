// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/near/slot_sites.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace topoloom::near {

namespace {

struct NodeKey {
    std::uint64_t point;  // equal for nodes at the same network point
    Node node;
    std::uint32_t index;  // in Allocation::nodes()
    friend auto operator<=>(const NodeKey&, const NodeKey&) = default;
};

std::vector<NodeKey> sort_nodes(const Allocation& allocation) {
    return with_geometry(allocation.machine(), [&]<class Network>(const Network& network) {
        const auto point_of = [&](Node node) -> std::uint64_t {
            if constexpr (std::is_same_v<Network, Tree>) {
                return node.value;
            } else if constexpr (std::is_same_v<Network, HopTable>) {
                return network.distance_class(network.point(node));
            } else {
                return network.vertex(node);
            }
        };
        std::vector<NodeKey> keys;
        keys.reserve(allocation.nodes().size());
        for (const Node node : allocation.nodes())
            keys.push_back({point_of(node), node, static_cast<std::uint32_t>(keys.size())});
        std::ranges::sort(keys);
        return keys;
    });
}

}  // namespace

SlotSites::SlotSites(const Allocation& allocation)
    : slots_(allocation.slot_count()), range_of_node_(allocation.nodes().size()) {
    const std::span<const std::uint32_t> node_of_slot = allocation.node_of_slot();
    for (const std::uint32_t node : node_of_slot) ++range_of_node_[node].count;
    std::uint32_t first = 0;
    std::uint64_t point = 0;
    for (const NodeKey& key : sort_nodes(allocation)) {
        if (nodes_.empty() || key.point != point) {
            first_slot_.push_back(first);
            first_node_.push_back(static_cast<std::uint32_t>(nodes_.size()));
        }
        point = key.point;
        nodes_.push_back(key.node);
        NodeRange& range = range_of_node_[key.index];
        range.site = static_cast<std::uint32_t>(first_slot_.size() - 1);
        range.first = first;
        first += std::exchange(range.count, 0);
    }
    first_slot_.push_back(first);
    first_node_.push_back(static_cast<std::uint32_t>(nodes_.size()));
    for (std::size_t i = 0; i < node_of_slot.size(); ++i) {
        NodeRange& range = range_of_node_[node_of_slot[i]];
        slots_[range.first + range.count++] = Position{i};
    }
    for (const NodeRange& range : range_of_node_) {
        std::ranges::sort(std::span(slots_).subspan(range.first, range.count), {},
                          [&](Position p) { return allocation.slots()[p.value]; });
    }
}

}  // namespace topoloom::near
