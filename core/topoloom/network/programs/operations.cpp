// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/programs/operations.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

/// Maximum number of operations that an error message lists of a dependency cycle.
constexpr std::size_t max_listed = 8;

/// Returns sender, receiver and tag of a message.
std::tuple<std::uint32_t, std::uint32_t, std::uint32_t> message_key(const RankOperation& operation) {
    const bool sends = operation.kind == RankOperation::Kind::send;
    const std::uint32_t own = operation.rank.value, peer = operation.peer.value;
    return {sends ? own : peer, sends ? peer : own, operation.tag};
}

/// The dependency graph, whose vertices are the start and the end of each operation.
struct DependencyGraph {
    static std::uint32_t start(OperationId id) { return 2 * id.value; }
    static std::uint32_t end(OperationId id) { return 2 * id.value + 1; }
    static OperationId operation(std::uint32_t time) { return OperationId{time / 2}; }

    const OperationGraph& graph;

    void for_each_after(std::uint32_t time, const auto& use) const {
        const OperationId id = operation(time);
        const RankOperation& one = graph[id];
        if (time == start(id)) {
            use(end(id));
            if (one.kind == RankOperation::Kind::send) use(end(one.match));
        }
        for (const OperationGraph::Dependent& dependent : graph.dependents(id))
            if (dependent.on_start == (time == start(id))) use(start(dependent.operation));
    }

    /// Removes vertices without dependences until none or only cycles remain. Returns the number of remaining
    /// dependences of each vertex.
    [[nodiscard]] std::vector<std::uint32_t> count_remaining_dependences(std::uint32_t vertex_count) const {
        std::vector<std::uint32_t> left(vertex_count, 0), ready;
        for (std::uint32_t time = 0; time < vertex_count; ++time)
            for_each_after(time, [&](std::uint32_t after) { ++left[after]; });
        for (std::uint32_t time = 0; time < vertex_count; ++time)
            if (left[time] == 0) ready.push_back(time);
        for (std::size_t done = 0; done < ready.size(); ++done)
            for_each_after(ready[done], [&](std::uint32_t after) {
                if (--left[after] == 0) ready.push_back(after);
            });
        return left;
    }

    /// Returns a cycle of operations, given the number of remaining dependences of each vertex.
    [[nodiscard]] std::vector<OperationId> find_cycle(const std::vector<std::uint32_t>& left) const {
        // Each remaining vertex waits for a remaining vertex, so following dependences backwards finds a cycle.
        const auto count = static_cast<std::uint32_t>(left.size());
        std::vector<std::uint32_t> before(count, no_index), seen(count, 0), way;
        for (std::uint32_t time = 0; time < count; ++time)
            if (left[time] > 0) for_each_after(time, [&](std::uint32_t after) { before[after] = time; });
        auto at = static_cast<std::uint32_t>(
            std::ranges::find_if(left, [](std::uint32_t waits) { return waits > 0; }) - left.begin());
        while (seen[at]++ == 0) at = before[at];
        for (std::uint32_t time = at; way.empty() || time != at; time = before[time]) way.push_back(time);
        std::vector<OperationId> circle;
        for (const std::uint32_t time : way)
            if (circle.empty() || circle.back() != operation(time)) circle.push_back(operation(time));
        if (circle.size() > 1 && circle.back() == circle.front()) circle.pop_back();
        return circle;
    }
};

}  // namespace

OperationGraph::OperationGraph(std::size_t ranks, std::vector<RankOperation> operations,
                               std::span<const Dependence> order)
    : ranks_(ranks), operations_(std::move(operations)), waits_(operations_.size()) {
    if (operations_.size() > no_index / 2)
        fail(operations_.size(), " operations are too many: at most ", no_index / 2, " are supported");
    first_.assign(operations_.size() + 1, 0);
    for (const Dependence& one : order) {
        ++first_[one.before.value + 1];
        ++waits_[one.after.value];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    dependents_.resize(order.size());
    std::vector<std::uint64_t> next(first_.begin(), first_.end() - 1);
    for (const Dependence& one : order) dependents_[next[one.before.value]++] = {one.after, one.on_start};
    match_messages();
    require_acyclic();
}

void OperationGraph::match_messages() {
    std::vector<OperationId> sends, receives;
    for (const OperationId id : ids<OperationId>(operations_.size())) {
        const RankOperation& one = operations_[id.value];
        if (one.kind == RankOperation::Kind::work) continue;
        if (one.peer.value >= ranks_)
            fail("line ", one.line, ": there is no rank ", one.peer.value, "; ranks are 0 to ", ranks_ - 1);
        (one.kind == RankOperation::Kind::send ? sends : receives).push_back(id);
    }
    const auto by_ends = [&](OperationId a, OperationId b) {
        return message_key(operations_[a.value]) < message_key(operations_[b.value]);
    };
    std::ranges::stable_sort(sends, by_ends);
    std::ranges::stable_sort(receives, by_ends);
    for (std::size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
        const bool is_sent = i < sends.size() && (i == receives.size() || !by_ends(receives[i], sends[i]));
        const bool is_received =
            i < receives.size() && (i == sends.size() || !by_ends(sends[i], receives[i]));
        if (!is_received) fail(name(sends[i]), " is not received");
        if (!is_sent) fail(name(receives[i]), " is not sent");
        RankOperation& send = operations_[sends[i].value];
        RankOperation& receive = operations_[receives[i].value];
        if (send.size != receive.size)
            fail(name(sends[i]), " is received as ", receive.size, " bytes in line ", receive.line);
        send.match = receives[i];
        receive.match = sends[i];
    }
}

void OperationGraph::require_acyclic() const {
    const DependencyGraph times{*this};
    const std::vector<std::uint32_t> left =
        times.count_remaining_dependences(static_cast<std::uint32_t>(2 * operations_.size()));
    if (std::ranges::count(left, 0U) == std::ssize(left)) return;
    const std::vector<OperationId> circle = times.find_cycle(left);
    std::string text;
    for (std::size_t i = 0; i < std::min(circle.size(), max_listed); ++i)
        text += (i == 0 ? "" : ", ") + name(circle[i]);
    if (circle.size() > max_listed) text += ", and " + std::to_string(circle.size() - max_listed) + " more";
    fail("operations wait for each other in a cycle, each for the next: ", text);
}

std::string OperationGraph::name(OperationId id) const {
    const RankOperation& one = operations_[id.value];
    const std::string where =
        " of rank " + std::to_string(one.rank.value) + " (line " + std::to_string(one.line) + ")";
    const std::string size = std::to_string(one.size), peer = std::to_string(one.peer.value);
    switch (one.kind) {
        case RankOperation::Kind::send:
            return "send " + size + "b to " + peer + where;
        case RankOperation::Kind::receive:
            return "recv " + size + "b from " + peer + where;
        case RankOperation::Kind::work:
            return "calc " + size + where;
    }
    return where;
}

}  // namespace topoloom
