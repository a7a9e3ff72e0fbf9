// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "topoloom/strategy/candidates.hpp"

using namespace topoloom;

TEST_CASE("candidates are all schedules that support the operation and number of ranks, each text once") {
    for (int number = 0; number <= static_cast<int>(Operation::exscan); ++number) {
        const auto operation = static_cast<Operation>(number);
        for (const std::size_t ranks : {1U, 2U, 3U, 7U, 8U, 12U, 13U, 64U, 100U}) {
            CAPTURE(operation_name(operation));
            CAPTURE(ranks);
            Call call{operation, ranks, Bytes{operation == Operation::barrier ? 0 : 100'000}};
            call.demand =
                operation == Operation::many_to_many || operation == Operation::many_to_many_multicast
                    ? std::make_shared<const Demand>(ranks, 0, Bytes{0})
                    : nullptr;
            const std::vector<std::string> texts = candidates(call);
            CHECK(std::set<std::string>(texts.begin(), texts.end()).size() == texts.size());
            std::set<std::string> names, expected;
            for (const std::string& text : texts) {
                CAPTURE(text);
                CHECK_NOTHROW((void)make_schedule(call, text));
                names.insert(text.substr(0, text.find('(')));
            }
            for (const ScheduleEntry& entry : schedules())
                if (entry.supports(operation) && entry.supports_ranks(ranks)) expected.emplace(entry.name);
            CHECK(names == expected);
        }
    }
}

TEST_CASE("chains are tried with segments smaller than the data, and with a limited number of segments") {
    const auto chains = [](std::int64_t bytes) {
        const std::vector<std::string> texts = candidates({Operation::bcast, 8, Bytes{bytes}});
        return std::ranges::count_if(texts,
                                     [](const std::string& text) { return text.starts_with("chain("); });
    };
    CHECK(chains(1024) == 0);
    CHECK(chains(1025) == 1);
    CHECK(chains(1 << 24) == 6);
    CHECK(chains(1 << 30) == 3);
}

TEST_CASE("halving that begins with near partners is tried if the number of ranks is no power of two") {
    const std::string both = "halving(fold=odd,order=near)";
    const auto tries = [&](Operation operation, std::size_t ranks) {
        return std::ranges::count(candidates({operation, ranks, Bytes{32768}}), both) == 1;
    };
    CHECK(tries(Operation::allreduce, 200));
    CHECK(tries(Operation::reduce, 200));
    CHECK_FALSE(tries(Operation::allreduce, 64));
    CHECK_FALSE(tries(Operation::reduce_scatter, 200));
}
