// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <string_view>

#include "topoloom/machine/text/host_text.hpp"
#include "topoloom/machine/text/topology_text.hpp"

namespace topoloom {

namespace {

constexpr std::array<std::string_view, 2> dragonfly_plus_classes{"local", "global"};

constexpr std::array dragonfly_plus_options{
    TopologyOption{"nodes", OptionForm::count, "nodes per leaf"},
    cards_option,
    hosts_option,
    TopologyOption{"global", OptionForm::count, "global links per spine"},
    bandwidth_option(OptionForm::class_quantities, dragonfly_plus_classes),
    latency_option(OptionForm::class_quantities, dragonfly_plus_classes)};

WholeTopology read_dragonfly_plus(const Section& section) {
    const std::vector<std::uint32_t> size = section.body.numbers('x');
    if (size.size() != 3) section.body.complain("expected GROUPSxLEAVESxSPINES");
    DragonflyPlusSpec spec{.groups = size[0], .leaves = size[1], .spines = size[2], .global_links = {}};
    const auto read_all = [&](std::string_view name, auto& values, const auto& read) {
        for (const bool of_class : {false, true}) {
            const auto standard = values.front();
            for (const auto& [key, value] : section.options) {
                const auto [word, kind] = key.cut('.');
                if (word.text() != name || is_host_option(key) || kind.has_value() != of_class) continue;
                const auto quantity = read(value, standard);
                if (kind) {
                    values[kind->one_of(dragonfly_plus_classes)] = quantity;
                } else {
                    values.fill(quantity);
                }
            }
        }
    };
    for (const auto& [key, value] : section.options) {
        if (key.text() == "nodes") spec.nodes_per_router = value.number();
        if (key.text() == "global") spec.global_links = value.number();
    }
    read_all("bandwidth", spec.bandwidth, read_bandwidth);
    read_all("latency", spec.latency,
             [](const Piece& value, Seconds) { return read_quantity(value, parse_time); });
    return with_hosts<DragonflyPlus>(section, Routers::switches, spec);
}

}  // namespace

constinit const TopologyText dragonfly_plus_text{
    {"dragonflyplus",
     "Dragonfly+: groups of leaves joined to spines, all groups joined by these; minimal routes",
     "dragonflyplus:9x4x4,nodes=4,global=2", "size", "x", dragonfly_plus_options},
    read_dragonfly_plus};

}  // namespace topoloom
