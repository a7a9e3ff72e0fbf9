// SPDX-License-Identifier: BSD-3-Clause
// Allgather by neighbor exchange on a ring of an even number of ranks.
#pragma once

#include <utility>

#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// Ranks 2q and 2q + 1 are pair q. First the ranks of a pair exchange their blocks. Then every rank
/// alternates between its other neighbor and its pair partner, and forwards the two blocks that it received
/// last. ranks / 2 rounds. Source: J. Chen et al., Performance evaluation of allgather algorithms on
/// terascale Linux cluster with fast Ethernet, HPC Asia 2005.
class NeighborExchange {
   public:
    explicit NeighborExchange(Collective collective) : collective_(std::move(collective)) {}
    [[nodiscard]] static bool supports_rank_count(std::size_t ranks) { return ranks == 1 || ranks % 2 == 0; }

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const { return collective_.ranks() / 2; }
    [[nodiscard]] Transfer transfer(std::uint64_t) const { return Transfer::copy; }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        visit(peer(rank, round), collective_.bytes() * (round == 0 ? 1 : 2));
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        sends(rank, round, visit);
    }
    template <class Visit>
    void blocks(Rank from, Rank, std::uint64_t round, const Visit& visit) const {
        if (round == 0) return visit(std::uint64_t{from.value});
        const std::uint64_t pair = newest_pair(from, round - 1);
        visit(2 * pair);
        visit(2 * pair + 1);
    }
    template <class Visit>
    void busiest_senders(std::uint64_t, const Visit& visit) const {
        visit(Rank{0});
    }

   private:
    [[nodiscard]] Rank peer(Rank rank, std::uint64_t round) const {
        const bool up = (rank.value % 2 == 0) == (round % 2 == 0);
        return collective_.rank_at_distance(rank, up ? 1 : collective_.ranks() - 1);
    }
    /// The pair whose blocks the rank received in that round. Blocks arrive alternately from the two sides,
    /// from increasing distances.
    [[nodiscard]] std::uint64_t newest_pair(Rank rank, std::uint64_t round) const {
        const std::uint64_t pairs = collective_.ranks() / 2;
        const std::uint64_t far = (round + 1) / 2;
        const bool from_above = (rank.value % 2 == 0) == (round % 2 == 0);
        return (rank.value / 2 + (from_above ? far : pairs - far)) % pairs;
    }

    Collective collective_;
};

}  // namespace topoloom
