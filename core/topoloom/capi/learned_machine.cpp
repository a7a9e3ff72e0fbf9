// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/capi/learned_machine.hpp"

#include <algorithm>
#include <numeric>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/text/machine_text.hpp"

namespace topoloom {

namespace {

constexpr std::uint64_t max_slots = 1 << 26;  // limit of slots, because placements store one byte per slot

/// Sorts processes by their groups, outermost first, then by number.
std::vector<std::size_t> sort_by_groups(const Groups& groups) {
    std::vector<std::size_t> order(groups.processes);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        return std::ranges::lexicographical_compare(groups.of(a), groups.of(b));
    });
    return order;
}

/// The first level at which two processes are in different groups; `levels` if they share all groups.
std::size_t find_first_differing_level(const Groups& groups, std::size_t a, std::size_t b) {
    const auto of_a = groups.of(a);
    return static_cast<std::size_t>(std::ranges::mismatch(of_a, groups.of(b)).in1 - of_a.begin());
}

/// For each process and level, the number of its group inside the parent group; the last level numbers the
/// processes. The first `merged` levels are merged into the next one.
class GroupNumbers {
   public:
    GroupNumbers(const Groups& groups, std::size_t merged)
        : width_(groups.levels + 1), digits_(groups.processes * width_) {
        const std::vector<std::size_t> order = sort_by_groups(groups);
        for (std::size_t i = 1; i < order.size(); ++i) {
            const std::size_t level =
                std::max(find_first_differing_level(groups, order[i - 1], order[i]), merged);
            const std::uint32_t* before = of(order[i - 1]);
            std::uint32_t* here = &digits_[order[i] * width_];
            std::copy_n(before, level, here);
            here[level] = before[level] + 1;
        }
    }
    [[nodiscard]] const std::uint32_t* of(std::size_t process) const { return &digits_[process * width_]; }
    /// The largest number of parts of a group, by level.
    [[nodiscard]] std::vector<std::uint32_t> arities() const {
        std::vector<std::uint32_t> arity(width_, 1);
        for (std::size_t i = 0; i < digits_.size(); ++i)
            arity[i % width_] = std::max(arity[i % width_], digits_[i] + 1);
        return arity;
    }

   private:
    std::size_t width_;
    std::vector<std::uint32_t> digits_;
};

/// The number of slots, limited to max_slots + 1.
std::uint64_t count_slots(const std::vector<std::uint32_t>& arity) {
    std::uint64_t product = 1;
    for (const std::uint32_t a : arity) product = std::min(product * a, max_slots + 1);
    return product;
}

std::string format_arity(const std::vector<std::uint32_t>& numbers) {
    std::string text;
    for (const std::uint32_t number : numbers) text += (text.empty() ? "" : ":") + std::to_string(number);
    return text;
}

/// Uses the same distances inside nodes as `topoloom machine detect`.
std::string format_tree(const std::vector<std::uint32_t>& arity, std::size_t node_level) {
    constexpr std::uint32_t node_cost = 16;
    std::vector<std::uint32_t> network, inside, distance;
    for (std::size_t l = arity.size(); l-- > 0;) {
        if (arity[l] == 1) continue;
        if (l <= node_level) {
            network.push_back(arity[l]);
            continue;
        }
        inside.push_back(arity[l]);
        distance.push_back(std::max(node_cost >> std::min<std::size_t>(l - node_level - 1, 31), 1U));
    }
    if (network.empty()) network.push_back(1);
    std::string text = "tree:" + format_arity(network);
    if (inside.empty()) return text;
    distance.push_back(node_cost);  // of a hop
    return text + "+node:" + format_arity(inside) + ",distance=" + format_arity(distance);
}

/// The machine text with each slot divided into `parts` slots at distance 0.
std::string divide_slots(std::string text, std::uint32_t parts) {
    const std::string factor = std::to_string(parts);
    const std::size_t node = text.find("+node:");
    if (node == std::string::npos) return text + "+node:" + factor;
    const std::string_view distance = ",distance=";
    if (const std::size_t at = text.find(distance, node); at != std::string::npos)
        text.insert(at + distance.size(), "0:");
    return text.insert(node + 6, factor + ":");
}

}  // namespace

MappedProcesses learn_machine(const Groups& groups, std::size_t node_level) {
    if (groups.processes == 0) fail("there are no processes");
    if (node_level >= groups.levels)
        fail("the node is level ", node_level, " of only ", groups.levels, " levels");
    std::size_t merged = 0;
    GroupNumbers group_numbers(groups, merged);
    while (count_slots(group_numbers.arities()) > max_slots) {
        if (++merged > node_level) fail("the nodes of the job differ too much to be put into one tree");
        group_numbers = GroupNumbers(groups, merged);
    }
    const std::vector<std::uint32_t> arity = group_numbers.arities();
    MappedProcesses mapped{format_tree(arity, node_level), {}};
    mapped.slots.reserve(groups.processes);
    for (std::size_t p = 0; p < groups.processes; ++p) {
        std::uint32_t slot = 0;
        for (std::size_t l = 0; l < arity.size(); ++l) slot = slot * arity[l] + group_numbers.of(p)[l];
        mapped.slots.push_back(Slot{slot});
    }
    return mapped;
}

MappedProcesses map_to_machine(std::string_view text, const Groups& groups) {
    if (groups.processes == 0) fail("there are no processes");
    if (groups.levels == 0) fail("the nodes of the processes are not given");
    const Machine given = make_machine(text);
    std::vector<std::uint32_t> processes_on_node(given.node_count());
    for (std::size_t p = 0; p < groups.processes; ++p) {
        const std::int64_t node = groups.of(p)[0];
        if (node < 0 || static_cast<std::uint64_t>(node) >= given.node_count())
            fail("process ", p, " is on node ", node, ", but the machine has ", given.node_count(), " nodes");
        ++processes_on_node[static_cast<std::size_t>(node)];
    }
    const std::uint32_t most = *std::ranges::max_element(processes_on_node), slots = given.slots_per_node();
    const std::uint32_t parts = (most + slots - 1) / slots;
    const std::uint32_t node_slots = slots * parts;
    if (std::uint64_t{node_slots} * given.node_count() > max_slots)
        fail(most, " processes on a node are too many for a machine of ", given.node_count(), " nodes");
    MappedProcesses mapped{parts == 1 ? std::string(text) : divide_slots(std::string(text), parts),
                           std::vector<Slot>(groups.processes)};
    std::vector<std::uint32_t> assigned_on_node(given.node_count());
    for (const std::size_t p : sort_by_groups(groups)) {
        const auto node = static_cast<std::uint32_t>(groups.of(p)[0]);
        // If a node has more slots than processes, processes are assumed to be spread evenly over the slots.
        const std::uint64_t local =
            std::uint64_t{assigned_on_node[node]++} * node_slots / processes_on_node[node];
        mapped.slots[p] = Slot{node * node_slots + static_cast<std::uint32_t>(local)};
    }
    return mapped;
}

}  // namespace topoloom
