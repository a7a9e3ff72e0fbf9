// SPDX-License-Identifier: BSD-3-Clause
// Parts of an allocation for recursive halving, and the distances between parts.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/machine/geometry/split_key.hpp"
#include "topoloom/place/multilevel/full_ring_measurement.hpp"

namespace topoloom::multilevel {

/// A part of the machine: the slots [begin, end) of a list that all parts share.
struct MachinePart {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::int64_t capacity = 0;
    [[nodiscard]] std::uint32_t size() const { return end - begin; }
};

/// A part of the machine, and the ranks assigned to it: [begin, end) of a list that all parts share.
struct RankedPart {
    MachinePart machine;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::int64_t mass = 0;
    bool finished = false;
    [[nodiscard]] std::uint32_t size() const { return end - begin; }
};

/// For a part: its distance to a far piece minus its distance to a near piece.
using DistanceDifference = std::function<std::int64_t(Part)>;

/// The slots of an allocation, in an order that halving rearranges. The distance between two parts is the
/// mean distance between a few sample points, times a constant. Points are those of the last sample() of each
/// part.
class MachineParts {
   public:
    /// `fixed`: the slots of fixed ranks. Each forms a part of its own and, if it has no capacity left, no other.
    MachineParts(const Allocation& allocation, std::vector<std::int64_t> capacity,
                 std::span<const Position> fixed);
    virtual ~MachineParts() = default;
    MachineParts(const MachineParts&) = delete;
    MachineParts& operator=(const MachineParts&) = delete;

    /// All slots, except those that fixed ranks fill.
    [[nodiscard]] MachinePart whole_machine() const;
    /// The part of the i-th slot of fixed ranks.
    [[nodiscard]] MachinePart fixed_part(std::uint32_t i) const {
        return {divisible_ + i, divisible_ + i + 1};
    }
    [[nodiscard]] std::int64_t capacity(Position p) const { return capacity_[p.value]; }
    [[nodiscard]] std::span<const Position> slots(const MachinePart& part) const {
        return {slots_.data() + part.begin, part.size()};
    }
    /// Whether all slots of the part are at distance 0 and equally far from the network; such parts are not
    /// divided further.
    [[nodiscard]] bool is_indivisible(const MachinePart& part) const;
    /// Cuts a part at its most natural border near the middle. Requires at least two slots.
    std::array<MachinePart, 2> halve(const MachinePart& part);
    /// Cuts a part into all its groups at once if the groups are equidistant, as in a tree; otherwise into
    /// halves.
    std::vector<MachinePart> divide(const MachinePart& part);

    virtual void set_part_count(std::size_t count) = 0;
    [[nodiscard]] virtual std::size_t part_count() const = 0;
    virtual void sample(Part p, const MachinePart& part) = 0;
    virtual void swap_samples(Part p, Part q) = 0;
    /// The distance between two parts; symmetric.
    [[nodiscard]] virtual std::int64_t distance(Part p, Part q) const = 0;
    /// Returns q -> distance(far, q) - distance(near, q).
    [[nodiscard]] virtual DistanceDifference make_distance_difference(Part near, Part far) const = 0;
    /// A comparison of two pieces for which sample() has not been called.
    struct PieceComparison {
        std::int64_t apart;  // distance beyond the mean distance inside the pieces
        DistanceDifference farther;
    };
    [[nodiscard]] virtual PieceComparison compare_pieces(const MachinePart& near,
                                                         const MachinePart& far) const = 0;
    /// An upper bound of distances between parts, in multiples of the largest distance of the machine.
    [[nodiscard]] virtual std::int64_t distance_scale() const = 0;

   protected:
    [[nodiscard]] virtual std::int64_t slot_distance(Position a, Position b) const = 0;
    [[nodiscard]] virtual std::uint32_t port_distance(Position p) const = 0;
    [[nodiscard]] virtual std::vector<SplitKey> split_keys(std::span<const Position> slots) const = 0;

   private:
    std::vector<SplitKey> sort_slots(const MachinePart& part);
    std::vector<MachinePart> list_groups(const MachinePart& part);
    [[nodiscard]] bool are_equidistant(std::span<const MachinePart> groups) const;
    [[nodiscard]] std::uint32_t choose_cut(std::span<const SplitKey> keys, const MachinePart& part) const;

    std::vector<std::int64_t> capacity_;  // by position
    std::vector<Position> slots_;         // the divisible ones, then those of fixed ranks
    std::uint32_t divisible_ = 0;
};

/// Refers to the allocation. `capacity` is that of the slots beside fixed ranks.
[[nodiscard]] std::unique_ptr<MachineParts> make_machine_parts(const Allocation& allocation,
                                                               std::vector<std::int64_t> capacity,
                                                               FullRingMeasurement full,
                                                               std::span<const Position> fixed = {});

}  // namespace topoloom::multilevel
