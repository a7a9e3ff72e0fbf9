// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/orders/binomial_order.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/base/rng.hpp"

namespace topoloom {

namespace {

constexpr double min_t = 5;

void check_channels(std::uint32_t channels) {
    if (channels == 0) fail("0 channels; there must be 1 or more");
}

/// The largest value of the faster of two classes whose variances add up to least.
double fast_class_end(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const auto count = static_cast<double>(values.size());
    double total = 0;
    for (const double value : values) total += value;
    double best = 0, end = values.back(), below = 0;
    for (std::size_t i = 1; i < values.size(); ++i) {
        below += values[i - 1];
        const auto fast = static_cast<double>(i);
        const double apart = below / fast - (total - below) / (count - fast);
        const double between = fast * (count - fast) * apart * apart;
        if (values[i] > values[i - 1] && between > best) {
            best = between;
            end = values[i - 1];
        }
    }
    return end;
}

double both_ways(const CostMatrix& costs, Rank a, Rank b) { return costs(a, b) + costs(b, a); }

/// The group whose other processes are the nearest to one.
std::uint32_t nearest_group(const CostMatrix& costs, const CostGroups& groups, Rank process) {
    std::vector<double> sum(groups.count, 0);
    std::vector<double> others(groups.count, 0);
    for (const Rank other : ids<Rank>(costs.size())) {
        if (other == process) continue;
        sum[groups.of[other.value]] += both_ways(costs, process, other);
        others[groups.of[other.value]] += 1;
    }
    std::uint32_t best = groups.of[process.value];
    for (std::uint32_t group = 0; group < groups.count; ++group) {
        // A group without others is left out.
        if (others[group] > 0 && (others[best] == 0 || sum[group] * others[best] < sum[best] * others[group]))
            best = group;
    }
    return best;
}

/// Student's t with pooled variance.
double student_t(const std::vector<double>& slow, const std::vector<double>& fast) {
    const auto mean = [](const std::vector<double>& values) {
        double sum = 0;
        for (const double value : values) sum += value;
        return sum / static_cast<double>(values.size());
    };
    const auto squares = [&](const std::vector<double>& values) {
        double sum = 0;
        for (const double value : values) sum += (value - mean(values)) * (value - mean(values));
        return sum;
    };
    const auto n = static_cast<double>(slow.size());
    const auto m = static_cast<double>(fast.size());
    const double variance = (squares(slow) + squares(fast)) / (n + m - 2);
    // Costs without any spread, as in models: groups by any difference.
    return (mean(slow) - mean(fast)) / std::sqrt(std::max(variance, 1e-300) * (1 / n + 1 / m));
}

/// Messages that share channels.
struct Shared {
    double sum = 0;      // of their seconds alone
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

/// Numbers groups by their lowest processes.
void renumber(CostGroups& groups) {
    std::map<std::uint32_t, std::uint32_t> number;
    for (std::uint32_t& group : groups.of)
        group = number.emplace(group, static_cast<std::uint32_t>(number.size())).first->second;
    groups.count = static_cast<std::uint32_t>(number.size());
}

}  // namespace

CostMatrix::CostMatrix(std::size_t size, std::vector<double> seconds)
    : size_(size), seconds_(std::move(seconds)) {
    if (size == 0) fail("costs of no processes");
    if (seconds_.size() != size * size)
        fail(seconds_.size(), " costs between ", size, " processes; give ", size * size);
    for (std::size_t i = 0; i < seconds_.size(); ++i) {
        if (!std::isfinite(seconds_[i]) || seconds_[i] < 0)
            fail("the cost from process ", i / size, " to ", i % size, " is ", seconds_[i],
                 "; it must be finite and not negative");
    }
}

CostGroups find_cost_groups(const CostMatrix& costs) {
    const std::size_t size = costs.size();
    const auto one = [&] { return CostGroups{std::vector<std::uint32_t>(size, 0), 1, {}}; };
    if (size < 4) return one();
    std::vector<double> values;
    for (const Rank a : ids<Rank>(size)) {
        for (const Rank b : ids<Rank>(a.value)) values.push_back(both_ways(costs, a, b));
    }
    const double end = fast_class_end(std::move(values));

    CostGroups groups{std::vector<std::uint32_t>(size, no_index), 0, {}};
    for (const Rank a : ids<Rank>(size)) {
        if (groups.of[a.value] != no_index) continue;
        groups.of[a.value] = groups.count;
        for (const Rank b : ids<Rank>(size)) {
            if (groups.of[b.value] == no_index && both_ways(costs, a, b) <= end)
                groups.of[b.value] = groups.count;
        }
        ++groups.count;
    }
    for (int pass = 0; pass < 10; ++pass) {
        std::vector<std::uint32_t> next;
        for (const Rank process : ids<Rank>(size)) next.push_back(nearest_group(costs, groups, process));
        if (next == groups.of) break;
        groups.of = std::move(next);
    }
    renumber(groups);
    if (groups.count == 1) return one();

    for (std::uint32_t group = 0; group < groups.count; ++group) {
        std::vector<double> inside, into;
        for (const Rank to : ids<Rank>(size)) {
            if (groups.of[to.value] != group) continue;
            for (const Rank from : ids<Rank>(size)) {
                if (from != to) (groups.of[from.value] == group ? inside : into).push_back(costs(from, to));
            }
        }
        if (inside.empty()) return one();
        groups.t.push_back(student_t(into, inside));
        if (groups.t.back() < min_t) return one();
    }
    return groups;
}

std::vector<Rank> binomial_order(const CostMatrix& costs, BinomialOrder order, Rank root,
                                 std::uint32_t channels, std::uint64_t seed) {
    const std::size_t size = costs.size();
    if (root.value >= size) fail("the root ", root.value, " is not a process; they are 0 to ", size - 1);
    check_channels(channels);
    std::vector<Rank> placed;
    for (std::size_t i = 0; i < size; ++i) placed.push_back(Rank{(root.value + i) % size});
    if (order == BinomialOrder::standard) return placed;
    if (order == BinomialOrder::random) {
        Rng(seed).shuffle(std::span(placed).subspan(1));
        return placed;
    }

    std::vector<bool> left(size, true);
    left[root.value] = false;
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
                if (!left[process.value]) continue;
                const bool better =
                    best.value == size || (step == far_step ? costs(parent, process) > costs(parent, best)
                                                            : costs(parent, process) < costs(parent, best));
                if (better) best = process;
            }
            placed[position + half] = best;
            left[best.value] = false;
        }
    }
    return placed;
}

std::vector<double> binomial_scatter_steps(const CostMatrix& costs, const CostGroups& groups,
                                           std::span<const Rank> order, std::uint32_t channels,
                                           ChannelSharing sharing) {
    const std::size_t size = costs.size();
    check_channels(channels);
    std::vector<bool> seen(size, false);
    for (const Rank process : order) {
        if (process.value >= size || seen[process.value])
            fail("an order of ", size, " processes has each of them once, not ", process.value,
                 process.value < size ? " twice" : "");
        seen[process.value] = true;
    }
    if (order.size() != size) fail("an order of ", order.size(), " processes, but there are ", size);

    std::vector<double> steps;
    for (std::size_t half = std::bit_ceil(size) / 2; half > 0; half /= 2) {
        std::map<std::pair<std::uint32_t, std::uint32_t>, Shared> shared;
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
