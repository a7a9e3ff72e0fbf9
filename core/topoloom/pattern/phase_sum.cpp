// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/phase_sum.hpp"

#include <utility>
#include <vector>

#include "topoloom/base/error.hpp"

namespace topoloom {

void require_phases_add_up(std::span<const CommGraph* const> phases, const CommGraph& graph) {
    if (phases.empty()) return;
    const std::size_t ranks = graph.rank_count();
    for (const CommGraph* const phase : phases) {
        if (phase->rank_count() != ranks)
            fail("a phase has ", phase->rank_count(), " ranks, but the pattern has ", ranks);
    }
    struct Amount {
        std::uint64_t bytes = 0;  // unsigned, because sums may wrap around
        std::uint64_t messages = 0;
        bool operator==(const Amount&) const = default;
    };
    std::vector<Amount> sum(ranks);  // [receiver]: messages of the current sender
    const auto add = [&](const Edge& edge) {
        Amount& to = sum[edge.peer.value];
        to.bytes += static_cast<std::uint64_t>(edge.bytes.value);
        to.messages += static_cast<std::uint64_t>(edge.messages);
    };
    for (const Rank u : ids<Rank>(ranks)) {
        for (const CommGraph* const phase : phases) {
            for (const Edge edge : phase->sends(u)) add(edge);
        }
        const auto compare = [&](Rank v, const Amount& whole) {
            const Amount parts = std::exchange(sum[v.value], {});
            if (parts == whole) return;
            fail("the phases do not add up to the pattern: in the phases, rank ", u.value, " sends rank ",
                 v.value, " ", parts.bytes, " bytes in ", parts.messages, " messages, in the pattern ",
                 whole.bytes, " bytes in ", whole.messages);
        };
        for (const Edge edge : graph.sends(u)) {
            compare(edge.peer, {static_cast<std::uint64_t>(edge.bytes.value),
                                static_cast<std::uint64_t>(edge.messages)});
        }
        for (const CommGraph* const phase : phases) {
            for (const Edge edge : phase->sends(u)) compare(edge.peer, {});
        }
    }
}

}  // namespace topoloom
