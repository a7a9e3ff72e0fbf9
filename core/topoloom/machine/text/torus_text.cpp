// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <string_view>

#include "topoloom/machine/text/axis_text.hpp"
#include "topoloom/machine/text/host_text.hpp"
#include "topoloom/machine/text/topology_text.hpp"

namespace topoloom {

namespace {

constexpr std::array<std::string_view, 3> torus_ties{"plus", "split", "simgrid"};

constexpr std::array torus_options{
    TopologyOption{"wrap", OptionForm::axis_flags, "which axes are rings"},
    nodes_option,
    cards_option,
    hosts_option,
    order_option,
    TopologyOption{"ties", OptionForm::word, "which direction messages take half way around a ring",
                   torus_ties},
    bandwidth_option(OptionForm::direction_quantities),
    latency_option(OptionForm::direction_quantities)};
constexpr std::span<const TopologyOption> mesh_options = std::span(torus_options).subspan(1);  // no wrap

WholeTopology read_grid(const Section& section, bool wrapped) {
    TorusSpec spec;
    spec.size = section.body.numbers('x');
    const std::size_t axes = spec.size.size();
    spec.wrap.assign(axes, wrapped);
    AxisQuantities quantities = read_axis_quantities(section, axes);
    spec.bandwidth = std::move(quantities.bandwidth);
    spec.latency = std::move(quantities.latency);
    for (const auto& [key, value] : section.options) {
        if (key.text() == "nodes") {
            spec.nodes_per_router = value.number();
        } else if (key.text() == "order") {
            spec.order = value.numbers(':');
        } else if (key.text() == "ties") {
            spec.ties = static_cast<TorusTies>(value.one_of(torus_ties));
        } else if (key.text() == "wrap") {
            if (value.text().size() != axes ||
                value.text().find_first_not_of("01") != std::string_view::npos) {
                value.complain("expected a 0 or 1 for each of the ", axes, " axes");
            }
            for (std::size_t d = 0; d < axes; ++d) spec.wrap[d] = value.text()[d] == '1';
        }
    }
    if (axes > 8) return with_hosts<WideTorus>(section, Routers::in_nodes, std::move(spec));
    auto hosted = with_hosts<Torus>(section, Routers::in_nodes, std::move(spec));
    if (hosted.has_links()) return hosted;
    return hosted.between_routers();
}

WholeTopology read_torus(const Section& section) { return read_grid(section, true); }
WholeTopology read_mesh(const Section& section) { return read_grid(section, false); }

}  // namespace

constinit const TopologyText torus_text{
    {"torus", "rings in every dimension (wrap=110 opens some); dimension-ordered routes",
     "torus:17x8x24,nodes=2,bandwidth=9.4GB/s,bandwidth.y=half", "size", "x", torus_options},
    read_torus};

constinit const TopologyText mesh_text{
    {"mesh", "a torus without the wrap-around links", "mesh:4x4x4", "size", "x", mesh_options}, read_mesh};

}  // namespace topoloom
