// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/generators/triangular_grid.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "topoloom/pattern/pattern_check.hpp"

namespace topoloom {

namespace {

constexpr std::uint32_t max_rows = 65'535;  // 2^31 - 2^15 ranks

bool balanced(TriangularOrder order) {
    return order == TriangularOrder::bdm || order == TriangularOrder::bcm;
}

void check(std::uint32_t rows, TriangularOrder order) {
    if (rows == 0 || rows > max_rows)
        fail("a triangular grid cannot have ", rows, " rows; give 1 to ", max_rows);
    if (balanced(order) && rows % 2 == 0) {
        fail("a balanced triangular grid cannot have ", rows, " rows, an even number; the nearest are ",
             rows - 1, " and ", rows + 1);
    }
}

/// The column of a cell's unordered pair in the balanced grid.
std::uint32_t balanced_column(TriangularCell cell, std::uint32_t rows) {
    const std::uint32_t below = (cell.row + rows - cell.column) % rows;
    return below <= rows / 2 ? cell.column : cell.row;
}

std::uint32_t group_of(TriangularCell cell, std::uint32_t rows, TriangularGroup group) {
    if (group == TriangularGroup::column) return cell.column;
    if (group == TriangularGroup::row) return cell.row;
    return balanced_column(cell, rows);
}

/// The one of those names that the text is, by its number.
template <class Kind>
Kind parse(std::string_view kind, std::string_view text, const std::vector<std::string>& names) {
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) throw Error(unknown_name(kind, text, names));
    return static_cast<Kind>(found - names.begin());
}

}  // namespace

TriangularOrder parse_triangular_order(std::string_view text) {
    return parse<TriangularOrder>("order", text, {"dm", "cm", "bdm", "bcm"});
}

TriangularGroup parse_triangular_group(std::string_view text) {
    return parse<TriangularGroup>("group", text, {"column", "row", "orthogonalization"});
}

std::vector<TriangularCell> triangular_grid(std::uint32_t rows, TriangularOrder order) {
    check(rows, order);
    std::vector<TriangularCell> cells;
    cells.reserve(std::size_t{rows} * (rows + 1) / 2);
    const auto add = [&](std::uint32_t diagonal, std::uint32_t column) {
        cells.push_back({(column + diagonal) % rows, column});
    };
    const auto diagonals_of = [&](std::uint32_t column) {
        return balanced(order) ? (rows + 1) / 2 : rows - column;
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
    const std::vector<TriangularCell> cells = triangular_grid(rows, order);
    check_pattern("triangular grid", cells.size(), bytes);
    std::vector<std::uint32_t> first(rows + 1, 0);
    for (const TriangularCell cell : cells) ++first[group_of(cell, rows, group) + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<Rank> members(cells.size());
    std::vector<std::uint32_t> place(cells.size());  // of a rank among the members of its group
    std::vector<std::uint32_t> root(rows);           // place of the rank on the diagonal
    std::vector<std::uint32_t> count(rows, 0);
    for (const Rank u : ids<Rank>(cells.size())) {
        const std::uint32_t g = group_of(cells[u.value], rows, group);
        if (cells[u.value].row == cells[u.value].column) root[g] = count[g];
        place[u.value] = count[g]++;
        members[first[g] + place[u.value]] = u;
    }
    return CommGraph::from_rows(cells.size(), [&](Rank u, const auto& add) {
        const std::uint32_t g = group_of(cells[u.value], rows, group);
        const std::uint32_t size = count[g];
        const std::uint32_t relative = (place[u.value] + size - root[g]) % size;
        const std::int64_t part = bytes.value / size + (bytes.value % size != 0 ? 1 : 0);
        for (std::uint32_t bit = 1; relative + bit < size && (relative & bit) == 0; bit *= 2) {
            const std::uint32_t waiting = std::min(bit, size - relative - bit);
            const Rank peer = members[first[g] + (relative + bit + root[g]) % size];
            add(Edge{peer, group == TriangularGroup::orthogonalization ? Bytes{part * waiting} : bytes});
        }
    });
}

std::uint32_t hybrid_rows(std::uint32_t rows, std::uint32_t threads) {
    check(rows, TriangularOrder::dm);
    if (threads == 0) fail("a rank cannot have 0 threads; give 1 or more");
    if (threads == 1) return rows;
    return 2 * static_cast<std::uint32_t>(rows / std::sqrt(threads) / 2) + 1;
}

}  // namespace topoloom
