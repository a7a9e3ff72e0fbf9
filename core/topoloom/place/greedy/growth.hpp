// SPDX-License-Identifier: BSD-3-Clause
// A placement that grows along the communication graph: which rank comes next, and beside what.
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

/// What the next rank has most of.
enum class Key : std::uint8_t { degree, neighbors, bytes };
inline const Choices key_names{"degree", "neighbors", "bytes"};

/// Which slot a rank is put on: that of the least distance to all placed partners, or to the latest of them; or what
/// `nearest` finds for all of them.
struct Rule {
    Key key = Key::bytes;
    bool weighted = true;  // by the bytes to each partner
    bool latest_only = false;
    std::function<FreeSlots::Found(const FreeSlots&, const FreeSlots::Partners&)> nearest = {};
};

/// Draws from restricted candidate lists, as GRASP does.
struct Chance {
    Rng rng;
    std::uint32_t ranks = 0;  // beside the best one, as many per mille of those that wait may come next
    std::uint32_t centers =
        1000;  // per mille of the slots, the most central ones, on which a component may start
};

/// What all runs on one problem share: made once, copied where a run changes it.
struct Ground {
    const Allocation& allocation;
    const CommGraph& graph;  // symmetric
    FreeSlots free;
    std::vector<Position> central;  // least total distance to all allocated slots first
    std::vector<Rank> by_degree;    // most partners first

    explicit Ground(const Problem& problem);
};

/// One growth of a placement from a first rank. Every component of the graph starts anew, with its rank of most
/// partners, at the most central free slot, or where chance says. Ties go to the lowest index.
class Growth {
   public:
    Growth(const Ground& ground, const Rule& rule, const Chance* chance = nullptr);

    /// Spends one unit per slot looked at; once `spend` says stop, the rest goes to free slots in order.
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

    const Ground& ground_;
    const Rule& rule_;
    const Chance* chance_;
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
