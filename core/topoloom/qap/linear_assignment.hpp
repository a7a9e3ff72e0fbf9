// SPDX-License-Identifier: BSD-3-Clause
// The linear assignment problem: assigns each row a different column at minimum total cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom::qap {

/// Solves dense problems by shortest augmenting paths after augmenting row reduction (Jonker, Volgenant,
/// Computing 38, 1987). Reuses its memory for the next problem. O(rows^2 * columns). Prices prove the value:
/// row_price[i] + column_price[j] <= cost(i, j), column prices are <= 0, prices of unassigned columns are 0,
/// and the sum of all prices is the value. Cost is std::int32_t or std::int64_t.
template <class Cost>
class LinearAssignment {
   public:
    /// Returns the minimum cost. `rows` contains one pointer to `columns` costs per row. Sums of one cost per
    /// row must not overflow. Throws Error if there are more rows than columns.
    Cost solve(std::span<const Cost* const> rows, std::size_t columns);
    /// Returns the minimum cost for a row-major matrix.
    Cost solve(std::span<const Cost> costs, std::size_t columns);

    [[nodiscard]] std::span<const Cost> row_prices() const { return row_price_; }
    [[nodiscard]] std::span<const Cost> column_prices() const { return column_price_; }

   private:
    void reduce_rows();
    void augment(std::uint32_t row);
    void assign(std::uint32_t row, std::uint32_t column) {
        column_of_row_[row] = column;
        row_of_column_[column] = row;
    }
    /// Returns an unassigned column among order_[begin .. end), or no_index.
    [[nodiscard]] std::uint32_t find_unassigned_column(std::uint32_t begin, std::uint32_t end) const {
        for (std::uint32_t k = begin; k < end; ++k)
            if (row_of_column_[order_[k]] == no_index) return order_[k];
        return no_index;
    }
    /// Lowers the prices of the first `count` columns of the search.
    void lower_prices(std::uint32_t count, Cost least) {
        for (std::uint32_t k = 0; k < count; ++k) {
            const std::uint32_t j = order_[k];
            column_price_[j] += distance_[j] - least;
        }
    }
    void flip_path(std::uint32_t row, std::uint32_t end);

    std::span<const Cost* const> rows_;
    std::uint32_t columns_ = 0;
    std::vector<std::uint32_t> column_of_row_, row_of_column_;
    std::vector<Cost> row_price_, column_price_;
    std::vector<std::uint32_t> free_, still_free_;  // rows without a column
    std::vector<Cost> distance_;                    // distances of columns from the start row of the path
    std::vector<std::uint32_t> before_;             // predecessor row of each column
    /// Columns: processed ones, then those at the smallest distance, then others.
    std::vector<std::uint32_t> order_;
    std::vector<const Cost*> row_starts_;
};

extern template class LinearAssignment<std::int32_t>;
extern template class LinearAssignment<std::int64_t>;

}  // namespace topoloom::qap
