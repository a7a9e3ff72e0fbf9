// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/programs/network_timing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/network/flit.hpp"

namespace topoloom {

namespace {

/// Bandwidth of a channel in bytes per second, and its latency in seconds.
struct ChannelSpeed {
    double bandwidth = 0;
    double latency = 0;
};

std::vector<ChannelSpeed> channel_speeds(const Fabric& fabric, const SwitchSpeeds& given) {
    const Machine& machine = fabric.machine();
    const NetworkView view(machine.topology());
    std::vector<ChannelSpeed> speeds(fabric.channel_count());
    std::vector<double> of_router(fabric.router_count());
    for (const Link link : ids<Link>(view.link_count())) {
        speeds[link.value] = {view.bandwidth(link).value, view.latency(link).value};
        if (!(speeds[link.value].bandwidth > 0))
            fail("'", machine.text(),
                 "' has no bandwidths, which the simulation needs; give the bandwidth of all links");
        const std::uint32_t from = fabric.channel(ChannelId{link.value}).from;
        if (from != no_index) of_router[from] += speeds[link.value].bandwidth;
    }
    for (std::size_t c = view.link_count(); c < speeds.size(); ++c) {
        const Channel& channel = fabric.channel(ChannelId{c});
        const std::uint32_t router = channel.is_entry() ? channel.to : channel.from;
        speeds[c].bandwidth = given.injection.value_or(of_router[router]);
    }
    const double port = machine.speeds().port.value;
    for (const ChannelId id : ids<ChannelId>(speeds.size()))
        if (fabric.channel(id).is_entry() || fabric.channel(id).is_exit())
            speeds[id.value].bandwidth = std::min(speeds[id.value].bandwidth, port);
    return speeds;
}

std::uint32_t to_cycles(double seconds, double cycle) {
    const double cycles = std::round(seconds / cycle);
    constexpr double most = 1U << 20;
    if (!(cycles >= 0) || cycles > most)
        fail(seconds, " s are ", cycles, " cycles of ", cycle, " s; at most ", most,
             " can be simulated: choose larger flits");
    return static_cast<std::uint32_t>(cycles);
}

std::uint32_t max_inputs(const Fabric& fabric) {
    std::size_t most = 1;
    for (std::uint32_t router = 0; router < fabric.router_count(); ++router)
        most = std::max(most, fabric.inputs_of(router).size());
    return static_cast<std::uint32_t>(most);
}

/// Returns the buffer size, in flits, that sustains full speed: the flits sent during a credit round trip,
/// plus a packet. For crosspoints, rounds up to whole packets, because their credits count packets.
std::uint32_t compute_buffer_size(const std::vector<ChannelTimes>& channels, std::uint32_t steps,
                                  std::uint32_t packet, bool whole) {
    std::uint32_t most = 0;
    for (const ChannelTimes& one : channels) {
        const std::uint64_t round_trip = 2 * (std::uint64_t{one.delay} + steps);
        most = std::max(most, static_cast<std::uint32_t>(round_trip * ChannelTimes::cycle / one.period + 1));
    }
    constexpr std::uint32_t largest = 65535;
    most += packet;
    if (whole) most = (most + packet - 1) / packet * packet;
    return std::min(most, largest);
}

}  // namespace

NetworkTiming compute_network_timing(const Fabric& fabric, const PacketFormat& format, SwitchOptions options,
                                     const SwitchSpeeds& speeds, std::uint32_t units) {
    require_packet_format(format);
    const std::vector<ChannelSpeed> all = channel_speeds(fabric, speeds);
    const double fastest = std::ranges::max(all, {}, &ChannelSpeed::bandwidth).bandwidth;
    const double cycle = format.flit / fastest;
    const bool is_inside = speeds.crosspoints && speeds.switch_latency;
    if (is_inside)
        options.crossing = std::max(
            1U, std::max(to_cycles(*speeds.switch_latency, cycle), options.routing) - options.routing);
    const std::uint32_t steps = options.routing + options.crossing + (speeds.crosspoints ? 0 : 1);
    NetworkTiming times{
        .cycle = cycle, .channels = {}, .messages = {}, .options = options, .combine = {units}};
    times.combine.period = std::max(1U, ChannelTimes::cycle / max_inputs(fabric));
    if (speeds.combining) {
        if (!(*speeds.combining > 0))
            fail("the speed of combining units must be above 0 bytes per second, not ", *speeds.combining);
        const double period = std::round(ChannelTimes::cycle * fastest / *speeds.combining);
        if (!(period >= 1 && period <= CombineOptions::longest))
            fail("combining units of ", *speeds.combining, " bytes per second do not match links of ",
                 fastest, "; choose a speed at most ", CombineOptions::longest / ChannelTimes::cycle,
                 " times slower or faster");
        times.combine.period = static_cast<std::uint32_t>(period);
    }
    for (const ChannelId id : ids<ChannelId>(fabric.channel_count())) {
        const ChannelSpeed& speed = all[id.value];
        const bool from_switch = !fabric.channel(id).is_entry();
        const double latency =
            speed.latency + (from_switch && !is_inside ? speeds.switch_latency.value_or(0) : 0);
        const std::uint32_t inside = from_switch && !is_inside ? steps : 0;
        const std::uint32_t cycles = to_cycles(latency, cycle);
        times.channels.push_back({.delay = std::max(1U, cycles - std::min(cycles, inside)),
                                  .period = static_cast<std::uint32_t>(
                                      std::lround(ChannelTimes::cycle * fastest / speed.bandwidth))});
    }
    const std::uint32_t packet = format.flit_count(format.payload);
    times.options.buffer = speeds.buffer
                               ? static_cast<std::uint32_t>(std::max(1.0, *speeds.buffer / format.flit))
                               : compute_buffer_size(times.channels, steps, packet, speeds.crosspoints);
    const auto& inside = fabric.machine().speeds();
    times.messages = {.send = to_cycles(inside.startup.value, cycle),
                      .receive = 0,
                      .latency = to_cycles(inside.latency.value, cycle),
                      .memory_rate = inside.memory.value * cycle,
                      .memory = to_cycles(inside.memory_startup.value, cycle)};
    return times;
}

std::uint64_t simulation_memory(const Fabric& fabric, const NetworkTiming& times) {
    const std::uint64_t longest = std::ranges::max(times.channels, {}, &ChannelTimes::delay).delay;
    const std::uint64_t places = std::bit_ceil(2 * longest + times.options.crossing + 1);
    return fabric.channel_count() * places * (sizeof(Flit) + 1) +
           fabric.input_count() * times.options.vcs *
               (std::uint64_t{times.options.buffer} * sizeof(Flit) + 64);
}

}  // namespace topoloom
