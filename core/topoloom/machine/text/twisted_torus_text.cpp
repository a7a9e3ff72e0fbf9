// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "topoloom/machine/text/axis_text.hpp"
#include "topoloom/machine/text/host_text.hpp"
#include "topoloom/machine/text/topology_text.hpp"

namespace topoloom {

namespace {

constexpr std::array twisted_options{
    TopologyOption{"twist", OptionForm::axis_shifts, "shift of each axis where one closes"},
    nodes_option,
    cards_option,
    hosts_option,
    bandwidth_option(OptionForm::direction_quantities),
    latency_option(OptionForm::direction_quantities)};

WholeTopology read_twisted(const Section& section) {
    TwistedTorusSpec spec;
    spec.size = section.body.numbers('x');
    const std::size_t axes = spec.size.size();
    spec.twist.assign(axes, std::vector<std::uint32_t>(axes, 0));
    for (const auto& [key, value] : section.options) {
        const auto [name, axis] = key.cut('.');
        if (key.text() == "nodes") {
            spec.nodes_per_router = value.number();
        } else if (name.text() == "twist") {
            std::vector<std::uint32_t>& twist = spec.twist[read_axis(*axis, axes)];
            twist = value.numbers(':');
            if (twist.size() != axes) value.complain("expected a shift for each of the ", axes, " axes");
        }
    }
    AxisQuantities quantities = read_axis_quantities(section, axes);
    spec.bandwidth = std::move(quantities.bandwidth);
    spec.latency = std::move(quantities.latency);
    return with_hosts<TwistedTorus>(section, Routers::in_nodes, std::move(spec));
}

}  // namespace

constinit const TopologyText twisted_text{
    {"twisted", "a torus whose links that close an axis also shift others",
     "twisted:4x4x8,twist.x=0:0:4,twist.y=0:0:4", "size", "x", twisted_options},
    read_twisted};

}  // namespace topoloom
