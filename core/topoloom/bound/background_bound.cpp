// SPDX-License-Identifier: BSD-3-Clause
// Bounds on congestion with the traffic of other jobs.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "topoloom/bound/congestion_bound.hpp"
#include "topoloom/machine/network_view.hpp"

namespace topoloom {

namespace {

struct LoadedLink {
    double bandwidth;
    double background;  // bytes
};

/// Working links on routes, those with the least background per bandwidth first.
std::vector<LoadedLink> list_links(const BoundProblem& problem, const bound::RouteSurvey& survey) {
    const NetworkView network(problem.machine().topology());
    std::vector<LoadedLink> links;
    for (const LinkRun& run : network.bandwidth_runs()) {
        for (std::size_t i = run.first.value; i < run.first.value + run.count; ++i) {
            if (survey.is_used[i] != 0 && network.is_up(Link{i}))
                links.push_back({run.bandwidth.value, problem.background()[i]});
        }
    }
    std::ranges::sort(links, {}, [](const LoadedLink& one) { return one.background / one.bandwidth; });
    return links;
}

/// The smallest level, bytes / bandwidth, up to which these bytes fill the links above their background.
double fill_links(const std::vector<LoadedLink>& links, double bytes) {
    double bandwidth = 0;
    for (std::size_t i = 0; i < links.size(); ++i) {
        bytes += links[i].background;
        bandwidth += links[i].bandwidth;
        const double level = bytes / bandwidth;
        if (i + 1 == links.size() || level <= links[i + 1].background / links[i + 1].bandwidth) return level;
    }
    return 0;
}

/// Minimum over all routes of the largest load of a link: its background and its share of these bytes.
double load_best_route(const BoundProblem& problem, double bytes) {
    const NetworkView network(problem.machine().topology());
    double least = std::numeric_limits<double>::infinity();
    for (const Node a : problem.allocation().nodes()) {
        for (const Node b : problem.allocation().nodes()) {
            if (a == b) continue;
            double busiest = 0;
            network.route(a, b, [&](Link link, double share) {
                const double load = share * bytes + problem.background()[link.value];
                busiest = std::max(busiest, load / network.bandwidth(link).value);
            });
            least = std::min(least, busiest);
        }
    }
    return least;
}

}  // namespace

CongestionBound background_load(const BoundProblem& problem) {
    if (problem.background().empty()) return {};
    const NetworkView network(problem.machine().topology());
    double most = 0;
    for (const LinkRun& run : network.bandwidth_runs()) {
        for (std::size_t i = run.first.value; i < run.first.value + run.count; ++i)
            most = std::max(most, problem.background()[i] / run.bandwidth.value);
    }
    if (most == 0) return {};
    return {most * rounding_margin, "background", "the busiest link"};
}

CongestionBound background_bound(const BoundProblem& problem, const bound::RouteSurvey& survey,
                                 const CongestionBound& message, const CongestionBound& average) {
    CongestionBound best = background_load(problem);
    if (best.value == 0) return best;
    if (average.value > 0) {
        const double bytes = average.value * survey.bandwidth;
        const double level = fill_links(list_links(problem, survey), bytes) * rounding_margin;
        if (level > best.value) best = {level, "average", average.where + ", and background"};
    }
    if (message.value > 0) {
        const double bytes = message.value / survey.seconds_per_byte;
        const double load = load_best_route(problem, bytes) * rounding_margin;
        if (load > best.value) best = {load, "message", message.where + ", and background"};
    }
    return best;
}

}  // namespace topoloom
