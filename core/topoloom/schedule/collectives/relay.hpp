// SPDX-License-Identifier: BSD-3-Clause
// Allgather by relays: blocks travel in hops of k ranks, and every stop forwards them to the ranks around it.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// Before rank r sends the block that it received last to r + k, it sends the block to these ranks:
///   prefix  r xor 1, ..., r xor k - 1, if k is a power of two that divides the number of ranks
///   shift   r - ceil((k - 1) / 2), ..., r - 1 and r + 1, ..., r + floor((k - 1) / 2); at the last stop only
///           the ranks that did not get the block at the first stop
enum class RelayOrder { prefix, shift };

/// The largest k that this order supports among so many ranks, `most` at most.
constexpr std::size_t largest_hop(RelayOrder order, std::size_t ranks, std::size_t most) {
    return order == RelayOrder::prefix ? std::min(std::bit_floor(most), ranks & (~ranks + 1))
                                       : std::min(most, ranks);
}

/// A round has one message of every rank or, if `rounds_are_stops`, all messages of a stop. It ends with a
/// barrier. When blocks are sent from NIC memory, each is copied there once per stop; a stop with a single
/// message sends from main memory. Source: Kumar 2005, eq. 4.5 and 4.6; for k = 1 the ring of eq. 4.3.
template <RelayOrder order>
class Relay {
   public:
    /// `k` must be supported: largest_hop(order, ranks, k) == k.
    Relay(Collective collective, std::size_t k, bool rounds_are_stops)
        : collective_(std::move(collective)),
          rounds_are_stops_(rounds_are_stops),
          k_(k),
          before_(order == RelayOrder::prefix ? 0 : k / 2),
          stops_((collective_.ranks() + k - 1) / k) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const {
        const std::uint64_t messages = collective_.ranks() - 1;
        return rounds_are_stops_ && messages > 0 ? stops_ : messages;
    }
    [[nodiscard]] Transfer transfer(std::uint64_t) const { return Transfer::copy; }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        each_peer(rank, round, true, visit);
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        each_peer(rank, round, false, visit);
    }
    template <class Visit>
    void blocks(Rank from, Rank, std::uint64_t round, const Visit& visit) const {
        const std::uint64_t stop = rounds_are_stops_ ? round : stop_of_message(round);
        visit(std::uint64_t{collective_.rank_at_distance(from, collective_.ranks() - stop * k_).value});
    }
    template <class Visit>
    void busiest_senders(std::uint64_t, const Visit& visit) const {
        visit(Rank{0});
    }
    /// True while data remain to be sent.
    [[nodiscard]] bool has_barrier(std::uint64_t round) const {
        return (rounds_are_stops_ ? first_message(round + 1) : round + 1) + 1 < collective_.ranks();
    }
    [[nodiscard]] std::optional<Bytes> staged_bytes(Rank, std::uint64_t round) const {
        if (k_ == 1) return std::nullopt;
        const bool is_first = rounds_are_stops_ || round == first_message(stop_of_message(round));
        return is_first ? collective_.bytes() : Bytes{0};
    }

   private:
    /// Number of the first message of a stop. If the last stop already has the block, no rank sends it there.
    [[nodiscard]] std::uint64_t first_message(std::uint64_t stop) const {
        if (stop == stops_) return collective_.ranks() - 1;
        const bool had_it = stop + 1 == stops_ && collective_.ranks() - stop * k_ <= before_;
        return stop * k_ - (had_it ? 1 : 0);
    }
    [[nodiscard]] std::uint64_t stop_of_message(std::uint64_t message) const {
        return message >= first_message(stops_ - 1) ? stops_ - 1 : message / k_;
    }
    template <class Visit>
    void each_peer(Rank rank, std::uint64_t round, bool sending, const Visit& visit) const {
        const std::uint64_t stop = rounds_are_stops_ ? round : stop_of_message(round);
        const std::uint64_t first = rounds_are_stops_ ? first_message(stop) : round;
        const std::uint64_t end = rounds_are_stops_ ? first_message(stop + 1) : round + 1;
        for (std::uint64_t i = first - first_message(stop); i < end - first_message(stop); ++i)
            visit(peer(rank, i, sending), collective_.bytes());
    }
    [[nodiscard]] Rank peer(Rank rank, std::uint64_t message, bool sending) const {
        const std::size_t ranks = collective_.ranks();
        if (order == RelayOrder::prefix && message + 1 < k_) return Rank{rank.value ^ (message + 1)};
        const std::size_t ahead = message + 1 == k_   ? k_
                                  : message < before_ ? ranks - before_ + message
                                                      : message - before_ + 1;
        return collective_.rank_at_distance(rank, sending ? ahead : ranks - ahead % ranks);
    }

    Collective collective_;
    bool rounds_are_stops_;
    std::size_t k_;
    std::size_t before_;  // number of ranks before a stop to which the stop sends the block
    std::size_t stops_;
};

}  // namespace topoloom
