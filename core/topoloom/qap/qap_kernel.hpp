// SPDX-License-Identifier: BSD-3-Clause
// The hot loops of dense QAP search, vectorized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace topoloom::qap {

/// Type of arithmetic on deltas of type T. Intermediate results of integers can wrap around.
template <class T>
using WrappingType =
    typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

/// Elements of T in a vector. Rows of matrices and deltas are padded to a multiple.
template <class T>
inline constexpr std::size_t vector_lanes = 32 / sizeof(T);

/// A triangle of exchange deltas: row i contains the exchanges with j < i, padded to whole vectors.
template <class T>
struct ExchangeTriangle {
    std::size_t order;
    const std::size_t* offset;  // [i]: start of row i; order + 1 entries
    T* delta;
    T* row_minimum;  // [i * lanes + l]: minimum over the elements of row i in lane l
};

/// For all j < i: delta(i, j) += (x[i] - x[j]) * (y[i] - y[j]); if xt and yt are not null, also adds (xt[i] -
/// xt[j]) * (yt[i] - yt[j]). Sets padding to the largest T. Stores the minima of all rows except row 0, and
/// returns the least.
template <class T>
T update_exchanges(const ExchangeTriangle<T>& triangle, const WrappingType<T>* x, const WrappingType<T>* y,
                   const WrappingType<T>* xt, const WrappingType<T>* yt);

/// Finds the first row, cyclically from row `from`, one of whose minima has this value. There must be one.
template <class T>
std::size_t find_row(const ExchangeTriangle<T>& triangle, std::size_t from, T value);

/// Stores the indices of the elements that are greater than `threshold` in `found`, which has size + 1
/// elements, and returns their number. Has no branches, because their positions are random.
std::size_t find_greater(const std::uint32_t* values, std::size_t size, std::uint32_t threshold,
                         std::uint32_t* found);

/// Computes sum = sum over i of factor[i] * row i of a matrix. Rows and `sum` have `stride` elements, a
/// multiple of the vector length.
template <class Word>
void weighted_row_sum(const Word* matrix, std::size_t rows, std::size_t stride, const Word* factor,
                      Word* sum);

/// Vectors over all items for an exchange of items r and s of symmetric matrices, at their old locations.
template <class Word>
struct SymmetricMove {
    std::size_t order;
    const std::uint32_t* location;  // of each item
    const Word *a_r, *a_s;          // rows of a
    Word *b_r, *b_s;                // distances of the items to r and s
    Word *x, *y, *x_at;             // factors of update_exchanges(), 0 for r and s; x by location
};

/// Computes distances and factors. `row_r` and `row_s` are the rows of b of the locations of r and s. Returns
/// the sum of a_r * b_s - a_s * b_r.
template <class Word>
Word compute_factors(const SymmetricMove<Word>& move, const Word* row_r, const Word* row_s, std::size_t r,
                     std::size_t s);

/// Replaces the deltas of exchanges with r and with s by those after the move, minus what update_exchanges()
/// will add. `of_move` is the delta of the move; shift[u] plus `fixed` is the part of the difference between
/// the two cyclic shifts of u, r and s that needs sums over all items.
template <class T>
void update_exchanges_of_move(const SymmetricMove<WrappingType<T>>& move, const WrappingType<T>* shift,
                              WrappingType<T> fixed, WrappingType<T> a_rs, WrappingType<T> b_rs,
                              WrappingType<T> of_move, WrappingType<T>* with_r, WrappingType<T>* with_s);

}  // namespace topoloom::qap
