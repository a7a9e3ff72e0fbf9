// SPDX-License-Identifier: BSD-3-Clause
// Linear algorithms: the root exchanges a message with every other rank, in one round.
#pragma once

#include <cstdint>
#include <utility>

#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// Bcast, reduce, scatter and gather: the root exchanges one message with each rank, nearest position
/// first, without waiting in between. Only the root needs the sizes of all messages, and it can add
/// contributions in any order. This is therefore the only schedule for blocks whose sizes only sender and
/// receiver know.
class Linear {
   public:
    explicit Linear(Collective collective) : collective_(std::move(collective)) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const { return collective_.ranks() > 1 ? 1 : 0; }
    [[nodiscard]] Transfer transfer(std::uint64_t) const {
        return collective_.reduces()         ? Transfer::combine
               : is_scatter() || is_gather() ? Transfer::move
                                             : Transfer::copy;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t, const Visit& visit) const {
        each_peer(rank, !is_inward(), visit);
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t, const Visit& visit) const {
        each_peer(rank, is_inward(), visit);
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t, const Visit& visit) const {
        visit(std::uint64_t{is_scatter() ? to.value : is_gather() ? from.value : 0});
    }
    template <class Visit>
    void busiest_senders(std::uint64_t, const Visit& visit) const {
        if (is_inward()) visit(collective_.at(1));
        visit(collective_.root());
    }

   private:
    [[nodiscard]] bool is_scatter() const { return collective_.operation() == Operation::scatter; }
    [[nodiscard]] bool is_gather() const { return collective_.operation() == Operation::gather; }
    /// Whether data are sent to the root.
    [[nodiscard]] bool is_inward() const { return is_gather() || collective_.reduces(); }
    /// Calls visit(rank) for the ranks that send, or for the root.
    template <class Visit>
    void each_peer(Rank rank, bool root_side, const Visit& visit) const {
        if (rank != collective_.root()) {
            if (!root_side) visit(collective_.root(), collective_.bytes());
        } else if (root_side) {
            for (std::size_t position = 1; position < collective_.ranks(); ++position)
                visit(collective_.at(position), collective_.bytes());
        }
    }

    Collective collective_;
};

}  // namespace topoloom
