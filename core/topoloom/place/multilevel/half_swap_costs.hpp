// SPDX-License-Identifier: BSD-3-Clause
// Costs of swapping the halves of pairs of parts, as a graph of pairs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/partition/weighted_graph.hpp"

namespace topoloom::multilevel {

/// Computes, for every k, the cost of swapping the parts lefts[k] and lefts[k] + 1. `ranks(p)` returns the
/// vertices of part p. make_distance_difference(left)(q) is the distance of q to part left + 1 minus the
/// distance of q to part left; distances must be symmetric.
template <class Ranks, class DistanceDifference>
class HalfSwapCosts {
   public:
    /// Refers to all arguments.
    HalfSwapCosts(const partition::WeightedGraph& graph, std::span<const Part> part_of,
                  std::size_t part_count, std::span<const Part> lefts, const Ranks& ranks,
                  const DistanceDifference& make_distance_difference)
        : graph_(graph),
          part_of_(part_of),
          lefts_(lefts),
          pair_of_(part_count, Vertex::none),
          ranks_(ranks),
          farther_from_(make_distance_difference) {
        for (std::size_t k = 0; k < lefts.size(); ++k)
            pair_of_[lefts[k].value] = pair_of_[lefts[k].value + 1] = Vertex{k};
    }

    /// Builds a graph for BinaryLabeling. Vertex k is the pair lefts[k]. The weight of an edge is what it
    /// costs if exactly one of its two pairs is swapped. The bias is the cost of swapping only this pair.
    /// Both are doubled. The caller sets the masses. O(edges), on all cores.
    void build_choice_graph(partition::WeightedGraph& choices, std::vector<std::int64_t>& bias,
                            int threads) const {
        const Chunks chunks(lefts_.size(), 1024);
        std::vector<ChoiceRows> rows(chunks.size());
        std::vector<Scratch> scratch(static_cast<std::size_t>(thread_count(threads)));
        parallel_for(chunks.size(), threads, [&](std::size_t i, int worker) {
            Scratch& own = scratch[static_cast<std::size_t>(worker)];
            own.bytes.resize(pair_of_.size(), {0, 0});
            for (std::size_t k = chunks[i].begin; k < chunks[i].end; ++k) weigh_pair(Vertex{k}, own, rows[i]);
        });
        for (const ChoiceRows& row : rows) {
            const auto before = static_cast<std::uint32_t>(choices.peer.size());
            for (const std::uint32_t end : row.end) choices.first.push_back(before + end);
            choices.peer.insert(choices.peer.end(), row.peer.begin(), row.peer.end());
            choices.weight.insert(choices.weight.end(), row.weight.begin(), row.weight.end());
            bias.insert(bias.end(), row.bias.begin(), row.bias.end());
        }
    }

   private:
    struct ChoiceRows {
        std::vector<std::uint32_t> end;
        std::vector<Vertex> peer;
        std::vector<std::int64_t> weight;
        std::vector<std::int64_t> bias;
    };
    struct Scratch {
        std::vector<std::array<std::int64_t, 2>> bytes;  // bytes between each half of the pair and every part
        std::vector<Part> met;                           // parts with nonzero entries in `bytes`
    };

    void sum_bytes(Vertex k, Scratch& scratch) const {
        auto& [bytes, met] = scratch;
        const Part left = lefts_[k.value];
        for (const std::uint32_t half : {0U, 1U}) {
            for (const Vertex u : ranks_(Part{left.value + half})) {
                const auto peers = graph_.peers(u);
                const auto weights = graph_.weights(u);
                for (std::size_t e = 0; e < peers.size(); ++e) {
                    const Part q = part_of_[peers[e].value];
                    const std::int64_t weight = weights[e];
                    if (pair_of_[q.value] == k) continue;
                    if (bytes[q.value][0] == 0 && bytes[q.value][1] == 0) met.push_back(q);
                    bytes[q.value][half] += weight;
                }
            }
        }
    }

    void weigh_pair(Vertex k, Scratch& scratch, ChoiceRows& rows) const {
        sum_bytes(k, scratch);
        auto& [bytes, met] = scratch;
        auto farther = farther_from_(lefts_[k.value]);
        std::int64_t alone = 0;  // twice the cost of swapping only this pair
        for (const Part q : met) {
            if (bytes[q.value][0] == 0 && bytes[q.value][1] == 0) continue;  // other half did this
            const Vertex other = pair_of_[q.value];
            if (other == Vertex::none) {
                alone += 2 * (bytes[q.value][0] - bytes[q.value][1]) * farther(q);
                bytes[q.value] = {0, 0};
                continue;
            }
            // cost[a][b]: the cost with this pair swapped (a = 1) or not, and the other pair swapped (b = 1)
            // or not. It is relative to the cost with all ranks of this pair on the left.
            const std::array<Part, 2> theirs{lefts_[other.value], Part{lefts_[other.value].value + 1}};
            std::array<std::array<std::int64_t, 2>, 2> cost{};
            for (const std::uint32_t j : {0U, 1U}) {
                const std::int64_t far = farther(theirs[j]);
                for (const std::uint32_t mine : {0U, 1U}) {
                    for (const std::uint32_t its : {0U, 1U})
                        cost[mine][its] += far * bytes[theirs[j ^ its].value][1 ^ mine];
                }
            }
            bytes[theirs[0].value] = bytes[theirs[1].value] = {0, 0};
            const std::int64_t differing = cost[0][1] + cost[1][0] - cost[0][0] - cost[1][1];
            alone += cost[1][0] + cost[1][1] - cost[0][0] - cost[0][1];
            if (differing == 0) continue;
            rows.peer.push_back(other);
            rows.weight.push_back(differing);
        }
        met.clear();
        rows.bias.push_back(alone);
        rows.end.push_back(static_cast<std::uint32_t>(rows.peer.size()));
    }

    const partition::WeightedGraph& graph_;
    std::span<const Part> part_of_;
    std::span<const Part> lefts_;
    std::vector<Vertex> pair_of_;  // by part
    const Ranks& ranks_;
    const DistanceDifference& farther_from_;
};

}  // namespace topoloom::multilevel
