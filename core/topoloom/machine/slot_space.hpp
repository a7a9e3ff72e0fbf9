// SPDX-License-Identifier: BSD-3-Clause
// Slots of a machine in its space, behind one type, for what need not be compiled for each space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/geometry/split_key.hpp"

namespace topoloom {

class Machine;

/// Slots, named by their place in a list. Every answer costs one call; ask for many at once where there are many.
class SlotSpace {
   public:
    virtual ~SlotSpace() = default;

    [[nodiscard]] virtual std::uint32_t distance(std::uint32_t a, std::uint32_t b) const = 0;
    /// From `a` to the slots from `begin` on, as many as `distances` holds.
    virtual void measure(std::uint32_t a, std::uint32_t begin, std::span<std::uint32_t> distances) const = 0;
    /// Whether the distance back is always as long.
    [[nodiscard]] virtual bool symmetric() const = 0;
    /// Whether distances come from a table of routers, in which halves rule out little.
    [[nodiscard]] virtual bool in_table() const = 0;
    /// By slot, a number from 0: slots of one number are as far as each other from all slots of other nodes. In tables
    /// those of a router are; elsewhere every slot has a number of its own.
    [[nodiscard]] virtual std::vector<std::uint32_t> kinds() const = 0;
    /// What the path between a slot and its node's port adds to distances.
    [[nodiscard]] virtual std::uint32_t port_cost(std::uint32_t a) const = 0;
    /// Of some of the slots; see SplitKey.
    [[nodiscard]] virtual std::vector<SplitKey> split_keys(std::span<const std::uint32_t> some) const = 0;

    static constexpr std::uint32_t leaf_size = 8;
    /// A run of the list.
    struct Part {
        std::uint32_t begin, end;
        std::uint32_t right;  // the second half; the first half is the next part; no_index: a leaf
    };
    /// The list, its halves, their halves, depth first, down to leaves of at most leaf_size slots.
    [[nodiscard]] std::span<const Part> parts() const { return parts_; }
    /// Makes the parts; to be called once.
    void halve() { halve(0, count_); }

    /// The sum of weighted distances to given slots.
    class Pull {
       public:
        virtual ~Pull() = default;
        [[nodiscard]] virtual std::uint64_t cost(std::uint32_t a) const = 0;
        /// At least this for all slots of a part.
        [[nodiscard]] virtual std::uint64_t bound(std::uint32_t part) const = 0;
    };
    struct Weighted {
        Slot slot;
        std::uint64_t weight;
    };
    /// To slots of the list, and `more`, which need not be one. Refers to this space.
    [[nodiscard]] virtual std::unique_ptr<Pull> pull(std::span<const std::uint32_t> slots,
                                                     std::span<const std::uint64_t> weights,
                                                     std::optional<Weighted> more = {}) const = 0;

   private:
    std::uint32_t halve(std::uint32_t begin, std::uint32_t end);
    /// Of the next part.
    virtual void add_region(std::uint32_t begin, std::uint32_t end) = 0;

    std::uint32_t count_;
    std::vector<Part> parts_;

   protected:
    explicit SlotSpace(std::size_t count) : count_(static_cast<std::uint32_t>(count)) {}
};

/// Refers to the machine.
[[nodiscard]] std::unique_ptr<SlotSpace> slot_space(const Machine& machine, std::span<const Slot> slots);

}  // namespace topoloom
