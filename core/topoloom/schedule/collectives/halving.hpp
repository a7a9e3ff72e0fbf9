// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter by recursive halving, and Rabenseifner's allreduce, which appends an allgather by
// recursive doubling.
#pragma once

#include <utility>

#include "topoloom/schedule/collectives/shapes/cube.hpp"
#include "topoloom/schedule/collectives/shapes/halves.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// Every corner of the hypercube ends with the complete sums of its own piece and of the piece of its extra
/// rank. In each exchange, each partner sends its contributions to the other's half of the pieces. An
/// allreduce then gathers the sums with the same exchanges in reverse. An allreduce needs one piece per
/// corner; a reduce_scatter needs HalvingOrder::far, because otherwise pieces end on other ranks. Source: R.
/// Rabenseifner, Optimization of collective reduction operations, ICCS 2004.
class Halving {
   public:
    explicit Halving(Collective collective, ExtraRanks fold = ExtraRanks::last,
                     HalvingOrder order = HalvingOrder::far)
        : collective_(std::move(collective)),
          cube_(collective_.ranks(), fold),
          halves_(cube_.corners(), order) {}

    /// Number of pieces that an allreduce needs.
    [[nodiscard]] static std::uint64_t pieces(std::size_t ranks) { return std::bit_floor(ranks); }

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const { return cube_.rounds(exchanges()); }
    [[nodiscard]] Transfer transfer(std::uint64_t round) const {
        return is_summing(round) ? Transfer::combine : Transfer::copy;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        const auto peer = find_peer(rank, round, true);
        if (peer) visit(*peer, bytes(rank, *peer, round));
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        const auto peer = find_peer(rank, round, false);
        if (peer) visit(*peer, bytes(*peer, rank, round));
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        const auto range = [&](std::uint64_t begin, std::uint64_t count) {
            for (std::uint64_t block = begin; block < begin + count; ++block) visit(block);
        };
        if (stage(round) == Cube::Stage::exchange) return each_range(from, round, range);
        if (stage(round) == Cube::Stage::hand_back && is_reduce_scatter())
            return visit(std::uint64_t{to.value});
        range(0, collective_.block_count());
    }
    /// The longest pieces are the first or the last, and the first corners represent extra ranks.
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        switch (stage(round)) {
            case Cube::Stage::hand_in:
                return visit(cube_.extra_rank(0));
            case Cube::Stage::exchange:
                for (const std::size_t holder : {std::size_t{0}, cube_.corners() - 1})
                    visit(cube_.rank(is_summing(round) ? holder ^ distance(round) : holder));
                return;
            case Cube::Stage::hand_back:
                return visit(cube_.rank(0));
        }
    }

   private:
    [[nodiscard]] bool is_reduce_scatter() const {
        return collective_.operation() == Operation::reduce_scatter;
    }
    [[nodiscard]] std::uint64_t exchanges() const {
        return cube_.dimensions() * (is_reduce_scatter() ? 1 : 2);
    }
    [[nodiscard]] Cube::Stage stage(std::uint64_t round) const { return cube_.stage(round, exchanges()); }
    [[nodiscard]] bool is_summing(std::uint64_t round) const {
        return stage(round) == Cube::Stage::hand_in ||
               (stage(round) == Cube::Stage::exchange && cube_.exchange(round) < cube_.dimensions());
    }
    /// The number of the halving's exchange that a round performs or, in the allgather, reverses.
    [[nodiscard]] std::uint64_t exchange(std::uint64_t round) const {
        const std::uint64_t number = cube_.exchange(round);
        return number < cube_.dimensions() ? number : 2 * cube_.dimensions() - 1 - number;
    }
    [[nodiscard]] std::size_t distance(std::uint64_t round) const {
        return halves_.distance(exchange(round));
    }
    /// Calls visit(first, count) for the blocks of a message between corners.
    template <class Visit>
    void each_range(Rank from, std::uint64_t round, const Visit& visit) const {
        const std::uint64_t number = exchange(round);
        const std::size_t own = cube_.corner(from);
        const std::size_t first = halves_.first(is_summing(round) ? own ^ distance(round) : own, number);
        const std::size_t length = halves_.length(number);
        is_reduce_scatter() ? cube_.each_range(first, length, visit) : visit(first, length);
    }
    [[nodiscard]] Bytes bytes(Rank from, Rank to, std::uint64_t round) const {
        if (stage(round) == Cube::Stage::exchange) {
            Bytes sum;
            each_range(from, round, [&](std::uint64_t first, std::uint64_t count) {
                sum += collective_.bytes_of(first, count);
            });
            return sum;
        }
        if (stage(round) == Cube::Stage::hand_back && is_reduce_scatter())
            return collective_.bytes_of(to.value);
        return collective_.bytes_of(0, collective_.block_count());
    }
    [[nodiscard]] std::optional<Rank> find_peer(Rank rank, std::uint64_t round, bool sending) const {
        const bool exchanging = stage(round) == Cube::Stage::exchange;
        return cube_.peer(rank, stage(round), exchanging ? distance(round) : 0, sending);
    }

    Collective collective_;
    Cube cube_;
    Halves halves_;
};

}  // namespace topoloom
