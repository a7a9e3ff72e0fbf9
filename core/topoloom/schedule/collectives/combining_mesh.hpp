// SPDX-License-Identifier: BSD-3-Clause
// Alltoall and many-to-many, personalized or multicast, with messages combined along the lines of a virtual mesh.
#pragma once

#include "topoloom/schedule/collectives/combined.hpp"
#include "topoloom/schedule/collectives/virtual_mesh.hpp"
#include "topoloom/schedule/schedule.hpp"

namespace topoloom {

/// A round exchanges along one axis: a rank sends every other cell of its line all data for the ranks behind
/// that cell, as a message that may be empty. With P = s^2 ranks and m bytes per pair, a rank sends 2 (s
/// - 1) messages of s m bytes instead of P - 1 messages of m bytes, which is faster if m < alpha / beta.
/// Copying blocks into a message overlaps with sending the previous message. Enumerating sends is O(1) per
/// message; for a many-to-many, O(origins whose data the message may carry). An allgather sends each message
/// to a whole line. From NIC memory, with delta per byte to copy it there and beta_em per byte to send it, an
/// allgather takes
///   2 axes  2 sqrt(P) alpha + P m beta_em + sqrt(P) m delta [3.14]
///   3 axes  3 cbrt(P) alpha + P m beta_em + P^(2/3) m delta [3.15]
/// Source: S. Kumar, Optimizing Communication for Massively Parallel Processing, 2005, sec. 3.1 to 3.3.
class CombiningMesh {
   public:
    CombiningMesh(Collective collective, int axes)
        : collective_(std::move(collective)), mesh_(collective_.ranks(), axes) {}

    [[nodiscard]] const Collective& collective() const { return collective_; }
    [[nodiscard]] std::uint64_t rounds() const { return mesh_.rounds(); }
    [[nodiscard]] Transfer transfer(std::uint64_t) const {
        return collective_.is_personalized() ? Transfer::move : Transfer::copy;
    }
    template <class Visit>
    void sends(Rank rank, std::uint64_t round, const Visit& visit) const {
        const int axis = mesh_.axis(round);
        const VirtualMesh::Cell from = mesh_.cell(rank);
        const std::uint64_t origins = mesh_.origin_count(from, axis);
        mesh_.each_receiver(from, axis, [&](const VirtualMesh::Cell& to, const VirtualMesh::Cell& line) {
            visit(mesh_.rank(to), message_data(from, origins, line, axis).bytes);
        });
    }
    template <class Visit>
    void receives(Rank rank, std::uint64_t round, const Visit& visit) const {
        const int axis = mesh_.axis(round);
        const VirtualMesh::Cell to = mesh_.cell(rank);
        mesh_.each_sender(to, axis, [&](const VirtualMesh::Cell& from) {
            if (from != to)
                visit(mesh_.rank(from), message_data(from, mesh_.origin_count(from, axis), to, axis).bytes);
        });
    }
    template <class Visit>
    void blocks(Rank from, Rank to, std::uint64_t round, const Visit& visit) const {
        const int axis = mesh_.axis(round);
        const VirtualMesh::Cell cell = mesh_.cell(from);
        each_combined_block(
            collective_, [&](const auto& carry) { each_origin(cell, axis, carry); },
            mesh_.targets(mesh_.cell(to), axis), visit);
    }
    template <class Visit>
    void busiest_senders(std::uint64_t, const Visit& visit) const {
        if (collective_.demand() != nullptr) {
            each_candidate(collective_.ranks(), visit);
        } else {
            mesh_.each_busiest_cell([&](const VirtualMesh::Cell& cell) { visit(mesh_.rank(cell)); });
        }
    }
    /// The copies that form messages of several blocks. An allgather copies only once, because all its
    /// messages are the same.
    [[nodiscard]] Copies copies(Rank rank, std::uint64_t round) const {
        const int axis = mesh_.axis(round);
        const VirtualMesh::Cell from = mesh_.cell(rank);
        const std::uint64_t origins = mesh_.origin_count(from, axis);
        if (is_allgather()) return origins > 1 ? message_data(from, origins, from, axis) : Copies{};
        Copies sum;
        mesh_.each_receiver(from, axis, [&](const VirtualMesh::Cell&, const VirtualMesh::Cell& line) {
            const Copies one = message_data(from, origins, line, axis);
            if (one.blocks <= 1) return;
            sum.bytes += one.bytes;
            sum.blocks += one.blocks;
        });
        return sum;
    }
    [[nodiscard]] std::optional<Bytes> staged_bytes(Rank rank, std::uint64_t round) const {
        if (!is_allgather()) return std::nullopt;
        const int axis = mesh_.axis(round);
        const VirtualMesh::Cell from = mesh_.cell(rank);
        return message_data(from, mesh_.origin_count(from, axis), from, axis).bytes;
    }

   private:
    [[nodiscard]] bool is_allgather() const { return collective_.operation() == Operation::allgather; }
    template <class Visit>
    void each_origin(const VirtualMesh::Cell& from, int axis, const Visit& visit) const {
        mesh_.each_origin(from, axis, [&](const VirtualMesh::Cell& cell) { visit(mesh_.rank(cell)); });
    }
    [[nodiscard]] Copies message_data(const VirtualMesh::Cell& from, std::uint64_t origin_count,
                                      const VirtualMesh::Cell& line, int axis) const {
        return count_combined_data(
            collective_, origin_count, mesh_.target_count(line, axis),
            [&](const auto& carry) { each_origin(from, axis, carry); }, mesh_.targets(line, axis));
    }

    Collective collective_;
    VirtualMesh mesh_;
};

}  // namespace topoloom
