// SPDX-License-Identifier: BSD-3-Clause
// Ranks as the corners of a hypercube, and what becomes of those beyond the largest that there is.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "topoloom/base/id.hpp"

namespace topoloom {

/// Corners are the ranks below the largest power of two. Rank corners + i is extra: corner i stands for it too. Where there
/// are extra ranks, a round before the exchanges hands their part to the corners, and one after them brings it back.
class Cube {
   public:
    enum class Stage { hand_in, exchange, hand_back };

    explicit Cube(std::size_t ranks) : corners_(std::bit_floor(ranks)), extra_(ranks - corners_) {}

    [[nodiscard]] std::size_t corners() const { return corners_; }
    [[nodiscard]] std::uint64_t dimensions() const {
        return static_cast<std::uint64_t>(std::bit_width(corners_) - 1);
    }
    /// With so many rounds of exchanges.
    [[nodiscard]] std::uint64_t rounds(std::uint64_t exchanges) const {
        return exchanges + (extra_ > 0 ? 2 : 0);
    }
    [[nodiscard]] Stage stage(std::uint64_t round, std::uint64_t exchanges) const {
        if (extra_ > 0 && round == 0) return Stage::hand_in;
        return exchange(round) < exchanges ? Stage::exchange : Stage::hand_back;
    }
    /// The number of a round of exchanges among these.
    [[nodiscard]] std::uint64_t exchange(std::uint64_t round) const { return round - (extra_ > 0 ? 1 : 0); }

    /// To whom a rank sends in a round of that kind, or, not sending, from whom it receives; nobody where it does not.
    /// Corners that exchange are `distance` apart.
    [[nodiscard]] std::optional<Rank> peer(Rank rank, Stage stage, std::size_t distance, bool sending) const {
        const bool is_extra = rank.value >= corners_;
        if (stage == Stage::exchange) {
            if (is_extra) return std::nullopt;
            return Rank{rank.value ^ distance};
        }
        const bool from_extra = stage == Stage::hand_in;
        if (is_extra != (sending == from_extra) || (!is_extra && rank.value >= extra_)) return std::nullopt;
        return Rank{is_extra ? rank.value - corners_ : rank.value + corners_};
    }
    /// Extra ranks for which the corners [begin, begin + count) stand.
    [[nodiscard]] std::size_t extra_of(std::size_t begin, std::size_t count) const {
        return std::min(std::max(extra_, begin) - begin, count);
    }

   private:
    std::size_t corners_;
    std::size_t extra_;
};

}  // namespace topoloom
