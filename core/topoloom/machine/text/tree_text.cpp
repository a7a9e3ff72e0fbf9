// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "topoloom/machine/text/topology_text.hpp"

namespace topoloom {

namespace {

constexpr std::array tree_options{
    TopologyOption{"distance", OptionForm::distances, "distance between nodes that share no lower level"},
    bandwidth_option(OptionForm::level_quantities), latency_option(OptionForm::level_quantities)};

WholeTopology read_tree(const Section& section) {
    TreeSpec spec;
    spec.arity = section.body.numbers(':');
    for (const auto& [key, value] : section.options) {
        if (key.text() == "distance") {
            spec.distance = value.numbers(':');
        } else if (key.text() == "bandwidth") {
            spec.bandwidth = read_level_bandwidths(value, spec.arity.size());
        } else {
            spec.latency = read_level_latencies(value, spec.arity.size());
        }
    }
    return section.name.build([&] { return Tree(std::move(spec)); });
}

}  // namespace

constinit const TopologyText tree_text{
    {"tree", "levels bottom-up: 4 in a group, 8 groups in the next; absolute distances",
     "tree:4:8:2,distance=1:10:100", "levels", ":", tree_options},
    read_tree};

}  // namespace topoloom
