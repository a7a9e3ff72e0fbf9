// SPDX-License-Identifier: BSD-3-Clause
// Bine trees and butterflies send bytes over shorter distances than binomial trees and hypercubes.
#include <doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>

#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/schedule/collectives/shapes/bine_ring.hpp"

using namespace topoloom;

namespace {

using enum Operation;

/// Groups of published systems have 124 nodes (LUMI), 160 (MareNostrum 5) and 180 (Leonardo).
constexpr std::size_t group_sizes[] = {8, 12, 16, 20, 36, 124, 160, 180};

/// Sums weight(from, to, bytes) over all messages.
template <class Weight>
std::int64_t sum_messages(Operation operation, std::string_view name, std::size_t ranks,
                          const Weight& weight) {
    const Call call{operation, ranks, Bytes{operation == allreduce ? static_cast<std::int64_t>(ranks) : 1}};
    std::int64_t sum = 0;
    const AnySchedule schedule = make_schedule(call, name);
    for (const Rank from : ids<Rank>(ranks)) {
        each_total(schedule, from, [&](Rank to, Bytes bytes, std::int64_t) {
            sum += weight(from.value, to.value, bytes.value);
        });
    }
    return sum;
}

/// Bytes that leave groups of consecutive ranks; the first group begins with rank 0.
std::int64_t bytes_leaving_groups(Operation operation, std::string_view name, std::size_t ranks,
                                  std::size_t group) {
    return sum_messages(operation, name, ranks, [&](std::size_t from, std::size_t to, std::int64_t bytes) {
        return from / group == to / group ? 0 : bytes;
    });
}

/// The sum of these bytes over all `group` positions that the first boundary between groups can have.
std::int64_t bytes_leaving_shifted_groups(Operation operation, std::string_view name, std::size_t ranks,
                                          std::size_t group) {
    return sum_messages(operation, name, ranks, [&](std::size_t from, std::size_t to, std::int64_t bytes) {
        const std::size_t apart = std::max(from, to) - std::min(from, to);
        return bytes * static_cast<std::int64_t>(std::min(apart, group));
    });
}

}  // namespace

TEST_CASE("partners in a Bine step are a third nearer than those in the same step of a hypercube") {
    for (std::size_t count = 2; count <= 1024; count *= 2) {
        const BineRing ring(count);
        for (std::uint64_t step = 1; step <= ring.steps(); ++step) {
            for (std::size_t position = 0; position < count; ++position) {
                const std::size_t partner = ring.partner(position, step);
                CHECK(ring.partner(partner, step) == position);
                const std::size_t apart = ring.wrap_position(partner + count - position);
                CHECK(3 * std::min(apart, count - apart) <= (std::size_t{1} << step) + 1);
            }
        }
    }
}

TEST_CASE("steps join adjacent ranges of the ring, and each position only once") {
    for (std::size_t count = 2; count <= 256; count *= 2) {
        const BineRing ring(count);
        for (std::size_t position = 0; position < count; ++position) {
            std::set<std::size_t> joined{position};
            for (std::uint64_t step = 1; step <= ring.steps(); ++step) {
                // This step joins the positions that the partner has joined in earlier steps.
                const std::size_t partner = ring.partner(position, step);
                for (std::size_t i = 0; i < std::size_t{1} << (step - 1); ++i)
                    CHECK(joined.insert(ring.wrap_position(ring.first_joined(partner, step - 1) + i)).second);
                for (std::size_t i = 0; i < std::size_t{1} << step; ++i)
                    CHECK(joined.contains(ring.wrap_position(ring.first_joined(position, step) + i)));
            }
        }
    }
}

TEST_CASE("Bine butterflies never send more bytes out of groups than hypercubes, and on average fewer") {
    for (std::size_t ranks = 64; ranks <= 1024; ranks *= 2) {
        for (const std::size_t group : group_sizes) {
            CAPTURE(ranks);
            CAPTURE(group);
            for (const auto& [operation, other] : {std::pair{allgather, "recursive-doubling"},
                                                   {reduce_scatter, "halving"},
                                                   {allreduce, "halving"}}) {
                CHECK(bytes_leaving_groups(operation, "bine", ranks, group) <=
                      bytes_leaving_groups(operation, other, ranks, group));
                CHECK(bytes_leaving_shifted_groups(operation, "bine", ranks, group) <
                      bytes_leaving_shifted_groups(operation, other, ranks, group));
            }
        }
    }
}

TEST_CASE(
    "Bine trees send fewer bytes between four or more groups, on average over the positions of boundaries") {
    for (std::size_t ranks = 64; ranks <= 4096; ranks *= 2) {
        for (const std::size_t group : group_sizes) {
            if (4 * group > ranks) continue;
            CAPTURE(ranks);
            CAPTURE(group);
            for (const Operation operation : {bcast, reduce, scatter, gather}) {
                CHECK(bytes_leaving_shifted_groups(operation, "bine", ranks, group) <
                      bytes_leaving_shifted_groups(operation, "binomial", ranks, group));
            }
        }
    }
}

TEST_CASE("the bytes saved between groups equal the documented values") {
    const auto saved = [](Operation operation, std::string_view other, std::size_t ranks, std::size_t group) {
        const std::int64_t bine = bytes_leaving_shifted_groups(operation, "bine", ranks, group);
        const std::int64_t usual = bytes_leaving_shifted_groups(operation, other, ranks, group);
        return 1 - static_cast<double>(bine) / static_cast<double>(usual);
    };
    CHECK(saved(bcast, "binomial", 1024, 160) == doctest::Approx(0.16).epsilon(0.03));
    CHECK(saved(scatter, "binomial", 1024, 160) == doctest::Approx(0.09).epsilon(0.05));
    CHECK(saved(allgather, "recursive-doubling", 64, 32) == doctest::Approx(0.19).epsilon(0.03));
    CHECK(saved(allgather, "recursive-doubling", 1024, 160) == doctest::Approx(0.04).epsilon(0.12));
}

TEST_CASE("a binomial bcast sends data only once into each aligned group, which is optimal") {
    CHECK(bytes_leaving_groups(bcast, "binomial", 256, 16) == 15);
    CHECK(bytes_leaving_groups(bcast, "bine", 256, 16) > 15);
}
