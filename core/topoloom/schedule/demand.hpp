// SPDX-License-Identifier: BSD-3-Clause
// The demand of a many-to-many: which rank wants how many bytes of which.
#pragma once

#include <cstddef>
#include <vector>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// The ranks first, first + step, ...
struct EveryNth {
    std::size_t first;
    std::size_t step;

    /// How many of them are less.
    [[nodiscard]] std::size_t below(std::size_t rank) const {
        return rank > first ? (rank - 1 - first) / step + 1 : 0;
    }
    [[nodiscard]] bool has(std::size_t rank) const { return rank >= first && (rank - first) % step == 0; }
};

/// Regular (O(1) memory) or given by a graph. No rank wants its own data.
class Demand {
   public:
    /// Each of the next `degree` ranks, wrapping at the end, wants `bytes` of a rank. Throws Error for no ranks, a
    /// degree that is not below the number of ranks, bytes < 0, and more than 2^62 bytes on a rank.
    Demand(std::size_t ranks, std::size_t degree, Bytes bytes);
    /// An edge u -> v of b bytes means that v wants b bytes of u. Throws Error for no ranks. Memory: the graph twice.
    explicit Demand(CommGraph graph);

    [[nodiscard]] std::size_t ranks() const { return ranks_; }
    /// Whether it is regular, not from a graph.
    [[nodiscard]] bool is_regular() const { return max_bytes_.empty(); }
    [[nodiscard]] bool wants(Rank origin, Rank target) const {
        return is_regular() ? steps(origin, target) <= degree_ : edge(origin, target) != nullptr;
    }
    /// 0 if it is not wanted.
    [[nodiscard]] Bytes bytes(Rank origin, Rank target) const;
    /// What these want of an origin, and how many of them. O(1) if regular, else O(degree).
    struct Wanted {
        Bytes bytes;
        std::size_t by = 0;
    };
    [[nodiscard]] Wanted wanted(Rank origin, const EveryNth& targets) const;
    /// Bytes of the longest message of an origin, which all its targets get in a multicast.
    [[nodiscard]] Bytes max_bytes(Rank origin) const {
        return is_regular() ? bytes_ : max_bytes_[origin.value];
    }
    /// Calls visit(target) or visit(origin) for each.
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
    /// From the origin forward to the target; a rank is all of them away from itself.
    [[nodiscard]] std::size_t steps(Rank origin, Rank target) const {
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
