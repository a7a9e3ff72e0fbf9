// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "topoloom/machine/text/topology_text.hpp"

namespace topoloom {

namespace {

constexpr std::array<std::string_view, 2> no_or_yes{"no", "yes"};

constexpr std::array graph_options{
    bandwidth_option(OptionForm::quantity), latency_option(OptionForm::quantity),
    TopologyOption{"route", OptionForm::route, "a route that is not the shortest path"},
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
        } else if (key.text() == "route") {
            spec.routes.push_back(value.numbers('>'));
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
    {"graph", "nodes and links one by one, switches after the nodes; shortest paths",
     "graph:4+1:0-4,1-4,2-4,3-4", "", "", graph_options},
    read_graph,
    true};

}  // namespace topoloom
