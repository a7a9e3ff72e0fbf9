// SPDX-License-Identifier: BSD-3-Clause
// Many-to-many, personalized or multicast, with one message per origin and target.
#pragma once

#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// One round: a rank sends a message to each of its targets. Time: degree (alpha + m beta).
class ManyToManyDirect {
   public:
    explicit ManyToManyDirect(Collective collective) : collective_(std::move(collective)) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const { return collective_.ranks() > 1 ? 1 : 0; }
    [[nodiscard]] Transfer transfer(std::uint64_t) const {
        return collective_.is_personalized() ? Transfer::move : Transfer::copy;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t, const Visit& visit) const {
        collective_.demand()->each_target(rank,
                                          [&](Rank to) { visit(to, collective_.bytes_of(block(rank, to))); });
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t, const Visit& visit) const {
        collective_.demand()->each_origin(
            rank, [&](Rank from) { visit(from, collective_.bytes_of(block(from, rank))); });
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t, const Visit& visit) const {
        visit(block(from, to));
    }
    template <class Visit>
    void busiest_senders(std::uint64_t, const Visit& visit) const {
        const std::size_t unlike = collective_.demand()->is_regular() ? 1 : collective_.ranks();
        for (const Rank rank : ids<Rank>(unlike)) visit(rank);
    }

   private:
    [[nodiscard]] std::uint64_t block(Rank from, Rank to) const {
        return collective_.is_personalized() ? std::uint64_t{from.value} * collective_.ranks() + to.value
                                             : from.value;
    }

    Collective collective_;
};

}  // namespace topoloom
