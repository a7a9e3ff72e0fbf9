// SPDX-License-Identifier: BSD-3-Clause
// Incremental value of a placement under link-based objectives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/metric/loads/congestion_key.hpp"

namespace topoloom {

/// The highest soft value that an accepted change may have: if hop-bytes do not rise, and if they do.
struct SoftLimit {
    std::int64_t nearer;
    std::int64_t farther;
};

/// A placement and its objective value. Virtual, so that searches are compiled once; a virtual call is
/// negligible compared with the routes of a rank.
class LoadTracker {
   public:
    LoadTracker() = default;
    virtual ~LoadTracker() = default;
    LoadTracker(const LoadTracker&) = delete;
    LoadTracker& operator=(const LoadTracker&) = delete;

    [[nodiscard]] virtual Slot slot(Rank u) const = 0;
    /// The slots of all ranks.
    [[nodiscard]] virtual std::vector<Slot> slots() const = 0;
    [[nodiscard]] virtual std::size_t rank_count() const = 0;
    [[nodiscard]] virtual const CongestionKey& key() = 0;
    /// A smooth value that decreases when high loads decrease. It is 0 until a scale is set.
    [[nodiscard]] virtual std::int64_t soft_value() const = 0;
    virtual void set_soft_scale() = 0;

    virtual void exchange(Rank u, Rank v) = 0;
    virtual void move(Rank u, Slot to) = 0;
    /// Applies the change and returns true if key() decreases and no fixed rank moves; otherwise changes nothing.
    bool exchange_if_better(Rank u, Rank v) {
        return !is_fixed(u) && !is_fixed(v) && apply_exchange_if_better(u, v);
    }
    bool move_if_better(Rank u, Slot to) { return !is_fixed(u) && apply_move_if_better(u, to); }
    /// Applies the change and returns true if the new soft_value() is within the limit and no fixed rank moves;
    /// otherwise changes nothing. Requires a scale.
    bool exchange_if_soft_at_most(Rank u, Rank v, const SoftLimit& limit) {
        return !is_fixed(u) && !is_fixed(v) && apply_exchange_if_soft(u, v, limit);
    }
    bool move_if_soft_at_most(Rank u, Slot to, const SoftLimit& limit) {
        return !is_fixed(u) && apply_move_if_soft(u, to, limit);
    }
    /// Undoes the last change. Call only once, before any other change is tried.
    virtual void undo() = 0;

    /// Ranks with a message over a link whose congestion is at least this share of the maximum. O(edges * hops).
    [[nodiscard]] virtual std::vector<Rank> ranks_on_busy_links(double share) = 0;
    /// Whether a message from or to u crosses one of the busiest links.
    [[nodiscard]] virtual bool is_on_busiest_link(Rank u) = 0;

    /// Fixes ranks to their slots: the conditional changes above do not move them.
    void fix(std::span<const Rank> ranks) {
        if (is_fixed_.empty() && !ranks.empty()) is_fixed_.assign(rank_count(), 0);
        for (const Rank u : ranks) is_fixed_[u.value] = 1;
    }
    [[nodiscard]] bool is_fixed(Rank u) const { return !is_fixed_.empty() && is_fixed_[u.value] != 0; }

   private:
    virtual bool apply_exchange_if_better(Rank u, Rank v) = 0;
    virtual bool apply_move_if_better(Rank u, Slot to) = 0;
    virtual bool apply_exchange_if_soft(Rank u, Rank v, const SoftLimit& limit) = 0;
    virtual bool apply_move_if_soft(Rank u, Slot to, const SoftLimit& limit) = 0;

    std::vector<char> is_fixed_;  // by rank; empty if no rank is fixed
};

}  // namespace topoloom
