// SPDX-License-Identifier: BSD-3-Clause
// What is said of directed links: their two ends, and runs of links with one bandwidth.
#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace topoloom
