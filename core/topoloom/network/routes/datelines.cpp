// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/routes/datelines.hpp"

#include <type_traits>

namespace topoloom {

Dateline datelines(const Machine& machine) {
    return with_topology(machine, [](const auto& topology) -> Dateline {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(topology)>, Hosted<Dragonfly>>) {
            const Dragonfly& base = topology.router_network();
            const std::uint32_t group = base.spec().rows * base.spec().columns;
            const auto is_global = [&base, group](Link link) {
                const LinkEnds ends = base.ends(link);
                return ends.from / group != ends.to / group;
            };
            return [&base, is_global](Link before, Link after) {
                return before.value < base.link_count() && after.value < base.link_count() &&
                       is_global(before);
            };
        } else {
            return [](Link, Link) { return false; };
        }
    });
}

}  // namespace topoloom
