// SPDX-License-Identifier: BSD-3-Clause
// Maximum flow and minimum cuts between two terminals of an undirected network.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom::partition {

/// Vertices are 0 .. size-1, not counting source and sink. reset() reuses the memory.
class FlowNetwork {
   public:
    /// Removes all edges and sets the number of vertices.
    void reset(std::uint32_t vertices);
    /// Adds to v's terminal cost: its cost on the sink side minus its cost on the source side, which may be
    /// negative.
    void add_terminal_cost(Vertex v, std::int64_t weight) { terminal_[v.value] += weight; }
    /// Adds an undirected edge of weight > 0.
    void add_edge(Vertex u, Vertex v, std::int64_t weight) { edges_.push_back({u, v, weight}); }

    /// Computes a maximum flow by Dinic's algorithm (Soviet Math. Dokl. 11 (1970)). Returns the cost of a
    /// minimum cut: the weight of cut edges plus the terminal costs of vertices on the sink side.
    std::int64_t solve();

    /// After solve(): 1 if v is on the source side of every minimum cut, -1 if it is on the sink side of
    /// every minimum cut, else 0.
    [[nodiscard]] std::vector<signed char> sides();

    /// After solve(): calls visit(u) for every u that must be on the source side if v is on it.
    template <class Visit>
    void visit_residual_peers(Vertex v, const Visit& visit) const {
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

    void build_arcs();
    bool find_levels();
    std::int64_t augment_from(Vertex source);

    std::vector<InputEdge> edges_;
    std::vector<std::int64_t> terminal_;  // residual capacity from the source (> 0) or to the sink (< 0)
    std::vector<std::uint32_t> first_;
    std::vector<Arc> arcs_;
    std::vector<std::uint32_t> level_;
    std::vector<std::uint32_t> current_;  // next arc to try, by vertex
    std::vector<Vertex> queue_;
    std::vector<std::uint32_t> path_;  // arcs
    std::uint64_t work_ = 0;
};

}  // namespace topoloom::partition
