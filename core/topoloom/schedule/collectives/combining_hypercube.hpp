// SPDX-License-Identifier: BSD-3-Clause
// Alltoall and many-to-many, personalized or multicast, by exchange along the dimensions of a virtual hypercube.
#pragma once

#include <algorithm>
#include <bit>

#include "topoloom/schedule/collectives/combined.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// In the round of dimension j ranks r and r xor 2^j exchange all data for each other's half. C is the
/// largest power of two that does not exceed the number of ranks. Rank r >= C sends its data to rank r - C
/// before the first exchange, and receives its result from that rank after the last. The last `direct`
/// dimensions form one round, in which a rank sends to 2^direct - 1 ranks. In all other rounds a rank sends
/// one message; copying blocks into it cannot overlap with another message, so the copy adds gamma per byte.
/// From NIC memory, with P' = P / 2^direct, an allgather takes [3.16]
///   (log P - direct) alpha + (P' - 1) m (beta + gamma) + (2^direct - 1)(alpha + P' m beta_em) + P' m delta
/// Source: S. Kumar, Optimizing Communication for Massively Parallel Processing, 2005, sec. 3.1 to 3.3.
class CombiningHypercube {
   public:
    explicit CombiningHypercube(Collective collective, std::uint32_t direct = 0)
        : collective_(std::move(collective)),
          dimensions_(static_cast<std::uint32_t>(std::bit_width(collective_.ranks())) - 1),
          direct_(std::min(direct, dimensions_)) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const {
        return exchange_rounds() + (direct_ > 0 ? 1 : 0) + (extra_ranks() > 0 ? 2 : 0);
    }
    [[nodiscard]] Transfer transfer(std::uint64_t) const {
        return collective_.is_personalized() ? Transfer::move : Transfer::copy;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        each_peer(rank, round, true, [&](Rank to) { visit(to, message_data(rank, to, round).bytes); });
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        each_peer(rank, round, false, [&](Rank from) { visit(from, message_data(from, rank, round).bytes); });
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        each_combined_block(
            collective_, [&](const auto& carry) { each_origin(from, round, carry); }, targets(to, round),
            visit);
    }
    /// The corners with the most extra ranks in their own half or in the other half.
    template <class Visit>
    void busiest_senders(std::uint64_t round, const Visit& visit) const {
        if (collective_.demand() != nullptr || (collective_.is_personalized() && is_direct(round))) {
            each_candidate(collective_.ranks(), visit);
        } else if (is_first(round)) {
            visit(Rank{cube_ranks()});
        } else {
            visit(Rank{0});
            if (is_exchange(round)) visit(Rank{std::size_t{1} << dimension(round)});
        }
    }
    /// The copies that a rank makes to form its single message of a round.
    [[nodiscard]] Copies copies(Rank rank, std::uint64_t round) const {
        Copies found;
        if (!is_direct(round))
            each_peer(rank, round, true, [&](Rank to) { found = message_data(rank, to, round); });
        return found;
    }
    /// In the direct round, a rank sends its gathered data to several ranks at once.
    [[nodiscard]] std::optional<Bytes> staged_bytes(Rank rank, std::uint64_t round) const {
        if (collective_.operation() != Operation::allgather || !is_direct(round)) return std::nullopt;
        Bytes gathered;
        each_peer(rank, round, true, [&](Rank to) { gathered = message_data(rank, to, round).bytes; });
        return gathered;
    }

   private:
    [[nodiscard]] std::size_t cube_ranks() const { return std::size_t{1} << dimensions_; }
    [[nodiscard]] std::size_t extra_ranks() const { return collective_.ranks() - cube_ranks(); }
    [[nodiscard]] std::uint32_t exchange_rounds() const { return dimensions_ - direct_; }
    /// Number of dimensions exchanged before a round.
    [[nodiscard]] std::uint64_t dimension(std::uint64_t round) const {
        return round - (extra_ranks() > 0 ? 1 : 0);
    }
    [[nodiscard]] bool is_first(std::uint64_t round) const { return extra_ranks() > 0 && round == 0; }
    [[nodiscard]] bool is_last(std::uint64_t round) const {
        return extra_ranks() > 0 && round + 1 == rounds();
    }
    [[nodiscard]] bool is_exchange(std::uint64_t round) const {
        return !is_first(round) && dimension(round) < exchange_rounds();
    }
    [[nodiscard]] bool is_direct(std::uint64_t round) const {
        return !is_first(round) && !is_exchange(round) && !is_last(round);
    }

    template <class Visit>
    void each_peer(Rank rank, std::uint64_t round, bool sending, const Visit& visit) const {
        const std::size_t at = rank.value;
        if (is_first(round) || is_last(round)) {
            const bool out = is_last(round) == sending;  // towards the ranks beyond the hypercube
            if (out && at < extra_ranks()) visit(Rank{at + cube_ranks()});
            if (!out && at >= cube_ranks()) visit(Rank{at - cube_ranks()});
        } else if (at < cube_ranks()) {
            const std::size_t step = std::size_t{1} << dimension(round);
            const std::size_t count = is_direct(round) ? cube_ranks() / step : 2;
            for (std::size_t i = 1; i < count; ++i) visit(Rank{at ^ (i * step)});
        }
    }

    /// Within the hypercube, a rank has the data of origins that differ from it only in the dimensions
    /// exchanged so far ...
    [[nodiscard]] std::size_t first_origin(Rank from, std::uint64_t round) const {
        return from.value >> dimension(round) << dimension(round);
    }
    template <class Visit>
    void each_origin(Rank from, std::uint64_t round, const Visit& visit) const {
        if (is_first(round)) return visit(from);
        const std::size_t begin = is_last(round) ? 0 : first_origin(from, round);
        const std::size_t count = is_last(round) ? cube_ranks() : std::size_t{1} << dimension(round);
        for (std::size_t at = begin; at < begin + count; ++at) {
            visit(Rank{at});
            if (at < extra_ranks()) visit(Rank{at + cube_ranks()});
        }
    }
    /// ... for targets that agree with it in these dimensions. It sends the data for targets that also agree
    /// with the receiver in the next dimension.
    [[nodiscard]] std::uint64_t agreeing_dimensions(std::uint64_t round) const {
        return is_direct(round) ? dimensions_ : dimension(round) + 1;
    }
    [[nodiscard]] EveryNth targets(Rank to, std::uint64_t round) const {
        if (is_first(round)) return {0, 1};
        if (is_last(round)) return {to.value, collective_.ranks()};
        const std::size_t step = std::size_t{1} << agreeing_dimensions(round);
        return {to.value & (step - 1), step};
    }
    [[nodiscard]] Copies message_data(Rank from, Rank to, std::uint64_t round) const {
        std::uint64_t origin_count = 1;
        std::uint64_t target_count = 1;
        if (is_first(round)) {
            target_count = collective_.ranks() - 1;
        } else if (is_last(round)) {
            origin_count = collective_.ranks() - 1;
        } else {
            const std::size_t count = std::size_t{1} << dimension(round);
            origin_count =
                count + std::min(count, extra_ranks() - std::min(extra_ranks(), first_origin(from, round)));
            target_count =
                ((collective_.ranks() - 1 - targets(to, round).first) >> agreeing_dimensions(round)) + 1;
        }
        return count_combined_data(
            collective_, origin_count, target_count,
            [&](const auto& carry) { each_origin(from, round, carry); }, targets(to, round));
    }

    Collective collective_;
    std::uint32_t dimensions_;
    std::uint32_t direct_;
};

}  // namespace topoloom
