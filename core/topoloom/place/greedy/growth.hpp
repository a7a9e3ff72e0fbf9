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
#include "topoloom/place/state/free_slots.hpp"

namespace topoloom::greedy {

/// The quantity by which the next rank is chosen.
enum class RankKey : std::uint8_t { degree, neighbors, bytes };
inline const Choices rank_key_names{"degree", "neighbors", "bytes"};

/// Which slot a rank is put on: that of the least distance to all placed partners, or to the latest of them; or what
/// `nearest` finds for all of them.
struct GrowthRule {
    RankKey key = RankKey::bytes;
    bool weighted = true;  // by the bytes to each partner
    bool latest_only = false;
    std::function<FreeSlots::Found(const FreeSlots&, const FreeSlots::Partners&)> nearest = {};
};

/// Draws from restricted candidate lists, as GRASP does.
struct Randomization {
    Rng rng;
    std::uint32_t ranks = 0;  // beside the best one, as many per mille of those that wait may come next
    std::uint32_t centers =
        1000;  // per mille of the slots, the most central ones, on which a component may start
};

/// Shared by all growths on one problem; state that a growth changes is copied.
struct GrowthContext {
    const Allocation& allocation;
    const CommGraph& graph;  // symmetric
    FreeSlots free;
    std::vector<Position> central;  // least total distance to all allocated slots first
    std::vector<Rank> by_degree;    // most partners first

    explicit GrowthContext(const Problem& problem);
};

/// One growth of a placement from a first rank. Every component of the graph restarts, with its rank of most
/// partners, at the most central free slot, or where chance says. Ties go to the lowest index.
class Growth {
   public:
    Growth(const GrowthContext& context, const GrowthRule& rule, const Randomization* chance = nullptr);

    /// Spends one unit per slot examined; once `spend` returns false, the other ranks take free slots in order.
    [[nodiscard]] std::vector<Slot> run(Rank first, const std::function<bool(std::uint64_t)>& spend);

   private:
    struct Waiting {
        std::uint64_t key;
        Rank rank;
        friend bool operator<(const Waiting& a, const Waiting& b) {
            return std::tie(a.key, b.rank) < std::tie(b.key, a.rank);
        }
    };

    [[nodiscard]] bool placed(Rank u) const { return position_[u.value] != Position::none; }
    Position center();
    void put(Rank u, Position position);
    bool raise(Rank v, Bytes bytes);
    Rank next();
    Rank drop_stale();
    FreeSlots::Found best_slot(Rank s);
    std::vector<Slot> finish();

    const GrowthContext& context_;
    const GrowthRule& rule_;
    const Randomization* chance_;
    Rng rng_;
    FreeSlots free_;
    std::vector<Position> position_;
    std::vector<std::uint64_t> drawn_;  // by rank: its key; 0: no partner is placed
    std::vector<Rank> latest_;
    std::priority_queue<Waiting> queue_;
    std::vector<Waiting> passed_over_;
    std::size_t next_central_ = 0;
    std::vector<Position> near_;  // kept to save allocations
    std::vector<std::uint64_t> weights_;
};

}  // namespace topoloom::greedy
