// SPDX-License-Identifier: BSD-3-Clause
// Assignment of virtual channels to classes.
#pragma once

#include <cstdint>

#include "topoloom/network/routes/paths.hpp"

namespace topoloom {

/// A set of virtual channels, one bit per channel.
using VcMask = std::uint32_t;

[[nodiscard]] constexpr VcMask vc_range(std::uint32_t begin, std::uint32_t end) {
    return static_cast<VcMask>(((std::uint64_t{1} << end) - 1) & ~((std::uint64_t{1} << begin) - 1));
}

/// The virtual channels of a channel, divided evenly among its classes.
struct ClassedVcs {
    std::uint32_t vcs;
    bool in_classes = true;  // if false, packets can use any virtual channel

    [[nodiscard]] constexpr std::uint32_t first(std::uint32_t klass, std::uint32_t classes) const {
        return klass * vcs / classes;
    }
    [[nodiscard]] constexpr std::uint32_t class_of(std::uint32_t vc, std::uint32_t classes) const {
        return ((vc + 1) * classes - 1) / vcs;
    }
    /// Virtual channels that a packet may use on a hop if it held virtual channel `held` on the previous hop.
    [[nodiscard]] constexpr VcMask allowed_vcs(const Hop& hop, std::uint32_t held) const {
        if (hop.classes == 1 || !in_classes) return vc_range(0, vcs);
        const std::uint32_t lowest = hop.lowest(class_of(held, hop.classes));
        return vc_range(first(lowest, hop.classes), first(hop.highest + 1U, hop.classes));
    }
};

}  // namespace topoloom
