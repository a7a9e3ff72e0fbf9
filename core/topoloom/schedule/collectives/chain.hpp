// SPDX-License-Identifier: BSD-3-Clause
// Bcast, reduce, scatter and gather along a chain, block by block.
#pragma once

#include <algorithm>
#include <utility>

#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// Positions count from the root. In every round each position forwards the data of the previous round: away
/// from the root in a bcast or scatter, towards the root in a reduce or gather. A scatter sends the data
/// of the farthest position first.
class Chain {
   public:
    explicit Chain(Collective collective) : collective_(std::move(collective)) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const {
        const std::uint64_t links = collective_.ranks() - 1;
        return links == 0 || sends_distinct_blocks() ? links : links - 1 + collective_.pieces();
    }
    [[nodiscard]] Transfer transfer(std::uint64_t) const {
        return sends_distinct_blocks()                       ? Transfer::move
               : collective_.operation() == Operation::bcast ? Transfer::copy
                                                             : Transfer::combine;
    }
    /// In every round the first item advances by one link. After it has reached the end of the chain, the
    /// others follow without a latency in between.
    [[nodiscard]] bool is_pipelined(std::uint64_t round) const { return round >= collective_.ranks() - 1; }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::uint64_t position = collective_.position(rank);
        if (!is_outward())
            return visit_item_on_link(position, round, collective_.at(position + collective_.ranks() - 1),
                                      visit);
        if (position + 1 < collective_.ranks())
            visit_item_on_link(position + 1, round, collective_.at(position + 1), visit);
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        const std::uint64_t position = collective_.position(rank);
        if (is_outward())
            return visit_item_on_link(position, round, collective_.at(position + collective_.ranks() - 1),
                                      visit);
        if (position + 1 < collective_.ranks())
            visit_item_on_link(position + 1, round, collective_.at(position + 1), visit);
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        const std::uint64_t item = round - first_round(collective_.position(is_outward() ? to : from));
        if (!sends_distinct_blocks()) return visit(item);
        const std::uint64_t whose =
            is_outward() ? collective_.ranks() - 1 - item : collective_.position(from) + item;
        visit(std::uint64_t{collective_.at(whose).value});
    }
    template <class Visit>
    void senders(std::uint64_t round, const Visit& visit) const {
        const std::uint64_t last = collective_.ranks() - 1;
        // Links are numbered in the order in which the first item crosses them. The busy links are those that
        // the first item has crossed but the last item has not.
        const std::uint64_t most = sends_distinct_blocks() ? last : std::min(last, round + 1);
        const std::uint64_t done =
            sends_distinct_blocks() ? 0 : round + 1 - std::min(round + 1, collective_.pieces());
        for (std::uint64_t link = done; link < most; ++link)
            visit(collective_.at(is_outward() ? link : last - link));
    }
    /// The first pieces are the longest.
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        const std::uint64_t last = collective_.ranks() - 1;
        // Items that the first item has passed.
        const std::uint64_t links = sends_distinct_blocks() ? 0 : std::min(round, last - 1);
        visit(collective_.at(is_outward() ? links : sends_distinct_blocks() ? 1 : last - links));
    }

   private:
    [[nodiscard]] bool is_outward() const {
        return collective_.operation() == Operation::bcast || collective_.operation() == Operation::scatter;
    }
    [[nodiscard]] bool sends_distinct_blocks() const {
        return collective_.operation() == Operation::scatter || collective_.operation() == Operation::gather;
    }
    /// Link p joins positions p - 1 and p. Returns the round in which its first item crosses it.
    [[nodiscard]] std::uint64_t first_round(std::uint64_t link) const {
        if (is_outward()) return link - 1;
        return sends_distinct_blocks() ? 0 : collective_.ranks() - 1 - link;
    }
    template <class Visit>
    void visit_item_on_link(std::uint64_t link, std::uint64_t round, Rank peer, const Visit& visit) const {
        if (link == 0 || round < first_round(link)) return;
        const std::uint64_t item = round - first_round(link);
        const std::uint64_t items =
            sends_distinct_blocks() ? collective_.ranks() - link : collective_.pieces();
        if (item < items)
            visit(peer, sends_distinct_blocks() ? collective_.bytes() : collective_.bytes_of(item));
    }

    Collective collective_;
};

}  // namespace topoloom
