// SPDX-License-Identifier: BSD-3-Clause
// The demand of a many-to-many: how many bytes each rank requires from each other rank.
#pragma once

#include <cstddef>
#include <vector>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// The ranks first, first + step, first + 2 step, ...
struct EveryNth {
    std::size_t first;
    std::size_t step;

    /// Number of these ranks below `rank`.
    [[nodiscard]] std::size_t count_below(std::size_t rank) const {
        return rank > first ? (rank - 1 - first) / step + 1 : 0;
    }
    [[nodiscard]] bool has(std::size_t rank) const { return rank >= first && (rank - first) % step == 0; }
};

/// Regular (O(1) memory) or given by a graph. No rank requires its own data.
class Demand {
   public:
    /// Every rank sends `bytes` to each of the next `degree` ranks, modulo the number of ranks. Throws Error
    /// if ranks is 0, degree is not below the number of ranks, bytes is negative, or a rank has more than
    /// 2^62 bytes.
    Demand(std::size_t ranks, std::size_t degree, Bytes bytes);
    /// An edge u -> v of b bytes means that v receives b bytes from u. Throws Error for 0 ranks. Memory:
    /// twice the graph.
    explicit Demand(CommGraph graph);

    [[nodiscard]] std::size_t ranks() const { return ranks_; }
    /// Whether the demand is regular rather than given by a graph.
    [[nodiscard]] bool is_regular() const { return max_bytes_.empty(); }
    [[nodiscard]] bool is_target(Rank origin, Rank target) const {
        return is_regular() ? ring_distance(origin, target) <= degree_ : edge(origin, target) != nullptr;
    }
    /// Bytes from the origin to the target; 0 without a message.
    [[nodiscard]] Bytes bytes(Rank origin, Rank target) const;
    /// Bytes that these targets receive from an origin, and the number of these targets. O(1) if regular,
    /// otherwise O(degree).
    struct DemandSum {
        Bytes bytes;
        std::size_t targets = 0;
    };
    [[nodiscard]] DemandSum sum_demand(Rank origin, const EveryNth& targets) const;
    /// Bytes of an origin's longest message; in a multicast all its targets receive this many.
    [[nodiscard]] Bytes max_bytes(Rank origin) const {
        return is_regular() ? bytes_ : max_bytes_[origin.value];
    }
    /// Calls visit(target) for each target of an origin, or visit(origin) for each origin of a target.
    template <class Visit>
    void each_target(Rank origin, const Visit& visit) const {
        if (!is_regular()) return each_peer(targets_, origin, visit);
        for (std::size_t i = 1; i <= degree_; ++i) visit(Rank{(origin.value + i) % ranks_});
    }
    template <class Visit>
    void each_origin(Rank target, const Visit& visit) const {
        if (!is_regular()) return each_peer(origins_, target, visit);
        for (std::size_t i = 1; i <= degree_; ++i) visit(Rank{(target.value + ranks_ - i) % ranks_});
    }

   private:
    /// Distance from the origin forward to the target; a rank is at distance ranks() from itself.
    [[nodiscard]] std::size_t ring_distance(Rank origin, Rank target) const {
        return target > origin ? target.value - origin.value : target.value + ranks_ - origin.value;
    }
    [[nodiscard]] const Bytes* edge(Rank origin, Rank target) const;
    template <class Visit>
    static void each_peer(const CommGraph& graph, Rank rank, const Visit& visit) {
        for (const Rank peer : graph.peers(rank)) visit(peer);
    }

    std::size_t ranks_;
    std::size_t degree_ = 0;
    Bytes bytes_;
    CommGraph targets_;
    CommGraph origins_;
    std::vector<Bytes> max_bytes_;
};

}  // namespace topoloom
