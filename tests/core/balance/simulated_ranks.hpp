// SPDX-License-Identifier: BSD-3-Clause
// Simulates, in one thread, ranks that compute a plan by exchanging messages. Messages from one rank to
// another arrive in order.
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

struct SimulatedPlan {
    Plan plan;                            // as computed by senders
    Plan as_received;                     // as computed by receivers
    std::uint32_t max_sent_messages = 0;  // most messages sent by any rank
    // Length of the longest chain of messages, each sent after the previous one was received.
    std::size_t longest_chain = 0;
};

/// Runs decide() for all ranks, interleaved in random order.
class SimulatedRanks {
   public:
    SimulatedRanks(std::span<const std::int64_t> loads, Rng rng) : ranks_(loads.size()), rng_(rng) {
        for (std::uint32_t i = 0; i < loads.size(); ++i)
            ranks_[i].part = std::make_unique<Coroutine<OwnPlan>>(
                decide(ranks_[i].channel, i, static_cast<std::uint32_t>(loads.size()), loads[i]));
    }

    SimulatedPlan run() {
        for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
            ranks_[i].part->start();
            post_messages(i);
        }
        while (!ready_.empty()) {
            std::swap(ready_[rng_.below(static_cast<std::uint32_t>(ready_.size()))], ready_.back());
            const std::uint32_t rank = ready_.back();
            ready_.pop_back();
            ranks_[rank].is_ready = false;
            resume_rank(rank);
        }
        return result();
    }

   private:
    struct PostedMessage {
        std::uint32_t from;
        std::size_t after;
        Message message;
    };
    struct SimulatedRank {
        PeerChannel channel;
        std::unique_ptr<Coroutine<OwnPlan>> part;
        std::deque<PostedMessage> inbox;
        std::uint32_t sent = 0;
        std::size_t waited = 0;
        bool is_ready = false;
    };

    auto find_expected_message(SimulatedRank& rank) {
        return std::ranges::find_if(rank.inbox, [&](const PostedMessage& posted) {
            return posted.message.topic == rank.channel.topic() &&
                   (!rank.channel.from() || *rank.channel.from() == posted.from);
        });
    }
    void mark_ready(std::uint32_t i) {
        SimulatedRank& rank = ranks_[i];
        if (rank.is_ready || rank.part->done() || find_expected_message(rank) == rank.inbox.end()) return;
        rank.is_ready = true;
        ready_.push_back(i);
    }
    void post_messages(std::uint32_t i) {
        for (Message& message : ranks_[i].channel.take_messages()) {
            const std::uint32_t to = message.to;
            ++ranks_[i].sent;
            ranks_[to].inbox.push_back({i, ranks_[i].waited + 1, std::move(message)});
            mark_ready(to);
        }
    }
    void resume_rank(std::uint32_t i) {
        SimulatedRank& rank = ranks_[i];
        const auto found = find_expected_message(rank);
        rank.waited = std::max(rank.waited, found->after);
        Payload payload = std::move(found->message.payload);
        rank.inbox.erase(found);
        rank.channel.deliver(std::move(payload));
        post_messages(i);
        mark_ready(i);
    }
    SimulatedPlan result() {
        SimulatedPlan simulated;
        for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
            if (!ranks_[i].part->done() || !ranks_[i].inbox.empty())
                throw std::logic_error("a rank still waits");
            const OwnPlan own = ranks_[i].part->take();
            for (const auto& [to, tasks] : own.to) simulated.plan.push_back({Rank{i}, Rank{to}, tasks});
            if (own.from) simulated.as_received.push_back({Rank{own.from->rank}, Rank{i}, own.from->tasks});
            simulated.max_sent_messages = std::max(simulated.max_sent_messages, ranks_[i].sent);
            simulated.longest_chain = std::max(simulated.longest_chain, ranks_[i].waited);
        }
        simulated.as_received = make_plan(std::move(simulated.as_received));
        return simulated;
    }

    std::vector<SimulatedRank> ranks_;
    std::vector<std::uint32_t> ready_;
    Rng rng_;
};

}  // namespace topoloom
