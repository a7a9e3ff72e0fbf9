// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/cost/grid_times.hpp"

#include <algorithm>
#include <cmath>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

void check(const GridLinks& links, double bytes) {
    for (const double value :
         {links.latency_s, links.outer_s_per_byte, links.inner_s_per_byte, links.reduce_s_per_byte, bytes}) {
        if (!std::isfinite(value) || value < 0)
            fail("latency, seconds per byte and bytes must be finite and not negative, not ", value);
    }
    if (links.channels == 0) fail("a node needs 1 channel or more");
}

/// Steps of the chains of all axes until the first segment has arrived.
double chain_steps(const NodeMap& map) {
    double steps = 0;
    for (const std::uint32_t extent : map.extents) steps += static_cast<double>(extent) - 2;
    return steps;
}

/// What a byte costs in a step, averaged over links between nodes and inside.
double seconds_per_byte(const NodeMap& map, const GridLinks& links) {
    const double all = tile_surface(map.extents);
    const double outer = map.external_links() / all;
    return links.reduce_s_per_byte + outer * links.outer_s_per_byte / links.channels +
           (1 - outer) * links.inner_s_per_byte;
}

}  // namespace

double pipelined_time(const NodeMap& map, const GridLinks& links, double bytes, double segment) {
    check(links, bytes);
    if (!(segment > 0 && segment <= bytes))
        fail("segments of ", segment, " bytes do not cut a message of ", bytes, "; give 1 to ", bytes);
    const double segments = static_cast<double>(map.extents.size()) * bytes / segment;
    return std::max(0.0, chain_steps(map) + segments) *
           (links.latency_s + segment * seconds_per_byte(map, links));
}

double best_segment(const NodeMap& map, const GridLinks& links, double bytes) {
    check(links, bytes);
    const double growing = chain_steps(map) * seconds_per_byte(map, links);
    if (growing <= 0) return bytes;
    const double root =
        std::sqrt(static_cast<double>(map.extents.size()) * bytes * links.latency_s / growing);
    return std::min(bytes, std::max(1.0, root));
}

double binomial_time(const NodeMap& map, GridCollective collective, const GridLinks& links, double bytes) {
    check(links, bytes);
    const bool shared_out = collective == GridCollective::scatter || collective == GridCollective::gather;
    const double work = collective == GridCollective::reduce ? links.reduce_s_per_byte : 0;
    double time = 0;
    for (std::size_t axis = 0; axis < map.extents.size(); ++axis) {
        const std::uint64_t extent = map.extents[axis];
        const std::uint64_t turns =
            (std::uint64_t{map.external_links(axis)} + links.channels - 1) / links.channels;
        std::uint32_t round = 0;
        for (std::uint64_t step = 1; step < extent; step *= 2, ++round) {
            const double sent =
                shared_out ? bytes * static_cast<double>(std::min(step, extent - step)) : bytes;
            time += sent * work;
            if (round < map.inner_rounds[axis]) {
                time += links.latency_s + sent * links.inner_s_per_byte;
            } else {
                time += static_cast<double>(turns) * (links.latency_s + sent * links.outer_s_per_byte);
            }
        }
    }
    return time;
}

}  // namespace topoloom
