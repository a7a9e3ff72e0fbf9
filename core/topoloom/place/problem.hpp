// SPDX-License-Identifier: BSD-3-Clause
// The input of a mapper: graph, allocation, objective, capacities, fixed ranks, migration, seed and threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "topoloom/base/budget.hpp"
#include "topoloom/base/lazy.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/metric/loads/congestion_key.hpp"
#include "topoloom/metric/loads/total_and_busiest_times.hpp"
#include "topoloom/metric/objective.hpp"
#include "topoloom/pattern/comm_graph.hpp"
#include "topoloom/pattern/recognize/grid_pattern.hpp"
#include "topoloom/place/capacity.hpp"
#include "topoloom/place/fixed_ranks.hpp"
#include "topoloom/place/migration_cost.hpp"

namespace topoloom {

/// Throws Error if the objective includes time and the machine has no bandwidths.
void require_times(const Machine& machine, const Objective& objective);

class Problem {
   public:
    /// Refers to `graph` and `allocation`, which must outlive the problem. Throws Error if the ranks do not
    /// fit (see Capacity), or if hop-bytes could exceed 64 bits.
    Problem(const CommGraph& graph, const Allocation& allocation, std::uint64_t seed = 1, int threads = 0,
            const Sharing& sharing = {});

    [[nodiscard]] const CommGraph& graph() const { return graph_; }
    [[nodiscard]] const Allocation& allocation() const { return allocation_; }
    [[nodiscard]] const Machine& machine() const { return allocation_.machine(); }
    [[nodiscard]] const Capacity& capacity() const { return capacity_; }
    [[nodiscard]] std::size_t rank_count() const { return graph_.rank_count(); }
    [[nodiscard]] std::uint64_t seed() const { return seed_; }
    /// A copy with another seed; by default with one thread, for parallel searches.
    [[nodiscard]] Problem with_seed(std::uint64_t seed, int threads = 1) const;
    /// A copy in which some ranks are fixed to slots. Every mapper leaves them there. Throws Error if a slot is
    /// not allocated, or too small for the ranks fixed to it.
    [[nodiscard]] Problem with_fixed(FixedRanks fixed) const;
    [[nodiscard]] const FixedRanks& fixed() const { return *fixed_; }
    /// The capacity that fixed ranks leave on each slot, by position.
    [[nodiscard]] std::vector<std::int64_t> spare_capacities() const;
    /// A copy with an earlier placement. Throws Error when migration_cost() does.
    [[nodiscard]] Problem with_migration(Migration migration) const;
    /// Null if there is no earlier placement.
    [[nodiscard]] const Migration* migration() const { return migration_.get(); }
    /// A copy with an objective other than hop-bytes. `phases` must add up to the graph (empty: one phase);
    /// `background` is the bytes of other traffic on each link. The copy refers to both. Throws Error if
    /// ranks share slots or have an earlier placement, because their costs are hop-bytes, and if the
    /// background does not match the links.
    [[nodiscard]] Problem with_objective(const Objective& objective, std::vector<const CommGraph*> phases,
                                         std::span<const double> background) const;
    /// A copy whose objective the program chose, not the user. `auto` then returns no placement with a longer
    /// predicted time than block order.
    [[nodiscard]] Problem with_automatic_objective() const;
    [[nodiscard]] bool has_automatic_objective() const { return has_automatic_objective_; }
    /// A copy with the objective hop-bytes.
    [[nodiscard]] Problem for_hop_bytes() const;
    [[nodiscard]] bool is_for_hop_bytes() const { return objective_ == nullptr; }
    /// The objective if it is on links; congestion if it is hop-bytes.
    [[nodiscard]] PhasedObjective link_objective() const;
    /// Hop-bytes of all messages (through proxies if ranks share slots), plus migration cost. O(edges), on
    /// all cores.
    [[nodiscard]] std::int64_t value(std::span<const Slot> slot_of_rank) const;
    /// The key by which placements are compared: value() or, if the objective is on links, first the
    /// objective. O(edges * hops).
    [[nodiscard]] CongestionKey key(std::span<const Slot> slot_of_rank) const;
    /// The first component of key(): hop-bytes, seconds, or a mix relative to block placement.
    [[nodiscard]] double objective_value(std::span<const Slot> slot_of_rank) const;
    /// Predicted time in seconds, whatever the objective; see PhaseTime. 0 if the machine has no bandwidths.
    [[nodiscard]] double time(std::span<const Slot> slot_of_rank) const;
    /// Whether busy links and nodes, not startups and latencies, take most of the predicted time.
    [[nodiscard]] bool is_bandwidth_bound(std::span<const Slot> slot_of_rank) const;
    [[nodiscard]] int threads() const { return threads_; }
    /// Whether the messages sent depend on which ranks share a slot. Searches that count all messages then
    /// overestimate the cost.
    [[nodiscard]] bool uses_proxies() const {
        return !graph_.proxied().empty() && !capacity_.one_rank_per_slot();
    }

    /// graph().symmetric(), computed on first use and shared by copies of the problem. Throws Error if
    /// searches would need more memory than is available.
    [[nodiscard]] const CommGraph& symmetric() const;
    /// The pattern that recognize() finds in symmetric(), computed on first use.
    [[nodiscard]] const std::optional<GridPattern>& pattern() const;

   private:
    /// Data that depends only on the graph.
    struct DerivedData {
        Lazy<CommGraph> symmetric;
        Lazy<std::optional<GridPattern>> pattern;
    };
    [[nodiscard]] TotalAndBusiestTimes compute_time_parts(std::span<const Slot> slot_of_rank) const;

    const CommGraph& graph_;
    const Allocation& allocation_;
    Capacity capacity_;
    std::uint64_t seed_;
    int threads_;
    bool has_automatic_objective_ = false;
    std::shared_ptr<const FixedRanks> fixed_;
    std::shared_ptr<const Migration> migration_;
    std::shared_ptr<const PhasedObjective> objective_;
    std::shared_ptr<DerivedData> derived_;
};

}  // namespace topoloom
