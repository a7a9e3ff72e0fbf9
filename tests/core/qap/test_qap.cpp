// SPDX-License-Identifier: BSD-3-Clause
// Dense quadratic assignment: values, and gains of exchanges that are updated incrementally, compared with
// the definition.
#include <doctest.h>

#include <algorithm>
#include <numeric>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/qap/qap.hpp"
#include "topoloom/qap/qap_moves.hpp"

using namespace topoloom;

namespace {

enum class Shape { symmetric, one_symmetric, asymmetric };

std::vector<std::int64_t> random_matrix(std::size_t n, Rng& rng, bool symmetric, bool diagonal,
                                        std::uint32_t most) {
    std::vector<std::int64_t> m(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j)
            m[i * n + j] = static_cast<std::int64_t>(rng.below(most)) - most / 3;
        if (!diagonal) m[i * n + i] = 0;
    }
    for (std::size_t i = 0; symmetric && i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) m[i * n + j] = m[j * n + i];
    }
    return m;
}

qap::Qap random_qap(std::size_t n, std::uint64_t seed, Shape shape, bool diagonal, std::uint32_t most) {
    Rng rng(seed);
    auto a = random_matrix(n, rng, shape != Shape::asymmetric, diagonal, most);
    auto b = random_matrix(n, rng, shape == Shape::symmetric, diagonal, most);
    if (seed % 2 == 1) a.swap(b);
    std::vector<std::int64_t> linear;
    if (diagonal && seed % 4 < 2) linear = random_matrix(n, rng, false, true, most * most);
    return {n, std::move(a), std::move(b), std::move(linear)};
}

qap::Permutation random_permutation(std::size_t n, Rng& rng) {
    qap::Permutation p(n);
    std::iota(p.begin(), p.end(), 0U);
    rng.shuffle(std::span<std::uint32_t>(p));
    return p;
}

std::int64_t exchange_delta(const qap::Qap& qap, qap::Permutation p, std::size_t i, std::size_t j) {
    const std::int64_t before = qap.value(p);
    std::swap(p[i], p[j]);
    return qap.value(p) - before;
}

/// Ends of tabu tenures by item and location class, as defined.
class TabuTable {
   public:
    template <class T>
    explicit TabuTable(const qap::QapTables<T>& tables)
        : items_(tables.item_class),
          locations_(tables.location_class),
          until_(tables.order, std::vector<std::uint32_t>(tables.order, 0)) {}

    void forbid(std::uint32_t i, std::uint32_t x, std::uint32_t until) {
        until_[items_[i]][locations_[x]] = until;
    }
    [[nodiscard]] bool are_twins(const qap::Permutation& p, std::uint32_t i, std::uint32_t j) const {
        return items_[i] == items_[j] || locations_[p[i]] == locations_[p[j]];
    }
    [[nodiscard]] bool is_tabu(const qap::Permutation& p, std::uint32_t i, std::uint32_t j,
                               std::uint32_t now) const {
        return std::min(until_[items_[i]][locations_[p[j]]], until_[items_[j]][locations_[p[i]]]) > now;
    }

   private:
    std::vector<std::uint32_t> items_, locations_;
    std::vector<std::vector<std::uint32_t>> until_;
};

/// Checks all deltas, and the minima of all exchanges and of those that are not tabu, against definitions.
template <class T>
void check_deltas(const qap::Qap& qap, std::int64_t factor, qap::QapMoves<T>& moves, const TabuTable& tabu,
                  std::uint32_t now, std::uint32_t from) {
    constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::max();
    const auto n = static_cast<std::uint32_t>(qap.order());
    const qap::Permutation p = moves.assignment();
    std::int64_t any = nothing;
    std::int64_t free = nothing;
    for (std::uint32_t i = 0; i < n; ++i) {
        for (std::uint32_t j = 0; j < i; ++j) {
            const std::int64_t delta = exchange_delta(qap, p, i, j);
            REQUIRE(static_cast<std::int64_t>(moves.delta(i, j)) * factor == delta);
            if (tabu.are_twins(p, i, j)) {
                REQUIRE(delta == 0);
                continue;
            }
            any = std::min(any, delta);
            if (!tabu.is_tabu(p, i, j, now)) free = std::min(free, delta);
        }
    }
    REQUIRE((moves.min_any() == moves.nothing) == (any == nothing));
    REQUIRE((moves.min_free() == moves.nothing) == (free == nothing));
    if (any < nothing) {
        REQUIRE(static_cast<std::int64_t>(moves.min_any()) * factor == any);
        const auto move = moves.find_any(from);
        REQUIRE(exchange_delta(qap, p, move.i, move.j) == any);
    }
    if (free < nothing) {
        REQUIRE(static_cast<std::int64_t>(moves.min_free()) * factor == free);
        const auto move = moves.find_free(from);
        REQUIRE(exchange_delta(qap, p, move.i, move.j) == free);
        REQUIRE(!tabu.is_tabu(p, move.i, move.j, now));
    }
}

/// Makes random exchanges and forbids to undo them for a while; checks everything after each.
template <class T>
void check_moves(const qap::Qap& qap, std::uint64_t seed) {
    const qap::NormalizedQap form(qap);
    const qap::QapTables<T> tables(form);
    qap::QapMoves<T> moves(tables);
    TabuTable tabu(tables);
    Rng rng(seed, 1);
    const auto n = static_cast<std::uint32_t>(qap.order());
    moves.start(random_permutation(n, rng));
    for (std::uint32_t now = 0; now < 12; ++now) {
        check_deltas(qap, form.factor, moves, tabu, now, rng.below(n));
        const std::uint32_t i = rng.below(n);
        const std::uint32_t j = (i + 1 + rng.below(n - 1)) % n;
        for (const std::uint32_t k : {i, j}) {
            const std::uint32_t until = now + 1 + rng.below(8);
            moves.forbid(k, moves.assignment()[k], until);
            tabu.forbid(k, moves.assignment()[k], until);
        }
        moves.exchange(i, j, now + 1);
    }
}

}  // namespace

TEST_CASE("exchange deltas and minima stay exact after any moves, for every kind of matrix and number type") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        for (const Shape shape : {Shape::symmetric, Shape::one_symmetric, Shape::asymmetric}) {
            for (const bool diagonal : {false, true}) {
                CAPTURE(seed);
                CAPTURE(diagonal);
                // With few distinct entries, items are interchangeable and entries have common factors.
                const qap::Qap qap = random_qap(2 + seed * 2, seed, shape, diagonal, seed % 3 == 0 ? 3 : 100);
                check_moves<std::int32_t>(qap, seed);
                check_moves<std::int64_t>(qap, seed);
                check_moves<double>(qap, seed);
            }
        }
    }
}

TEST_CASE("entries beyond 16 bits give the same deltas in 32 bits") {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        Rng rng(seed);
        const std::size_t n = 6 + seed * 3;
        auto wide = random_matrix(n, rng, seed % 4 < 2, true, 60'000);
        wide[1] = wide[n] = 30'001;  // no common factor
        const qap::Qap qap(n, std::move(wide), random_matrix(n, rng, seed % 2 == 0, false, 4));
        REQUIRE(qap::with_qap_type(qap::NormalizedQap(qap), [](auto type) { return sizeof type; }) == 4);
        CHECK(!qap::QapTables<std::int32_t>(qap::NormalizedQap(qap)).use_int16);
        check_moves<std::int32_t>(qap, seed);
    }
}

TEST_CASE("numbers beyond 32 bits use a wider type") {
    const std::size_t n = 12;
    const std::int64_t large = 1'000'000;
    const qap::Qap small = random_qap(n, 5, Shape::symmetric, false, 100);
    std::vector<std::int64_t> a(small.a().begin(), small.a().end());
    std::vector<std::int64_t> b(small.b().begin(), small.b().end());
    const auto type_of = [](const qap::Qap& qap) {
        return qap::with_qap_type(qap::NormalizedQap(qap), []<class T>(T) {
            return std::is_same_v<T, double> ? 1 : std::is_integral_v<T> && sizeof(T) == 8 ? 2 : 0;
        });
    };
    CHECK(type_of(qap::Qap(n, a, b)) == 0);
    for (auto& v : a) v *= large;
    a[1] += 1;
    a[n] += 1;
    CHECK(type_of(qap::Qap(n, a, b)) == 1);
    for (auto& v : b) v *= large;
    b[1] += 1;
    b[n] += 1;
    const qap::Qap wide(n, a, b);
    CHECK(type_of(wide) == 2);
    check_moves<std::int64_t>(wide, 1);
    for (auto& v : b) v *= large;
    CHECK_THROWS_AS(qap::Qap(n, a, b), Error);
}

TEST_CASE("twins are items whose exchange never changes the value") {
    const std::vector<std::int64_t> m{0, 1, 1, 5,  //
                                      1, 0, 1, 5,  //
                                      1, 1, 0, 4,  //
                                      5, 5, 4, 0};
    CHECK(qap::twin_classes(4, m) == std::vector<std::uint32_t>{0, 0, 2, 3});
}

TEST_CASE("linear costs are included, and only items of equal linear cost are twins") {
    const std::vector<std::int64_t> constant(9, 4);
    const std::vector<std::int64_t> linear{1, 2, 3, 1, 2, 3, 6, 5, 6};
    const qap::Qap qap(3, constant, constant, linear);
    CHECK(qap.value(qap::Permutation{0, 1, 2}) == 9 * 16 + 1 + 2 + 6);
    CHECK(qap.value(qap::Permutation{2, 0, 1}) == 9 * 16 + 3 + 1 + 5);
    CHECK(qap::twin_classes(3, constant, linear) == std::vector<std::uint32_t>{0, 0, 2});
    CHECK_THROWS_AS(qap::Qap(3, constant, constant, {1, 2}), Error);
    CHECK_THROWS_AS(qap::Qap(3, constant, constant, std::vector<std::int64_t>(9, std::int64_t{1} << 60)),
                    Error);
}

TEST_CASE("invalid assignments are refused") {
    CHECK_NOTHROW(qap::require_permutation(qap::Permutation{1, 0, 2}, 3));
    CHECK_THROWS_WITH_AS(qap::require_permutation(qap::Permutation{1, 0}, 3),
                         "the assignment has 2 items, but the problem has 3", Error);
    CHECK_THROWS_WITH_AS(qap::require_permutation(qap::Permutation{1, 3, 0}, 3),
                         "the assignment uses location 3 of 3", Error);
    CHECK_THROWS_WITH_AS(qap::require_permutation(qap::Permutation{1, 1, 0}, 3),
                         "the assignment uses location 1 twice", Error);
    CHECK_THROWS_AS(qap::Qap(0, {}, {}), Error);
    CHECK_THROWS_AS(qap::Qap(2, {0, 1, 1}, {0, 1, 1, 0}), Error);
}
