// SPDX-License-Identifier: BSD-3-Clause
// Bcast and reduce of long messages with one piece per rank.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include "topoloom/schedule/collectives/shapes/binomial_children.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// How ranks exchange their pieces: around a ring, or by recursive doubling, which requires a power-of-two rank count.
enum class PieceExchange : std::uint8_t { ring, doubling };

/// A bcast scatters the pieces along a binomial tree, then allgathers them. A reduction does the reverse: a
/// reduce_scatter, then a gather along the tree. Positions count from the root; position p owns piece p. Source:
/// M. Barnett et al., Interprocessor collective communication library (InterCom), SHPCC 1994; Thakur, Rabenseifner, Gropp,
/// IJHPCA 19(1), 2005.
class ScatterAllgather {
   public:
    /// One piece per rank.
    explicit ScatterAllgather(Collective collective, PieceExchange spread = PieceExchange::ring)
        : collective_(std::move(collective)), spread_(spread) {}
    [[nodiscard]] static bool supports_rank_count(std::size_t ranks, PieceExchange spread) {
        return spread == PieceExchange::ring || std::has_single_bit(ranks);
    }

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const {
        return tree_rounds() + (uses_ring() ? collective_.ranks() - 1 : tree_rounds());
    }
    [[nodiscard]] Transfer transfer(std::uint64_t round) const {
        return is_tree_round(round) ? Transfer::move : is_bcast() ? Transfer::copy : Transfer::combine;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        is_bcast() ? visit_receivers(rank, round, visit) : visit_senders(rank, round, visit);
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        is_bcast() ? visit_senders(rank, round, visit) : visit_receivers(rank, round, visit);
    }
    /// A rank sends the next rank all pieces except the next rank's own.
    template <class Visit>
    void totals(Rank rank, const Visit& visit) const {
        const std::size_t ranks = collective_.ranks(), position = collective_.position(rank);
        const auto visit_tree_message = [&](std::size_t peer, std::size_t first, std::size_t count) {
            if (!collective_.is_empty(first))
                visit(collective_.at(peer), collective_.bytes_of(first, count), std::int64_t{1});
        };
        if (is_bcast()) {
            each_binomial_child(position, ranks, [&](std::size_t child, std::size_t below) {
                visit_tree_message(child, child, below);
            });
        } else {
            with_binomial_parent(position, ranks, [&](std::size_t parent, std::size_t below) {
                visit_tree_message(parent, position, below);
            });
        }
        const std::uint64_t others = rounds() - tree_rounds();
        if (others == 0) return;
        if (uses_ring()) {
            const Rank to = collective_.rank_at_distance(rank, is_bcast() ? 1 : ranks - 1);
            const std::size_t missing = collective_.position(is_bcast() ? to : rank);
            visit(to, collective_.bytes_of(0, ranks) - collective_.bytes_of(missing),
                  static_cast<std::int64_t>(others));
            return;
        }
        for (std::uint64_t i = 0; i < others; ++i) {
            sends(rank, is_bcast() ? tree_rounds() + i : i,
                  [&](Rank to, Bytes bytes) { visit(to, bytes, std::int64_t{1}); });
        }
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        const Range pieces = is_bcast() ? piece_range(from, to, round) : piece_range(to, from, round);
        for (std::size_t piece = pieces.first; piece < pieces.first + pieces.count; ++piece)
            if (!collective_.is_empty(piece)) visit(std::uint64_t{piece});
    }
    /// The first pieces are the longest.
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        const std::size_t upper =
            is_tree_round(round) || !uses_ring() ? 0 : static_cast<std::size_t>(step(round) - tree_rounds());
        visit(collective_.at(is_bcast() ? upper : upper + distance(round)));
    }

   private:
    struct Range {
        std::size_t first, count;
    };

    [[nodiscard]] bool is_bcast() const { return collective_.operation() == Operation::bcast; }
    [[nodiscard]] bool uses_ring() const { return spread_ == PieceExchange::ring; }
    [[nodiscard]] std::uint64_t tree_rounds() const {
        return static_cast<std::uint64_t>(std::bit_width(collective_.ranks() - 1));
    }
    /// The corresponding round of the bcast.
    [[nodiscard]] std::uint64_t step(std::uint64_t round) const {
        return is_bcast() ? round : rounds() - 1 - round;
    }
    [[nodiscard]] bool is_tree_round(std::uint64_t round) const { return step(round) < tree_rounds(); }
    [[nodiscard]] std::size_t distance(std::uint64_t round) const {
        if (is_tree_round(round)) return std::size_t{1} << (tree_rounds() - 1 - step(round));
        return uses_ring() ? 1 : std::size_t{1} << (step(round) - tree_rounds());
    }
    /// Pieces that the bcast sends between the two ranks.
    [[nodiscard]] Range piece_range(Rank from, Rank to, std::uint64_t round) const {
        const std::size_t upper = collective_.position(from), lower = collective_.position(to);
        if (is_tree_round(round)) return {lower, std::min(distance(round), collective_.ranks() - lower)};
        if (!uses_ring()) return {upper & ~(distance(round) - 1), distance(round)};
        const std::size_t back = step(round) - tree_rounds();
        return {upper >= back ? upper - back : upper + collective_.ranks() - back, 1};
    }
    template <class Visit>
    void visit_message(Rank from, Rank to, Rank peer, std::uint64_t round, const Visit& visit) const {
        const Range pieces = piece_range(from, to, round);
        // A tree forwards nothing to subtrees whose pieces are all empty.
        if (is_tree_round(round) && collective_.is_empty(pieces.first)) return;
        visit(peer, collective_.bytes_of(pieces.first, pieces.count));
    }
    /// Visits the ranks to which the bcast sends.
    template <class Visit>
    void visit_receivers(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::size_t position = collective_.position(rank), h = distance(round);
        Rank to = collective_.rank_at_distance(rank, h);
        if (is_tree_round(round)) {
            if ((position & (2 * h - 1)) != 0 || position + h >= collective_.ranks()) return;
        } else if (!uses_ring()) {
            to = collective_.at(position ^ h);
        }
        visit_message(rank, to, to, round, visit);
    }
    /// Visits the ranks from which the bcast receives.
    template <class Visit>
    void visit_senders(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::size_t position = collective_.position(rank), h = distance(round);
        Rank from = collective_.rank_at_distance(rank, collective_.ranks() - h);
        if (is_tree_round(round)) {
            if ((position & (2 * h - 1)) != h) return;
        } else if (!uses_ring()) {
            from = collective_.at(position ^ h);
        }
        visit_message(from, rank, from, round, visit);
    }

    Collective collective_;
    PieceExchange spread_;
};

}  // namespace topoloom
