// SPDX-License-Identifier: BSD-3-Clause
// The nearest slots of every slot of an allocation, built on demand.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/place/near/near_sites.hpp"
#include "topoloom/place/near/slot_sites.hpp"

namespace topoloom {

/// For every slot of an allocation, its `count` nearest slots, nearest first, excluding the slot itself. Slots
/// are identified by their position. Lists are exact and depend only on the allocation and `count`. At equal
/// distance, slots of the same node come first, those after the slot before those before it; for slots of
/// other nodes see near::make_near_sites(). The first access to a slot builds the lists of its node, in about
/// 10 to 30 ns per entry. All functions are thread-safe.
class NearLists {
   public:
    /// Small allocations have shorter lists. O(nodes log nodes + slots). Refers to the allocation.
    NearLists(const Allocation& allocation, std::uint32_t count);
    ~NearLists();
    NearLists(const NearLists&) = delete;
    NearLists& operator=(const NearLists&) = delete;

    [[nodiscard]] std::uint32_t count() const { return count_; }
    [[nodiscard]] std::span<const Position> list_at(Position position) const {
        const Position* list = lists_[position.value].load(std::memory_order_acquire);
        if (list == nullptr) [[unlikely]]
            list = build(position);
        return {list, count_};
    }
    /// The work since the last call, in units of about 0.1 us, for Meter::spend().
    [[nodiscard]] std::uint64_t take_work() const { return work_.exchange(0, std::memory_order_relaxed); }

   private:
    struct Workshop;

    const Position* build(Position position) const;
    void build_node(const near::SlotSites::NodeSlots& node, Workshop& shop) const;
    void find_outside(const near::SlotSites::NodeSlots& node, std::size_t wanted, Workshop& shop) const;
    void share_list(std::span<const Position> slots, Workshop& shop) const;
    void merge_list(std::span<const Position> slots, std::size_t from, Workshop& shop) const;
    [[nodiscard]] std::uint32_t port_distance(Position position) const;

    const Allocation& allocation_;
    near::SlotSites sites_;
    std::uint32_t count_;
    std::unique_ptr<near::NearSites> near_sites_;
    bool own_node_is_nearest_;  // whether no slot of another node is nearer than any slot of the same node
    mutable std::vector<std::atomic<const Position*>> lists_;  // by position; null: not built yet
    mutable std::atomic<std::uint64_t> work_;
    std::unique_ptr<Workshop[]> workshops_;
};

}  // namespace topoloom
