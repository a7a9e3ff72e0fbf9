// SPDX-License-Identifier: BSD-3-Clause
// Type-erased distances between slots, for code that is not compiled for each space.
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

/// A list of slots and the distances between them. Slots are identified by their index in the list. Every function is a
/// virtual call: prefer measure_distances() to repeated distance().
class SlotSpace {
   public:
    virtual ~SlotSpace() = default;

    [[nodiscard]] virtual std::uint32_t distance(std::uint32_t a, std::uint32_t b) const = 0;
    /// Fills `distances` with the distances from slot `a` to slots begin, begin + 1, ...
    virtual void measure_distances(std::uint32_t a, std::uint32_t begin,
                                   std::span<std::uint32_t> distances) const = 0;
    /// Whether distance(a, b) == distance(b, a) for all pairs.
    [[nodiscard]] virtual bool is_symmetric() const = 0;
    /// Whether distances come from a hop table of routers. Lower bounds of parts are then weak and prune
    /// little.
    [[nodiscard]] virtual bool has_router_table() const = 0;
    /// The class of each slot, numbered from 0: slots of one class have equal distances to all slots of other
    /// nodes. Without a router table every slot has a separate class.
    [[nodiscard]] virtual std::vector<std::uint32_t> distance_classes() const = 0;
    /// The distance between a slot and its node's port.
    [[nodiscard]] virtual std::uint32_t port_distance(std::uint32_t a) const = 0;
    /// Returns the SplitKeys of the slots.
    [[nodiscard]] virtual std::vector<SplitKey> split_keys(std::span<const std::uint32_t> some) const = 0;

    static constexpr std::uint32_t leaf_size = 8;
    /// A contiguous range of the list.
    struct Part {
        std::uint32_t begin, end;
        /// Index of the second half, or no_index for a leaf; the first half is the next part.
        std::uint32_t right;
    };
    /// Recursive bisection of the list in depth-first order, down to leaves of at most leaf_size slots. Empty until
    /// build_parts() is called.
    [[nodiscard]] std::span<const Part> parts() const { return parts_; }
    /// Call at most once.
    void build_parts() { bisect(0, count_); }

    /// Computes the sum of weighted distances from a slot to a fixed set of slots.
    class DistanceSum {
       public:
        virtual ~DistanceSum() = default;
        [[nodiscard]] virtual std::uint64_t at(std::uint32_t a) const = 0;
        /// A lower bound of at() over the slots of a part.
        [[nodiscard]] virtual std::uint64_t bound(std::uint32_t part) const = 0;
    };
    struct WeightedSlot {
        Slot slot;
        std::uint64_t weight;
    };
    /// Makes the object that sums distances to slots of the list and to `extra`, which may be outside the
    /// list. The sum refers to this space.
    [[nodiscard]] virtual std::unique_ptr<DistanceSum> sum_distances(
        std::span<const std::uint32_t> slots, std::span<const std::uint64_t> weights,
        std::optional<WeightedSlot> extra = {}) const = 0;

   private:
    std::uint32_t bisect(std::uint32_t begin, std::uint32_t end);
    /// Stores the region of the next part, which contains slots begin .. end - 1.
    virtual void add_region(std::uint32_t begin, std::uint32_t end) = 0;

    std::uint32_t count_;
    std::vector<Part> parts_;

   protected:
    explicit SlotSpace(std::size_t count) : count_(static_cast<std::uint32_t>(count)) {}
};

/// Makes the space of these slots. The space refers to the machine.
[[nodiscard]] std::unique_ptr<SlotSpace> make_slot_space(const Machine& machine, std::span<const Slot> slots);

}  // namespace topoloom
