// SPDX-License-Identifier: BSD-3-Clause
// Pieces of an allocation that are halved again and again, and how far apart two pieces are.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/machine/geometry/split_key.hpp"
#include "topoloom/place/multilevel/part_distance.hpp"
#include "topoloom/place/state/arrangement.hpp"

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

/// An allocation as a list of its slots, in an order that halving rearranges.
template <class Space>
class MachineParts {
   public:
    using Point = typename Space::Point;

    MachineParts(const Space& space, const Allocation& allocation, std::span<const std::int64_t> capacity,
                 FullRings full)
        : space_(space),
          capacity_(capacity),
          slots_(id_list<Position>(allocation.slot_count())),
          point_(slot_points(space, allocation)),
          apart_(space, allocation.machine().inside(), point_, full) {}

    [[nodiscard]] MachinePart whole() const {
        return {0, static_cast<std::uint32_t>(slots_.size()),
                std::accumulate(capacity_.begin(), capacity_.end(), std::int64_t{0})};
    }
    [[nodiscard]] std::span<const Position> slots(const MachinePart& part) const {
        return {slots_.data() + part.begin, part.size()};
    }
    /// No two slots of the part are apart, nor nearer to other nodes: it needs no further halving.
    [[nodiscard]] bool is_point(const MachinePart& part) const {
        const Point& first = point_[slots_[part.begin].value];
        return std::ranges::all_of(slots(part), [&](Position p) {
            return space_.distance(first, point_[p.value]) == 0 &&
                   space_.port_cost(first) == space_.port_cost(point_[p.value]);
        });
    }

    /// Cuts a part of several slots where it falls apart most naturally, near the middle.
    std::array<MachinePart, 2> halve(const MachinePart& part) {
        const std::uint32_t cut = choose_cut(sort(part), part);
        std::array<MachinePart, 2> halves{{{part.begin, part.begin + cut}, {part.begin + cut, part.end}}};
        for (MachinePart& half : halves) {
            for (const Position p : slots(half)) half.capacity += capacity_[p.value];
        }
        return halves;
    }

    /// Cuts a part between all its groups at once where these are equally far from each other, as those of a tree are,
    /// and from other nodes; else in halves.
    std::vector<MachinePart> divide(const MachinePart& part) {
        std::vector<MachinePart> groups = this->groups(part);
        if (groups.size() > 2 && groups.size() <= max_groups && equidistant(groups)) return groups;
        const auto halves = halve(part);
        return {halves.begin(), halves.end()};
    }

    using Sample = typename PartDistance<Space>::Sample;
    [[nodiscard]] Sample sample(const MachinePart& part) const { return apart_.sample(point_, slots(part)); }
    [[nodiscard]] std::int64_t distance(const Sample& a, const Sample& b) const { return apart_(a, b); }
    using Difference = typename PartDistance<Space>::Difference;
    static constexpr bool has_quick_difference = PartDistance<Space>::has_quick_difference;
    [[nodiscard]] Difference difference(const Sample& near, const Sample& far) const {
        return {apart_, near, far};
    }
    static constexpr std::int64_t distance_scale() { return PartDistance<Space>::scale(); }

   private:
    static constexpr std::size_t max_groups = 64;

    /// Sorts the slots of a part by their keys; returns the keys in that order.
    std::vector<SplitKey> sort(const MachinePart& part) {
        std::vector<Point> points;
        for (const Position p : slots(part)) points.push_back(point_[p.value]);
        const std::vector<SplitKey> keys = space_.split_keys(points);
        std::vector<std::uint32_t> order(part.size());
        std::iota(order.begin(), order.end(), 0U);
        // Slots of one node have the same key and neighboring numbers.
        const std::span<Position> mine(slots_.data() + part.begin, part.size());
        std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
            return keys[a] != keys[b] ? keys[a] < keys[b] : mine[a] < mine[b];
        });
        std::vector<Position> sorted_slots;
        std::vector<SplitKey> sorted_keys;
        for (const std::uint32_t i : order) {
            sorted_slots.push_back(mine[i]);
            sorted_keys.push_back(keys[i]);
        }
        std::ranges::copy(sorted_slots, mine.begin());
        return sorted_keys;
    }

    /// A part cut wherever the major key changes.
    std::vector<MachinePart> groups(const MachinePart& part) {
        const std::vector<SplitKey> keys = sort(part);
        std::vector<MachinePart> groups;
        for (std::uint32_t i = 0; i < part.size(); ++i) {
            if (i == 0 || keys[i].major != keys[i - 1].major)
                groups.push_back({part.begin + i, part.begin + i});
            ++groups.back().end;
            groups.back().capacity += capacity_[slots_[part.begin + i].value];
        }
        return groups;
    }
    [[nodiscard]] bool equidistant(std::span<const MachinePart> groups) const {
        const auto middle = [&](const MachinePart& g) {
            return point_[slots_[g.begin + g.size() / 2].value];
        };
        const auto apart = space_.distance(middle(groups[0]), middle(groups[1]));
        for (std::size_t a = 0; a < groups.size(); ++a) {
            if (space_.port_cost(middle(groups[a])) != space_.port_cost(middle(groups[0]))) return false;
            for (std::size_t b = a + 1; b < groups.size(); ++b) {
                if (space_.distance(middle(groups[a]), middle(groups[b])) != apart) return false;
            }
        }
        return true;
    }

    /// After how many slots of the order to cut.
    [[nodiscard]] std::uint32_t choose_cut(std::span<const SplitKey> keys, const MachinePart& part) const {
        struct Cut {
            std::uint32_t at = 0;
            std::int64_t unevenness = std::numeric_limits<std::int64_t>::max();
            void offer(std::uint32_t where, std::int64_t u) {
                if (u < unevenness) *this = {where, u};
            }
        };
        Cut between_groups;  // different majors
        Cut between_keys;
        Cut anywhere;
        std::int64_t left = 0;
        for (std::uint32_t i = 1; i < part.size(); ++i) {
            left += capacity_[slots_[part.begin + i - 1].value];
            const std::int64_t unevenness = std::abs(part.capacity - 2 * left);
            anywhere.offer(i, unevenness);
            if (keys[i - 1] != keys[i]) between_keys.offer(i, unevenness);
            if (keys[i - 1].major != keys[i].major) between_groups.offer(i, unevenness);
        }
        // Natural borders are worth up to one part to three; the middle is worth more than that.
        for (const Cut& cut : {between_groups, between_keys}) {
            if (cut.at > 0 && 2 * cut.unevenness <= part.capacity) return cut.at;
        }
        return between_keys.at > 0 ? between_keys.at : anywhere.at;
    }

    const Space& space_;
    std::span<const std::int64_t> capacity_;
    std::vector<Position> slots_;
    std::vector<Point> point_;
    PartDistance<Space> apart_;
};

}  // namespace topoloom::multilevel
