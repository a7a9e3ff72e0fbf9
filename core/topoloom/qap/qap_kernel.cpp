// SPDX-License-Identifier: BSD-3-Clause
// Uses the vector types of GCC and Clang. On x86 the kernels are compiled twice: for any processor, and for
// AVX2, which most processors support. Lanes are independent, so both versions have the same results.
#include "topoloom/qap/qap_kernel.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace topoloom::qap {

namespace {

template <class T>
struct VectorOf {
    typedef T type __attribute__((vector_size(32)));
};

template <class T>
constexpr T nothing = std::numeric_limits<T>::max();

/// Adds updates to one row after the other.
template <class T, bool two>
[[gnu::always_inline]] inline T update_body(const ExchangeTriangle<T>& triangle, const WrappingType<T>* x,
                                            const WrappingType<T>* y, const WrappingType<T>* xt,
                                            const WrappingType<T>* yt) {
    using Signed = typename VectorOf<T>::type;
    using Wrapping = typename VectorOf<WrappingType<T>>::type;
    constexpr std::size_t lanes = vector_lanes<T>;
    const Signed nothings = Signed{} + nothing<T>;
    Signed least = nothings;
    for (std::size_t i = 1; i < triangle.order; ++i) {
        T* delta = triangle.delta + triangle.offset[i];
        const Wrapping xi = Wrapping{} + x[i];
        const Wrapping yi = Wrapping{} + y[i];
        Wrapping xti{};
        Wrapping yti{};
        if constexpr (two) {
            xti = Wrapping{} + xt[i];
            yti = Wrapping{} + yt[i];
        }
        Signed of_row = nothings;
        for (std::size_t j = 0; j < i; j += lanes) {
            Wrapping value, xj, yj;
            std::memcpy(&value, delta + j, sizeof value);
            std::memcpy(&xj, x + j, sizeof xj);
            std::memcpy(&yj, y + j, sizeof yj);
            value += (xi - xj) * (yi - yj);
            if constexpr (two) {
                std::memcpy(&xj, xt + j, sizeof xj);
                std::memcpy(&yj, yt + j, sizeof yj);
                value += (xti - xj) * (yti - yj);
            }
            auto result = (Signed)value;
            if (j + lanes > i) {
                for (std::size_t l = i - j; l < lanes; ++l) result[l] = nothing<T>;
            }
            std::memcpy(delta + j, &result, sizeof result);
            of_row = result < of_row ? result : of_row;
        }
        std::memcpy(triangle.row_minimum + i * lanes, &of_row, sizeof of_row);
        least = of_row < least ? of_row : least;
    }
    T found = nothing<T>;
    for (std::size_t l = 0; l < lanes; ++l) found = std::min<T>(found, least[l]);
    return found;
}

template <class T>
[[gnu::always_inline]] inline T update_either(const ExchangeTriangle<T>& triangle, const WrappingType<T>* x,
                                              const WrappingType<T>* y, const WrappingType<T>* xt,
                                              const WrappingType<T>* yt) {
    return xt ? update_body<T, true>(triangle, x, y, xt, yt) : update_body<T, false>(triangle, x, y, xt, yt);
}

/// Computes `count` vectors of a weighted sum of rows.
template <std::size_t count, class Word>
[[gnu::always_inline]] inline void sum_block(const Word* matrix, std::size_t rows, std::size_t stride,
                                             const Word* factor, Word* sum) {
    using Vector = typename VectorOf<Word>::type;
    constexpr std::size_t lanes = vector_lanes<Word>;
    std::array<Vector, count> total{};
    for (std::size_t i = 0; i < rows; ++i) {
        const Vector f = Vector{} + factor[i];
        for (std::size_t k = 0; k < count; ++k) {
            Vector m;
            std::memcpy(&m, matrix + i * stride + k * lanes, sizeof m);
            total[k] += f * m;
        }
    }
    std::memcpy(sum, total.data(), sizeof total);
}

template <class Word>
[[gnu::always_inline]] inline void sum_body(const Word* matrix, std::size_t rows, std::size_t stride,
                                            const Word* factor, Word* sum) {
    constexpr std::size_t lanes = vector_lanes<Word>;
    std::size_t at = 0;
    for (; at + 4 * lanes <= stride; at += 4 * lanes)
        sum_block<4>(matrix + at, rows, stride, factor, sum + at);
    for (; at < stride; at += lanes) sum_block<1>(matrix + at, rows, stride, factor, sum + at);
}

template <class T>
[[gnu::always_inline]] inline std::size_t find_row_body(const ExchangeTriangle<T>& triangle, std::size_t from,
                                                        T value) {
    using Signed = typename VectorOf<T>::type;
    using Halves = typename VectorOf<std::uint64_t>::type;
    const Signed values = Signed{} + value;
    while (true) {
        Signed minima;
        std::memcpy(&minima, triangle.row_minimum + from * vector_lanes<T>, sizeof minima);
        const auto hit = (Halves)(minima == values);
        if ((hit[0] | hit[1] | hit[2] | hit[3]) != 0) return from;
        from = from + 1 == triangle.order ? 0 : from + 1;
    }
}

template <class Word>
[[gnu::always_inline]] inline Word factors_body(const SymmetricMove<Word>& move, const Word* __restrict row_r,
                                                const Word* __restrict row_s, std::size_t r, std::size_t s) {
    const std::uint32_t* __restrict location = move.location;
    const Word* __restrict a_r = move.a_r;
    const Word* __restrict a_s = move.a_s;
    Word* __restrict b_r = move.b_r;
    Word* __restrict b_s = move.b_s;
    Word* __restrict x = move.x;
    Word* __restrict y = move.y;
    Word* __restrict x_at = move.x_at;
    for (std::size_t k = 0; k < move.order; ++k) {
        const std::uint32_t at = location[k];
        b_r[k] = row_r[at];
        b_s[k] = row_s[at];
    }
    Word both = 0;
    for (std::size_t k = 0; k < move.order; ++k) {
        x[k] = a_r[k] - a_s[k];
        y[k] = b_r[k] - b_s[k];
        both += a_r[k] * b_s[k] - a_s[k] * b_r[k];  // the terms k = r and k = s cancel
    }
    x[r] = x[s] = y[r] = y[s] = 0;
    for (std::size_t k = 0; k < move.order; ++k) x_at[location[k]] = x[k];
    return both;
}

template <class T>
[[gnu::always_inline]] inline void of_move_body(const SymmetricMove<WrappingType<T>>& move,
                                                const WrappingType<T>* __restrict shift,
                                                WrappingType<T> fixed, WrappingType<T> a_rs,
                                                WrappingType<T> b_rs, WrappingType<T> of_move,
                                                WrappingType<T>* __restrict with_r,
                                                WrappingType<T>* __restrict with_s) {
    using Word = WrappingType<T>;
    const Word* __restrict a_r = move.a_r;
    const Word* __restrict a_s = move.a_s;
    const Word* __restrict b_r = move.b_r;
    const Word* __restrict b_s = move.b_s;
    const Word* __restrict x = move.x;
    const Word* __restrict y = move.y;
    const auto halve = [](Word even) __attribute__((always_inline)) {
        return static_cast<Word>(static_cast<T>(even) / 2);
    };
    for (std::size_t u = 0; u < move.order; ++u) {
        const Word difference = shift[u] + fixed + a_r[u] * (b_rs - b_s[u] - b_s[u]) +
                                a_s[u] * (b_r[u] + b_r[u] - b_rs) + a_rs * (b_s[u] - b_r[u]);
        const Word sum = with_r[u] + with_s[u] + of_move;
        const Word less = of_move + x[u] * y[u];
        with_s[u] = halve(sum + difference) - less;
        with_r[u] = halve(sum - difference) - less;
    }
}

#if defined(__x86_64__)

template <class T>
[[gnu::target("avx2,fma")]] std::size_t find_row_avx2(const ExchangeTriangle<T>& triangle, std::size_t from,
                                                      T value) {
    return find_row_body(triangle, from, value);
}

template <class Word>
[[gnu::target("avx2,fma")]] Word factors_avx2(const SymmetricMove<Word>& move, const Word* row_r,
                                              const Word* row_s, std::size_t r, std::size_t s) {
    return factors_body(move, row_r, row_s, r, s);
}

template <class T>
[[gnu::target("avx2,fma")]] void of_move_avx2(const SymmetricMove<WrappingType<T>>& move,
                                              const WrappingType<T>* shift, WrappingType<T> fixed,
                                              WrappingType<T> a_rs, WrappingType<T> b_rs,
                                              WrappingType<T> of_move, WrappingType<T>* with_r,
                                              WrappingType<T>* with_s) {
    of_move_body<T>(move, shift, fixed, a_rs, b_rs, of_move, with_r, with_s);
}

template <class T>
[[gnu::target("avx2,fma")]] T update_avx2(const ExchangeTriangle<T>& triangle, const WrappingType<T>* x,
                                          const WrappingType<T>* y, const WrappingType<T>* xt,
                                          const WrappingType<T>* yt) {
    return update_either(triangle, x, y, xt, yt);
}

template <class Word>
[[gnu::target("avx2,fma")]] void sum_avx2(const Word* matrix, std::size_t rows, std::size_t stride,
                                          const Word* factor, Word* sum) {
    sum_body(matrix, rows, stride, factor, sum);
}

bool has_avx2() {
    static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return has;
}

#endif

}  // namespace

template <class T>
T update_exchanges(const ExchangeTriangle<T>& triangle, const WrappingType<T>* x, const WrappingType<T>* y,
                   const WrappingType<T>* xt, const WrappingType<T>* yt) {
#if defined(__x86_64__)
    if (has_avx2()) return update_avx2(triangle, x, y, xt, yt);
#endif
    return update_either(triangle, x, y, xt, yt);
}

template <class Word>
void weighted_row_sum(const Word* matrix, std::size_t rows, std::size_t stride, const Word* factor,
                      Word* sum) {
#if defined(__x86_64__)
    if (has_avx2()) return sum_avx2(matrix, rows, stride, factor, sum);
#endif
    sum_body(matrix, rows, stride, factor, sum);
}

template <class T>
std::size_t find_row(const ExchangeTriangle<T>& triangle, std::size_t from, T value) {
#if defined(__x86_64__)
    if (has_avx2()) return find_row_avx2(triangle, from, value);
#endif
    return find_row_body(triangle, from, value);
}

std::size_t find_greater(const std::uint32_t* values, std::size_t size, std::uint32_t threshold,
                         std::uint32_t* found) {
    std::size_t count = 0;
    for (std::size_t k = 0; k < size; ++k) {
        found[count] = static_cast<std::uint32_t>(k);
        count += values[k] > threshold ? 1 : 0;
    }
    return count;
}

template <class Word>
Word compute_factors(const SymmetricMove<Word>& move, const Word* row_r, const Word* row_s, std::size_t r,
                     std::size_t s) {
#if defined(__x86_64__)
    if (has_avx2()) return factors_avx2(move, row_r, row_s, r, s);
#endif
    return factors_body(move, row_r, row_s, r, s);
}

template <class T>
void update_exchanges_of_move(const SymmetricMove<WrappingType<T>>& move, const WrappingType<T>* shift,
                              WrappingType<T> fixed, WrappingType<T> a_rs, WrappingType<T> b_rs,
                              WrappingType<T> of_move, WrappingType<T>* with_r, WrappingType<T>* with_s) {
#if defined(__x86_64__)
    if (has_avx2()) return of_move_avx2<T>(move, shift, fixed, a_rs, b_rs, of_move, with_r, with_s);
#endif
    of_move_body<T>(move, shift, fixed, a_rs, b_rs, of_move, with_r, with_s);
}

template std::size_t find_row(const ExchangeTriangle<std::int32_t>&, std::size_t, std::int32_t);
template std::size_t find_row(const ExchangeTriangle<std::int64_t>&, std::size_t, std::int64_t);
template std::size_t find_row(const ExchangeTriangle<double>&, std::size_t, double);
template std::uint32_t compute_factors(const SymmetricMove<std::uint32_t>&, const std::uint32_t*,
                                       const std::uint32_t*, std::size_t, std::size_t);
template std::uint64_t compute_factors(const SymmetricMove<std::uint64_t>&, const std::uint64_t*,
                                       const std::uint64_t*, std::size_t, std::size_t);
template double compute_factors(const SymmetricMove<double>&, const double*, const double*, std::size_t,
                                std::size_t);
template void update_exchanges_of_move<std::int32_t>(const SymmetricMove<std::uint32_t>&,
                                                     const std::uint32_t*, std::uint32_t, std::uint32_t,
                                                     std::uint32_t, std::uint32_t, std::uint32_t*,
                                                     std::uint32_t*);
template void update_exchanges_of_move<std::int64_t>(const SymmetricMove<std::uint64_t>&,
                                                     const std::uint64_t*, std::uint64_t, std::uint64_t,
                                                     std::uint64_t, std::uint64_t, std::uint64_t*,
                                                     std::uint64_t*);
template void update_exchanges_of_move<double>(const SymmetricMove<double>&, const double*, double, double,
                                               double, double, double*, double*);
template std::int32_t update_exchanges(const ExchangeTriangle<std::int32_t>&, const std::uint32_t*,
                                       const std::uint32_t*, const std::uint32_t*, const std::uint32_t*);
template std::int64_t update_exchanges(const ExchangeTriangle<std::int64_t>&, const std::uint64_t*,
                                       const std::uint64_t*, const std::uint64_t*, const std::uint64_t*);
template double update_exchanges(const ExchangeTriangle<double>&, const double*, const double*, const double*,
                                 const double*);
template void weighted_row_sum(const std::uint32_t*, std::size_t, std::size_t, const std::uint32_t*,
                               std::uint32_t*);
template void weighted_row_sum(const std::uint64_t*, std::size_t, std::size_t, const std::uint64_t*,
                               std::uint64_t*);
template void weighted_row_sum(const double*, std::size_t, std::size_t, const double*, double*);

}  // namespace topoloom::qap
