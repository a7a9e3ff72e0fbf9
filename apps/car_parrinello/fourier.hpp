// SPDX-License-Identifier: BSD-3-Clause
// Fourier transforms of states whose planes are distributed: in planes, a transposition, and across planes.
#pragma once

#include <fftw3.h>
#include <mpi.h>

#include <utility>

#include "plane_distribution.hpp"
#include "transposition.hpp"

namespace car_parrinello {

class Fourier {
   public:
    /// Messages carry the rows of `bucket` states.
    Fourier(MPI_Comm comm, const Layout& layout, int bucket)
        : comm_(comm), layout_(layout), bucket_(bucket), n_(layout.planes()) {
        MPI_Comm_rank(comm, &rank_);
        Plane plane(get_size(n_, n_));
        fftw_complex* const at = cast(plane);
        in_planes_[0] = fftw_plan_dft_2d(n_, n_, at, at, FFTW_FORWARD, FFTW_ESTIMATE | FFTW_UNALIGNED);
        in_planes_[1] = fftw_plan_dft_2d(n_, n_, at, at, FFTW_BACKWARD, FFTW_ESTIMATE | FFTW_UNALIGNED);
        for (const int sign : {FFTW_FORWARD, FFTW_BACKWARD})
            across_[sign == FFTW_BACKWARD] = fftw_plan_many_dft(1, &n_, n_, at, nullptr, n_, 1, at, nullptr,
                                                                n_, 1, sign, FFTW_ESTIMATE | FFTW_UNALIGNED);
    }
    ~Fourier() {
        for (const fftw_plan plan : {in_planes_[0], in_planes_[1], across_[0], across_[1]})
            fftw_destroy_plan(plan);
    }
    Fourier(const Fourier&) = delete;
    Fourier& operator=(const Fourier&) = delete;

    /// Computes real planes, without normalization.
    [[nodiscard]] Planes to_real(Planes reciprocal) const {
        return transform(std::move(reciprocal), in_planes_[1], across_[1], true);
    }
    /// Computes reciprocal planes, divided by the number of points.
    [[nodiscard]] Planes to_reciprocal(Planes real) const {
        Planes planes = transform(std::move(real), across_[0], in_planes_[0], false);
        const double scale = 1.0 / n_ / n_ / n_;
        for (auto& [key, plane] : planes)
            for (Complex& value : plane) value *= scale;
        return planes;
    }

   private:
    static std::size_t get_size(int a, int b) {
        return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
    }
    static fftw_complex* cast(Plane& plane) { return reinterpret_cast<fftw_complex*>(plane.data()); }
    static void apply(fftw_plan plan, Plane& plane) { fftw_execute_dft(plan, cast(plane), cast(plane)); }

    /// Sends the rows of each bucket before it transforms the next one.
    Planes transform(Planes given, fftw_plan before, fftw_plan after, bool is_to_real) const {
        Planes found;
        for (const auto& [key, plane] : given) found[key].resize(plane.size());
        Transposition transposition(comm_, layout_, bucket_, is_to_real);
        for (int number = 0; number < transposition.bucket_count(); ++number) {
            std::size_t points = 0;
            for (int state = number * bucket_; state < transposition.end_state(number); ++state)
                for (const int plane : layout_.owned(rank_, state)) {
                    apply(before, given.at({state, plane}));
                    points += get_size(n_, n_);
                }
            simulate_points(points);
            transposition.send(number, given, found);
        }
        transposition.receive(found);
        for (auto& [key, plane] : found) apply(after, plane);
        simulate_points(found.size() * get_size(n_, n_));
        return found;
    }

    MPI_Comm comm_;
    const Layout& layout_;
    int bucket_, n_, rank_ = 0;
    fftw_plan in_planes_[2], across_[2];  // forward, backward
};

}  // namespace car_parrinello
