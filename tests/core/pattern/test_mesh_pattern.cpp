// SPDX-License-Identifier: BSD-3-Clause
// The traffic of a mesh equals that of the collectives of all its groups.
#include <doctest.h>

#include <bit>
#include <vector>

#include "pattern/collectives.hpp"
#include "pattern/dense_matrix.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/pattern/generators/mesh_pattern.hpp"

using namespace topoloom;

namespace {

using Extents = std::vector<std::uint32_t>;

constexpr std::int64_t bytes = 840;  // a multiple of all numbers that divide it in these tests

Dense matrix_of(const Extents& extents, const MeshTraffic& traffic) {
    Dense sum;
    for (const CommGraph& phase : mesh_phases(extents, traffic)) {
        const Dense one = to_dense_matrix(phase);
        if (sum.empty()) sum = empty_matrix(one.size());
        for (std::size_t u = 0; u < one.size(); ++u) {
            for (std::size_t v = 0; v < one.size(); ++v) add(sum, u, v, one[u][v].bytes, one[u][v].messages);
        }
    }
    return sum;
}

std::int64_t sent_bytes(const Dense& matrix, std::size_t u) {
    std::int64_t sum = 0;
    for (const Cell& cell : matrix[u]) sum += cell.bytes;
    return sum;
}

/// The rank at a position of a 2x3x4 mesh; the first axis varies fastest.
std::size_t mesh_rank(std::size_t x, std::size_t y, std::size_t z) { return x + 2 * y + 6 * z; }

}  // namespace

TEST_CASE("a ring along an axis joins ranks with equal coordinates on all others") {
    Dense expected = empty_matrix(24);
    for (std::size_t x = 0; x < 2; ++x) {
        for (std::size_t y = 0; y < 3; ++y) {
            for (std::size_t z = 0; z < 4; ++z) {
                add(expected, mesh_rank(x, y, z), mesh_rank(x, y, (z + 1) % 4), bytes / 2);
                add(expected, mesh_rank(x, y, z), mesh_rank(x, y, (z + 3) % 4), bytes / 2);
            }
        }
    }
    CHECK(matrix_of({2, 3, 4}, {{2}, MeshCollective::ring, Bytes{bytes}}) == expected);
}

TEST_CASE("rings along the digits of a group share its bytes equally") {
    const Extents extents{2, 3, 4};
    const Dense rings = matrix_of(extents, {{1, 2}, MeshCollective::ring, Bytes{bytes}, {3, 4}});
    const Dense inner = matrix_of(extents, {{1}, MeshCollective::ring, Bytes{bytes / 2}});
    const Dense outer = matrix_of(extents, {{2}, MeshCollective::ring, Bytes{bytes / 2}});
    for (std::size_t u = 0; u < rings.size(); ++u) {
        for (std::size_t v = 0; v < rings.size(); ++v)
            CHECK(rings[u][v].bytes == inner[u][v].bytes + outer[u][v].bytes);
    }
    const MeshTraffic all{{1, 2}, MeshCollective::ring, Bytes{bytes}};
    CHECK(matrix_of(extents, {{1, 2}, MeshCollective::ring, Bytes{bytes}, {12, 1}}) ==
          matrix_of(extents, all));
    CHECK_THROWS_WITH_AS((void)mesh_phases(extents, {{1, 2}, MeshCollective::ring, Bytes{bytes}, {3, 3}}),
                         "rings of a shape with 9 members in groups of 12", Error);
}

TEST_CASE("members of a group along several axes are numbered with the first axis fastest") {
    Dense expected = empty_matrix(24);
    for (std::size_t y = 0; y < 3; ++y) {
        for (std::size_t i = 0; i + 1 < 8; ++i) {  // position of member i: z varies fastest
            const std::size_t here = mesh_rank(i / 4, y, i % 4);
            const std::size_t next = mesh_rank((i + 1) / 4, y, (i + 1) % 4);
            add(expected, here, next, bytes / 2);
            add(expected, next, here, bytes / 2);
        }
    }
    CHECK(matrix_of({2, 3, 4}, {{2, 0}, MeshCollective::chain, Bytes{bytes}}) == expected);
}

TEST_CASE("every member sends the requested bytes, and the ends of a chain half of them") {
    for (const std::uint32_t n : {2U, 3U, 4U, 8U}) {
        for (const MeshCollective collective :
             {MeshCollective::ring, MeshCollective::alltoall, MeshCollective::halving}) {
            if (collective == MeshCollective::halving && !std::has_single_bit(n)) continue;
            const Dense matrix = matrix_of({3, n}, {{1}, collective, Bytes{bytes}});
            for (std::size_t u = 0; u < matrix.size(); ++u) CHECK(sent_bytes(matrix, u) == bytes);
        }
        const Dense chain = matrix_of({n}, {{0}, MeshCollective::chain, Bytes{bytes}});
        for (std::size_t u = 0; u < n; ++u)
            CHECK(sent_bytes(chain, u) == (u == 0 || u + 1 == n ? bytes / 2 : bytes));
    }
}

TEST_CASE("each round of halving sends half as much over twice the distance") {
    const auto rounds = mesh_phases(Extents{8}, {{0}, MeshCollective::halving, Bytes{700}});
    REQUIRE(rounds.size() == 3);
    for (std::uint32_t k = 0; k < 3; ++k) {
        for (const Rank u : ids<Rank>(8)) {
            REQUIRE(rounds[k].degree(u) == 1);
            CHECK(rounds[k].peers(u)[0] == Rank{u.value ^ 1U << k});
            CHECK(rounds[k].bytes(u)[0] == Bytes{400 >> k});
        }
    }
}

TEST_CASE(
    "a mesh with a single axis has the pattern of the collective, and groups of one rank send nothing") {
    CHECK(matrix_of({7}, {{0}, MeshCollective::alltoall, Bytes{60}}) ==
          to_dense_matrix(alltoall(7, Bytes{10})));
    CHECK(mesh_phases(Extents{1, 4}, {{0}, MeshCollective::ring, Bytes{10}}).empty());
}

TEST_CASE("bytes per message are rounded up, and large byte counts stay exact") {
    CHECK(sent_bytes(matrix_of({4}, {{0}, MeshCollective::alltoall, Bytes{10}}), 0) == 12);
    const std::int64_t most = 7 * (std::int64_t{1} << 57);
    CHECK(sent_bytes(matrix_of({8}, {{0}, MeshCollective::halving, Bytes{most}}), 3) == most);
}

TEST_CASE("invalid traffic is refused, and the error names valid alternatives") {
    const auto refused = [](const Extents& extents, const MeshTraffic& traffic, const char* text) {
        CHECK_THROWS_WITH_AS((void)mesh_phases(extents, traffic), text, Error);
    };
    refused({2, 0}, {{0}, MeshCollective::ring, Bytes{1}},
            "axis 1 of the mesh is empty; give it at least 1 rank");
    refused({2, 2}, {{2}, MeshCollective::ring, Bytes{1}}, "the mesh has 2 axes, and no axis 2");
    refused({2, 2}, {{1, 1}, MeshCollective::ring, Bytes{1}}, "axis 1 of the mesh is named twice");
    refused({2, 2}, {{}, MeshCollective::ring, Bytes{1}},
            "traffic along no axis of the mesh; name at least one");
    refused(
        {6}, {{0}, MeshCollective::halving, Bytes{1}},
        "halving needs groups of a power of two, not of 6; the nearest are 4 and 8, and a ring takes any");
    refused({2}, {{0}, MeshCollective::ring, Bytes{-1}},
            "the messages of a mesh cannot have -1 bytes; give 0 or more");
    refused({1U << 16, 1U << 16}, {{0}, MeshCollective::ring, Bytes{1}},
            "a mesh of 4294967296 ranks is too large; give at most 2^31 - 1");
}
