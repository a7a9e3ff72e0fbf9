// SPDX-License-Identifier: BSD-3-Clause
// The two ends of a directed link.
#pragma once

#include <cstdint>

namespace topoloom {

/// A directed link leads from vertex `from` to vertex `to`; vertices are routers, switches or end points.
struct LinkEnds {
    std::uint32_t from;
    std::uint32_t to;
    friend bool operator==(const LinkEnds&, const LinkEnds&) = default;
};

}  // namespace topoloom
