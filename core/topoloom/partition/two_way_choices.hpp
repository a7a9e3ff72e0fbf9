// SPDX-License-Identifier: BSD-3-Clause
// Many choices between two ways each, whose costs depend on each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/partition/gain_heap.hpp"
#include "topoloom/partition/weighted_graph.hpp"

namespace topoloom {

/// Choices for all vertices: an edge costs its weight, which may be negative, if its ends choose differently, and a
/// vertex its bias if it chooses 1; those of mass 0 have no choice but 0. Begins with all 0 and goes on from losing
/// flips, too, as Kernighan and Lin did (Bell Syst. Tech. J. 49 (1970)): what has to turn as a whole mostly loses at
/// first. O(edges log vertices) a pass.
class TwoWayChoices {
   public:
    TwoWayChoices(const WeightedGraph& graph, std::span<const std::int64_t> bias)
        : graph_(graph), choice_(graph.size(), 0), gain_(graph.size()), heap_(graph.size()) {
        for (std::uint32_t v = 0; v < graph.size(); ++v) {
            gain_[v] = -bias[v];
            for (const std::int64_t weight : graph.weights(v)) gain_[v] -= weight;
        }
    }

    const std::vector<char>& run() {
        constexpr int max_passes = 4;
        for (int i = 0; i < max_passes && pass(); ++i) {
        }
        return choice_;
    }
    [[nodiscard]] std::uint64_t work() const { return work_; }

   private:
    bool pass() {
        const std::size_t patience = 100 + graph_.size() / 8;
        for (std::uint32_t v = graph_.size(); v-- > 0;) {
            if (graph_.mass[v] > 0) heap_.set(v, gain_[v]);
        }
        flipped_.clear();
        std::int64_t gained = 0;
        std::int64_t best = 0;
        std::size_t best_at = 0;
        while (!heap_.empty() && flipped_.size() - best_at < patience) {
            const std::uint32_t v = heap_.top();
            gained += gain_[v];
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

    void flip(std::uint32_t v, bool searching) {
        ++work_;
        choice_[v] = static_cast<char>(1 - choice_[v]);
        gain_[v] = -gain_[v];
        const auto peers = graph_.peers(v);
        const auto weights = graph_.weights(v);
        for (std::size_t i = 0; i < peers.size(); ++i) {
            const std::uint32_t u = peers[i];
            gain_[u] += choice_[u] == choice_[v] ? -2 * weights[i] : 2 * weights[i];
            if (searching && heap_.contains(u)) heap_.set(u, gain_[u]);
        }
    }

    const WeightedGraph& graph_;
    std::vector<char> choice_;
    std::vector<std::int64_t> gain_;  // of choosing otherwise
    GainHeap heap_;
    std::vector<std::uint32_t> flipped_;
    std::uint64_t work_ = 0;
};

}  // namespace topoloom
