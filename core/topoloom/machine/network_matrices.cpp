// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/network_matrices.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/base/memory.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/machine/slot_space.hpp"

namespace topoloom {

namespace {

/// Chunk sizes: large enough to amortize scheduling, small enough to give all cores work.
constexpr std::size_t rows_per_chunk = 16;
constexpr std::size_t pairs_per_chunk = 1024;

template <class I>
void require_ids(std::span<const I> given, std::size_t count, std::string_view kind) {
    for (const I id : given) {
        if (id.value >= count) fail(kind, " ", id.value, " does not exist: the machine has ", count);
    }
}

void require_matrix_nodes(const Machine& machine, std::span<const Node> nodes) {
    for (const Node node : nodes) {
        if (!machine.connected(node, node))
            fail("node ", node.value, " is down; give nodes that are up, such as nodes_up");
    }
    machine.require_usable(nodes, "the matrix");
}

/// Fills a matrix by fill_row(i, row), which computes the distances from the i-th node or slot to all.
PairMatrix fill_matrix(std::size_t count, std::string_view what,
                       const std::function<void(std::size_t, std::span<std::uint32_t>)>& fill_row) {
    const double bytes = 4.0 * static_cast<double>(count) * static_cast<double>(count);
    if (bytes > static_cast<double>(usable_memory())) {
        fail("a matrix of ", count, " x ", count, " takes ", bytes / 1e9,
             " GB, more than the available memory; give fewer ", what);
    }
    PairMatrix matrix(count * count);
    const Chunks chunks(count, rows_per_chunk);
    parallel_for(chunks.size(), 0, [&](std::size_t c, int) {
        for (std::size_t i = chunks[c].begin; i < chunks[c].end; ++i)
            fill_row(i, std::span(matrix).subspan(i * count, count));
    });
    return matrix;
}

/// Matrix entries of consecutive pairs.
struct PairEntries {
    std::vector<std::size_t> size;  // number of entries of each pair
    std::vector<std::pair<std::uint32_t, double>> entries;
};

/// Sorts all entries from index `begin` to the end by link, and merges entries of the same link.
void merge_links(std::vector<std::pair<std::uint32_t, double>>& entries, std::size_t begin) {
    const auto by_link = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::stable_sort(entries.begin() + static_cast<std::ptrdiff_t>(begin), entries.end(), by_link);
    std::size_t kept = begin;
    for (std::size_t i = begin; i < entries.size(); ++i) {
        if (kept > begin && entries[kept - 1].first == entries[i].first) {
            entries[kept - 1].second += entries[i].second;
        } else {
            entries[kept++] = entries[i];
        }
    }
    entries.resize(kept);
}

}  // namespace

PairMatrix hop_matrix(const Machine& machine, std::span<const Node> nodes) {
    require_ids(nodes, machine.node_count(), "node");
    require_matrix_nodes(machine, nodes);
    return with_topology(machine, [&]<class T>(const T& network) {
        std::vector<typename T::Point> points;
        points.reserve(nodes.size());
        for (const Node node : nodes) points.push_back(network.point(node));
        return fill_matrix(nodes.size(), "nodes", [&](std::size_t i, std::span<std::uint32_t> row) {
            for (std::size_t j = 0; j < row.size(); ++j) row[j] = network.hops(points[i], points[j]);
        });
    });
}

PairMatrix distance_matrix(const Machine& machine, std::span<const Slot> slots) {
    require_ids(slots, machine.slot_count(), "slot");
    std::vector<Node> nodes;
    for (const Slot slot : slots) nodes.push_back(machine.node(slot));
    require_matrix_nodes(machine, nodes);
    const auto space = make_slot_space(machine, slots);
    return fill_matrix(slots.size(), "slots", [&](std::size_t i, std::span<std::uint32_t> row) {
        space->measure_distances(static_cast<std::uint32_t>(i), 0, row);
    });
}

RouteMatrix route_matrix(const Machine& machine, std::span<const Node> from, std::span<const Node> to) {
    if (from.size() != to.size())
        fail("there are ", from.size(), " source nodes and ", to.size(),
             " target nodes; give one target per source");
    require_ids(from, machine.node_count(), "node");
    require_ids(to, machine.node_count(), "node");
    for (std::size_t i = 0; i < from.size(); ++i) machine.require_connected(from[i], to[i]);
    const Chunks chunks(from.size(), pairs_per_chunk);
    std::vector<PairEntries> rows(chunks.size());
    const NetworkView network(machine.topology());
    parallel_for(chunks.size(), 0, [&](std::size_t c, int) {
        auto& [size, entries] = rows[c];
        for (std::size_t i = chunks[c].begin; i < chunks[c].end; ++i) {
            const std::size_t begin = entries.size();
            network.route(from[i], to[i],
                          [&](Link link, double share) { entries.emplace_back(link.value, share); });
            merge_links(entries, begin);
            size.push_back(entries.size() - begin);
        }
    });
    RouteMatrix matrix;
    matrix.first.reserve(from.size() + 1);
    matrix.first.push_back(0);
    for (PairEntries& chunk : rows) {
        for (const std::size_t size : chunk.size) matrix.first.push_back(matrix.first.back() + size);
        for (const auto& [link, share] : chunk.entries) {
            matrix.link.push_back(link);
            matrix.share.push_back(share);
        }
        chunk = {};
    }
    return matrix;
}

}  // namespace topoloom
