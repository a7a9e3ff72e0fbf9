// SPDX-License-Identifier: BSD-3-Clause
// Splitting phases into rounds.
#include <doctest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "metric/random_problem.hpp"
#include "topoloom/pattern/generators/ring.hpp"
#include "topoloom/pattern/rounds.hpp"

using namespace topoloom;

TEST_CASE("a phase is not split if all pairs send the same number of messages") {
    CHECK(split_into_rounds(ring(8, Bytes{100})).empty());
    CHECK(split_into_rounds(CommGraph()).empty());
}

TEST_CASE("rounds contain all messages and bytes of a phase, and each pair is in all rounds up to its last") {
    Rng rng(1);
    for (int i = 0; i < 20; ++i) {
        const CommGraph phase = random_pattern(9, 40, rng);
        const std::vector<CommGraph> rounds = split_into_rounds(phase);
        for (const Rank u : ids<Rank>(phase.rank_count())) {
            for (const Edge edge : phase.sends(u)) {
                std::int64_t bytes = 0;
                std::int64_t messages = 0;
                bool is_over = false;
                for (const CommGraph& graph : rounds) {
                    const auto found = std::ranges::find(graph.peers(u), edge.peer);
                    const bool is_there = found != graph.peers(u).end();
                    CHECK_FALSE((is_over && is_there));
                    is_over = !is_there;
                    if (!is_there) continue;
                    const auto at = static_cast<std::size_t>(found - graph.peers(u).begin());
                    bytes += graph.bytes(u)[at].value;
                    messages += graph.messages(u)[at];
                }
                CHECK(bytes == edge.bytes.value);
                CHECK(messages == edge.messages);
            }
        }
        for (const CommGraph& graph : rounds) {
            std::set<std::int64_t> numbers(graph.all_messages().begin(), graph.all_messages().end());
            numbers.erase(0);
            CHECK(numbers.size() <= 1);
        }
    }
}

TEST_CASE("if there are many different message counts, they are rounded up to sixteen values") {
    constexpr std::size_t ranks = 100;
    std::vector<Rank> sources(ranks);
    std::vector<Rank> peers;
    std::vector<Bytes> bytes(ranks, Bytes{1'000'000'007});
    std::vector<std::int64_t> messages;
    for (std::size_t i = 0; i < ranks; ++i) {
        peers.emplace_back((i + 1) % ranks);
        sources[i] = Rank{i};
        messages.push_back(static_cast<std::int64_t>(i + 1));
    }
    const CommGraph phase = CommGraph::from_edges(ranks, sources, peers, bytes, messages);
    const std::vector<CommGraph> rounds = split_into_rounds(phase);
    CHECK(rounds.size() == 16);
    Bytes all{};
    std::int64_t most = 0;
    for (const CommGraph& graph : rounds) {
        all = Bytes{all.value + graph.total_bytes().value};
        most += *std::ranges::max_element(graph.all_messages());
    }
    CHECK(all == phase.total_bytes());
    CHECK(most == 100);
}
