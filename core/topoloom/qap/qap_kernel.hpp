// SPDX-License-Identifier: BSD-3-Clause
// The three hot loops of dense QAP search, vectorized.
#pragma once

#include <cstddef>
#include <cstdint>

namespace topoloom::qap {

/// A triangle of exchange deltas: row i contains the exchanges with j < i, padded to whole vectors with
/// tabu_until = `never`.
template <class T>
struct ExchangeTriangle {
    std::size_t order;
    const std::size_t* offset;  // [i]: start of row i; order + 1 entries
    T* delta;
    const T* tabu_until;
};

template <class T>
struct Minima {
    T free;  // minimum over exchanges with tabu_until <= now
    T any;   // minimum over exchanges with tabu_until != never
};

/// For all i, j: delta(i, j) += (x[i] - x[j]) * (y[i] - y[j]); if xt and yt are not null, also adds (xt[i] -
/// xt[j]) * (yt[i] - yt[j]). Returns the minima.
template <class T>
Minima<T> update_and_find_minima(const ExchangeTriangle<T>& triangle, const T* x, const T* y, const T* xt,
                                 const T* yt, T now);

/// Finds the first exchange with this value and tabu_until <= now, starting cyclically at row `from`. Returns
/// its index in the triangle, and stores its row in `from`. Such an exchange must exist.
template <class T>
std::size_t find_exchange(const ExchangeTriangle<T>& triangle, std::size_t& from, T value, T now);

/// Computes sum = sum over i of factor[i] * row i of a matrix. Rows and `sum` have `stride` elements, a
/// multiple of the vector length.
template <class T>
void weighted_row_sum(const T* matrix, std::size_t rows, std::size_t stride, const T* factor, T* sum);

}  // namespace topoloom::qap
