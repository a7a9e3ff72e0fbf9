// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/routes/grid_slabs.hpp"

#include <algorithm>
#include <numeric>

#include "topoloom/machine/machine.hpp"

namespace topoloom::bound {

namespace {

/// Nodes of an allocation in the order of their positions on an axis.
class AxisOrder {
   public:
    AxisOrder(const Allocation& allocation, std::uint32_t axis) {
        const Machine& machine = allocation.machine();
        const std::vector<std::uint32_t> grid = machine.grid();
        for (const Node node : allocation.nodes()) {
            const auto at = machine.coordinates(node);
            std::uint64_t line = 0;
            for (std::uint32_t i = 0; i < grid.size(); ++i) {
                if (i != axis) line = line * grid[i] + at[i];
            }
            position_.push_back(at[axis]);
            line_.push_back(line);
        }
        order_.resize(position_.size());
        std::iota(order_.begin(), order_.end(), 0U);
        std::ranges::stable_sort(order_, {}, [&](std::uint32_t n) { return position_[n]; });
        number_lines();
    }

    /// Adds the slabs whose first position is that of the i-th node.
    void add_slabs(std::uint32_t axis, std::size_t i, std::span<const std::uint64_t> capacity,
                   std::vector<Slab>& slabs) const {
        const std::size_t nodes = order_.size();
        std::vector<char> is_counted(nodes, 0);
        Slab slab{axis, position_[order_[i]], 0, 0, 0};
        for (std::size_t k = 0; k < nodes; ++k) {
            const std::uint32_t node = order_[(i + k) % nodes];
            slab.capacity += capacity[node];
            slab.lines += is_counted[line_[node]] == 0 ? 1 : 0;
            is_counted[line_[node]] = 1;
            slab.last = position_[node];
            if (k + 1 < nodes && position_[order_[(i + k + 1) % nodes]] != slab.last) slabs.push_back(slab);
        }
    }

    [[nodiscard]] std::size_t count() const { return order_.size(); }
    [[nodiscard]] bool is_first(std::size_t i) const {
        return i == 0 || position_[order_[i]] != position_[order_[i - 1]];
    }

   private:
    void number_lines() {
        std::vector<std::uint64_t> all = line_;
        std::ranges::sort(all);
        for (std::uint64_t& line : line_)
            line = static_cast<std::uint64_t>(std::ranges::lower_bound(all, line) - all.begin());
    }

    std::vector<std::uint32_t> position_;  // by node of the allocation
    std::vector<std::uint64_t> line_;      // by node; less than the number of nodes
    std::vector<std::uint32_t> order_;
};

}  // namespace

std::vector<Slab> list_slabs(const Allocation& allocation, std::span<const std::uint64_t> capacity) {
    if (!allocation.machine().has_grid()) return {};
    std::vector<Slab> slabs;
    for (std::uint32_t axis = 0; axis < allocation.machine().grid().size(); ++axis) {
        const AxisOrder order(allocation, axis);
        for (std::size_t i = 0; i < order.count(); ++i) {
            if (order.is_first(i)) order.add_slabs(axis, i, capacity, slabs);
        }
    }
    return slabs;
}

NodePart nodes_of_slab(const Allocation& allocation, const Slab& slab) {
    NodePart part;
    for (std::uint32_t n = 0; n < allocation.nodes().size(); ++n) {
        const std::uint32_t at = allocation.machine().coordinates(allocation.nodes()[n])[slab.axis];
        const bool is_inside = slab.first <= slab.last ? slab.first <= at && at <= slab.last
                                                       : slab.first <= at || at <= slab.last;
        if (is_inside) part.push_back(n);
    }
    return part;
}

}  // namespace topoloom::bound
