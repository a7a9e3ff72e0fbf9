// SPDX-License-Identifier: BSD-3-Clause
// Direct all-to-all, all-gather and reduce-scatter: every block is sent straight to its rank.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

#include "topoloom/schedule/collectives/shapes/seats.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// cyclic    in round i rank r sends to r + i + 1
/// pairwise  in round i ranks r and r xor i + 1 exchange; if the number of ranks is not a power of two, some have no
/// partner
/// at_once   one round: every rank sends to the ranks from the opposite one on, which is r + P / 2, and waits for nothing
/// between. Begun with r + 1, it takes up to 8 % longer in SimGrid (docs/reference/benchmarks/collectives.md).
/// The first two may count seats instead of ranks: what empty ones would send or get falls out.
enum class DirectOrder { cyclic, pairwise, at_once };

/// Every rank sends to every other. Source: Kumar 2005, eq. 3.1, 4.1, 4.2 and 4.4; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005.
template <DirectOrder order>
class Direct {
   public:
    /// With as many seats as there are ranks taken; null: rank r is on seat r.
    explicit Direct(Collective collective, std::shared_ptr<const Seats> seats = nullptr)
        : collective_(std::move(collective)), seats_(std::move(seats)) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const {
        if constexpr (order == DirectOrder::at_once) return collective_.ranks() > 1 ? 1 : 0;
        return (order == DirectOrder::pairwise ? std::bit_ceil(seats()) : seats()) - 1;
    }
    [[nodiscard]] bool sends_to_all() const { return true; }
    [[nodiscard]] Transfer transfer(std::uint64_t) const {
        return collective_.operation() == Operation::all_to_all   ? Transfer::move
               : collective_.operation() == Operation::all_gather ? Transfer::copy
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
        if (collective_.operation() == Operation::all_gather) return visit(std::uint64_t{from.value});
        const bool personal = collective_.operation() == Operation::all_to_all;
        visit((personal ? std::uint64_t{from.value} * collective_.ranks() : 0) + to.value);
    }
    /// The partner of the rank that lacks the highest bit is that bit, which is a rank. Where blocks differ, anyone may have
    /// a long one to send; if seats are empty, any rank may have no peer to send to.
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        if (collective_.pieces() > 1 || seats_ != nullptr) return each_sender(*this, round, visit);
        visit(Rank{order == DirectOrder::pairwise ? (round + 1) ^ std::bit_floor(round + 1) : 0});
    }

    /// In an all-gather a rank sends its own block to all, which it copies to the network card once [4.4].
    [[nodiscard]] std::optional<Bytes> staged_bytes(Rank rank, std::uint64_t round) const {
        if (collective_.operation() != Operation::all_gather) return std::nullopt;
        return round == 0 ? bytes(rank, rank) : Bytes{0};
    }

   private:
    [[nodiscard]] std::size_t seats() const {
        return seats_ == nullptr ? collective_.ranks() : seats_->count();
    }
    [[nodiscard]] Bytes bytes(Rank from, Rank to) const {
        if (collective_.pieces() == 1) return collective_.bytes();
        return collective_.bytes_of(collective_.operation() == Operation::all_gather ? from.value : to.value);
    }
    template <class Visit>
    void each_peer(Rank rank, std::uint64_t round, bool sending, const Visit& visit) const {
        const std::size_t ranks = collective_.ranks();
        const auto meet = [&](Rank peer) { visit(peer, sending ? bytes(rank, peer) : bytes(peer, rank)); };
        const auto beside = [&](std::size_t by) {
            meet(collective_.shifted(rank, sending ? by : ranks - by));
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
