// SPDX-License-Identifier: BSD-3-Clause
// The slots that a job was given, in the launcher's order; and a placement: which rank sits on which of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Nodes of a machine in the order in which the launcher fills them, each with all of its slots or with some.
/// Refers to the machine, which must live longer.
class Allocation {
   public:
    /// All slots of the given nodes. Throws Error for an empty list, nodes that do not exist, are down or stand there
    /// twice, and nodes that failures cut off from each other.
    Allocation(const Machine& machine, std::vector<Node> nodes);

    /// Just these slots; nodes are listed in the order in which their first slot comes. Throws Error likewise.
    static Allocation of_slots(const Machine& machine, std::vector<Slot> slots);

    /// Every slot of the machine, but those of nodes that are down.
    static Allocation whole(const Machine& machine);

    [[nodiscard]] const Machine& machine() const { return *machine_; }
    [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
    [[nodiscard]] std::span<const Slot> slots() const { return slots_; }
    [[nodiscard]] std::size_t slot_count() const { return slots_.size(); }
    /// For every slot the index of its node in nodes().
    [[nodiscard]] std::span<const std::uint32_t> node_of_slot() const { return node_of_slot_; }

   private:
    friend class Placement;
    explicit Allocation(const Machine& machine) : machine_(&machine) {}

    const Machine* machine_;
    /// Only compared: copies have the same.
    std::shared_ptr<const char> identity_ = std::make_shared<const char>();
    std::vector<Node> nodes_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> node_of_slot_;
};

/// Whether several ranks may sit on one slot.
enum class SlotUse { one_rank, shared };

/// rank → slot, every slot in the allocation and, unless slots are shared, at most one rank on it: valid from the
/// moment it exists.
class Placement {
   public:
    /// Throws Error if there are no ranks, a slot is not allocated, or a slot that is not shared is used twice.
    Placement(const Allocation& allocation, std::vector<Slot> slot_of_rank, SlotUse use = SlotUse::one_rank);

    /// As it was saved, for the machine of that text, whose allocation nobody has at hand: require_on() then looks whether
    /// its slots are allocated. Throws Error likewise.
    static Placement restored(std::shared_ptr<const std::string> machine_text, std::vector<Slot> slot_of_rank,
                              SlotUse use);

    /// Throws Error unless this is a placement on that allocation: it was made for it, or for another one of the
    /// same machine, and all of its slots are allocated there as well.
    void require_on(const Allocation& allocation) const;

    [[nodiscard]] std::size_t rank_count() const { return slots_.size(); }
    [[nodiscard]] SlotUse use() const { return use_; }
    Slot operator[](Rank rank) const { return slots_[rank.value]; }
    [[nodiscard]] std::span<const Slot> slots() const { return slots_; }
    /// Of the machine that it was made for.
    [[nodiscard]] const std::string& machine_text() const { return *machine_; }

    /// Of one machine, whatever the allocation.
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
