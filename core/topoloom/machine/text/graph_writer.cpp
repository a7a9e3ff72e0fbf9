// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/text/graph_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

std::string format_shortest(double number) {
    std::array<char, 32> digits{};
    const auto [end, problem] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    return {digits.data(), end};
}

struct UnitScale {
    std::string_view unit;
    double factor;
};
constexpr std::array bandwidth_scales{UnitScale{"GB/s", 1e9}, UnitScale{"MB/s", 1e6}, UnitScale{"B/s", 1}};
constexpr std::array latency_scales{UnitScale{"us", 1e-6}, UnitScale{"ns", 1e-9}, UnitScale{"s", 1}};

/// Writes the number in every unit, and returns the shortest text that reads back as the same number. The
/// text in the last unit always does.
std::string format_quantity(double number, std::span<const UnitScale> scales) {
    std::string best;
    for (const auto& [unit, factor] : scales) {
        const std::string digits = format_shortest(number / factor);
        double read = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), read);
        if (read * factor != number) continue;
        std::string text = digits + std::string(unit);
        if (best.empty() || text.size() < best.size()) best = std::move(text);
    }
    return best;
}

/// Returns the most frequent number of links; of equally frequent numbers, the smallest.
template <class Number>
double find_most_frequent(const std::vector<ExplicitLink>& links, double otherwise, const Number& number) {
    std::map<double, std::size_t> counts;
    for (const ExplicitLink& link : links) ++counts[number(link)];
    const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
    return most == counts.end() ? otherwise : most->first;
}

std::string format_link_ends(std::uint32_t a, char sign, std::uint32_t b) {
    return std::to_string(a) + sign + std::to_string(b);
}

template <class T>
T value_of_link(std::span<const double> values, std::size_t link) {
    return T{values.size() == 1 ? values[0] : values[link]};
}

void check_lengths(const LinkArrays& given) {
    const std::size_t count = given.ends.size() / 2;
    for (const auto& [name, values] :
         {std::pair("bandwidth", given.bandwidth), std::pair("latency", given.latency)}) {
        if (values.size() != 1 && values.size() != count)
            fail(name, " has ", values.size(), " entries for ", count, " links; give one per link, or one");
    }
    for (std::size_t i = 0; i < given.latency.size(); ++i) {
        if (given.latency[i] < 0) fail("latency[", i, "] is ", given.latency[i], "; it must be 0 or more");
    }
}

/// Throws Error for a link that is listed twice, in the same or in opposite directions.
void reject_duplicate_links(std::span<const std::uint32_t> ends) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (std::size_t i = 0; i < ends.size(); i += 2) pairs.emplace_back(std::minmax(ends[i], ends[i + 1]));
    std::ranges::sort(pairs);
    const auto twice = std::ranges::adjacent_find(pairs);
    if (twice == pairs.end()) return;
    fail("the link between ", twice->first, " and ", twice->second,
         " is given twice; give one link with the sum of their bandwidths, or directed=True if each link has "
         "one direction");
}

}  // namespace

Machine make_graph_machine(const LinkArrays& given, std::optional<std::uint32_t> nodes,
                           std::vector<std::vector<std::uint32_t>> routes) {
    check_lengths(given);
    if (!given.directed) reject_duplicate_links(given.ends);
    ExplicitGraphSpec spec;
    std::uint64_t vertices = 0;
    for (const std::uint32_t end : given.ends)
        vertices = std::max<std::uint64_t>(vertices, end + std::uint64_t{1});
    if (vertices > std::numeric_limits<std::int32_t>::max())
        fail("a link names vertex ", vertices - 1, "; number them from 0");
    spec.nodes = nodes.value_or(static_cast<std::uint32_t>(vertices));
    if (vertices > spec.nodes) spec.switches = static_cast<std::uint32_t>(vertices) - spec.nodes;
    for (std::size_t i = 0; i < given.ends.size() / 2; ++i) {
        const ExplicitLink link{given.ends[2 * i], given.ends[2 * i + 1],
                                value_of_link<BytesPerSecond>(given.bandwidth, i),
                                value_of_link<Seconds>(given.latency, i)};
        spec.links.push_back(link);
        if (!given.directed) spec.links.push_back({link.to, link.from, link.bandwidth, link.latency});
    }
    spec.routes = std::move(routes);
    ExplicitGraph graph(std::move(spec));
    std::string text = format_graph_text(graph.spec());
    return {std::move(graph), NodeSpec{}, std::move(text)};
}

std::string format_graph_text(const ExplicitGraphSpec& spec) {
    std::vector<ExplicitLink> links = spec.links;
    const auto ends = [](const ExplicitLink& link) { return std::pair(link.from, link.to); };
    std::ranges::sort(links, {}, ends);
    const double bandwidth =
        find_most_frequent(links, 1, [](const ExplicitLink& l) { return l.bandwidth.value; });
    const double latency =
        find_most_frequent(links, 0, [](const ExplicitLink& l) { return l.latency.value; });
    std::string text = "graph:" + std::to_string(spec.nodes);
    if (spec.switches > 0) text += "+" + std::to_string(spec.switches);
    char separator = ':';
    for (const ExplicitLink& link : links) {
        const auto back = std::ranges::lower_bound(links, std::pair(link.to, link.from), {}, ends);
        const bool both_ways = back != links.end() && ends(*back) == std::pair(link.to, link.from) &&
                               back->bandwidth == link.bandwidth && back->latency == link.latency;
        if (both_ways && link.to < link.from) continue;
        text += separator + format_link_ends(link.from, both_ways ? '-' : '>', link.to);
        const bool slow = link.latency.value != latency;
        if (slow || link.bandwidth.value != bandwidth)
            text += "@" + format_quantity(link.bandwidth.value, bandwidth_scales);
        if (slow) text += "@" + format_quantity(link.latency.value, latency_scales);
        separator = ',';
    }
    if (bandwidth != 1) text += ",bandwidth=" + format_quantity(bandwidth, bandwidth_scales);
    if (latency != 0) text += ",latency=" + format_quantity(latency, latency_scales);
    for (const std::vector<std::uint32_t>& route : spec.routes) {
        text += ",route=";
        for (std::size_t i = 0; i < route.size(); ++i) text += (i == 0 ? "" : ">") + std::to_string(route[i]);
    }
    if (!spec.nodes_forward) text += ",forward=no";
    return text;
}

}  // namespace topoloom
