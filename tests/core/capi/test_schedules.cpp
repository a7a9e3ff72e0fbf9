// SPDX-License-Identifier: BSD-3-Clause
// Schedule choices and programs through the C interface.
#include <doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "topoloom/capi/topoloom_schedules.h"

namespace {

class StrategyHandle {
   public:
    explicit StrategyHandle(const topoloom_setting& setting) {
        failed_ = topoloom_strategy_make(&setting, &strategy_, error_, sizeof error_) != 0;
    }
    ~StrategyHandle() {
        if (!failed_) topoloom_strategy_free(strategy_);
    }
    StrategyHandle(const StrategyHandle&) = delete;
    StrategyHandle& operator=(const StrategyHandle&) = delete;

    [[nodiscard]] std::string error() const { return failed_ ? error_ : ""; }
    [[nodiscard]] std::string description() const { return topoloom_strategy_description(strategy_); }
    const char* choose(topoloom_operation operation, std::int64_t bytes) {
        const char* schedule = nullptr;
        const int status =
            topoloom_strategy_choose(strategy_, operation, bytes, 0, &schedule, error_, sizeof error_);
        return status == 0 ? schedule : error_;
    }

   private:
    topoloom_strategy* strategy_ = nullptr;
    bool failed_ = false;
    char error_[256] = "";
};

topoloom_setting make_setting(std::size_t ranks) {
    topoloom_setting setting{};
    setting.ranks = ranks;
    return setting;
}

std::string parse_operation(const char* name) {
    char error[256];
    topoloom_operation operation{};
    if (topoloom_parse_operation(name, &operation, error, sizeof error) != 0) return error;
    return std::to_string(operation);
}

}  // namespace

TEST_CASE("a program sends to the peers of the chosen schedule") {
    topoloom_setting setting = make_setting(4);
    setting.schedule = "ring";
    StrategyHandle chooser(setting);
    REQUIRE(chooser.error().empty());
    const char* schedule = chooser.choose(TOPOLOOM_ALLGATHER, 100);
    CHECK(std::string(schedule) == "ring");
    topoloom_call call{};
    call.operation = TOPOLOOM_ALLGATHER;
    call.ranks = 4;
    call.rank = 3;
    call.units = 100;
    call.unit_bytes = 1;
    topoloom_program program{};
    char error[256];
    REQUIRE(topoloom_program_make(&call, schedule, &program, error, sizeof error) == 0);
    CHECK(program.round_count == 3);
    for (std::size_t r = 0; r < program.round_count; ++r) {
        const topoloom_round& round = program.rounds[r];
        REQUIRE(round.sends.end - round.sends.begin == 1);
        CHECK(program.messages[round.sends.begin].peer == 0);
        CHECK(program.messages[round.sends.begin].units == 100);
        CHECK(program.messages[round.receives.begin].peer == 2);
    }
    topoloom_program_free(&program);
    CHECK(topoloom_program_make(&call, "rung", &program, error, sizeof error) == 1);
    CHECK(std::string(error).starts_with("no allgather schedule 'rung'"));
}

TEST_CASE("the strategy uses the ranks' nodes and a machine file") {
    const std::vector<std::int64_t> seats{0, 0, 1, 1};
    topoloom_setting setting = make_setting(4);
    setting.locations = seats.data();
    CHECK(StrategyHandle(setting).description() == "4 ranks on 2 nodes, schedules by what messages cost");
    setting.machine = "machine torus:4,bandwidth=1GB/s";
    CHECK(StrategyHandle(setting).description() ==
          "4 ranks on 2 nodes of torus:4,bandwidth=1GB/s, schedules by the machine's routes");
    setting.machine = "machine torus:4";
    CHECK(StrategyHandle(setting).error() ==
          "the links of 'torus:4' have no bandwidth; add one, as in torus:8x8x8,bandwidth=10GB/s");
}

TEST_CASE("an invalid query gives a one-line error") {
    CHECK(StrategyHandle(make_setting(0)).error() == "there are no ranks");
    StrategyHandle chooser(make_setting(4));
    CHECK(std::string(chooser.choose(TOPOLOOM_SCAN, -1)) == "scan: -1 bytes; there must be 0 or more");
    CHECK(std::string(chooser.choose(static_cast<topoloom_operation>(13), 1)) ==
          "no operation has the number 13");
}

TEST_CASE("equal schedules are the same string object, even from two strategies with equal settings") {
    StrategyHandle first(make_setting(8)), second(make_setting(8));
    CHECK(first.choose(TOPOLOOM_ALLTOALL, 100) == second.choose(TOPOLOOM_ALLTOALL, 100));
    CHECK(first.choose(TOPOLOOM_ALLTOALL, 100) == first.choose(TOPOLOOM_ALLTOALL, 100));
}

TEST_CASE("operations are known by their MPI names") {
    CHECK(parse_operation("MPI_Bcast") == std::to_string(TOPOLOOM_BCAST));
    CHECK(parse_operation("bcast") == std::to_string(TOPOLOOM_BCAST));
    CHECK(parse_operation("MPI_Ialltoallw") == std::to_string(TOPOLOOM_ALLTOALL));
    CHECK(parse_operation("MPI_Allgatherv_init") == std::to_string(TOPOLOOM_ALLGATHER));
    CHECK(parse_operation("MPI_Reduce_scatter_block_init") == std::to_string(TOPOLOOM_REDUCE_SCATTER));
    CHECK(parse_operation("exscan") == std::to_string(TOPOLOOM_EXSCAN));
    CHECK(parse_operation("many-to-many-multicast") == std::to_string(TOPOLOOM_MANY_TO_MANY_MULTICAST));
    CHECK(parse_operation("MPI_Send").starts_with("no collective 'MPI_Send'; there are: bcast"));
}

TEST_CASE("a strategy for concurrent calls knows the node of each rank") {
    // Two nodes and two calls, each call with one rank on each node.
    const std::vector<std::int64_t> seats{7, 7, 9, 9};
    topoloom_setting setting = make_setting(4);
    setting.locations = seats.data();
    topoloom_strategy *whole = nullptr, *lines = nullptr;
    char error[256] = "";
    REQUIRE(topoloom_strategy_make(&setting, &whole, error, sizeof error) == 0);
    const auto nodes_of = [](const topoloom_strategy* strategy) {
        std::vector<std::int64_t> nodes(4, -1);
        topoloom_strategy_nodes(strategy, nodes.data());
        return nodes;
    };
    CHECK(nodes_of(whole) == std::vector<std::int64_t>{0, 0, 1, 1});
    const std::vector<std::uint32_t> ranks{0, 2, 1, 3}, wrong{0, 1, 2, 4};
    REQUIRE(topoloom_strategy_for_concurrent_calls(whole, 2, ranks.data(), &lines, error, sizeof error) == 0);
    CHECK(nodes_of(lines) == std::vector<std::int64_t>{0, 1, 0, 1});
    topoloom_strategy_free(lines);
    CHECK(topoloom_strategy_for_concurrent_calls(whole, 3, ranks.data(), &lines, error, sizeof error) == 1);
    CHECK(std::string(error) == "4 ranks cannot be divided equally among 3 calls");
    CHECK(topoloom_strategy_for_concurrent_calls(whole, 2, wrong.data(), &lines, error, sizeof error) == 1);
    CHECK(std::string(error) == "rank 4 is none of the 4 ranks");
    topoloom_strategy_free(whole);
}
