// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/routing/forwarding_tables.hpp"

#include <algorithm>

#include "topoloom/base/error.hpp"
#include "topoloom/base/memory.hpp"

namespace topoloom {

namespace {

/// How many outgoing links a vertex has, in total and to nodes.
struct PortCounts {
    std::uint32_t count;
    std::uint32_t to_nodes;
};

PortCounts count_ports(std::uint32_t vertex, const OutgoingLinks& links) {
    const auto to = links.to.subspan(links.first[vertex], links.first[vertex + 1] - links.first[vertex]);
    const auto to_nodes = std::ranges::lower_bound(to, links.nodes) - to.begin();
    return {static_cast<std::uint32_t>(to.size()), static_cast<std::uint32_t>(to_nodes)};
}

void check_table(const ForwardingTable& table, const OutgoingLinks& links) {
    const std::size_t vertices = links.first.size() - 1;
    if (table.vertex >= vertices)
        fail("there is a forwarding table of vertex ", table.vertex, ", but there are only ", vertices);
    const PortCounts ports = count_ports(table.vertex, links);
    if (ports.count >= 0xFFFF)
        fail("vertex ", table.vertex, " has ", ports.count,
             " links; one with a forwarding table has at most 65534");
    std::uint64_t covered = 0;
    for (const ForwardingRun& run : table.runs) {
        covered += run.count;
        if (run.port != ForwardingRun::no_port && run.port >= ports.count) {
            fail("the forwarding table of vertex ", table.vertex, " names link ", run.port, ", but only ",
                 ports.count, " leave the vertex, counted from 0");
        }
    }
    if (covered != links.nodes) {
        fail("the forwarding table of vertex ", table.vertex, " has ", covered, " entries for ", links.nodes,
             " nodes");
    }
}

}  // namespace

ForwardingTables::ForwardingTables(std::span<const ForwardingTable> tables, const OutgoingLinks& links) {
    if (tables.empty()) return;
    std::uint64_t entries = 2 + tables.size();
    for (const ForwardingTable& table : tables) {
        check_table(table, links);
        if (table.runs.size() > 1) entries += links.nodes;
    }
    const std::uint64_t usable = usable_memory();
    if (entries > usable / 10 * 8 / sizeof(std::uint16_t))
        fail("forwarding tables with ", entries, " entries need more memory than the ", usable >> 20,
             " MiB of this computer");
    offsets_.reserve(entries);
    offsets_ = {none, 0};
    const std::size_t vertices = links.first.size() - 1;
    for (std::uint32_t v = 0; v < vertices; ++v) {
        const bool has_one = links.first[v + 1] - links.first[v] == 1;
        rows_.push_back({has_one ? 1U : 0U, 0, links.first[v]});
    }
    for (const ForwardingTable& table : tables) add(table, links);
}

void ForwardingTables::add(const ForwardingTable& table, const OutgoingLinks& links) {
    Row& row = rows_[table.vertex];
    if (row.first > 1) fail("vertex ", table.vertex, " has two forwarding tables");
    const PortCounts ports = count_ports(table.vertex, links);
    const std::uint32_t to_switches = ports.count - ports.to_nodes;
    row.first = offsets_.size();
    row.stride = table.runs.size() > 1 ? 1 : 0;
    for (const auto& [count, port] : table.runs) {
        const std::uint32_t link = port < to_switches ? ports.to_nodes + port : port - to_switches;
        const std::uint16_t offset = port == ForwardingRun::no_port ? none : static_cast<std::uint16_t>(link);
        offsets_.insert(offsets_.end(), row.stride == 1 ? count : 1, offset);
    }
}

}  // namespace topoloom
