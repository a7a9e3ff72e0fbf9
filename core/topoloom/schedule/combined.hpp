// SPDX-License-Identifier: BSD-3-Clause
// What a combined message carries: the data of some origins for some targets.
#pragma once

#include "topoloom/schedule/collective.hpp"

namespace topoloom {

/// Calls visit(block) for each block that one of the targets wants of one of the origins; each_origin(visit) and
/// each_target(visit) name them. O(origins * targets).
template <class Origins, class Targets, class Visit>
void combined_blocks(const Collective& collective, const Origins& each_origin, const Targets& each_target,
                     const Visit& visit) {
    const bool personalised = collective.personalised();
    each_origin([&](Rank origin) {
        bool wanted = false;
        each_target([&](Rank target) {
            if (!collective.wants(origin, target)) return;
            wanted = true;
            if (personalised) visit(std::uint64_t{origin.value} * collective.ranks() + target.value);
        });
        if (wanted && !personalised) visit(std::uint64_t{origin.value});
    });
}

/// Bytes of these blocks. O(1) where everyone wants everything, from how many origins and targets there are.
template <class Origins, class Targets>
Bytes combined_bytes(const Collective& collective, std::uint64_t origins, std::uint64_t targets,
                     const Origins& each_origin, const Targets& each_target) {
    if (collective.demand() == nullptr)
        return collective.bytes() *
               static_cast<std::int64_t>(collective.personalised() ? origins * targets : origins);
    Bytes sum;
    combined_blocks(collective, each_origin, each_target,
                    [&](std::uint64_t block) { sum += collective.bytes_of(block); });
    return sum;
}

}  // namespace topoloom
