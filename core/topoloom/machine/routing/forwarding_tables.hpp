// SPDX-License-Identifier: BSD-3-Clause
// Forwarding tables: for each vertex of a graph and each target node, the outgoing link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom {

/// A run of consecutive target nodes with the same outgoing link, or none.
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
    std::span<const std::uint32_t> first;  // [v]: first link that leaves v; one entry more
    std::span<const std::uint32_t> to;
};

/// Takes two bytes per table and node, or four for a table with a single link. A vertex without a table that has one link
/// sends everything on it.
class ForwardingTables {
   public:
    ForwardingTables() = default;
    /// Throws Error for unknown vertices, two tables of one vertex, tables that do not cover the nodes or name an unknown
    /// link, and tables that do not fit in memory.
    ForwardingTables(std::span<const ForwardingTable> tables, const OutgoingLinks& links);

    [[nodiscard]] bool empty() const { return rows_.empty(); }
    /// The number of the link on which messages for `node` leave; no_index if there is none.
    [[nodiscard]] std::uint32_t next(std::uint32_t vertex, std::uint32_t node) const {
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
    std::vector<std::uint16_t> offsets_;  // of the link among the outgoing links of the vertex
};

}  // namespace topoloom
