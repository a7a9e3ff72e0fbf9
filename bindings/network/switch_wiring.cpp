// SPDX-License-Identifier: BSD-3-Clause
#include "network/switch_wiring.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "search_monitor.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/network/crosspoint/crosspoint.hpp"
#include "topoloom/network/input_queued/input_queued.hpp"

namespace topoloom::python {

SwitchWiring::SwitchWiring(const Machine& machine, std::string_view routing)
    : fabric(machine), paths(fabric, routing_of(routing), check_signals) {}

void bind_alternatives(nanobind::module_& m, const char* name, std::span<const Alternative> alternatives,
                       const char* help) {
    m.def(
        name,
        [alternatives] {
            std::vector<std::pair<std::string, std::string>> listed;
            for (const Alternative& one : alternatives) listed.emplace_back(one.name, one.help);
            return listed;
        },
        help);
}

SwitchModel parse_switch(const SwitchComponentNames& names, SwitchOptions options) {
    const auto router = parse_alternative<SwitchRouter>("router", names.router, routers);
    options.switching = parse_alternative<Switching>("switching", names.switching, switchings);
    options.arbiter = parse_alternative<Arbiter>("arbiter", names.arbiter, arbiters);
    options.allocator = parse_alternative<Allocator>("allocator", names.allocator, allocators);
    if (options.allocator == Allocator::wavefront && options.iterations > 1)
        fail("the wavefront allocator needs no further iterations; leave them out, or choose islip");
    options.queues = router == SwitchRouter::voq ? InputQueues::by_output : InputQueues::shared;
    if (router == SwitchRouter::split_fanout) options.fanout = Fanout::split;
    if (router == SwitchRouter::whole_fanout) options.fanout = Fanout::whole;
    return {router, options};
}

std::unique_ptr<PacketNetwork> make_network(const SwitchWiring& wiring, Workload& workload,
                                            const SwitchModel& how, std::uint64_t seed, int threads,
                                            std::span<const ChannelTimes> times,
                                            std::span<const SwitchGroup> groups,
                                            const CombineOptions& combine) {
    if (can_copy(how.router))
        return make_crosspoint_network(wiring.fabric, wiring.paths, workload, how.options, seed, times,
                                       groups, combine);
    if (!groups.empty())
        fail(
            "switches of this kind neither copy nor combine packets; output-queued ones do, and split-fanout "
            "and whole-fanout ones copy");
    return make_input_queued_network(wiring.fabric, wiring.paths, workload, how.options, seed, threads,
                                     times);
}

}  // namespace topoloom::python
