// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/readers/edge_text.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "topoloom/pattern/readers/edge_list.hpp"
#include "topoloom/pattern/readers/text_scanner.hpp"

namespace topoloom {

namespace {

constexpr std::array<EdgeColumn, 4> default_columns{EdgeColumn::source, EdgeColumn::target, EdgeColumn::bytes,
                                                    EdgeColumn::messages};

std::string_view describe(EdgeColumn column) {
    switch (column) {
        case EdgeColumn::source:
            return "the source";
        case EdgeColumn::target:
            return "the target";
        case EdgeColumn::bytes:
            return "the number of bytes";
        case EdgeColumn::messages:
            return "the number of messages";
    }
    return "";
}

/// Counts the numbers on the first line of a text, 3 or 4.
std::span<const EdgeColumn> find_columns(TextScanner scan) {
    std::size_t count = 0;
    for (; count < 4 && !scan.at_line_end(); ++count) (void)scan.read_word("a number");
    if (count < 3) scan.fail_expected("three or four numbers: source, target, bytes, messages");
    return std::span(default_columns).first(count);
}

struct ListedEdge {
    Rank source;
    Rank target;
    Bytes bytes;
    std::int64_t messages = 1;
};

Rank read_rank(TextScanner& scan, std::string_view expected) {
    const std::int64_t rank = scan.read_count(expected);
    if (const std::int64_t most = max_ranks_read(scan.size()); rank >= most)
        scan.fail_at_previous(expected, " is ", rank, "; a file of this size can have at most ", most,
                              " ranks");
    return Rank{static_cast<std::size_t>(rank)};
}

ListedEdge read_edge(TextScanner& scan, std::span<const EdgeColumn> columns, ValueScale* scale) {
    ListedEdge edge;
    for (const EdgeColumn column : columns) {
        const std::string_view expected = describe(column);
        if (column == EdgeColumn::source) edge.source = read_rank(scan, expected);
        if (column == EdgeColumn::target) edge.target = read_rank(scan, expected);
        if (column == EdgeColumn::bytes) edge.bytes = read_value(scan, expected, scale);
        if (column == EdgeColumn::messages) edge.messages = scan.read_count(expected);
    }
    if (edge.messages == 0 && edge.bytes.value > 0)
        scan.fail_at_previous("an edge has ", edge.bytes.value, " bytes in 0 messages");
    return edge;
}

/// Reads what follows `p`.
std::pair<std::size_t, std::size_t> read_problem(TextScanner& scan) {
    if (const std::string_view kind = scan.read_word("sp"); kind != "sp")
        scan.fail_at_previous("the problem is '", TextScanner::quoted(kind),
                              "'; only sp (shortest paths) has arcs with values");
    const std::int64_t nodes = scan.read_count("the number of nodes");
    if (nodes == 0) scan.fail_at_previous("the graph has no nodes");
    if (const std::int64_t most = max_ranks_read(scan.size()); nodes > most)
        scan.fail_at_previous("the graph has ", nodes, " nodes; a file of this size can have at most ", most);
    const std::int64_t arcs = scan.read_count("the number of arcs");
    return {static_cast<std::size_t>(nodes), static_cast<std::size_t>(arcs)};
}

Rank read_node(TextScanner& scan, std::string_view expected, std::size_t nodes) {
    const auto node = static_cast<std::uint64_t>(scan.read_count(expected));
    if (node - 1 >= nodes)
        scan.fail_at_previous(expected, " is ", node, ", but the graph has nodes 1 to ", nodes);
    return Rank{node - 1};
}

}  // namespace

CommGraph read_edge_list(std::string_view text, std::span<const EdgeColumn> columns, ValueScale* scale) {
    TextScanner scan(text);
    scan.skip_empty_lines('#');
    if (scan.at_end()) scan.fail_expected("an edge: source, target, bytes");
    if (columns.empty()) columns = find_columns(scan);
    EdgeList edges;
    std::vector<std::int64_t> messages;
    std::size_t highest = 0;
    for (; !scan.at_end(); scan.skip_empty_lines('#')) {
        const ListedEdge edge = read_edge(scan, columns, scale);
        scan.end_line();
        highest = std::max<std::size_t>({highest, edge.source.value, edge.target.value});
        if (edge.messages == 0) continue;
        edges.add(edge.source, edge.target, edge.bytes);
        messages.push_back(edge.messages);
    }
    return CommGraph::from_edges(highest + 1, edges.sources, edges.peers, edges.bytes, messages);
}

CommGraph read_dimacs(std::string_view text, ValueScale* scale) {
    TextScanner scan(text);
    EdgeList edges;
    std::size_t nodes = 0;
    std::size_t arcs = 0;
    for (scan.skip_empty_lines(); !scan.at_end(); scan.skip_empty_lines()) {
        const std::string_view kind = scan.read_word("a line of c, p or a");
        if (kind.starts_with('c')) {
            scan.skip_line();
            continue;
        }
        if (kind == "p" && nodes == 0) {
            std::tie(nodes, arcs) = read_problem(scan);
        } else if (kind == "a" && nodes > 0) {
            const Rank source = read_node(scan, "the source", nodes);
            const Rank target = read_node(scan, "the target", nodes);
            edges.add(source, target, read_value(scan, "the number of bytes", scale));
        } else {
            scan.fail_at_previous("expected ", nodes == 0 ? "the problem (p sp NODES ARCS)" : "an arc (a)",
                                  ", found '", TextScanner::quoted(kind), "'");
        }
        scan.end_line();
    }
    if (nodes == 0) scan.fail_expected("the problem (p sp NODES ARCS)");
    if (edges.sources.size() != arcs)
        scan.fail_expected("arc " + std::to_string(edges.sources.size() + 1) + " of " + std::to_string(arcs));
    return CommGraph::from_edges(nodes, edges.sources, edges.peers, edges.bytes);
}

}  // namespace topoloom
