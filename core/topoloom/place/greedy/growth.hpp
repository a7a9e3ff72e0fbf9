// SPDX-License-Identifier: BSD-3-Clause
// Greedy growth of a placement along the communication graph.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "topoloom/base/option.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/place/problem.hpp"
#include "topoloom/place/state/arrangement.hpp"
#include "topoloom/place/state/free_slots.hpp"

namespace topoloom::greedy {

/// The quantity by which the next rank is selected.
enum class RankKey : std::uint8_t { degree, neighbors, bytes };
inline const Choices rank_key_names{"degree", "neighbors", "bytes"};

/// How ranks and slots are selected. A rank goes to the slot with the smallest total distance to its placed
/// partners, or to only the latest of them. With `nearest`, it goes to the slot that nearest() returns.
struct GrowthRule {
    RankKey key = RankKey::bytes;
    bool weighted = true;  // whether distances are weighted by the bytes to each partner
    bool latest_only = false;
    std::function<FreeSlots::Found(const FreeSlots&, const FreeSlots::WeightedPartners&)> nearest = {};
};

/// Random draws from restricted candidate lists, as in GRASP.
struct CandidateRandomization {
    Rng rng;
    std::uint32_t ranks = 0;  // waiting ranks that may come next besides the best one, in per mille
    std::uint32_t centers =
        1000;  // per mille of the slots, the most central ones, that may hold a component's first rank
};

/// Data shared by all growths on one problem; each growth copies the part that it changes.
struct GrowthContext {
    const Allocation& allocation;
    const CommGraph& graph;  // symmetric
    std::vector<FixedPosition> fixed;
    FreeSlots free;
    std::vector<Position> central;  // slots by total distance to all allocated slots, ascending
    std::vector<Rank> by_degree;    // ranks by number of partners, descending

    explicit GrowthContext(const Problem& problem);
};

/// Grows one placement from the fixed ranks or, if there are none, from a first rank. Every component of the
/// graph starts with its rank of highest degree, at the most central free slot or a random one. Ties go to the
/// lowest index.
class GreedyGrowth {
   public:
    GreedyGrowth(const GrowthContext& context, const GrowthRule& rule,
                 const CandidateRandomization* chance = nullptr);

    /// Calls spend() with the number of slots examined for each rank. Once it returns false, the remaining
    /// ranks fill the free slots in order.
    [[nodiscard]] std::vector<Slot> run(Rank first, const std::function<bool(std::uint64_t)>& spend);

   private:
    struct QueuedRank {
        std::uint64_t key;
        Rank rank;
        friend bool operator<(const QueuedRank& a, const QueuedRank& b) {
            return std::tie(a.key, b.rank) < std::tie(b.key, a.rank);
        }
    };

    [[nodiscard]] bool is_placed(Rank u) const { return position_[u.value] != Position::none; }
    Position choose_start_position();
    void place_rank(Rank u, Position position);
    bool raise_key(Rank v, Bytes bytes);
    Rank pop_next_rank();
    Rank drop_stale_entries();
    FreeSlots::Found find_best_slot(Rank s);
    std::vector<Slot> place_remaining_ranks();

    const GrowthContext& context_;
    const GrowthRule& rule_;
    const CandidateRandomization* chance_;
    Rng rng_;
    FreeSlots free_;
    std::vector<Position> position_;
    std::vector<std::uint64_t> key_of_rank_;  // key by rank; 0: no partner is placed
    std::vector<Rank> latest_;
    std::priority_queue<QueuedRank> queue_;
    std::vector<QueuedRank> passed_over_;
    std::size_t next_central_ = 0;
    std::vector<Position> near_;  // a member only to save allocations
    std::vector<std::uint64_t> weights_;
};

}  // namespace topoloom::greedy
