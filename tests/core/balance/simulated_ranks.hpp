// SPDX-License-Identifier: BSD-3-Clause
// Simulates ranks that compute a plan by messages, in one thread; messages of a pair arrive in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "topoloom/balance/distributed/decide.hpp"
#include "topoloom/balance/plan.hpp"
#include "topoloom/base/rng.hpp"

namespace topoloom {

struct Decided {
    Plan plan;                    // as computed by senders
    Plan as_received;             // as computed by receivers
    std::uint32_t most_sent = 0;  // maximum messages sent by one rank
    // Length of the longest chain of messages, each sent after the previous one was received.
    std::size_t most_waited = 0;
};

/// Runs decide() for all ranks, interleaved in random order.
class SimulatedRanks {
   public:
    SimulatedRanks(std::span<const std::int64_t> loads, Rng rng) : ranks_(loads.size()), rng_(rng) {
        for (std::uint32_t i = 0; i < loads.size(); ++i)
            ranks_[i].part = std::make_unique<Coroutine<OwnPlan>>(
                decide(ranks_[i].talk, i, static_cast<std::uint32_t>(loads.size()), loads[i]));
    }

    Decided run() {
        for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
            ranks_[i].part->start();
            send_from(i);
        }
        while (!ready_.empty()) {
            std::swap(ready_[rng_.below(static_cast<std::uint32_t>(ready_.size()))], ready_.back());
            const std::uint32_t rank = ready_.back();
            ready_.pop_back();
            ranks_[rank].is_ready = false;
            go_on(rank);
        }
        return result();
    }

   private:
    struct Posted {
        std::uint32_t from;
        std::size_t after;
        Message message;
    };
    struct Simulated {
        PeerChannel talk;
        std::unique_ptr<Coroutine<OwnPlan>> part;
        std::deque<Posted> inbox;
        std::uint32_t sent = 0;
        std::size_t waited = 0;
        bool is_ready = false;
    };

    auto expected(Simulated& rank) {
        return std::ranges::find_if(rank.inbox, [&](const Posted& posted) {
            return posted.message.topic == rank.talk.topic() &&
                   (!rank.talk.from() || *rank.talk.from() == posted.from);
        });
    }
    void look_at(std::uint32_t i) {
        Simulated& rank = ranks_[i];
        if (rank.is_ready || rank.part->done() || expected(rank) == rank.inbox.end()) return;
        rank.is_ready = true;
        ready_.push_back(i);
    }
    void send_from(std::uint32_t i) {
        for (Message& message : ranks_[i].talk.take_messages()) {
            const std::uint32_t to = message.to;
            ++ranks_[i].sent;
            ranks_[to].inbox.push_back({i, ranks_[i].waited + 1, std::move(message)});
            look_at(to);
        }
    }
    void go_on(std::uint32_t i) {
        Simulated& rank = ranks_[i];
        const auto found = expected(rank);
        rank.waited = std::max(rank.waited, found->after);
        Payload payload = std::move(found->message.payload);
        rank.inbox.erase(found);
        rank.talk.deliver(std::move(payload));
        send_from(i);
        look_at(i);
    }
    Decided result() {
        Decided decided;
        for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
            if (!ranks_[i].part->done() || !ranks_[i].inbox.empty())
                throw std::logic_error("a rank still waits");
            const OwnPlan own = ranks_[i].part->take();
            for (const auto& [to, tasks] : own.to) decided.plan.push_back({Rank{i}, Rank{to}, tasks});
            if (own.from) decided.as_received.push_back({Rank{own.from->rank}, Rank{i}, own.from->tasks});
            decided.most_sent = std::max(decided.most_sent, ranks_[i].sent);
            decided.most_waited = std::max(decided.most_waited, ranks_[i].waited);
        }
        decided.as_received = make_plan(std::move(decided.as_received));
        return decided;
    }

    std::vector<Simulated> ranks_;
    std::vector<std::uint32_t> ready_;
    Rng rng_;
};

}  // namespace topoloom
