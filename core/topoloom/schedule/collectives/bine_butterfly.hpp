// SPDX-License-Identifier: BSD-3-Clause
// Allgather, reduce_scatter and allreduce by Bine butterflies.
#pragma once

#include <bit>
#include <optional>
#include <utility>

#include "topoloom/schedule/collectives/shapes/bine_ring.hpp"
#include "topoloom/schedule/collectives/shapes/cube.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// Exchanges as on a hypercube, but over distances that are one third shorter. The blocks of a rank always
/// belong to adjacent positions of a ring. An allgather sends the blocks to the partner of step 1, then of
/// step 2, and so on. A reduce_scatter runs the steps in reverse: a rank sends the contributions that the
/// partner needs. An allreduce with one piece per corner combines the two; with a single piece, partners
/// exchange complete vectors. If the number of ranks is not a power of two, every other one of the first
/// ranks is an extra rank (see cube.hpp). Sources: that of BineRing, and D. De Sensi et al., Swing:
/// Short-cutting Rings for Higher Bandwidth Allreduce, NSDI 2024.
class BineButterfly {
   public:
    explicit BineButterfly(Collective collective)
        : collective_(std::move(collective)),
          cube_(collective_.ranks(), ExtraRanks::odd),
          ring_(cube_.corners()) {}

    /// Number of pieces of an allreduce that is cut into one piece per corner.
    [[nodiscard]] static std::uint64_t pieces(std::size_t ranks) { return std::bit_floor(ranks); }

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const { return cube_.rounds(exchanges()); }
    [[nodiscard]] Transfer transfer(std::uint64_t round) const {
        const bool sums = stage(round) == Cube::Stage::hand_in ||
                          (stage(round) == Cube::Stage::exchange && (is_halving(round) || has_one_piece()));
        return sums && !is_allgather() ? Transfer::combine : Transfer::copy;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        const auto to = peer(rank, round, true);
        if (to) visit(*to, bytes(rank, *to, round));
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        const auto from = peer(rank, round, false);
        if (from) visit(*from, bytes(*from, rank, round));
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        each_range(from, to, round, [&](std::uint64_t first, std::uint64_t count) {
            for (std::uint64_t block = first; block < first + count; ++block) visit(block);
        });
    }
    /// The first blocks are the longest, and the first corners represent extra ranks.
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        switch (stage(round)) {
            case Cube::Stage::hand_in:
                return visit(cube_.extra_rank(0));
            case Cube::Stage::exchange: {
                const std::size_t has_first = BineRing::count_before(step(round) - 1);
                return visit(
                    cube_.rank(is_halving(round) ? ring_.partner(has_first, step(round)) : has_first));
            }
            case Cube::Stage::hand_back:
                return visit(cube_.rank(is_allgather() ? cube_.extra() - 1 : 0));
        }
    }

   private:
    [[nodiscard]] bool is_allgather() const { return collective_.operation() == Operation::allgather; }
    [[nodiscard]] bool is_reduce_scatter() const {
        return collective_.operation() == Operation::reduce_scatter;
    }
    [[nodiscard]] bool has_one_piece() const {
        return collective_.operation() == Operation::allreduce && collective_.pieces() == 1;
    }
    [[nodiscard]] std::uint64_t exchanges() const {
        return ring_.steps() * (is_allgather() || is_reduce_scatter() || has_one_piece() ? 1 : 2);
    }
    [[nodiscard]] Cube::Stage stage(std::uint64_t round) const { return cube_.stage(round, exchanges()); }
    /// Whether each partner keeps half of the blocks in this round.
    [[nodiscard]] bool is_halving(std::uint64_t round) const {
        return !is_allgather() && !has_one_piece() && cube_.exchange(round) < ring_.steps();
    }
    [[nodiscard]] std::uint64_t step(std::uint64_t round) const {
        const std::uint64_t number = cube_.exchange(round);
        return is_halving(round) ? ring_.steps() - number : number % ring_.steps() + 1;
    }
    /// Calls visit(first, count) for the blocks of a message.
    template <class Visit>
    void each_range(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        const std::uint64_t all = collective_.block_count();
        if (stage(round) == Cube::Stage::exchange && !has_one_piece()) {
            const std::uint64_t n = step(round) - 1;
            const std::size_t first = ring_.first_joined(cube_.corner(is_halving(round) ? to : from), n);
            return ring_.each_range(first, std::size_t{1} << n, [&](std::size_t begin, std::size_t count) {
                is_allgather() || is_reduce_scatter() ? cube_.each_range(begin, count, visit)
                                                      : visit(begin, count);
            });
        }
        const bool back = stage(round) == Cube::Stage::hand_back;
        if (is_allgather() && back) {
            visit(std::uint64_t{0}, std::uint64_t{to.value});
            return visit(to.value + std::uint64_t{1}, all - to.value - 1);
        }
        if (is_allgather() || (is_reduce_scatter() && back))
            return visit(std::uint64_t{back ? to.value : from.value}, std::uint64_t{1});
        visit(std::uint64_t{0}, all);
    }
    [[nodiscard]] Bytes bytes(Rank from, Rank to, std::uint64_t round) const {
        Bytes sum;
        each_range(from, to, round, [&](std::uint64_t first, std::uint64_t count) {
            sum += collective_.bytes_of(first, count);
        });
        return sum;
    }
    /// The peer to which a rank sends or, if not `sending`, from which it receives.
    [[nodiscard]] std::optional<Rank> peer(Rank rank, std::uint64_t round, bool sending) const {
        if (stage(round) != Cube::Stage::exchange) return cube_.peer(rank, stage(round), 0, sending);
        if (cube_.is_extra(rank)) return std::nullopt;
        return cube_.rank(ring_.partner(cube_.corner(rank), step(round)));
    }

    Collective collective_;
    Cube cube_;
    BineRing ring_;
};

}  // namespace topoloom
