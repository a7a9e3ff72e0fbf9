// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/linear_assignment.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/base/id.hpp"

namespace topoloom::qap {

template <class Cost>
Cost LinearAssignment<Cost>::solve(std::span<const Cost> costs, std::size_t columns) {
    row_starts_.clear();
    for (std::size_t at = 0; at < costs.size(); at += columns) row_starts_.push_back(costs.data() + at);
    return solve(row_starts_, columns);
}

template <class Cost>
Cost LinearAssignment<Cost>::solve(std::span<const Cost* const> rows, std::size_t columns) {
    if (rows.size() > columns)
        fail("an assignment of ", rows.size(), " rows needs as many columns, not ", columns);
    rows_ = rows;
    columns_ = static_cast<std::uint32_t>(columns);
    column_of_row_.assign(rows.size(), no_index);
    row_of_column_.assign(columns, no_index);
    column_price_.assign(columns, 0);
    row_price_.resize(rows.size());
    distance_.resize(columns);
    before_.resize(columns);
    order_.resize(columns);
    free_.resize(rows.size());
    std::iota(free_.begin(), free_.end(), 0U);
    // Two passes assign most rows; a third pass rarely pays off.
    if (columns > 1) {
        reduce_rows();
        reduce_rows();
    }
    for (const std::uint32_t row : free_) augment(row);
    Cost value = 0;
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
        const std::uint32_t j = column_of_row_[i];
        row_price_[i] = rows[i][j] - column_price_[j];
        value += rows[i][j];
    }
    return value;
}

/// Each free row takes its cheapest column from the previous owner. It lowers the column's price until the
/// column costs as much as the row's second cheapest column. Only prices of assigned columns fall, and these
/// stay assigned, because prices of unassigned columns must be 0.
template <class Cost>
void LinearAssignment<Cost>::reduce_rows() {
    still_free_.clear();
    std::size_t bids = free_.size();  // limited, since rows could outbid each other many times
    for (std::size_t next = 0; next < free_.size();) {
        const std::uint32_t row = free_[next++];
        const Cost* const cost = rows_[row];
        std::uint32_t first = 0;
        Cost least = cost[0] - column_price_[0];
        Cost other = std::numeric_limits<Cost>::max();
        for (std::uint32_t j = 1; j < columns_; ++j) {
            const Cost reduced = cost[j] - column_price_[j];
            other = std::min(other, std::max(reduced, least));
            first = reduced < least ? j : first;
            least = std::min(least, reduced);
        }
        if (least < other) {
            column_price_[first] -= other - least;
        } else if (row_of_column_[first] != no_index) {
            // Of the equally cheap columns, choose the first free column, or the last column if none is free.
            for (std::uint32_t j = first + 1; j < columns_ && row_of_column_[first] != no_index; ++j)
                first = cost[j] - column_price_[j] == least ? j : first;
        }
        const std::uint32_t loser = row_of_column_[first];
        assign(row, first);
        if (loser == no_index) continue;
        column_of_row_[loser] = no_index;
        if (least < other && bids > 0) {
            --bids;
            free_[--next] = loser;
        } else {
            still_free_.push_back(loser);
        }
    }
    free_.swap(still_free_);
}

template <class Cost>
void LinearAssignment<Cost>::augment(std::uint32_t row) {
    for (std::uint32_t j = 0; j < columns_; ++j) {
        order_[j] = j;
        distance_[j] = rows_[row][j] - column_price_[j];
        before_[j] = row;
    }
    std::uint32_t done = 0;     // order_[0 .. done): processed columns
    std::uint32_t nearest = 0;  // order_[done .. nearest): columns at the smallest distance
    std::uint32_t scanned = 0;  // order_[0 .. scanned): columns below the smallest distance
    Cost least = 0;
    std::uint32_t end = no_index;
    while (end == no_index) {
        if (done == nearest) {
            scanned = done;
            least = distance_[order_[nearest++]];
            for (std::uint32_t k = nearest; k < columns_; ++k) {
                const std::uint32_t j = order_[k];
                if (distance_[j] > least) continue;
                if (distance_[j] < least) {
                    least = distance_[j];
                    nearest = done;
                }
                order_[k] = order_[nearest];
                order_[nearest++] = j;
            }
            end = find_unassigned_column(done, nearest);
            if (end != no_index) break;
        }
        const std::uint32_t through = order_[done++];
        const std::uint32_t i = row_of_column_[through];
        const Cost saved = rows_[i][through] - column_price_[through] - least;
        for (std::uint32_t k = nearest; k < columns_; ++k) {
            const std::uint32_t j = order_[k];
            const Cost there = rows_[i][j] - column_price_[j] - saved;
            if (there >= distance_[j]) continue;
            distance_[j] = there;
            before_[j] = i;
            if (there > least) continue;
            if (row_of_column_[j] == no_index) {
                end = j;
                break;
            }
            order_[k] = order_[nearest];
            order_[nearest++] = j;
        }
    }
    lower_prices(scanned, least);
    flip_path(row, end);
}

template <class Cost>
void LinearAssignment<Cost>::flip_path(std::uint32_t row, std::uint32_t end) {
    for (std::uint32_t j = end;;) {
        const std::uint32_t i = before_[j];
        row_of_column_[j] = i;
        std::swap(j, column_of_row_[i]);
        if (i == row) break;
    }
}

template class LinearAssignment<std::int32_t>;
template class LinearAssignment<std::int64_t>;

}  // namespace topoloom::qap
