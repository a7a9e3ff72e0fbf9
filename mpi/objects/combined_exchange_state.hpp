// SPDX-License-Identifier: BSD-3-Clause
// The state, on one rank, of a many-to-many exchange whose messages are combined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "exchange_stages.hpp"
#include "message.hpp"
#include "topoloom_scheduler.hpp"

namespace topoloom::objects {

struct CombinedExchange {
    struct HeldMessage {
        int to = 0;  // destination rank
        Message* message = nullptr;
        bool is_own = false;  // whether the message was inserted on this rank
    };
    /// One use of the exchange, from its first to its last message.
    struct Round {
        Round() = default;
        Round(const Round&) = delete;
        Round& operator=(const Round&) = delete;
        ~Round();
        std::uint64_t done_objects = 0;
        std::uint64_t inserted = 0, expected = 0;  // messages inserted on this rank by objects that are done
        bool is_open = false, has_begun = false, has_sent = false, is_complete = false;
        std::size_t stage = 0;
        std::vector<std::uint64_t> received;  // number of combined messages received, by stage
        std::vector<HeldMessage> held;
    };
    /// Totals since the last fence.
    struct Totals {
        std::int64_t rounds = 0, peers = 0, bytes = 0;
    };

    std::uint32_t array = 0;
    ManyToManyOptions options;
    ManyToManyChoice choice;
    ExchangeStages stages;
    std::vector<std::uint64_t> senders;  // number of ranks that send to this rank, by stage
    bool has_empty_ranks = false;        // without objects
    std::map<std::uint32_t, Round> rounds;
    Totals totals;
};

}  // namespace topoloom::objects
