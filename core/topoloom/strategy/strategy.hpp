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

/// Predicted times of a call in seconds.
struct PredictedTimes {
    ScheduleCost ours;            // of the chosen schedule
    std::optional<double> usual;  // of an MPI library's usual schedule; none if it does not support the call
};

/// Throws Error if the name or the options of a schedule are invalid for all rank counts.
void check_schedule_text(const std::string& text);

/// Chooses in this order: the schedule that the setting names, if it supports the call; the decision table;
/// the schedule with the lowest predicted cost. A size between two powers of two gets the schedule that is
/// fastest at both. If different ones are, it is rounded down to one of 16 steps, and gets the fastest there.
/// Calls may run concurrently.
class Strategy {
   public:
    /// Throws Error for an invalid setting; see find_cost_basis(), DecisionTable and make_schedule().
    explicit Strategy(const Setting& setting);
    /// Chooses only by predicted cost.
    Strategy(std::size_t ranks, CostBasis basis);

    /// Chooses a schedule, as text for make_schedule(). `bytes` is defined as in Collective. With
    /// `in_rank_order`, the schedule must support non-commutative operators. Depends only on the arguments
    /// and the setting. Each text exists once and lives as long as the strategy. Throws Error for bytes < 0.
    [[nodiscard]] const std::string& choose(Operation operation, Bytes bytes, bool in_rank_order);

    /// Whether the chosen schedule saves time: it comes from the setting or a decision table, or it beats an
    /// MPI library's usual schedule (usual_schedule.hpp) by more than its overhead. The overhead includes
    /// `round_delay` seconds per round. If all ranks are on one node, only schedules from the setting or a
    /// decision table save time. Depends only on the arguments and the setting. Throws Error when choose()
    /// does.
    [[nodiscard]] bool saves_time(Operation operation, Bytes bytes, bool in_rank_order, double round_delay);

    /// Predicts the times that saves_time() compares. None if they are unknown: for many-to-many operations, and
    /// if all ranks are on one node. Depends only on the arguments and the setting. Throws Error when choose()
    /// does.
    [[nodiscard]] std::optional<PredictedTimes> predict(Operation operation, Bytes bytes, bool in_rank_order);

    /// Whether saves_time() can be true for any call.
    [[nodiscard]] bool can_save_time() const {
        return basis_.nodes > 1 || !schedule_.empty() || !table_.empty();
    }

    /// Rounds bytes down to one of 16 sizes per doubling. Throws Error for bytes < 0.
    [[nodiscard]] static Bytes round_size(Operation operation, Bytes bytes);

    /// Whether choose() returns the schedule named by the setting, for all sizes.
    [[nodiscard]] bool is_schedule_named(Operation operation, bool in_rank_order);

    /// All schedules that may be the fastest even if the network model is inaccurate: the suitable
    /// candidates(), except those whose time without routes is over 30 times the smallest. Texts are those of
    /// choose(). Must not be called for many-to-many operations, whose times are unknown. Depends only on the
    /// arguments and the setting. Results are cached per size, so pass sizes from round_size().
    [[nodiscard]] std::vector<TimedSchedule> timed_schedules(Operation operation, Bytes bytes,
                                                             bool in_rank_order);

    [[nodiscard]] const CostBasis& basis() const { return basis_; }

    /// The node number of each rank.
    [[nodiscard]] std::vector<std::size_t> nodes() const { return basis_.node_of_rank(ranks_ * calls_); }

    /// One line of text: machine, ranks, nodes, and the source of decisions.
    [[nodiscard]] const std::string& description() const { return description_; }

   private:
    /// Whether a schedule supports an operation on these ranks at all, and in rank order.
    struct Suitability {
        bool at_all = false;
        std::optional<bool> in_rank_order;  // none: not yet checked
    };

    /// The schedule that the setting or the decision table prescribes; null if neither does.
    [[nodiscard]] const std::string* find_prescribed(Operation operation, Bytes bytes, bool in_rank_order);
    /// `given` is the prescribed schedule; null: the fastest one.
    [[nodiscard]] const PredictedTimes& predict_class(Operation operation, std::int64_t bytes,
                                                      bool in_rank_order, const std::string* given);
    [[nodiscard]] const std::string& find_fastest_of_class(Operation operation, std::int64_t bytes,
                                                           bool in_rank_order);
    [[nodiscard]] const std::string& find_fastest_at(Operation operation, std::int64_t bytes,
                                                     bool in_rank_order);
    [[nodiscard]] bool is_suitable(Operation operation, const std::string& schedule, bool in_rank_order);
    [[nodiscard]] const std::string& intern(const std::string& text) { return *texts_.insert(text).first; }

    std::size_t calls_;  // at once
    std::size_t ranks_;  // of each
    CostBasis basis_;
    std::vector<std::string> fitted_;  // schedules fitted to the ranks' locations
    DecisionTable table_;
    std::string schedule_;
    std::string description_;
    std::mutex guard_;  // protects the following members
    std::set<std::string> texts_;
    std::map<std::tuple<Operation, std::int64_t, bool>, const std::string*> fastest_;
    std::map<std::pair<Operation, std::string>, Suitability> suits_;
    std::map<std::tuple<Operation, std::int64_t, bool>, std::vector<TimedSchedule>> timed_;
    std::map<std::tuple<Operation, std::int64_t, bool, const std::string*>, PredictedTimes> predicted_;
};

}  // namespace topoloom
