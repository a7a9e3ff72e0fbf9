// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/structure/patch_halving.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <utility>

namespace topoloom::structure {

namespace {

/// A cut after `after` layers of cells, or after `after` slots; `sum` is the mass or capacity before the cut.
struct Cut {
    std::size_t after;
    double sum;
};

/// Finds a cut whose sum is near `wanted`: the first one that is at most 0.4 layers farther off than the
/// nearest. If two cuts are about equally near, as with three layers, random loads must not make neighboring
/// parts choose differently.
Cut find_nearest_cut(std::span<const Cut> cuts, double wanted, double all) {
    const auto off = [&](const Cut& cut) { return std::abs(cut.sum - wanted); };
    const double tolerance = 0.4 * all / static_cast<double>(cuts.size() + 1);
    const double least = off(*std::ranges::min_element(cuts, {}, off));
    return *std::ranges::find_if(cuts, [&](const Cut& cut) { return off(cut) <= least + tolerance; });
}

class PatchHalving {
   public:
    PatchHalving(const Problem& problem, const Patches& patches)
        : is_grid_(problem.machine().has_grid()),
          masses_(problem.capacity().masses()),
          capacities_(problem.capacity().capacities()),
          patches_(patches),
          dimensions_(problem.machine().grid().size()),
          position_of_cell_(patches.count()) {
        const Allocation& allocation = problem.allocation();
        std::vector<Extents> of_node;
        for (const Node node : allocation.nodes()) of_node.push_back(problem.machine().coordinates(node));
        for (const std::uint32_t node : allocation.node_of_slot())
            at_.insert(at_.end(), of_node[node].begin(), of_node[node].end());
        std::vector<Position> slots = id_list<Position>(allocation.slot_count());
        partner_.resize(dimensions_);
        if (is_grid_) pair_axes(slots);
        halve(Extents(patches.cells.size(), 0), patches.cells, slots);
    }
    [[nodiscard]] std::vector<Position> take_positions() { return std::move(position_of_cell_); }

   private:
    [[nodiscard]] std::uint32_t at(Position slot, std::size_t axis) const {
        return at_[slot.value * dimensions_ + axis];
    }

    /// Pairs the longest axis of the cells with the longest axis of the slots, the second longest with the
    /// second longest, and so on.
    void pair_axes(std::span<const Position> slots) {
        const auto by_length = [](const Extents& lengths) {
            std::vector<std::size_t> axes(lengths.size());
            std::iota(axes.begin(), axes.end(), std::size_t{0});
            std::ranges::stable_sort(axes, std::greater<>{}, [&](std::size_t axis) { return lengths[axis]; });
            return axes;
        };
        const std::vector<std::size_t> theirs = by_length(measure_lengths(slots));
        const std::vector<std::size_t> ours = by_length(patches_.cells);
        for (std::size_t i = 0; i < std::min(theirs.size(), ours.size()); ++i) partner_[theirs[i]] = ours[i];
    }

    /// The number of planes that the slots span along every axis.
    [[nodiscard]] Extents measure_lengths(std::span<const Position> slots) const {
        Extents lengths;
        for (std::size_t axis = 0; axis < dimensions_; ++axis) {
            std::uint32_t least = at(slots.front(), axis);
            std::uint32_t most = least;
            for (const Position slot : slots) {
                least = std::min(least, at(slot, axis));
                most = std::max(most, at(slot, axis));
            }
            lengths.push_back(most - least + 1);
        }
        return lengths;
    }

    struct CutAxes {
        std::size_t slots;
        std::size_t cells;
    };
    /// Chooses the axes to cut: the longest axis of the slots whose partner is more than one cell thick, and
    /// that partner. If there is none, cutting another axis misaligns the cells with their neighbors, which
    /// pays only if the slots extend farther than the cells. None if it is better not to cut.
    [[nodiscard]] std::optional<CutAxes> choose_axes_to_cut(const Extents& lengths,
                                                            const Extents& extent) const {
        std::optional<CutAxes> best;
        for (std::size_t axis = 0; axis < dimensions_; ++axis) {
            if (!partner_[axis] || extent[*partner_[axis]] == 1 || lengths[axis] == 1) continue;
            if (!best || lengths[axis] > lengths[best->slots]) best = CutAxes{axis, *partner_[axis]};
        }
        if (best) return best;
        const CutAxes longest{index_of_max(lengths), index_of_max(extent)};
        const bool inside_node = lengths[longest.slots] == 1;
        if (!is_grid_ || inside_node || lengths[longest.slots] > extent[longest.cells]) return longest;
        return std::nullopt;
    }
    [[nodiscard]] static std::size_t index_of_max(const Extents& extents) {
        return static_cast<std::size_t>(std::ranges::max_element(extents) - extents.begin());
    }

    void halve(const Extents& low, const Extents& extent, std::span<Position> slots) {
        const bool divisible = std::ranges::max(extent) > 1 && slots.size() > 1;
        const auto axes = divisible ? choose_axes_to_cut(measure_lengths(slots), extent) : std::nullopt;
        if (!axes) {
            const Position middle = find_middle_slot(slots);
            visit_cells(low, extent, 0,
                        [&](GridCell cell, std::uint32_t) { position_of_cell_[cell.value] = middle; });
            return;
        }
        std::vector<double> layer(extent[axes->cells], 0);  // by layer of cells across the axis: mass
        visit_cells(low, extent, axes->cells, [&](GridCell cell, std::uint32_t along) {
            const std::int64_t mass = masses_[patches_.patch_of_cell[cell.value].value];
            layer[along] += static_cast<double>(std::max<std::int64_t>(1, mass));
        });
        const double all = std::accumulate(layer.begin(), layer.end(), 0.0);
        std::vector<Cut> cuts;
        double sum = 0;
        for (std::size_t i = 1; i < layer.size(); ++i) cuts.push_back({i, sum += layer[i - 1]});
        const Cut cut = find_nearest_cut(cuts, all / 2, all);
        const std::size_t split = split_slots(slots, axes->slots, cut.sum / all);
        Extents part = extent;
        part[axes->cells] = static_cast<std::uint32_t>(cut.after);
        halve(low, part, slots.first(split));
        Extents start = low;
        start[axes->cells] += part[axes->cells];
        part[axes->cells] = extent[axes->cells] - part[axes->cells];
        halve(start, part, slots.subspan(split));
    }

    /// Calls use(cell, i) for every cell of the box, where i is the cell's index along `axis` inside the box.
    template <class Use>
    void visit_cells(const Extents& low, const Extents& extent, std::size_t axis, const Use& use) const {
        Extents step(extent.size(), 0);
        for (std::size_t moved = 0; moved < extent.size();) {
            std::uint32_t cell = 0;
            for (std::size_t i = 0; i < extent.size(); ++i)
                cell = cell * patches_.cells[i] + low[i] + step[i];
            use(GridCell{cell}, step[axis]);
            for (moved = 0; moved < extent.size() && ++step[moved] == extent[moved]; ++moved) step[moved] = 0;
        }
    }

    /// Moves slots with this share of the capacity to the front, as nearly as cuts between planes across the
    /// axis allow; returns their number. A cut inside a plane would leave a part that is not a box, and
    /// misalign its patches with their neighbors.
    std::size_t split_slots(std::span<Position> slots, std::size_t axis, double share) const {
        const auto along = [&](Position slot) { return at(slot, axis); };
        const auto [least, most] = std::ranges::minmax(slots | std::views::transform(along));
        struct Plane {
            std::size_t slots = 0;
            double capacity = 0;
        };
        // If all slots are in one plane, as inside a node, each slot counts as a plane.
        std::vector<Plane> planes(least == most ? slots.size() : most - least + 1);
        for (std::size_t i = 0; i < slots.size(); ++i) {
            Plane& plane = planes[least == most ? i : along(slots[i]) - least];
            ++plane.slots;
            plane.capacity += static_cast<double>(capacities_[slots[i].value]);
        }
        std::vector<Cut> cuts;
        std::size_t after = 0;
        double sum = 0;
        for (const Plane& plane : planes) {
            if (plane.slots > 0 && after > 0) cuts.push_back({after, sum});
            after += plane.slots;
            sum += plane.capacity;
        }
        const std::size_t split = find_nearest_cut(cuts, share * sum, sum).after;
        if (least != most) {
            std::size_t below = 0;
            std::uint32_t plane = 0;
            while (below < split) below += planes[plane++].slots;
            std::ranges::stable_partition(slots, [&](Position slot) { return along(slot) < least + plane; });
        }
        return split;
    }

    /// The slot nearest to the mean of the slots' coordinates.
    [[nodiscard]] Position find_middle_slot(std::span<const Position> slots) const {
        std::vector<double> mean(dimensions_, 0);
        for (const Position slot : slots) {
            for (std::size_t axis = 0; axis < dimensions_; ++axis)
                mean[axis] += static_cast<double>(at(slot, axis)) / static_cast<double>(slots.size());
        }
        return *std::ranges::min_element(slots, {}, [&](Position slot) {
            double off = 0;
            for (std::size_t axis = 0; axis < dimensions_; ++axis)
                off += std::abs(at(slot, axis) - mean[axis]);
            return std::pair(off, slot);
        });
    }

    bool is_grid_;
    std::span<const std::int64_t> masses_;
    std::span<const std::int64_t> capacities_;
    const Patches& patches_;
    std::size_t dimensions_;                           // number of machine axes
    std::vector<std::uint32_t> at_;                    // coordinates of all slots, slot by slot
    std::vector<std::optional<std::size_t>> partner_;  // by slot axis: its paired cell axis
    std::vector<Position> position_of_cell_;
};

}  // namespace

std::vector<Position> halve_patches_and_slots(const Problem& problem, const Patches& patches) {
    return PatchHalving(problem, patches).take_positions();
}

}  // namespace topoloom::structure
