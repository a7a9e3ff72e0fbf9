// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <string_view>

#include "topoloom/machine/text/topology_text.hpp"

namespace topoloom {

namespace {

constexpr std::array<std::string_view, 4> fat_tree_routings{"d-mod-k", "s-mod-k", "random", "simgrid"};

constexpr std::array fat_tree_options{
    TopologyOption{"up", OptionForm::counts, "parents of each node or switch of a level"},
    TopologyOption{"parallel", OptionForm::counts, "cables to each parent"},
    TopologyOption{"routing", OptionForm::word, "which of the routes up a message takes", fat_tree_routings},
    bandwidth_option(OptionForm::level_quantities), latency_option(OptionForm::level_quantities)};

WholeTopology read_fat_tree(const Section& section) {
    FatTreeSpec spec;
    spec.arity = section.body.numbers(':');
    for (const auto& [key, value] : section.options) {
        if (key.text() == "up") {
            spec.up = value.numbers(':');
        } else if (key.text() == "parallel") {
            spec.parallel = value.numbers(':');
        } else if (key.text() == "routing") {
            spec.routing = static_cast<FatTreeRouting>(value.one_of(fat_tree_routings));
        } else if (key.text() == "bandwidth") {
            spec.bandwidth = read_level_bandwidths(value, spec.arity.size());
        } else {
            spec.latency = read_level_latencies(value, spec.arity.size());
        }
    }
    return section.name.build([&] { return FatTree(std::move(spec)); });
}

}  // namespace

constinit const TopologyText fat_tree_text{
    {"fattree", "switches with several parents: down and up arities, cables, d-mod-k routes",
     "fattree:44:182,up=1:6,parallel=1:3", "levels", ":", fat_tree_options},
    read_fat_tree};

}  // namespace topoloom
