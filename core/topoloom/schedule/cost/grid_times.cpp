// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/cost/grid_times.hpp"

#include <algorithm>
#include <cmath>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

void check_arguments(const GridLinks& links, double bytes) {
    for (const double value :
         {links.latency_s, links.outer_s_per_byte, links.inner_s_per_byte, links.reduce_s_per_byte, bytes}) {
        if (!std::isfinite(value) || value < 0)
            fail("latency, seconds per byte and bytes must be finite and not negative, not ", value);
    }
    if (links.channels == 0) fail("a node needs 1 channel or more");
}

/// Time per byte of a step along an axis on the slowest concurrently used link.
double slowest_byte_time(const NodeMap& map, std::size_t axis, const GridLinks& links) {
    const std::uint64_t lines = cell_count(map.extents) / map.extents[axis];
    std::uint64_t inside = lines * (map.extents[axis] - 1);
    for (const std::uint32_t leaving : map.leaving[axis]) inside -= leaving;
    const double crossing = map.external_links(axis);
    return links.reduce_s_per_byte +
           std::max(crossing > 0 ? std::max(1.0, crossing / links.channels) * links.outer_s_per_byte : 0.0,
                    inside > 0 ? links.inner_s_per_byte : 0.0);
}

/// Time per byte of any step as printed in the source: the mean over links between nodes and within nodes.
double mean_byte_time(const NodeMap& map, const GridLinks& links) {
    const double all = tile_surface(map.extents);
    const double outer = map.external_links() / all;
    return links.reduce_s_per_byte + outer * links.outer_s_per_byte / links.channels +
           (1 - outer) * links.inner_s_per_byte;
}

/// Totals over the chains of all axes, which run one after the other.
struct ChainSteps {
    double axes = 0;      // steps in which each rank sends all segments
    double steps = 0;     // steps until the first segment has arrived
    double one = 0;       // seconds to send a one-byte segment once along every axis
    double arriving = 0;  // seconds per byte of all steps
};

ChainSteps count_chain_steps(const NodeMap& map, const GridLinks& links, FormulaVariant variant) {
    ChainSteps chains;
    for (std::size_t axis = 0; axis < map.extents.size(); ++axis) {
        if (variant == FormulaVariant::counted && map.extents[axis] == 1) continue;
        const double steps = static_cast<double>(map.extents[axis]) - 2;
        const double one = variant == FormulaVariant::counted ? slowest_byte_time(map, axis, links)
                                                              : mean_byte_time(map, links);
        chains.axes += 1;
        chains.steps += steps;
        chains.one += one;
        chains.arriving += steps * one;
    }
    return chains;
}

}  // namespace

double pipelined_time(const NodeMap& map, const GridLinks& links, double bytes, double segment,
                      FormulaVariant variant) {
    check_arguments(links, bytes);
    if (!(segment > 0 && segment <= bytes))
        fail("segments of ", segment, " bytes are unsuitable for a message of ", bytes, "; give 1 to ",
             bytes);
    const ChainSteps chains = count_chain_steps(map, links, variant);
    const double segments = bytes / segment;
    return std::max(0.0, (chains.steps + chains.axes * segments) * links.latency_s +
                             segment * (chains.arriving + segments * chains.one));
}

double best_segment(const NodeMap& map, const GridLinks& links, double bytes, FormulaVariant variant) {
    check_arguments(links, bytes);
    const ChainSteps chains = count_chain_steps(map, links, variant);
    if (chains.arriving <= 0) return bytes;
    return std::min(bytes, std::max(1.0, std::sqrt(chains.axes * bytes * links.latency_s / chains.arriving)));
}

double binomial_time(const NodeMap& map, GridCollective collective, const GridLinks& links, double bytes) {
    check_arguments(links, bytes);
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
