// SPDX-License-Identifier: BSD-3-Clause
// Allgather and allreduce by recursive doubling: dimension exchange on a hypercube.
#pragma once

#include <utility>

#include "topoloom/schedule/collectives/shapes/cube.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// In exchange j corners c and c xor 2^j exchange all their data. With radix k, the corners that differ only
/// in digit j exchange, each with up to k - 1 others. Source: Thakur, Rabenseifner, Gropp, IJHPCA 19(1),
/// 2005; Kumar 2005, eq. 3.11 and 3.13 (hypercube).
class RecursiveDoubling {
   public:
    explicit RecursiveDoubling(Collective collective, ExtraRanks fold = ExtraRanks::last,
                               std::uint32_t radix = 2)
        : collective_(std::move(collective)), cube_(collective_.ranks(), fold, radix) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const { return cube_.rounds(cube_.dimensions()); }
    [[nodiscard]] Transfer transfer(std::uint64_t round) const {
        return is_allgather() || stage(round) == Cube::Stage::hand_back ? Transfer::copy : Transfer::combine;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        each_peer(rank, round, true, [&](Rank to) { visit(to, bytes(rank, to, round)); });
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        each_peer(rank, round, false, [&](Rank from) { visit(from, bytes(from, rank, round)); });
    }
    template <class Visit>
    void totals(Rank rank, const Visit& visit) const {
        const std::size_t own = cube_.corner(rank);
        if (cube_.is_extra(rank)) return visit(cube_.rank(own), bytes_from_extra_rank(rank), std::int64_t{1});
        for (std::uint64_t dimension = 0; dimension < cube_.dimensions(); ++dimension) {
            const std::size_t step = cube_.distance(dimension);
            const Bytes bytes = exchange_bytes(own - own % step, step);
            cube_.each_neighbor(own, dimension, [&](Rank to) { visit(to, bytes, std::int64_t{1}); });
        }
        if (own >= cube_.extra()) return;
        const Rank extra = cube_.extra_rank(own);
        visit(extra, bytes_to_extra_rank(extra), std::int64_t{1});
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        if (!is_allgather()) return visit(std::uint64_t{0});
        const auto range = [&](std::size_t begin, std::size_t count) {
            for (std::size_t i = begin; i < begin + count; ++i) visit(std::uint64_t{i});
        };
        switch (stage(round)) {
            case Cube::Stage::hand_in:
                return visit(std::uint64_t{from.value});
            case Cube::Stage::exchange:
                return cube_.each_range(first_gathered_corner(from, round), distance(round), range);
            case Cube::Stage::hand_back:
                range(0, to.value);
                return range(to.value + std::size_t{1}, collective_.ranks() - to.value - 1);
        }
    }
    /// The first corners represent extra ranks, and the first blocks are the longest.
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        switch (stage(round)) {
            case Cube::Stage::hand_in:
                return visit(cube_.extra_rank(0));
            case Cube::Stage::exchange:
                return visit(cube_.rank(0));
            case Cube::Stage::hand_back:
                return visit(cube_.rank(cube_.extra() - 1));
        }
    }

   private:
    [[nodiscard]] bool is_allgather() const { return collective_.operation() == Operation::allgather; }
    [[nodiscard]] Cube::Stage stage(std::uint64_t round) const {
        return cube_.stage(round, cube_.dimensions());
    }
    [[nodiscard]] std::size_t distance(std::uint64_t round) const {
        return cube_.distance(cube_.exchange(round));
    }
    /// The first corner whose blocks a rank already has.
    [[nodiscard]] std::size_t first_gathered_corner(Rank from, std::uint64_t round) const {
        return cube_.corner(from) - cube_.corner(from) % distance(round);
    }
    [[nodiscard]] Bytes bytes_from_extra_rank(Rank extra) const {
        return is_allgather() ? collective_.bytes_of(extra.value) : collective_.bytes();
    }
    /// Bytes sent by a corner that already has the blocks of `corners` corners.
    [[nodiscard]] Bytes exchange_bytes(std::size_t first_corner, std::size_t corners) const {
        if (!is_allgather()) return collective_.bytes();
        Bytes sum;
        cube_.each_range(first_corner, corners, [&](std::size_t begin, std::size_t count) {
            sum += collective_.bytes_of(begin, count);
        });
        return sum;
    }
    [[nodiscard]] Bytes bytes_to_extra_rank(Rank extra) const {
        if (!is_allgather()) return collective_.bytes();
        return collective_.bytes_of(0, collective_.ranks()) - collective_.bytes_of(extra.value);
    }
    [[nodiscard]] Bytes bytes(Rank from, Rank to, std::uint64_t round) const {
        switch (stage(round)) {
            case Cube::Stage::hand_in:
                return bytes_from_extra_rank(from);
            case Cube::Stage::exchange:
                return exchange_bytes(first_gathered_corner(from, round), distance(round));
            default:
                return bytes_to_extra_rank(to);
        }
    }
    /// Calls visit(peer) for the peers to which a rank sends or, if not `sending`, from which it receives.
    template <class Visit>
    void each_peer(Rank rank, std::uint64_t round, bool sending, const Visit& visit) const {
        if (stage(round) == Cube::Stage::exchange) {
            if (!cube_.is_extra(rank)) cube_.each_neighbor(cube_.corner(rank), cube_.exchange(round), visit);
            return;
        }
        const auto peer = cube_.peer(rank, stage(round), 0, sending);
        if (peer) visit(*peer);
    }

    Collective collective_;
    Cube cube_;
};

}  // namespace topoloom
