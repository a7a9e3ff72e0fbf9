// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/strategy/strategy.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/base/extents.hpp"
#include "topoloom/execute/compile.hpp"
#include "topoloom/schedule/collectives/shapes/seats.hpp"
#include "topoloom/schedule/orders/fitted_schedules.hpp"
#include "topoloom/strategy/candidates.hpp"
#include "topoloom/strategy/schedule_times.hpp"
#include "topoloom/strategy/usual_schedule.hpp"

namespace topoloom {

namespace {

/// Larger messages are costed as if they had this size: beyond it decisions no longer change, and sums stay
/// finite.
constexpr std::int64_t most_bytes = std::int64_t{1} << 30;
constexpr std::int64_t steps_of_class = 16;

std::int64_t clamp_bytes(Operation operation, Bytes bytes) {
    if (bytes.value < 0)
        fail(operation_name(operation), ": ", bytes.value, " bytes; there must be 0 or more");
    return operation == Operation::barrier ? 0 : std::clamp(bytes.value, std::int64_t{1}, most_bytes);
}

/// Rounds down to one of 16 steps between two powers of two.
std::int64_t round_down_to_step(std::int64_t bytes) {
    const auto least = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes)));
    return bytes - bytes % std::max<std::int64_t>(least / steps_of_class, 1);
}

/// A call for checking whether a schedule supports it.
Call make_probe_call(Operation operation, std::size_t ranks, Bytes bytes = Bytes{0}) {
    Call call{operation, ranks, bytes};
    if (is_many_to_many(operation)) call.demand = std::make_shared<const Demand>(ranks, 0, Bytes{0});
    return call;
}

bool supports_call(const std::string& schedule, Operation operation, std::size_t ranks) {
    try {
        (void)make_schedule(make_probe_call(operation, ranks), schedule);
        return true;
    } catch (const Error&) {
        return false;
    }
}

struct GridOption {
    Extents grid;
    void visit(auto& field) { field("grid", grid, ""); }
};

/// A rank count that the schedule supports: the one that its options imply, else eight, which all schedules
/// support.
std::size_t choose_probe_ranks(const NamedOptions& named) {
    if (const auto seats = named.options.find("seats"); seats != named.options.end())
        return Seats(seats->second).ranks();
    const auto grid = named.options.find("grid");
    if (grid == named.options.end()) return 8;
    const Extents extents = read_options<GridOption>(named.name, {{"grid", grid->second}}).grid;
    return std::min<std::uint64_t>(cell_count(extents), Seats::most);
}

std::uint64_t count_blocks(const AnySchedule& schedule) { return schedule.collective().block_count(); }

/// The schedule with two segments, if it segments data. With more segments, it behaves as with two.
AnySchedule make_two_segment_schedule(Operation operation, std::size_t ranks, const std::string& schedule) {
    constexpr std::int64_t longest_segment = 1 << 30;
    const AnySchedule whole = make_schedule(make_probe_call(operation, ranks), schedule);
    for (std::int64_t bytes = 1; bytes <= 2 * longest_segment; bytes *= 2) {
        AnySchedule cut = make_schedule(make_probe_call(operation, ranks, Bytes{bytes}), schedule);
        if (count_blocks(cut) > count_blocks(whole)) return cut;
    }
    return whole;
}

/// Whether the schedule reduces in rank order; false if the check would take more than about 0.1 s.
bool can_keep_rank_order(const AnySchedule& schedule) {
    constexpr std::uint64_t most_blocks = 1 << 20;  // limit of blocks, summed over all ranks
    const std::uint64_t rounds = schedule.rounds();
    const std::uint64_t blocks = schedule.collective().block_count() * schedule.collective().ranks();
    return (rounds <= 1 || blocks <= most_blocks) && keeps_rank_order(schedule);
}

/// Lists the schedules fitted to the nodes; with concurrent calls, to those of the first call.
std::vector<std::string> list_fitted_schedules(const CostBasis& basis, std::size_t ranks) {
    if (basis.machine == nullptr) return {};
    std::vector<Node> nodes;
    for (const Slot slot : std::span(basis.slots).first(ranks)) nodes.push_back(basis.machine->node(slot));
    return fitted_schedules(*basis.machine, nodes);
}

/// Replaces `linear` in calls along lines of a grid, whose ranks continue with another dimension. With
/// `linear`, all ranks except the root finish after one message and then delay other ranks, which costs up to
/// a third. `linear` itself gains only a few percent (bench/process_grids).
const std::string& replace_linear_on_lines(const Call& call, const CostBasis& basis,
                                           std::span<const std::string> texts, const std::string& linear) {
    constexpr double most_ratio = 1.05;
    const auto time_of = [&](const std::string& text) {
        return schedule_cost(make_schedule(call, text), basis).time;
    };
    const std::string& other = find_fastest(call, basis, texts, [&](const std::string& text) {
        return text != linear && supports_call(text, call.operation, call.ranks);
    });
    return time_of(other) <= most_ratio * time_of(linear) ? other : linear;
}

std::string format_count(std::size_t count, std::string_view noun) {
    return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace

void check_schedule_text(const std::string& text) {
    const NamedOptions named = read_named_options("schedule", text);
    const std::size_t ranks = choose_probe_ranks(named);
    std::vector<std::string> names;
    for (const ScheduleEntry& entry : schedules()) {
        names.emplace_back(entry.name);
        if (entry.name != named.name) continue;
        if (std::ranges::any_of(entry.operations,
                                [&](Operation operation) { return supports_call(text, operation, ranks); }))
            return;
        (void)make_schedule(make_probe_call(entry.operations.front(), ranks), text);
    }
    throw Error(unknown_name_message("schedule", std::string(named.name), names));
}

Strategy::Strategy(std::size_t ranks, CostBasis basis)
    : calls_(1), ranks_(ranks), basis_(std::move(basis)), fitted_(list_fitted_schedules(basis_, ranks_)) {}

Strategy::Strategy(const Setting& setting)
    : calls_(setting.concurrent_calls),
      ranks_(setting.ranks / calls_),
      basis_(find_cost_basis(setting)),
      fitted_(list_fitted_schedules(basis_, ranks_)),
      schedule_(setting.schedule) {
    if (!setting.decisions.empty()) {
        try {
            table_ = DecisionTable(setting.decisions);
        } catch (const Error& error) {
            fail("the decision table: ", error.what());
        }
    }
    if (!schedule_.empty()) check_schedule_text(schedule_);
    description_ = format_count(setting.ranks, "rank") + " on " + format_count(basis_.nodes, "node") +
                   (basis_.machine_is_given ? " of " + basis_.machine->text() : "") +
                   (basis_.placement_is_given ? ", placed by a file" : "") + ", schedules by " +
                   (schedule_.empty() ? "" : "name, " + schedule_ + ", else by ") +
                   (table_.empty() ? "" : "a decision table, else by ") +
                   (basis_.machine_is_given ? "the machine's routes" : "what messages cost");
}

const std::string& Strategy::choose(Operation operation, Bytes bytes, bool in_rank_order) {
    const std::int64_t size = clamp_bytes(operation, bytes);
    const std::lock_guard hold(guard_);
    const std::string* given = find_prescribed(operation, Bytes{std::max(size, bytes.value)}, in_rank_order);
    return given != nullptr ? *given : find_fastest_of_class(operation, size, in_rank_order);
}

bool Strategy::saves_time(Operation operation, Bytes bytes, bool in_rank_order, double round_delay) {
    const std::int64_t size = clamp_bytes(operation, bytes);
    const std::lock_guard hold(guard_);
    if (find_prescribed(operation, Bytes{std::max(size, bytes.value)}, in_rank_order) != nullptr) return true;
    if (basis_.nodes == 1 || is_many_to_many(operation)) return false;
    constexpr double run_by_us =
        0.2e-6;  // overhead over an MPI library for short calls of two ranks: bench/preloaded
    const PredictedTimes& times = predict_class(operation, round_down_to_step(size), in_rank_order, nullptr);
    return times.usual &&
           *times.usual > times.ours.time + run_by_us + static_cast<double>(times.ours.rounds) * round_delay;
}

std::optional<PredictedTimes> Strategy::predict(Operation operation, Bytes bytes, bool in_rank_order) {
    const std::int64_t size = clamp_bytes(operation, bytes);
    const std::lock_guard hold(guard_);
    if (basis_.nodes == 1 || is_many_to_many(operation)) return std::nullopt;
    const std::string* given = find_prescribed(operation, Bytes{std::max(size, bytes.value)}, in_rank_order);
    return predict_class(operation, round_down_to_step(size), in_rank_order, given);
}

Bytes Strategy::round_size(Operation operation, Bytes bytes) {
    return Bytes{round_down_to_step(clamp_bytes(operation, bytes))};
}

bool Strategy::is_schedule_named(Operation operation, bool in_rank_order) {
    const std::lock_guard hold(guard_);
    return !schedule_.empty() && is_suitable(operation, schedule_, in_rank_order);
}

std::vector<TimedSchedule> Strategy::timed_schedules(Operation operation, Bytes bytes, bool in_rank_order) {
    constexpr double most_ratio = 30;
    const std::lock_guard hold(guard_);
    const std::tuple key{operation, bytes.value, in_rank_order};
    if (const auto found = timed_.find(key); found != timed_.end()) return found->second;
    std::vector<TimedSchedule> timed;
    const Call call = make_probe_call(operation, ranks_, bytes);
    for (const std::string& text :
         select_schedules_within(most_ratio, call, basis_, candidates(call, fitted_))) {
        if (is_suitable(operation, text, in_rank_order))
            timed.push_back({&intern(text), predict_schedule_parts(make_schedule(call, text), basis_)});
    }
    return timed_.emplace(key, std::move(timed)).first->second;
}

const std::string* Strategy::find_prescribed(Operation operation, Bytes bytes, bool in_rank_order) {
    if (!schedule_.empty() && is_suitable(operation, schedule_, in_rank_order)) return &intern(schedule_);
    const std::string* decided = table_.find(operation, ranks_, bytes);
    return decided != nullptr && is_suitable(operation, *decided, in_rank_order) ? &intern(*decided)
                                                                                 : nullptr;
}

const PredictedTimes& Strategy::predict_class(Operation operation, std::int64_t bytes, bool in_rank_order,
                                              const std::string* given) {
    const std::tuple key{operation, bytes, in_rank_order, given};
    if (const auto found = predicted_.find(key); found != predicted_.end()) return found->second;
    const Call call = make_probe_call(operation, ranks_, Bytes{bytes});
    const std::string usual = usual_schedule(call);
    PredictedTimes times;
    if (is_suitable(operation, usual, in_rank_order)) {
        const std::string& chosen =
            given != nullptr ? *given : find_fastest_of_class(operation, bytes, in_rank_order);
        times.ours = schedule_cost(make_schedule(call, chosen), basis_);
        times.usual = schedule_cost(make_schedule(call, usual), basis_).time;
    }
    return predicted_.emplace(key, times).first->second;
}

const std::string& Strategy::find_fastest_of_class(Operation operation, std::int64_t bytes,
                                                   bool in_rank_order) {
    if (bytes == 0) return find_fastest_at(operation, 0, in_rank_order);
    const auto least = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes)));
    const std::string& at_least = find_fastest_at(operation, least, in_rank_order);
    if (bytes == least || &at_least == &find_fastest_at(operation, 2 * least, in_rank_order)) return at_least;
    return find_fastest_at(operation, round_down_to_step(bytes), in_rank_order);
}

const std::string& Strategy::find_fastest_at(Operation operation, std::int64_t bytes, bool in_rank_order) {
    const std::tuple key{operation, bytes, in_rank_order};
    if (const auto found = fastest_.find(key); found != fastest_.end()) return *found->second;
    const Call call = make_probe_call(operation, ranks_, Bytes{bytes});
    const std::vector<std::string> texts = candidates(call, fitted_);
    const auto is_suitable_text = [&](const std::string& text) {
        return is_suitable(operation, text, in_rank_order);
    };
    // The demand of a many-to-many is unknown here, so combining cannot be evaluated; uses direct messages.
    const std::string* found = &intern(
        is_many_to_many(operation) ? texts.back() : find_fastest(call, basis_, texts, is_suitable_text));
    const bool continues_after_call =
        calls_ > 1 && (operation == Operation::gather || operation == Operation::scatter);
    if (continues_after_call && *found == "linear")
        found = &intern(replace_linear_on_lines(call, basis_, texts, *found));
    fastest_.emplace(key, found);
    return *found;
}

bool Strategy::is_suitable(Operation operation, const std::string& schedule, bool in_rank_order) {
    const std::pair key{operation, schedule};
    auto found = suits_.find(key);
    if (found == suits_.end())
        found = suits_.emplace(key, Suitability{supports_call(schedule, operation, ranks_), {}}).first;
    Suitability& known = found->second;
    if (!in_rank_order || !known.at_all) return known.at_all;
    if (!known.in_rank_order)
        known.in_rank_order = can_keep_rank_order(make_two_segment_schedule(operation, ranks_, schedule));
    return *known.in_rank_order;
}

}  // namespace topoloom
