// SPDX-License-Identifier: BSD-3-Clause
// Adjacency lists without weights, and common neighbors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// A non-owning view of an undirected graph. Vertices are plain numbers; neighbor lists ascend.
class Adjacency {
   public:
    Adjacency(std::span<const std::uint64_t> first, std::span<const Rank> peers)
        : first_(first), peers_(peers) {}

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(first_.size() - 1); }
    [[nodiscard]] std::span<const Rank> of(std::uint32_t u) const {
        return peers_.subspan(first_[u], first_[u + 1] - first_[u]);
    }
    [[nodiscard]] std::uint32_t degree(std::uint32_t u) const {
        return static_cast<std::uint32_t>(first_[u + 1] - first_[u]);
    }
    [[nodiscard]] bool are_adjacent(std::uint32_t u, std::uint32_t v) const {
        const auto list = of(u);
        return std::binary_search(list.begin(), list.end(), Rank{v});
    }
    /// Calls use(w) for every common neighbor in ascending order; stops if use returns false.
    template <class Use>
    void for_each_common_neighbor(std::uint32_t u, std::uint32_t v, const Use& use) const {
        const auto a = of(u);
        const auto b = of(v);
        for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
            if (a[i] == b[k]) {
                if (!use(a[i].value)) return;
                ++i;
                ++k;
            } else if (a[i] < b[k]) {
                ++i;
            } else {
                ++k;
            }
        }
    }
    [[nodiscard]] std::uint32_t count_common_neighbors(std::uint32_t u, std::uint32_t v) const {
        std::uint32_t count = 0;
        for_each_common_neighbor(u, v, [&](std::uint32_t) { return ++count != 0; });
        return count;
    }
    /// Counts the common neighbors of two adjacent vertices, including the two vertices.
    [[nodiscard]] std::uint32_t count_closed_common_neighbors(std::uint32_t u, std::uint32_t v) const {
        return count_common_neighbors(u, v) + 2;
    }

   private:
    std::span<const std::uint64_t> first_;
    std::span<const Rank> peers_;
};

}  // namespace topoloom
