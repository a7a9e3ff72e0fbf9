// SPDX-License-Identifier: BSD-3-Clause
// Incremental value of a placement under link-based objectives.
#pragma once

#include <cstddef>
#include <cstdint>
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
    /// Applies the change and returns true if key() decreases; otherwise changes nothing.
    virtual bool exchange_if_better(Rank u, Rank v) = 0;
    virtual bool move_if_better(Rank u, Slot to) = 0;
    /// Applies the change and returns true if the new soft_value() is within the limit; otherwise changes
    /// nothing. Requires a scale.
    virtual bool exchange_if_soft_at_most(Rank u, Rank v, const SoftLimit& limit) = 0;
    virtual bool move_if_soft_at_most(Rank u, Slot to, const SoftLimit& limit) = 0;
    /// Undoes the last change. Call only once, before any other change is tried.
    virtual void undo() = 0;

    /// Ranks with a message over a link whose congestion is at least this share of the maximum. O(edges * hops).
    [[nodiscard]] virtual std::vector<Rank> ranks_on_busy_links(double share) = 0;
    /// Whether a message from or to u crosses one of the busiest links.
    [[nodiscard]] virtual bool is_on_busiest_link(Rank u) = 0;
};

}  // namespace topoloom
