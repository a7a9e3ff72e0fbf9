// SPDX-License-Identifier: BSD-3-Clause
// The input of a mapper: graph, allocation, objective, capacities, migration, seed and threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "topoloom/base/budget.hpp"
#include "topoloom/base/lazy.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/metric/loads/congestion_key.hpp"
#include "topoloom/metric/loads/time_parts.hpp"
#include "topoloom/metric/objective.hpp"
#include "topoloom/pattern/comm_graph.hpp"
#include "topoloom/pattern/recognize/grid_pattern.hpp"
#include "topoloom/place/capacity.hpp"
#include "topoloom/place/migration.hpp"

namespace topoloom {

/// Throws Error if the objective counts time and the machine gives no bandwidths.
void require_times(const Machine& machine, const Objective& objective);

class Problem {
   public:
    /// Refers to graph and allocation, which must live longer. Throws Error unless the ranks fit, see Capacity, and
    /// hop-bytes are exact in 64 bits.
    Problem(const CommGraph& graph, const Allocation& allocation, std::uint64_t seed = 1, int threads = 0,
            const Sharing& sharing = {});

    [[nodiscard]] const CommGraph& graph() const { return graph_; }
    [[nodiscard]] const Allocation& allocation() const { return allocation_; }
    [[nodiscard]] const Machine& machine() const { return allocation_.machine(); }
    [[nodiscard]] const Capacity& capacity() const { return capacity_; }
    [[nodiscard]] std::size_t rank_count() const { return graph_.rank_count(); }
    [[nodiscard]] std::uint64_t seed() const { return seed_; }
    /// The same problem with another seed and one thread, for parallel searches.
    [[nodiscard]] Problem with_seed(std::uint64_t seed) const;
    /// The same problem, coming from an earlier placement. Throws Error as migration_cost() does.
    [[nodiscard]] Problem with_migration(Migration migration) const;
    /// Null if there was no earlier placement.
    [[nodiscard]] const Migration* migration() const { return migration_.get(); }
    /// The same problem with another objective than hop-bytes, in the phases that the graph is the sum of (none: it is
    /// one) and beside a background of bytes by link. Refers to both. Throws Error if ranks share slots or have an
    /// earlier placement, whose costs are hop-bytes; and for a background that does not fit the links.
    [[nodiscard]] Problem with_objective(const Objective& objective, std::vector<const CommGraph*> phases,
                                         std::span<const double> background) const;
    /// The same problem for hop-bytes.
    [[nodiscard]] Problem for_hop_bytes() const;
    [[nodiscard]] bool is_for_hop_bytes() const { return objective_ == nullptr; }
    /// The objective on links; congestion where the problem is for hop-bytes.
    [[nodiscard]] MeasuredObjective link_objective() const;
    /// Hop-bytes of what is sent, through proxies if ranks share slots, and those of moving the ranks. O(edges), on all
    /// cores.
    [[nodiscard]] std::int64_t value(std::span<const Slot> slot_of_rank) const;
    /// The key to compare placements by: value(), or the objective first. O(edges * hops).
    [[nodiscard]] CongestionKey key(std::span<const Slot> slot_of_rank) const;
    /// The first component of key(): hop-bytes, seconds, or a mix relative to block placement.
    [[nodiscard]] double objective_value(std::span<const Slot> slot_of_rank) const;
    /// Predicted seconds, whatever the objective; see PhaseTime. 0 if the machine gives no bandwidths.
    [[nodiscard]] double time(std::span<const Slot> slot_of_rank) const;
    /// Whether busy links and nodes take most of that time, not startups and latencies.
    [[nodiscard]] bool is_busy(std::span<const Slot> slot_of_rank) const;
    [[nodiscard]] int threads() const { return threads_; }
    /// Whether what is sent depends on which ranks share a slot: searches that count every message are then too careful.
    [[nodiscard]] bool uses_proxies() const {
        return !graph_.proxied().empty() && !capacity_.one_rank_per_slot();
    }

    /// graph().symmetric(), made when first asked for; copies of the problem share it. Throws Error if a search would
    /// need more memory than there is.
    [[nodiscard]] const CommGraph& symmetric() const;
    /// The result of recognize() for symmetric(), made when first asked for.
    [[nodiscard]] const std::optional<GridPattern>& pattern() const;

   private:
    /// Derived from the graph alone.
    struct Derived {
        Lazy<CommGraph> symmetric;
        Lazy<std::optional<GridPattern>> pattern;
    };
    [[nodiscard]] TimeParts parts_of_time(std::span<const Slot> slot_of_rank) const;

    const CommGraph& graph_;
    const Allocation& allocation_;
    Capacity capacity_;
    std::uint64_t seed_;
    int threads_;
    std::shared_ptr<const Migration> migration_;
    std::shared_ptr<const MeasuredObjective> objective_;
    std::shared_ptr<Derived> derived_;
};

}  // namespace topoloom
