// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <string_view>

#include "topoloom/machine/text/topology_text.hpp"

namespace topoloom {

namespace {

constexpr std::array<std::string_view, 3> rails_classes{"nvlink", "rail", "spine"};
constexpr std::array<std::string_view, 2> rails_crossings{"nvlink", "spine"};

constexpr std::array rails_options{
    TopologyOption{"rails", OptionForm::count, "rail switches of a unit"},
    TopologyOption{"host", OptionForm::count, "GPUs of a host, a part of an NVLink domain; the whole domain"},
    TopologyOption{"spines", OptionForm::number, "spine switches"},
    TopologyOption{"cross", OptionForm::word, "how messages between rails go", rails_crossings},
    bandwidth_option(OptionForm::class_quantities, rails_classes),
    latency_option(OptionForm::class_quantities, rails_classes)};

void read_bandwidths_and_latencies(const Section& section, RailClusterSpec& spec) {
    for (const auto& [key, value] : section.options) {
        if (key.text() == "bandwidth") spec.bandwidth.fill(read_quantity(value, parse_bandwidth));
        if (key.text() == "latency") spec.latency.fill(read_quantity(value, parse_time));
    }
    const BytesPerSecond standard = spec.bandwidth.front();
    for (const auto& [key, value] : section.options) {
        const auto [name, kind] = key.cut('.');
        if (!kind) continue;
        if (name.text() == "bandwidth")
            spec.bandwidth[kind->one_of(rails_classes)] = read_bandwidth(value, standard);
        if (name.text() == "latency")
            spec.latency[kind->one_of(rails_classes)] = read_quantity(value, parse_time);
    }
}

WholeTopology read_rails(const Section& section) {
    const std::vector<std::uint32_t> levels = section.body.numbers(':');
    if (levels.size() != 3) section.body.complain("expected GPUS:DOMAINS:UNITS");
    RailClusterSpec spec;
    spec.gpus = levels[0];
    spec.domains = levels[1];
    spec.units = levels[2];
    for (const auto& [key, value] : section.options) {
        if (key.text() == "rails") {
            spec.rails = value.number();
            if (spec.rails == 0) value.complain("a rail cluster has at least 1 rail;");
        } else if (key.text() == "host") {
            spec.host = value.number();
            if (spec.host == 0) value.complain("a host has at least 1 GPU;");
        } else if (key.text() == "spines") {
            spec.spines = value.number();
        } else if (key.text() == "cross") {
            spec.crossing = value.one_of(rails_crossings) == 0 ? RailCrossing::nvlink : RailCrossing::spine;
        }
    }
    read_bandwidths_and_latencies(section, spec);
    return section.name.build([&] { return RailCluster(spec); });
}

}  // namespace

constinit const TopologyText rails_text{
    {"rails", "GPUs in NVLink domains, one rail switch for each place in a domain",
     "rails:8:32:4,bandwidth=50GB/s,bandwidth.nvlink=450GB/s", "levels", ":", rails_options},
    read_rails};

}  // namespace topoloom
