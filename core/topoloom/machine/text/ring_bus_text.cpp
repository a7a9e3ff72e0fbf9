// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/text/topology_texts.hpp"

namespace topoloom {

WholeTopology read_ring(const Section& section) {
    RingBusSpec spec;
    spec.stations = section.body.number();
    refuse_items(section);
    for (const auto& [key, value] : section.options) {
        if (key.text() == "rings") {
            spec.rings = value.number();
        } else if (key.text() == "transfers") {
            spec.transfers = value.number();
            if (spec.transfers == 0) value.complain("a ring holds at least 1 transfer;");
        } else if (key.text() == "ties") {
            spec.split_ties = value.one_of({"split", "plus"}) == 0;
        } else if (key.text() == "bandwidth") {
            spec.bandwidth = read_quantity(value, parse_bandwidth);
        } else if (key.text() == "latency") {
            spec.latency = read_quantity(value, parse_time);
        } else {
            unknown_option(section, key, {"rings", "transfers", "ties", "bandwidth", "latency"});
        }
    }
    return section.name.build([&] { return RingBus(spec); });
}

}  // namespace topoloom
