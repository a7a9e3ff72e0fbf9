// SPDX-License-Identifier: BSD-3-Clause
// Direct alltoall, allgather and reduce_scatter: every block is sent directly from its source to its
// target.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

#include "topoloom/schedule/collectives/shapes/seats.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

///   cyclic    in round i rank r sends to r + i + 1
///   pairwise  in round i ranks r and r xor i + 1 exchange; unless the number of ranks is a power of two,
///             some ranks have no partner
///   at_once   one round: every rank sends to all others without waiting, beginning with the opposite rank r + P / 2.
///             Beginning with r + 1 takes up to 8 % longer in SimGrid (docs/reference/benchmarks/collectives.md)
/// The orders cyclic and pairwise may number seats (see seats.hpp) instead of ranks; messages to and from
/// empty seats are then omitted.
enum class DirectOrder { cyclic, pairwise, at_once };

/// Every rank sends to every other. Source: Kumar 2005, eq. 3.1, 4.1, 4.2 and 4.4; Thakur, Rabenseifner, Gropp,
/// IJHPCA 19(1), 2005.
template <DirectOrder order>
class Direct {
   public:
    /// Without seats, rank r has seat r; otherwise as many seats must be occupied as there are ranks.
    explicit Direct(Collective collective, std::shared_ptr<const Seats> seats = nullptr)
        : collective_(std::move(collective)), seats_(std::move(seats)) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const {
        if constexpr (order == DirectOrder::at_once) return collective_.ranks() > 1 ? 1 : 0;
        return (order == DirectOrder::pairwise ? std::bit_ceil(seats()) : seats()) - 1;
    }
    [[nodiscard]] bool sends_to_all() const { return true; }
    [[nodiscard]] Transfer transfer(std::uint64_t) const {
        return collective_.operation() == Operation::alltoall    ? Transfer::move
               : collective_.operation() == Operation::allgather ? Transfer::copy
                                                                 : Transfer::combine;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        each_peer(rank, round, true, visit);
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        each_peer(rank, round, false, visit);
    }
    template <class Visit>
    void totals(Rank rank, const Visit& visit) const {
        for (const Rank peer : ids<Rank>(collective_.ranks()))
            if (peer != rank) visit(peer, bytes(rank, peer), std::int64_t{1});
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t, const Visit& visit) const {
        if (collective_.operation() == Operation::allgather) return visit(std::uint64_t{from.value});
        const bool personal = collective_.operation() == Operation::alltoall;
        visit((personal ? std::uint64_t{from.value} * collective_.ranks() : 0) + to.value);
    }
    /// For a rank without the highest bit, the partner in round `highest bit - 1` is an existing rank. If
    /// blocks differ in size, any rank may send a long one; if seats are empty, any rank may have no peer.
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        if (collective_.pieces() > 1 || seats_ != nullptr) return each_sender(*this, round, visit);
        visit(Rank{order == DirectOrder::pairwise ? (round + 1) ^ std::bit_floor(round + 1) : 0});
    }

    /// In an allgather a rank sends its own block to all others, so it copies the block to NIC memory only
    /// once [4.4].
    [[nodiscard]] std::optional<Bytes> staged_bytes(Rank rank, std::uint64_t round) const {
        if (collective_.operation() != Operation::allgather) return std::nullopt;
        return round == 0 ? bytes(rank, rank) : Bytes{0};
    }

   private:
    [[nodiscard]] std::size_t seats() const {
        return seats_ == nullptr ? collective_.ranks() : seats_->count();
    }
    [[nodiscard]] Bytes bytes(Rank from, Rank to) const {
        if (collective_.pieces() == 1) return collective_.bytes();
        return collective_.bytes_of(collective_.operation() == Operation::allgather ? from.value : to.value);
    }
    template <class Visit>
    void each_peer(Rank rank, std::uint64_t round, bool sending, const Visit& visit) const {
        const std::size_t ranks = collective_.ranks();
        const auto meet = [&](Rank peer) { visit(peer, sending ? bytes(rank, peer) : bytes(peer, rank)); };
        const auto beside = [&](std::size_t by) {
            meet(collective_.rank_at_distance(rank, sending ? by : ranks - by));
        };
        if (seats_ != nullptr) {
            const std::size_t peer = seat_of_peer(seats_->seat(rank), round, sending);
            if (seats_->is_taken(peer)) meet(seats_->rank(peer));
        } else if constexpr (order == DirectOrder::pairwise) {
            const std::size_t peer = rank.value ^ (round + 1);
            if (peer < ranks) meet(Rank{peer});
        } else if constexpr (order == DirectOrder::cyclic) {
            beside(round + 1);
        } else {
            for (std::size_t i = 0; i + 1 < ranks; ++i) beside(1 + (i + (ranks - 1) / 2) % (ranks - 1));
        }
    }

    [[nodiscard]] std::size_t seat_of_peer(std::size_t seat, std::uint64_t round, bool sending) const {
        if constexpr (order == DirectOrder::pairwise) return seat ^ (round + 1);
        const std::size_t ahead = sending ? round + 1 : seats() - (round + 1);
        return (seat + ahead) % seats();
    }

    Collective collective_;
    std::shared_ptr<const Seats> seats_;
};

}  // namespace topoloom
