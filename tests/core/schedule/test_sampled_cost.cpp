// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "../base/sanitized.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/schedule/cost/cost.hpp"
#include "topoloom/strategy/candidates.hpp"

using namespace topoloom;

namespace {

std::vector<Slot> some_slots(const Machine& machine, std::size_t count, bool shuffled) {
    const ids<Slot> slot_ids(machine.slot_count());
    std::vector<Slot> slots(slot_ids.begin(), slot_ids.end());
    Rng rng(7);
    for (std::size_t i = slots.size(); shuffled && i > 1; --i)
        std::swap(slots[i - 1], slots[rng.below(static_cast<std::uint32_t>(i))]);
    slots.resize(count);
    return slots;
}

constexpr auto sampled_operations = {Operation::bcast,     Operation::reduce,         Operation::allgather,
                                     Operation::allreduce, Operation::reduce_scatter, Operation::alltoall};

}  // namespace

TEST_CASE("the cost estimated from a sample of messages is near that of all messages") {
    const NetworkModel model = NetworkModel::regimes({{1e-6, 1e-10}});
    for (const char* text : {"torus:8x8x4,bandwidth=10GB/s", "tree:16:16,bandwidth=10GB/s:20GB/s",
                             "torus:4x4x4,bandwidth=10GB/s+node:4"}) {
        const Machine machine = make_machine(text);
        for (const bool shuffled : {false, true}) {
            const std::vector<Slot> slots = some_slots(machine, 200, shuffled);
            for (const Operation operation : sampled_operations) {
                for (const std::int64_t bytes : {8, 4096, 1 << 20}) {
                    if (is_sanitized && bytes != 4096) continue;
                    const Call call{operation, slots.size(), Bytes{bytes}};
                    for (const std::string& name : candidates(call)) {
                        CAPTURE(text);
                        CAPTURE(operation_name(operation));
                        CAPTURE(bytes);
                        CAPTURE(name);
                        const AnySchedule schedule = make_schedule(call, name);
                        const double all = cost(schedule, model, machine, slots).time;
                        const double some = sampled_cost(schedule, model, machine, slots, 6000).time;
                        CHECK(some == doctest::Approx(all).epsilon(0.3));
                    }
                }
            }
        }
    }
}

TEST_CASE("all messages are counted if there are few") {
    const NetworkModel model = NetworkModel::regimes({{1e-6, 1e-10}});
    const Machine machine = make_machine("torus:4x4,bandwidth=10GB/s");
    const std::vector<Slot> slots = some_slots(machine, 16, true);
    const AnySchedule schedule = make_schedule({Operation::alltoall, 16, Bytes{100}}, "cyclic");
    CHECK(sampled_cost(schedule, model, machine, slots, 240).time ==
          cost(schedule, model, machine, slots).time);
}
