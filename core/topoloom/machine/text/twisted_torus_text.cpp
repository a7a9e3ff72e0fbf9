// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/text/axis_text.hpp"
#include "topoloom/machine/text/host_text.hpp"
#include "topoloom/machine/text/topology_texts.hpp"

namespace topoloom {

WholeTopology read_twisted(const Section& section) {
    TwistedTorusSpec spec;
    spec.size = section.body.numbers('x');
    refuse_items(section);
    const std::size_t axes = spec.size.size();
    spec.twist.assign(axes, std::vector<std::uint32_t>(axes, 0));
    for (const auto& [key, value] : section.options) {
        const auto [name, axis] = key.cut('.');
        if (is_axis_quantity(key) || is_host_option(key)) {
            continue;
        } else if (key.text() == "nodes") {
            spec.nodes_per_router = value.number();
        } else if (name.text() == "twist" && axis) {
            std::vector<std::uint32_t>& twist = spec.twist[read_axis(*axis, axes)];
            twist = value.numbers(':');
            if (twist.size() != axes) value.complain("expected a shift for each of the ", axes, " axes");
        } else {
            unknown_option(section, key, with_host_options({"bandwidth", "latency", "nodes", "twist.AXIS"}));
        }
    }
    AxisQuantities quantities = read_axis_quantities(section, axes);
    spec.bandwidth = std::move(quantities.bandwidth);
    spec.latency = std::move(quantities.latency);
    return with_hosts<TwistedTorus>(section, Routers::in_nodes, std::move(spec));
}

}  // namespace topoloom
