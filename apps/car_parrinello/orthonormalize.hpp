// SPDX-License-Identifier: BSD-3-Clause
// Orthonormalization of states: overlaps, Cholesky decomposition, substitution.
#pragma once

#include <mpi.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "plane_distribution.hpp"

namespace car_parrinello {

/// Sends planes of states to their owners in another layout.
inline Planes redistribute(MPI_Comm comm, const Layout& from, const Layout& to, const Planes& planes) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const auto size = static_cast<std::size_t>(from.planes()) * static_cast<std::size_t>(from.planes());
    std::vector<int> send_counts(static_cast<std::size_t>(ranks)), receive_counts = send_counts;
    std::vector<int> send_places = send_counts, receive_places = send_counts;
    // Planes that leave a rank are in the order of receiver, state, plane; those that arrive, of sender, state, plane.
    Plane outgoing, incoming;
    const auto for_each_common = [&](int sender, int receiver, const auto& use) {
        for (int state = 0; state < from.states(); ++state)
            for (const int plane : from.owned(sender, state))
                if (to.owner(state, plane) == receiver) use(state, plane);
    };
    for (int other = 0; other < ranks; ++other) {
        const auto at = static_cast<std::size_t>(other);
        send_places[at] = static_cast<int>(outgoing.size() / size);
        for_each_common(rank, other, [&](int state, int plane) {
            const Plane& leaving = planes.at({state, plane});
            outgoing.insert(outgoing.end(), leaving.begin(), leaving.end());
            ++send_counts[at];
        });
        receive_places[at] = static_cast<int>(incoming.size() / size);
        for_each_common(other, rank, [&](int, int) {
            incoming.resize(incoming.size() + size);
            ++receive_counts[at];
        });
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(static_cast<int>(2 * size), MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Alltoallv(outgoing.data(), send_counts.data(), send_places.data(), type, incoming.data(),
                  receive_counts.data(), receive_places.data(), type, comm);
    MPI_Type_free(&type);
    Planes arrived;
    auto at = incoming.cbegin();
    for (int sender = 0; sender < ranks; ++sender)
        for_each_common(sender, rank, [&](int state, int plane) {
            arrived[{state, plane}].assign(at, at + static_cast<std::ptrdiff_t>(size));
            at += static_cast<std::ptrdiff_t>(size);
        });
    return arrived;
}

/// Takes simulated time for products of each state with half of the states.
inline void simulate_products(const Layout& layout, const Planes& planes) {
    if (planes.empty()) return;
    simulate_points(planes.size() * planes.begin()->second.size() *
                    static_cast<std::size_t>(layout.states()) / 2);
}

/// Lower triangle of the overlaps of all states, row by row. `planes` has all states of each plane.
inline std::vector<Complex> compute_overlaps(MPI_Comm comm, const Layout& layout, const Planes& planes) {
    const int states = layout.states();
    std::vector<Complex> overlaps(static_cast<std::size_t>(states) * static_cast<std::size_t>(states + 1) /
                                  2);
    for (const auto& [key, plane] : planes) {
        std::size_t at = static_cast<std::size_t>(key.first) * static_cast<std::size_t>(key.first + 1) / 2;
        for (int other = 0; other <= key.first; ++other, ++at) {
            const Plane& with = planes.at({other, key.second});
            for (std::size_t i = 0; i < plane.size(); ++i) overlaps[at] += plane[i] * std::conj(with[i]);
        }
    }
    simulate_products(layout, planes);
    MPI_Allreduce(MPI_IN_PLACE, overlaps.data(), static_cast<int>(2 * overlaps.size()), MPI_DOUBLE, MPI_SUM,
                  comm);
    return overlaps;
}

/// Replaces the lower triangle of a Hermitian matrix S by that of L, where S = L L^H.
inline void decompose(int size, std::vector<Complex>& lower) {
    const auto row = [&](int i) {
        return &lower[static_cast<std::size_t>(i) * static_cast<std::size_t>(i + 1) / 2];
    };
    for (int i = 0; i < size; ++i) {
        for (int j = 0; j <= i; ++j) {
            Complex value = row(i)[j];
            for (int k = 0; k < j; ++k) value -= row(i)[k] * std::conj(row(j)[k]);
            row(i)[j] = i == j ? std::sqrt(value.real()) : value / row(j)[j];
        }
    }
}

/// Multiplies the states by the inverse of L. `planes` has all states of each plane.
inline void substitute(const Layout& layout, const std::vector<Complex>& lower, Planes& planes) {
    for (auto& [key, plane] : planes) {  // in the order of states
        const Complex* const row =
            &lower[static_cast<std::size_t>(key.first) * static_cast<std::size_t>(key.first + 1) / 2];
        for (int other = 0; other < key.first; ++other) {
            const Plane& by = planes.at({other, key.second});
            for (std::size_t i = 0; i < plane.size(); ++i) plane[i] -= row[other] * by[i];
        }
        for (Complex& value : plane) value /= row[key.first];
    }
    simulate_products(layout, planes);
}

}  // namespace car_parrinello
