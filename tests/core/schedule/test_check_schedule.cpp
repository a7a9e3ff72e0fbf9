// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include "topoloom/schedule/check_schedule.hpp"
#include "topoloom/schedule/collectives/binomial.hpp"

using namespace topoloom;

namespace {

const Collective scatter_of_3(Operation::scatter, 3, Bytes{10});
const Collective allreduce_of_3(Operation::allreduce, 3, Bytes{10});

TracedMessage make_message(int from, int to, std::vector<std::uint64_t> blocks) {
    const auto bytes = static_cast<std::int64_t>(10 * blocks.size());
    return {Rank{from}, Rank{to}, Bytes{bytes}, std::move(blocks)};
}

/// An invalid schedule: every receiver expects one byte more than is sent.
class OversizedReceives : public Binomial {
   public:
    using Binomial::Binomial;
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        Binomial::receives(rank, round, [&](Rank from, Bytes bytes) { visit(from, bytes + Bytes{1}); });
    }
};

}  // namespace

TEST_CASE("correct schedules are accepted") {
    ScheduleVerifier verifier(scatter_of_3);
    const std::vector round{make_message(0, 1, {1}), make_message(0, 2, {2})};
    verifier.verify_round(0, Transfer::move, round);
    verifier.finish();
}

TEST_CASE("an error names the fault of a schedule") {
    const auto played = [](const Collective& collective, Transfer transfer,
                           std::vector<TracedMessage> round) {
        ScheduleVerifier verifier(collective);
        verifier.verify_round(0, transfer, round);
        verifier.finish();
    };
    using Messages = std::vector<TracedMessage>;
    CHECK_THROWS_WITH(
        played(scatter_of_3, Transfer::move, Messages{make_message(1, 2, {2})}),
        "scatter of 3 ranks, round 0: rank 1 sends block 2 to rank 2, but does not have this block");
    CHECK_THROWS_WITH(
        played(scatter_of_3, Transfer::move, Messages{make_message(0, 1, {1}), make_message(0, 2, {1})}),
        "scatter of 3 ranks, round 0: rank 0 sends block 1 to rank 2, but has already sent it to another "
        "rank");
    CHECK_THROWS_WITH(played(scatter_of_3, Transfer::move, Messages{make_message(0, 1, {1})}),
                      "scatter of 3 ranks: in the end rank 0 still has block 2");
    CHECK_THROWS_WITH(
        played(scatter_of_3, Transfer::copy, Messages{make_message(0, 1, {1}), make_message(0, 2, {2})}),
        "scatter of 3 ranks: in the end rank 0 still has block 1");
    CHECK_THROWS_WITH(
        played(scatter_of_3, Transfer::move, Messages{make_message(0, 1, {3})}),
        "scatter of 3 ranks, round 0: rank 0 sends block 3 to rank 1, but the block does not exist");
    CHECK_THROWS_WITH(played(allreduce_of_3, Transfer::combine, Messages{make_message(0, 1, {0})}),
                      "allreduce of 3 ranks: in the end rank 0 lacks data of block 0");
    TracedMessage heavy = make_message(0, 1, {1});
    heavy.bytes = Bytes{11};
    CHECK_THROWS_WITH(played(scatter_of_3, Transfer::move, Messages{heavy}),
                      "round 0: the message from rank 0 to rank 1 has 11 bytes, but its blocks have 10");

    ScheduleVerifier verifier(allreduce_of_3);
    verifier.verify_round(0, Transfer::combine, Messages{make_message(0, 1, {0})});
    CHECK_THROWS_WITH(verifier.verify_round(1, Transfer::combine, Messages{make_message(0, 1, {0})}),
                      "allreduce of 3 ranks, round 1: rank 0 sends block 0 to rank 1, which already has a "
                      "part of this block");
    CHECK_THROWS_WITH(verifier.verify_round(1, Transfer::copy, Messages{make_message(2, 1, {0})}),
                      "allreduce of 3 ranks, round 1: rank 2 sends block 0 to rank 1, which would lose a "
                      "part of its data");
    CHECK_THROWS_WITH(verifier.verify_round(1, Transfer::copy, Messages{make_message(0, 1, {0})}),
                      "allreduce of 3 ranks, round 1: rank 0 sends block 0 to rank 1, which would lose a "
                      "part of its data");

    CHECK_THROWS_WITH(check_schedule(OversizedReceives(Collective(Operation::bcast, 3, Bytes{10}))),
                      "round 0: rank 2 waits for 11 bytes that rank 0 does not send");
}

TEST_CASE("senders and receivers must list the same messages") {
    const auto key = [](int from, int to, int bytes) {
        return MessageKey{Rank{from}, Rank{to}, Bytes{bytes}};
    };
    const std::vector both{key(0, 1, 8), key(1, 0, 8)};
    check_agreement(0, both, {both[1], both[0]});
    CHECK_THROWS_WITH(check_agreement(3, {both[0], key(0, 1, 9)}, both), "round 3: rank 0 sends to 1 twice");
    CHECK_THROWS_WITH(check_agreement(3, both, {both[1]}),
                      "round 3: rank 1 does not wait for the message of rank 0");
    CHECK_THROWS_WITH(check_agreement(3, {both[1]}, both),
                      "round 3: rank 1 waits for 8 bytes that rank 0 does not send");
    CHECK_THROWS_WITH(check_agreement(3, both, {both[0], both[1], both[1]}),
                      "round 3: rank 0 waits for 8 bytes that rank 1 does not send");
}
