// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <string_view>

#include "topoloom/machine/text/axis_text.hpp"
#include "topoloom/machine/text/host_text.hpp"
#include "topoloom/machine/text/topology_text.hpp"
#include "topoloom/machine/topologies/hyperx.hpp"

namespace topoloom {

namespace {

constexpr std::array hyperx_options{nodes_option,
                                    cards_option,
                                    hosts_option,
                                    order_option,
                                    bandwidth_option(OptionForm::axis_quantities),
                                    latency_option(OptionForm::axis_quantities)};

WholeTopology read_joined_axes(const Section& section, Routers routers, std::vector<std::uint32_t> size) {
    HyperXSpec spec;
    spec.size = std::move(size);
    for (const auto& [key, value] : section.options) {
        const std::string_view name = key.text();
        if (name.ends_with('+') || name.ends_with('-')) {
            key.complain("links of a ", section.name.text(), " have no direction: leave out the + or -;");
        } else if (name == "nodes") {
            spec.nodes_per_router = value.number();
        } else if (name == "order") {
            spec.order = value.numbers(':');
        }
    }
    const AxisQuantities quantities = read_axis_quantities(section, spec.size.size());
    for (const auto& both : quantities.bandwidth) spec.bandwidth.push_back(both[0]);
    for (const auto& both : quantities.latency) spec.latency.push_back(both[0]);
    if (std::ranges::all_of(spec.size, [](std::uint32_t extent) { return extent <= 2; }))
        return with_hosts<Hypercube>(section, routers, std::move(spec));
    return with_hosts<HyperX>(section, routers, std::move(spec));
}

WholeTopology read_hyperx(const Section& section) {
    return read_joined_axes(section, Routers::switches, section.body.numbers('x'));
}

WholeTopology read_hypercube(const Section& section) {
    const std::uint32_t dimensions = section.body.number();
    if (dimensions < 1 || dimensions > 31) section.body.complain("a hypercube has 1 to 31 dimensions;");
    return read_joined_axes(section, Routers::in_nodes, std::vector<std::uint32_t>(dimensions, 2));
}

}  // namespace

constinit const TopologyText hyperx_text{
    {"hyperx", "routers all joined along every axis: flattened butterflies", "hyperx:8x8x4,nodes=8", "size",
     "x", hyperx_options},
    read_hyperx};

constinit const TopologyText hypercube_text{
    {"hypercube", "a router at every corner of a cube", "hypercube:10", "dimensions", "", hyperx_options},
    read_hypercube};

}  // namespace topoloom
