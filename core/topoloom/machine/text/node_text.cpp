// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/text/node_text.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "topoloom/machine/notation/topology_notation.hpp"

namespace topoloom {

namespace {

constexpr std::array node_options{
    TopologyOption{
        "distance", OptionForm::distances,
        "distance between slots that share no lower level, and one entry more, the weight of a hop"},
    TopologyOption{"port", OptionForm::distances,
                   "distance to the network port, one for each of equal runs of slots"},
    TopologyOption{"bandwidth", OptionForm::quantity,
                   "what a node's messages carry together, in each direction"},
    TopologyOption{"startup", OptionForm::quantity, "what a message over the network takes its sender"},
    TopologyOption{"latency", OptionForm::quantity, "what it takes beside that and its links"},
    TopologyOption{"memory", OptionForm::quantity, "bandwidth at which messages inside the node are copied"},
    TopologyOption{"memory-startup", OptionForm::quantity, "what such a message takes its sender"}};

}  // namespace

NodeSpec read_node_spec(const Section& section) {
    if (section.name.text() != "node") section.name.reject("expected node:LEVELS");
    std::vector<std::uint32_t> arity = section.body.numbers(':');
    std::vector<std::uint32_t> distance(arity.size(), 0);
    check_section(section, node_form);
    NodeSpec node;
    for (const auto& [key, value] : section.options) {
        const std::string_view name = key.text();
        if (name == "distance") {
            distance = value.numbers(':');
            if (distance.size() != arity.size() + 1) continue;
            node.hop_weight = distance.back();
            if (node.hop_weight == 0) value.reject("the weight of a hop must be at least 1;");
            distance.pop_back();
        } else if (name == "port") {
            node.port_distances = value.numbers(':');
        } else if (name == "bandwidth") {
            node.port_bandwidth = read_quantity(value, parse_bandwidth);
        } else if (name == "memory") {
            node.memory = read_quantity(value, parse_bandwidth);
        } else if (name == "startup") {
            node.startup = read_quantity(value, parse_time);
        } else if (name == "latency") {
            node.latency = read_quantity(value, parse_time);
        } else {
            node.memory_startup = read_quantity(value, parse_time);
        }
    }
    node.levels = section.name.add_context([&] {
        Levels levels(std::move(arity), std::move(distance));
        if (!node.port_distances.empty() && levels.size() % node.port_distances.size() != 0) {
            fail("there are ", levels.size(), " slots per node and ", node.port_distances.size(),
                 " port costs; give one cost for each of equal runs of slots");
        }
        return levels;
    });
    return node;
}

constinit const SectionForm node_form{
    .name = "+node",
    .summary = "behind any of these: slots in a node, bottom-up, with distances",
    .example = "torus:8x8x8+node:16:2,distance=1:2:10,port=0:3",
    .body = "levels",
    .separator = ":",
    .options = node_options};

}  // namespace topoloom
