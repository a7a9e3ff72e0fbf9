// SPDX-License-Identifier: BSD-3-Clause
// All-to-all and many-to-many, personalized or multicast, with messages combined along the lines of a virtual mesh.
#pragma once

#include "topoloom/schedule/collectives/combined.hpp"
#include "topoloom/schedule/collectives/virtual_mesh.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// A round goes along an axis: to every other cell of its line a rank sends all that it has for the ranks behind that cell,
/// even if that is nothing. With P = s^2 and m bytes per pair 2 (s - 1) messages of s m bytes per rank instead of P - 1
/// of m: cheaper for m < alpha / beta. Sends are O(1) per message; those of a many-to-many O(origins that it may carry
/// data of). From memory of the NIC, copied to first at delta per byte and sent at beta_em, a multicast takes
///   2 axes   2 sqrt(P) alpha + P m beta_em + sqrt(P) m delta      [3.14]
///   3 axes   3 cbrt(P) alpha + P m beta_em + P^(2/3) m delta      [3.15]
/// Source: S. Kumar, Optimizing Communication for Massively Parallel Processing, 2005, sec. 3.1 to 3.3.
class CombiningMesh {
   public:
    CombiningMesh(Collective collective, int axes)
        : collective_(std::move(collective)), mesh_(collective_.ranks(), axes) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const { return mesh_.rounds(); }
    [[nodiscard]] Transfer transfer(std::uint64_t) const {
        return collective_.personalised() ? Transfer::move : Transfer::copy;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        const int axis = mesh_.axis(round);
        const VirtualMesh::Cell from = mesh_.cell(rank);
        const std::uint64_t origins = mesh_.origin_count(from, axis);
        mesh_.each_receiver(from, axis, [&](const VirtualMesh::Cell& to, const VirtualMesh::Cell& line) {
            visit(mesh_.rank(to), bytes(from, origins, line, axis));
        });
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        const int axis = mesh_.axis(round);
        const VirtualMesh::Cell to = mesh_.cell(rank);
        mesh_.each_sender(to, axis, [&](const VirtualMesh::Cell& from) {
            if (from != to) visit(mesh_.rank(from), bytes(from, mesh_.origin_count(from, axis), to, axis));
        });
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        const int axis = mesh_.axis(round);
        const VirtualMesh::Cell cell = mesh_.cell(from);
        combined_blocks(
            collective_, [&](const auto& carry) { each_origin(cell, axis, carry); },
            mesh_.targets(mesh_.cell(to), axis), visit);
    }
    template <class Visit>
    void busiest(std::uint64_t, const Visit& visit) const {
        if (collective_.demand() != nullptr) {
            each_candidate(collective_.ranks(), visit);
        } else {
            mesh_.each_busiest([&](const VirtualMesh::Cell& cell) { visit(mesh_.rank(cell)); });
        }
    }

   private:
    template <class Visit>
    void each_origin(const VirtualMesh::Cell& from, int axis, const Visit& visit) const {
        mesh_.each_origin(from, axis, [&](const VirtualMesh::Cell& cell) { visit(mesh_.rank(cell)); });
    }
    [[nodiscard]] Bytes bytes(const VirtualMesh::Cell& from, std::uint64_t origin_count,
                              const VirtualMesh::Cell& line, int axis) const {
        return combined_bytes(
            collective_, origin_count, mesh_.target_count(line, axis),
            [&](const auto& carry) { each_origin(from, axis, carry); }, mesh_.targets(line, axis));
    }

    Collective collective_;
    VirtualMesh mesh_;
};

}  // namespace topoloom
