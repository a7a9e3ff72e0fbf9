// SPDX-License-Identifier: BSD-3-Clause
// Recursive halving on a hypercube: which half of the pieces each corner keeps in each exchange.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace topoloom {

/// Whether the farthest corners exchange first or, as in MPICH's reductions, the nearest.
enum class HalvingOrder : std::uint8_t { far, near };

/// One piece per corner. In each exchange partners divide their common pieces: the corner with the distance
/// bit set keeps the upper half. After the last exchange every corner has one piece; with `far`, piece i ends
/// on corner i.
class Halves {
   public:
    Halves(std::size_t corners, HalvingOrder order) : corners_(corners), order_(order) {}

    [[nodiscard]] std::uint64_t exchanges() const {
        return static_cast<std::uint64_t>(std::bit_width(corners_) - 1);
    }
    [[nodiscard]] std::size_t distance(std::uint64_t exchange) const {
        return order_ == HalvingOrder::far ? length(exchange) : std::size_t{1} << exchange;
    }
    /// Pieces that a corner keeps in the exchange: [first, first + length).
    [[nodiscard]] std::size_t length(std::uint64_t exchange) const { return corners_ >> (exchange + 1); }
    [[nodiscard]] std::size_t first(std::size_t corner, std::uint64_t exchange) const {
        if (order_ == HalvingOrder::far) return corner & ~(length(exchange) - 1);
        std::size_t piece = 0;
        for (std::uint64_t e = 0; e <= exchange; ++e) piece += (corner >> e & 1) * length(e);
        return piece;
    }
    /// Bitwise OR of the distances of all later exchanges.
    [[nodiscard]] std::size_t later_distances(std::uint64_t exchange) const {
        return order_ == HalvingOrder::far ? length(exchange) - 1
                                           : (corners_ - 1) & ~((std::size_t{2} << exchange) - 1);
    }

   private:
    std::size_t corners_;
    HalvingOrder order_;
};

}  // namespace topoloom
