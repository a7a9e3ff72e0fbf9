// SPDX-License-Identifier: BSD-3-Clause
// Costs of exchanging the ranks between the two parts of a pair, compared with sums over all edges.
#include <doctest.h>

#include <cstdlib>
#include <vector>

#include "topoloom/base/rng.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/place/multilevel/half_swap_costs.hpp"

using namespace topoloom;

TEST_CASE("for any set of pairs whose parts exchange their ranks, the cost equals the sum over all edges") {
    constexpr std::uint32_t parts = 9;  // pairs of parts: 0-1, 3-4, 5-6, 7-8; part 2 is in no pair
    const std::vector<Part> lefts{Part{0}, Part{3}, Part{5}, Part{7}};
    Rng rng(8);
    for (int round = 0; round < 20; ++round) {
        const CommGraph graph =
            random_geometric(60, Bytes{3}, static_cast<std::uint64_t>(round), 6).symmetric();
        std::vector<Part> part_of(60);
        std::vector<std::vector<Vertex>> ranks(parts);
        for (std::uint32_t u = 0; u < 60; ++u) {
            part_of[u] = Part{rng.below(parts)};
            ranks[part_of[u].value].emplace_back(u);
        }
        std::vector<std::int64_t> at(parts);
        for (std::int64_t& x : at) x = rng.below(50);
        const auto apart = [&](Part p, Part q) { return std::abs(at[p.value] - at[q.value]); };
        const auto ranks_of = [&](Part p) -> const std::vector<Vertex>& { return ranks[p.value]; };
        const auto make_distance_difference = [&](Part left) {
            return [&, left](Part q) { return apart(Part{left.value + 1}, q) - apart(left, q); };
        };

        partition::WeightedGraph choices;
        std::vector<std::int64_t> bias;
        multilevel::HalfSwapCosts(partition::make_weighted_graph(graph, std::vector<std::int64_t>(60, 1)),
                                  part_of, parts, lefts, ranks_of, make_distance_difference)
            .build_choice_graph(choices, bias, 2);
        for (std::uint32_t swapped = 0; swapped < 16; ++swapped) {
            std::vector<Part> lies = id_list<Part>(parts);  // parts of the ranks after the swaps
            std::int64_t twice = 0;
            for (std::uint32_t k = 0; k < lefts.size(); ++k) {
                if ((swapped >> k & 1U) == 0) continue;
                std::swap(lies[lefts[k].value], lies[lefts[k].value + 1]);
                twice += 2 * bias[k];
            }
            for (const Vertex k : ids<Vertex>(lefts.size())) {
                for (std::size_t e = 0; e < choices.peers(k).size(); ++e) {
                    const bool differ =
                        (swapped >> k.value & 1U) != (swapped >> choices.peers(k)[e].value & 1U);
                    twice += differ ? choices.weights(k)[e] : 0;
                }
            }
            std::int64_t change = 0;  // over ordered pairs, so that each edge counts twice
            for (std::uint32_t u = 0; u < 60; ++u) {
                for (const Edge edge : graph.sends(Rank{u})) {
                    const Part p = part_of[u];
                    const Part q = part_of[edge.peer.value];
                    change += edge.bytes.value * (apart(lies[p.value], lies[q.value]) - apart(p, q));
                }
            }
            CHECK(twice == 2 * change);
        }
    }
}
