// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/structure/binomial_tree.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <span>

#include "topoloom/base/id.hpp"

namespace topoloom::structure {

namespace {

/// A breadth-first traversal from the root, with the parent of each rank. Lists fewer than all ranks if the
/// graph is not connected.
struct TreeTraversal {
    std::vector<Rank> order;
    std::vector<Rank> parent;
    std::vector<Bytes> bytes;  // by rank: bytes exchanged with its parent

    TreeTraversal(const CommGraph& tree, Rank root)
        : parent(tree.rank_count(), Rank::none), bytes(tree.rank_count()) {
        order.push_back(root);
        parent[root.value] = root;
        for (std::size_t at = 0; at < order.size(); ++at) {
            const Rank u = order[at];
            for (const Edge edge : tree.sends(u)) {
                if (parent[edge.peer.value] != Rank::none) continue;
                parent[edge.peer.value] = u;
                bytes[edge.peer.value] = edge.bytes;
                order.push_back(edge.peer);
            }
        }
    }
};

/// Finds the cheapest placement of a binomial tree in every box of 2^e[0] x 2^e[1] x ... routers, for every
/// cell of the root. Cells are numbered row-major: a number consists of the bits of the coordinates, axis
/// after axis, and halving an axis removes one bit.
class TreeHalving {
   public:
    TreeHalving(const BinomialTree& tree, const grid::SlotGrid& grid, std::uint32_t levels_inside)
        : tree_(tree), grid_(grid), levels_inside_(levels_inside) {
        std::size_t shapes = 1;
        for (const std::uint32_t extent : grid.extent) {
            whole_.push_back(static_cast<std::uint32_t>(std::countr_zero(extent)));
            shapes *= whole_.back() + 1;
        }
        boxes_.resize(shapes);
    }

    std::vector<Slot> place_at_lowest_cost() {
        const Box& all = find_roots(whole_);
        const auto root = std::ranges::min_element(all, {}, &RootChoice::cost) - all.begin();
        slots_.resize(tree_.rank_of_number.size());
        Exponents exponents = whole_;
        place_subtree(exponents, static_cast<std::uint32_t>(root), 0, 0);
        return std::move(slots_);
    }

   private:
    using Exponents = Extents;  // by axis

    struct RootChoice {
        double cost = std::numeric_limits<double>::infinity();
        std::uint32_t axis = 0;     // axis along which the box is halved
        std::uint32_t partner = 0;  // cell of the root of the other half
    };
    using Box = std::vector<RootChoice>;  // by cell: its root; empty: not computed yet
    /// The lowest sum of a root's cost in the other half and the cost of the edge to it.
    struct NearestRoot {
        double cost = std::numeric_limits<double>::infinity();
        std::uint32_t from = 0;
    };

    /// Number of bits of a cell number for this and later axes.
    [[nodiscard]] static std::uint32_t count_bits(const Exponents& exponents, std::size_t axis) {
        return std::accumulate(exponents.begin() + static_cast<std::ptrdiff_t>(axis), exponents.end(), 0U);
    }
    /// The number, in the whole box, of cell `cell` of half `half`. The cell numbers of the two halves differ
    /// in bit `bit`.
    [[nodiscard]] static std::uint32_t cell_in_whole(std::uint32_t cell, std::uint32_t half,
                                                     std::uint32_t bit) {
        return (cell >> bit << (bit + 1)) | half << bit | (cell & ((1U << bit) - 1));
    }
    [[nodiscard]] static std::uint32_t cell_in_half(std::uint32_t cell, std::uint32_t bit) {
        return (cell >> (bit + 1) << bit) | (cell & ((1U << bit) - 1));
    }

    const Box& find_roots(const Exponents& exponents) {
        std::size_t shape = 0;
        for (std::size_t d = 0; d < exponents.size(); ++d) shape = shape * (whole_[d] + 1) + exponents[d];
        Box& found = boxes_[shape];
        if (!found.empty()) return found;
        Box roots(std::size_t{1} << count_bits(exponents, 0));
        if (roots.size() == 1) roots[0].cost = 0;
        for (std::size_t axis = 0; axis < exponents.size(); ++axis) {
            if (exponents[axis] > 0) join_halves(exponents, axis, roots);
        }
        return found = std::move(roots);
    }

    /// Joins the placements in the two halves of a box, for every cell as the root.
    void join_halves(const Exponents& exponents, std::size_t axis, Box& roots) {
        Exponents smaller = exponents;
        --smaller[axis];
        const Box& half = find_roots(smaller);
        const std::uint32_t bit = count_bits(exponents, axis) - 1;
        for (const std::uint32_t side : {0U, 1U}) {
            std::vector<NearestRoot> reach(roots.size());
            for (std::uint32_t h = 0; h < half.size(); ++h) {
                const std::uint32_t cell = cell_in_whole(h, 1 - side, bit);
                reach[cell] = {half[h].cost, cell};
            }
            spread_costs(exponents, reach);
            for (std::uint32_t h = 0; h < half.size(); ++h) {
                const std::uint32_t cell = cell_in_whole(h, side, bit);
                const double cost = half[h].cost + reach[cell].cost;
                if (cost < roots[cell].cost)
                    roots[cell] = {cost, static_cast<std::uint32_t>(axis), reach[cell].from};
            }
        }
    }

    /// Distances are sums over the axes, so the nearest root is found axis by axis, with a sweep in each
    /// direction.
    void spread_costs(const Exponents& exponents, std::vector<NearestRoot>& reach) const {
        const double step = tree_.bytes[count_bits(exponents, 0) - 1 + levels_inside_];
        for (std::size_t d = 0; d < exponents.size(); ++d) {
            const std::uint32_t extent = 1U << exponents[d];
            const std::uint32_t stride = 1U << count_bits(exponents, d + 1);
            const std::uint32_t rounds = grid_.wraps[d] && exponents[d] == whole_[d] ? 2 : 1;
            for (std::uint32_t begin = 0; begin < reach.size(); ++begin) {
                if ((begin / stride) % extent != 0) continue;
                const auto at = [&](std::uint32_t i) -> NearestRoot& {
                    return reach[begin + i % extent * stride];
                };
                const auto relax = [&](NearestRoot& to, const NearestRoot& from) {
                    if (from.cost + step < to.cost) to = {from.cost + step, from.from};
                };
                for (std::uint32_t i = 1; i < rounds * extent; ++i) relax(at(i), at(i - 1));
                for (std::uint32_t i = rounds * extent - 1; i > 0; --i) relax(at(i - 1), at(i));
            }
        }
    }

    /// Places the subtree B_j whose numbers begin at `number` in the box that begins at this router.
    void place_subtree(Exponents& exponents, std::uint32_t root, std::size_t router, std::uint32_t number) {
        const std::uint32_t level = count_bits(exponents, 0);
        if (level == 0) {
            for (std::size_t k = 0; k < grid_.slots_per_router; ++k) {
                const Rank rank = tree_.rank_of_number[number + k];
                slots_[rank.value] = grid_.slots[router * grid_.slots_per_router + k];
            }
            return;
        }
        const auto [cost, axis, partner] = find_roots(exponents)[root];
        const std::uint32_t bit = count_bits(exponents, axis) - 1;
        --exponents[axis];
        const std::size_t across = std::size_t{1} << (exponents[axis] + count_bits(whole_, axis + 1));
        for (const std::uint32_t cell : {root, partner}) {
            place_subtree(exponents, cell_in_half(cell, bit), router + (cell >> bit & 1U) * across, number);
            number += 1U << (level - 1 + levels_inside_);
        }
        ++exponents[axis];
    }

    const BinomialTree& tree_;
    const grid::SlotGrid& grid_;
    std::uint32_t levels_inside_;  // number of tree levels placed inside a router
    Exponents whole_;
    std::vector<Box> boxes_;  // by exponents
    std::vector<Slot> slots_;
};

}  // namespace

std::optional<BinomialTree> find_binomial_tree(const CommGraph& symmetric) {
    const std::size_t n = symmetric.rank_count();
    if (n < 8 || !std::has_single_bit(n) || symmetric.edge_count() != 2 * (n - 1)) return std::nullopt;
    const auto levels = static_cast<std::size_t>(std::countr_zero(n));
    Rank root{0};
    while (root.value < n && symmetric.degree(root) != levels) ++root.value;
    if (root.value == n) return std::nullopt;
    const TreeTraversal traversal(symmetric, root);
    if (traversal.order.size() != n) return std::nullopt;
    std::vector<std::uint32_t> size(n, 1);  // size of the subtree of each rank
    for (std::size_t i = n - 1; i > 0; --i) {
        const Rank u = traversal.order[i];
        if (!std::has_single_bit(size[u.value])) return std::nullopt;
        size[traversal.parent[u.value].value] += size[u.value];
    }
    // If distinct powers of two sum to 2^j - 1, they are exactly 1, 2, ..., 2^(j-1).
    BinomialTree tree{std::vector<Rank>(n, root), std::vector<double>(levels, 0)};
    std::vector<std::uint32_t> number(n, 0);
    std::vector<std::uint32_t> sizes_seen(n, 0);
    for (const Rank u : std::span(traversal.order).subspan(1)) {
        const Rank parent = traversal.parent[u.value];
        if ((sizes_seen[parent.value] & size[u.value]) != 0) return std::nullopt;
        sizes_seen[parent.value] |= size[u.value];
        number[u.value] = number[parent.value] + size[u.value];
        tree.rank_of_number[number[u.value]] = u;
        const auto edges_like_this = static_cast<double>(n / 2 / size[u.value]);
        tree.bytes[static_cast<std::size_t>(std::countr_zero(size[u.value]))] +=
            static_cast<double>(traversal.bytes[u.value].value) / edges_like_this;
    }
    return tree;
}

std::optional<std::vector<Slot>> place_binomial_tree(const BinomialTree& tree, const grid::SlotGrid& grid) {
    if (grid.slots.size() != tree.rank_of_number.size() || !std::has_single_bit(grid.slots_per_router) ||
        !std::ranges::all_of(grid.extent, [](std::uint32_t extent) { return std::has_single_bit(extent); }))
        return std::nullopt;
    return TreeHalving(tree, grid, static_cast<std::uint32_t>(std::countr_zero(grid.slots_per_router)))
        .place_at_lowest_cost();
}

}  // namespace topoloom::structure
