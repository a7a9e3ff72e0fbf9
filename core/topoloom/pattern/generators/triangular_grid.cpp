// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/generators/triangular_grid.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>

#include "topoloom/pattern/argument_check.hpp"

namespace topoloom {

namespace {

constexpr std::uint32_t max_rows = 65'535;  // 2^31 - 2^15 ranks

bool is_balanced(TriangularOrder order) {
    return order == TriangularOrder::bdm || order == TriangularOrder::bcm;
}

void check_grid(std::uint32_t rows, TriangularOrder order) {
    if (rows == 0 || rows > max_rows)
        fail("a triangular grid cannot have ", rows, " rows; give 1 to ", max_rows);
    if (is_balanced(order) && rows % 2 == 0) {
        fail("a balanced triangular grid cannot have ", rows, " rows, an even number; the nearest are ",
             rows - 1, " and ", rows + 1);
    }
}

/// Returns the column of a cell's unordered pair in the balanced grid.
std::uint32_t balanced_column(TriangularCell cell, std::uint32_t rows) {
    const std::uint32_t below = (cell.row + rows - cell.column) % rows;
    return below <= rows / 2 ? cell.column : cell.row;
}

std::uint32_t group_of(TriangularCell cell, std::uint32_t rows, TriangularGroup group) {
    using enum TriangularGroup;
    if (group == column || group == column_reduction) return cell.column;
    if (group == row || group == row_reduction) return cell.row;
    return balanced_column(cell, rows);
}

/// Returns the number of levels of a binomial tree.
std::uint32_t tree_depth(std::uint32_t size) { return static_cast<std::uint32_t>(std::bit_width(size - 1)); }

/// The binomial trees of one kind of group, and their messages by level.
class BinomialTrees {
   public:
    BinomialTrees(std::uint32_t rows, TriangularOrder order, TriangularGroup group)
        : group_(group), first_(rows + 1, 0), root_(rows) {
        const std::vector<TriangularCell> cells = triangular_grid(rows, order);
        for (const TriangularCell cell : cells) ++first_[group_of(cell, rows, group) + 1];
        deepest_ = tree_depth(*std::ranges::max_element(first_));
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
        members_.resize(cells.size());
        place_.resize(cells.size());
        for (const Rank u : ids<Rank>(cells.size())) {
            const TriangularCell cell = cells[u.value];
            const std::uint32_t g = group_of(cell, rows, group);
            group_of_.push_back(g);
            if (cell.row == cell.column) root_[g] = next[g] - first_[g];
            place_[u.value] = next[g] - first_[g];
            members_[next[g]++] = u;
        }
    }

    [[nodiscard]] std::size_t rank_count() const { return members_.size(); }

    [[nodiscard]] std::uint32_t levels() const {
        return group_ == TriangularGroup::allreduce ? 2 * (deepest_ + tree_depth(groups())) : deepest_;
    }

    /// Calls add(peer, bytes, level) for every message of u.
    template <class Add>
    void sends(Rank u, Bytes bytes, const Add& add) const {
        using enum TriangularGroup;
        const std::uint32_t g = group_of_[u.value];
        const std::uint32_t size = first_[g + 1] - first_[g];
        const std::uint32_t relative = (place_[u.value] + size - root_[g]) % size;
        const auto member = [&](std::uint32_t v) { return members_[first_[g] + (v + root_[g]) % size]; };
        const std::int64_t part = bytes.value / size + (bytes.value % size != 0 ? 1 : 0);
        const auto within = [&](std::uint32_t level) {
            return [&, level](std::uint32_t peer, std::uint32_t waiting, std::uint32_t step) {
                const bool parts = group_ == orthogonalization || group_ == gather;
                add(member(peer), parts ? Bytes{part * waiting} : bytes, level + step);
            };
        };
        if (group_ == column_reduction || group_ == row_reduction || group_ == gather) {
            visit_parent(relative, size, within(0));
        } else if (group_ != allreduce) {
            for_each_child(relative, size, within(0));
        } else {
            visit_parent(relative, size, within(0));
            if (relative == 0) {
                const auto across = [&](std::uint32_t level) {
                    return [&, level](std::uint32_t peer, std::uint32_t, std::uint32_t step) {
                        add(members_[first_[peer] + root_[peer]], bytes, level + step);
                    };
                };
                visit_parent(g, groups(), across(deepest_));
                for_each_child(g, groups(), across(deepest_ + tree_depth(groups())));
            }
            for_each_child(relative, size, within(deepest_ + 2 * tree_depth(groups())));
        }
    }

   private:
    [[nodiscard]] std::uint32_t groups() const { return static_cast<std::uint32_t>(root_.size()); }

    /// Calls use(child, size of its subtree, level) for the children of relative rank v.
    template <class Use>
    static void for_each_child(std::uint32_t v, std::uint32_t size, const Use& use) {
        std::uint32_t level = tree_depth(size);
        for (std::uint32_t bit = 1; v + bit < size && (v & bit) == 0; bit *= 2)
            use(v + bit, std::min(bit, size - v - bit), --level);
    }

    /// Calls use(parent, size of v's subtree, level) if v is not the root.
    template <class Use>
    static void visit_parent(std::uint32_t v, std::uint32_t size, const Use& use) {
        if (v == 0) return;
        const auto level = static_cast<std::uint32_t>(std::countr_zero(v));
        use(v & (v - 1), std::min(1U << level, size - v), level);
    }

    TriangularGroup group_;
    std::uint32_t deepest_ = 0;
    std::vector<std::uint32_t> first_;     // first member of each group in members_
    std::vector<std::uint32_t> root_;      // [group]: index of the member on the diagonal
    std::vector<Rank> members_;            // sorted by group
    std::vector<std::uint32_t> place_;     // index of each rank in its group
    std::vector<std::uint32_t> group_of_;  // of a rank
};

/// Converts a name to the enumerator with the same index in `names`.
template <class Kind>
Kind parse_name(std::string_view kind, std::string_view text, const std::vector<std::string>& names) {
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) throw Error(unknown_name_message(kind, text, names));
    return static_cast<Kind>(found - names.begin());
}

}  // namespace

TriangularOrder parse_triangular_order(std::string_view text) {
    return parse_name<TriangularOrder>("order", text, {"dm", "cm", "bdm", "bcm"});
}

TriangularGroup parse_triangular_group(std::string_view text) {
    return parse_name<TriangularGroup>(
        "group", text,
        {"column", "row", "orthogonalization", "column-reduction", "row-reduction", "gather", "allreduce"});
}

std::vector<TriangularCell> triangular_grid(std::uint32_t rows, TriangularOrder order) {
    check_grid(rows, order);
    std::vector<TriangularCell> cells;
    cells.reserve(std::size_t{rows} * (rows + 1) / 2);
    const auto add = [&](std::uint32_t diagonal, std::uint32_t column) {
        cells.push_back({(column + diagonal) % rows, column});
    };
    const auto diagonals_of = [&](std::uint32_t column) {
        return is_balanced(order) ? (rows + 1) / 2 : rows - column;
    };
    if (order == TriangularOrder::cm || order == TriangularOrder::bcm) {
        for (std::uint32_t j = 0; j < rows; ++j) {
            for (std::uint32_t k = 0; k < diagonals_of(j); ++k) add(k, j);
        }
    } else {
        for (std::uint32_t k = 0; k < diagonals_of(0); ++k) {
            for (std::uint32_t j = 0; j < rows && k < diagonals_of(j); ++j) add(k, j);
        }
    }
    return cells;
}

CommGraph triangular_messages(std::uint32_t rows, TriangularOrder order, TriangularGroup group, Bytes bytes) {
    const BinomialTrees trees(rows, order, group);
    check_pattern("triangular grid", trees.rank_count(), bytes);
    return CommGraph::from_rows(trees.rank_count(), [&](Rank u, const auto& add) {
        trees.sends(u, bytes, [&](Rank peer, Bytes sent, std::uint32_t) { add(Edge{peer, sent}); });
    });
}

std::vector<CommGraph> triangular_levels(std::uint32_t rows, TriangularOrder order, TriangularGroup group,
                                         Bytes bytes) {
    const BinomialTrees trees(rows, order, group);
    check_pattern("triangular grid", trees.rank_count(), bytes);
    std::vector<CommGraph> levels;
    for (std::uint32_t wanted = 0; wanted < trees.levels(); ++wanted) {
        levels.push_back(CommGraph::from_rows(trees.rank_count(), [&](Rank u, const auto& add) {
            trees.sends(u, bytes, [&](Rank peer, Bytes sent, std::uint32_t level) {
                if (level == wanted) add(Edge{peer, sent});
            });
        }));
    }
    return levels;
}

std::uint32_t hybrid_rows(std::uint32_t rows, std::uint32_t threads) {
    check_grid(rows, TriangularOrder::dm);
    if (threads == 0) fail("a rank cannot have 0 threads; give 1 or more");
    if (threads == 1) return rows;
    return 2 * static_cast<std::uint32_t>(rows / std::sqrt(threads) / 2) + 1;
}

}  // namespace topoloom
