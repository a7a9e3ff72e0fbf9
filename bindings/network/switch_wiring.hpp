// SPDX-License-Identifier: BSD-3-Clause
// The switches of a machine, and the simulated networks made of them.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "topoloom/network/component_choices.hpp"
#include "topoloom/network/crosspoint/switch_group.hpp"
#include "topoloom/network/packet_network.hpp"
#include "topoloom/network/routes/paths.hpp"
#include "topoloom/network/switch_options.hpp"
#include "topoloom/network/workload.hpp"

namespace topoloom::python {

/// A fabric of switches and its paths, built once for several simulations.
struct SwitchWiring {
    /// Call the constructor without holding the GIL. Signals can interrupt it.
    SwitchWiring(const Machine& machine, std::string_view routing);
    Fabric fabric;
    Paths paths;
};

enum class SwitchRouter { input_queued, voq, output_queued, split_fanout, whole_fanout };
inline constexpr std::array<Alternative, 5> routers{{
    {"input-queued", "virtual channels with buffers at the inputs, in credits"},
    {"voq", "a queue for each output at each input (virtual output queues), in credits"},
    {"output-queued", "a buffer for each pair of an input and an output (crosspoint), in credits"},
    {"split-fanout", "a queue at each input, whose first packet is copied to outputs as they come free"},
    {"whole-fanout", "a queue at each input, whose first packet is copied to all its outputs at once"},
}};

/// Adds a function that lists the names and help texts of alternatives.
void bind_alternatives(nanobind::module_& m, const char* name, std::span<const Alternative> alternatives,
                       const char* help);

/// Whether this kind of switch copies packets.
[[nodiscard]] inline bool can_copy(SwitchRouter router) { return router >= SwitchRouter::output_queued; }

/// The component names that select a switch model.
struct SwitchComponentNames {
    std::string_view router, switching, arbiter, allocator;
};
struct SwitchModel {
    SwitchRouter router;
    SwitchOptions options;
};
/// Throws Error for unknown names.
[[nodiscard]] SwitchModel parse_switch(const SwitchComponentNames& names, SwitchOptions options);

/// Creates the simulated network, which refers to all arguments except `groups` and `times`. Throws Error for
/// groups on switches that neither copy nor combine.
[[nodiscard]] std::unique_ptr<PacketNetwork> make_network(const SwitchWiring& wiring, Workload& workload,
                                                          const SwitchModel& how, std::uint64_t seed,
                                                          int threads,
                                                          std::span<const ChannelTimes> times = {},
                                                          std::span<const SwitchGroup> groups = {},
                                                          const CombineOptions& combine = {});

}  // namespace topoloom::python
