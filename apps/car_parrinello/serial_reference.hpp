// SPDX-License-Identifier: BSD-3-Clause
// The same minimization on one rank: three-dimensional transforms and Gram-Schmidt orthonormalization.
#pragma once

#include <fftw3.h>

#include <cmath>
#include <vector>

#include "point_formulas.hpp"

namespace car_parrinello {

/// States as cubes of n^3 reciprocal points, in the order x, y, z.
class SerialStates {
   public:
    SerialStates(int states, int n)
        : n_(n),
          points_(static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * static_cast<std::size_t>(n)) {
        for (int state = 0; state < states; ++state) {
            Plane& cube = cubes_.emplace_back(points_);
            for_each_point([&](int x, int y, int z, std::size_t at) {
                cube[at] = get_initial_value(state, x, y, z, n);
            });
        }
        orthonormalize();
    }

    void run_step() {
        std::vector<Plane> real = cubes_;
        Plane density(points_);
        for (Plane& cube : real) {
            transform(cube, FFTW_BACKWARD);
            for (std::size_t p = 0; p < points_; ++p) density[p] += std::norm(cube[p]);
        }
        const Plane potential = compute_potential(density);
        for (std::size_t i = 0; i < cubes_.size(); ++i) {
            for (std::size_t p = 0; p < points_; ++p) real[i][p] *= potential[p];
            transform(real[i], FFTW_FORWARD);
            for_each_point([&](int x, int y, int z, std::size_t at) {
                cubes_[i][at] = descend(cubes_[i][at], real[i][at], x, y, z, n_);
            });
        }
        orthonormalize();
    }
    [[nodiscard]] const Plane& cube(int state) const { return cubes_[static_cast<std::size_t>(state)]; }

   private:
    template <class Use>
    void for_each_point(const Use& use) const {
        std::size_t at = 0;
        for (int x = 0; x < n_; ++x)
            for (int y = 0; y < n_; ++y)
                for (int z = 0; z < n_; ++z) use(x, y, z, at++);
    }
    void transform(Plane& cube, int sign) const {
        auto* const at = reinterpret_cast<fftw_complex*>(cube.data());
        const fftw_plan plan = fftw_plan_dft_3d(n_, n_, n_, at, at, sign, FFTW_ESTIMATE);
        fftw_execute(plan);
        fftw_destroy_plan(plan);
        if (sign == FFTW_FORWARD)
            for (Complex& value : cube) value /= static_cast<double>(points_);
    }
    [[nodiscard]] Plane compute_potential(const Plane& density) const {
        Plane potential = density;
        transform(potential, FFTW_FORWARD);
        for_each_point(
            [&](int x, int y, int z, std::size_t at) { potential[at] *= get_coulomb(x, y, z, n_); });
        transform(potential, FFTW_BACKWARD);
        for_each_point([&](int x, int y, int z, std::size_t at) {
            potential[at] = get_potential(potential[at].real(), density[at].real(), x, y, z, n_);
        });
        return potential;
    }
    void orthonormalize() {
        for (std::size_t i = 0; i < cubes_.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                Complex overlap = 0;
                for (std::size_t p = 0; p < points_; ++p) overlap += cubes_[i][p] * std::conj(cubes_[j][p]);
                for (std::size_t p = 0; p < points_; ++p) cubes_[i][p] -= overlap * cubes_[j][p];
            }
            double norm = 0;
            for (const Complex& value : cubes_[i]) norm += std::norm(value);
            for (Complex& value : cubes_[i]) value /= std::sqrt(norm);
        }
    }

    int n_;
    std::size_t points_;
    std::vector<Plane> cubes_;
};

}  // namespace car_parrinello
