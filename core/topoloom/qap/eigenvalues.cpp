// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/eigenvalues.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "topoloom/base/error.hpp"

namespace topoloom::qap {

namespace {

struct Tridiagonal {
    std::vector<double> diagonal;
    std::vector<double> beside;  // [i]: entry (i, i + 1); the last is 0
};

/// Reduces the matrix to tridiagonal form by Householder reflections, starting at the first row. Accesses
/// only the rows below the current row, which are contiguous.
Tridiagonal reduce_to_tridiagonal(std::size_t order, std::vector<double>& matrix) {
    Tridiagonal result{std::vector<double>(order), std::vector<double>(order, 0)};
    std::vector<double> v(order);
    std::vector<double> product(order);
    for (std::size_t k = 0; k + 1 < order; ++k) {
        result.diagonal[k] = matrix[k * order + k];
        double norm = 0;
        double scale = 0;
        for (std::size_t i = k + 1; i < order; ++i) scale = std::max(scale, std::abs(matrix[k * order + i]));
        if (scale == 0) continue;
        for (std::size_t i = k + 1; i < order; ++i) {
            v[i] = matrix[k * order + i] / scale;
            norm += v[i] * v[i];
        }
        const double length = std::copysign(std::sqrt(norm), v[k + 1]);
        result.beside[k] = -length * scale;
        norm += length * v[k + 1];  // h is now half of |v|^2
        v[k + 1] += length;
        double dot_product = 0;
        for (std::size_t i = k + 1; i < order; ++i) {
            const double* const row = matrix.data() + i * order;
            double sum = 0;
            for (std::size_t j = k + 1; j < order; ++j) sum += row[j] * v[j];
            product[i] = sum / norm;
            dot_product += product[i] * v[i];
        }
        const double half = dot_product / (2 * norm);
        for (std::size_t i = k + 1; i < order; ++i) product[i] -= half * v[i];
        for (std::size_t i = k + 1; i < order; ++i) {
            double* const row = matrix.data() + i * order;
            const double vi = v[i];
            const double product_i = product[i];
            for (std::size_t j = k + 1; j < order; ++j) row[j] -= vi * product[j] + product_i * v[j];
        }
    }
    result.diagonal[order - 1] = matrix[order * order - 1];
    return result;
}

/// Performs QL iterations until the diagonal contains the eigenvalues.
void run_ql_iterations(Tridiagonal& t, double negligible) {
    const std::size_t order = t.diagonal.size();
    std::vector<double>& d = t.diagonal;
    std::vector<double>& e = t.beside;
    for (std::size_t first = 0; first < order; ++first) {
        for (int steps = 0;; ++steps) {
            std::size_t last = first;
            for (; last + 1 < order; ++last) {
                if (std::abs(e[last]) <= negligible) break;
            }
            if (last == first) break;
            if (steps == 60) fail("the eigenvalues of a matrix of order ", order, " do not converge");
            const double slope = (d[first + 1] - d[first]) / (2 * e[first]);
            const double shift =
                d[last] - d[first] + e[first] / (slope + std::copysign(std::hypot(slope, 1.0), slope));
            double g = shift;
            double sine = 1;
            double cosine = 1;
            double moved = 0;
            bool split = false;
            for (std::size_t i = last; i-- > first;) {
                const double f = sine * e[i];
                const double b = cosine * e[i];
                const double r = std::hypot(f, g);
                e[i + 1] = r;
                if (r == 0) {
                    d[i + 1] -= moved;
                    e[last] = 0;
                    split = true;
                    break;
                }
                sine = f / r;
                cosine = g / r;
                g = d[i + 1] - moved;
                const double turned = (d[i] - g) * sine + 2 * cosine * b;
                moved = sine * turned;
                d[i + 1] = g + moved;
                g = cosine * turned - b;
            }
            if (split) continue;
            d[first] -= moved;
            e[first] = g;
            e[last] = 0;
        }
    }
}

}  // namespace

Eigenvalues eigenvalues(std::size_t order, std::vector<double> matrix) {
    if (order == 0) return {{}, 0};
    double squares = 0;
    for (const double entry : matrix) squares += entry * entry;
    Tridiagonal reduced = reduce_to_tridiagonal(order, matrix);
    const double norm = std::sqrt(squares);
    run_ql_iterations(reduced, std::numeric_limits<double>::epsilon() * norm);
    std::ranges::sort(reduced.diagonal);
    const auto n = static_cast<double>(order);
    return {std::move(reduced.diagonal), 16 * n * n * std::numeric_limits<double>::epsilon() * norm};
}

}  // namespace topoloom::qap
