// SPDX-License-Identifier: BSD-3-Clause
// Uses the vector types of GCC and Clang. On x86 the kernels are compiled twice: for any processor, and for
// AVX2, which most processors support. Lanes are independent, so both versions have the same results.
#include "topoloom/qap/qap_kernel.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace topoloom::qap {

namespace {

template <class T>
struct VectorOf;
template <>
struct VectorOf<std::int32_t> {
    typedef std::int32_t type __attribute__((vector_size(32)));
    typedef std::uint32_t wrapping __attribute__((vector_size(32)));
};
template <>
struct VectorOf<std::int64_t> {
    typedef std::int64_t type __attribute__((vector_size(32)));
    typedef std::uint64_t wrapping __attribute__((vector_size(32)));
};
template <>
struct VectorOf<double> {
    typedef double type __attribute__((vector_size(32)));
    typedef double wrapping __attribute__((vector_size(32)));
};

// Padding can overflow, which is defined only for unsigned numbers.
template <class T, bool two>
[[gnu::always_inline]] inline Minima<T> update_body(const ExchangeTriangle<T>& triangle, const T* x,
                                                    const T* y, const T* xt, const T* yt, T now) {
    using Signed = typename VectorOf<T>::type;
    using Wrapping = typename VectorOf<T>::wrapping;
    constexpr std::size_t lanes = 32 / sizeof(T);
    constexpr T nothing = std::numeric_limits<T>::max();
    const Signed nothings = Signed{} + nothing;
    const Signed nows = Signed{} + now;
    Signed free = nothings;
    Signed any = nothings;
    for (std::size_t i = 1; i < triangle.order; ++i) {
        T* delta = triangle.delta + triangle.offset[i];
        const T* tabu_until = triangle.tabu_until + triangle.offset[i];
        const Wrapping xi = (Wrapping)(Signed{} + x[i]);
        const Wrapping yi = (Wrapping)(Signed{} + y[i]);
        Wrapping xti{};
        Wrapping yti{};
        if constexpr (two) {
            xti = (Wrapping)(Signed{} + xt[i]);
            yti = (Wrapping)(Signed{} + yt[i]);
        }
        for (std::size_t j = 0; j < i; j += lanes) {
            Wrapping value, xj, yj;
            Signed until;
            std::memcpy(&value, delta + j, sizeof value);
            std::memcpy(&xj, x + j, sizeof xj);
            std::memcpy(&yj, y + j, sizeof yj);
            std::memcpy(&until, tabu_until + j, sizeof until);
            value += (xi - xj) * (yi - yj);
            if constexpr (two) {
                Wrapping xtj, ytj;
                std::memcpy(&xtj, xt + j, sizeof xtj);
                std::memcpy(&ytj, yt + j, sizeof ytj);
                value += (xti - xtj) * (yti - ytj);
            }
            std::memcpy(delta + j, &value, sizeof value);
            const Signed now_worth = (Signed)value;
            const Signed if_free = until <= nows ? now_worth : nothings;
            const Signed if_any = until == nothings ? nothings : now_worth;
            free = if_free < free ? if_free : free;
            any = if_any < any ? if_any : any;
        }
    }
    Minima<T> least{nothing, nothing};
    for (std::size_t l = 0; l < lanes; ++l) {
        least.free = std::min<T>(least.free, free[l]);
        least.any = std::min<T>(least.any, any[l]);
    }
    return least;
}

template <class T>
[[gnu::always_inline]] inline Minima<T> update_either(const ExchangeTriangle<T>& triangle, const T* x,
                                                      const T* y, const T* xt, const T* yt, T now) {
    return xt ? update_body<T, true>(triangle, x, y, xt, yt, now)
              : update_body<T, false>(triangle, x, y, xt, yt, now);
}

template <class T>
[[gnu::always_inline]] inline std::size_t find_body(const ExchangeTriangle<T>& triangle, std::size_t& from,
                                                    T value, T now) {
    using Signed = typename VectorOf<T>::type;
    constexpr std::size_t lanes = 32 / sizeof(T);
    const Signed values = Signed{} + value;
    const Signed nows = Signed{} + now;
    const auto hits = [&](std::size_t begin, std::size_t end) {
        auto hit = values != values;
        for (std::size_t at = begin; at < end; at += lanes) {
            Signed delta, until;
            std::memcpy(&delta, triangle.delta + at, sizeof delta);
            std::memcpy(&until, triangle.tabu_until + at, sizeof until);
            hit |= (delta == values) & (until <= nows);
        }
        bool any = false;
        for (std::size_t l = 0; l < lanes; ++l) any |= hit[l] != 0;
        return any;
    };
    while (!hits(triangle.offset[from], triangle.offset[from + 1]))
        from = from + 1 == triangle.order ? 0 : from + 1;
    std::size_t at = triangle.offset[from];
    while (!(triangle.delta[at] == value && triangle.tabu_until[at] <= now)) ++at;
    return at;
}

template <class T>
[[gnu::always_inline]] inline void sum_body(const T* matrix, std::size_t rows, std::size_t stride,
                                            const T* factor, T* sum) {
    using Vector = typename VectorOf<T>::type;
    constexpr std::size_t lanes = 32 / sizeof(T);
    constexpr std::size_t block = 4 * lanes;
    std::size_t at = 0;
    for (; at + block <= stride; at += block) {
        Vector s0{}, s1{}, s2{}, s3{};
        for (std::size_t i = 0; i < rows; ++i) {
            const Vector f = Vector{} + factor[i];
            Vector m0, m1, m2, m3;
            const T* row = matrix + i * stride + at;
            std::memcpy(&m0, row, sizeof m0);
            std::memcpy(&m1, row + lanes, sizeof m1);
            std::memcpy(&m2, row + 2 * lanes, sizeof m2);
            std::memcpy(&m3, row + 3 * lanes, sizeof m3);
            s0 += f * m0;
            s1 += f * m1;
            s2 += f * m2;
            s3 += f * m3;
        }
        std::memcpy(sum + at, &s0, sizeof s0);
        std::memcpy(sum + at + lanes, &s1, sizeof s1);
        std::memcpy(sum + at + 2 * lanes, &s2, sizeof s2);
        std::memcpy(sum + at + 3 * lanes, &s3, sizeof s3);
    }
    for (; at < stride; at += lanes) {
        Vector s{};
        for (std::size_t i = 0; i < rows; ++i) {
            Vector m;
            std::memcpy(&m, matrix + i * stride + at, sizeof m);
            s += (Vector{} + factor[i]) * m;
        }
        std::memcpy(sum + at, &s, sizeof s);
    }
}

#if defined(__x86_64__)

template <class T>
[[gnu::target("avx2,fma")]] Minima<T> update_avx2(const ExchangeTriangle<T>& triangle, const T* x, const T* y,
                                                  const T* xt, const T* yt, T now) {
    return update_either(triangle, x, y, xt, yt, now);
}

template <class T>
[[gnu::target("avx2,fma")]] std::size_t find_avx2(const ExchangeTriangle<T>& triangle, std::size_t& from,
                                                  T value, T now) {
    return find_body(triangle, from, value, now);
}

template <class T>
[[gnu::target("avx2,fma")]] void sum_avx2(const T* matrix, std::size_t rows, std::size_t stride,
                                          const T* factor, T* sum) {
    sum_body(matrix, rows, stride, factor, sum);
}

bool has_avx2() {
    static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return has;
}

#endif

}  // namespace

template <class T>
Minima<T> update_and_find_minima(const ExchangeTriangle<T>& triangle, const T* x, const T* y, const T* xt,
                                 const T* yt, T now) {
#if defined(__x86_64__)
    if (has_avx2()) return update_avx2(triangle, x, y, xt, yt, now);
#endif
    return update_either(triangle, x, y, xt, yt, now);
}

template <class T>
std::size_t find_exchange(const ExchangeTriangle<T>& triangle, std::size_t& from, T value, T now) {
#if defined(__x86_64__)
    if (has_avx2()) return find_avx2(triangle, from, value, now);
#endif
    return find_body(triangle, from, value, now);
}

template <class T>
void weighted_row_sum(const T* matrix, std::size_t rows, std::size_t stride, const T* factor, T* sum) {
#if defined(__x86_64__)
    if (has_avx2()) return sum_avx2(matrix, rows, stride, factor, sum);
#endif
    sum_body(matrix, rows, stride, factor, sum);
}

template Minima<std::int32_t> update_and_find_minima(const ExchangeTriangle<std::int32_t>&,
                                                     const std::int32_t*, const std::int32_t*,
                                                     const std::int32_t*, const std::int32_t*, std::int32_t);
template Minima<std::int64_t> update_and_find_minima(const ExchangeTriangle<std::int64_t>&,
                                                     const std::int64_t*, const std::int64_t*,
                                                     const std::int64_t*, const std::int64_t*, std::int64_t);
template Minima<double> update_and_find_minima(const ExchangeTriangle<double>&, const double*, const double*,
                                               const double*, const double*, double);
template std::size_t find_exchange(const ExchangeTriangle<std::int32_t>&, std::size_t&, std::int32_t,
                                   std::int32_t);
template std::size_t find_exchange(const ExchangeTriangle<std::int64_t>&, std::size_t&, std::int64_t,
                                   std::int64_t);
template std::size_t find_exchange(const ExchangeTriangle<double>&, std::size_t&, double, double);
template void weighted_row_sum(const std::int32_t*, std::size_t, std::size_t, const std::int32_t*,
                               std::int32_t*);
template void weighted_row_sum(const std::int64_t*, std::size_t, std::size_t, const std::int64_t*,
                               std::int64_t*);
template void weighted_row_sum(const double*, std::size_t, std::size_t, const double*, double*);

}  // namespace topoloom::qap
