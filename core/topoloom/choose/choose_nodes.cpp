// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/choose/choose_nodes.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/allocations/compact_nodes.hpp"
#include "topoloom/machine/allocations/full_boxes.hpp"
#include "topoloom/place/effort.hpp"
#include "topoloom/place/local/anneal.hpp"
#include "topoloom/place/structure/structure.hpp"

namespace topoloom {

namespace {

class NodeChooser {
   public:
    NodeChooser(const CommGraph& graph, const Allocation& free, std::size_t count, std::string_view chain,
                std::uint64_t seed, int threads, const Budget& budget)
        : graph_(graph),
          free_(free),
          machine_(free.machine()),
          bare_machine_(machine_.topology(), NodeSpec{}, machine_.text()),
          bare_free_(bare_machine_, {free.nodes().begin(), free.nodes().end()}),
          count_(count),
          chain_(chain),
          seed_(seed),
          threads_(threads),
          budget_(budget),
          timed_{.seconds = budget.seconds, .keep_going = budget.keep_going},
          clock_(timed_),
          position_(machine_.node_count(), 0) {
        for (std::size_t i = 0; i < free.nodes().size(); ++i)
            position_[free.nodes()[i].value] = static_cast<std::uint32_t>(i);
    }

    ChosenNodes run() {
        const std::vector<Node> first(free_.nodes().begin(),
                                      free_.nodes().begin() + static_cast<std::ptrdiff_t>(count_));
        first_value_ = place_on(first, chain_, 0.15);
        if (clock_.poll()) random_value_ = place_on(random_nodes(), chain_, 0.15);
        if (count_ == free_.nodes().size()) return take_result();
        if (clock_.poll()) place_on(compact_nodes(free_, count_, seed_), auto_chain(Effort::fast), 0.05);
        if (clock_.poll()) try_boxes(0.1);
        if (clock_.poll()) move_nodes(place_tasks_on_free_nodes(0.25));
        if (clock_.poll()) move_nodes(anneal_tasks_on_free_nodes(0.2));
        if (clock_.poll()) place_on(chosen_, chain_, 0.1);
        return take_result();
    }

   private:
    /// The ranks of every used node, combined into one task per node.
    struct NodeTasks {
        CommGraph graph;
        std::vector<Node> node;  // of a task
        std::vector<std::uint32_t> task_of_rank;
    };

    [[nodiscard]] ChosenNodes take_result() {
        return {Allocation(machine_, chosen_),
                std::move(*placement_),
                value_,
                first_value_,
                random_value_,
                clock_.work_done()};
    }

    [[nodiscard]] Problem make_problem_on(const Allocation& allocation) const {
        return {graph_, allocation, seed_, threads_};
    }

    /// The budget of the next step: a share of the total work, and a part of the remaining time. Time saved
    /// by one step thus benefits the next. Work is a share of the total, so that it does not depend on the
    /// number of threads.
    [[nodiscard]] Budget take_step_budget(double share) {
        constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
        Budget part;
        if (budget_.work != unlimited)
            part.work = static_cast<std::uint64_t>(static_cast<double>(budget_.work) * share);
        part.seconds = clock_.remaining().seconds * std::min(1.0, share / share_left_);
        part.keep_going = [this](std::uint64_t) { return clock_.poll(); };
        share_left_ -= share;
        return part;
    }

    std::int64_t place_on(std::vector<Node> nodes, std::string_view chain, double share) {
        const Allocation allocation(machine_, nodes);
        const Problem problem = make_problem_on(allocation);
        PlaceResult result = place(problem, chain, take_step_budget(share));
        clock_.spend(result.work);
        return offer(problem, std::move(nodes), std::move(result.placement));
    }

    [[nodiscard]] std::vector<Node> random_nodes() const {
        std::vector<Node> nodes(free_.nodes().begin(), free_.nodes().end());
        Rng(seed_).shuffle(std::span(nodes));
        nodes.resize(count_);
        sort_in_free_order(nodes);
        return nodes;
    }

    /// Tries boxes of free nodes, which often suit structured patterns best. All boxes of one shape are
    /// equivalent.
    void try_boxes(double share) {
        constexpr std::size_t max_boxes = 64;
        const Budget part = take_step_budget(share);
        Meter meter(part);
        for (std::vector<Node>& nodes : full_boxes(free_, count_, max_boxes)) {
            if (meter.is_exhausted() || !clock_.poll()) break;
            sort_in_free_order(nodes);
            const Allocation allocation(machine_, nodes);
            const Problem problem = make_problem_on(allocation);
            std::optional<structure::StructuredPlacement> structured =
                structure::place_by_structure(problem, meter);
            if (!structured) break;
            offer(problem, std::move(nodes), std::move(structured->placement));
        }
        clock_.spend(meter.work_done());
    }

    void sort_in_free_order(std::vector<Node>& nodes) const {
        std::ranges::sort(nodes, {}, [&](Node node) { return position_[node.value]; });
    }

    std::int64_t offer(const Problem& problem, std::vector<Node> nodes, Placement placement) {
        const std::int64_t value = problem.value(placement.slots());
        if (placement_ && value >= value_) return value;
        chosen_ = std::move(nodes);
        placement_ = std::move(placement);
        value_ = value;
        return value;
    }

    [[nodiscard]] NodeTasks make_tasks() const {
        std::vector<std::uint32_t> task_of_node(machine_.node_count(), no_index);
        std::vector<Node> nodes;
        std::vector<std::uint32_t> task_of_rank;
        for (const Slot slot : placement_->slots()) {
            const Node node = machine_.node(slot);
            if (task_of_node[node.value] == no_index) {
                task_of_node[node.value] = static_cast<std::uint32_t>(nodes.size());
                nodes.push_back(node);
            }
            task_of_rank.push_back(task_of_node[node.value]);
        }
        std::vector<std::vector<Rank>> members(nodes.size());
        for (const Rank rank : ids<Rank>(graph_.rank_count()))
            members[task_of_rank[rank.value]].push_back(rank);
        CommGraph graph = CommGraph::from_rows(
            nodes.size(),
            [&](Rank task, const auto& add) {
                for (const Rank rank : members[task.value]) {
                    for (const Edge edge : graph_.sends(rank)) {
                        const Rank peer{task_of_rank[edge.peer.value]};
                        if (peer != task) add(Edge{peer, edge.bytes, edge.messages});
                    }
                }
            },
            {}, threads_);
        return {std::move(graph), std::move(nodes), std::move(task_of_rank)};
    }

    /// The tasks, and the nodes to which they move.
    struct PlacedTasks {
        NodeTasks tasks;
        Placement target;  // in bare_machine_, where slots are nodes
    };

    [[nodiscard]] PlacedTasks place_tasks_on_free_nodes(double share) {
        NodeTasks all = make_tasks();
        const Problem problem(all.graph, bare_free_, seed_, threads_);
        PlaceResult result = place(problem, chain_, take_step_budget(share));
        clock_.spend(result.work);
        return {std::move(all), std::move(result.placement)};
    }

    [[nodiscard]] PlacedTasks anneal_tasks_on_free_nodes(double share) {
        NodeTasks all = make_tasks();
        const Problem problem(all.graph, bare_free_, seed_, threads_);
        std::vector<Slot> start;
        for (const Node node : all.node) start.emplace_back(node.value);
        // Without a budget, limits annealing to a few seconds.
        const auto count = static_cast<double>(all.graph.rank_count());
        const double degree = static_cast<double>(problem.symmetric().edge_count()) / count;
        const double sweeps = std::clamp(2e8 / (9 + degree) / count, 16.0, 10'000.0);
        const Budget part = take_step_budget(share);
        const bool limited = Meter(part).is_limited();
        const local::AnnealOptions options{.sweeps = limited ? 0U : static_cast<std::uint32_t>(sweeps),
                                           .heat = 60};
        Meter meter(part);
        Placement target = local::improve_by_annealing(problem, Placement(bare_free_, start), meter, options);
        clock_.spend(meter.work_done());
        return {std::move(all), std::move(target)};
    }

    /// Moves each task, that is all ranks of a node, to its target node.
    void move_nodes(const PlacedTasks& move) {
        std::vector<Slot> slots;
        std::vector<Node> nodes;
        std::vector<char> taken(machine_.node_count(), 0);
        for (const Slot slot : move.target.slots()) {
            nodes.emplace_back(slot.value);
            taken[slot.value] = 1;
        }
        for (const Rank rank : ids<Rank>(graph_.rank_count())) {
            const Node target = nodes[move.tasks.task_of_rank[rank.value]];
            slots.push_back(machine_.slot(target, (*placement_)[rank].value % machine_.slots_per_node()));
        }
        for (std::size_t i = 0; nodes.size() < count_; ++i) {
            if (!taken[free_.nodes()[i].value]) nodes.push_back(free_.nodes()[i]);
        }
        sort_in_free_order(nodes);
        const Allocation allocation(machine_, nodes);
        offer(make_problem_on(allocation), std::move(nodes), Placement(allocation, std::move(slots)));
    }

    const CommGraph& graph_;
    const Allocation& free_;
    const Machine& machine_;
    Machine bare_machine_;  // the same network with one slot per node
    Allocation bare_free_;
    std::size_t count_;
    std::string_view chain_;
    std::uint64_t seed_;
    int threads_;
    const Budget& budget_;
    Budget timed_;  // the budget without its work limit, because each step has its own
    Meter clock_;
    double share_left_ = 1;
    std::vector<std::uint32_t> position_;  // index of each node among the free nodes
    std::vector<Node> chosen_;
    std::optional<Placement> placement_;
    std::int64_t value_ = 0;
    std::int64_t first_value_ = 0;
    std::optional<std::int64_t> random_value_;
};

}  // namespace

ChosenNodes choose_nodes(const CommGraph& graph, const Allocation& free, std::size_t count,
                         std::string_view chain, std::uint64_t seed, int threads, const Budget& budget) {
    const std::size_t nodes = free.nodes().size();
    const std::size_t slots = free.machine().slots_per_node();
    if (count == 0 || count > nodes) {
        fail("cannot choose ", count, " of ", nodes, " nodes; ask for 1 to ", nodes);
    }
    if (free.slot_count() != nodes * slots)
        fail("nodes can be chosen only where all of their slots are free");
    if (graph.rank_count() > count * slots) {
        fail(graph.rank_count(), " ranks do not fit on ", count, " nodes with ", slots,
             " slots each; choose ", (graph.rank_count() + slots - 1) / slots, " or more");
    }
    return NodeChooser(graph, free, count, chain, seed, threads, budget).run();
}

}  // namespace topoloom
