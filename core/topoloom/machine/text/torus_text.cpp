// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <string_view>

#include "topoloom/machine/text/axis_text.hpp"
#include "topoloom/machine/text/host_text.hpp"
#include "topoloom/machine/text/topology_texts.hpp"

namespace topoloom {

namespace {

WholeTopology read_grid(const Section& section, bool wrapped) {
    TorusSpec spec;
    spec.size = section.body.numbers('x');
    refuse_items(section);
    const std::size_t axes = spec.size.size();
    spec.wrap.assign(axes, wrapped);
    AxisQuantities quantities = read_axis_quantities(section, axes);
    spec.bandwidth = std::move(quantities.bandwidth);
    spec.latency = std::move(quantities.latency);
    for (const auto& [key, value] : section.options) {
        if (is_axis_quantity(key) || is_host_option(key)) {
            continue;
        } else if (key.text() == "nodes") {
            spec.nodes_per_router = value.number();
        } else if (key.text() == "order") {
            spec.order = value.numbers(':');
        } else if (key.text() == "ties") {
            spec.ties = static_cast<TorusTies>(value.one_of({"plus", "split", "simgrid"}));
        } else if (key.text() == "wrap" && wrapped) {
            if (value.text().size() != axes ||
                value.text().find_first_not_of("01") != std::string_view::npos) {
                value.complain("expected a 0 or 1 for each of the ", axes, " axes");
            }
            for (std::size_t d = 0; d < axes; ++d) spec.wrap[d] = value.text()[d] == '1';
        } else {
            std::vector<std::string> known{"bandwidth", "latency", "nodes", "order", "ties"};
            if (wrapped) known.emplace_back("wrap");
            unknown_option(section, key, with_host_options(std::move(known)));
        }
    }
    if (axes > 8) return with_hosts<WideTorus>(section, Routers::in_nodes, std::move(spec));
    auto hosted = with_hosts<Torus>(section, Routers::in_nodes, std::move(spec));
    if (hosted.has_links()) return hosted;
    return hosted.between_routers();
}

}  // namespace

WholeTopology read_torus(const Section& section) { return read_grid(section, true); }
WholeTopology read_mesh(const Section& section) { return read_grid(section, false); }

}  // namespace topoloom
