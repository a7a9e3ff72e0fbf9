// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/bricks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <variant>

#include "topoloom/base/error.hpp"
#include "topoloom/place/rank_grid.hpp"
#include "topoloom/place/recognize.hpp"
#include "topoloom/place/roomy_slots.hpp"
#include "topoloom/place/space_pull.hpp"

namespace topoloom {

namespace {

/// Which ranks are patches, and how they lie.
struct Patches {
    Extents cells;
    std::vector<Rank> patch_of_cell;  // row-major

    [[nodiscard]] std::size_t count() const { return patch_of_cell.size(); }
};

/// The first rank that is neither one of the patches, which talk to computes only, nor a compute of one or two; none
/// where all are.
std::optional<Rank> odd_rank(const CommGraph& symmetric, std::size_t patches) {
    for (const Rank u : ids<Rank>(symmetric.rank_count())) {
        const auto peers = symmetric.peers(u);
        const bool fits = u.value < patches
                              ? peers.empty() || peers.front().value >= patches
                              : !peers.empty() && peers.size() <= 2 && peers.back().value < patches;
        if (!fits) return u;
    }
    return std::nullopt;
}

/// Who shares a compute with whom.
CommGraph patch_graph(const CommGraph& symmetric, std::size_t patches) {
    return CommGraph::from_rows(patches, [&](Rank u, const auto& add) {
        for (const Rank compute : symmetric.peers(u)) {
            for (const Rank v : symmetric.peers(compute)) {
                if (v != u) add(Edge{v, Bytes{1}});
            }
        }
    });
}

std::optional<Patches> recognize_patches(const Problem& problem) {
    const CommGraph& graph = problem.symmetric();
    const auto peers = graph.peers(Rank{0});
    if (peers.empty() || odd_rank(graph, peers.front().value)) return std::nullopt;
    std::optional<GridPattern> pattern =
        recognize(patch_graph(graph, peers.front().value), problem.threads());
    if (!pattern) return std::nullopt;
    return Patches{extents_of(pattern->axes), std::move(pattern->rank_of_cell)};
}

Patches patches_in(const Problem& problem, const Extents& cells) {
    const std::size_t count = cell_count(cells);
    if (count >= problem.rank_count()) {
        fail("bricks: cells of ", extents_text(cells), " leave none of the ", problem.rank_count(),
             " ranks for computes; patches come first, computes follow");
    }
    if (const auto odd = odd_rank(problem.symmetric(), count)) {
        fail("bricks: rank ", odd->value, " is no ", odd->value < count ? "patch" : "compute",
             ": with cells of ", extents_text(cells), " the first ", count,
             " ranks talk to none of each other, and every further one to one or two of these");
    }
    Patches patches{cells, {}};
    for (const Rank patch : ids<Rank>(count)) patches.patch_of_cell.push_back(patch);
    return patches;
}

/// After so many layers of cells, or slots, comes a cut; they sum up to this.
struct Cut {
    std::size_t after;
    double sum;
};

/// The first cut that is as near to the wanted sum as any, up to a tenth of a layer: by less than that chance in the
/// loads would set neighboring parts askew.
Cut nearest_cut(std::span<const Cut> cuts, double wanted, double all) {
    const auto off = [&](const Cut& cut) { return std::abs(cut.sum - wanted); };
    const double tolerance = 0.1 * all / static_cast<double>(cuts.size() + 1);
    const double least = off(*std::ranges::min_element(cuts, {}, off));
    return *std::ranges::find_if(cuts, [&](const Cut& cut) { return off(cut) <= least + tolerance; });
}

/// Orthogonal recursive bisection of cells and slots together.
class Halving {
   public:
    Halving(const Problem& problem, const Patches& patches)
        : allocation_(problem.allocation()),
          room_(problem.room()),
          patches_(patches),
          position_of_cell_(patches.count()) {
        for (const Node node : allocation_.nodes()) at_.push_back(problem.machine().coordinates(node));
        std::vector<std::uint32_t> slots(allocation_.slot_count());
        std::iota(slots.begin(), slots.end(), 0U);
        halve(std::vector<std::uint32_t>(patches.cells.size(), 0), patches.cells, slots);
    }
    /// Positions in the allocation.
    [[nodiscard]] std::span<const std::uint32_t> position_of_cell() const { return position_of_cell_; }

   private:
    [[nodiscard]] const std::vector<std::uint32_t>& at(std::uint32_t slot) const {
        return at_[allocation_.node_of_slot()[slot]];
    }

    void halve(std::vector<std::uint32_t> low, std::vector<std::uint32_t> extent,
               std::span<std::uint32_t> slots) {
        const std::size_t longest =
            static_cast<std::size_t>(std::ranges::max_element(extent) - extent.begin());
        if (extent[longest] == 1 || slots.size() == 1) {
            const std::uint32_t middle = middle_of(slots);
            each_cell(low, extent,
                      [&](std::uint32_t cell, std::uint32_t) { position_of_cell_[cell] = middle; });
            return;
        }
        std::vector<double> layer(extent[longest], 0);  // what the cells across the axis weigh
        each_cell(
            low, extent,
            [&](std::uint32_t cell, std::uint32_t along) {
                layer[along] += static_cast<double>(std::max<std::int64_t>(1, mass(cell)));
            },
            longest);
        const double all = std::accumulate(layer.begin(), layer.end(), 0.0);
        std::vector<Cut> cuts;
        double sum = 0;
        for (std::size_t i = 1; i < layer.size(); ++i) cuts.push_back({i, sum += layer[i - 1]});
        const Cut cut = nearest_cut(cuts, all / 2, all);
        const std::size_t split = sort_and_split(slots, cut.sum / all);
        std::vector<std::uint32_t> below = extent;
        below[longest] = static_cast<std::uint32_t>(cut.after);
        halve(low, below, slots.first(split));
        low[longest] += static_cast<std::uint32_t>(cut.after);
        extent[longest] -= static_cast<std::uint32_t>(cut.after);
        halve(std::move(low), std::move(extent), slots.subspan(split));
    }

    [[nodiscard]] std::int64_t mass(std::uint32_t cell) const {
        return room_.masses()[patches_.patch_of_cell[cell].value];
    }

    /// Calls use(cell, its place along the axis in the box).
    template <class Use>
    void each_cell(const std::vector<std::uint32_t>& low, const std::vector<std::uint32_t>& extent,
                   const Use& use, std::size_t axis = 0) const {
        std::vector<std::uint32_t> step(extent.size(), 0);
        for (std::size_t moved = 0; moved < extent.size();) {
            std::uint32_t cell = 0;
            for (std::size_t i = 0; i < extent.size(); ++i)
                cell = cell * patches_.cells[i] + low[i] + step[i];
            use(cell, step[axis]);
            for (moved = 0; moved < extent.size() && ++step[moved] == extent[moved]; ++moved) step[moved] = 0;
        }
    }

    /// Sorts the slots along the axis on which they reach farthest, and returns how many of them are nearest to that
    /// share of the room.
    std::size_t sort_and_split(std::span<std::uint32_t> slots, double share) const {
        std::size_t widest = 0;
        std::uint32_t reach = 0;
        for (std::size_t axis = 0; axis < at_.front().size(); ++axis) {
            const auto [least, most] =
                std::ranges::minmax(slots, {}, [&](std::uint32_t slot) { return at(slot)[axis]; });
            if (at(most)[axis] - at(least)[axis] <= reach) continue;
            reach = at(most)[axis] - at(least)[axis];
            widest = axis;
        }
        std::ranges::sort(slots, {}, [&](std::uint32_t slot) { return std::pair(at(slot)[widest], slot); });
        const auto room = [&](std::uint32_t slot) { return static_cast<double>(room_.capacities()[slot]); };
        // Between planes: what is cut inside one is no box, and its patches lie askew to their neighbors.
        std::vector<Cut> cuts;
        double sum = 0;
        for (std::size_t i = 1; i < slots.size(); ++i) {
            sum += room(slots[i - 1]);
            if (reach == 0 || at(slots[i])[widest] != at(slots[i - 1])[widest]) cuts.push_back({i, sum});
        }
        sum += room(slots.back());
        return nearest_cut(cuts, share * sum, sum).after;
    }

    /// The slot nearest to the mean of the coordinates.
    [[nodiscard]] std::uint32_t middle_of(std::span<const std::uint32_t> slots) const {
        std::vector<double> mean(at_.front().size(), 0);
        for (const std::uint32_t slot : slots) {
            for (std::size_t axis = 0; axis < mean.size(); ++axis)
                mean[axis] += static_cast<double>(at(slot)[axis]) / static_cast<double>(slots.size());
        }
        return *std::ranges::min_element(slots, {}, [&](std::uint32_t slot) {
            double off = 0;
            for (std::size_t axis = 0; axis < mean.size(); ++axis)
                off += std::abs(at(slot)[axis] - mean[axis]);
            return std::pair(off, slot);
        });
    }

    const Allocation& allocation_;
    const Room& room_;
    const Patches& patches_;
    std::vector<std::vector<std::uint32_t>> at_;  // coordinates by node of the allocation
    std::vector<std::uint32_t> position_of_cell_;
};

/// Where nothing but room counts.
struct Anywhere {
    [[nodiscard]] std::uint64_t cost(const auto&) const { return 0; }
    [[nodiscard]] std::uint64_t bound(const auto&) const { return 0; }
};

/// A placement, or the rank that found no room.
template <class Space>
std::variant<Placement, Rank> fill(const Space& space, const Problem& problem, const Patches& patches,
                                   Meter& meter) {
    using Point = typename Space::Point;
    const Allocation& allocation = problem.allocation();
    const auto mass = problem.room().masses();
    RoomySlots<Space> slots(space, allocation, problem.room().capacities());
    std::vector<Slot> slot_of_rank(problem.rank_count());
    const std::array<std::uint64_t, 2> weights{1, 1};
    const auto settle = [&](Rank u, std::span<const Point> near) {
        std::uint64_t evaluated = 0;
        const auto weight = std::span(weights).first(near.size());
        const auto found = meter.exhausted()
                               ? slots.nearest(Anywhere{}, mass[u.value], evaluated)
                               : slots.nearest(make_pull(space, near, weight), mass[u.value], evaluated);
        meter.spend(evaluated);
        if (!found) return false;
        slots.take(found->position, mass[u.value]);
        slot_of_rank[u.value] = allocation.slots()[found->position];
        return true;
    };
    const Halving halving(problem, patches);
    for (std::size_t cell = 0; cell < patches.count(); ++cell) {
        const std::array wanted{space.point(allocation.slots()[halving.position_of_cell()[cell]])};
        if (!settle(patches.patch_of_cell[cell], wanted)) return patches.patch_of_cell[cell];
    }
    std::vector<Rank> computes;
    for (const Rank u : ids<Rank>(problem.rank_count())) {
        if (u.value >= patches.count()) computes.push_back(u);
    }
    std::ranges::stable_sort(computes, std::greater<>{}, [&](Rank u) { return mass[u.value]; });
    std::vector<Point> near;
    for (const Rank u : computes) {
        near.clear();
        for (const Rank patch : problem.symmetric().peers(u))
            near.push_back(space.point(slot_of_rank[patch.value]));
        if (!settle(u, near)) return u;
    }
    const SlotUse use = problem.room().one_rank_per_slot() ? SlotUse::one_rank : SlotUse::shared;
    return Placement(allocation, std::move(slot_of_rank), use);
}

std::variant<Placement, Rank> fill(const Problem& problem, const Patches& patches, Meter& meter) {
    return with_space(problem.machine(),
                      [&](const auto& space) { return fill(space, problem, patches, meter); });
}

}  // namespace

Placement place_bricks(const Problem& problem, Meter& meter, const BricksOptions& options) {
    std::optional<Patches> patches =
        options.cells.empty() ? recognize_patches(problem) : patches_in(problem, options.cells);
    if (!patches)
        fail(
            "bricks: no patches and computes are recognized; say which ranks are patches, as in "
            "bricks(cells=6x6x4)");
    auto placed = fill(problem, *patches, meter);
    if (const Rank* rank = std::get_if<Rank>(&placed)) {
        fail("rank ", rank->value, " of load ", problem.graph().load(*rank),
             " fits on no slot any more; allow more imbalance or larger capacities");
    }
    return std::get<Placement>(std::move(placed));
}

std::optional<Placement> place_recognized_bricks(const Problem& problem, Meter& meter) {
    const std::optional<Patches> patches = recognize_patches(problem);
    if (!patches) return std::nullopt;
    auto placed = fill(problem, *patches, meter);
    if (std::holds_alternative<Rank>(placed)) return std::nullopt;
    return std::get<Placement>(std::move(placed));
}

}  // namespace topoloom
