// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/text/topology_texts.hpp"

namespace topoloom {

WholeTopology read_fat_tree(const Section& section) {
    FatTreeSpec spec;
    spec.arity = section.body.numbers(':');
    refuse_items(section);
    for (const auto& [key, value] : section.options) {
        if (key.text() == "up") {
            spec.up = value.numbers(':');
        } else if (key.text() == "parallel") {
            spec.parallel = value.numbers(':');
        } else if (key.text() == "routing") {
            spec.routing =
                static_cast<FatTreeRouting>(value.one_of({"d-mod-k", "s-mod-k", "random", "simgrid"}));
        } else if (key.text() == "bandwidth") {
            spec.bandwidth = read_level_bandwidths(value, spec.arity.size());
        } else if (key.text() == "latency") {
            spec.latency = read_level_latencies(value, spec.arity.size());
        } else {
            unknown_option(section, key, {"up", "parallel", "routing", "bandwidth", "latency"});
        }
    }
    return section.name.build([&] { return FatTree(std::move(spec)); });
}

}  // namespace topoloom
