// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/qap_kernel_int16.hpp"

#include "topoloom/base/error.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#endif

namespace topoloom::qap {

#if defined(__x86_64__)

namespace {

constexpr std::size_t lanes = vector_lanes<std::int32_t>;

[[gnu::target("avx2"), gnu::always_inline]] inline __m256i load(const void* from) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

[[gnu::target("avx2"), gnu::always_inline]] inline void store(void* to, __m256i v) {
    _mm256_storeu_si256(static_cast<__m256i*>(to), v);
}

[[gnu::target("avx2"), gnu::always_inline]] inline __m256i broadcast(const Int16Pair& pair) {
    int both;
    std::memcpy(&both, &pair, sizeof both);
    return _mm256_set1_epi32(both);
}

/// Computes `count` vectors of a weighted sum of rows.
template <std::size_t count>
[[gnu::target("avx2"), gnu::always_inline]] inline void sum_block(const Int16Pair* matrix, std::size_t rows,
                                                                  std::size_t stride, const Int16Pair* factor,
                                                                  std::uint32_t* sum) {
    __m256i total[count];
    for (__m256i& t : total) t = _mm256_setzero_si256();
    for (std::size_t i = 0; i < rows; ++i) {
        const __m256i f = broadcast(factor[i]);
        for (std::size_t k = 0; k < count; ++k) {
            const __m256i m = load(matrix + i * stride + k * lanes);
            total[k] = _mm256_add_epi32(total[k], _mm256_madd_epi16(f, m));
        }
    }
    for (std::size_t k = 0; k < count; ++k) store(sum + k * lanes, total[k]);
}

/// Updates rows i ... i + count - 1, which have equally many vectors. Returns the minima of their lanes.
template <std::size_t count>
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i update_rows(
    const ExchangeTriangle<std::int32_t>& triangle, std::size_t i, const Int16Pair* x, const Int16Pair* y) {
    const __m256i nothing = _mm256_set1_epi32(std::numeric_limits<std::int32_t>::max());
    const std::size_t row_size = triangle.offset[i + 1] - triangle.offset[i];
    std::int32_t* delta = triangle.delta + triangle.offset[i];
    __m256i xi[count];
    __m256i yi[count];
    __m256i of_row[count];
    for (std::size_t k = 0; k < count; ++k) {
        xi[k] = broadcast(x[i + k]);
        yi[k] = broadcast(y[i + k]);
        of_row[k] = nothing;
    }
    std::size_t j = 0;
    for (; j + lanes < row_size; j += lanes) {
        const __m256i xj = load(x + j);
        const __m256i yj = load(y + j);
        for (std::size_t k = 0; k < count; ++k) {
            std::int32_t* to = delta + k * row_size + j;
            const __m256i product =
                _mm256_madd_epi16(_mm256_sub_epi16(xi[k], xj), _mm256_sub_epi16(yi[k], yj));
            const __m256i value = _mm256_add_epi32(load(to), product);
            store(to, value);
            of_row[k] = _mm256_min_epi32(of_row[k], value);
        }
    }
    const __m256i column =
        _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(j)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    const __m256i xj = load(x + j);
    const __m256i yj = load(y + j);
    __m256i least = nothing;
    for (std::size_t k = 0; k < count; ++k) {
        std::int32_t* to = delta + k * row_size + j;
        const __m256i product = _mm256_madd_epi16(_mm256_sub_epi16(xi[k], xj), _mm256_sub_epi16(yi[k], yj));
        const __m256i is_used = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(i + k)), column);
        const __m256i value = _mm256_blendv_epi8(nothing, _mm256_add_epi32(load(to), product), is_used);
        store(to, value);
        of_row[k] = _mm256_min_epi32(of_row[k], value);
        store(triangle.row_minimum + (i + k) * lanes, of_row[k]);
        least = _mm256_min_epi32(least, of_row[k]);
    }
    return least;
}

}  // namespace

bool has_int16_kernels() {
    static const bool has = __builtin_cpu_supports("avx2");
    return has;
}

[[gnu::target("avx2")]] std::int32_t update_exchanges_int16(const ExchangeTriangle<std::int32_t>& triangle,
                                                            const Int16Pair* x, const Int16Pair* y) {
    __m256i least = _mm256_set1_epi32(std::numeric_limits<std::int32_t>::max());
    std::size_t i = 1;
    for (; i + 4 <= triangle.order; i += 4)
        least = _mm256_min_epi32(least, update_rows<4>(triangle, i, x, y));
    for (; i < triangle.order; ++i) least = _mm256_min_epi32(least, update_rows<1>(triangle, i, x, y));
    std::array<std::int32_t, lanes> minima;
    store(minima.data(), least);
    return *std::ranges::min_element(minima);
}

[[gnu::target("avx2")]] void weighted_row_sum_int16(const Int16Pair* matrix, std::size_t rows,
                                                    std::size_t stride, const Int16Pair* factor,
                                                    std::uint32_t* sum) {
    std::size_t at = 0;
    for (; at + 8 * lanes <= stride; at += 8 * lanes)
        sum_block<8>(matrix + at, rows, stride, factor, sum + at);
    for (; at + 4 * lanes <= stride; at += 4 * lanes)
        sum_block<4>(matrix + at, rows, stride, factor, sum + at);
    for (; at + 2 * lanes <= stride; at += 2 * lanes)
        sum_block<2>(matrix + at, rows, stride, factor, sum + at);
    if (at < stride) sum_block<1>(matrix + at, rows, stride, factor, sum + at);
}

#else

bool has_int16_kernels() { return false; }

std::int32_t update_exchanges_int16(const ExchangeTriangle<std::int32_t>&, const Int16Pair*,
                                    const Int16Pair*) {
    fail("this processor has no instructions for pairs of 16-bit integers");
}

void weighted_row_sum_int16(const Int16Pair*, std::size_t, std::size_t, const Int16Pair*, std::uint32_t*) {
    fail("this processor has no instructions for pairs of 16-bit integers");
}

#endif

}  // namespace topoloom::qap
