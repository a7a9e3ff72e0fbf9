// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/cost/route_links.hpp"

namespace topoloom {

namespace {

template <class T>
void list_links(const void* network, Node from, Node to, std::vector<RouteLink>& links) {
    const T& routes = *static_cast<const T*>(network);
    routes.route(from, to, [&](Link link, double part) {
        links.push_back({link, part, routes.bandwidth(link).value, routes.latency(link).value});
    });
}

}  // namespace

RouteLinks::RouteLinks(const Machine& machine)
    : view_(machine.topology()), network_(&view_), list_(list_links<NetworkView>) {
    with_topology(machine, [&]<class T>(const T& topology) {
        if constexpr (is_common_topology<T>) {
            network_ = &topology;
            list_ = list_links<T>;
        }
    });
}

}  // namespace topoloom
