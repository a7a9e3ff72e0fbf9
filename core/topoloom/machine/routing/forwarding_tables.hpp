// SPDX-License-Identifier: BSD-3-Clause
// Forwarding tables: at every vertex of a graph, the link on which messages for each node leave it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom {

/// As many nodes in a row whose messages leave on the same link, or on none.
struct ForwardingRun {
    static constexpr std::uint32_t no_port = no_index;

    std::uint32_t count;
    std::uint32_t
        port;  // among the links of the vertex: those to switches first, by number, then those to nodes
};

/// The table of one vertex: runs that cover all nodes in their order.
struct ForwardingTable {
    std::uint32_t vertex;
    std::vector<ForwardingRun> runs;
};

/// The links that leave the vertices of a graph, sorted by both ends.
struct LinksOut {
    std::uint32_t nodes;                   // vertices 0 .. nodes-1
    std::span<const std::uint32_t> first;  // [v]: the first that leaves v, and one entry more
    std::span<const std::uint32_t> to;
};

/// Two bytes for each table and node; four for a table that sends all on one link. Without a table, a vertex with one
/// link sends all on it.
class ForwardingTables {
   public:
    ForwardingTables() = default;
    /// Throws Error for tables of no vertex or of one twice, that do not cover the nodes, name a link that is not there
    /// or need more than this computer's memory.
    ForwardingTables(std::span<const ForwardingTable> tables, const LinksOut& links);

    [[nodiscard]] bool empty() const { return rows_.empty(); }
    /// The link, by number, on which a message for `node` leaves; no_index where no table says.
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

    void add(const ForwardingTable& table, const LinksOut& links);

    std::vector<Row> rows_;               // by vertex
    std::vector<std::uint16_t> offsets_;  // of the link among those that leave the vertex
};

}  // namespace topoloom
