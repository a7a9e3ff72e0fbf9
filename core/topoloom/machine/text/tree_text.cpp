// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/text/topology_texts.hpp"

namespace topoloom {

WholeTopology read_tree(const Section& section) {
    TreeSpec spec;
    spec.arity = section.body.numbers(':');
    refuse_items(section);
    for (const auto& [key, value] : section.options) {
        if (key.text() == "distance") {
            spec.distance = value.numbers(':');
        } else if (key.text() == "bandwidth") {
            spec.bandwidth = read_level_bandwidths(value, spec.arity.size());
        } else if (key.text() == "latency") {
            spec.latency = read_level_latencies(value, spec.arity.size());
        } else {
            unknown_option(section, key, {"distance", "bandwidth", "latency"});
        }
    }
    return section.name.build([&] { return Tree(std::move(spec)); });
}

}  // namespace topoloom
