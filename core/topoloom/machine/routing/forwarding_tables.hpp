// SPDX-License-Identifier: BSD-3-Clause
// Forwarding tables: for each vertex of a graph and each target node, the outgoing link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom {

/// A run of consecutive target nodes with the same outgoing link, or without one.
struct ForwardingRun {
    static constexpr std::uint32_t no_port = no_index;

    std::uint32_t count;
    std::uint32_t port;  // index of the link at the vertex: links to switches first, then links to nodes
};

/// The table of one vertex: runs that cover all nodes in order.
struct ForwardingTable {
    std::uint32_t vertex;
    std::vector<ForwardingRun> runs;
};

/// The outgoing links of the vertices of a graph, sorted by both ends.
struct OutgoingLinks {
    std::uint32_t nodes;                   // vertices 0 .. nodes-1
    std::span<const std::uint32_t> first;  // [v]: first outgoing link of v; last entry: number of links
    std::span<const std::uint32_t> to;
};

/// Forwarding tables of all vertices, in two bytes per table and node; a table that uses only one link takes
/// four bytes in total. A vertex with only one link needs no table.
class ForwardingTables {
   public:
    ForwardingTables() = default;
    /// Throws Error for unknown vertices, two tables of one vertex, tables that do not cover all nodes or
    /// contain an unknown link, and tables that do not fit in memory.
    ForwardingTables(std::span<const ForwardingTable> tables, const OutgoingLinks& links);

    [[nodiscard]] bool empty() const { return rows_.empty(); }
    /// The id of the link on which messages to `node` leave the vertex, or no_index.
    [[nodiscard]] std::uint32_t next_link(std::uint32_t vertex, std::uint32_t node) const {
        const Row& row = rows_[vertex];
        const std::uint16_t offset = offsets_[row.first + std::size_t{row.stride} * node];
        return offset == none ? no_index : row.first_link + offset;
    }

   private:
    static constexpr std::uint16_t none = 0xFFFF;

    struct Row {
        std::size_t first;  // of offsets_
        std::uint32_t stride;
        std::uint32_t first_link;
    };

    void add(const ForwardingTable& table, const OutgoingLinks& links);

    std::vector<Row> rows_;               // by vertex
    std::vector<std::uint16_t> offsets_;  // index of the link among the outgoing links of the vertex
};

}  // namespace topoloom
