// SPDX-License-Identifier: BSD-3-Clause
// All-gather and all-to-all after Bruck: ceil(log2 ranks) rounds for any number of ranks.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// With s = 1, 2, 4, ... < ranks. All-gather: rank r sends the first s of its blocks r, r + 1, ..., or as many as are left,
/// to r - s. All-to-all: a block from o to t is to go t - o ranks around; rank r sends those where s is in the binary
/// form of that number to r + s. Source: J. Bruck et al., Efficient Algorithms for All-to-All Communications in
/// Multiport Message-Passing Systems, IEEE TPDS 8(11), 1997.
class Bruck {
   public:
    explicit Bruck(Collective collective) : collective_(std::move(collective)) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const {
        return static_cast<std::uint64_t>(std::bit_width(collective_.ranks() - 1));
    }
    [[nodiscard]] Transfer transfer(std::uint64_t) const {
        return gathers() ? Transfer::copy : Transfer::move;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        visit(collective_.shifted(rank, gathers() ? back(round) : step(round)), bytes(rank, round));
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        const Rank from = collective_.shifted(rank, gathers() ? step(round) : back(round));
        visit(from, bytes(from, round));
    }
    template <class Visit>
    void blocks(Rank from, Rank, std::uint64_t round, const Visit& visit) const {
        const std::size_t ranks = collective_.ranks();
        const std::size_t s = step(round);
        if (gathers()) {
            for (std::size_t i = 0; i < count(round); ++i)
                visit(std::uint64_t{collective_.shifted(from, i).value});
            return;
        }
        for (std::size_t way = s; way < ranks; way = (way + 1) | s) {
            const Rank origin = collective_.shifted(from, ranks - (way & (s - 1)));
            visit(std::uint64_t{origin.value} * ranks + collective_.shifted(origin, way).value);
        }
    }
    /// The first blocks are the longest.
    template <class Visit>
    void busiest(std::uint64_t, const Visit& visit) const {
        visit(Rank{0});
    }

    /// Those of an all-to-all lie apart.
    [[nodiscard]] Copies copied(Rank rank, std::uint64_t round) const {
        return gathers() ? Copies{} : Copies{bytes(rank, round), count(round)};
    }

   private:
    [[nodiscard]] bool gathers() const { return collective_.operation() == Operation::all_gather; }
    [[nodiscard]] static std::size_t step(std::uint64_t round) { return std::size_t{1} << round; }
    [[nodiscard]] std::size_t back(std::uint64_t round) const { return collective_.ranks() - step(round); }
    /// Blocks of a message.
    [[nodiscard]] std::size_t count(std::uint64_t round) const {
        const std::size_t s = step(round);
        const std::size_t ranks = collective_.ranks();
        if (gathers()) return std::min(s, ranks - s);
        const std::size_t rest = ranks % (2 * s);
        return ranks / (2 * s) * s + (std::max(rest, s) - s);
    }
    [[nodiscard]] Bytes bytes(Rank from, std::uint64_t round) const {
        const std::size_t blocks = count(round);
        if (!gathers()) return collective_.bytes() * static_cast<std::int64_t>(blocks);
        const std::size_t before_end = std::min(blocks, collective_.ranks() - from.value);
        return collective_.bytes_of(from.value, before_end) + collective_.bytes_of(0, blocks - before_end);
    }

    Collective collective_;
};

}  // namespace topoloom
