// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter by recursive halving, and Rabenseifner's all-reduce, which gathers again what that has scattered.
#pragma once

#include <utility>

#include "topoloom/schedule/collectives/cube.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// Every corner of the cube ends with the sum of its own piece, and of that of the extra rank for which it stands. In the
/// exchanges with h = corners / 2, ..., 2, 1 ranks r and r xor h give each other their shares of the half of the pieces that
/// is the other's; in an all-reduce they give each other what they have summed, with h = 1, 2, ..., corners / 2. An
/// all-reduce needs one piece for each corner. Source: R. Rabenseifner, Optimization of collective reduction operations,
/// ICCS 2004.
class Halving {
   public:
    explicit Halving(Collective collective)
        : collective_(std::move(collective)), cube_(collective_.ranks()) {}

    /// Pieces for an all-reduce.
    [[nodiscard]] static std::uint64_t pieces(std::size_t ranks) { return std::bit_floor(ranks); }

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const { return cube_.rounds(exchanges()); }
    [[nodiscard]] Transfer transfer(std::uint64_t round) const {
        return sums(round) ? Transfer::combine : Transfer::copy;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        meet(rank, round, true, visit);
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        meet(rank, round, false, visit);
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        switch (stage(round)) {
            case Cube::Stage::hand_in:
                return range(0, collective_.block_count(), visit);
            case Cube::Stage::exchange: {
                const std::size_t h = distance(round);
                const std::size_t begin = first_sent(from, round);
                range(begin, h, visit);
                if (scatters()) range(cube_.corners() + begin, cube_.extra_of(begin, h), visit);
                return;
            }
            case Cube::Stage::hand_back:
                if (scatters()) return visit(std::uint64_t{to.value});
                return range(0, collective_.block_count(), visit);
        }
    }
    /// The first pieces are the longest, and stand for extra ranks.
    template <class Visit>
    void busiest(std::uint64_t round, const Visit& visit) const {
        switch (stage(round)) {
            case Cube::Stage::hand_in:
                return visit(Rank{cube_.corners()});
            case Cube::Stage::exchange:
                return visit(Rank{sums(round) ? distance(round) : 0});
            case Cube::Stage::hand_back:
                return visit(Rank{0});
        }
    }

   private:
    [[nodiscard]] bool scatters() const { return collective_.operation() == Operation::reduce_scatter; }
    [[nodiscard]] std::uint64_t exchanges() const { return cube_.dimensions() * (scatters() ? 1 : 2); }
    [[nodiscard]] Cube::Stage stage(std::uint64_t round) const { return cube_.stage(round, exchanges()); }
    [[nodiscard]] bool sums(std::uint64_t round) const {
        return stage(round) == Cube::Stage::hand_in ||
               (stage(round) == Cube::Stage::exchange && cube_.exchange(round) < cube_.dimensions());
    }
    [[nodiscard]] std::size_t distance(std::uint64_t round) const {
        const std::uint64_t exchange = cube_.exchange(round);
        const std::uint64_t dimensions = cube_.dimensions();
        return std::size_t{1} << (exchange < dimensions ? dimensions - 1 - exchange : exchange - dimensions);
    }
    [[nodiscard]] std::size_t first_sent(Rank from, std::uint64_t round) const {
        const std::size_t h = distance(round);
        return (sums(round) ? from.value ^ h : from.value) & ~(h - 1);
    }
    [[nodiscard]] Bytes all() const { return collective_.bytes_of(0, collective_.block_count()); }
    template <class Visit>
    static void range(std::uint64_t begin, std::uint64_t count, const Visit& visit) {
        for (std::uint64_t block = begin; block < begin + count; ++block) visit(block);
    }
    [[nodiscard]] Bytes bytes(Rank from, std::uint64_t round) const {
        switch (stage(round)) {
            case Cube::Stage::hand_in:
                return all();
            case Cube::Stage::exchange: {
                const std::size_t h = distance(round);
                const std::size_t begin = first_sent(from, round);
                return collective_.bytes_of(begin, h + (scatters() ? cube_.extra_of(begin, h) : 0));
            }
            default:
                return scatters() ? collective_.bytes() : all();
        }
    }
    template <class Visit>
    void meet(Rank rank, std::uint64_t round, bool sending, const Visit& visit) const {
        const bool exchanging = stage(round) == Cube::Stage::exchange;
        const auto peer = cube_.peer(rank, stage(round), exchanging ? distance(round) : 0, sending);
        if (peer) visit(*peer, bytes(sending ? rank : *peer, round));
    }

    Collective collective_;
    Cube cube_;
};

}  // namespace topoloom
