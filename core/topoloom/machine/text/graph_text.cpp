// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "topoloom/machine/text/topology_text.hpp"

namespace topoloom {

namespace {

constexpr std::array<std::string_view, 2> no_or_yes{"no", "yes"};
constexpr std::array<std::string_view, 2> graph_routings{"lowest", "ecmp"};

constexpr std::array graph_options{
    bandwidth_option(OptionForm::quantity),
    latency_option(OptionForm::quantity),
    TopologyOption{"routing", OptionForm::word,
                   "which of the shortest routes: to the neighbor with the lowest id, or all share",
                   graph_routings},
    TopologyOption{"route", OptionForm::route, "a route that is not the shortest path"},
    TopologyOption{"table", OptionForm::table,
                   "forwarding table of a vertex: letters are its links, behind how many nodes they lead to"},
    TopologyOption{"forward", OptionForm::word, "whether messages pass through nodes", no_or_yes}};

void read_link(const Piece& item, BytesPerSecond standard, Seconds latency,
               std::vector<ExplicitLink>& links) {
    const auto [ends, qualities] = item.cut('@');
    const auto [speed, delay] = qualities ? qualities->cut('@') : std::pair(item, std::optional<Piece>{});
    const bool one_way = ends.text().find('>') != std::string_view::npos;
    const auto [from, to] = ends.cut(one_way ? '>' : '-');
    if (!to) item.complain("expected a link such as 0-1 or 0>1");
    const ExplicitLink link{from.number(), to->number(),
                            qualities ? read_bandwidth(speed, standard) : standard,
                            delay ? read_quantity(*delay, parse_time) : latency};
    links.push_back(link);
    if (!one_way) links.push_back({link.to, link.from, link.bandwidth, link.latency});
}

/// Runs such as 20a(53)3-: twenty nodes over link 0, one over link 53, three over none; a-z and A-Z are links 0 to 51.
ForwardingTable read_table(const Piece& value) {
    const auto [vertex, entries] = value.cut(':');
    if (!entries) value.complain("expected a vertex and its forwarding table, such as 8:2ab-");
    ForwardingTable table{vertex.number(), {}};
    const std::string_view text = entries->text();
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    for (std::size_t at = 0; at < text.size();) {
        ForwardingRun run{1, ForwardingRun::no_port};
        const std::size_t start = at;
        while (at < text.size() && is_digit(text[at])) ++at;
        if (at > start) run.count = entries->sub(text.substr(start, at - start)).number();
        const char c = at < text.size() ? text[at] : '\0';
        const std::size_t close = c == '(' ? text.find(')', at) : at;
        if (c >= 'a' && c <= 'z') {
            run.port = static_cast<std::uint32_t>(c - 'a');
        } else if (c >= 'A' && c <= 'Z') {
            run.port = static_cast<std::uint32_t>(c - 'A') + 26;
        } else if (c == '(' && close != std::string_view::npos) {
            run.port = entries->sub(text.substr(at + 1, close - at - 1)).number();
        } else if (c != '-') {
            entries->sub(text.substr(at, 1)).complain("expected a letter, a number in parentheses or -");
        }
        table.runs.push_back(run);
        at = close + 1;
    }
    return table;
}

WholeTopology read_graph(const Section& section) {
    ExplicitGraphSpec spec;
    const auto [counts, first_link] = section.body.cut(':');
    const auto [nodes, switches] = counts.cut('+');
    spec.nodes = nodes.number();
    if (switches) spec.switches = switches->number();
    BytesPerSecond bandwidth{1};
    Seconds latency{0};
    for (const auto& [key, value] : section.options) {
        if (key.text() == "bandwidth") {
            bandwidth = read_quantity(value, parse_bandwidth);
        } else if (key.text() == "latency") {
            latency = read_quantity(value, parse_time);
        } else if (key.text() == "routing") {
            spec.routing = static_cast<GraphRouting>(value.one_of(graph_routings));
        } else if (key.text() == "route") {
            spec.routes.push_back(value.numbers('>'));
        } else if (key.text() == "table") {
            spec.tables.push_back(read_table(value));
        } else {
            spec.nodes_forward = value.one_of(no_or_yes) == 1;
        }
    }
    if (first_link && !first_link->empty()) read_link(*first_link, bandwidth, latency, spec.links);
    for (const Piece& item : section.items) read_link(item, bandwidth, latency, spec.links);
    return section.name.build([&] { return ExplicitGraph(std::move(spec)); });
}

}  // namespace

constinit const TopologyText graph_text{
    {"graph", "nodes and links one by one, switches after the nodes; shortest, shared or given routes",
     "graph:4+1:0-4,1-4,2-4,3-4", "", "", graph_options},
    read_graph,
    true};

}  // namespace topoloom
