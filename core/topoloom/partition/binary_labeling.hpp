// SPDX-License-Identifier: BSD-3-Clause
// Minimizes a pairwise energy of binary labels by Kernighan-Lin passes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/partition/gain_heap.hpp"
#include "topoloom/partition/weighted_graph.hpp"

namespace topoloom::partition {

/// Labels all vertices 0 or 1. An edge whose ends have different labels costs its weight, which may be
/// negative; a vertex with label 1 costs its bias. Vertices of mass 0 stay 0. Starts with all labels 0. Flips
/// labels even at a loss, as in Kernighan and Lin (Bell Syst. Tech. J. 49 (1970)), because the first flips of
/// a group often lose. O(edges log vertices) per pass.
class BinaryLabeling {
   public:
    BinaryLabeling(const WeightedGraph& graph, std::span<const std::int64_t> bias)
        : graph_(graph), label_(graph.size(), 0), gain_(graph.size()), heap_(graph.size()) {
        for (const Vertex v : graph.vertices()) {
            gain_[v.value] = -bias[v.value];
            for (const std::int64_t weight : graph.weights(v)) gain_[v.value] -= weight;
        }
    }

    const std::vector<char>& run() {
        constexpr int max_passes = 4;
        for (int i = 0; i < max_passes && run_pass(); ++i) {
        }
        return label_;
    }
    [[nodiscard]] std::uint64_t work() const { return work_; }

   private:
    bool run_pass() {
        const std::size_t max_fruitless_flips = 100 + graph_.size() / 8;
        for (std::uint32_t v = graph_.size(); v-- > 0;) {
            if (graph_.mass[v] > 0) heap_.set(Vertex{v}, gain_[v]);
        }
        flipped_.clear();
        std::int64_t gained = 0;
        std::int64_t best = 0;
        std::size_t best_at = 0;
        while (!heap_.empty() && flipped_.size() - best_at < max_fruitless_flips) {
            const Vertex v = heap_.top();
            gained += gain_[v.value];
            heap_.erase(v);
            flip(v, true);
            flipped_.push_back(v);
            if (gained > best) {
                best = gained;
                best_at = flipped_.size();
            }
        }
        heap_.clear();
        for (std::size_t i = flipped_.size(); i-- > best_at;) flip(flipped_[i], false);
        return best > 0;
    }

    void flip(Vertex v, bool searching) {
        ++work_;
        label_[v.value] = static_cast<char>(1 - label_[v.value]);
        gain_[v.value] = -gain_[v.value];
        const auto peers = graph_.peers(v);
        const auto weights = graph_.weights(v);
        for (std::size_t i = 0; i < peers.size(); ++i) {
            const Vertex u = peers[i];
            gain_[u.value] += label_[u.value] == label_[v.value] ? -2 * weights[i] : 2 * weights[i];
            if (searching && heap_.contains(u)) heap_.set(u, gain_[u.value]);
        }
    }

    const WeightedGraph& graph_;
    std::vector<char> label_;
    std::vector<std::int64_t> gain_;  // of flipping
    GainHeap heap_;
    std::vector<Vertex> flipped_;
    std::uint64_t work_ = 0;
};

}  // namespace topoloom::partition
