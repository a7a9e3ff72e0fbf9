// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <list>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "topoloom/capi/topoloom_balancers.h"

namespace {

using Loads = std::vector<std::int64_t>;
/// Tasks by pair of sender and receiver.
using Moves = std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t>;

/// Collects the tasks that ranks report as sent, and checks that the receivers report the same tasks.
Moves collect_moves(const std::vector<topoloom_own_plan>& plans) {
    Moves given, received;
    for (std::uint32_t rank = 0; rank < plans.size(); ++rank) {
        for (std::size_t i = 0; i < plans[rank].to_count; ++i)
            given[{rank, plans[rank].to[i].rank}] = plans[rank].to[i].tasks;
        for (std::size_t i = 0; i < plans[rank].from_count; ++i)
            received[{plans[rank].from[i].rank, rank}] = plans[rank].from[i].tasks;
        CHECK(std::is_sorted(plans[rank].to, plans[rank].to + plans[rank].to_count,
                             [](const auto& left, const auto& right) { return left.rank < right.rank; }));
    }
    CHECK(given == received);
    return given;
}

Loads loads_after(Loads loads, const Moves& moves) {
    for (const auto& [ranks, tasks] : moves) {
        CHECK(tasks > 0);
        loads[ranks.first] -= tasks;
        loads[ranks.second] += tasks;
    }
    return loads;
}

class BalancerHandle {
   public:
    BalancerHandle(const char* method, std::size_t ranks, const char* machine = nullptr,
                   const std::vector<std::uint32_t>& slots = {}) {
        status =
            topoloom_balancer_make(method, machine, ranks, slots.data(), &balancer_, error, sizeof error);
    }
    ~BalancerHandle() { topoloom_balancer_free(balancer_); }
    BalancerHandle(const BalancerHandle&) = delete;
    BalancerHandle& operator=(const BalancerHandle&) = delete;

    Moves compute_plan(const Loads& loads) {
        std::vector<topoloom_own_plan> plans(loads.size());
        for (std::uint32_t rank = 0; rank < loads.size(); ++rank)
            status = std::max(status, topoloom_balancer_own_plan(balancer_, loads.size(), loads.data(), rank,
                                                                 &plans[rank], error, sizeof error));
        const Moves moves = collect_moves(plans);
        for (auto& own : plans) topoloom_own_plan_free(&own);
        return moves;
    }

    int status = 0;
    char error[256] = "";

   private:
    topoloom_balancer* balancer_ = nullptr;
};

/// Messages among ranks that are threads of this process.
class ThreadMessages {
   public:
    explicit ThreadMessages(std::uint32_t ranks) : inboxes_(ranks) {}

    struct Rank {
        ThreadMessages* post;
        std::uint32_t own;
        Loads words;  // payload of the last received message
        int left;     // number of messages after which the transport fails
    };
    static int send(void* context, std::uint32_t to, int topic, const std::int64_t* words,
                    std::size_t count) {
        Rank& rank = *static_cast<Rank*>(context);
        if (rank.left-- == 0) return 1;
        const std::lock_guard lock(rank.post->mutex_);
        rank.post->inboxes_[to].push_back({rank.own, topic, {words, words + count}});
        rank.post->arrival_.notify_all();
        return 0;
    }
    static int receive(void* context, std::uint32_t from, int topic, const std::int64_t** words,
                       std::size_t* count) {
        Rank& rank = *static_cast<Rank*>(context);
        std::unique_lock lock(rank.post->mutex_);
        auto& inbox = rank.post->inboxes_[rank.own];
        auto found = inbox.end();
        rank.post->arrival_.wait(lock, [&] {
            found = std::ranges::find_if(inbox, [&](const ReceivedMessage& letter) {
                return letter.topic == topic && (from == TOPOLOOM_ANY_RANK || letter.from == from);
            });
            return found != inbox.end();
        });
        rank.words = std::move(found->words);
        inbox.erase(found);
        *words = rank.words.data();
        *count = rank.words.size();
        return 0;
    }

   private:
    struct ReceivedMessage {
        std::uint32_t from;
        int topic;
        Loads words;
    };
    std::mutex mutex_;
    std::condition_variable arrival_;
    std::vector<std::list<ReceivedMessage>> inboxes_;
};

/// Runs the distributed computation of a plan on concurrent ranks.
Moves run_distributed_plan(const Loads& loads) {
    const auto ranks = static_cast<std::uint32_t>(loads.size());
    ThreadMessages post(ranks);
    std::vector<topoloom_own_plan> plans(ranks);
    std::vector<int> statuses(ranks);
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            ThreadMessages::Rank context{&post, rank, {}, 1'000'000};
            const topoloom_channel carrier{&context, ThreadMessages::send, ThreadMessages::receive};
            char error[256] = "";
            statuses[rank] = topoloom_decide_by_messages(rank, ranks, loads[rank], &carrier, &plans[rank],
                                                         error, sizeof error);
        });
    for (auto& thread : threads) thread.join();
    CHECK(std::ranges::count(statuses, 0) == ranks);
    const Moves moves = collect_moves(plans);
    for (auto& own : plans) topoloom_own_plan_free(&own);
    return moves;
}

}  // namespace

TEST_CASE("with every balancer, the parts of the plan agree between ranks and balance the loads") {
    const Loads loads{0, 9, 3, 0, 14, 1, 7, 6};
    for (const char* method : {"alias", "alias(remainder=exact)", "qwalk", "sweep"}) {
        INFO(std::string(method));
        BalancerHandle balancer(method, loads.size());
        const Loads found = loads_after(loads, balancer.compute_plan(loads));
        CHECK(balancer.status == 0);
        CHECK(std::ranges::count(found, 5) == 8);
    }
}

TEST_CASE("if slots are given, tasks move to near ranks") {
    // Ranks 0 and 3 have a surplus, ranks 1 and 2 a deficit; rank 0 is next to rank 2, and rank 3 next to
    // rank 1.
    BalancerHandle balancer("transport", 4, "ring:8", {0, 5, 1, 4});
    REQUIRE(balancer.status == 0);
    CHECK(balancer.compute_plan({4, 0, 0, 4}) == Moves{{{0, 2}, 2}, {{3, 1}, 2}});
}

TEST_CASE("ranks that exchange messages compute the same plan as one rank that knows all loads") {
    for (const Loads& loads : {Loads{5}, Loads{8, 0}, Loads{0, 7, 0, 0, 2}, Loads{9, 9, 0, 0, 4, 1, 0, 30}}) {
        BalancerHandle balancer("sweep", loads.size());
        CHECK(run_distributed_plan(loads) == balancer.compute_plan(loads));
    }
}

TEST_CASE("error messages are one line") {
    CHECK(std::string(BalancerHandle("alais", 4).error)
              .starts_with("no balancer 'alais' (did you mean 'alias'?); there are: "));
    CHECK(std::string(BalancerHandle("auto", 2, "ring:8", {3, 9}).error) ==
          "slot 9 is none of the 8 slots of ring:8");
    BalancerHandle alias("alias", 2);
    alias.compute_plan({-1, 3});
    CHECK(alias.status == 1);
    CHECK(std::string(alias.error) == "rank 0 has a load of -1; loads are at least 0");
    for (const char* several : {"diffusion(neighbors=ring)", "integer-diffusion", "laplacian"})
        CHECK(std::string(BalancerHandle(several, 4).error).find("in further rounds") != std::string::npos);
}

TEST_CASE("if the transport fails, its status is returned") {
    ThreadMessages post(2);
    ThreadMessages::Rank context{&post, 0, {}, 0};
    const topoloom_channel carrier{&context, ThreadMessages::send, ThreadMessages::receive};
    topoloom_own_plan plan{};
    char error[256] = "";
    CHECK(topoloom_decide_by_messages(0, 2, 4, &carrier, &plan, error, sizeof error) == 2);
    CHECK(plan.owner == nullptr);
}

TEST_CASE("few ranks gather all loads, many ranks do not") {
    CHECK(topoloom_gathers_loads(2, 1, 2, 0, 0) == 1);
    CHECK(topoloom_gathers_loads(100'000'000, 1'000'000, 100, 1e-6, 1e-9) == 0);
    CHECK(topoloom_gathers_by_node(120, 10, 12) == 1);
    CHECK(topoloom_gathers_by_node(120, 120, 1) == 0);
}
