// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <string_view>

#include "topoloom/machine/text/topology_text.hpp"

namespace topoloom {

namespace {

constexpr std::array<std::string_view, 2> ring_ties{"split", "plus"};

constexpr std::array ring_options{
    TopologyOption{"rings", OptionForm::count, "rings in each direction"},
    TopologyOption{"transfers", OptionForm::count, "transfers at once on a ring"},
    TopologyOption{"ties", OptionForm::word, "which direction messages take half way around", ring_ties},
    TopologyOption{"bandwidth", OptionForm::quantity, "of a ring"}, latency_option(OptionForm::quantity)};

WholeTopology read_ring(const Section& section) {
    RingBusSpec spec;
    spec.stations = section.body.number();
    for (const auto& [key, value] : section.options) {
        if (key.text() == "rings") {
            spec.rings = value.number();
        } else if (key.text() == "transfers") {
            spec.transfers = value.number();
            if (spec.transfers == 0) value.complain("a ring holds at least 1 transfer;");
        } else if (key.text() == "ties") {
            spec.split_ties = value.one_of(ring_ties) == 0;
        } else if (key.text() == "bandwidth") {
            spec.bandwidth = read_quantity(value, parse_bandwidth);
        } else {
            spec.latency = read_quantity(value, parse_time);
        }
    }
    return section.name.build([&] { return RingBus(spec); });
}

}  // namespace

constinit const TopologyText ring_text{
    {"ring", "stations on a bus of rings in both directions, as in the Cell processor",
     "ring:12,rings=2,transfers=3,bandwidth=25.6GB/s", "stations", "", ring_options},
    read_ring};

}  // namespace topoloom
