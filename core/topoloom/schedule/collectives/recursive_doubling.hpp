// SPDX-License-Identifier: BSD-3-Clause
// All-gather and all-reduce by recursive doubling: dimension exchange on a hypercube.
#pragma once

#include <utility>

#include "topoloom/schedule/collectives/cube.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// In exchange j corners r and r xor 2^j give each other all they have. Source: Thakur, Rabenseifner, Gropp, IJHPCA 19(1),
/// 2005; Kumar 2005, eq. 3.11 and 3.13, the hypercube.
class RecursiveDoubling {
   public:
    explicit RecursiveDoubling(Collective collective)
        : collective_(std::move(collective)), cube_(collective_.ranks()) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const { return cube_.rounds(cube_.dimensions()); }
    [[nodiscard]] Transfer transfer(std::uint64_t round) const {
        return gathers() || stage(round) == Cube::Stage::hand_back ? Transfer::copy : Transfer::combine;
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
        if (!gathers()) return visit(std::uint64_t{0});
        const auto range = [&](std::size_t begin, std::size_t count) {
            for (std::size_t i = begin; i < begin + count; ++i) visit(std::uint64_t{i});
        };
        switch (stage(round)) {
            case Cube::Stage::hand_in:
                return visit(std::uint64_t{from.value});
            case Cube::Stage::exchange: {
                const std::size_t step = distance(round);
                const std::size_t begin = from.value & ~(step - 1);
                range(begin, step);
                return range(cube_.corners() + begin, cube_.extra_of(begin, step));
            }
            case Cube::Stage::hand_back:
                range(0, to.value);
                return range(to.value + std::size_t{1}, collective_.ranks() - to.value - 1);
        }
    }
    /// The first corners stand for extra ranks.
    template <class Visit>
    void busiest(std::uint64_t round, const Visit& visit) const {
        visit(Rank{stage(round) == Cube::Stage::hand_in ? cube_.corners() : 0});
    }

   private:
    [[nodiscard]] bool gathers() const { return collective_.operation() == Operation::all_gather; }
    [[nodiscard]] Cube::Stage stage(std::uint64_t round) const {
        return cube_.stage(round, cube_.dimensions());
    }
    [[nodiscard]] std::size_t distance(std::uint64_t round) const {
        return std::size_t{1} << cube_.exchange(round);
    }
    [[nodiscard]] Bytes blocks(std::size_t count) const {
        return gathers() ? collective_.bytes() * static_cast<std::int64_t>(count) : collective_.bytes();
    }
    [[nodiscard]] Bytes bytes(Rank from, std::uint64_t round) const {
        switch (stage(round)) {
            case Cube::Stage::hand_in:
                return blocks(1);
            case Cube::Stage::exchange: {
                const std::size_t step = distance(round);
                return blocks(step + cube_.extra_of(from.value & ~(step - 1), step));
            }
            default:
                return blocks(collective_.ranks() - 1);
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
