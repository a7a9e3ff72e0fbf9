// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/tasks/tasks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

void check_graph(const Tasks& tasks) {
    if (tasks.graph != nullptr && tasks.graph->rank_count() != tasks.loads.size())
        fail("there are loads of ", tasks.loads.size(), " tasks, but messages of ",
             tasks.graph->rank_count());
    if (!(tasks.periods > 0) || !std::isfinite(tasks.periods))
        fail("the number of periods must be above 0, not ", tasks.periods);
    if (tasks.machine != nullptr && tasks.slots.size() != tasks.ranks)
        fail("there are ", tasks.ranks, " ranks, but slots of ", tasks.slots.size());
}

}  // namespace

void check_tasks(const Tasks& tasks) {
    if (tasks.ranks == 0) fail("there are no ranks");
    const bool sized = !tasks.bytes.empty();
    if ((sized && tasks.bytes.size() != tasks.loads.size()) || tasks.owners.size() != tasks.loads.size())
        fail("there are loads of ", tasks.loads.size(), " tasks, but bytes of ", tasks.bytes.size(),
             " and owners of ", tasks.owners.size());
    if (!(tasks.tolerance >= 0) || !std::isfinite(tasks.tolerance))
        fail("the tolerance must be 0 or more, not ", tasks.tolerance);
    double all_bytes = 0;
    for (std::size_t i = 0; i < tasks.loads.size(); ++i) {
        if (!(tasks.loads[i] >= 0) || !std::isfinite(tasks.loads[i]))
            fail("task ", i, " has a load of ", tasks.loads[i], "; loads are finite and at least 0");
        if (tasks.owners[i].value >= tasks.ranks)
            fail("task ", i, " is on rank ", tasks.owners[i].value, "; ranks are 0 to ", tasks.ranks - 1);
        if (!sized) continue;
        if (tasks.bytes[i] < 0) fail("task ", i, " has ", tasks.bytes[i], " bytes; it has at least 0");
        if (tasks.bytes[i] > tasks.memory)
            fail("task ", i, " has ", tasks.bytes[i], " bytes, and a rank has memory for ", tasks.memory);
        all_bytes += static_cast<double>(tasks.bytes[i]);
    }
    if (all_bytes >= 0x1p62) fail("the bytes of all tasks add up to 2^62 or more");
    if (all_bytes > static_cast<double>(tasks.memory) * static_cast<double>(tasks.ranks))
        fail("tasks have ", static_cast<std::int64_t>(all_bytes), " bytes, and the memory of all ranks is ",
             tasks.memory * static_cast<std::int64_t>(tasks.ranks));
    check_graph(tasks);
}

std::vector<double> sum_rank_loads(const Tasks& tasks, std::span<const Rank> owners) {
    std::vector<double> loads(tasks.ranks);
    for (std::size_t task = 0; task < owners.size(); ++task) loads[owners[task].value] += tasks.loads[task];
    return loads;
}

double load_limit(const Tasks& tasks) {
    const double sum = std::accumulate(tasks.loads.begin(), tasks.loads.end(), 0.0);
    const double mean = sum / static_cast<double>(tasks.ranks);
    const double largest = tasks.loads.empty() ? 0 : *std::ranges::max_element(tasks.loads);
    return std::max(mean * (1 + tasks.tolerance), largest) * (1 + load_rounding);
}

}  // namespace topoloom
