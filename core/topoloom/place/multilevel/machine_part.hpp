// SPDX-License-Identifier: BSD-3-Clause
// Pieces of an allocation that are halved again and again, and how far apart two pieces are.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/machine/geometry/split_key.hpp"
#include "topoloom/place/multilevel/full_rings.hpp"

namespace topoloom::multilevel {

/// The slots begin .. end of a list that is shared by all parts.
struct MachinePart {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::int64_t capacity = 0;
    [[nodiscard]] std::uint32_t size() const { return end - begin; }
};

/// A part of the machine and the ranks that go there: begin .. end of a list that is shared by all parts.
struct RankedPart {
    MachinePart machine;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::int64_t mass = 0;
    bool finished = false;
    [[nodiscard]] std::uint32_t size() const { return end - begin; }
};

/// By how much a part is farther from one than from another.
using DistanceDifference = std::function<std::int64_t(Part)>;

/// An allocation as a list of its slots, in an order that halving rearranges. Distances between parts are means over a
/// few points of each, times the same number for all; the parts are those that were last sampled.
class MachineParts {
   public:
    MachineParts(const Allocation& allocation, std::span<const std::int64_t> capacity);
    virtual ~MachineParts() = default;
    MachineParts(const MachineParts&) = delete;
    MachineParts& operator=(const MachineParts&) = delete;

    [[nodiscard]] MachinePart whole() const;
    [[nodiscard]] std::span<const Position> slots(const MachinePart& part) const {
        return {slots_.data() + part.begin, part.size()};
    }
    /// No two slots of the part are apart, nor nearer to other nodes: it needs no further halving.
    [[nodiscard]] bool is_point(const MachinePart& part) const;
    /// Cuts a part of several slots where it falls apart most naturally, near the middle.
    std::array<MachinePart, 2> halve(const MachinePart& part);
    /// Cuts a part between all its groups at once where these are equally far from each other, as those of a tree are,
    /// and from other nodes; else in halves.
    std::vector<MachinePart> divide(const MachinePart& part);

    virtual void set_part_count(std::size_t count) = 0;
    [[nodiscard]] virtual std::size_t part_count() const = 0;
    virtual void sample(Part p, const MachinePart& part) = 0;
    virtual void swap_samples(Part p, Part q) = 0;
    /// The same for both directions.
    [[nodiscard]] virtual std::int64_t distance(Part p, Part q) const = 0;
    /// distance(far, q) - distance(near, q) for parts q.
    [[nodiscard]] virtual DistanceDifference farther_from(Part near, Part far) const = 0;
    /// Comparison of two pieces that are not among the parts yet.
    struct Pieces {
        std::int64_t apart;  // beyond how far their own points are
        DistanceDifference farther;
    };
    [[nodiscard]] virtual Pieces compare(const MachinePart& near, const MachinePart& far) const = 0;
    /// Distances of parts are at most this many times the largest distance of the machine.
    [[nodiscard]] virtual std::int64_t distance_scale() const = 0;

   protected:
    [[nodiscard]] virtual std::int64_t slot_distance(Position a, Position b) const = 0;
    [[nodiscard]] virtual std::uint32_t port_distance(Position p) const = 0;
    [[nodiscard]] virtual std::vector<SplitKey> split_keys(std::span<const Position> slots) const = 0;

   private:
    std::vector<SplitKey> sort(const MachinePart& part);
    std::vector<MachinePart> groups(const MachinePart& part);
    [[nodiscard]] bool equidistant(std::span<const MachinePart> groups) const;
    [[nodiscard]] std::uint32_t choose_cut(std::span<const SplitKey> keys, const MachinePart& part) const;

    std::span<const std::int64_t> capacity_;
    std::vector<Position> slots_;
};

/// Refers to the allocation and the capacities of its slots.
[[nodiscard]] std::unique_ptr<MachineParts> machine_parts(const Allocation& allocation,
                                                          std::span<const std::int64_t> capacity,
                                                          FullRings full);

}  // namespace topoloom::multilevel
