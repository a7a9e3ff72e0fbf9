// SPDX-License-Identifier: BSD-3-Clause
// Symmetry test of square matrices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace topoloom::qap {

/// Whether the row-major matrix `m` is symmetric.
[[nodiscard]] inline bool is_symmetric(std::size_t order, std::span<const std::int64_t> m) {
    for (std::size_t i = 0; i < order; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (m[i * order + j] != m[j * order + i]) return false;
        }
    }
    return true;
}

}  // namespace topoloom::qap
