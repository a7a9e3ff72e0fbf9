// SPDX-License-Identifier: BSD-3-Clause
// Allgather and alltoall by Bruck's algorithm: ceil(log_k ranks) rounds of radix k for any number of
// ranks.
#pragma once

#include <algorithm>
#include <utility>

#include "topoloom/schedule/collectives/shapes/radix.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// The radix is k. Round i has s = k^i < ranks and messages over distances j s < ranks, 0 < j < k.
/// Allgather: rank r sends up to s of its blocks r, r + 1, ... to rank r - j s. Alltoall: a block from o
/// to t has to travel a distance of t - o ranks (modulo ranks); rank r sends the blocks whose distance has
/// digit j at weight s to rank r + j s. Source: J. Bruck et al., Efficient Algorithms for Alltoall
/// Communications in Multiport Message-Passing Systems, IEEE TPDS 8(11), 1997.
class Bruck {
   public:
    explicit Bruck(Collective collective, std::uint32_t radix = 2)
        : collective_(std::move(collective)), digits_(collective_.ranks(), radix) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const { return digits_.digits(); }
    [[nodiscard]] Transfer transfer(std::uint64_t) const {
        return is_allgather() ? Transfer::copy : Transfer::move;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        each_distance(round, [&](std::size_t distance) {
            visit(collective_.rank_at_distance(rank,
                                               is_allgather() ? collective_.ranks() - distance : distance),
                  bytes(rank, distance, round));
        });
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        each_distance(round, [&](std::size_t distance) {
            const Rank from = collective_.rank_at_distance(
                rank, is_allgather() ? distance : collective_.ranks() - distance);
            visit(from, bytes(from, distance, round));
        });
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        const std::size_t ranks = collective_.ranks();
        const std::size_t s = digits_.weight(round);
        if (is_allgather()) {
            const std::size_t distance = collective_.rank_at_distance(from, ranks - to.value).value;
            for (std::size_t i = 0; i < count(distance, round); ++i)
                visit(std::uint64_t{collective_.rank_at_distance(from, i).value});
            return;
        }
        const std::size_t first = collective_.rank_at_distance(to, ranks - from.value).value;
        for (std::size_t high = first; high < ranks; high += digits_.radix() * s) {
            for (std::size_t distance = high; distance < std::min(high + s, ranks); ++distance) {
                const Rank origin = collective_.rank_at_distance(from, ranks - (distance - high));
                visit(std::uint64_t{origin.value} * ranks +
                      collective_.rank_at_distance(origin, distance).value);
            }
        }
    }
    /// The first blocks are the longest.
    template <class Visit>
    void busiest_senders(std::uint64_t, const Visit& visit) const {
        visit(Rank{0});
    }

    /// The blocks of an alltoall message are not contiguous.
    [[nodiscard]] Copies copies(Rank, std::uint64_t round) const {
        Copies sum;
        if (is_allgather()) return sum;
        each_distance(round, [&](std::size_t distance) { sum.blocks += count(distance, round); });
        sum.bytes = collective_.bytes() * static_cast<std::int64_t>(sum.blocks);
        return sum;
    }

   private:
    [[nodiscard]] bool is_allgather() const { return collective_.operation() == Operation::allgather; }
    /// Calls visit(distance) for each message of a rank.
    template <class Visit>
    void each_distance(std::uint64_t round, const Visit& visit) const {
        digits_.each_multiple(round, collective_.ranks(), visit);
    }
    /// Number of blocks in a message.
    [[nodiscard]] std::size_t count(std::size_t distance, std::uint64_t round) const {
        const std::size_t s = digits_.weight(round), period = digits_.radix() * s;
        const std::size_t ranks = collective_.ranks();
        if (is_allgather()) return std::min(s, ranks - distance);
        return ranks / period * s + std::min(s, std::max(ranks % period, distance) - distance);
    }
    [[nodiscard]] Bytes bytes(Rank from, std::size_t distance, std::uint64_t round) const {
        const std::size_t blocks = count(distance, round);
        if (!is_allgather()) return collective_.bytes() * static_cast<std::int64_t>(blocks);
        const std::size_t before_end = std::min(blocks, collective_.ranks() - from.value);
        return collective_.bytes_of(from.value, before_end) + collective_.bytes_of(0, blocks - before_end);
    }

    Collective collective_;
    RadixDigits digits_;
};

}  // namespace topoloom
