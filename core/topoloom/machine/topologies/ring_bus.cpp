// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/topologies/ring_bus.hpp"

#include <sstream>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

TorusSpec one_axis(const RingBusSpec& spec) {
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

RingBus::RingBus(const RingBusSpec& spec) : spec_(spec), ring_(one_axis(spec)) {}

/// The station it leaves: "station 3 clockwise".
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

}  // namespace topoloom
