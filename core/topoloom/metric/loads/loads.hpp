// SPDX-License-Identifier: BSD-3-Clause
// What searches on links go by: the value of a placement that changes, rank by rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/metric/loads/congestion_key.hpp"

namespace topoloom {

/// Behind one type, so that searches are compiled once. A call costs nothing beside the routes of a rank.
class Loads {
   public:
    Loads() = default;
    virtual ~Loads() = default;
    Loads(const Loads&) = delete;
    Loads& operator=(const Loads&) = delete;

    [[nodiscard]] virtual Slot slot(Rank u) const = 0;
    /// Of all ranks.
    [[nodiscard]] virtual std::vector<Slot> slots() const = 0;
    [[nodiscard]] virtual std::size_t rank_count() const = 0;
    [[nodiscard]] virtual const CongestionKey& key() = 0;
    /// A value that falls as high loads do. 0 until a scale is set.
    [[nodiscard]] virtual std::int64_t soft() const = 0;
    virtual void set_soft_scale() = 0;

    virtual void exchange(Rank u, Rank v) = 0;
    virtual void move(Rank u, Slot to) = 0;
    /// Make the change if key() falls; else nothing has happened.
    virtual bool exchange_if_better(Rank u, Rank v) = 0;
    virtual bool move_if_better(Rank u, Slot to) = 0;
    /// Make the change if soft() is at most `most` then; else nothing has happened. A scale must be set.
    virtual bool exchange_if_soft_at_most(Rank u, Rank v, std::int64_t most) = 0;
    virtual bool move_if_soft_at_most(Rank u, Slot to, std::int64_t most) = 0;
    /// Takes back the last change; only once, and before any other is tried.
    virtual void undo() = 0;

    /// The ranks whose changes may matter most: those with a message over a link that is at least this share as busy as
    /// the busiest. O(edges * hops).
    [[nodiscard]] virtual std::vector<Rank> ranks_on_busy_links(double share) = 0;
    /// Whether a message from or to u crosses one of the busiest links.
    [[nodiscard]] virtual bool is_on_busiest_link(Rank u) = 0;
};

}  // namespace topoloom
