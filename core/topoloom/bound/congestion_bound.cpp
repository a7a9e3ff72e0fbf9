// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/congestion_bound.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

#include "topoloom/bound/cuts/partner_profile.hpp"
#include "topoloom/bound/hop_bytes_bound.hpp"
#include "topoloom/machine/allocations/territory.hpp"
#include "topoloom/machine/network_view.hpp"

namespace topoloom {

namespace {

/// Prefix sums of the bytes that every rank sends or receives, heaviest peers first.
std::vector<bound::PartnerProfile> one_way_profiles(std::vector<std::vector<std::int64_t>> bytes) {
    for (bound::PartnerProfile& profile : bytes) {
        std::ranges::sort(profile, std::greater());
        profile.insert(profile.begin(), 0);
        for (std::size_t k = 1; k < profile.size(); ++k) profile[k] += profile[k - 1];
    }
    return bytes;
}

std::int64_t leaving_bytes(const bound::PartnerProfile& profile, std::uint64_t capacity) {
    return profile.back() - profile[std::min<std::uint64_t>(capacity, profile.size()) - 1];
}

struct Port {
    std::uint64_t capacity = 0;
    double out = 0, in = 0;
    friend auto operator<=>(const Port&, const Port&) = default;
};

/// The rank capacity at vertices, and the total bandwidth of their working links.
std::vector<Port> find_ports(const BoundProblem& problem) {
    const NetworkView network(problem.machine().topology());
    std::vector<Port> ports(network.vertex_count());
    for (std::size_t s = 0; s < problem.capacity().size(); ++s) {
        const Node node = problem.machine().node(problem.allocation().slots()[s]);
        ports[network.vertex(node)].capacity += problem.capacity()[s];
    }
    for (const LinkRun& run : network.bandwidth_runs()) {
        for (std::size_t i = run.first.value; i < run.first.value + run.count; ++i) {
            if (!network.is_up(Link{i})) continue;
            const LinkEnds ends = network.ends(Link{i});
            ports[ends.from].out += run.bandwidth.value;
            ports[ends.to].in += run.bandwidth.value;
        }
    }
    std::erase_if(ports, [](const Port& port) { return port.capacity == 0; });
    std::ranges::sort(ports);
    ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
    return ports;
}

/// A copy of the machine whose distances are hops, without user-defined tree distances and intra-node levels.
Machine make_hop_machine(const Machine& machine) {
    AnyTopology topology = machine.topology();
    if (const auto* tree = std::get_if<Tree>(&topology)) {
        TreeSpec spec = tree->spec();
        spec.distance.clear();
        topology = Tree(std::move(spec));
    }
    if (const auto* rails = std::get_if<RailCluster>(&topology)) {
        RailClusterSpec spec = rails->spec();
        spec.bandwidth.fill(unit_bandwidth);
        topology = RailCluster(spec);
    }
    return {std::move(topology), NodeSpec{Levels({machine.slots_per_node()}, {0}), 1}, machine.text()};
}

}  // namespace

double load_unit(const BoundProblem& problem, const bound::RouteSurvey& survey) {
    const CommGraph& graph = problem.graph();
    const std::vector<LinkRun> runs = NetworkView(problem.machine().topology()).bandwidth_runs();
    if (survey.is_split || runs.empty() || !graph.proxied().empty()) return 0;
    const double bandwidth = runs.front().bandwidth.value;
    const auto differs = [&](const LinkRun& run) { return run.bandwidth.value != bandwidth; };
    if (std::ranges::any_of(runs, differs)) return 0;
    std::int64_t unit = 0;
    for (const Bytes bytes : graph.all_bytes()) unit = std::gcd(unit, bytes.value);
    return static_cast<double>(unit) / bandwidth;
}

CongestionBound message_bound(const BoundProblem& problem, const bound::RouteSurvey& survey) {
    if (problem.allocation().nodes().size() != problem.total_capacity()) return {};
    std::int64_t most = 0;
    std::string ranks;
    for (const Rank u : ids<Rank>(problem.rank_count())) {
        for (const Edge edge : problem.graph().sends(u)) {
            if (edge.bytes.value <= most) continue;
            most = edge.bytes.value;
            ranks = "ranks " + std::to_string(u.value) + " and " + std::to_string(edge.peer.value);
        }
    }
    if (most == 0 || survey.seconds_per_byte == 0) return {};
    return {static_cast<double>(most) * survey.seconds_per_byte * rounding_margin, "message", ranks};
}

CongestionBound injection_bound(const BoundProblem& problem) {
    const std::vector<Port> all_ports = find_ports(problem);
    std::vector<std::vector<std::int64_t>> bytes_out(problem.rank_count());
    std::vector<std::vector<std::int64_t>> bytes_in(problem.rank_count());
    for (const Rank u : ids<Rank>(problem.rank_count())) {
        for (const Edge edge : problem.graph().sends(u)) {
            bytes_out[u.value].push_back(edge.bytes.value);
            bytes_in[edge.peer.value].push_back(edge.bytes.value);
        }
    }
    bytes_out = one_way_profiles(std::move(bytes_out));
    bytes_in = one_way_profiles(std::move(bytes_in));
    CongestionBound best;
    for (std::size_t u = 0; u < problem.rank_count(); ++u) {
        double least = std::numeric_limits<double>::infinity();
        for (const Port& port : all_ports) {
            const auto sent = static_cast<double>(leaving_bytes(bytes_out[u], port.capacity));
            const auto received = static_cast<double>(leaving_bytes(bytes_in[u], port.capacity));
            // A rank with messages cannot be behind a port without links.
            least = std::min(least,
                             std::max(sent > 0 ? sent / port.out : 0, received > 0 ? received / port.in : 0));
        }
        if (least * rounding_margin > best.value && least < std::numeric_limits<double>::infinity())
            best = {least * rounding_margin, "injection", "rank " + std::to_string(u)};
    }
    return best;
}

CongestionBound average_load_bound(const BoundProblem& problem, const bound::RouteSurvey& survey,
                                   Meter& meter) {
    const Machine machine = make_hop_machine(problem.machine());
    const auto allocation = Allocation::of_slots(
        machine, {problem.allocation().slots().begin(), problem.allocation().slots().end()});
    const HopBytesBound bytes = hop_bytes_bound(problem.on(allocation), meter);
    if (bytes.value <= 0 || survey.bandwidth <= 0) return {};
    return {static_cast<double>(bytes.value) / survey.bandwidth * rounding_margin, "average",
            "all links, hops by " + std::string(bytes.by)};
}

CongestionBound congestion_bound(const BoundProblem& problem, Meter& meter) {
    const bound::RouteSurvey survey = bound::survey_routes(problem.allocation(), meter);
    const CongestionBound message = message_bound(problem, survey);
    CongestionBound best = injection_bound(problem);
    const auto raise = [&](CongestionBound other) {
        if (other.value > best.value) best = std::move(other);
    };
    raise(message);
    raise(cut_bound(problem, meter));
    raise(route_cut_bound(problem, survey, meter));
    raise(price_bound(problem, meter));
    const CongestionBound average = average_load_bound(problem, survey, meter);
    raise(average);
    // The margin of a bound that is a multiple already makes it slightly smaller.
    if (const double unit = load_unit(problem, survey); unit != 0)
        best.value = std::ceil(best.value / unit * rounding_margin) * unit * rounding_margin;
    raise(background_bound(problem, survey, message, average));
    return best;
}

}  // namespace topoloom
