// SPDX-License-Identifier: BSD-3-Clause
// Sent and received messages of every rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "topoloom/base/big_vector.hpp"
#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// A message from the view of its sender or receiver.
struct RankMessage {
    Rank peer;
    bool sent;
    std::int64_t bytes;
};

/// The messages of each rank, without empty messages, sorted by decreasing size so that a bad candidate is
/// rejected early. 32 bytes per edge.
class RankMessages {
   public:
    explicit RankMessages(const CommGraph& graph) : first_(graph.rank_count() + 1, 0) {
        const auto each = [&](const auto& use) {
            for (const Rank u : ids<Rank>(graph.rank_count())) {
                for (const Edge edge : graph.sends(u)) {
                    if (edge.bytes.value > 0) use(u, edge);
                }
            }
        };
        each([&](Rank u, const Edge& edge) {
            ++first_[u.value + 1];
            ++first_[edge.peer.value + 1];
        });
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        message_.resize(first_.back());
        std::vector<std::uint64_t> next = first_;
        each([&](Rank u, const Edge& edge) {
            message_[next[u.value]++] = {edge.peer, true, edge.bytes.value};
            message_[next[edge.peer.value]++] = {u, false, edge.bytes.value};
        });
        for (const Rank u : ids<Rank>(graph.rank_count()))
            std::stable_sort(message_.begin() + first_[u.value], message_.begin() + first_[u.value + 1],
                             [](const RankMessage& a, const RankMessage& b) { return a.bytes > b.bytes; });
    }

    [[nodiscard]] std::span<const RankMessage> of(Rank u) const {
        return {message_.data() + first_[u.value], message_.data() + first_[u.value + 1]};
    }
    /// Calls use(end, message) once for every message of u and v, where `end` is u or v. v may be Rank::none.
    template <class Use>
    void for_each_message(Rank u, Rank v, const Use& use) const {
        for (const RankMessage& message : of(u)) use(u, message);
        if (v == Rank::none) return;
        for (const RankMessage& message : of(v)) {
            if (message.peer != u) use(v, message);
        }
    }

   private:
    std::vector<std::uint64_t> first_;
    BigVector<RankMessage> message_;
};

}  // namespace topoloom
