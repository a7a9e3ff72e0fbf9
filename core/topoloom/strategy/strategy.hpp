// SPDX-License-Identifier: BSD-3-Clause
// Chooses the schedules of one communicator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "topoloom/base/unit.hpp"
#include "topoloom/schedule/collective.hpp"
#include "topoloom/strategy/cost_basis.hpp"
#include "topoloom/strategy/decision_table.hpp"
#include "topoloom/strategy/schedule_times.hpp"
#include "topoloom/strategy/setting.hpp"

namespace topoloom {

/// A schedule and the parts of its predicted time.
struct TimedSchedule {
    const std::string* text;
    ScheduleParts parts;
};

/// Throws Error for the name of a schedule, or options, that are never right, whatever the number of ranks.
void check_schedule_text(const std::string& text);

/// A schedule that the setting names wins where it does the operation for these ranks, then the decision table, then the
/// fastest by what messages cost. Sizes from one power of two to the next take the schedule that is the fastest at both;
/// where two are, that at the largest of 16 steps between them that is not above the size. Calls may run at the same time.
class Strategy {
   public:
    /// Throws Error for a setting that is wrong; see find_cost_basis(), DecisionTable and make_schedule().
    explicit Strategy(const Setting& setting);
    /// By predicted cost alone.
    Strategy(std::size_t ranks, CostBasis basis);

    /// A schedule for make_schedule(), `bytes` as in Collective; in rank order if the operator is not commutative. Depends on
    /// these arguments and the setting alone. One object for each text, which lives as long as the strategy. Throws Error
    /// for bytes < 0.
    [[nodiscard]] const std::string& choose(Operation operation, Bytes bytes, bool in_rank_order);

    /// Whether a call gains by that schedule: if the setting names it or its table has it, and else if it is faster
    /// than what an MPI library does by more than running it costs (usual_schedule.hpp), and by `round_delay` seconds
    /// for each of its rounds. On one node, where messages pass its memory, nothing else gains. Depends on the same.
    /// Throws as that does.
    [[nodiscard]] bool saves_time(Operation operation, Bytes bytes, bool in_rank_order, double round_delay);

    /// Whether saves_time() may hold for any call.
    [[nodiscard]] bool can_save_time() const {
        return basis_.nodes > 1 || !schedule_.empty() || !table_.empty();
    }

    /// One of 16 sizes between two powers of two that stands for this one. Throws Error for bytes < 0.
    [[nodiscard]] static Bytes size_of(Operation operation, Bytes bytes);

    /// Whether choose() takes the schedule that the setting names, whatever the size.
    [[nodiscard]] bool is_named(Operation operation, bool in_rank_order);

    /// All schedules that may be the fastest, however wrong what is known of the network: those of candidates() that suit,
    /// but not what takes 30 times as long as another by its messages alone. Texts are those of choose(). Depends on the
    /// arguments and the setting alone. Not for many-to-many operations, of which no time is known. Each
    /// answer is kept: ask for sizes that size_of() gives.
    [[nodiscard]] std::vector<TimedSchedule> timed_schedules(Operation operation, Bytes bytes,
                                                             bool in_rank_order);

    [[nodiscard]] const CostBasis& basis() const { return basis_; }

    /// By rank, the number of its node.
    [[nodiscard]] std::vector<std::size_t> nodes() const { return basis_.node_of_rank(ranks_ * calls_); }

    /// One line: machine, ranks, nodes, and the source of decisions.
    [[nodiscard]] const std::string& description() const { return description_; }

   private:
    /// Whether a schedule does the operation for these ranks, and in rank order.
    struct Suitability {
        bool at_all = false;
        std::optional<bool> in_rank_order;  // once it was asked for
    };

    /// Null if the setting gives no schedule.
    [[nodiscard]] const std::string* given_for(Operation operation, Bytes bytes, bool in_rank_order);
    [[nodiscard]] bool gains(Operation operation, std::int64_t bytes, bool in_rank_order, double round_delay);
    [[nodiscard]] const std::string& fastest_of_class(Operation operation, std::int64_t bytes,
                                                      bool in_rank_order);
    [[nodiscard]] const std::string& fastest_at(Operation operation, std::int64_t bytes, bool in_rank_order);
    [[nodiscard]] bool suits(Operation operation, const std::string& schedule, bool in_rank_order);
    [[nodiscard]] const std::string& intern(const std::string& text) { return *texts_.insert(text).first; }

    std::size_t calls_;  // at once
    std::size_t ranks_;  // of each
    CostBasis basis_;
    std::vector<std::string> fitted_;  // schedules to where ranks are
    DecisionTable table_;
    std::string schedule_;
    std::string description_;
    std::mutex guard_;  // of what follows
    std::set<std::string> texts_;
    std::map<std::tuple<Operation, std::int64_t, bool>, const std::string*> fastest_;
    std::map<std::pair<Operation, std::string>, Suitability> suits_;
    std::map<std::tuple<Operation, std::int64_t, bool>, std::vector<TimedSchedule>> timed_;
    std::map<std::tuple<Operation, std::int64_t, bool, double>, bool> gains_;
};

}  // namespace topoloom
