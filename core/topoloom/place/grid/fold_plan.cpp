// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/grid/fold_plan.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "topoloom/place/grid/grid_folding.hpp"

namespace topoloom::grid {

namespace {

class FoldSearch {
   public:
    explicit FoldSearch(const FoldProblem& task)
        : task_(task), planes_(count_plane_bytes(task.grid)), axes_(task.grid.axes()) {
        // Omits levels with a single part: they divide nothing, but BoxBlocking would enumerate all their
        // boxes.
        std::ranges::copy_if(task.slots.inside, std::back_inserter(levels_),
                             [](const GroupLevel& level) { return level.arity > 1; });
    }

    std::optional<FoldPlan> run() {
        list_cuts();
        for (const GridCut& cut : cuts_) {
            if (cut.least >= best_.hop_bytes || tried_ == max_tried) break;
            try_cut(cut.routers);
        }
        if (best_.hop_bytes == infinite) return std::nullopt;
        return FoldPlan{best_.boxes(), find_slots_of_boxes(), best_.hop_bytes};
    }

   private:
    static constexpr double infinite = std::numeric_limits<double>::infinity();
    static constexpr std::size_t max_tried = 200;
    static constexpr std::size_t foldings_kept = 8;
    static constexpr std::size_t foldings_seen = 600;
    static constexpr std::size_t max_placed = 2'000'000;  // limit for trying nested reflections

    /// Number of router boxes along every axis of the grid.
    struct GridCut {
        double least;  // lower bound: hop-bytes if every pair that the cut separates is one hop apart
        Extents routers;
    };
    struct BestFold {
        Extents routers;
        Extents inside;                    // boxes along every axis inside one router
        std::vector<std::uint32_t> index;  // slot index inside the router, by row-major box number
        Folding folding;
        Reflection reflection = Reflection::rows;
        double hop_bytes = infinite;

        [[nodiscard]] Extents boxes() const {
            Extents all = routers;
            for (std::size_t i = 0; i < all.size(); ++i) all[i] *= inside[i];
            return all;
        }
    };

    void list_cuts() {
        const std::uint64_t count = task_.boxes.empty() ? task_.slots.slots.size() : cell_count(task_.boxes);
        const std::uint64_t routers = count / task_.slots.slots_per_router;
        const auto add = [&](const Extents& cut) {
            double least = 0;
            for (std::size_t i = 0; i < axes_; ++i) least += planes_[i].cut_bytes(cut[i]);
            cuts_.push_back({least * (task_.hop_weight + task_.to_routers), cut});
        };
        if (!task_.onto.empty()) {
            add(mapped_extents(task_.onto, task_.slots.extent));
        } else if (task_.boxes.empty()) {
            for_each_box_shape(routers, task_.grid.extents, add);
        } else {
            for_each_factorization(routers, task_.boxes, FactorRule::dividing, add);
        }
        std::ranges::stable_sort(cuts_, {}, &GridCut::least);
    }

    /// The folding that the option `onto` selects.
    [[nodiscard]] Folding make_required_folding() const {
        Folding folding;
        for (std::uint32_t i = 0; i < axes_; ++i) {
            std::uint32_t below = 1;
            for (auto axis = task_.onto[i].rbegin(); axis != task_.onto[i].rend(); ++axis) {
                const std::uint32_t size = task_.slots.extent[*axis];
                folding.digits.push_back(
                    {.pattern_axis = i, .machine_axis = *axis, .size = size, .below = below});
                below *= size;
            }
        }
        return folding;
    }

    [[nodiscard]] std::vector<Folding> list_foldings_for(const Extents& routers) const {
        if (!task_.onto.empty()) return {make_required_folding()};
        std::vector<FoldedAxis> axes;
        for (std::size_t i = 0; i < axes_; ++i) {
            const bool ring = planes_[i].around > 0 && routers[i] > 2;
            axes.push_back(
                {routers[i], ring ? AxisKind::ring : AxisKind::path, planes_[i].cut_bytes(routers[i])});
        }
        return list_foldings(axes, task_.slots.extent, task_.slots.wraps, foldings_kept, foldings_seen);
    }

    void try_cut(const Extents& routers) {
        ++tried_;
        BestFold found;
        for (const Folding& folding : list_foldings_for(routers)) {
            const auto offer = [&](Reflection reflection) {
                const double hops = hop_bytes(routers, folding, reflection);
                if (hops < found.hop_bytes) found = {routers, {}, {}, folding, reflection, hops};
            };
            offer(task_.reflect ? Reflection::rows : Reflection::none);
            if (task_.reflect && folding.has_nested_digits() &&
                placed_ + axes_ * cell_count(routers) <= max_placed)
                offer(Reflection::nested);
        }
        if (found.hop_bytes < best_.hop_bytes) split_routers(std::move(found));
    }

    /// Cuts the box of a router into boxes for its slots, level by level; finds the best shape of these
    /// boxes.
    void split_routers(BestFold found) {
        const Extents& routers = found.routers;
        const double outside = found.hop_bytes;
        std::vector<Extents> shapes;
        Extents limits = task_.boxes.empty() ? task_.grid.extents : task_.boxes;
        for (std::size_t i = 0; i < axes_; ++i) limits[i] = std::max(1U, limits[i] / routers[i]);
        const auto add = [&](const Extents& inside) { shapes.push_back(inside); };
        for_each_box_shape(task_.slots.slots_per_router, limits, add);
        std::ranges::stable_sort(shapes, {},
                                 [&](const Extents& inside) { return count_cut_bytes(routers, inside); });
        const std::size_t most =
            std::clamp<std::size_t>(200'000 / task_.slots.slots_per_router, 2, shapes.size() + 2);
        if (shapes.size() > most) shapes.resize(most);
        for (const Extents& inside : shapes) {
            GridPattern own = make_pattern_inside(routers, inside);
            BoxBlocking blocking(own, levels_);
            const std::optional<double> cost = blocking.cost(inside);
            if (!cost) continue;
            const double all = outside + *cost * static_cast<double>(cell_count(routers));
            if (all >= best_.hop_bytes) continue;
            std::vector<GridCell> cells;
            blocking.list_cells(inside, GridCell{0}, cells);
            best_ = found;
            best_.inside = inside;
            best_.hop_bytes = all;
            best_.index.resize(cells.size());
            for (std::uint32_t i = 0; i < cells.size(); ++i) best_.index[cells[i].value] = i;
        }
    }

    /// Total bytes between boxes.
    [[nodiscard]] double count_cut_bytes(const Extents& routers, const Extents& inside) const {
        double bytes = 0;
        for (std::size_t i = 0; i < axes_; ++i) bytes += planes_[i].cut_bytes(routers[i] * inside[i]);
        return bytes;
    }

    /// The communication pattern of the boxes inside one router. An axis wraps around only if the router
    /// contains all of it.
    [[nodiscard]] GridPattern make_pattern_inside(const Extents& routers, const Extents& inside) const {
        GridPattern pattern;
        for (const Rank box : ids<Rank>(cell_count(inside))) pattern.rank_of_cell.push_back(box);
        for (std::size_t i = 0; i < axes_; ++i) {
            const bool whole = routers[i] == 1 && planes_[i].around > 0;
            pattern.axes.push_back({inside[i], whole && inside[i] > 2 ? AxisKind::ring : AxisKind::path});
            // Number of pairs of boxes that meet at a plane. If a ring has only two boxes, they meet on both
            // sides.
            const double meet =
                static_cast<double>(cell_count(routers) * cell_count(inside)) / routers[i] / inside[i];
            const double around = whole && inside[i] == 2 ? planes_[i].around : 0;
            pattern.weight.push_back((planes_[i].between + around) / 2 / meet);
        }
        return pattern;
    }

    /// Hop-bytes of all messages between routers.
    double hop_bytes(const Extents& routers, const Folding& folding, Reflection reflection) {
        double sum = 0;
        Extents at(task_.slots.extent.size());
        std::vector<std::uint32_t> next(at.size());
        for (std::size_t i = 0; i < axes_; ++i) {
            if (routers[i] == 1) continue;
            std::uint64_t hops = 0;
            std::uint64_t around = 0;
            // Distances are sums over the axes, so all rows give the same sum, unless nested digits reverse
            // each other.
            Extents rows(axes_, 1);
            if (reflection == Reflection::nested) rows = routers;
            rows[i] = 1;
            for_each_cell(rows, [&](Extents row) {
                folding.locate_block(row, reflection, at);
                const Extents first = at;
                while (++row[i] < routers[i]) {
                    folding.locate_block(row, reflection, next);
                    hops += hops_between(at, next);
                    std::swap(at, next);
                }
                around += hops_between(at, first);
            });
            const auto counted = static_cast<double>(cell_count(rows));
            placed_ += cell_count(rows) * routers[i];
            sum += task_.hop_weight *
                       (planes_[i].between * static_cast<double>(hops) +
                        planes_[i].around * static_cast<double>(around)) /
                       counted +
                   task_.to_routers * planes_[i].cut_bytes(routers[i]);
        }
        return sum;
    }
    [[nodiscard]] std::uint32_t hops_between(const Extents& a, const Extents& b) const {
        std::uint32_t hops = 0;
        for (std::size_t d = 0; d < a.size(); ++d) {
            const std::uint32_t apart = a[d] < b[d] ? b[d] - a[d] : a[d] - b[d];
            hops += task_.slots.wraps[d] ? std::min(apart, task_.slots.extent[d] - apart) : apart;
        }
        return hops;
    }

    [[nodiscard]] std::vector<Slot> find_slots_of_boxes() const {
        std::vector<std::uint64_t> router_of_block;
        Extents at(task_.slots.extent.size());
        for_each_cell(best_.routers, [&](const Extents& block) {
            best_.folding.locate_block(block, best_.reflection, at);
            std::uint64_t router = 0;
            for (std::size_t d = 0; d < at.size(); ++d) router = router * task_.slots.extent[d] + at[d];
            router_of_block.push_back(router);
        });
        std::vector<Slot> slots;
        for_each_cell(best_.boxes(), [&](const Extents& box) {
            std::size_t block = 0;
            std::size_t inside = 0;
            for (std::size_t i = 0; i < axes_; ++i) {
                block = block * best_.routers[i] + box[i] / best_.inside[i];
                inside = inside * best_.inside[i] + box[i] % best_.inside[i];
            }
            slots.push_back(task_.slots.slots[router_of_block[block] * task_.slots.slots_per_router +
                                              best_.index[inside]]);
        });
        return slots;
    }

    const FoldProblem& task_;
    std::vector<PlaneBytes> planes_;
    std::size_t axes_;
    std::vector<GroupLevel> levels_;
    std::vector<GridCut> cuts_;
    std::size_t tried_ = 0;
    std::size_t placed_ = 0;
    BestFold best_;
};

}  // namespace

std::optional<FoldPlan> plan_fold(const FoldProblem& task) { return FoldSearch(task).run(); }

}  // namespace topoloom::grid
