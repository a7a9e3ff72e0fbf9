// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/grid/slot_lines.hpp"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/base/extents.hpp"
#include "topoloom/machine/geometry/row_major.hpp"

namespace topoloom::grid {

namespace {

/// The extents of the levels (such as units, domains and GPUs) by which nodes without coordinates are
/// numbered in row-major order.
template <class T>
Extents list_level_extents(const T& network) {
    if constexpr (std::is_same_v<T, RailCluster>) {
        return {network.spec().units, network.spec().domains, network.spec().gpus};
    } else if constexpr (std::is_same_v<T, Dragonfly>) {
        const DragonflySpec& spec = network.spec();
        return {spec.groups, spec.rows * spec.columns, spec.nodes_per_router};
    } else if constexpr (std::is_same_v<T, DragonflyPlus>) {
        return {network.spec().groups, network.spec().leaves, network.spec().nodes_per_router};
    } else if constexpr (requires { network.spec().arity; }) {
        return {network.spec().arity.rbegin(), network.spec().arity.rend()};
    } else if constexpr (requires { network.router_network(); }) {
        return list_level_extents(network.router_network());
    } else if constexpr (std::is_same_v<T, DegradedTopology>) {
        return std::visit([](const auto& whole) { return list_level_extents(whole); }, network.intact());
    } else {
        return {static_cast<std::uint32_t>(network.node_count())};
    }
}

/// The slots of an allocation and their coordinates, in row-major order. The last coordinate is the index
/// inside the node.
class SlotCoordinates {
   public:
    explicit SlotCoordinates(const Allocation& allocation)
        : on_grid_(allocation.machine().has_grid()),
          slots_(allocation.slots().begin(), allocation.slots().end()) {
        std::sort(slots_.begin(), slots_.end());
        const Machine& machine = allocation.machine();
        const Extents network =
            on_grid_ ? machine.grid()
                     : with_topology(machine, [](const auto& t) { return list_level_extents(t); });
        std::uint32_t index = 0;
        for (const Slot slot : slots_) {
            const Node node = machine.node(slot);
            Extents at = on_grid_ ? machine.coordinates(node) : row_major_coordinates(node.value, network);
            const bool same = !at_.empty() && std::equal(at.begin(), at.end(), at_.back().begin());
            at.push_back(index = same ? index + 1 : 0);
            at_.push_back(std::move(at));
        }
        // The slots of a domain are equally far from slots elsewhere, so the allocated ones may be renumbered
        // without gaps.
        for (std::size_t d = on_grid_ ? 0 : network.size(); d-- > 0;) compact_axis(d);
        extent_.assign(network.size() + 1, 0);
        for (const Extents& at : at_) {
            for (std::size_t d = 0; d < at.size(); ++d) extent_[d] = std::max(extent_[d], at[d] + 1);
        }
    }

    [[nodiscard]] const Extents& extent() const { return extent_; }
    [[nodiscard]] bool on_grid() const { return on_grid_; }

    /// A line through the slots of whole blocks, block by block; empty if they have fewer than `ranks` slots.
    [[nodiscard]] SlotLine make_line(const Extents& block, std::size_t ranks) const {
        Extents blocks;
        for (std::size_t d = 0; d < block.size(); ++d) blocks.push_back(extent_[d] / block[d]);
        std::vector<std::vector<Slot>> members(cell_count(blocks));
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            std::size_t number = 0;
            bool inside = true;
            for (std::size_t d = 0; d < block.size(); ++d) {
                const std::uint32_t at = at_[i][d] / block[d];
                inside = inside && at < blocks[d];
                number = number * blocks[d] + at;
            }
            if (inside) members[number].push_back(slots_[i]);
        }
        SlotLine line;
        bool all = true;
        for (const std::vector<Slot>& slots : members) {
            const bool whole = slots.size() == cell_count(block);
            if (whole) line.slots.insert(line.slots.end(), slots.begin(), slots.end());
            all = all && whole;
        }
        if (line.slots.size() < ranks) return {};
        line.slots.resize(ranks);
        add_turns(block, line);
        if (all) add_turns(blocks, line);
        return line;
    }

   private:
    void compact_axis(std::size_t axis) {
        const auto prefix = [&](const Extents& at) { return std::span(at).first(axis); };
        std::uint32_t was = at_.front()[axis];
        at_.front()[axis] = 0;
        for (std::size_t i = 1; i < at_.size(); ++i) {
            const bool same = std::ranges::equal(prefix(at_[i]), prefix(at_[i - 1]));
            const std::uint32_t step = at_[i][axis] == was ? 0 : 1;
            was = at_[i][axis];
            at_[i][axis] = same ? at_[i - 1][axis] + step : 0;
        }
    }
    static void add_turns(const Extents& shape, SlotLine& line) {
        std::size_t turn = line.turns.empty() ? 1 : line.turns.back();
        for (std::size_t d = shape.size(); d-- > 0;) {
            turn *= shape[d];
            if (shape[d] > 1 && turn < line.slots.size()) line.turns.push_back(turn);
        }
    }

    bool on_grid_;
    std::vector<Slot> slots_;
    std::vector<Extents> at_;
    Extents extent_;
};

/// Block shapes whose size divides the number of ranks, largest and most compact first. Without coordinates,
/// a block spans several units of a level only if it fills these units.
std::vector<Extents> list_block_shapes(const SlotCoordinates& points, std::size_t ranks) {
    std::vector<Extents> shapes{{}};
    for (const std::uint32_t most : points.extent() | std::views::reverse) {
        std::vector<Extents> longer;
        for (const Extents& shape : shapes) {
            const bool fills = std::ranges::equal(
                shape, points.extent() | std::views::reverse | std::views::take(shape.size()));
            for (std::uint32_t size = 1; size <= most; ++size) {
                if (ranks / cell_count(shape) % size != 0) continue;
                if (size > 1 && !points.on_grid() && !fills) break;
                longer.push_back(shape);
                longer.back().push_back(size);
            }
        }
        shapes = std::move(longer);
    }
    for (Extents& shape : shapes) std::ranges::reverse(shape);
    std::ranges::stable_sort(shapes, {}, [](const Extents& shape) {
        return std::pair(-static_cast<std::ptrdiff_t>(cell_count(shape)),
                         std::reduce(shape.begin(), shape.end()));
    });
    return shapes;
}

}  // namespace

std::vector<SlotLine> slot_lines(const Allocation& allocation, std::size_t ranks, std::size_t most) {
    if (ranks > allocation.slot_count())
        fail(ranks, " ranks do not fit on ", allocation.slot_count(), " slots");
    const SlotCoordinates points(allocation);
    const auto given = allocation.slots().first(ranks);
    SlotLine whole = points.make_line(Extents(points.extent().size(), 1), ranks);
    std::vector<SlotLine> lines{{{given.begin(), given.end()}, {}}};
    const auto add = [&](SlotLine line) {
        const auto same = std::ranges::find(lines, line.slots, &SlotLine::slots);
        if (same == lines.end() && !line.slots.empty()) lines.push_back(std::move(line));
    };
    if (lines.front().slots == whole.slots) lines.front().turns = whole.turns;
    add(std::move(whole));
    if (ranks == cell_count(points.extent())) return lines;
    for (const Extents& block : list_block_shapes(points, ranks)) {
        if (lines.size() >= most) break;
        add(points.make_line(block, ranks));
    }
    return lines;
}

}  // namespace topoloom::grid
