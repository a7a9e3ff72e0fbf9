// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/text/topology_texts.hpp"

namespace topoloom {

namespace {

void read_link(const Piece& item, BytesPerSecond standard, Seconds latency,
               std::vector<ExplicitLink>& links) {
    const auto [ends, speed] = item.cut('@');
    const bool one_way = ends.text().find('>') != std::string_view::npos;
    const auto [from, to] = ends.cut(one_way ? '>' : '-');
    if (!to) item.complain("expected a link as 0-1 or 0>1");
    const ExplicitLink link{from.number(), to->number(), speed ? read_bandwidth(*speed, standard) : standard,
                            latency};
    links.push_back(link);
    if (!one_way) links.push_back({link.to, link.from, link.bandwidth, link.latency});
}

}  // namespace

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
        } else if (key.text() == "forward") {
            spec.nodes_forward = value.one_of({"no", "yes"}) == 1;
        } else {
            unknown_option(section, key, {"bandwidth", "latency", "route", "forward"});
        }
    }
    if (first_link && !first_link->empty()) read_link(*first_link, bandwidth, latency, spec.links);
    for (const Piece& item : section.items) read_link(item, bandwidth, latency, spec.links);
    return section.name.build([&] { return ExplicitGraph(std::move(spec)); });
}

}  // namespace topoloom
