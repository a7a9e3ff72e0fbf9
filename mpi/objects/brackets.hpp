// SPDX-License-Identifier: BSD-3-Clause
// A many-to-many of objects: what is gathered, turn by turn, and what is known of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "combining.hpp"
#include "message.hpp"
#include "topoloom_scheduler.hpp"

namespace topoloom::objects {

struct Bracket {
    struct Carried {
        int to = 0;  // the rank
        Message* message = nullptr;
        bool is_own = false;  // inserted here, and not passed on
    };
    /// From the first message to the last of one use.
    struct Turn {
        Turn() = default;
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        ~Turn();
        std::uint64_t done = 0;  // objects
        std::uint64_t inserted = 0,
                      expected = 0;  // messages that are here, and those of objects that are done
        bool is_open = false, has_begun = false, has_sent = false, is_closed = false;
        std::size_t stage = 0;
        std::vector<std::uint64_t> came;  // combined messages, by stage
        std::vector<Carried> held;
    };
    /// Since the last fence.
    struct Seen {
        std::int64_t turns = 0, peers = 0, bytes = 0;
    };

    std::uint32_t array = 0;
    ManyToManyOptions options;
    Learned learned;
    Stages stages;
    std::vector<std::uint64_t> senders;  // that a rank hears from, by stage
    bool some_are_empty = false;         // ranks without objects
    std::map<std::uint32_t, Turn> turns;
    Seen seen;
};

}  // namespace topoloom::objects
