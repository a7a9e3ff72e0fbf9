// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/topologies/ring_bus.hpp"

#include <array>
#include <sstream>
#include <string_view>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/notation/text_piece.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"

namespace topoloom {

namespace {

TorusSpec make_torus_spec(const RingBusSpec& spec) {
    if (spec.stations == 0 || spec.stations > Torus::max_extent)
        fail("a ring bus has 1 to ", Torus::max_extent, " stations, not ", spec.stations);
    if (spec.rings == 0) fail("a ring bus needs at least 1 ring in each direction");
    require_bandwidth(spec.bandwidth);
    TorusSpec torus;
    torus.size = {spec.stations};
    if (spec.split_ties) torus.ties = TorusTies::split;
    const BytesPerSecond all_rings = spec.bandwidth * static_cast<double>(spec.rings);
    torus.bandwidth = {{all_rings, all_rings}};
    torus.latency = {{spec.latency, spec.latency}};
    return torus;
}

}  // namespace

RingBus::RingBus(const RingBusSpec& spec) : spec_(spec), ring_(make_torus_spec(spec)) {}

/// A link name contains the origin and the direction: "station 3 clockwise".
std::string RingBus::link_name(Link link) const {
    const bool clockwise = link.value < link_count() / 2;
    return "station " + std::to_string(ends(link).from) + (clockwise ? " clockwise" : " counter-clockwise");
}

std::string RingBus::describe() const {
    std::ostringstream text;
    text << "ring bus of " << spec_.stations << " stations";
    if (spec_.rings > 1) text << ", " << spec_.rings << " rings in each direction";
    if (spec_.transfers > 0) text << ", " << spec_.transfers << " transfers a ring";
    return text.str();
}

namespace {

constexpr std::array<std::string_view, 2> ring_ties{"split", "plus"};

constexpr std::array ring_options{
    TopologyOption{"rings", OptionForm::count, "rings in each direction"},
    TopologyOption{"transfers", OptionForm::count, "transfers at once on a ring"},
    TopologyOption{"ties", OptionForm::word, "which direction messages take half way around", ring_ties},
    TopologyOption{"bandwidth", OptionForm::quantity, "of a ring"}, latency_option(OptionForm::quantity)};

RingBus read_ring(const Section& section) {
    RingBusSpec spec;
    spec.stations = section.body.number();
    for (const auto& [key, value] : section.options) {
        if (key.text() == "rings") {
            spec.rings = value.number();
        } else if (key.text() == "transfers") {
            spec.transfers = value.number();
            if (spec.transfers == 0) value.reject("a ring holds at least 1 transfer;");
        } else if (key.text() == "ties") {
            spec.split_ties = value.one_of(ring_ties) == 0;
        } else if (key.text() == "bandwidth") {
            spec.bandwidth = read_quantity(value, parse_bandwidth);
        } else {
            spec.latency = read_quantity(value, parse_time);
        }
    }
    return section.name.add_context([&] { return RingBus(spec); });
}

}  // namespace

constinit const TopologyNotation<RingBus> ring_notation{
    .form = {.name = "ring",
             .summary = "stations on a bus of rings in both directions, as in the Cell processor",
             .example = "ring:12,rings=2,transfers=3,bandwidth=25.6GB/s",
             .body = "stations",
             .separator = "",
             .options = ring_options,
             .drawing = Drawing::circle},
    .read = read_ring};

}  // namespace topoloom
