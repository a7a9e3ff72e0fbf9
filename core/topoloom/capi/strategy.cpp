// SPDX-License-Identifier: BSD-3-Clause
// C interface of strategies.
#include "topoloom/capi/strategy.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/capi/error_boundary.hpp"
#include "topoloom/capi/topoloom_schedules.h"
#include "topoloom/strategy/share_strategy.hpp"

using namespace topoloom;

namespace {

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

/// The base name of an operation: allgather for MPI_Iallgatherv_init.
std::string strip_operation_name(std::string_view name) {
    std::string letters;
    for (const char c : name) {
        if (c != '-' && c != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    std::string_view bare = letters;
    if (bare.starts_with("mpi")) bare.remove_prefix(3);
    if (bare.starts_with("i")) bare.remove_prefix(1);
    for (const std::string_view end : {"init", "block", "v", "w"}) {
        if (bare.ends_with(end)) bare.remove_suffix(end.size());
    }
    return std::string(bare);
}

Operation parse_any_operation(std::string_view name) {
    for (int number = TOPOLOOM_BCAST; number <= TOPOLOOM_EXSCAN; ++number) {
        const auto operation = static_cast<Operation>(number);
        if (strip_operation_name(operation_name(operation)) == strip_operation_name(name)) return operation;
    }
    return parse_operation(name);
}

}  // namespace

Operation topoloom::check_operation(topoloom_operation operation) {
    if (operation < TOPOLOOM_BCAST || operation > TOPOLOOM_EXSCAN)
        fail("no operation has the number ", static_cast<int>(operation));
    return static_cast<Operation>(operation);
}

int topoloom_strategy_make(const topoloom_setting* setting, topoloom_strategy** strategy, char* error,
                           size_t error_size) {
    return run_guarded(error, error_size, [&] {
        Setting given{.ranks = setting->ranks,
                      .machine = text_or_empty(setting->machine),
                      .placement = text_or_empty(setting->placement),
                      .decisions = text_or_empty(setting->decisions),
                      .schedule = text_or_empty(setting->schedule),
                      .locations = {}};
        if (setting->locations != nullptr)
            given.locations.assign(setting->locations, setting->locations + setting->ranks);
        *strategy = new topoloom_strategy(std::move(given));
    });
}

int topoloom_strategy_for_concurrent_calls(const topoloom_strategy* whole, size_t calls,
                                           const uint32_t* ranks, topoloom_strategy** strategy, char* error,
                                           size_t error_size) {
    return run_guarded(error, error_size, [&] {
        const std::size_t all = whole->setting.ranks;
        if (calls == 0 || all % calls != 0)
            fail(all, " ranks cannot be divided equally among ", calls, " calls");
        Setting given = whole->setting;
        given.concurrent_calls = calls;
        given.locations.clear();
        for (std::size_t i = 0; i < all; ++i) {
            if (ranks[i] >= all) fail("rank ", ranks[i], " is none of the ", all, " ranks");
            const auto itself = static_cast<std::int64_t>(ranks[i]);
            given.locations.push_back(whole->setting.locations.empty() ? itself
                                                                       : whole->setting.locations[ranks[i]]);
        }
        *strategy = new topoloom_strategy(std::move(given));
    });
}

void topoloom_strategy_nodes(const topoloom_strategy* strategy, int64_t* node) {
    const std::vector<std::size_t> nodes = strategy->shared->nodes();
    std::ranges::copy(nodes, node);
}

int topoloom_strategy_choose(topoloom_strategy* strategy, enum topoloom_operation operation, int64_t bytes,
                             int in_rank_order, const char** schedule, char* error, size_t error_size) {
    return run_guarded(error, error_size, [&] {
        *schedule =
            strategy->shared->choose(check_operation(operation), Bytes{bytes}, in_rank_order != 0).c_str();
    });
}

int topoloom_strategy_saves_time(topoloom_strategy* strategy, enum topoloom_operation operation,
                                 int64_t bytes, int in_rank_order, double round_delay, int* helps,
                                 char* error, size_t error_size) {
    return run_guarded(error, error_size, [&] {
        *helps = strategy->shared->saves_time(check_operation(operation), Bytes{bytes}, in_rank_order != 0,
                                              round_delay);
    });
}

int topoloom_strategy_predict(topoloom_strategy* strategy, enum topoloom_operation operation, int64_t bytes,
                              int in_rank_order, double* ours, double* usual, char* error,
                              size_t error_size) {
    return run_guarded(error, error_size, [&] {
        const std::optional<PredictedTimes> times =
            strategy->shared->predict(check_operation(operation), Bytes{bytes}, in_rank_order != 0);
        const bool is_known = times && times->usual;
        *ours = is_known ? times->ours.time : -1;
        *usual = is_known ? *times->usual : -1;
    });
}

int topoloom_strategy_can_save_time(const topoloom_strategy* strategy) {
    return strategy->shared->can_save_time() ? 1 : 0;
}

const char* topoloom_strategy_description(const topoloom_strategy* strategy) {
    return strategy->shared->description().c_str();
}

void topoloom_strategy_free(topoloom_strategy* strategy) { delete strategy; }

int topoloom_parse_operation(const char* name, enum topoloom_operation* operation, char* error,
                             size_t error_size) {
    return run_guarded(error, error_size,
                       [&] { *operation = static_cast<topoloom_operation>(parse_any_operation(name)); });
}
