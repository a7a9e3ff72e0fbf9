// SPDX-License-Identifier: BSD-3-Clause
// Maximum flow between two terminals through an undirected network, and the minimum cuts it shows.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom::partition {

/// Vertices are 0 .. size-1; the terminals, source and sink, are none of them. Used again and again without new memory.
class FlowNetwork {
   public:
    /// Clears the network.
    void reset(std::uint32_t vertices);
    /// What cutting v from the source costs more than cutting it from the sink; may be negative.
    void add_terminal(Vertex v, std::int64_t weight) { terminal_[v.value] += weight; }
    /// Edges in both directions, weight > 0.
    void add_edge(Vertex u, Vertex v, std::int64_t weight) { edges_.push_back({u, v, weight}); }

    /// Finds a maximum flow: shortest augmenting paths in phases (Dinic, Soviet Math. Dokl. 11 (1970)). Returns the
    /// least value of: the weight of the edges between two sides, plus add_terminal's weight of all on the sink's side.
    std::int64_t solve();

    /// After solve(): with the source (1) in every minimum cut, with the sink (-1) in every one, or with either (0).
    [[nodiscard]] std::vector<signed char> sides();

    /// After solve(): calls visit(u) for every u that has to be on the source's side when v is.
    template <class Visit>
    void follow(Vertex v, const Visit& visit) const {
        for (std::uint32_t a = first_[v.value]; a < first_[v.value + 1]; ++a) {
            if (arcs_[a].residual > 0) visit(arcs_[a].head);
        }
    }
    [[nodiscard]] std::uint64_t work() const { return work_; }

   private:
    struct InputEdge {
        Vertex u, v;
        std::int64_t weight;
    };
    struct Arc {
        Vertex head;
        std::uint32_t reverse;
        std::int64_t residual;
    };

    void build();
    bool find_levels();
    std::int64_t augment_from(Vertex source);

    std::vector<InputEdge> edges_;
    std::vector<std::int64_t> terminal_;  // what can still come from the source (> 0) or go to the sink (< 0)
    std::vector<std::uint32_t> first_;
    std::vector<Arc> arcs_;
    std::vector<std::uint32_t> level_;
    std::vector<std::uint32_t> current_;  // arc that a vertex tries next
    std::vector<Vertex> queue_;
    std::vector<std::uint32_t> path_;  // arcs
    std::uint64_t work_ = 0;
};

}  // namespace topoloom::partition
