// SPDX-License-Identifier: BSD-3-Clause
// Broadcast, reduce, scatter and gather along a chain, block by block.
#pragma once

#include <algorithm>
#include <utility>

#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// Positions count from the root. In every round each position forwards the data of the previous round: away
/// from the root in a broadcast or scatter, towards the root in a reduce or gather. A scatter sends the data
/// of the farthest position first.
class Chain {
   public:
    explicit Chain(Collective collective) : collective_(std::move(collective)) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const {
        const std::uint64_t links = collective_.ranks() - 1;
        return links == 0 || dealt() ? links : links - 1 + collective_.pieces();
    }
    [[nodiscard]] Transfer transfer(std::uint64_t) const {
        return dealt()                                           ? Transfer::move
               : collective_.operation() == Operation::broadcast ? Transfer::copy
                                                                 : Transfer::combine;
    }
    /// In every round the first item advances by one link. After it has reached the end of the chain, the
    /// others follow without a latency in between.
    [[nodiscard]] bool is_pipelined(std::uint64_t round) const { return round >= collective_.ranks() - 1; }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::uint64_t position = collective_.position(rank);
        if (!outward())
            return over_link(position, round, collective_.at(position + collective_.ranks() - 1), visit);
        if (position + 1 < collective_.ranks())
            over_link(position + 1, round, collective_.at(position + 1), visit);
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::uint64_t position = collective_.position(rank);
        if (outward())
            return over_link(position, round, collective_.at(position + collective_.ranks() - 1), visit);
        if (position + 1 < collective_.ranks())
            over_link(position + 1, round, collective_.at(position + 1), visit);
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        const std::uint64_t item = round - start(collective_.position(outward() ? to : from));
        if (!dealt()) return visit(item);
        const std::uint64_t whose =
            outward() ? collective_.ranks() - 1 - item : collective_.position(from) + item;
        visit(std::uint64_t{collective_.at(whose).value});
    }
    template <class Visit>
    void senders(std::uint64_t round, const Visit& visit) const {
        const std::uint64_t last = collective_.ranks() - 1;
        // Links count from the first link that the first item crosses. The busy links are those that the
        // first item has crossed and the last item has not.
        const std::uint64_t most = dealt() ? last : std::min(last, round + 1);
        const std::uint64_t done = dealt() ? 0 : round + 1 - std::min(round + 1, collective_.pieces());
        for (std::uint64_t link = done; link < most; ++link)
            visit(collective_.at(outward() ? link : last - link));
    }
    /// The first pieces are the longest.
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        const std::uint64_t last = collective_.ranks() - 1;
        // Items that the first item has passed.
        const std::uint64_t links = dealt() ? 0 : std::min(round, last - 1);
        visit(collective_.at(outward() ? links : dealt() ? 1 : last - links));
    }

   private:
    [[nodiscard]] bool outward() const {
        return collective_.operation() == Operation::broadcast ||
               collective_.operation() == Operation::scatter;
    }
    [[nodiscard]] bool dealt() const {
        return collective_.operation() == Operation::scatter || collective_.operation() == Operation::gather;
    }
    /// Link p joins positions p - 1 and p. Returns the round in which its first item crosses it.
    [[nodiscard]] std::uint64_t start(std::uint64_t link) const {
        if (outward()) return link - 1;
        return dealt() ? 0 : collective_.ranks() - 1 - link;
    }
    template <class Visit>
    void over_link(std::uint64_t link, std::uint64_t round, Rank peer, const Visit& visit) const {
        if (link == 0 || round < start(link)) return;
        const std::uint64_t item = round - start(link);
        const std::uint64_t items = dealt() ? collective_.ranks() - link : collective_.pieces();
        if (item < items) visit(peer, dealt() ? collective_.bytes() : collective_.bytes_of(item));
    }

    Collective collective_;
};

}  // namespace topoloom
