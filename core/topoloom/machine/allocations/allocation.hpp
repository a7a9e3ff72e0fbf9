// SPDX-License-Identifier: BSD-3-Clause
// The slots of a job, in launcher order, and placements of ranks on them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Allocated slots of a machine; nodes are in the order in which the launcher fills them. Stores a pointer to
/// the machine, which must outlive the allocation.
class Allocation {
   public:
    /// Allocates all slots of the nodes. Throws Error if the list is empty, a node does not exist, is down or
    /// is listed twice, or two nodes have no route between them.
    Allocation(const Machine& machine, std::vector<Node> nodes);

    /// Allocates only these slots; nodes are in the order of their first slots. Throws the same errors as the
    /// constructor.
    static Allocation of_slots(const Machine& machine, std::vector<Slot> slots);

    /// Allocates all slots of all nodes that are up.
    static Allocation whole(const Machine& machine);

    [[nodiscard]] const Machine& machine() const { return *machine_; }
    [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
    [[nodiscard]] std::span<const Slot> slots() const { return slots_; }
    [[nodiscard]] std::size_t slot_count() const { return slots_.size(); }
    /// For each slot, the index of its node in nodes().
    [[nodiscard]] std::span<const std::uint32_t> node_of_slot() const { return node_of_slot_; }

   private:
    friend class Placement;
    explicit Allocation(const Machine& machine) : machine_(&machine) {}

    const Machine* machine_;
    /// Shared by all copies of the allocation. Only the address is compared, to tell allocations apart.
    std::shared_ptr<const char> identity_ = std::make_shared<const char>();
    std::vector<Node> nodes_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> node_of_slot_;
};

/// Whether several ranks may share a slot.
enum class SlotUse { one_rank, shared };

/// The slot of each rank. The constructor checks that slots are allocated and, unless shared, have at most
/// one rank.
class Placement {
   public:
    /// Throws Error if there are no ranks, a slot is not allocated, or a slot that is not shared is used twice.
    Placement(const Allocation& allocation, std::vector<Slot> slot_of_rank, SlotUse use = SlotUse::one_rank);

    /// Makes a placement from slots that were read from a file, for the machine with this machine text. The
    /// allocation is not known yet; require_compatible_with() checks the slots later. Throws the same errors as the
    /// constructor.
    static Placement from_saved_slots(std::shared_ptr<const std::string> machine_text,
                                      std::vector<Slot> slot_of_rank, SlotUse use);

    /// Throws Error unless the placement was made for the allocation, or is on the same machine and uses only
    /// slots of the allocation.
    void require_compatible_with(const Allocation& allocation) const;

    [[nodiscard]] std::size_t rank_count() const { return slots_.size(); }
    [[nodiscard]] SlotUse use() const { return use_; }
    Slot operator[](Rank rank) const { return slots_[rank.value]; }
    [[nodiscard]] std::span<const Slot> slots() const { return slots_; }
    /// The machine text of the placement's machine.
    [[nodiscard]] const std::string& machine_text() const { return *machine_; }

    /// Compares the slots, their use and the machine text, but not the allocation.
    friend bool operator==(const Placement& a, const Placement& b) {
        return a.slots_ == b.slots_ && a.use_ == b.use_ && *a.machine_ == *b.machine_;
    }

   private:
    Placement() = default;

    std::vector<Slot> slots_;
    SlotUse use_ = SlotUse::one_rank;
    std::shared_ptr<const std::string> machine_;  // its text
    std::shared_ptr<const char> allocation_;
};

}  // namespace topoloom
