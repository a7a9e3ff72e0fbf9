// SPDX-License-Identifier: BSD-3-Clause
// Distribution of the planes of states over ranks.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

namespace car_parrinello {

using Complex = std::complex<double>;
using Plane = std::vector<Complex>;
using Planes = std::map<std::pair<int, int>, Plane>;  // key: state, plane

/// What stays together on a rank: the planes of a state, the same plane of several states, or of all states.
enum class Mapping { states, planes, whole_planes };

/// Consecutive planes of states have one owner.
class Layout {
   public:
    Layout(int states, int planes, int ranks, Mapping mapping)
        : states_(states),
          planes_(planes),
          ranks_(ranks),
          mapping_(mapping),
          owned_(static_cast<std::size_t>(ranks),
                 std::vector<std::vector<int>>(static_cast<std::size_t>(states))) {
        for (int state = 0; state < states; ++state)
            for (int plane = 0; plane < planes; ++plane)
                owned_[static_cast<std::size_t>(owner(state, plane))][static_cast<std::size_t>(state)]
                    .push_back(plane);
    }
    [[nodiscard]] int owner(int state, int plane) const {
        if (mapping_ == Mapping::whole_planes) return ((plane + 1) * ranks_ - 1) / planes_;
        const std::int64_t total = std::int64_t{states_} * planes_;
        const std::int64_t at = mapping_ == Mapping::states ? std::int64_t{state} * planes_ + plane
                                                            : std::int64_t{plane} * states_ + state;
        return static_cast<int>(((at + 1) * ranks_ - 1) / total);
    }
    /// The planes of a state that a rank owns.
    [[nodiscard]] const std::vector<int>& owned(int rank, int state) const {
        return owned_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(state)];
    }
    [[nodiscard]] int states() const { return states_; }
    [[nodiscard]] int planes() const { return planes_; }

   private:
    int states_, planes_, ranks_;
    Mapping mapping_;
    std::vector<std::vector<std::vector<int>>> owned_;  // by rank and state
};

/// Takes simulated time for work on some points, because SimGrid does not measure it.
inline void simulate_points([[maybe_unused]] std::size_t points) {
#ifdef SMPI_H
    static const double ns =
        std::getenv("NS_PER_POINT") != nullptr ? std::atof(std::getenv("NS_PER_POINT")) : 0;
    if (ns > 0) smpi_execute(1e-9 * ns * static_cast<double>(points));
#endif
}

/// Signed frequency of index i of n.
inline double get_frequency(int i, int n) { return i <= n / 2 ? i : i - n; }
inline double get_square(int x, int y, int z, int n) {
    const double a = get_frequency(x, n), b = get_frequency(y, n), c = get_frequency(z, n);
    return a * a + b * b + c * c;
}

}  // namespace car_parrinello
