// SPDX-License-Identifier: BSD-3-Clause
// Directed links: their ends, runs of equal bandwidth, and visitors of routes.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "topoloom/base/error.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"

namespace topoloom {

/// A directed link leads from vertex `from` to vertex `to`; vertices are routers, switches or end points.
struct LinkEnds {
    std::uint32_t from;
    std::uint32_t to;
    friend bool operator==(const LinkEnds&, const LinkEnds&) = default;
};

/// `count` links with consecutive ids and the same bandwidth.
struct LinkRun {
    Link first;
    std::size_t count;
    BytesPerSecond bandwidth;
};

/// A type-erased reference to a visitor of the links of a route, so that code for long routes is compiled
/// once.
class RouteVisitor {
   public:
    template <class Visit>
    explicit RouteVisitor(const Visit& visit)
        : visitor_(&visit), visit_([](const void* visitor, Link link, double share) {
              (*static_cast<const Visit*>(visitor))(link, share);
          }) {}
    void operator()(Link link, double share) const { visit_(visitor_, link, share); }

   private:
    const void* visitor_;
    void (*visit_)(const void*, Link, double);
};

/// The bandwidth of links if none is given: loads are then bytes instead of times.
inline constexpr BytesPerSecond unit_bandwidth{1};
/// The smallest absolute bandwidth, below that of any real network. Smaller values are relative bandwidths.
inline constexpr BytesPerSecond min_known{1e5};

/// Throws Error unless the bandwidth is positive and finite.
inline void require_bandwidth(BytesPerSecond bandwidth) {
    if (!(bandwidth.value > 0) || !std::isfinite(bandwidth.value)) {
        fail("the bandwidth of a link must be positive and finite, not ", bandwidth.value, " B/s");
    }
}

/// Throws Error if there are too many links for 32-bit ids.
inline void require_link_ids(std::uint64_t link_count) {
    if (link_count > std::numeric_limits<std::uint32_t>::max()) {
        fail("the machine has ", link_count, " links; at most 2^32 - 1 are supported");
    }
}

}  // namespace topoloom
