// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/recognize/recognize.hpp"

#include <bit>
#include <cmath>

namespace topoloom {

namespace {

/// Properties of a graph that follow from the degrees alone.
struct Degrees {
    std::uint32_t corner = 0;  // a rank of minimum degree; on open axes a corner of the grid
    std::uint64_t least = 0;
    std::uint64_t most = 0;
};

Degrees measure_degrees(const Adjacency& graph) {
    Degrees degrees{0, graph.degree(0), graph.degree(0)};
    for (std::uint32_t u = 1; u < graph.size(); ++u) {
        const std::uint64_t degree = graph.degree(u);
        if (degree < degrees.least) {
            degrees.least = degree;
            degrees.corner = u;
        }
        degrees.most = std::max(degrees.most, degree);
    }
    return degrees;
}

/// On a path, an inner rank has twice as many partners as an end.
bool can_be_star(const Degrees& degrees) { return degrees.least > 0 && degrees.most <= 2 * degrees.least; }

/// If `a` axes are paths, they contribute a factor 2^a to the closed neighborhood of a corner, and 3^a to
/// that of an inner rank.
bool can_be_box(const Degrees& degrees) {
    if (degrees.least == 0) return false;
    std::uint64_t most = degrees.least + 1;
    for (std::uint64_t rest = most; rest % 2 == 0; rest /= 2) most = most / 2 * 3;
    return degrees.most + 1 <= most;
}

}  // namespace

std::optional<GridPattern> recognize(const CommGraph& symmetric, int threads) {
    if (symmetric.rank_count() < 2 || symmetric.edge_count() == 0) return std::nullopt;
    const Adjacency graph(symmetric.first(), symmetric.all_peers());
    const Degrees degrees = measure_degrees(graph);
    if (degrees.least + 1 == graph.size()) {
        GridPattern pattern;
        pattern.axes = {{graph.size(), graph.size() == 2 ? AxisKind::path : AxisKind::clique}};
        for (const Rank u : ids<Rank>(graph.size())) pattern.rank_of_cell.push_back(u);
        // If alltoall traffic is heavier inside groups, the groups describe the pattern better.
        if (measure(symmetric, pattern, threads) && pattern.uniform) return pattern;
        if (auto groups = find_groups(symmetric)) return groups;
        return pattern;
    }
    if (can_be_star(degrees)) {
        auto pattern = propose_star(graph, degrees.corner);
        if (pattern && measure(symmetric, *pattern, threads)) return pattern;
    }
    if (can_be_box(degrees)) {
        auto pattern = propose_box(graph, degrees.corner);
        if (pattern && measure(symmetric, *pattern, threads)) return pattern;
    }
    return find_groups(symmetric);
}

}  // namespace topoloom
