// SPDX-License-Identifier: BSD-3-Clause
// Strategies for C.
#include "topoloom/capi/strategy.hpp"

#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/capi/guarded.hpp"
#include "topoloom/capi/topoloom_schedules.h"
#include "topoloom/strategy/shared.hpp"

using namespace topoloom;

namespace {

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

/// Without what MPI puts around it: allgather of MPI_Iallgatherv_init.
std::string plain(std::string_view name) {
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
    return bare == "bcast" ? "broadcast" : std::string(bare);
}

Operation operation_named(std::string_view name) {
    for (int number = TOPOLOOM_BROADCAST; number <= TOPOLOOM_EXSCAN; ++number) {
        const auto operation = static_cast<Operation>(number);
        if (plain(operation_name(operation)) == plain(name)) return operation;
    }
    return parse_operation(name);
}

}  // namespace

Operation topoloom::checked_operation(topoloom_operation operation) {
    if (operation < TOPOLOOM_BROADCAST || operation > TOPOLOOM_EXSCAN)
        fail("no operation has the number ", static_cast<int>(operation));
    return static_cast<Operation>(operation);
}

int topoloom_strategy_make(const topoloom_setting* setting, topoloom_strategy** strategy, char* error,
                           size_t error_size) {
    return guarded(error, error_size, [&] {
        Setting given{setting->ranks,
                      text_or_empty(setting->machine),
                      text_or_empty(setting->placement),
                      text_or_empty(setting->decisions),
                      text_or_empty(setting->schedule),
                      {}};
        if (setting->seats != nullptr) given.seats.assign(setting->seats, setting->seats + setting->ranks);
        *strategy = new topoloom_strategy{share_strategy(std::move(given))};
    });
}

int topoloom_strategy_choose(topoloom_strategy* strategy, enum topoloom_operation operation, int64_t bytes,
                             int in_rank_order, const char** schedule, char* error, size_t error_size) {
    return guarded(error, error_size, [&] {
        *schedule =
            strategy->shared->choose(checked_operation(operation), Bytes{bytes}, in_rank_order != 0).c_str();
    });
}

const char* topoloom_strategy_about(const topoloom_strategy* strategy) {
    return strategy->shared->about().c_str();
}

void topoloom_strategy_free(topoloom_strategy* strategy) { delete strategy; }

int topoloom_operation_named(const char* name, enum topoloom_operation* operation, char* error,
                             size_t error_size) {
    return guarded(error, error_size,
                   [&] { *operation = static_cast<topoloom_operation>(operation_named(name)); });
}
