// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/pattern/generators/triangular_grid.hpp"

using namespace topoloom;

namespace {

using enum TriangularOrder;
constexpr std::array orders{dm, cm, bdm, bcm};
constexpr std::array groups{TriangularGroup::column, TriangularGroup::row,
                            TriangularGroup::orthogonalization};
constexpr std::array backward{TriangularGroup::column_reduction, TriangularGroup::row_reduction,
                              TriangularGroup::gather};

/// The layout as in figure 4: ranks from 1, with rows separated by |.
std::string format_layout(std::uint32_t rows, TriangularOrder order) {
    const auto cells = triangular_grid(rows, order);
    std::string text;
    for (std::uint32_t i = 0; i < rows; ++i) {
        if (i > 0) text += "|";
        for (std::uint32_t j = 0; j < rows; ++j) {
            const auto at = std::ranges::find(cells, TriangularCell{i, j});
            text += (j > 0 ? " " : "") + (at == cells.end() ? "." : std::to_string(at - cells.begin() + 1));
        }
    }
    return text;
}

/// Reference: the ranks of every group, in order.
std::vector<std::vector<std::uint32_t>> list_group_members(std::uint32_t rows, TriangularOrder order,
                                                           TriangularGroup group) {
    const auto cells = triangular_grid(rows, order);
    std::set<std::pair<std::uint32_t, std::uint32_t>> balanced;
    for (const TriangularCell cell : triangular_grid(rows, bdm)) balanced.insert({cell.row, cell.column});
    std::vector<std::vector<std::uint32_t>> found(rows);
    for (std::uint32_t u = 0; u < cells.size(); ++u) {
        const auto [i, j] = cells[u];
        const std::uint32_t shared = balanced.contains({i, j}) ? j : i;
        const std::array<std::uint32_t, 3> of_kind{j, i, shared};
        found[of_kind[static_cast<std::size_t>(group)]].push_back(u);
    }
    return found;
}

using Messages = std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t>;

/// Bytes by pair of sender and receiver, or with `back` by pair of receiver and sender.
Messages sum_messages(const CommGraph& graph, bool back = false) {
    Messages found;
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        for (const Edge edge : graph.sends(u)) {
            const auto pair =
                back ? std::pair{edge.peer.value, u.value} : std::pair{u.value, edge.peer.value};
            found[pair] += edge.bytes.value;
        }
    }
    return found;
}

}  // namespace

TEST_CASE("the four orders of five rows equal those of figure 4") {
    CHECK(format_layout(5, dm) == "1 . . . .|6 2 . . .|10 7 3 . .|13 11 8 4 .|15 14 12 9 5");
    CHECK(format_layout(5, cm) == "1 . . . .|2 6 . . .|3 7 10 . .|4 8 11 13 .|5 9 12 14 15");
    CHECK(format_layout(5, bdm) == "1 . . 14 10|6 2 . . 15|11 7 3 . .|. 12 8 4 .|. . 13 9 5");
    CHECK(format_layout(5, bcm) == "1 . . 12 14|2 4 . . 15|3 5 7 . .|. 6 8 10 .|. . 9 11 13");
}

TEST_CASE("every unordered pair of a row and a column has one rank") {
    for (const TriangularOrder order : orders) {
        for (const std::uint32_t rows : {1U, 3U, 8U, 23U}) {
            if (rows == 8 && (order == bdm || order == bcm)) continue;
            std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
            for (const TriangularCell cell : triangular_grid(rows, order))
                pairs.insert(std::minmax(cell.row, cell.column));
            CHECK(pairs.size() == rows * (rows + 1) / 2);
            CHECK(triangular_grid(rows, order).size() == pairs.size());
        }
    }
}

TEST_CASE("rows and columns of balanced grids, and orthogonalization groups, have equally many ranks") {
    for (const TriangularOrder order : orders) {
        for (const TriangularGroup group : groups) {
            if ((order == dm || order == cm) && group != TriangularGroup::orthogonalization) continue;
            for (const auto& ranks : list_group_members(23, order, group)) CHECK(ranks.size() == 12);
        }
    }
}

TEST_CASE("messages follow a binomial tree in every group, from the rank on the diagonal") {
    for (const TriangularOrder order : orders) {
        for (const TriangularGroup group : groups) {
            const bool scattered = group == TriangularGroup::orthogonalization;
            const auto cells = triangular_grid(9, order);
            const CommGraph graph = triangular_messages(9, order, group, Bytes{1000});
            std::size_t edges = 0;
            for (const auto& ranks : list_group_members(9, order, group)) {
                const auto root = static_cast<std::size_t>(
                    std::ranges::find_if(ranks, [&](auto u) { return cells[u].row == cells[u].column; }) -
                    ranks.begin());
                const std::size_t size = ranks.size();
                const auto rank = [&](std::size_t relative) { return ranks[(root + relative) % size]; };
                std::vector<std::int64_t> below(size, 1);  // number of ranks that a message is for
                for (std::size_t v = size; v-- > 1;) below[v & (v - 1)] += below[v];
                const auto part = static_cast<std::int64_t>((1000 + size - 1) / size);
                for (std::size_t v = 1; v < size; ++v, ++edges) {
                    const Rank parent{rank(v & (v - 1))};
                    const auto peers = graph.peers(parent);
                    const auto at = std::ranges::find(peers, Rank{rank(v)});
                    REQUIRE(at != peers.end());
                    const Bytes sent = graph.bytes(parent)[static_cast<std::size_t>(at - peers.begin())];
                    CHECK(sent.value == (scattered ? part * below[v] : 1000));
                }
            }
            CHECK(graph.edge_count() == edges);
        }
    }
}

TEST_CASE("reductions and gathers send the messages of bcasts and scatters in reverse") {
    for (const TriangularOrder order : orders) {
        for (std::size_t i = 0; i < groups.size(); ++i) {
            const auto there = triangular_messages(9, order, groups[i], Bytes{1000});
            const auto back = triangular_messages(9, order, backward[i], Bytes{1000});
            CHECK(sum_messages(there) == sum_messages(back, true));
        }
    }
}

TEST_CASE("the levels together contain all messages, and no rank receives after it has sent") {
    const auto all = {
        groups[0], groups[1], groups[2], backward[0], backward[1], backward[2], TriangularGroup::allreduce};
    for (const TriangularOrder order : orders) {
        for (const TriangularGroup group : all) {
            const bool up = std::ranges::find(backward, group) != backward.end();
            Messages sum;
            std::set<std::uint32_t> sent, received;
            for (const CommGraph& level : triangular_levels(11, order, group, Bytes{1000})) {
                std::set<std::uint32_t> senders, receivers;
                for (const auto& [pair, bytes] : sum_messages(level)) {
                    sum[pair] += bytes;
                    CHECK(senders.insert(pair.first).second);  // one message at a time
                    CHECK(receivers.insert(pair.second).second);
                }
                if (group == TriangularGroup::allreduce) continue;
                for (const std::uint32_t u : receivers) CHECK(!sent.contains(u));
                for (const std::uint32_t u : senders) CHECK((!up || !sent.contains(u)));
                sent.merge(senders);
            }
            CHECK(sum == sum_messages(triangular_messages(11, order, group, Bytes{1000})));
        }
    }
}

TEST_CASE("after the levels of an allreduce every rank has the sum of all ranks once") {
    for (const TriangularOrder order : orders) {
        for (const std::uint32_t rows : {1U, 3U, 7U}) {
            const std::size_t ranks = triangular_grid(rows, order).size();
            std::vector<std::uint64_t> sum(ranks);
            for (std::size_t u = 0; u < ranks; ++u) sum[u] = std::uint64_t{1} << u;
            const auto levels = triangular_levels(rows, order, TriangularGroup::allreduce, Bytes{8});
            for (std::size_t level = 0; level < levels.size(); ++level) {
                const bool down = level >= levels.size() / 2;
                const std::vector<std::uint64_t> before = sum;
                for (const auto& [pair, bytes] : sum_messages(levels[level])) {
                    CHECK(bytes == 8);
                    if (!down) CHECK((before[pair.second] & before[pair.first]) == 0);
                    sum[pair.second] = down ? before[pair.first] : sum[pair.second] | before[pair.first];
                }
            }
            const std::uint64_t everyone = (std::uint64_t{1} << ranks) - 1;
            CHECK(std::ranges::all_of(sum, [&](std::uint64_t s) { return s == everyone; }));
        }
    }
}

TEST_CASE("an even number of rows has no balanced order, and zero rows have no grid") {
    CHECK_THROWS_WITH_AS(
        (void)triangular_grid(6, bcm),
        "a balanced triangular grid cannot have 6 rows, an even number; the nearest are 5 and 7", Error);
    CHECK_THROWS_WITH_AS((void)triangular_grid(0, dm),
                         "a triangular grid cannot have 0 rows; give 1 to 65535", Error);
    CHECK_THROWS_AS((void)triangular_grid(70'000, cm), Error);
    CHECK_THROWS_AS((void)triangular_messages(5, cm, TriangularGroup::row, Bytes{-1}), Error);
}

TEST_CASE("orders and groups have names") {
    CHECK(parse_triangular_order("bcm") == bcm);
    CHECK(parse_triangular_group("orthogonalization") == TriangularGroup::orthogonalization);
    CHECK_THROWS_WITH_AS((void)parse_triangular_order("bmc"),
                         "no order 'bmc' (did you mean 'dm'?); there are: dm, cm, bdm, bcm", Error);
}

TEST_CASE("hybrid_rows() returns an odd number of rows if ranks have several threads" *
          doctest::test_suite("threads")) {
    CHECK(hybrid_rows(95, 6) == 39);
    CHECK(hybrid_rows(191, 6) == 77);
    CHECK(hybrid_rows(24, 1) == 24);
    CHECK(hybrid_rows(23, 4) == 11);
    CHECK(hybrid_rows(3, 100) == 1);
    CHECK_THROWS_WITH_AS((void)hybrid_rows(5, 0), "a rank cannot have 0 threads; give 1 or more", Error);
}
