// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/routing/shortest_routes.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/geometry/hop_search.hpp"

namespace topoloom {

namespace {

/// Buffers of a traversal, reused for the next route.
struct Traversal {
    std::vector<double> share;        // by row
    std::vector<std::uint32_t> here;  // vertices at the current distance from the end
    std::vector<std::uint32_t> next;  // vertices one hop nearer
    std::vector<std::size_t> nearer;  // arcs
};

thread_local Traversal reused;

}  // namespace

ShortestRoutes::ShortestRoutes(std::span<const std::uint32_t> vertex, const std::vector<bool>& forwards,
                               std::vector<Arc> arcs, Choice choice)
    : forwards_(forwards),
      arcs_(std::move(arcs)),
      first_(forwards.size() + 1, 0),
      into_leaf_(forwards.size(), 0),
      choice_(choice) {
    const std::uint32_t ends = number_rows(vertex);
    std::ranges::stable_sort(arcs_, {}, [&](const Arc& arc) {
        return std::tuple(arc.from, is_leaf(arc.to), choice_ == Choice::shared ? arc.to : 0);
    });
    for (const Arc& arc : arcs_) ++first_[arc.from + 1];
    for (std::size_t v = 0; v < forwards.size(); ++v) first_[v + 1] += first_[v];
    for (std::size_t i = arcs_.size(); i-- > 0;) into_leaf_[arcs_[i].to] = i;
    std::vector<RowLink> between_rows;
    for (const Arc& arc : arcs_) {
        if (!is_leaf(arc.from) && !is_leaf(arc.to)) between_rows.push_back({row_[arc.from], row_[arc.to]});
    }
    const auto rows =
        static_cast<std::size_t>(std::ranges::count_if(row_, [](std::uint32_t row) { return row != leaf; }));
    std::vector<bool> relays(rows);
    for (std::uint32_t v = 0; v < forwards.size(); ++v) {
        if (!is_leaf(v)) relays[row_[v]] = forwards[v];
    }
    std::vector<HopTable::Point> nodes;
    for (const std::uint32_t v : vertex) {
        const std::uint32_t row = row_[is_leaf(v) ? arcs_[first_[v]].to : v];
        nodes.push_back({static_cast<std::uint32_t>(nodes.size()), row & 0x7FFFFFFFU, is_leaf(v) ? 1U : 0U});
    }
    table_ = HopTable(std::move(nodes), rows, search_hops(rows, ends, between_rows, relays));
}

/// Numbers the rows of the hop table: rows of nodes first, no rows for leaves. Returns how many of the rows
/// belong to nodes.
std::uint32_t ShortestRoutes::number_rows(std::span<const std::uint32_t> vertex) {
    constexpr std::uint32_t several = no_index - 1;
    std::vector<std::uint32_t> neighbor(forwards_.size(), no_index);  // [vertex]: its only neighbor
    const auto add_neighbor = [&](std::uint32_t v, std::uint32_t other) {
        neighbor[v] = neighbor[v] == no_index || neighbor[v] == other ? other : several;
    };
    std::vector<bool> left(forwards_.size(), false);
    std::vector<bool> entered(forwards_.size(), false);
    for (const Arc& arc : arcs_) {
        add_neighbor(arc.from, arc.to);
        add_neighbor(arc.to, arc.from);
        left[arc.from] = entered[arc.to] = true;
    }
    std::vector<std::uint32_t> nodes_at(forwards_.size(), 0);
    for (const std::uint32_t v : vertex) ++nodes_at[v];
    std::vector<bool> ends_here(forwards_.size(), false);
    row_.assign(forwards_.size(), 0);
    for (std::uint32_t v = 0; v < forwards_.size(); ++v) {
        if (nodes_at[v] == 0) continue;
        const bool is_hanging =
            nodes_at[v] == 1 && left[v] && entered[v] && neighbor[v] < several && nodes_at[neighbor[v]] == 0;
        if (is_hanging) row_[v] = leaf;
        ends_here[is_hanging ? neighbor[v] : v] = true;
    }
    std::uint32_t rows = 0;
    std::uint32_t end_rows = 0;
    for (const bool first : {true, false}) {
        for (std::uint32_t v = 0; v < forwards_.size(); ++v) {
            if (!is_leaf(v) && ends_here[v] == first) row_[v] = rows++;
        }
        if (first) end_rows = rows;
    }
    return end_rows;
}

auto ShortestRoutes::next_arc(std::uint32_t at, std::uint32_t end,
                              std::span<const std::uint16_t> to_end) const -> const Arc& {
    for (std::size_t i = first_[at];; ++i) {
        const std::uint32_t next = arcs_[i].to;
        if (is_leaf(next) || to_end[row_[next]] + 1 != to_end[row_[at]]) continue;
        if (forwards_[next] || next == end) return arcs_[i];
    }
}

void ShortestRoutes::find_nearer_arcs(std::uint32_t at, std::uint32_t end, std::uint32_t hops,
                                      std::vector<std::size_t>& nearer) const {
    nearer.clear();
    const auto begin = arcs_.begin() + static_cast<std::ptrdiff_t>(first_[at]);
    const auto past = arcs_.begin() + static_cast<std::ptrdiff_t>(first_[at + 1]);
    if (hops == 1) {
        const auto key = [&](const Arc& arc) { return std::pair(is_leaf(arc.to), arc.to); };
        for (auto arc = std::ranges::lower_bound(begin, past, std::pair(false, end), {}, key);
             arc != past && arc->to == end; ++arc) {
            nearer.push_back(static_cast<std::size_t>(arc - arcs_.begin()));
        }
        return;
    }
    const std::span<const std::uint16_t> to_end = table_.hops_to(row_[end]);
    for (auto arc = begin; arc != past && !is_leaf(arc->to); ++arc) {
        if (to_end[row_[arc->to]] + 1U == hops && forwards_[arc->to])
            nearer.push_back(static_cast<std::size_t>(arc - arcs_.begin()));
    }
}

/// Visits vertices in the order of decreasing distance to the end of the route.
void ShortestRoutes::visit_shared_route(std::uint32_t start, std::uint32_t end,
                                        const RouteVisitor& visit) const {
    Traversal traversal = std::exchange(reused, {});
    const std::span<const std::uint16_t> to_end = table_.hops_to(row_[end]);
    if (traversal.share.size() < to_end.size()) traversal.share.resize(to_end.size(), 0.0);
    traversal.here.assign(1, start);
    traversal.share[row_[start]] = 1;
    for (std::uint32_t hops = to_end[row_[start]]; hops > 0; --hops) {
        traversal.next.clear();
        for (const std::uint32_t v : traversal.here) {
            const double share = std::exchange(traversal.share[row_[v]], 0.0);
            find_nearer_arcs(v, end, hops, traversal.nearer);
            double weight = 0;
            for (const std::size_t i : traversal.nearer) weight += arcs_[i].weight;
            for (const std::size_t i : traversal.nearer) {
                const Arc& arc = arcs_[i];
                const double part = share * (arc.weight / weight);
                visit(arc.link, part);
                double& there = traversal.share[row_[arc.to]];
                if (there == 0) traversal.next.push_back(arc.to);
                there += part;
            }
        }
        std::swap(traversal.here, traversal.next);
    }
    traversal.share[row_[end]] = 0;
    reused = std::move(traversal);
}

}  // namespace topoloom
