// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/rounds.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

namespace topoloom {

namespace {

/// Returns the distinct numbers of messages per pair, ascending, at most 16.
std::vector<std::int64_t> distinct_message_counts(const CommGraph& phase) {
    constexpr std::size_t most = 16;
    std::set<std::int64_t> found;
    for (const std::int64_t messages : phase.all_messages())
        found.insert(std::max<std::int64_t>(1, messages));
    std::vector<std::int64_t> numbers(found.begin(), found.end());
    while (numbers.size() > most) {
        const auto step = [&](std::size_t i) {
            return static_cast<double>(numbers[i + 1]) / static_cast<double>(numbers[i]);
        };
        std::size_t nearest = 0;
        for (std::size_t i = 1; i + 1 < numbers.size(); ++i) {
            if (step(i) < step(nearest)) nearest = i;
        }
        numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(nearest));
    }
    return numbers;
}

/// Computes bytes * part / whole without overflow. As part goes from 0 to whole, the increases of the result
/// add up to `bytes`.
std::int64_t proportional_share(std::int64_t bytes, std::int64_t part, std::int64_t whole) {
    return bytes / whole * part +
           static_cast<std::int64_t>(static_cast<long double>(bytes % whole) *
                                     static_cast<long double>(part) / static_cast<long double>(whole));
}

}  // namespace

std::vector<CommGraph> split_into_rounds(const CommGraph& phase) {
    const std::vector<std::int64_t> numbers = distinct_message_counts(phase);
    std::vector<CommGraph> graphs;
    if (numbers.size() < 2) return graphs;
    std::int64_t first = 0;
    for (const std::int64_t last : numbers) {
        CommRows rows;
        for (const Rank u : ids<Rank>(phase.rank_count())) {
            for (const Edge edge : phase.sends(u)) {
                const std::int64_t rounds =
                    *std::ranges::lower_bound(numbers, std::max<std::int64_t>(1, edge.messages));
                if (rounds < last) continue;
                const std::int64_t bytes = edge.bytes.value;
                rows.peers.push_back(edge.peer);
                rows.bytes.push_back(Bytes{proportional_share(bytes, last, rounds) -
                                           proportional_share(bytes, first, rounds)});
                rows.messages.push_back(edge.messages > 0 ? last - first : 0);
            }
            rows.first.push_back(rows.peers.size());
        }
        graphs.push_back(CommGraph::from_csr(std::move(rows)));
        first = last;
    }
    return graphs;
}

}  // namespace topoloom
