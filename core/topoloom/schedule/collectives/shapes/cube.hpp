// SPDX-License-Identifier: BSD-3-Clause
// Maps ranks to the corners of a hypercube. If the number of ranks is not a power of two, some ranks are
// extra.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "topoloom/base/id.hpp"
#include "topoloom/schedule/collectives/shapes/radix.hpp"

namespace topoloom {

/// Which ranks are extra if the number of ranks is not a power of two: the last ranks, or, as in MPICH, the
/// even or odd ones among the first ranks.
enum class ExtraRanks : std::uint8_t { last, even, odd };

/// The number of corners is the largest power of two that does not exceed the number of ranks; with radix k,
/// the largest m k^e with m < k, so that the highest digit has m values. Corners are numbered in rank order.
/// There are fewer extra ranks than corners. Corner i also represents extra rank i: rank corners + i for
/// ExtraRanks::last, otherwise the other rank of the pair 2i, 2i + 1. If there are extra ranks, one round before
/// the exchanges sends their data to the corners, and one round after the exchanges returns the result.
class Cube {
   public:
    enum class Stage { hand_in, exchange, hand_back };

    explicit Cube(std::size_t ranks, ExtraRanks fold = ExtraRanks::last, std::uint32_t radix = 2)
        : corners_(corners(ranks, radix)), extra_(ranks - corners_), fold_(fold), digits_(corners_, radix) {}

    [[nodiscard]] std::size_t corners() const { return corners_; }
    [[nodiscard]] std::size_t extra() const { return extra_; }
    [[nodiscard]] std::uint64_t dimensions() const { return digits_.digits(); }
    /// Distance between neighbors in a dimension.
    [[nodiscard]] std::size_t distance(std::uint64_t dimension) const { return digits_.weight(dimension); }
    /// Number of rounds if there are this many exchanges.
    [[nodiscard]] std::uint64_t rounds(std::uint64_t exchanges) const {
        return exchanges + (extra_ > 0 ? 2 : 0);
    }
    [[nodiscard]] Stage stage(std::uint64_t round, std::uint64_t exchanges) const {
        if (extra_ > 0 && round == 0) return Stage::hand_in;
        return exchange(round) < exchanges ? Stage::exchange : Stage::hand_back;
    }
    /// The number of the exchange that a round performs.
    [[nodiscard]] std::uint64_t exchange(std::uint64_t round) const { return round - (extra_ > 0 ? 1 : 0); }

    /// The rank at a corner.
    [[nodiscard]] Rank rank(std::size_t corner) const {
        if (fold_ == ExtraRanks::last) return Rank{corner};
        return Rank{corner < extra_ ? 2 * corner + (fold_ == ExtraRanks::even ? 1 : 0) : corner + extra_};
    }
    /// The extra rank that a corner represents, if corner < extra().
    [[nodiscard]] Rank extra_rank(std::size_t corner) const {
        if (fold_ == ExtraRanks::last) return Rank{corners_ + corner};
        return Rank{2 * corner + (fold_ == ExtraRanks::even ? 0 : 1)};
    }
    [[nodiscard]] bool is_extra(Rank rank) const {
        if (fold_ == ExtraRanks::last) return rank.value >= corners_;
        return rank.value < 2 * extra_ && rank.value % 2 == (fold_ == ExtraRanks::even ? 0 : 1);
    }
    /// The corner of a rank, or of the rank that represents it.
    [[nodiscard]] std::size_t corner(Rank rank) const {
        if (fold_ == ExtraRanks::last) return rank.value < corners_ ? rank.value : rank.value - corners_;
        return rank.value < 2 * extra_ ? rank.value / 2 : rank.value - extra_;
    }

    /// The peer to which a rank sends in a round of this stage or, if not `sending`, from which it receives;
    /// nullopt if there is none. Corners at `distance` exchange.
    [[nodiscard]] std::optional<Rank> peer(Rank rank, Stage stage, std::size_t distance, bool sending) const {
        const bool extra = is_extra(rank);
        const std::size_t at = corner(rank);
        if (stage == Stage::exchange) {
            if (extra) return std::nullopt;
            return this->rank(at ^ distance);
        }
        const bool from_extra = stage == Stage::hand_in;
        if (extra != (sending == from_extra) || at >= extra_) return std::nullopt;
        return extra ? this->rank(at) : extra_rank(at);
    }
    /// Calls visit(rank) for the ranks at corners that differ from `corner` only in the digit of `dimension`.
    template <class Visit>
    void each_neighbor(std::size_t corner, std::uint64_t dimension, const Visit& visit) const {
        const std::size_t step = distance(dimension), value = digits_.value(corner, dimension);
        const std::size_t first = corner - value * step, values = std::min(digits_.radix(), corners_ / step);
        for (std::size_t other = 0; other < values; ++other)
            if (other != value) visit(rank(first + other * step));
    }
    /// Calls visit(first, count) for the ranks at corners [begin, begin + count) and the extra ranks that
    /// they represent, in one or two ranges.
    template <class Visit>
    void each_range(std::size_t begin, std::size_t count, const Visit& visit) const {
        const std::size_t extras_before = std::min(begin, extra_);
        const std::size_t extras = std::min(begin + count, extra_) - extras_before;
        if (fold_ != ExtraRanks::last) return visit(begin + extras_before, count + extras);
        visit(begin, count);
        if (extras > 0) visit(corners_ + begin, extras);
    }

   private:
    [[nodiscard]] static std::size_t corners(std::size_t ranks, std::size_t radix) {
        std::size_t power = 1;
        while (power <= ranks / radix) power *= radix;
        return ranks / power * power;
    }

    std::size_t corners_;
    std::size_t extra_;
    ExtraRanks fold_;
    RadixDigits digits_;
};

}  // namespace topoloom
