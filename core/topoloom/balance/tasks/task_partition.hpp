// SPDX-License-Identifier: BSD-3-Clause
// A partition of a level among ranks: loads, cost and gains of moves.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "topoloom/balance/tasks/task_levels.hpp"

namespace topoloom {

/// Distance between ranks: the distance of their slots plus a sixteenth, the cost of an intra-node byte; 1
/// without a machine.
class RankDistance {
   public:
    explicit RankDistance(const Tasks& tasks);

    [[nodiscard]] bool is_uniform() const { return tasks_.machine == nullptr; }
    [[nodiscard]] double operator()(Part a, Part b) const {
        if (a == b) return 0;
        if (is_uniform()) return 1;
        return table_.empty() ? distance_between(a, b)
                              : static_cast<double>(table_[a.value * tasks_.ranks + b.value]);
    }

   private:
    [[nodiscard]] double distance_between(Part a, Part b) const {
        return tasks_.machine->distance(tasks_.slots[a.value], tasks_.slots[b.value]) + byte_inside_node;
    }
    const Tasks& tasks_;
    std::vector<float> table_;  // distances of all pairs of ranks; empty for many ranks
};

struct VertexMove {
    Part to;
    double gain;
};

class TaskPartition {
   public:
    /// Keeps references to all arguments except the parts. A rank may exceed the limit by `slack`, because
    /// coarse vertices rarely fit exactly.
    TaskPartition(const Tasks& tasks, const RankDistance& distance, const TaskLevel& level,
                  std::vector<Part> part, double slack = 0);

    [[nodiscard]] const TaskLevel& level() const { return level_; }
    [[nodiscard]] const RankDistance& distance() const { return distance_; }
    [[nodiscard]] std::size_t ranks() const { return load_.size(); }
    [[nodiscard]] Part operator[](Vertex v) const { return part_[v.value]; }
    [[nodiscard]] const std::vector<Part>& part_of_vertex() const { return part_; }
    [[nodiscard]] double load(Part rank) const { return load_[rank.value]; }
    [[nodiscard]] double limit() const { return limit_; }

    /// The larger of a rank's relative excess over its load limit and that over its memory.
    [[nodiscard]] double excess(Part rank) const;
    [[nodiscard]] bool exceeds(Part rank) const {
        return load_[rank.value] > limit_ || bytes_[rank.value] > memory_;
    }
    [[nodiscard]] bool any_exceeds() const;
    [[nodiscard]] bool has_room(Part rank, Vertex v) const {
        return load_[rank.value] + level_.load[v.value] <= limit_ &&
               level_.bytes[v.value] <= memory_ - bytes_[rank.value];
    }

    /// Cost of messages and migrations: bytes times distance. O(edges).
    [[nodiscard]] double cost() const;
    [[nodiscard]] double gain(Vertex v, Part to);
    /// Finds the best move of a vertex to a rank with room, among the ranks of its neighbors, the owners of
    /// its tasks, and `more`; none if no such rank exists.
    [[nodiscard]] std::optional<VertexMove> best_move(Vertex v, std::span<const Part> more = {});
    void move(Vertex v, Part to);

    /// Whether a neighbor of the vertex is on another rank, or one of the vertex's tasks has another owner.
    [[nodiscard]] bool has_remote_neighbor(Vertex v) const;
    /// Calls the poll callback; an exception from it ends the search.
    void poll() const {
        if (poll_) poll_();
    }

   private:
    void gather_pulls(Vertex v);
    [[nodiscard]] double gain_from_pulls(Part from, Part to) const;

    const RankDistance& distance_;
    const TaskLevel& level_;
    const std::function<void()>& poll_;
    double periods_;
    double limit_;
    std::int64_t memory_;
    std::vector<Part> part_;
    std::vector<double> load_;
    std::vector<std::int64_t> bytes_;
    std::vector<double> pull_;   // bytes between the current vertex and each rank
    std::vector<Part> pulling_;  // ranks with such bytes, in the order of discovery
};

}  // namespace topoloom
