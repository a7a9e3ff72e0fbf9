// SPDX-License-Identifier: BSD-3-Clause
// The answer of a strategy depends only on the query: it is the fastest suitable schedule.
#include <doctest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "strategy/single_call_operations.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/execute/compile.hpp"
#include "topoloom/schedule/orders/fitted_schedules.hpp"
#include "topoloom/strategy/candidates.hpp"
#include "topoloom/strategy/schedule_times.hpp"
#include "topoloom/strategy/share_strategy.hpp"
#include "topoloom/strategy/strategy.hpp"

using namespace topoloom;

namespace {

using enum Operation;

constexpr const char* torus = "machine torus:4x4x4,bandwidth=10GB/s\nmessage - 1e-6 1e-10\n";

Setting setting_of(std::size_t ranks) {
    Setting setting;
    setting.ranks = ranks;
    return setting;
}

Setting on_torus(std::size_t ranks, std::int64_t per_node = 1) {
    Setting setting = setting_of(ranks);
    setting.machine = torus;
    for (std::size_t rank = 0; rank < ranks; ++rank)
        setting.locations.push_back(static_cast<std::int64_t>(rank) / per_node);
    return setting;
}

Setting on_nodes(std::size_t ranks, std::size_t per_node) {
    Setting setting = setting_of(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank)
        setting.locations.push_back(static_cast<std::int64_t>(1'000'003 * (rank / per_node)));
    return setting;
}

Setting with_concurrent_calls(std::size_t calls, Setting setting) {
    setting.concurrent_calls = calls;
    return setting;
}

std::vector<Setting> some_settings() {
    return {setting_of(1),
            setting_of(2),
            setting_of(7),
            setting_of(32),
            on_nodes(13, 4),
            on_nodes(16, 16),
            on_nodes(24, 8),
            on_torus(17),
            on_torus(64),
            on_torus(48, 3),
            with_concurrent_calls(6, on_nodes(24, 8)),
            with_concurrent_calls(4, on_torus(64, 4)),
            with_concurrent_calls(3, setting_of(21))};
}

struct Question {
    Operation operation;
    Bytes bytes;
    bool in_rank_order;
};

std::vector<Question> some_questions(std::uint64_t seed) {
    std::vector<Question> questions;
    Rng rng(seed);
    for (const Operation operation : single_call_operations) {
        for (int i = 0; i < 6; ++i) {
            const std::int64_t size = rng.below(1U << rng.below(24));
            const bool reduces = operation == reduce || operation == allreduce || operation == reduce_scatter;
            questions.push_back({operation, Bytes{operation == barrier ? 0 : size}, reduces && i % 2 == 1});
        }
    }
    return questions;
}

const std::string& answer(Strategy& strategy, const Question& question) {
    return strategy.choose(question.operation, question.bytes, question.in_rank_order);
}

/// Schedules fitted to the nodes of the first concurrent call.
std::vector<std::string> fitted_schedules_for(const CostBasis& basis, std::size_t ranks) {
    std::vector<Node> nodes;
    if (basis.machine == nullptr) return {};
    for (std::size_t rank = 0; rank < ranks; ++rank) nodes.push_back(basis.machine->node(basis.slots[rank]));
    return fitted_schedules(*basis.machine, nodes);
}

/// Reference: times all candidates one by one.
std::string find_fastest_schedule(const Setting& setting, Question question) {
    const CostBasis basis = find_cost_basis(setting);
    const Call call{question.operation, setting.ranks / setting.concurrent_calls, question.bytes};
    // With concurrent calls, linear must be more than 5 % faster to be chosen for a gather or scatter.
    const bool goes_on =
        setting.concurrent_calls > 1 && (question.operation == gather || question.operation == scatter);
    std::string best;
    double least = 0;
    for (const std::string& text : candidates(call, fitted_schedules_for(basis, call.ranks))) {
        const AnySchedule schedule = make_schedule(call, text);
        if (question.in_rank_order && !keeps_rank_order(schedule)) continue;
        double time = schedule_cost(schedule, basis).time;
        if (goes_on && text == "linear") time *= 1.05;
        if (best.empty() || time < least) std::tie(best, least) = std::pair(text, time);
    }
    return best;
}

}  // namespace

TEST_CASE(
    "the schedule of a size is the one fastest at both ends of its size class, or otherwise at its step") {
    for (const Setting& setting : some_settings()) {
        Strategy strategy(setting);
        for (const Question& question : some_questions(1)) {
            CAPTURE(strategy.description());
            CAPTURE(operation_name(question.operation));
            CAPTURE(question.bytes.value);
            CAPTURE(question.in_rank_order);
            const auto at = [&](std::int64_t bytes) {
                return find_fastest_schedule(setting,
                                             {question.operation, Bytes{bytes}, question.in_rank_order});
            };
            const std::int64_t size =
                question.operation == barrier ? 0 : std::max(question.bytes.value, std::int64_t{1});
            const auto low = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(size)));
            const std::int64_t step = std::max(low / 16, std::int64_t{1});
            std::string expected = at(low);
            if (size > low && at(2 * low) != expected) expected = at(size - size % step);
            CHECK(answer(strategy, question) == expected);
        }
    }
}

TEST_CASE("the fastest schedule is also chosen if only a sample of the messages is costed") {
    Setting setting = setting_of(300);
    setting.machine = "machine torus:8x8x5,bandwidth=10GB/s\nmessage - 1e-6 1e-10";
    Strategy strategy(setting);
    for (const Operation operation : {alltoall, allgather}) {
        for (const std::int64_t bytes : {16, 1 << 20}) {
            CHECK(strategy.choose(operation, Bytes{bytes}, false) ==
                  find_fastest_schedule(setting, {operation, Bytes{bytes}, false}));
        }
    }
}

TEST_CASE("with long latencies, schedules with several concurrent messages per round are chosen") {
    const auto radix_on = [](const char* message, std::size_t ranks, Operation operation) -> std::string {
        Setting setting = setting_of(ranks);
        setting.machine = message;
        const std::string text = Strategy(setting).choose(operation, Bytes{8}, false);
        const std::size_t option = text.find("radix=");
        return option == std::string::npos ? "2" : text.substr(option + 6, text.size() - option - 7);
    };
    const char* overlapping = "message - 1e-6 1e-10\ncost latency 3e-6";
    const char* alone = "message - 4e-6 1e-10";
    for (const Operation operation : {bcast, allreduce, barrier}) {
        CAPTURE(operation_name(operation));
        for (const std::size_t ranks : {9U, 27U}) CHECK(radix_on(overlapping, ranks, operation) == "3");
        for (const std::size_t ranks : {16U, 64U, 256U}) {
            CHECK(radix_on(overlapping, ranks, operation) == "4");
            CHECK(radix_on(alone, ranks, operation) == "2");
        }
    }
    for (const Operation operation : {allgather, alltoall})
        CHECK(radix_on(overlapping, 256, operation) == "4");
}

TEST_CASE("earlier queries do not change an answer") {
    for (const Setting& setting : some_settings()) {
        const std::vector<Question> questions = some_questions(2);
        Strategy forward(setting), backward(setting);
        std::vector<std::string> answers(questions.size());
        for (std::size_t i = 0; i < questions.size(); ++i) answers[i] = answer(forward, questions[i]);
        for (std::size_t i = questions.size(); i-- > 0;) CHECK(answer(backward, questions[i]) == answers[i]);
    }
}

TEST_CASE("concurrent queries give equal answers") {
    Strategy shared(on_torus(48, 3)), alone(on_torus(48, 3));
    const std::vector<Question> questions = some_questions(3);
    std::vector<std::vector<const std::string*>> answers(4,
                                                         std::vector<const std::string*>(questions.size()));
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < answers.size(); ++t) {
        threads.emplace_back([&, t] {
            for (std::size_t i = 0; i < questions.size(); ++i) {
                const std::size_t which = (i * (2 * t + 1)) % questions.size();
                answers[t][which] = &answer(shared, questions[which]);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < questions.size(); ++i) {
        const std::string& expected = answer(alone, questions[i]);
        for (const auto& of_thread : answers) CHECK((of_thread[i] == nullptr || *of_thread[i] == expected));
    }
}

TEST_CASE(
    "every operation has a schedule for any number of ranks, also if operands must stay in rank order") {
    for (std::size_t ranks = 1; ranks <= 70; ranks += ranks < 18 ? 1 : 13) {
        Strategy strategy(setting_of(ranks));
        for (const Question& question : some_questions(ranks)) {
            CAPTURE(ranks);
            CAPTURE(operation_name(question.operation));
            const Call call{question.operation, ranks, question.bytes};
            const AnySchedule schedule = make_schedule(call, answer(strategy, question));
            CHECK((!question.in_rank_order || keeps_rank_order(schedule)));
        }
        for (const Operation many : {many_to_many, many_to_many_multicast})
            CHECK(strategy.choose(many, Bytes{100}, false) == "direct");
    }
}

TEST_CASE("equal answers are the same string object") {
    Setting setting = setting_of(16);
    setting.schedule = "binomial";
    Strategy strategy(setting);
    const std::string& small = strategy.choose(bcast, Bytes{1}, false);
    CHECK(&small == &strategy.choose(bcast, Bytes{1 << 20}, false));
    CHECK(&small == &strategy.choose(reduce, Bytes{2}, false));
}

TEST_CASE("every message size has a schedule") {
    Strategy strategy(on_torus(64));
    const std::string& large = strategy.choose(alltoall, Bytes{std::int64_t{1} << 30}, false);
    CHECK(&strategy.choose(alltoall, Bytes{std::int64_t{1} << 62}, false) == &large);
    CHECK_THROWS_WITH((void)strategy.choose(alltoall, Bytes{-1}, false),
                      "alltoall: -1 bytes; there must be 0 or more");
}

TEST_CASE("a decision table overrides costs, and a named schedule overrides both") {
    Setting setting = setting_of(9);
    setting.decisions =
        R"({"format": "topoloom-decisions", "version": 1, "operation": "allgather", "decisions": [
        {"ranks": 2, "bytes": 1, "schedule": "ring"},
        {"ranks": 8, "bytes": 1, "schedule": "neighbor-exchange"},
        {"ranks": 8, "bytes": 100, "schedule": "cyclic"},
        {"ranks": 16, "bytes": 1, "schedule": "pairwise"}]})";
    Strategy by_table(setting), by_cost(setting_of(9));
    CHECK(by_table.choose(allgather, Bytes{100}, false) == "cyclic");
    CHECK(by_table.choose(allgather, Bytes{1 << 30}, false) == "cyclic");
    // Neighbor exchange does not support nine ranks.
    CHECK(by_table.choose(allgather, Bytes{99}, false) == by_cost.choose(allgather, Bytes{99}, false));
    CHECK(by_table.choose(bcast, Bytes{99}, false) == by_cost.choose(bcast, Bytes{99}, false));
    setting.schedule = "ring";
    Strategy by_name(setting);
    CHECK(by_name.choose(allgather, Bytes{100}, false) == "ring");
    CHECK(by_name.choose(allreduce, Bytes{1}, false) == "ring");
    CHECK(by_name.choose(allreduce, Bytes{1}, true) == by_cost.choose(allreduce, Bytes{1}, true));
    CHECK(by_name.choose(bcast, Bytes{99}, false) == by_cost.choose(bcast, Bytes{99}, false));
}

TEST_CASE("options that fit only some numbers of ranks apply to those, and are dropped for others") {
    for (const char* text : {"pairwise(seats=0-2:4-6)", "cyclic(seats=0-2:4-6/16)"}) {
        Setting setting = setting_of(6);
        setting.schedule = text;
        CHECK(Strategy(setting).choose(alltoall, Bytes{8}, false) == text);
        setting.ranks = 7;
        CHECK(Strategy(setting).choose(alltoall, Bytes{8}, false) ==
              Strategy(setting_of(7)).choose(alltoall, Bytes{8}, false));
    }
    Setting setting = setting_of(12);
    setting.schedule = "disjoint-trees(grid=3x4)";
    CHECK(Strategy(setting).choose(bcast, Bytes{8}, false) == setting.schedule);
    setting.ranks = 13;
    CHECK(Strategy(setting).choose(bcast, Bytes{8}, false) ==
          Strategy(setting_of(13)).choose(bcast, Bytes{8}, false));
    setting.schedule = "disjoint-trees(grid=3y4)";
    CHECK_THROWS_WITH_AS((void)Strategy(setting),
                         "disjoint-trees: option grid is '3y4'; it must be integers from 1, as in 8x8x16",
                         Error);
}

TEST_CASE("long bcasts on a torus use all its links, short ones the fewest rounds") {
    Setting setting = on_torus(64);
    setting.machine = "machine torus:4x2x8,bandwidth=10GB/s\nmessage - 1e-6 0\n";  // one port for each link
    Strategy strategy(setting);
    CHECK(strategy.choose(bcast, Bytes{16 << 20}, false).starts_with("disjoint-trees(grid=4x2x8"));
    CHECK(strategy.choose(bcast, Bytes{8}, false).starts_with("b"));  // binomial, bine
    CHECK_FALSE(strategy.choose(reduce, Bytes{16 << 20}, true).starts_with("disjoint-trees"));
}

TEST_CASE("equal settings share a strategy while it is in use") {
    const auto first = share_strategy(on_torus(20));
    CHECK(share_strategy(on_torus(20)) == first);
    CHECK(share_strategy(on_torus(21)) != first);
    const std::weak_ptr<Strategy> seen = share_strategy(on_torus(22));
    CHECK(seen.expired());
}

TEST_CASE("a strategy reports its cost basis") {
    CHECK(Strategy(setting_of(1)).description() == "1 rank on 1 node, schedules by what messages cost");
    CHECK(Strategy(on_nodes(13, 4)).description() == "13 ranks on 4 nodes, schedules by what messages cost");
    Setting named = on_torus(48, 3);
    named.schedule = "ring";
    CHECK(Strategy(named).description() ==
          "48 ranks on 16 nodes of torus:4x4x4,bandwidth=10GB/s, schedules by name, "
          "ring, else by the machine's routes");
    Setting placed = setting_of(2);
    placed.placement =
        R"({"format": "topoloom-placement", "version": 1, "machine": "torus:4,bandwidth=1GB/s", "placement": [3, 1]})";
    CHECK(
        Strategy(placed).description() ==
        "2 ranks on 2 nodes of torus:4,bandwidth=1GB/s, placed by a file, schedules by the machine's routes");
}
