// SPDX-License-Identifier: BSD-3-Clause
// The hot loops of dense QAP search for matrices of 16-bit integers: one instruction multiplies two pairs of
// integers and adds the products.
#pragma once

#include <cstddef>
#include <cstdint>

#include "topoloom/qap/qap_kernel.hpp"

namespace topoloom::qap {

struct Int16Pair {
    std::int16_t first, second;
};

/// Whether the processor supports these kernels. Otherwise they cannot be called.
[[nodiscard]] bool has_int16_kernels();

/// Like update_exchanges() with x and xt, y and yt in pairs. All differences must fit in 16 bits.
[[nodiscard]] std::int32_t update_exchanges_int16(const ExchangeTriangle<std::int32_t>& triangle,
                                                  const Int16Pair* x, const Int16Pair* y);

/// Like weighted_row_sum() for rows of pairs: adds the products of both first and both second integers.
void weighted_row_sum_int16(const Int16Pair* matrix, std::size_t rows, std::size_t stride,
                            const Int16Pair* factor, std::uint32_t* sum);

}  // namespace topoloom::qap
