// SPDX-License-Identifier: BSD-3-Clause
// Represents any network as a graph of vertices and working links, with rank capacities at vertices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/bound/bound_problem.hpp"

namespace topoloom {

/// Bandwidths are rounded up to integer multiples of a unit, so that sums over a cut are exact.
class NetworkGraph {
   public:
    explicit NetworkGraph(const BoundProblem& problem);

    struct Neighbor {
        std::uint32_t vertex;
        std::int64_t out, in;  // bandwidth to and from the neighbor, in units
    };
    [[nodiscard]] std::size_t vertex_count() const { return capacity_.size(); }
    [[nodiscard]] std::span<const Neighbor> neighbors(std::uint32_t vertex) const {
        return {neighbors_.data() + first_[vertex], neighbors_.data() + first_[vertex + 1]};
    }
    /// Number of ranks that fit on the nodes at a vertex.
    [[nodiscard]] std::uint64_t capacity(std::uint32_t vertex) const { return capacity_[vertex]; }
    [[nodiscard]] std::uint32_t vertex(Node node) const { return vertex_of_node_[node.value]; }
    [[nodiscard]] double bandwidth(std::int64_t units) const { return static_cast<double>(units) * unit_; }

   private:
    std::vector<std::size_t> first_;
    std::vector<Neighbor> neighbors_;
    std::vector<std::uint64_t> capacity_;
    std::vector<std::uint32_t> vertex_of_node_;
    double unit_ = 1;
};

/// A growing vertex set, with the bandwidth of links that leave and enter it.
class NetworkCut {
   public:
    explicit NetworkCut(const NetworkGraph& graph) : graph_(graph), inside_(graph.vertex_count(), 0) {}

    void clear();
    void add(std::uint32_t vertex);
    /// Adds switches (vertices without capacity) that have more bandwidth to the set than to other vertices.
    void add_switches();
    [[nodiscard]] bool contains_vertex(std::uint32_t vertex) const { return inside_[vertex] != 0; }
    [[nodiscard]] std::span<const std::uint32_t> members() const { return members_; }
    [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
    [[nodiscard]] double bandwidth() const { return graph_.bandwidth(out_ + in_); }
    [[nodiscard]] std::uint64_t visits() const { return visits_; }  // neighbors visited so far

   private:
    const NetworkGraph& graph_;
    std::vector<char> inside_;
    std::vector<std::uint32_t> members_;
    std::uint64_t capacity_ = 0;
    std::int64_t out_ = 0;
    std::int64_t in_ = 0;
    std::uint64_t visits_ = 0;
};

}  // namespace topoloom
