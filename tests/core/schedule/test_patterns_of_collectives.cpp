// SPDX-License-Identifier: BSD-3-Clause
// Graphs of collectives equal the sum of their rounds, which are simulated with sets of blocks.
#include <bit>
#include <set>

#include <doctest.h>

#include "topoloom/base/error.hpp"
#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/schedule/collectives/schedule_graph.hpp"

#include "pattern/collectives.hpp"
#include "pattern/dense_matrix.hpp"

using namespace topoloom;

namespace {

constexpr std::int64_t block = 8;
using Blocks = std::set<std::size_t>;

/// An allgather simulated with sets: messages of a round are concurrent and carry named blocks.
class SimulatedAllGather {
   public:
    explicit SimulatedAllGather(std::size_t rank_count)
        : has_(rank_count), matrix_(empty_matrix(rank_count)) {
        for (std::size_t u = 0; u < rank_count; ++u) has_[u] = {u};
    }
    void send(std::size_t u, std::size_t v, const Blocks& blocks) {
        for (const std::size_t b : blocks) {
            CHECK_MESSAGE(has_[u].contains(b), "rank ", u, " sends a block that it does not have");
        }
        if (u != v) add(matrix_, u, v, block * static_cast<std::int64_t>(blocks.size()));
        arriving_.emplace_back(v, blocks);
    }
    void end_round() {
        for (const auto& [v, blocks] : arriving_) has_[v].insert(blocks.begin(), blocks.end());
        arriving_.clear();
    }
    [[nodiscard]] const Blocks& has(std::size_t u) const { return has_[u]; }
    [[nodiscard]] const Dense& matrix() const { return matrix_; }
    void check_complete() const {
        for (const Blocks& blocks : has_) CHECK(blocks.size() == has_.size());
    }

   private:
    std::vector<Blocks> has_;
    Dense matrix_;
    std::vector<std::pair<std::size_t, Blocks>> arriving_;
};

Dense with_unit_bytes(Dense matrix) {
    for (auto& row : matrix) {
        for (Cell& cell : row) cell.bytes = block * cell.messages;
    }
    return matrix;
}

CommGraph unit_allgather(std::size_t n, std::string_view schedule) {
    return pattern(make_schedule({Operation::allgather, n, Bytes{0}}, schedule), Bytes{block});
}

Blocks remove_block(Blocks blocks, std::size_t one) {
    blocks.erase(one);
    return blocks;
}

}  // namespace

TEST_CASE("recursive doubling gives every block to every rank, and the graph has its messages") {
    for (std::size_t n = 1; n <= 40; ++n) {
        CAPTURE(n);
        SimulatedAllGather all(n);
        const std::size_t cube = std::bit_floor(n);
        for (std::size_t u = cube; u < n; ++u) all.send(u, u - cube, all.has(u));
        all.end_round();
        for (std::size_t step = 1; step < cube; step *= 2) {
            for (std::size_t u = 0; u < cube; ++u) all.send(u, u ^ step, all.has(u));
            all.end_round();
        }
        for (std::size_t u = cube; u < n; ++u) all.send(u - cube, u, remove_block(all.has(u - cube), u));
        all.end_round();
        all.check_complete();
        CHECK(to_dense_matrix(recursive_doubling(n, Bytes{block})) == all.matrix());
        CHECK(to_dense_matrix(unit_allgather(n, "recursive-doubling")) == with_unit_bytes(all.matrix()));
    }
}

TEST_CASE("Bruck's allgather gives every block to every rank, and the graph has its messages") {
    for (std::size_t n = 1; n <= 40; ++n) {
        CAPTURE(n);
        SimulatedAllGather all(n);
        for (std::size_t step = 1; step < n; step *= 2) {
            for (std::size_t u = 0; u < n; ++u) {
                // Rank u has blocks u, u + 1, ... The receiver lacks blocks from u on, up to the last missing
                // one.
                Blocks blocks;
                for (std::size_t k = 0; k < std::min(step, n - step); ++k) blocks.insert((u + k) % n);
                all.send(u, (u + n - step) % n, blocks);
            }
            all.end_round();
        }
        all.check_complete();
        CHECK(to_dense_matrix(bruck(n, Bytes{block})) == all.matrix());
        CHECK(to_dense_matrix(unit_allgather(n, "bruck")) == with_unit_bytes(all.matrix()));
    }
}

TEST_CASE("an allgather moves n (n - 1) blocks with any algorithm, for powers of two") {
    for (const std::int64_t n : {2, 4, 8, 64}) {
        CHECK(recursive_doubling(static_cast<std::size_t>(n), Bytes{block}).total_bytes().value ==
              n * (n - 1) * block);
    }
    for (std::int64_t n = 1; n < 40; ++n) {
        CHECK(bruck(static_cast<std::size_t>(n), Bytes{block}).total_bytes().value == n * (n - 1) * block);
    }
}

TEST_CASE("in a binomial tree every rank receives once, from the rank with its lowest bit cleared") {
    for (std::size_t n = 1; n <= 33; ++n) {
        for (std::size_t root = 0; root < n; root += 3) {
            Dense expected = empty_matrix(n);
            for (std::size_t v = 1; v < n; ++v)
                add(expected, ((v & (v - 1)) + root) % n, (v + root) % n, block);
            CHECK(to_dense_matrix(binomial_tree(n, Bytes{block}, Rank{root})) == expected);
        }
    }
}

TEST_CASE("the root of a binomial tree of eight sends to 1, 2 and 4") {
    const auto tree = binomial_tree(8, Bytes{1});
    const auto peers = tree.peers(Rank{0});
    CHECK(std::vector(peers.begin(), peers.end()) == std::vector{Rank{1}, Rank{2}, Rank{4}});
    CHECK(tree.edge_count() == 7);
}

TEST_CASE("alltoall is the full matrix without its diagonal") {
    for (std::size_t n = 1; n < 6; ++n) {
        Dense expected = empty_matrix(n);
        for (std::size_t u = 0; u < n; ++u) {
            for (std::size_t v = 0; v < n; ++v) {
                if (u != v) add(expected, u, v, block);
            }
        }
        CHECK(to_dense_matrix(topoloom::alltoall(n, Bytes{block})) == expected);
    }
}

TEST_CASE("collectives without ranks, with negative bytes, or too large are refused") {
    const std::size_t too_many = std::size_t{1} << 31;
    for (const std::size_t n : {std::size_t{0}, too_many, std::size_t{1} << 60}) {
        CHECK_THROWS_AS((void)recursive_doubling(n, Bytes{1}), Error);
        CHECK_THROWS_AS((void)bruck(n, Bytes{1}), Error);
        CHECK_THROWS_AS((void)binomial_tree(n, Bytes{1}), Error);
        CHECK_THROWS_AS((void)topoloom::alltoall(n, Bytes{1}), Error);
    }
    CHECK_THROWS_AS((void)bruck(1, Bytes{-1}), Error);
    CHECK_THROWS_AS((void)bruck(4, Bytes{std::int64_t{1} << 62}), Error);
    CHECK_THROWS_WITH_AS((void)binomial_tree(4, Bytes{1}, Rank{4}),
                         "bcast: the root 4 is not a rank; ranks are 0 to 3", Error);
    CHECK_THROWS_WITH_AS(
        (void)topoloom::alltoall(46'342, Bytes{1}),
        "alltoall: all of 46342 ranks to all are more than 2^31 messages; use at most 46341 ranks", Error);
}
