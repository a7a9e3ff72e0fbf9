// SPDX-License-Identifier: BSD-3-Clause
// An index-gather: every rank requests ITEMS random entries of other ranks' tables, and stores each reply at
// the request's position. Requests have 8 bytes (entry, rank, position), replies 8 bytes (value, position).
// Included by other_libraries.cpp.
#pragma once

#include <vector>

#include "random_items.hpp"

class Gather {
   public:
    explicit Gather(long items) : items_(items), table_(entries), values_(static_cast<size_t>(items)) {
        for (uint32_t i = 0; i < entries; ++i) table_[i] = compute_value(rank, i);
    }

    void draw_targets(Draw draw) {
        for (long i = 0; i < items_; ++i) {
            const uint64_t request = make_request(draw(), i);
            take(make_reply(request ^ static_cast<uint64_t>(choose_other_rank(request)) << 32));
        }
    }

    void request_by_streams(topoloom::Stream<uint64_t>& requests, topoloom::Stream<uint64_t>& replies,
                            Draw draw) {
        for (long i = 0; i < items_; ++i) {
            const uint64_t random = draw();
            requests.push(make_request(random, i), choose_other_rank(random));
        }
        requests.wait();
        replies.wait();
    }

#ifdef CONVEYORS
    void request_by_conveyors(convey_t* requests, convey_t* replies, Draw draw) {
        convey_begin(requests, sizeof(uint64_t), alignof(uint64_t));
        convey_begin(replies, sizeof(uint64_t), alignof(uint64_t));
        long i = 0;
        uint64_t random = draw(), come = 0;
        for (;;) {
            const bool more = convey_advance(requests, i == items_) != 0;
            if (convey_advance(replies, !more) == 0 && !more) break;
            while (i < items_) {
                const uint64_t request = make_request(random, i);
                if (convey_push(requests, &request, choose_other_rank(random)) != convey_OK) break;
                random = draw();
                ++i;
            }
            int64_t from = 0;
            while (convey_pull(requests, &come, &from) == convey_OK) {
                const uint64_t reply = make_reply(come);
                if (convey_push(replies, &reply, from) == convey_OK) continue;
                convey_unpull(requests);
                break;
            }
            while (convey_pull(replies, &come, nullptr) == convey_OK) take(come);
        }
        convey_reset(requests);
        convey_reset(replies);
    }
#endif

#ifdef BRIEFKASTEN
    /// Handlers only append requests to a list, as in BriefKAsten's tests: a handler that waits to send may
    /// deadlock.
    void request_by_queues(auto& requests, auto& replies, Draw draw) {
        std::vector<uint64_t> pending;
        const auto on_reply = [&](auto envelope) {
            for (const uint64_t reply : envelope.message) take(reply);
        };
        const auto on_request = [&](auto envelope) {
            for (const uint64_t request : envelope.message) pending.push_back(request);
        };
        const auto take_replies = [&] { replies.poll(on_reply); };
        const auto take_requests = [&] { requests.poll(on_request); };
        const auto answer = [&] {
            for (; !pending.empty();) {
                const uint64_t request = pending.back();
                pending.pop_back();
                const int to = decode_asker(request);
                replies.post_message_blocking(std::ranges::views::single(make_reply(request)), to, rank, to,
                                              0, on_reply, take_requests);
            }
        };
        for (long i = 0; i < items_; ++i) {
            const uint64_t random = draw();
            const int to = choose_other_rank(random);
            requests.post_message_blocking(std::ranges::views::single(make_request(random, i)), to, rank, to,
                                           0, on_request, take_replies);
            answer();
        }
        while (!requests.terminate(on_request, take_replies)) answer();
        answer();
        static_cast<void>(replies.terminate(on_reply, take_requests));
    }
#endif

    static int decode_asker(uint64_t request) { return static_cast<int>(request >> 32 & 0xffff); }
    [[nodiscard]] uint64_t make_reply(uint64_t request) const {
        return static_cast<uint64_t>(table_[request >> 48]) << 32 | (request & 0xffffffff);
    }
    void take(uint64_t reply) {
        values_[reply & 0xffffffff] = static_cast<uint32_t>(reply >> 32);
        ++taken;
    }

    /// Checks the value at each position, and clears the values.
    bool is_right(Draw draw) {
        bool right = true;
        for (uint32_t& value : values_) {
            const uint64_t random = draw();
            right = right && value == compute_value(choose_other_rank(random), decode_entry(random));
            value = 0;
        }
        return right;
    }

    long taken = 0;

   private:
    static constexpr uint32_t entries = 1 << 16;

    static uint32_t compute_value(int owner, uint32_t entry) {
        return (static_cast<uint32_t>(owner) << 16 | entry) * 2654435761U + 1;
    }
    /// Returns the entry, from bits that do not affect the rank.
    static uint32_t decode_entry(uint64_t random) { return static_cast<uint32_t>(random >> 12) % entries; }
    static uint64_t make_request(uint64_t random, long place) {
        return static_cast<uint64_t>(decode_entry(random)) << 48 | static_cast<uint64_t>(rank) << 32 |
               static_cast<uint64_t>(place);
    }

    long items_;
    std::vector<uint32_t> table_, values_;
};
