// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/allocations/full_boxes.hpp"

#include <algorithm>
#include <numeric>

namespace topoloom {

namespace {

struct Box {
    std::vector<std::uint32_t> size;
    std::size_t corner;  // the cell with the smallest coordinates
};

/// Grid cells are routers, numbered row-major. Chooses the size along one axis after the other, the last axis
/// first. For each choice, finds the cells that can be the corner of a box with the sizes chosen so far.
class BoxSearch {
   public:
    BoxSearch(std::vector<std::uint32_t> grid, std::vector<bool> wraps)
        : grid_(std::move(grid)), wraps_(std::move(wraps)), size_(grid_.size(), 1) {}

    std::vector<Box> run(const std::vector<char>& fits, std::size_t cells) {
        extend_box(grid_.size(), fits, 1, cells);
        return std::move(found_);
    }

   private:
    static constexpr std::size_t max_found = 4096;
    // Limit in cells; a search takes less than 1 s.
    static constexpr std::size_t max_visited = std::size_t{1} << 28;

    void extend_box(std::size_t axes, const std::vector<char>& fits, std::size_t stride, std::size_t cells) {
        if (found_.size() == max_found || visited_ > max_visited) return;
        if (axes == 0) {
            const auto corner = std::ranges::find(fits, 1);
            if (cells == 1 && corner != fits.end())
                found_.push_back({size_, static_cast<std::size_t>(corner - fits.begin())});
            return;
        }
        const std::size_t axis = axes - 1;
        for (std::uint32_t size = 1; size <= grid_[axis] && size <= cells; ++size) {
            if (cells % size != 0) continue;
            const std::vector<char> longer = mark_run_starts(fits, axis, stride, size);
            if (std::ranges::find(longer, 1) == longer.end()) break;  // a longer box does not fit either
            size_[axis] = size;
            extend_box(axis, longer, stride * grid_[axis], cells / size);
        }
    }

    /// Marks the first cell of each run of `size` marked cells along the axis.
    std::vector<char> mark_run_starts(const std::vector<char>& marked, std::size_t axis, std::size_t stride,
                                      std::uint32_t size) {
        visited_ += marked.size();
        if (size == 1) return marked;
        std::vector<char> starts(marked.size(), 0);
        const std::size_t length = grid_[axis];
        for (std::size_t block = 0; block < marked.size(); block += stride * length) {
            for (std::size_t first = block; first < block + stride; ++first) {
                // Scans from the end to the start; scans a ring twice, to find runs across its end.
                std::uint32_t run = 0;
                for (std::size_t i = wraps_[axis] ? 2 * length : length; i-- > 0;) {
                    const std::size_t cell = first + i % length * stride;
                    run = marked[cell] ? run + 1 : 0;
                    if (i < length && run >= size) starts[cell] = 1;
                }
            }
        }
        return starts;
    }

    std::vector<std::uint32_t> grid_;
    std::vector<bool> wraps_;
    std::vector<std::uint32_t> size_;
    std::vector<Box> found_;
    std::size_t visited_ = 0;
};

}  // namespace

std::vector<std::vector<Node>> full_boxes(const Allocation& allocation, std::size_t count,
                                          std::size_t max_boxes) {
    const Machine& machine = allocation.machine();
    const std::vector<std::uint32_t> grid = machine.grid();
    const std::size_t cells =
        std::accumulate(grid.begin(), grid.end(), std::size_t{1}, std::multiplies<std::size_t>());
    const std::size_t nodes_per_cell = machine.node_count() / cells;
    if (count % nodes_per_cell != 0) return {};
    std::vector<std::size_t> allocated(cells, 0);
    for (const Node node : allocation.nodes()) ++allocated[node.value / nodes_per_cell];
    std::vector<char> full;
    for (const std::size_t nodes : allocated) full.push_back(nodes == nodes_per_cell ? 1 : 0);

    std::vector<Box> found = BoxSearch(grid, machine.wraps()).run(full, count / nodes_per_cell);
    std::ranges::stable_sort(found, {}, [](const Box& box) {
        return std::accumulate(box.size.begin(), box.size.end(), std::uint64_t{0});
    });
    if (found.size() > max_boxes) found.resize(max_boxes);

    std::vector<std::vector<Node>> boxes;
    for (const Box& box : found) {
        std::vector<std::size_t> inside{0};
        std::size_t stride = 1;
        std::size_t rest = box.corner;
        for (std::size_t axis = grid.size(); axis-- > 0;) {
            const std::size_t at = rest % grid[axis];
            rest /= grid[axis];
            std::vector<std::size_t> longer;
            for (std::size_t i = 0; i < box.size[axis]; ++i) {
                for (const std::size_t cell : inside) longer.push_back(cell + (at + i) % grid[axis] * stride);
            }
            inside = std::move(longer);
            stride *= grid[axis];
        }
        std::vector<Node>& nodes = boxes.emplace_back();
        for (const std::size_t cell : inside) {
            for (std::size_t k = 0; k < nodes_per_cell; ++k) nodes.push_back(Node{cell * nodes_per_cell + k});
        }
    }
    return boxes;
}

}  // namespace topoloom
