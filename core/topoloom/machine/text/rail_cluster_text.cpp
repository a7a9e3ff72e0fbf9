// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/text/topology_texts.hpp"

namespace topoloom {

namespace {

std::size_t read_kind(const Piece& word) { return word.one_of({"nvlink", "rail", "spine"}); }

void read_bandwidths_and_latencies(const Section& section, RailClusterSpec& spec) {
    for (const auto& [key, value] : section.options) {
        if (key.text() == "bandwidth") spec.bandwidth.fill(read_quantity(value, parse_bandwidth));
        if (key.text() == "latency") spec.latency.fill(read_quantity(value, parse_time));
    }
    const BytesPerSecond standard = spec.bandwidth.front();
    for (const auto& [key, value] : section.options) {
        const auto [name, kind] = key.cut('.');
        if (!kind) continue;
        if (name.text() == "bandwidth") spec.bandwidth[read_kind(*kind)] = read_bandwidth(value, standard);
        if (name.text() == "latency") spec.latency[read_kind(*kind)] = read_quantity(value, parse_time);
    }
}

}  // namespace

WholeTopology read_rails(const Section& section) {
    const std::vector<std::uint32_t> levels = section.body.numbers(':');
    if (levels.size() != 3) section.body.complain("expected GPUS:DOMAINS:UNITS");
    refuse_items(section);
    RailClusterSpec spec;
    spec.gpus = levels[0];
    spec.domains = levels[1];
    spec.units = levels[2];
    for (const auto& [key, value] : section.options) {
        const std::string_view name = key.cut('.').first.text();
        if (name == "bandwidth" || name == "latency") {
            continue;
        } else if (key.text() == "rails") {
            spec.rails = value.number();
            if (spec.rails == 0) value.complain("a rail cluster has at least 1 rail;");
        } else if (key.text() == "spines") {
            spec.spines = value.number();
        } else if (key.text() == "cross") {
            spec.crossing =
                value.one_of({"nvlink", "spine"}) == 0 ? RailCrossing::nvlink : RailCrossing::spine;
        } else {
            unknown_option(section, key, {"rails", "spines", "cross", "bandwidth", "latency"});
        }
    }
    read_bandwidths_and_latencies(section, spec);
    return section.name.build([&] { return RailCluster(spec); });
}

}  // namespace topoloom
