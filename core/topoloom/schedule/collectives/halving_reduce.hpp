// SPDX-License-Identifier: BSD-3-Clause
// Rabenseifner's reduction: recursive halving, then a gather of the sums along a binomial tree.
#pragma once

#include <optional>
#include <utility>

#include "topoloom/schedule/collectives/shapes/cube.hpp"
#include "topoloom/schedule/collectives/shapes/halves.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// The corners halve the vector as in an allreduce, with one piece per corner. If the root is an extra rank,
/// it replaces corner 0, which sends its piece to the root. Finally the exchanges run in reverse: of each
/// pair of partners, the one farther from the root's corner sends all its pieces. Source: R. Rabenseifner,
/// Optimization of collective reduction operations, ICCS 2004; replacing corner 0 as in MPICH.
class HalvingReduce {
   public:
    explicit HalvingReduce(Collective collective, ExtraRanks fold = ExtraRanks::last,
                           HalvingOrder order = HalvingOrder::far)
        : collective_(std::move(collective)),
          cube_(collective_.ranks(), fold),
          halves_(cube_.corners(), order),
          root_moves_(cube_.is_extra(collective_.root())),
          target_(root_moves_ ? 0 : cube_.corner(collective_.root())) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const {
        return first_halving_round() + 2 * halves_.exchanges() + (root_moves_ ? 1 : 0);
    }
    [[nodiscard]] Transfer transfer(std::uint64_t round) const {
        return stage(round) <= Stage::halve ? Transfer::combine : Transfer::copy;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        const auto peer = find_peer(rank, round, true);
        if (peer)
            each_sent_range(rank, round, [&](auto first, auto count) {
                visit(*peer, collective_.bytes_of(first, count));
            });
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        const auto peer = find_peer(rank, round, false);
        if (peer)
            each_sent_range(*peer, round, [&](auto first, auto count) {
                visit(*peer, collective_.bytes_of(first, count));
            });
    }
    template <class Visit>
    void blocks(Rank from, Rank, std::uint64_t round, const Visit& visit) const {
        each_sent_range(from, round, [&](std::uint64_t first, std::uint64_t count) {
            for (std::uint64_t block = first; block < first + count; ++block) visit(block);
        });
    }
    /// The longest pieces are the first or the last.
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        switch (stage(round)) {
            case Stage::hand_in:
                return visit(cube_.extra_rank(0));
            case Stage::halve:
                for (const std::size_t end : {std::size_t{0}, cube_.corners() - 1})
                    visit(cube_.rank(end ^ halves_.distance(exchange(round))));
                return;
            case Stage::move:
                return visit(cube_.rank(0));
            case Stage::gather: {
                const std::size_t distance = halves_.distance(exchange(round));
                const std::size_t later_distances = halves_.later_distances(exchange(round));
                const std::size_t sender = (target_ & later_distances) | (~target_ & distance);
                const std::size_t earlier = (cube_.corners() - 1) & ~(later_distances | distance);
                visit(rank_of_corner(sender));
                visit(rank_of_corner(sender | earlier));
            }
        }
    }

   private:
    enum class Stage { hand_in, halve, move, gather };

    [[nodiscard]] std::uint64_t first_halving_round() const { return cube_.extra() > 0 ? 1 : 0; }
    [[nodiscard]] Stage stage(std::uint64_t round) const {
        const std::uint64_t halved = first_halving_round() + halves_.exchanges();
        return round < first_halving_round()    ? Stage::hand_in
               : round < halved                 ? Stage::halve
               : root_moves_ && round == halved ? Stage::move
                                                : Stage::gather;
    }
    [[nodiscard]] std::uint64_t exchange(std::uint64_t round) const {
        return stage(round) == Stage::halve ? round - first_halving_round() : rounds() - 1 - round;
    }
    /// The rank that represents a corner in the gather.
    [[nodiscard]] Rank rank_of_corner(std::size_t corner) const {
        return root_moves_ && corner == 0 ? collective_.root() : cube_.rank(corner);
    }
    [[nodiscard]] std::optional<std::size_t> corner_of_rank(Rank rank) const {
        if (rank == collective_.root()) return target_;
        if (cube_.is_extra(rank) || (root_moves_ && rank == cube_.rank(0))) return std::nullopt;
        return cube_.corner(rank);
    }
    /// The peer to which a rank sends or, if not `sending`, from which it receives.
    [[nodiscard]] std::optional<Rank> find_peer(Rank rank, std::uint64_t round, bool sending) const {
        switch (stage(round)) {
            case Stage::hand_in:
                return cube_.peer(rank, Cube::Stage::hand_in, 0, sending);
            case Stage::halve:
                return cube_.peer(rank, Cube::Stage::exchange, halves_.distance(exchange(round)), sending);
            case Stage::move: {
                const Rank from = cube_.rank(0), to = collective_.root();
                if (rank != (sending ? from : to)) return std::nullopt;
                return sending ? to : from;
            }
            case Stage::gather:
                break;
        }
        const std::optional<std::size_t> corner = corner_of_rank(rank);
        if (!corner) return std::nullopt;
        const std::size_t differs = *corner ^ target_;
        const std::size_t distance = halves_.distance(exchange(round));
        const bool has_sent_before = (differs & halves_.later_distances(exchange(round))) != 0;
        if (has_sent_before || ((differs & distance) != 0) != sending) return std::nullopt;
        return rank_of_corner(*corner ^ distance);
    }
    /// Calls visit(first, count) for the pieces that a rank sends.
    template <class Visit>
    void each_sent_range(Rank from, std::uint64_t round, const Visit& visit) const {
        switch (stage(round)) {
            case Stage::hand_in:
                return visit(std::uint64_t{0}, collective_.block_count());
            case Stage::halve:
                return visit_pieces_of_corner(cube_.corner(from) ^ halves_.distance(exchange(round)),
                                              exchange(round), visit);
            case Stage::move:
                return visit(std::uint64_t{0}, std::uint64_t{1});
            case Stage::gather:
                return visit_pieces_of_corner(from == collective_.root() ? target_ : cube_.corner(from),
                                              exchange(round), visit);
        }
    }
    template <class Visit>
    void visit_pieces_of_corner(std::size_t corner, std::uint64_t exchange, const Visit& visit) const {
        visit(std::uint64_t{halves_.first(corner, exchange)}, std::uint64_t{halves_.length(exchange)});
    }

    Collective collective_;
    Cube cube_;
    Halves halves_;
    bool root_moves_;
    std::size_t target_;  // corner
};

}  // namespace topoloom
