// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/orders/binomial_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <string>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/base/rng.hpp"

namespace topoloom {

namespace {

void check_channels(std::uint32_t channels) {
    if (channels == 0) fail("0 channels; there must be 1 or more");
}

/// Messages that share a set of channels.
struct SharedChannels {
    double sum = 0;      // seconds that the messages would take alone
    double longest = 0;  // of these

    void add(double seconds) {
        sum += seconds;
        longest = std::max(longest, seconds);
    }
    [[nodiscard]] double time(double channels, ChannelSharing sharing) const {
        if (sharing == ChannelSharing::independent || sum <= channels * longest) return longest;
        return sharing == ChannelSharing::printed ? sum / channels : 2 * sum / (channels + sum / longest);
    }
};

}  // namespace

BinomialOrder parse_binomial_order(std::string_view name) {
    constexpr std::array<std::string_view, 4> names{"standard", "fastest-edge-first", "channel-aware",
                                                    "random"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return static_cast<BinomialOrder>(i);
    }
    throw Error(unknown_name_message("order", std::string(name), {names.begin(), names.end()}));
}

std::vector<Rank> cost_independent_order(std::size_t size, BinomialOrder order, Rank root,
                                         std::uint64_t seed) {
    if (order != BinomialOrder::standard && order != BinomialOrder::random)
        fail("this order depends on message costs");
    if (root.value >= size) fail("the root ", root.value, " is not a process; processes are 0 to ", size - 1);
    std::vector<Rank> placed;
    for (std::size_t i = 0; i < size; ++i) placed.push_back(Rank{(root.value + i) % size});
    if (order == BinomialOrder::random) Rng(seed).shuffle(std::span(placed).subspan(1));
    return placed;
}

std::vector<Rank> binomial_order(const CostMatrix& costs, BinomialOrder order, Rank root,
                                 std::uint32_t channels, std::uint64_t seed) {
    const std::size_t size = costs.size();
    check_channels(channels);
    if (order == BinomialOrder::random) return cost_independent_order(size, order, root, seed);
    std::vector<Rank> placed = cost_independent_order(size, BinomialOrder::standard, root, seed);
    if (order == BinomialOrder::standard) return placed;

    std::vector<bool> is_unplaced(size, true);
    is_unplaced[root.value] = false;
    const auto steps = static_cast<int>(std::bit_width(size - 1));
    const int far_step = order != BinomialOrder::channel_aware
                             ? -1
                             : std::min(static_cast<int>(std::bit_width(channels)), steps) - 1;
    for (int step = 0; step < steps; ++step) {
        const std::size_t half = std::size_t{1} << (steps - 1 - step);
        for (std::size_t position = 0; position + half < size; position += 2 * half) {
            const Rank parent = placed[position];
            Rank best{size};
            for (const Rank process : ids<Rank>(size)) {
                if (!is_unplaced[process.value]) continue;
                const bool better =
                    best.value == size || (step == far_step ? costs(parent, process) > costs(parent, best)
                                                            : costs(parent, process) < costs(parent, best));
                if (better) best = process;
            }
            placed[position + half] = best;
            is_unplaced[best.value] = false;
        }
    }
    return placed;
}

std::vector<Rank> measured_binomial_order(const CostMatrix& costs, BinomialOrder order, Rank root,
                                          std::uint32_t channels, std::uint64_t seed) {
    const CostGroups groups = find_cost_groups(costs);
    const bool depends = order == BinomialOrder::fastest_edge_first || order == BinomialOrder::channel_aware;
    if (depends && groups.groups.empty()) order = BinomialOrder::standard;
    return binomial_order(group_costs(costs, groups), order, root, channels, seed);
}

std::vector<double> binomial_scatter_steps(const CostMatrix& costs, const CostGroups& groups,
                                           std::span<const Rank> order, std::uint32_t channels,
                                           ChannelSharing sharing) {
    const std::size_t size = costs.size();
    check_channels(channels);
    std::vector<bool> is_listed(size, false);
    for (const Rank process : order) {
        if (process.value >= size || is_listed[process.value])
            fail("an order of ", size, " processes must contain each process once, not ", process.value,
                 process.value < size ? " twice" : "");
        is_listed[process.value] = true;
    }
    if (order.size() != size) fail("an order of ", order.size(), " processes, but there are ", size);

    std::vector<double> steps;
    for (std::size_t half = std::bit_ceil(size) / 2; half > 0; half /= 2) {
        std::map<std::pair<std::uint32_t, std::uint32_t>, SharedChannels> shared;
        for (std::size_t position = 0; position + half < size; position += 2 * half) {
            const Rank from = order[position];
            const Rank to = order[position + half];
            const auto blocks = static_cast<double>(std::min(half, size - position - half));
            std::pair<std::uint32_t, std::uint32_t> between{0, 0};
            if (sharing != ChannelSharing::node)
                between = std::minmax(groups.of[from.value], groups.of[to.value]);
            shared[between].add(blocks * costs(from, to));
        }
        double longest = 0;
        for (const auto& [between, messages] : shared) {
            const bool inside =
                sharing == ChannelSharing::growing && groups.count > 1 && between.first == between.second;
            longest = std::max(longest, messages.time(inside ? 1 : channels, sharing));
        }
        steps.push_back(longest);
    }
    return steps;
}

}  // namespace topoloom
