// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/routes/route_survey.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "topoloom/base/step_budget.hpp"
#include "topoloom/machine/network_view.hpp"

namespace topoloom::bound {

namespace {

bool can_examine_routes(const NetworkView& network, const Allocation& allocation, Meter& meter) {
    constexpr double max_visits = 5e7;
    const auto nodes = static_cast<double>(allocation.nodes().size());
    const double visits = nodes * nodes * static_cast<double>(network.diameter());
    return !network.is_adaptive() && visits <= max_visits && spend_step(meter, visits);
}

}  // namespace

RouteSurvey survey_routes(const Allocation& allocation, Meter& meter) {
    const NetworkView network(allocation.machine().topology());
    const bool is_known = can_examine_routes(network, allocation, meter);
    RouteSurvey survey{.is_known = is_known, .is_split = !is_known};
    std::vector<char>& is_used = survey.is_used;
    is_used.assign(network.link_count(), is_known ? 0 : 1);
    if (is_known) {
        double least = std::numeric_limits<double>::infinity();
        for (const Node a : allocation.nodes()) {
            for (const Node b : allocation.nodes()) {
                if (a == b) continue;
                double busiest = 0;
                network.route(a, b, [&](Link link, double share) {
                    is_used[link.value] = 1;
                    survey.is_split = survey.is_split || share != 1;
                    busiest = std::max(busiest, share / network.bandwidth(link).value);
                });
                least = std::min(least, busiest);
            }
        }
        survey.seconds_per_byte = allocation.nodes().size() > 1 ? least : 0;
    }
    for (const LinkRun& run : network.bandwidth_runs()) {
        std::size_t count = 0;
        for (std::size_t i = run.first.value; i < run.first.value + run.count; ++i)
            count += is_used[i] != 0 && network.is_up(Link{i}) ? 1 : 0;
        survey.bandwidth += static_cast<double>(count) * run.bandwidth.value;
    }
    return survey;
}

}  // namespace topoloom::bound
