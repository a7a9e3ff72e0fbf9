// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/schedule/orders/average_linkage.hpp"
#include "topoloom/schedule/orders/cost_groups.hpp"

using namespace topoloom;

namespace {

using Members = std::vector<std::vector<std::uint32_t>>;

/// A hierarchical machine whose processes are numbered at random.
struct LeveledMachine {
    std::vector<std::size_t> parts;  // numbers of parts: of the machine, of each part, and so on
    std::vector<double> seconds;     // cost between the parts of each level, and within the smallest parts
    std::vector<std::uint32_t> at;   // position of every process

    /// The number of levels on which two processes are in the same part.
    std::size_t count_shared_levels(std::size_t a, std::size_t b) const {
        std::size_t size = at.size();
        for (std::size_t level = 0; level < parts.size(); ++level) {
            size /= parts[level];
            if (at[a] / size != at[b] / size) return level;
        }
        return parts.size();
    }
};

LeveledMachine draw_machine(std::vector<std::size_t> parts, std::size_t leaf, std::vector<double> seconds,
                            Rng& rng) {
    LeveledMachine drawn{std::move(parts), std::move(seconds), {}};
    std::size_t size = leaf;
    for (const std::size_t part : drawn.parts) size *= part;
    drawn.at.resize(size);
    std::iota(drawn.at.begin(), drawn.at.end(), 0U);
    rng.shuffle(std::span(drawn.at));
    return drawn;
}

enum class NoiseKind { even, late };

/// Times with noise of about `spread`. The fraction `outliers` of them is 200 times as long.
CostMatrix draw_costs(const LeveledMachine& drawn, double spread, NoiseKind noise, double outliers,
                      Rng& rng) {
    std::vector<double> seconds;
    for (std::size_t a = 0; a < drawn.at.size(); ++a) {
        for (std::size_t b = 0; b < drawn.at.size(); ++b) {
            const double late = noise == NoiseKind::even ? rng.uniform() : -std::log(1 - rng.uniform());
            const double time = drawn.seconds[drawn.count_shared_levels(a, b)] + spread * late;
            seconds.push_back(a == b ? 0 : time * (rng.uniform() < outliers ? 200 : 1));
        }
    }
    return {drawn.at.size(), seconds};
}

Members members_of(const std::vector<CostGroup>& groups) {
    Members found;
    for (const CostGroup& group : groups) {
        found.emplace_back();
        for (const Rank member : group.members) found.back().push_back(member.value);
    }
    return found;
}

/// Whether the groups equal the parts of the machine from this level down.
bool are_parts(const std::vector<CostGroup>& groups, const LeveledMachine& drawn, std::size_t level) {
    if (level == drawn.parts.size()) return groups.empty();
    if (groups.size() != drawn.parts[level]) return false;
    return std::all_of(groups.begin(), groups.end(), [&](const CostGroup& group) {
        const std::size_t first = group.members[0].value;
        return std::all_of(
                   group.members.begin(), group.members.end(),
                   [&](Rank member) { return drawn.count_shared_levels(first, member.value) > level; }) &&
               are_parts(group.groups, drawn, level + 1);
    });
}

}  // namespace

TEST_CASE("hierarchies of randomly numbered processes are found level by level, despite noise and outliers") {
    Rng rng(5);
    int found = 0, drawn = 0;
    for (const auto& [parts, leaf, seconds] :
         std::vector<std::tuple<std::vector<std::size_t>, std::size_t, std::vector<double>>>{
             {{2}, 4, {11, 10}},
             {{3}, 4, {11, 10}},
             {{2, 4}, 4, {12, 11, 10}},
             {{2, 4}, 2, {20, 15, 10}},
             {{4, 2}, 4, {21, 20, 10}},
             {{2, 8}, 4, {10, 3, 1}},
             {{2, 2, 2}, 4, {40, 30, 20, 10}},
         }) {
        for (const NoiseKind noise : {NoiseKind::even, NoiseKind::late}) {
            for (const double outliers : {0.0, 0.02, 0.05}) {
                for (int i = 0; i < 5; ++i) {
                    const LeveledMachine machine = draw_machine(parts, leaf, seconds, rng);
                    const CostMatrix costs = draw_costs(
                        machine, 0.1 * (seconds[parts.size() - 1] - seconds.back()), noise, outliers, rng);
                    found += are_parts(find_cost_groups(costs).groups, machine, 0);
                    ++drawn;
                }
            }
        }
    }
    CHECK(found >= drawn * 97 / 100);
}

TEST_CASE("processes with equal costs are split with probability at most p") {
    Rng rng(7);
    for (const double p : {0.01, 0.2}) {
        for (const NoiseKind noise : {NoiseKind::even, NoiseKind::late}) {
            for (const double outliers : {0.0, 0.03}) {
                int split = 0;
                constexpr int draws = 400;
                for (int i = 0; i < draws; ++i) {
                    const LeveledMachine alike =
                        draw_machine({}, 4 + static_cast<std::size_t>(i) % 9, {30}, rng);
                    split += find_cost_groups(draw_costs(alike, 1, noise, outliers, rng), p).count > 1;
                }
                CHECK(split <= draws * p);
            }
        }
    }
}

TEST_CASE("within groups, processes with equal costs are split with probability at most p") {
    Rng rng(8);
    int split = 0;
    constexpr int draws = 100;
    for (int i = 0; i < draws; ++i) {
        const LeveledMachine machine = draw_machine({4}, 5, {50, 30}, rng);
        const CostGroups found = find_cost_groups(draw_costs(machine, 1, NoiseKind::late, 0, rng), 0.1);
        CHECK(found.count == 4);
        split += std::any_of(found.groups.begin(), found.groups.end(),
                             [](const CostGroup& group) { return !group.groups.empty(); });
    }
    CHECK(split <= 10);
}

TEST_CASE("if costs have no variance, any difference beyond rounding splits processes") {
    Rng rng(9);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const LeveledMachine machine = draw_machine({2, 3}, 2, {3, 2, 1}, rng);
        CHECK(
            are_parts(find_cost_groups(draw_costs(machine, 0, NoiseKind::even, 0, rng)).groups, machine, 0));
        CHECK(find_cost_groups(draw_costs(machine, 1e-14, NoiseKind::even, 0, rng)).count == 2);
        const LeveledMachine alike = draw_machine({}, 12, {3}, rng);
        CHECK(find_cost_groups(draw_costs(alike, 1e-15, NoiseKind::even, 0, rng)).count == 1);
        CHECK(find_cost_groups(draw_costs(alike, 0, NoiseKind::even, 0, rng)).count == 1);
    }
    CHECK(find_cost_groups(CostMatrix(6, std::vector<double>(36, 0))).count == 1);
}

TEST_CASE("three processes form one group") {
    for (std::size_t size = 1; size < 4; ++size) {
        std::vector<double> seconds(size * size, 1);
        seconds.back() = 9;
        CHECK(find_cost_groups(CostMatrix(size, seconds)).groups.empty());
    }
}

TEST_CASE("statistics of groups equal their definition for one-way messages") {
    Rng rng(10);
    const LeveledMachine machine = draw_machine({2, 2}, 4, {30, 20, 10}, rng);
    const CostMatrix costs = draw_costs(machine, 1, NoiseKind::even, 0, rng);
    const CostGroups found = find_cost_groups(costs);
    REQUIRE(are_parts(found.groups, machine, 0));
    const auto mean = [&](const CostGroup& to, const CostGroup& from) {
        double sum = 0, count = 0;
        for (const Rank a : from.members) {
            for (const Rank b : to.members) {
                sum += a == b ? 0 : costs(a, b);
                count += a != b;
            }
        }
        return sum / count;
    };
    CHECK(found.chance < 1e-10);
    for (std::size_t i = 0; i < 2; ++i) {
        const CostGroup& socket = found.groups[i];
        CHECK(socket.inside.count == 8 * 7);
        CHECK(socket.into.count == 8 * 8);
        CHECK(socket.inside.mean == doctest::Approx(mean(socket, socket)));
        CHECK(socket.into.mean == doctest::Approx(mean(socket, found.groups[1 - i])));
        CHECK(socket.groups[0].into.mean == doctest::Approx(mean(socket.groups[0], socket.groups[1])));
        CHECK(socket.groups[0].into.count == 16);
        CHECK(socket.test.t > 5);
        CHECK(socket.chance < 0.01);
        CHECK(socket.groups[0].chance == 1);
        for (const Rank member : socket.members) CHECK(found.of[member.value] == i);
    }
    CHECK(found.of[0] == 0);
}

TEST_CASE("one outlier of 200 times the cost changes neither groups nor means") {
    Rng rng(11);
    const LeveledMachine machine = draw_machine({2}, 4, {32, 30}, rng);
    const CostMatrix clean = draw_costs(machine, 0.5, NoiseKind::even, 0, rng);
    const Members expected = members_of(find_cost_groups(clean).groups);
    for (std::size_t a = 0; a < 8; ++a) {
        for (std::size_t b = 0; b < 8; ++b) {
            if (a == b) continue;
            std::vector<double> seconds;
            for (const Rank from : ids<Rank>(8)) {
                for (const Rank to : ids<Rank>(8))
                    seconds.push_back(clean(from, to) * (from.value == a && to.value == b ? 200 : 1));
            }
            const CostGroups found = find_cost_groups(CostMatrix(8, seconds));
            REQUIRE(members_of(found.groups) == expected);
            for (const CostGroup& group : found.groups) {
                CHECK(group.inside.mean == doctest::Approx(30.25).epsilon(0.01));
                CHECK(group.into.mean == doctest::Approx(32.25).epsilon(0.01));
            }
        }
    }
}

TEST_CASE("the true costs of groups are found, despite noise and outliers") {
    Rng rng(14);
    for (int repetition = 0; repetition < 20; ++repetition) {
        const LeveledMachine machine = draw_machine({2, 3}, 4, {40, 20, 10}, rng);
        const CostMatrix clean = draw_costs(machine, 0, NoiseKind::even, 0, rng);
        const CostGroups groups = find_cost_groups(clean);
        const CostMatrix exact = group_costs(clean, groups);
        const CostMatrix found = group_costs(draw_costs(machine, 1, NoiseKind::even, 0.02, rng), groups);
        for (const Rank from : ids<Rank>(clean.size())) {
            for (const Rank to : ids<Rank>(clean.size())) {
                if (from == to) continue;
                CHECK(exact(from, to) == doctest::Approx(clean(from, to)));
                CHECK(found(from, to) == doctest::Approx(clean(from, to) + 0.5).epsilon(0.05));
            }
        }
    }
}

TEST_CASE("without groups all messages cost the same") {
    Rng rng(15);
    const LeveledMachine alike = draw_machine({}, 12, {30}, rng);
    const CostMatrix costs = draw_costs(alike, 3, NoiseKind::late, 0, rng);
    const CostMatrix found = group_costs(costs, find_cost_groups(costs));
    for (const Rank from : ids<Rank>(12)) {
        for (const Rank to : ids<Rank>(12))
            CHECK(found(from, to) == (from == to ? 0 : found(Rank{0}, Rank{1})));
    }
    CHECK_THROWS_AS((void)group_costs(costs, find_cost_groups(CostMatrix(1, {0}))), Error);
    CHECK_THROWS_AS((void)group_costs(costs, find_cost_groups(costs), 0), Error);
}

TEST_CASE("of the two messages between a pair of processes, the faster one counts") {
    std::vector<double> seconds(16, 9);
    for (const std::size_t at : {1U, 4U, 11U, 14U}) seconds[at] = 3;
    const CostGroups groups = find_cost_groups(CostMatrix(4, seconds));
    REQUIRE(groups.count == 2);
    seconds[1] = 800;
    const CostMatrix found = group_costs(CostMatrix(4, seconds), groups);
    for (const std::size_t other : {1U, 2U, 3U})
        CHECK(found(Rank{0}, Rank{other}) == doctest::Approx(other == 1 ? 3 : 9));
}

TEST_CASE("very small or large costs do not cause a further split") {
    Rng rng(13);
    const LeveledMachine machine = draw_machine({2}, 4, {32, 30}, rng);
    const CostMatrix costs = draw_costs(machine, 0.5, NoiseKind::even, 0, rng);
    for (const double factor : {1e-300, 1e7}) {
        std::vector<double> seconds;
        for (const Rank from : ids<Rank>(8)) {
            for (const Rank to : ids<Rank>(8)) seconds.push_back(factor * costs(from, to));
        }
        CHECK(find_cost_groups(CostMatrix(8, seconds)).count <= 2);
    }
}

TEST_CASE("p must be a probability") {
    for (const double p : {0.0, 1.0, -0.1, std::nan("")})
        CHECK_THROWS_AS((void)find_cost_groups(CostMatrix(1, {0}), p), Error);
}

TEST_CASE("average linkage equals its definition") {
    Rng rng(12);
    for (std::size_t size = 2; size <= 12; ++size) {
        MeanDistances distances(size);
        std::vector<double> between(size * size);
        for (std::size_t a = 0; a < size; ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                between[a * size + b] = between[b * size + a] = rng.uniform();
                distances.add(a, b, between[a * size + b]);
            }
        }
        std::vector<std::vector<std::size_t>> groups;
        for (std::size_t a = 0; a < size; ++a) groups.push_back({a});
        const auto merges = average_linkage(distances);
        for (const ClusterMerge& joint : merges) {
            double least = 2;
            std::pair<std::size_t, std::size_t> best;
            for (std::size_t a = 0; a < groups.size(); ++a) {
                for (std::size_t b = 0; b < a; ++b) {
                    double sum = 0;
                    for (const std::size_t i : groups[a]) {
                        for (const std::size_t j : groups[b]) sum += between[i * size + j];
                    }
                    const double mean = sum / static_cast<double>(groups[a].size() * groups[b].size());
                    if (mean < least) {
                        least = mean;
                        best = {a, b};
                    }
                }
            }
            CHECK(joint.mean() == doctest::Approx(least));
            auto& [a, b] = best;
            groups[b].insert(groups[b].end(), groups[a].begin(), groups[a].end());
            groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(a));
        }
        const auto two = find_clusters(merges, size - 2);
        CHECK(*std::max_element(two.begin(), two.end()) == 1);
        CHECK(two[0] == 0);
    }
}
