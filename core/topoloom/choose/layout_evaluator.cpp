// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/choose/layout_evaluator.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "topoloom/metric/loads/objective_loads.hpp"

namespace topoloom {

namespace {

constexpr std::size_t max_common_axes = 8;

/// Position, on the line, of the x-th rank along an axis, relative to the first rank.
std::size_t compute_line_offset(const std::vector<Digit>& digits, bool back_and_forth, std::uint32_t x) {
    std::size_t sum = 0;
    for (const auto& [size, stride] : digits) {
        const std::uint32_t value = x % size;
        x /= size;
        sum += std::size_t{stride} * (back_and_forth && x % 2 == 1 ? size - 1 - value : value);
    }
    return sum;
}

/// The digits into which rank numbers divide along the axes of a traffic.
std::vector<Digit> list_digits(const ViewTraffic& one) {
    std::vector<Digit> digits;
    for (const std::uint32_t axis : one.traffic.axes) {
        if (axis >= one.extents.size()) return {{0, 0}};  // an invalid digit, which mesh_phases() rejects
        const auto below = std::span(one.extents).first(axis);
        digits.push_back(
            {one.extents[axis], std::accumulate(below.begin(), below.end(), 1U, std::multiplies{})});
    }
    return digits;
}

/// The ranks whose numbers have only these digits, counted along the first digit first.
std::vector<std::size_t> list_ranks(const std::vector<Digit>& digits) {
    std::vector<std::size_t> ranks{0};
    for (const auto& [size, stride] : digits) {
        const std::size_t before = ranks.size();
        for (std::uint32_t x = 1; x < size; ++x) {
            for (std::size_t i = 0; i < before; ++i) ranks.push_back(ranks[i] + std::size_t{x} * stride);
        }
    }
    return ranks;
}

/// The digits of rank numbers that are not those of a traffic: they number its groups.
std::vector<Digit> list_group_digits(const ViewTraffic& one) {
    std::vector<Digit> digits;
    std::uint32_t stride = 1;
    for (std::uint32_t axis = 0; axis < one.extents.size(); stride *= one.extents[axis++]) {
        if (std::ranges::find(one.traffic.axes, axis) == one.traffic.axes.end())
            digits.push_back({one.extents[axis], stride});
    }
    return digits;
}

DigitKey make_traffic_key(const ViewTraffic& one) {
    DigitKey key;
    append_digits(key, list_digits(one));
    return key;
}

}  // namespace

std::vector<Digit> list_digits(std::uint32_t axis, const AxisPieces& pieces, const grid::SlotLine& line,
                               bool back_and_forth) {
    std::vector<Digit> digits;
    std::uint32_t stride = 1;
    for (const AxisPiece& piece : pieces) {
        if (piece.axis == axis && piece.size > 1) {
            const bool turns = back_and_forth && std::ranges::binary_search(line.turns, stride);
            if (!digits.empty() && !turns && digits.back().stride * digits.back().size == stride) {
                digits.back().size *= piece.size;
            } else {
                digits.push_back({piece.size, stride});
            }
        }
        stride *= piece.size;
    }
    return digits;
}

void append_digits(DigitKey& key, const std::vector<Digit>& digits) {
    for (const auto& [size, stride] : digits) {
        if (size == 1) continue;
        const std::size_t n = key.size();
        if (n >= 3 && key[n - 1] == 0 && key[n - 3] * key[n - 2] == stride) {
            key[n - 3] *= size;
        } else {
            key.insert(key.end(), {size, stride, 0});
        }
    }
}

std::vector<std::uint32_t> list_row_parts(const std::vector<Digit>& digits, const grid::SlotLine& line) {
    std::vector<Digit> merged;
    for (const Digit& digit : digits) {
        if (!merged.empty() && merged.back().stride * merged.back().size == digit.stride) {
            merged.back().size *= digit.size;
        } else {
            merged.push_back(digit);
        }
    }
    std::vector<std::uint32_t> parts;
    for (auto [size, stride] : merged) {
        for (const std::size_t turn : line.turns) {
            const std::size_t end = std::size_t{stride} * size;
            if (turn <= stride || turn >= end || turn % stride != 0 || end % turn != 0) continue;
            parts.push_back(static_cast<std::uint32_t>(turn / stride));
            size = static_cast<std::uint32_t>(end / turn);
            stride = static_cast<std::uint32_t>(turn);
        }
        parts.push_back(size);
    }
    return parts;
}

std::vector<std::uint32_t> find_common_mesh(const MeshLayout& layout) {
    std::set<std::uint32_t> strides{1};
    for (const ViewTraffic& one : layout) {
        std::uint32_t stride = 1;
        for (const std::uint32_t extent : one.extents) strides.insert(stride *= extent);
    }
    std::vector<std::uint32_t> extents;
    for (auto low = strides.begin(), high = std::next(low); high != strides.end(); low = high++) {
        if (*high % *low != 0) return {};
        extents.push_back(*high / *low);
    }
    return extents.size() > max_common_axes ? std::vector<std::uint32_t>{} : extents;
}

void LayoutEvaluator::add_layout(const MeshLayout& layout, std::vector<std::uint32_t> extents) {
    LayoutInDigits& added = layouts_.emplace_back(std::move(extents), false, std::vector<TrafficInDigits>{});
    if (added.extents.empty()) {
        added.extents = {static_cast<std::uint32_t>(mesh_size(layout.front().extents))};
        added.solid = true;
    }
    phases_.resize(layout.size());
    for (std::size_t t = 0; t < layout.size(); ++t) {
        auto [phases, is_new] = phases_[t].try_emplace(make_traffic_key(layout[t]));
        if (is_new) phases->second = mesh_phases(layout[t].extents, layout[t].traffic);
        TrafficInDigits one{list_digits(layout[t]), {}, &phases->second, layout[t], t, {}};
        const MeshTraffic& traffic = layout[t].traffic;
        if (times_.slots_per_domain > 0 && traffic.collective != MeshCollective::chain) {
            const auto ranks = static_cast<std::uint32_t>(list_ranks(one.digits).size());
            one.group_phases = mesh_phases(std::vector{ranks}, {{0}, traffic.collective, traffic.bytes});
        }
        for (const auto& [size, low] : one.digits) {
            std::uint32_t stride = 1;
            for (std::uint32_t axis = 0; axis < added.extents.size(); stride *= added.extents[axis++]) {
                if (!added.solid && stride >= low && stride < low * size) one.axes.push_back(axis);
            }
        }
        added.traffic.push_back(std::move(one));
    }
}

std::vector<Slot> LayoutEvaluator::place_ranks(std::size_t layout, const grid::SlotLine& line,
                                               const AxisPieces& pieces,
                                               const AxisFlags& back_and_forth) const {
    const auto& extents = layouts_[layout].extents;
    std::vector<std::size_t> place{0};  // positions, on the line, of the ranks along the axes handled so far
    for (std::uint32_t axis = 0; axis < extents.size(); ++axis) {
        const std::vector<Digit> digits = list_digits(axis, pieces, line, back_and_forth[axis]);
        const std::size_t before = place.size();
        for (std::uint32_t x = 1; x < extents[axis]; ++x) {
            const std::size_t step = compute_line_offset(digits, back_and_forth[axis], x);
            for (std::size_t i = 0; i < before; ++i) place.push_back(place[i] + step);
        }
    }
    std::vector<Slot> slots;
    for (const std::size_t p : place) slots.push_back(line.slots[p]);
    return slots;
}

std::size_t LayoutEvaluator::count_messages(const TrafficInDigits& traffic) {
    std::size_t sum = 0;
    for (const CommGraph& phase : *traffic.phases) sum += phase.edge_count();
    return sum;
}

double LayoutEvaluator::measure_seconds(const TrafficInDigits& traffic,
                                        std::span<const Slot> slot_of_rank) const {
    const double seconds = measure_phases(*traffic.phases, slot_of_rank);
    if (traffic.group_phases.empty()) return seconds;
    return seconds * compare_with_line_rates(traffic, slot_of_rank);
}

double LayoutEvaluator::measure_seconds(const TrafficInDigits& traffic,
                                        const std::vector<std::uint32_t>& ring_shape,
                                        std::span<const Slot> slot_of_rank) const {
    MeshTraffic rings = traffic.view.traffic;
    rings.shape = ring_shape;
    return measure_phases(mesh_phases(traffic.view.extents, rings), slot_of_rank);
}

double LayoutEvaluator::compare_with_line_rates(const TrafficInDigits& traffic,
                                                std::span<const Slot> slot_of_rank) const {
    const std::vector<std::size_t> members = list_ranks(traffic.digits);
    // Groups whose members are in domains in the same way, take the same time alone. Domains are numbered as
    // the members meet them.
    std::set<std::vector<std::uint32_t>> seen;
    std::vector<Slot> slots(members.size());
    std::vector<std::uint32_t> domain_of_member(members.size());
    constexpr std::uint32_t none = ~0U;
    std::vector<std::uint32_t> number_of_domain(machine_.slot_count() / times_.slots_per_domain + 1, none);
    double slowest = 0;
    double predicted = 0;
    for (const std::size_t first : list_ranks(list_group_digits(traffic.view))) {
        std::uint32_t domains = 0;
        for (std::size_t i = 0; i < members.size(); ++i) {
            slots[i] = slot_of_rank[first + members[i]];
            std::uint32_t& number = number_of_domain[slots[i].value / times_.slots_per_domain];
            if (number == none) number = domains++;
            domain_of_member[i] = number;
        }
        for (const Slot slot : slots) number_of_domain[slot.value / times_.slots_per_domain] = none;
        if (!seen.insert(domain_of_member).second) continue;
        const double alone = measure_phases(traffic.group_phases, slots);
        if (alone < slowest * (1 - 1e-12)) continue;
        const double seconds = times_.predict(traffic.number, members.size(), domains);
        predicted = alone > slowest * (1 + 1e-12) ? seconds : std::max(predicted, seconds);
        slowest = std::max(slowest, alone);
    }
    return slowest > 0 ? predicted / slowest : 1;
}

double LayoutEvaluator::measure_phases(std::span<const CommGraph> phases,
                                       std::span<const Slot> slot_of_rank) const {
    if (phases.empty()) return 0;
    static const Objective time = objective_of(ObjectiveKind::time);
    PhasedObjective objective{time, {}};
    for (const CommGraph& phase : phases) objective.phases.push_back(&phase);
    return objective_key(machine_, objective, slot_of_rank).congestion;
}

}  // namespace topoloom
