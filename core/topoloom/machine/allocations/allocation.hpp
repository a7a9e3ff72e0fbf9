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

/// Nodes of a machine in the order in which the launcher fills them, each with some or all of its slots. Refers to the
/// machine, which must live longer.
class Allocation {
   public:
    /// All slots of the given nodes. Throws Error for an empty list, nodes that do not exist, are down or are listed twice,
    /// and nodes without a route between them.
    Allocation(const Machine& machine, std::vector<Node> nodes);

    /// These slots only; nodes are in the order of their first slots. Throws Error likewise.
    static Allocation of_slots(const Machine& machine, std::vector<Slot> slots);

    /// All slots of nodes that are up.
    static Allocation whole(const Machine& machine);

    [[nodiscard]] const Machine& machine() const { return *machine_; }
    [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
    [[nodiscard]] std::span<const Slot> slots() const { return slots_; }
    [[nodiscard]] std::size_t slot_count() const { return slots_.size(); }
    /// By slot: the index of its node in nodes().
    [[nodiscard]] std::span<const std::uint32_t> node_of_slot() const { return node_of_slot_; }

   private:
    friend class Placement;
    explicit Allocation(const Machine& machine) : machine_(&machine) {}

    const Machine* machine_;
    /// Equal for copies; only compared.
    std::shared_ptr<const char> identity_ = std::make_shared<const char>();
    std::vector<Node> nodes_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> node_of_slot_;
};

/// Whether several ranks may sit on one slot.
enum class SlotUse { one_rank, shared };

/// rank → slot. Every slot is in the allocation and, unless slots are shared, has at most one rank: a placement that exists
/// is valid.
class Placement {
   public:
    /// Throws Error if there are no ranks, a slot is not allocated, or a slot that is not shared is used twice.
    Placement(const Allocation& allocation, std::vector<Slot> slot_of_rank, SlotUse use = SlotUse::one_rank);

    /// A placement from a file, for the machine with this text but without its allocation: require_on() checks the slots.
    /// Throws Error likewise.
    static Placement restored(std::shared_ptr<const std::string> machine_text, std::vector<Slot> slot_of_rank,
                              SlotUse use);

    /// Throws Error unless this is a placement on the allocation: made for it, or for another allocation of the same machine
    /// and with allocated slots only.
    void require_on(const Allocation& allocation) const;

    [[nodiscard]] std::size_t rank_count() const { return slots_.size(); }
    [[nodiscard]] SlotUse use() const { return use_; }
    Slot operator[](Rank rank) const { return slots_[rank.value]; }
    [[nodiscard]] std::span<const Slot> slots() const { return slots_; }
    /// The text of the machine that it was made for.
    [[nodiscard]] const std::string& machine_text() const { return *machine_; }

    /// Compares slots, use and machine, not the allocation.
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
