// SPDX-License-Identifier: BSD-3-Clause
// Elements of the matrices, and the part of them that a rank has.
#pragma once

#include <cstddef>
#include <cstdint>

namespace matrix_multiply {

enum class Matrix { a, b, first_vector, second_vector };

/// Returns a random number from -0.5 to 0.5 (splitmix64).
inline double make_element(Matrix matrix, std::uint64_t index, int seed) {
    std::uint64_t bits =
        (static_cast<std::uint64_t>(seed) * 4 + static_cast<std::uint64_t>(matrix)) * 0xd1342543de82ef95ULL +
        index + 1;
    bits *= 0x9e3779b97f4a7c15ULL;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1p-53 - 0.5;
}

/// The rows and columns of a rank's blocks of the matrices.
struct Part {
    int size, rows, columns, first_row, first_column, seed;

    [[nodiscard]] double element(Matrix matrix, int i, int j) const {
        return make_element(
            matrix, static_cast<std::uint64_t>(1LL * (first_row + i) * size + first_column + j), seed);
    }
    [[nodiscard]] std::size_t count() const {
        return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    }
    [[nodiscard]] std::size_t index_by_columns(int i, int j) const {
        return static_cast<std::size_t>(j) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(i);
    }
    [[nodiscard]] std::size_t index_by_rows(int i, int j) const {
        return static_cast<std::size_t>(i) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(j);
    }
};

}  // namespace matrix_multiply
