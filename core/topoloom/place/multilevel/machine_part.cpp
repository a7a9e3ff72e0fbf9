// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/multilevel/machine_part.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "topoloom/place/multilevel/part_distance.hpp"
#include "topoloom/place/state/arrangement.hpp"

namespace topoloom::multilevel {

MachineParts::MachineParts(const Allocation& allocation, std::vector<std::int64_t> capacity,
                           std::span<const Position> fixed)
    : capacity_(std::move(capacity)) {
    std::vector<char> is_full(allocation.slot_count(), 0);
    for (const Position p : fixed) is_full[p.value] = capacity_[p.value] == 0 ? 1 : 0;
    for (const Position p : ids<Position>(allocation.slot_count())) {
        if (is_full[p.value] == 0) slots_.push_back(p);
    }
    divisible_ = static_cast<std::uint32_t>(slots_.size());
    slots_.insert(slots_.end(), fixed.begin(), fixed.end());
}

MachinePart MachineParts::whole_machine() const {
    return {0, divisible_, std::accumulate(capacity_.begin(), capacity_.end(), std::int64_t{0})};
}

bool MachineParts::is_indivisible(const MachinePart& part) const {
    const Position first = slots_[part.begin];
    return std::ranges::all_of(slots(part), [&](Position p) {
        return slot_distance(first, p) == 0 && port_distance(first) == port_distance(p);
    });
}

std::array<MachinePart, 2> MachineParts::halve(const MachinePart& part) {
    const std::uint32_t cut = choose_cut(sort_slots(part), part);
    std::array<MachinePart, 2> halves{{{part.begin, part.begin + cut}, {part.begin + cut, part.end}}};
    for (MachinePart& half : halves) {
        for (const Position p : slots(half)) half.capacity += capacity_[p.value];
    }
    return halves;
}

std::vector<MachinePart> MachineParts::divide(const MachinePart& part) {
    constexpr std::size_t max_groups = 64;
    std::vector<MachinePart> groups = this->list_groups(part);
    if (groups.size() > 2 && groups.size() <= max_groups && are_equidistant(groups)) return groups;
    const auto halves = halve(part);
    return {halves.begin(), halves.end()};
}

/// Sorts the slots of a part by their keys; returns the keys in that order.
std::vector<SplitKey> MachineParts::sort_slots(const MachinePart& part) {
    const std::vector<SplitKey> keys = split_keys(slots(part));
    std::vector<std::uint32_t> order(part.size());
    std::iota(order.begin(), order.end(), 0U);
    // Slots of one node have the same key; their numbers keep them together.
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

/// Cuts a part at every change of the major key.
std::vector<MachinePart> MachineParts::list_groups(const MachinePart& part) {
    const std::vector<SplitKey> keys = sort_slots(part);
    std::vector<MachinePart> groups;
    for (std::uint32_t i = 0; i < part.size(); ++i) {
        if (i == 0 || keys[i].major != keys[i - 1].major) groups.push_back({part.begin + i, part.begin + i});
        ++groups.back().end;
        groups.back().capacity += capacity_[slots_[part.begin + i].value];
    }
    return groups;
}

bool MachineParts::are_equidistant(std::span<const MachinePart> groups) const {
    const auto middle = [&](const MachinePart& g) { return slots_[g.begin + g.size() / 2]; };
    const auto apart = slot_distance(middle(groups[0]), middle(groups[1]));
    for (std::size_t a = 0; a < groups.size(); ++a) {
        if (port_distance(middle(groups[a])) != port_distance(middle(groups[0]))) return false;
        for (std::size_t b = a + 1; b < groups.size(); ++b) {
            if (slot_distance(middle(groups[a]), middle(groups[b])) != apart) return false;
        }
    }
    return true;
}

/// Chooses a cut; returns the number of slots before it.
std::uint32_t MachineParts::choose_cut(std::span<const SplitKey> keys, const MachinePart& part) const {
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
    // Prefers a natural border if the halves' capacities differ by at most 1 : 3; else the most even cut.
    for (const Cut& cut : {between_groups, between_keys}) {
        if (cut.at > 0 && 2 * cut.unevenness <= part.capacity) return cut.at;
    }
    return between_keys.at > 0 ? between_keys.at : anywhere.at;
}

namespace {

template <class Space>
class SpaceParts final : public MachineParts {
   public:
    SpaceParts(const Space& space, const Allocation& allocation, std::vector<std::int64_t> capacity,
               std::span<const Position> fixed, FullRingMeasurement full)
        : MachineParts(allocation, std::move(capacity), fixed),
          space_(space),
          point_(slot_points(space, allocation)),
          apart_(space, allocation.machine().node_spec(), point_, full) {}

    void set_part_count(std::size_t count) override { samples_.resize(count); }
    [[nodiscard]] std::size_t part_count() const override { return samples_.size(); }
    void sample(Part p, const MachinePart& part) override { samples_[p.value] = sample(part); }
    void swap_samples(Part p, Part q) override { std::swap(samples_[p.value], samples_[q.value]); }
    [[nodiscard]] std::int64_t distance(Part p, Part q) const override {
        return apart_(samples_[std::min(p, q).value], samples_[std::max(p, q).value]);
    }
    [[nodiscard]] DistanceDifference make_distance_difference(Part near, Part far) const override {
        if constexpr (Distance::has_quick_difference) {
            return make_difference(samples_[near.value], samples_[far.value]);
        } else {
            return [this, near, far](Part q) { return distance(far, q) - distance(near, q); };
        }
    }
    [[nodiscard]] PieceComparison compare_pieces(const MachinePart& near,
                                                 const MachinePart& far) const override {
        const Sample a = sample(near);
        const Sample b = sample(far);
        return {apart_(a, b) - (apart_(a, a) + apart_(b, b)) / 2, make_difference(a, b)};
    }
    [[nodiscard]] std::int64_t distance_scale() const override { return Distance::scale(); }

   private:
    using Distance = PartDistance<Space>;
    using Sample = typename Distance::Sample;

    [[nodiscard]] std::int64_t slot_distance(Position a, Position b) const override {
        return space_.distance(point_[a.value], point_[b.value]);
    }
    [[nodiscard]] std::uint32_t port_distance(Position p) const override {
        return space_.port_distance(point_[p.value]);
    }
    [[nodiscard]] std::vector<SplitKey> split_keys(std::span<const Position> slots) const override {
        std::vector<typename Space::Point> points;
        for (const Position p : slots) points.push_back(point_[p.value]);
        return space_.split_keys(points);
    }
    [[nodiscard]] Sample sample(const MachinePart& part) const { return apart_.sample(point_, slots(part)); }
    [[nodiscard]] DistanceDifference make_difference(const Sample& near, const Sample& far) const {
        return [this, difference = typename Distance::Difference(apart_, near, far)](Part q) mutable {
            return difference(samples_[q.value]);
        };
    }

    Space space_;
    std::vector<typename Space::Point> point_;
    Distance apart_;
    std::vector<Sample> samples_;  // by part
};

}  // namespace

std::unique_ptr<MachineParts> make_machine_parts(const Allocation& allocation,
                                                 std::vector<std::int64_t> capacity, FullRingMeasurement full,
                                                 std::span<const Position> fixed) {
    return with_space(
        allocation.machine(), [&]<class Space>(const Space& space) -> std::unique_ptr<MachineParts> {
            return std::make_unique<SpaceParts<Space>>(space, allocation, std::move(capacity), fixed, full);
        });
}

}  // namespace topoloom::multilevel
