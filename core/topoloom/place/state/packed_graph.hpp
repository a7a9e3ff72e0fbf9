// SPDX-License-Identifier: BSD-3-Clause
// A communication graph with renumbered ranks in minimal memory, for searches that access it randomly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// An edge. Bytes are divided by the greatest common divisor of the bytes of all edges. This changes no
/// decision, and the bytes of most patterns then fit 32 bits.
template <class Number>
class PackedGraph {
   public:
    struct PackedEdge {
        Rank peer;
        Quantity<struct UnitOfBytes, Number> bytes;
    };

    /// Rank i of this graph is rank order[i] of the input. `divisor` is common_divisor(symmetric). O(edges).
    PackedGraph(const CommGraph& symmetric, std::span<const Rank> order, std::int64_t divisor) {
        std::vector<Rank> number(order.size());
        for (std::uint32_t i = 0; i < order.size(); ++i) number[order[i].value] = Rank{i};
        first_.reserve(order.size() + 1);
        edges_.reserve(symmetric.edge_count());
        first_.push_back(0);
        for (const Rank u : order) {
            for (const Edge edge : symmetric.sends(u)) {
                if (edge.bytes.value == 0) continue;
                const auto units = static_cast<Number>(edge.bytes.value / divisor);
                edges_.push_back({number[edge.peer.value], Quantity<struct UnitOfBytes, Number>(units)});
            }
            first_.push_back(edges_.size());
        }
    }

    [[nodiscard]] std::size_t rank_count() const { return first_.size() - 1; }
    [[nodiscard]] std::span<const PackedEdge> sends(Rank u) const {
        return {edges_.data() + first_[u.value], edges_.data() + first_[u.value + 1]};
    }

   private:
    std::vector<std::size_t> first_;
    std::vector<PackedEdge> edges_;
};

/// Greatest common divisor of the bytes of all edges; 0 if all are 0.
[[nodiscard]] inline std::int64_t common_divisor(const CommGraph& graph) {
    std::int64_t divisor = 0;
    for (const Bytes bytes : graph.all_bytes()) divisor = std::gcd(divisor, bytes.value);
    return divisor;
}

/// Calls use(packed) with the smallest integer type that fits all bytes.
template <class Use>
decltype(auto) with_packed_graph(const CommGraph& symmetric, std::span<const Rank> order, Use&& use) {
    const std::int64_t divisor = std::max<std::int64_t>(1, common_divisor(symmetric));
    Bytes most;
    for (const Bytes bytes : symmetric.all_bytes()) most = std::max(most, bytes);
    if (most.value / divisor <= std::numeric_limits<std::int32_t>::max())
        return use(PackedGraph<std::int32_t>(symmetric, order, divisor));
    return use(PackedGraph<std::int64_t>(symmetric, order, divisor));
}

}  // namespace topoloom
