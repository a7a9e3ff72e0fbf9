// SPDX-License-Identifier: BSD-3-Clause
// Eigenvalues of symmetric matrices with an error bound.
#pragma once

#include <cstddef>
#include <vector>

namespace topoloom::qap {

struct Eigenvalues {
    std::vector<double> values;  // ascending
    /// Bound on the rounding error of each eigenvalue. By Weyl's theorem it is the sum of the backward errors
    /// of Householder's reduction and of the QL iteration (Higham, Accuracy and Stability of Numerical
    /// Algorithms, 2nd ed., theorem 19.10 and section 19.6). Each backward error is at most 16 * order^2
    /// roundings of the Frobenius norm.
    double error;
};

/// Computes the eigenvalues of a row-major symmetric matrix by Householder's reduction to tridiagonal form
/// and implicit QL (Martin, Reinsch, Wilkinson 1968; Dubrulle, Martin, Wilkinson 1968). O(order^3).
[[nodiscard]] Eigenvalues eigenvalues(std::size_t order, std::vector<double> matrix);

}  // namespace topoloom::qap
