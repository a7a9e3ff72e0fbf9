// SPDX-License-Identifier: BSD-3-Clause
// Linear assignment compared with enumeration, and proven optimal by prices.
#include <doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/qap/linear_assignment.hpp"

using namespace topoloom;

namespace {

template <class Cost>
std::vector<Cost> random_costs(std::size_t count, std::uint32_t most, Rng& rng) {
    std::vector<Cost> costs(count);
    for (Cost& cost : costs) cost = static_cast<Cost>(rng.below(most)) - static_cast<Cost>(most / 4);
    return costs;
}

/// Tries every choice of columns for the rows.
template <class Cost>
Cost min_assignment_cost(const std::vector<Cost>& costs, std::size_t rows, std::size_t columns) {
    std::vector<std::size_t> order(columns);
    std::iota(order.begin(), order.end(), std::size_t{0});
    Cost least = std::numeric_limits<Cost>::max();
    do {
        Cost sum = 0;
        for (std::size_t i = 0; i < rows; ++i) sum += costs[i * columns + order[i]];
        least = std::min(least, sum);
    } while (std::ranges::next_permutation(order).found);
    return least;
}

/// Checks by augmenting paths that tight entries match all rows to distinct columns.
template <class IsTight>
void check_rows_can_be_matched(std::size_t rows, std::size_t columns, const IsTight& is_tight) {
    std::vector<std::size_t> row_of_column(columns, rows);
    for (std::size_t row = 0; row < rows; ++row) {
        std::vector<char> seen(columns, 0);
        const auto find_column = [&](const auto& self, std::size_t i) -> bool {
            for (std::size_t j = 0; j < columns; ++j) {
                if (!is_tight(i, j) || std::exchange(seen[j], 1)) continue;
                if (row_of_column[j] < rows && !self(self, row_of_column[j])) continue;
                row_of_column[j] = i;
                return true;
            }
            return false;
        };
        REQUIRE(find_column(find_column, row));
    }
}

template <class Cost>
void check_proof(const qap::LinearAssignment<Cost>& solved, const std::vector<Cost>& costs,
                 std::size_t columns, Cost value) {
    const std::size_t rows = solved.row_prices().size();
    const auto rest = [&](std::size_t i, std::size_t j) {
        return costs[i * columns + j] - solved.row_prices()[i] - solved.column_prices()[j];
    };
    Cost sum = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) REQUIRE(rest(i, j) >= 0);
        sum += solved.row_prices()[i];
    }
    check_rows_can_be_matched(rows, columns, [&](std::size_t i, std::size_t j) { return rest(i, j) == 0; });
    for (std::size_t j = 0; j < columns; ++j) {
        REQUIRE(solved.column_prices()[j] <= 0);
        sum += solved.column_prices()[j];
    }
    CHECK(sum == value);
}

template <class Cost>
void check_random(std::size_t rows, std::size_t columns, std::uint32_t most, std::uint64_t seed) {
    Rng rng(seed);
    qap::LinearAssignment<Cost> assignment;
    const auto costs = random_costs<Cost>(rows * columns, most, rng);
    const Cost value = assignment.solve(costs, columns);
    if (columns <= 7) CHECK(value == min_assignment_cost(costs, rows, columns));
    check_proof(assignment, costs, columns, value);
}

}  // namespace

TEST_CASE("an assignment is optimal, and its prices prove it") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        for (std::size_t columns = 1; columns <= 6; ++columns) {
            const std::size_t rows = 1 + seed % columns;
            check_random<std::int64_t>(rows, columns, seed % 2 == 0 ? 4 : 1000, seed);
            check_random<std::int32_t>(columns, columns, seed % 2 == 0 ? 4 : 1000, seed);
        }
    }
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        check_random<std::int64_t>(60, 60, seed % 2 == 0 ? 8 : 1U << 30, seed);
        check_random<std::int32_t>(30, 70, seed % 2 == 0 ? 8 : 1U << 20, seed);
    }
}

TEST_CASE("rows without an available column are refused") {
    qap::LinearAssignment<std::int64_t> assignment;
    CHECK_THROWS_WITH_AS(assignment.solve(std::vector<std::int64_t>(6), 2),
                         "an assignment of 3 rows needs as many columns, not 2", Error);
    CHECK(assignment.solve(std::vector<std::int64_t>{}, 3) == 0);
}
