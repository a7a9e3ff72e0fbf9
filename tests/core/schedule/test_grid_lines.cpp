// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <array>
#include <numeric>

#include "topoloom/schedule/collectives/binomial.hpp"
#include "topoloom/schedule/collectives/chain.hpp"
#include "topoloom/schedule/cost/grid_lines.hpp"
#include "topoloom/schedule/cost/grid_times.hpp"

using namespace topoloom;

namespace {

constexpr std::array rooted_operations{Operation::bcast, Operation::reduce, Operation::scatter,
                                       Operation::gather};

/// Lines along every axis, each with its root at min(root, end of the line).
template <class Line>
GridLines<Line> make_grid_lines(const Extents& extents, Operation operation, std::uint32_t root = 0,
                                std::uint64_t pieces = 1) {
    std::vector<Line> lines;
    for (const std::uint32_t extent : extents)
        lines.emplace_back(
            Collective(operation, extent, Bytes{1000}, Rank{std::min(root, extent - 1)}, pieces));
    return GridLines(std::move(lines));
}

template <class Line>
double sum_send_times(const GridLines<Line>& grid, const GridLinks& links) {
    double time = 0;
    for (std::uint64_t round = 0; round < grid.rounds(); ++round) {
        double most = 0;
        grid.busiest_senders(round, [&](Rank rank) {
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

/// An invalid schedule that sends to the next line.
class StrayMessages : public Binomial {
   public:
    using Binomial::Binomial;
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        Binomial::sends(rank, round, [&](Rank, Bytes bytes) { visit(Rank{5}, bytes); });
    }
};

}  // namespace

TEST_CASE("every line of a grid performs its own collective, and no message leaves its line") {
    for (const Extents& extents : {Extents{7}, {4, 6}, {5, 1, 3}, {2, 3, 4, 3}}) {
        for (const Operation operation : rooted_operations) {
            for (const std::uint32_t root : {0U, 2U}) {
                check_lines(make_grid_lines<Binomial>(extents, operation, root));
                const bool cut = operation == Operation::bcast || operation == Operation::reduce;
                check_lines(make_grid_lines<Chain>(extents, operation, root, cut ? 7 : 1));
            }
        }
    }
    const std::vector<StrayMessages> lines(2, StrayMessages(Collective(Operation::bcast, 4, Bytes{8})));
    CHECK_THROWS_AS(check_lines(GridLines(lines)), Error);
}

TEST_CASE("lines of an axis start after those of the previous axis") {
    const auto grid = make_grid_lines<Binomial>({4, 6}, Operation::bcast);
    CHECK(grid.rounds() == 2 + 3);
    std::vector<std::uint32_t> to;
    const auto note = [&](Rank rank, Bytes) { to.push_back(rank.value); };
    grid.sends(Rank{3}, 0, note);   // goes down its column, two rows further
    grid.sends(Rank{18}, 2, note);  // goes along its row, four columns further
    grid.sends(Rank{19}, 2, note);  // sends nothing: is not the root of a row
    CHECK(to == std::vector{15U, 22U});
}

TEST_CASE("with one rank per node, messages take the time of the grid model") {
    const GridLinks links{.latency_s = 2e-6, .outer_s_per_byte = 1e-9, .reduce_s_per_byte = 3e-10};
    const GridLinks copying{.latency_s = 2e-6, .outer_s_per_byte = 1e-9};
    for (const Extents& extents : {Extents{16}, {4, 6}, {5, 7, 3}}) {
        std::vector<std::uint32_t> nodes(cell_count(extents));
        std::iota(nodes.begin(), nodes.end(), 0);
        const NodeMap map = node_map(extents, nodes);
        for (const std::uint64_t pieces : {1U, 8U, 50U}) {
            const double segment = 1000.0 / static_cast<double>(pieces);
            for (const auto& [operation, with] :
                 {std::pair(Operation::bcast, copying), {Operation::reduce, links}})
                for (const FormulaVariant reading : {FormulaVariant::counted, FormulaVariant::printed})
                    CHECK(sum_send_times(make_grid_lines<Chain>(extents, operation, 0, pieces), with) ==
                          doctest::Approx(pipelined_time(map, with, 1000, segment, reading)));
        }
        for (std::size_t i = 0; i < rooted_operations.size(); ++i) {
            const GridLinks& with = rooted_operations[i] == Operation::reduce ? links : copying;
            CHECK(sum_send_times(make_grid_lines<Binomial>(extents, rooted_operations[i]), with) ==
                  doctest::Approx(binomial_time(map, static_cast<GridCollective>(i), with, 1000)));
        }
    }
}
