// SPDX-License-Identifier: BSD-3-Clause
// What is said of directed links: their two ends, and runs of links with one bandwidth.
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

/// Who is shown the links of a route, whatever its type: so that long routes are compiled once. Refers to it.
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

/// Of links whose bandwidth is not given: loads are bytes, then, and no times.
inline constexpr BytesPerSecond unit_bandwidth{1};
/// Nothing that was ever built is slower; what is, only says how bandwidths relate.
inline constexpr BytesPerSecond min_known{1e5};

/// Throws Error unless a link can have this bandwidth: positive and finite.
inline void require_bandwidth(BytesPerSecond bandwidth) {
    if (!(bandwidth.value > 0) || !std::isfinite(bandwidth.value)) {
        fail("the bandwidth of a link must be positive and finite, not ", bandwidth.value, " B/s");
    }
}

/// Throws Error unless this number of links can be numbered in 32 bits.
inline void require_link_ids(std::uint64_t link_count) {
    if (link_count > std::numeric_limits<std::uint32_t>::max()) {
        fail("the machine has ", link_count, " links; at most 2^32 - 1 can be told apart");
    }
}

}  // namespace topoloom
