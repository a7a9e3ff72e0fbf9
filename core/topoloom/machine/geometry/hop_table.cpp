// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/geometry/hop_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/base/memory.hpp"
#include "topoloom/base/parallel.hpp"

namespace topoloom {

namespace {

auto ends_of(const HopTable::HopOverride& e) { return std::pair(e.from, e.to); }

}  // namespace

HopTable::HopTable(std::vector<Point> nodes, std::size_t width, Hops hops, std::vector<std::uint32_t> group)
    : nodes_(std::move(nodes)),
      width_(width),
      rows_(hops.size() / width),
      hops_(std::move(hops)),
      group_(std::move(group)) {
    find_extremes();
    divide_into_blocks();
}

HopTable::HopTable(std::vector<Point> nodes, RowClasses classes, std::vector<std::uint32_t> group)
    : nodes_(std::move(nodes)),
      rows_(group.size()),
      classes_(std::move(classes)),
      is_plain_(false),
      group_(std::move(group)) {
    const NodesOfRows rows = count_nodes();
    std::vector<char> seen(classes_.count, 0);
    for (std::size_t row = 0; row < rows_; ++row) {
        if (rows.count[row] == 0 || std::exchange(seen[classes_.of_row[row]], 1) == 1) continue;
        for (const Point& p : nodes_) farthest_ = std::max(farthest_, distance(nodes_[rows.first[row]], p));
    }
}

void HopTable::override_hops(std::vector<HopOverride> overrides) {
    overrides_ = std::move(overrides);
    is_plain_ = is_plain_ && overrides_.empty();
    std::ranges::sort(overrides_, {}, ends_of);
    for (const HopOverride& e : overrides_) farthest_ = std::max(farthest_, e.hops);
    symmetric_ = symmetric_ && overrides_.empty();
}

auto HopTable::make_hops_by_row(std::size_t rows,
                                const std::function<void(std::uint32_t, std::uint16_t*)>& fill) -> Hops {
    require_memory(rows, rows);
    Hops hops(rows * rows);
    parallel_for(rows, 0,
                 [&](std::size_t b, int) { fill(static_cast<std::uint32_t>(b), hops.data() + b * rows); });
    return hops;
}

auto HopTable::points_of_routers(std::size_t routers, std::uint32_t nodes_per_router) -> std::vector<Point> {
    std::vector<Point> points;
    points.reserve(routers * nodes_per_router);
    for (std::uint32_t router = 0; router < routers; ++router) {
        for (std::uint32_t i = 0; i < nodes_per_router; ++i)
            points.push_back({static_cast<std::uint32_t>(points.size()), router & 0x7FFFFFFFU, 0});
    }
    return points;
}

void HopTable::require_memory(std::uint64_t width, std::uint64_t rows, std::uint64_t nodes) {
    const std::uint64_t usable = usable_memory();
    const std::uint64_t most = usable / 10 * 8;
    const std::uint64_t of_nodes = nodes * sizeof(Point);
    constexpr std::uint64_t ids = std::numeric_limits<std::uint32_t>::max();
    if (width > ids || rows > ids || of_nodes > most ||
        width * rows > (most - of_nodes) / sizeof(std::uint16_t)) {
        fail("distances from ", width, " to ", rows, " routers or switches need more memory than the ",
             usable >> 20, " MiB of this computer. Describe the machine as a torus or tree instead");
    }
}

std::uint32_t HopTable::look_up_hops(Point a, Point b) const {
    const auto at = std::ranges::lower_bound(overrides_, std::pair(a.node, b.node), {}, ends_of);
    if (at != overrides_.end() && ends_of(*at) == std::pair(a.node, b.node)) return at->hops;
    return classes_.count > 0 ? class_distance(a.row, b.row) + a.leaf + b.leaf : table_hops(a, b);
}

std::uint32_t HopTable::class_distance(std::uint32_t a, std::uint32_t b) const {
    if (a == b) return 0;
    if (group_[a] == group_[b]) return classes_.within;
    return classes_.hops[std::size_t{classes_.of_row[b]} * classes_.count + classes_.of_row[a]];
}

auto HopTable::count_nodes() -> NodesOfRows {
    NodesOfRows rows{std::vector<std::uint32_t>(rows_, 0), std::vector<std::uint32_t>(rows_, no_index)};
    for (const Point& p : nodes_) {
        std::uint32_t& count = rows.count[p.row];
        if (count++ == 0) rows.first[p.row] = p.node;
        nodes_share_routers_ = nodes_share_routers_ || (count > 1 && p.leaf == 0);
        if (count > 1) farthest_ = std::max(farthest_, 2U * p.leaf);
    }
    return rows;
}

void HopTable::find_extremes() {
    const auto [count, first] = count_nodes();
    // Per row, for a branch-free loop: a mask, all ones if the row has nodes, and the number of links from
    // its first node to the row.
    std::vector<std::uint16_t> mask(rows_, 0);
    std::vector<std::uint16_t> leaf(rows_, 0);
    for (std::size_t row = 0; row < rows_; ++row) {
        if (count[row] == 0) continue;
        mask[row] = unreached;
        leaf[row] = static_cast<std::uint16_t>(nodes_[first[row]].leaf);
    }
    std::vector<std::uint32_t> farthest(rows_, 0);
    std::vector<std::uint32_t> lost(rows_, no_index);  // a node that does not reach row b
    parallel_for(rows_, 0, [&](std::size_t b, int) {
        if (count[b] == 0) return;
        const std::span<const std::uint16_t> to_b = hops_to(static_cast<std::uint32_t>(b));
        std::uint16_t most = 0;
        std::uint16_t most_with_leaf = 0;
        const auto scan = [&](std::size_t begin, std::size_t end) {
            for (std::size_t a = begin; a < end; ++a) {
                const auto hops = static_cast<std::uint16_t>(to_b[a] & mask[a]);
                most = std::max(most, hops);
                most_with_leaf = std::max(most_with_leaf, static_cast<std::uint16_t>(hops + leaf[a]));
            }
        };
        scan(0, b);
        scan(b + 1, rows_);
        if (most != unreached) {
            if (most_with_leaf > 0) farthest[b] = std::uint32_t{most_with_leaf} + leaf[b];
            return;
        }
        for (std::size_t a = 0; a < rows_; ++a) {
            if (count[a] == 0 || a == b) continue;
            if (to_b[a] == unreached) {
                lost[b] = std::min(lost[b], first[a]);
            } else {
                farthest[b] = std::max(farthest[b], table_hops(nodes_[first[a]], nodes_[first[b]]));
            }
        }
    });
    farthest_ = std::max(farthest_, *std::ranges::max_element(farthest));
    std::uint32_t to = no_index;
    for (std::size_t b = 0; b < rows_; ++b) {
        if (lost[b] == no_index || first[b] >= to) continue;
        to = first[b];
        unreachable_pair_ = {Node{lost[b]}, Node{to}};
    }
    symmetric_ = check_symmetry();
}

/// A block is a run of rows of one group, or of sqrt(rows) rows if there are no groups or too many.
void HopTable::divide_into_blocks() {
    const auto size = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(rows_))));
    std::vector<std::size_t> begin;
    const auto cut = [&](const auto& begins) {
        begin.assign(1, 0);
        for (std::size_t row = 1; row < rows_; ++row) {
            if (begins(row)) begin.push_back(row);
        }
    };
    if (!group_.empty()) cut([&](std::size_t row) { return group_[row] != group_[row - 1]; });
    if (group_.empty() || begin.size() > 4 * size) cut([&](std::size_t row) { return row % size == 0; });
    blocks_ = begin.size();
    begin.push_back(rows_);
    block_.resize(rows_);
    for (std::uint32_t block = 0; block < blocks_; ++block)
        std::fill(block_.begin() + begin[block], block_.begin() + begin[block + 1], block);
    nearest_ = Hops(rows_ * blocks_);
    parallel_for(rows_, 0, [&](std::size_t b, int) {
        const std::span<const std::uint16_t> to_b = hops_to(static_cast<std::uint32_t>(b));
        for (std::size_t block = 0; block < blocks_; ++block) {
            std::uint16_t least = unreached;
            for (std::size_t a = begin[block]; a < begin[block + 1]; ++a) least = std::min(least, to_b[a]);
            nearest_[b * blocks_ + block] = least;
        }
    });
}

auto HopTable::region(std::span<const Point> points) const -> Region {
    Region region{points.front().row, points.front().row, points.front().leaf};
    for (const Point& p : points) {
        region.low = std::min<std::uint32_t>(region.low, p.row);
        region.high = std::max<std::uint32_t>(region.high, p.row);
        region.leaf = std::min<std::uint32_t>(region.leaf, p.leaf);
    }
    return region;
}

/// Compares each tile with the transpose of its mirror tile, so that both are read row by row.
bool HopTable::check_symmetry() const {
    constexpr std::size_t side = 64;
    const Chunks tiles(rows_, side);
    std::vector<char> same(tiles.size(), 1);
    parallel_for(tiles.size(), 0, [&](std::size_t t, int) {
        std::array<std::uint16_t, side * side> back;
        for (std::size_t other = 0; other <= t && same[t] == 1; ++other) {
            const auto [begin, end] = tiles[t];
            const auto [from, to] = tiles[other];
            for (std::size_t a = from; a < to; ++a) {
                for (std::size_t b = begin; b < end; ++b)
                    back[(b - begin) * side + a - from] = hops_[a * width_ + b];
            }
            for (std::size_t b = begin; b < end; ++b) {
                const std::uint16_t* const row = hops_.data() + b * width_;
                if (!std::equal(row + from, row + to, back.data() + (b - begin) * side)) same[t] = 0;
            }
        }
    });
    return std::ranges::all_of(same, [](char s) { return s == 1; });
}

std::vector<std::uint64_t> HopTable::total_distances(std::span<const Point> points) const {
    std::vector<std::uint64_t> totals(points.size(), 0);
    if (!overrides_.empty()) {
        parallel_for(points.size(), 0, [&](std::size_t i, int) {
            for (const Point other : points) totals[i] += distance(points[i], other);
        });
        return totals;
    }
    const std::vector<HopSum> from = sum_hops_from_rows(points);
    for (std::size_t i = 0; i < points.size(); ++i) {
        const Point p = points[i];
        totals[i] = from[p.row].hops + p.leaf * from[p.row].points - 2 * p.leaf;  // 2: itself
    }
    return totals;
}

std::uint64_t HopTable::count_reached_pairs(std::span<const Point> points) const {
    const std::vector<HopSum> from = sum_hops_from_rows(points);
    std::uint64_t pairs = 0;
    for (const Point p : points) pairs += from[p.row].points - 1;
    return pairs;
}

auto HopTable::sum_hops_from_rows(std::span<const Point> points) const -> std::vector<HopSum> {
    std::vector<std::uint64_t> count(rows_, 0);
    std::vector<std::uint64_t> leaves(rows_, 0);
    for (const Point p : points) {
        ++count[p.row];
        leaves[p.row] += p.leaf;
    }
    if (classes_.count > 0) return sum_hops_by_classes(count, leaves);
    std::vector<HopSum> from(rows_);
    const Chunks columns(rows_, 1024);
    parallel_for(columns.size(), 0, [&](std::size_t c, int) {
        for (std::size_t b = 0; b < rows_; ++b) {
            if (count[b] == 0) continue;
            const std::span<const std::uint16_t> to_b = hops_to(static_cast<std::uint32_t>(b));
            for (std::size_t a = columns[c].begin; a < columns[c].end; ++a) {
                if (to_b[a] == unreached) continue;
                from[a].hops += count[b] * to_b[a] + leaves[b];
                from[a].points += count[b];
            }
        }
    });
    return from;
}

/// Adds up distances as if all rows were in other groups, then corrects the distances inside a group.
auto HopTable::sum_hops_by_classes(std::span<const std::uint64_t> count,
                                   std::span<const std::uint64_t> leaves) const -> std::vector<HopSum> {
    std::vector<std::uint64_t> of_class(classes_.count, 0);
    HopSum all;
    for (std::size_t row = 0; row < rows_; ++row) {
        of_class[classes_.of_row[row]] += count[row];
        all.points += count[row];
        all.hops += leaves[row];
    }
    std::vector<HopSum> from(rows_, all);
    std::size_t begin = 0;
    for (std::size_t a = 0; a < rows_; ++a) {
        if (group_[a] != group_[begin]) begin = a;
        const auto class_hops = [&](std::size_t other) {
            return std::uint64_t{classes_.hops[other * classes_.count + classes_.of_row[a]]};
        };
        for (std::size_t other = 0; other < classes_.count; ++other)
            from[a].hops += of_class[other] * class_hops(other);
        for (std::size_t b = begin; b < rows_ && group_[b] == group_[a]; ++b) {
            const std::uint64_t hops =
                class_distance(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
            from[a].hops += count[b] * hops - count[b] * class_hops(classes_.of_row[b]);
        }
    }
    return from;
}

std::vector<SplitKey> HopTable::split_keys(std::span<const Point> points) const {
    std::vector<SplitKey> keys;
    keys.reserve(points.size());
    const auto group = [&](Point p) { return group_[p.row]; };
    if (!group_.empty() &&
        std::ranges::any_of(points, [&](Point p) { return group(p) != group(points.front()); })) {
        for (const Point p : points) keys.push_back({group(p), p.row});
        return keys;
    }
    const auto farthest_from = [&](Point from) {
        return *std::ranges::max_element(points, {}, [&](Point p) { return distance(from, p); });
    };
    const Point left = farthest_from(points.front());
    const Point right = farthest_from(left);
    for (const Point p : points) {
        // The router in the key keeps its nodes together.
        const std::uint64_t router = nodes_share_routers_ ? p.row : 0;
        const std::uint64_t from_left = distance(left, p);
        keys.push_back({farthest_ + distance(left, p) - distance(right, p), from_left << 32 | router});
    }
    return keys;
}

}  // namespace topoloom
