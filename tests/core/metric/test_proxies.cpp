// SPDX-License-Identifier: BSD-3-Clause
// Messages through proxies: their hop-bytes equal the definition, evaluated slot by slot, also in judge().
#include <doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "metric/random_problem.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/metric/judge.hpp"
#include "topoloom/metric/proxies.hpp"

using namespace topoloom;

namespace {

/// Reference: bytes times distance, with each slot counted once per proxied rank.
std::int64_t reference_hop_bytes(const CommGraph& graph, const Machine& machine, const Placement& placement) {
    std::map<std::tuple<bool, Rank, Slot>, std::int64_t> once;
    std::int64_t sum = 0;
    const auto is_proxied = [&](Rank u) { return std::ranges::binary_search(graph.proxied(), u); };
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        for (const Edge edge : graph.sends(u)) {
            const Slot from = placement[u];
            const Slot to = placement[edge.peer];
            const std::int64_t cost = edge.bytes.value * machine.distance(from, to);
            if (is_proxied(u)) {
                std::int64_t& most = once[{true, u, to}];
                most = std::max(most, cost);
            } else if (is_proxied(edge.peer)) {
                std::int64_t& most = once[{false, edge.peer, from}];
                most = std::max(most, cost);
            } else {
                sum += cost;
            }
        }
    }
    for (const auto& [_, cost] : once) sum += cost;
    return sum;
}

}  // namespace

TEST_CASE(
    "a proxied rank and a slot exchange one message in each direction, for any number of ranks on the slot") {
    Rng rng(7);
    for (const std::string text : {"torus:3x4", "mesh:5+node:2", "tree:3:4,distance=1:10", "hypercube:4"}) {
        CAPTURE(text);
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        for (const std::size_t ranks : {5, 40, 90}) {
            std::vector<Rank> proxied;
            for (const Rank u : ids<Rank>(ranks)) {
                if (rng.below(3) == 0) proxied.push_back(u);
            }
            const CommGraph graph = random_pattern(ranks, 6 * ranks, rng).with_proxies(proxied);
            std::vector<Slot> slots;
            for (std::size_t i = 0; i < ranks; ++i)
                slots.push_back(
                    allocation.slots()[rng.below(static_cast<std::uint32_t>(machine.slot_count()))]);
            const Placement placement(allocation, slots, SlotUse::shared);
            const Judgement judged = judge(graph, machine, placement);
            CHECK(judged.hop_bytes == reference_hop_bytes(graph, machine, placement));
            const CommGraph sent = apply_proxies(graph, slots);
            CHECK(sent.proxied().empty());
            CHECK(judged.hop_bytes == hop_bytes(sent, machine, slots));
            CHECK(judged.hop_bytes <= hop_bytes(graph, machine, slots));
            CHECK(judged.loads == judge(sent, machine, placement).loads);
        }
    }
}

TEST_CASE("with one rank per slot, proxies save no messages") {
    Rng rng(3);
    const Machine machine = make_machine("torus:4x3+node:2");
    const Allocation allocation = Allocation::whole(machine);
    const CommGraph plain = random_pattern(24, 200, rng);
    const CommGraph graph = CommGraph(plain).with_proxies(id_list<Rank>(24));
    const Placement placement = random_placement(allocation, 24, rng);
    CHECK(judge(graph, machine, placement).hop_bytes == judge(plain, machine, placement).hop_bytes);
    CHECK(judge(graph, machine, placement).loads == judge(plain, machine, placement).loads);
}

TEST_CASE("proxied ranks are sorted, and invalid or repeated ranks are refused") {
    Rng rng(1);
    const CommGraph graph = random_pattern(6, 10, rng);
    const CommGraph listed = CommGraph(graph).with_proxies({Rank{4}, Rank{0}});
    CHECK(std::vector<Rank>(listed.proxied().begin(), listed.proxied().end()) ==
          std::vector<Rank>{Rank{0}, Rank{4}});
    CHECK_THROWS_WITH_AS((void)CommGraph(graph).with_proxies({Rank{6}}),
                         "rank 6 cannot be proxied: there are only 6 ranks", Error);
    CHECK_THROWS_WITH_AS((void)CommGraph(graph).with_proxies({Rank{2}, Rank{2}}),
                         "rank 2 is named twice among the proxied ranks", Error);
}
