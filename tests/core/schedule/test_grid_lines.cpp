// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <array>
#include <numeric>

#include "topoloom/metric/grid_times.hpp"
#include "topoloom/schedule/binomial.hpp"
#include "topoloom/schedule/grid_lines.hpp"

using namespace topoloom;

namespace {

constexpr std::array operations{Operation::broadcast, Operation::reduce, Operation::scatter,
                                Operation::gather};

/// The root of a line along an axis is at min(root, its end).
GridLines<Binomial> binomial_lines(const Extents& extents, Operation operation, std::uint32_t root = 0) {
    std::vector<Binomial> lines;
    for (const std::uint32_t extent : extents)
        lines.emplace_back(Collective(operation, extent, Bytes{1000}, Rank{std::min(root, extent - 1)}));
    return GridLines(std::move(lines));
}

double counted_time(const GridLines<Binomial>& grid, const GridLinks& links) {
    double time = 0;
    for (std::uint64_t round = 0; round < grid.rounds(); ++round) {
        double most = 0;
        grid.busiest(round, [&](Rank rank) {
            double now = 0;
            grid.sends(rank, round, [&](Rank, Bytes bytes) {
                now += links.latency_s +
                       static_cast<double>(bytes.value) * (links.outer_s_per_byte + links.reduce_s_per_byte);
            });
            most = std::max(most, now);
        });
        time += most;
    }
    return time;
}

/// Sends to the next line.
class Astray : public Binomial {
   public:
    using Binomial::Binomial;
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        Binomial::sends(rank, round, [&](Rank, Bytes bytes) { visit(Rank{5}, bytes); });
    }
};

}  // namespace

TEST_CASE("every line of a grid does what its own collective promises, and nothing leaves it") {
    for (const Extents& extents : {Extents{7}, {4, 6}, {5, 1, 3}, {2, 3, 4, 3}}) {
        for (const Operation operation : operations) {
            for (const std::uint32_t root : {0U, 2U}) check_lines(binomial_lines(extents, operation, root));
        }
    }
    const std::vector<Astray> lines(2, Astray(Collective(Operation::broadcast, 4, Bytes{8})));
    CHECK_THROWS_AS(check_lines(GridLines(lines)), Error);
}

TEST_CASE("lines of an axis follow each other after those of the axis before") {
    const auto grid = binomial_lines({4, 6}, Operation::broadcast);
    CHECK(grid.rounds() == 2 + 3);
    std::vector<std::uint32_t> to;
    const auto note = [&](Rank rank, Bytes) { to.push_back(rank.value); };
    grid.sends(Rank{3}, 0, note);   // down its column, two rows on
    grid.sends(Rank{18}, 2, note);  // along its row, four columns on
    grid.sends(Rank{19}, 2, note);  // is no root of a row
    CHECK(to == std::vector{15U, 22U});
}

TEST_CASE("one rank a node: the counted messages take what the model of the grid says") {
    const GridLinks links{.latency_s = 2e-6, .outer_s_per_byte = 1e-9, .reduce_s_per_byte = 3e-10};
    const GridLinks copying{.latency_s = 2e-6, .outer_s_per_byte = 1e-9};
    for (const Extents& extents : {Extents{16}, {4, 6}, {5, 7, 3}}) {
        std::vector<std::uint32_t> nodes(cell_count(extents));
        std::iota(nodes.begin(), nodes.end(), 0);
        const NodeMap map = node_map(extents, nodes);
        for (std::size_t i = 0; i < operations.size(); ++i) {
            const GridLinks& with = operations[i] == Operation::reduce ? links : copying;
            CHECK(counted_time(binomial_lines(extents, operations[i]), with) ==
                  doctest::Approx(binomial_time(map, static_cast<GridCollective>(i), with, 1000)));
        }
    }
}
