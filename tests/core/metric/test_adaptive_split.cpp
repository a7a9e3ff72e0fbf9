// SPDX-License-Identifier: BSD-3-Clause
// The adaptive split is optimal: by hand, by search, and by the closed form on dragonflies.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "machine/machine_texts.hpp"
#include "metric/random_problem.hpp"
#include "pattern/collectives.hpp"
#include "topoloom/metric/adaptive_split.hpp"
#include "topoloom/metric/judge.hpp"

using namespace topoloom;

namespace {

double find_best_split(const std::vector<double>& minimal, const std::vector<double>& detours) {
    const std::array runs{LinkRun{Link{0}, minimal.size(), BytesPerSecond{1}}};
    return best_minimal_share(minimal, detours, runs);
}

/// In 9 groups of 8 nodes, every node sends 630 bytes to the corresponding node of the next group. This is
/// the worst case for minimal routing.
CommGraph make_next_group_pattern() {
    std::vector<Rank> from;
    std::vector<Rank> to;
    for (std::uint32_t i = 0; i < 72; ++i) {
        from.emplace_back(i);
        to.emplace_back((i + 8) % 72);
    }
    return CommGraph::from_edges(72, from, to, std::vector<Bytes>(72, Bytes{630}));
}

Judgement judge_routing(const std::string& routing, const CommGraph& graph) {
    const Machine machine = make_machine("dragonfly:9x4,nodes=2,arrangement=palmtree,routing=" + routing);
    const ids<Slot> slots(graph.rank_count());
    return judge(graph, machine, Placement(Allocation::whole(machine), {slots.begin(), slots.end()}));
}

}  // namespace

TEST_CASE("the split balances the load of a busy minimal route and its detours") {
    CHECK(find_best_split({10, 0}, {0, 5}) == doctest::Approx(1.0 / 3));     // 10 f = 5 (1 - f)
    CHECK(find_best_split({10, 4}, {0, 10}) == doctest::Approx(10.0 / 16));  // 10 f = 10 - 6 f
    CHECK(find_best_split({10, 20, 0, 1}, {2, 10, 0, 4}) == 0);
    CHECK(find_best_split({10, 3}, {12, 30}) == 1);
    CHECK(find_best_split({0, 0}, {0, 0}) == 1);
    CHECK(find_best_split({}, {}) == 1);
}

TEST_CASE("among equally good splits the one with the fewest detours is chosen") {
    CHECK(find_best_split({10}, {10}) == 1);
    CHECK(find_best_split({10, 5}, {10, 20}) == 1);                         // from 2/3 on
    CHECK(find_best_split({10, 20}, {10, 5}) == doctest::Approx(1.0 / 3));  // up to 1/3
}

TEST_CASE("the split balances times if links have different bandwidths") {
    const std::vector<double> minimal{10, 0};
    const std::vector<double> detours{0, 5};
    const std::array runs{LinkRun{Link{0}, 1, BytesPerSecond{10}}, LinkRun{Link{1}, 1, BytesPerSecond{1}}};
    CHECK(best_minimal_share(minimal, detours, runs) == doctest::Approx(5.0 / 6));  // f = 5 (1 - f)
}

TEST_CASE("no other split lowers the load of the busiest link") {
    Rng rng(41);
    for (int round = 0; round < 200; ++round) {
        std::vector<double> minimal;
        std::vector<double> detours;
        for (std::uint32_t i = 0; i < 1 + rng.below(40); ++i) {
            minimal.push_back(rng.below(1000));
            detours.push_back(rng.below(1000));
        }
        const auto congestion = [&](double share) {
            double most = 0;
            for (std::size_t i = 0; i < minimal.size(); ++i) {
                most = std::max(most, share * minimal[i] + (1 - share) * detours[i]);
            }
            return most;
        };
        const double share = find_best_split(minimal, detours);
        REQUIRE(share >= 0);
        REQUIRE(share <= 1);
        const double least = congestion(share);
        for (int i = 0; i <= 1000; ++i) {
            if (congestion(i / 1000.0) < least - 1e-9) FAIL_CHECK("better: ", i / 1000.0, " than ", share);
        }
        if (share < 1) CHECK(congestion(std::min(1.0, share + 1e-3)) > least);
    }
}

TEST_CASE("traffic to the next group is split as in the closed form") {
    const CommGraph graph = make_next_group_pattern();
    // On minimal routes, the messages of all 8 nodes use one global link. On Valiant routes, a seventh of
    // them uses each link, from two groups. If a fraction f is minimal, loads are balanced at 8 f = 16 (1 -
    // f) / 7.
    CHECK(judge_routing("minimal", graph).congestion_max == 8 * 630);
    CHECK(judge_routing("valiant", graph).congestion_max == doctest::Approx(16.0 / 7 * 630));
    const Judgement ugal = judge_routing("ugal", graph);
    CHECK(*ugal.minimal_share == doctest::Approx(2.0 / 9));
    CHECK(ugal.congestion_max == doctest::Approx(16.0 / 9 * 630));
    CHECK_FALSE(judge_routing("minimal", graph).minimal_share.has_value());
}

TEST_CASE("uniform traffic takes only minimal routes") {
    const Judgement ugal = judge_routing("ugal", alltoall(72, Bytes{10}));
    CHECK(*ugal.minimal_share == 1);
    CHECK(ugal.congestion_max == judge_routing("minimal", alltoall(72, Bytes{10})).congestion_max);
}

TEST_CASE("adaptive routing never has more congestion than minimal or Valiant routing") {
    Rng rng(42);
    for (const std::string shape : {"5x4,global=2", "6x2x3", "9x4,nodes=2", "2x4"}) {
        CAPTURE(shape);
        for (int round = 0; round < 5; ++round) {
            const auto congestion = [&, seed = rng.next()](const std::string& routing) {
                const Machine machine = make_machine("dragonfly:" + shape + ",routing=" + routing);
                Rng same(seed);
                const CommGraph graph = random_pattern(machine.slot_count(), 60, same);
                return judge(graph, machine,
                             random_placement(Allocation::whole(machine), graph.rank_count(), same))
                    .congestion_max;
            };
            const double ugal = congestion("ugal");
            CHECK(ugal <= congestion("minimal") * (1 + 1e-9));
            CHECK(ugal <= congestion("valiant") * (1 + 1e-9));
        }
    }
}
