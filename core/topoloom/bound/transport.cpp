// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/transport.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/base/id.hpp"

namespace topoloom::bound {

namespace {

constexpr std::int64_t unreached = std::numeric_limits<std::int64_t>::max();

class Transport {
   public:
    Transport(std::span<const std::int64_t> costs, std::span<const std::uint64_t> capacities)
        : columns_(static_cast<std::uint32_t>(capacities.size())),
          rows_(static_cast<std::uint32_t>(costs.size() / capacities.size())),
          costs_(costs),
          left_(capacities.begin(), capacities.end()),
          price_(columns_, 0),
          flow_(costs.size(), 0),
          distance_(columns_),
          row_before_(columns_),
          column_before_(rows_) {}

    void ship(std::uint32_t row, std::uint64_t amount) {
        while (amount > 0) {
            const std::uint32_t end = find_path(row);
            std::uint64_t most = std::min(amount, left_[end]);
            walk_back(row, end, [&](std::uint32_t i, std::uint32_t old) {
                if (old != no_index) most = std::min(most, flow(i, old));
            });
            left_[end] -= most;
            std::uint32_t column = end;
            walk_back(row, end, [&](std::uint32_t i, std::uint32_t old) {
                flow(i, column) += most;
                if (old != no_index) flow(i, old) -= most;
                column = old;
            });
            amount -= most;
        }
    }
    [[nodiscard]] std::int64_t cost() const {
        std::int64_t sum = 0;
        for (std::size_t k = 0; k < flow_.size(); ++k) sum += static_cast<std::int64_t>(flow_[k]) * costs_[k];
        return sum;
    }

   private:
    std::uint64_t& flow(std::uint32_t i, std::uint32_t j) { return flow_[std::size_t{i} * columns_ + j]; }
    [[nodiscard]] std::int64_t reduced_cost(std::uint32_t i, std::uint32_t j) const {
        return costs_[std::size_t{i} * columns_ + j] - price_[j];
    }

    /// Dijkstra's algorithm to the nearest column with remaining capacity; then updates the prices.
    std::uint32_t find_path(std::uint32_t row) {
        std::ranges::fill(distance_, unreached);
        std::ranges::fill(column_before_, no_index);
        std::vector<char> done(columns_, 0);
        std::vector<char> row_done(rows_, 0);
        const auto follow = [&](std::uint32_t i, std::int64_t offset) {
            row_done[i] = 1;
            for (std::uint32_t j = 0; j < columns_; ++j) {
                const std::int64_t there = reduced_cost(i, j) + offset;
                if (!done[j] && there < distance_[j]) {
                    distance_[j] = there;
                    row_before_[j] = i;
                }
            }
        };
        follow(row, 0);
        for (;;) {
            std::uint32_t nearest = no_index;
            for (std::uint32_t j = 0; j < columns_; ++j) {
                if (!done[j] && (nearest == no_index || distance_[j] < distance_[nearest])) nearest = j;
            }
            done[nearest] = 1;
            const std::int64_t least = distance_[nearest];
            if (left_[nearest] > 0) {
                for (std::uint32_t j = 0; j < columns_; ++j) {
                    if (done[j]) price_[j] += distance_[j] - least;
                }
                return nearest;
            }
            for (std::uint32_t i = 0; i < rows_; ++i) {
                if (row_done[i] || flow(i, nearest) == 0) continue;
                column_before_[i] = nearest;
                follow(i, least - reduced_cost(i, nearest));
            }
        }
    }

    /// Calls visit(row, previous column) along a path from its end to its start, where the previous column is
    /// no_index.
    template <class Visit>
    void walk_back(std::uint32_t row, std::uint32_t end, const Visit& visit) {
        for (std::uint32_t j = end;;) {
            const std::uint32_t i = row_before_[j];
            j = i == row ? no_index : column_before_[i];
            visit(i, j);
            if (j == no_index) return;
        }
    }

    std::uint32_t columns_, rows_;
    std::span<const std::int64_t> costs_;
    std::vector<std::uint64_t> left_;
    std::vector<std::int64_t> price_;
    std::vector<std::uint64_t> flow_;
    std::vector<std::int64_t> distance_;
    std::vector<std::uint32_t> row_before_;     // by column
    std::vector<std::uint32_t> column_before_;  // by row
};

}  // namespace

std::int64_t min_transport_cost(std::span<const std::int64_t> costs, std::span<const std::uint64_t> supplies,
                                std::span<const std::uint64_t> capacities) {
    const std::uint64_t supply = std::reduce(supplies.begin(), supplies.end());
    const std::uint64_t capacity = std::reduce(capacities.begin(), capacities.end());
    if (supply > capacity) fail("supplies of ", supply, " do not fit into capacities of ", capacity);
    Transport transport(costs, capacities);
    for (std::uint32_t i = 0; i < supplies.size(); ++i) transport.ship(i, supplies[i]);
    return transport.cost();
}

}  // namespace topoloom::bound
