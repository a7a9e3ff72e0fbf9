// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/orders/cost_groups.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/schedule/orders/average_linkage.hpp"

namespace topoloom {

namespace {

constexpr std::size_t tried_cuts = 8;
constexpr int reassignments = 10;
constexpr double rounding = 1e-9;
constexpr double most_apart = 1.1;  // maximum ratio between the times of the two directions of a pair

using Numbers = std::vector<std::uint32_t>;

void check_probability(double p) {
    if (!(p > 0 && p < 1)) fail("p is ", p, "; a probability of errors must be above 0 and below 1");
}

/// A partition of items into groups numbered from 0.
struct Partition {
    Numbers of;
    std::uint32_t count = 1;
    double log_chance = 0;
};

/// Numbers groups in order of their lowest item.
void renumber(Partition& parts) {
    std::map<std::uint32_t, std::uint32_t> number;
    for (std::uint32_t& group : parts.of)
        group = number.emplace(group, static_cast<std::uint32_t>(number.size())).first->second;
    parts.count = static_cast<std::uint32_t>(number.size());
}

/// Times between some processes, using the faster direction of each pair.
class PairTimes {
   public:
    PairTimes(const CostMatrix& costs, const std::vector<Rank>& members)
        : size_(members.size()), times_(size_ * size_) {
        std::vector<double> sorted;
        for (std::size_t a = 0; a < size_; ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                const double time = std::min(costs(members[a], members[b]), costs(members[b], members[a]));
                times_[a * size_ + b] = times_[b * size_ + a] = time;
                sorted.push_back(time);
            }
        }
        // Two groups have at least 2 (size - 2) pairs between them, so half as many outliers leave half of
        // the pairs.
        const auto longest = sorted.end() - static_cast<std::ptrdiff_t>(size_ - 1);
        std::nth_element(sorted.begin(), longest, sorted.end());
        longest_ = *longest;
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] double time(std::size_t a, std::size_t b) const { return times_[a * size_ + b]; }
    /// The pair's time, except that the size - 2 longest times are replaced by the longest of the others.
    [[nodiscard]] double clipped_time(std::size_t a, std::size_t b) const {
        return std::min(time(a, b), longest_);
    }

   private:
    std::size_t size_;
    std::vector<double> times_;
    double longest_ = 0;
};

/// Numbers of merges after which the variance between intra-group and inter-group times is largest, in
/// descending order of variance.
std::vector<std::size_t> best_cuts(const std::vector<ClusterMerge>& merges) {
    double sum = 0, count = 0;
    for (const ClusterMerge& joint : merges) {
        sum += joint.sum;
        count += joint.count;
    }
    double inside_sum = 0, inside = 0;
    std::vector<std::pair<double, std::size_t>> cuts;
    for (std::size_t first = 1; first < merges.size(); ++first) {
        inside_sum += merges[first - 1].sum;
        inside += merges[first - 1].count;
        const double apart = (sum - inside_sum) / (count - inside) - inside_sum / inside;
        if (apart > rounding * sum / count)
            cuts.emplace_back(-inside * (count - inside) * apart * apart, first);
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.resize(std::min(cuts.size(), tried_cuts));
    std::vector<std::size_t> found;
    for (const auto& [variance, first] : cuts) found.push_back(first);
    return found;
}

/// The group whose processes, apart from this one, are closest to this process.
std::uint32_t nearest_group(const PairTimes& pairs, const Partition& parts, std::size_t process) {
    std::vector<double> sum(parts.count, 0);
    std::vector<double> other_count(parts.count, 0);
    for (std::size_t other = 0; other < pairs.size(); ++other) {
        if (other == process) continue;
        sum[parts.of[other]] += pairs.clipped_time(process, other);
        other_count[parts.of[other]] += 1;
    }
    std::uint32_t best = parts.of[process];
    for (std::uint32_t group = 0; group < parts.count; ++group) {
        // A group with a single process is skipped.
        if (other_count[group] > 0 &&
            (other_count[best] == 0 || sum[group] * other_count[best] < sum[best] * other_count[group]))
            best = group;
    }
    return best;
}

void move_to_nearest(const PairTimes& pairs, Partition& parts) {
    for (int pass = 0; pass < reassignments; ++pass) {
        Numbers next;
        for (std::size_t process = 0; process < pairs.size(); ++process)
            next.push_back(nearest_group(pairs, parts, process));
        if (next == parts.of) break;
        parts.of = std::move(next);
    }
    renumber(parts);
}

/// Upper bound on the logarithm of the number of partitions into this number of groups.
double log_partition_count(std::size_t items, std::uint32_t groups) {
    return static_cast<double>(items) * std::log(groups) - std::lgamma(groups + 1.0);
}

class GroupSplitter {
   public:
    GroupSplitter(const CostMatrix& costs, double significance)
        : costs_(costs), significance_(significance) {}

    /// Groups of these processes, and their p-value if all processes are alike.
    std::pair<std::vector<CostGroup>, double> split(const std::vector<Rank>& members) const {
        if (members.size() < 4) return {{}, 1};
        const PairTimes pairs(costs_, members);
        Numbers alone(members.size());
        std::iota(alone.begin(), alone.end(), 0U);
        std::optional<Partition> parts = find_parts(pairs, {alone, static_cast<std::uint32_t>(alone.size())});
        if (!parts) return {{}, 1};
        // The groups found may be nested; keep only the outermost.
        while (parts->count > 2) {
            std::optional<Partition> outer = find_parts(pairs, *parts);
            if (!outer) break;
            parts = std::move(outer);
        }
        std::vector<CostGroup> groups(parts->count);
        for (std::size_t i = 0; i < members.size(); ++i) groups[parts->of[i]].members.push_back(members[i]);
        for (CostGroup& group : groups) {
            fill_samples(group, members);
            std::tie(group.groups, group.chance) = split(group.members);
        }
        return {std::move(groups), std::exp(std::min(parts->log_chance, 0.0))};
    }

   private:
    /// Partitions items (processes or groups of processes) into groups; returns the best partition that is
    /// not rejected.
    std::optional<Partition> find_parts(const PairTimes& pairs, const Partition& items) const {
        MeanDistances distances(items.count);
        for (std::size_t a = 0; a < pairs.size(); ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                if (items.of[a] != items.of[b])
                    distances.add(items.of[a], items.of[b], pairs.clipped_time(a, b));
            }
        }
        const std::vector<ClusterMerge> merges = average_linkage(std::move(distances));
        for (const std::size_t first : best_cuts(merges)) {
            const Numbers clusters = find_clusters(merges, first);
            Partition parts;
            for (const std::uint32_t item : items.of) parts.of.push_back(clusters[item]);
            parts.count = static_cast<std::uint32_t>(clusters.size() - first);
            if (items.count == pairs.size()) move_to_nearest(pairs, parts);
            if (parts.count > 1 && is_significant(pairs, items, parts)) return parts;
        }
        return {};
    }

    bool is_significant(const PairTimes& pairs, const Partition& items, Partition& parts) const {
        std::vector<double> inside, across;
        std::vector<std::vector<double>> inside_of(parts.count), into(parts.count);
        for (std::size_t a = 0; a < pairs.size(); ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                if (items.of[a] == items.of[b]) continue;
                const double time = pairs.time(a, b);
                const bool together = parts.of[a] == parts.of[b];
                (together ? inside : across).push_back(time);
                (together ? inside_of : into)[parts.of[a]].push_back(time);
                if (!together) into[parts.of[b]].push_back(time);
            }
        }
        const StudentTest whole = student_test(summarize(std::move(across)), summarize(std::move(inside)));
        parts.log_chance =
            whole.log_p + log_partition_count(items.count, parts.count) + std::log(items.count);
        const double share = static_cast<double>(pairs.size()) / static_cast<double>(costs_.size());
        if (!(whole.t > 0 && parts.log_chance <= std::log(significance_ * share))) return false;
        for (std::uint32_t group = 0; group < parts.count; ++group) {
            if (inside_of[group].empty()) {
                if (items.count == pairs.size()) return false;  // a process alone
                continue;
            }
            const StudentTest own =
                student_test(summarize(std::move(into[group])), summarize(std::move(inside_of[group])));
            if (!(own.t > 0 && own.log_p <= std::log(significance_))) return false;
        }
        return true;
    }

    void fill_samples(CostGroup& group, const std::vector<Rank>& around) const {
        std::vector<double> inside, into;
        for (const Rank to : group.members) {
            for (const Rank from : around) {
                if (from == to) continue;
                const bool member = std::binary_search(group.members.begin(), group.members.end(), from);
                (member ? inside : into).push_back(costs_(from, to));
            }
        }
        group.inside = summarize(std::move(inside));
        group.into = summarize(std::move(into));
        group.test = student_test(group.into, group.inside);
    }

    const CostMatrix& costs_;
    double significance_;
};

/// Messages between two groups, or within a group that is not split.
struct MessageBlock {
    const std::vector<Rank>* some;
    const std::vector<Rank>* others;
    Sample sample;

    /// Both ways.
    template <class Visit>
    void each(const Visit& visit) const {
        for (const Rank a : *some) {
            for (const Rank b : *others) {
                if (a == b) continue;
                visit(a, b);
                if (some != others) visit(b, a);
            }
        }
    }
};

Sample summarize_block(const CostMatrix& costs, const MessageBlock& block) {
    std::vector<double> times;
    block.each([&](Rank from, Rank to) { times.push_back(costs(from, to)); });
    // With two times, a median cannot show which one was disturbed.
    if (times.size() == 2 && std::max(times[0], times[1]) > most_apart * std::min(times[0], times[1]))
        return summarize({std::min(times[0], times[1])});
    return summarize(std::move(times));
}

void list_blocks(const CostMatrix& costs, const std::vector<Rank>& members,
                 const std::vector<CostGroup>& groups, std::vector<MessageBlock>& blocks) {
    const auto add = [&](const std::vector<Rank>& some, const std::vector<Rank>& others) {
        MessageBlock block{&some, &others, {}};
        block.sample = summarize_block(costs, block);
        if (block.sample.count > 0) blocks.push_back(block);
    };
    if (groups.empty()) add(members, members);
    for (auto group = groups.begin(); group != groups.end(); ++group) {
        list_blocks(costs, group->members, group->groups, blocks);
        for (auto other = groups.begin(); other != group; ++other) add(group->members, other->members);
    }
}

/// Statistics of the union of two samples.
Sample combine_samples(const Sample& a, const Sample& b) {
    const auto n = static_cast<double>(a.count);
    const auto m = static_cast<double>(b.count);
    const double apart = b.mean - a.mean;
    const double squares = (n - 1) * a.sigma * a.sigma + (m - 1) * b.sigma * b.sigma;
    return {a.mean + apart * (m / (n + m)),
            std::sqrt((squares + apart * apart * (n * m / (n + m))) / (n + m - 1)), a.count + b.count,
            a.outliers + b.outliers};
}

}  // namespace

CostGroups find_cost_groups(const CostMatrix& costs, double significance) {
    check_probability(significance);
    CostGroups found;
    std::tie(found.groups, found.chance) =
        GroupSplitter(costs, significance).split(id_list<Rank>(costs.size()));
    found.of.assign(costs.size(), 0);
    for (std::uint32_t group = 0; group < found.groups.size(); ++group) {
        for (const Rank process : found.groups[group].members) found.of[process.value] = group;
    }
    found.count = std::max(1U, static_cast<std::uint32_t>(found.groups.size()));
    return found;
}

CostMatrix group_costs(const CostMatrix& costs, const CostGroups& groups, double significance) {
    check_probability(significance);
    const std::size_t size = costs.size();
    if (groups.of.size() != size) fail("groups of ", groups.of.size(), " processes, but costs of ", size);
    const std::vector<Rank> all = id_list<Rank>(size);
    std::vector<MessageBlock> blocks;
    list_blocks(costs, all, groups.groups, blocks);
    std::ranges::stable_sort(blocks, {}, [](const MessageBlock& block) { return block.sample.mean; });
    const double least_log_p = std::log(significance) - 2 * std::log(std::max<std::size_t>(1, blocks.size()));
    std::vector<double> seconds(size * size, 0);
    for (auto first = blocks.begin(); first != blocks.end();) {
        Sample alike = first->sample;
        auto end = first + 1;
        for (; end != blocks.end(); ++end) {
            if (student_test(end->sample, alike).log_p <= least_log_p) break;
            alike = combine_samples(alike, end->sample);
        }
        for (; first != end; ++first)
            first->each([&](Rank from, Rank to) { seconds[from.value * size + to.value] = alike.mean; });
    }
    return {size, std::move(seconds)};
}

}  // namespace topoloom
