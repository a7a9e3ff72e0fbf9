// SPDX-License-Identifier: BSD-3-Clause
// A transposition of the planes of states: each plane of a state sends a row to each other plane of that state.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <vector>

#include "plane_distribution.hpp"

namespace car_parrinello {

/// Reciprocal plane x has elements y * n + z, real plane z has elements x * n + y.
class Transposition {
   public:
    /// Starts to receive. Messages carry the rows of `bucket` states.
    Transposition(MPI_Comm comm, const Layout& layout, int bucket, bool is_to_real)
        : comm_(comm), layout_(layout), bucket_(bucket), n_(layout.planes()), is_to_real_(is_to_real) {
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &ranks_);
        for (int number = 0; number < bucket_count(); ++number)
            for (int sender = 0; sender < ranks_; ++sender)
                if (const std::size_t size = count_elements(number, sender, rank_);
                    size > 0 && sender != rank_)
                    incoming_.push_back({number, sender, Plane(size)});
        receives_.resize(incoming_.size());
        for (std::size_t i = 0; i < incoming_.size(); ++i) {
            Message& message = incoming_[i];
            MPI_Irecv(message.content.data(), static_cast<int>(message.content.size()), MPI_C_DOUBLE_COMPLEX,
                      message.sender, message.bucket, comm_, &receives_[i]);
        }
        // Messages in flight must not move.
        outgoing_.reserve(static_cast<std::size_t>(bucket_count()) * static_cast<std::size_t>(ranks_));
    }

    [[nodiscard]] int bucket_count() const { return (layout_.states() + bucket_ - 1) / bucket_; }
    /// The end of the range of states of a bucket; they begin at number * bucket.
    [[nodiscard]] int end_state(int number) const {
        return std::min(layout_.states(), (number + 1) * bucket_);
    }

    /// Sends the rows of the states of a bucket.
    void send(int number, const Planes& from, Planes& to) {
        for (int i = 1; i <= ranks_; ++i) {
            const int receiver = (rank_ + i) % ranks_;  // ranks start with different receivers
            const std::size_t size = count_elements(number, rank_, receiver);
            if (size == 0) continue;
            Plane& message = outgoing_.emplace_back();
            message.reserve(size);
            for_each_row(number, rank_, receiver, [&](int plane, int other, int state) {
                const Plane& values = from.at({state, plane});
                for (int y = 0; y < n_; ++y) message.push_back(values[get_index(other, y, is_to_real_)]);
            });
            if (receiver == rank_)
                unpack({number, rank_, message}, to);
            else
                MPI_Isend(message.data(), static_cast<int>(size), MPI_C_DOUBLE_COMPLEX, receiver, number,
                          comm_, &sends_.emplace_back());
        }
    }

    /// Receives all messages, bucket by bucket.
    void receive(Planes& to) {
        for (std::size_t i = 0; i < incoming_.size(); ++i) {
            MPI_Wait(&receives_[i], MPI_STATUS_IGNORE);
            unpack(incoming_[i], to);
        }
        MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
    }

   private:
    struct Message {
        int bucket, sender;
        Plane content;
    };
    [[nodiscard]] std::size_t get_index(int plane, int y, bool is_reciprocal) const {
        return static_cast<std::size_t>(is_reciprocal ? y * n_ + plane : plane * n_ + y);
    }
    /// Calls use(plane, other, state) for each row that a plane of the sender sends to another of the receiver.
    template <class Use>
    void for_each_row(int number, int sender, int receiver, const Use& use) const {
        for (int state = number * bucket_; state < end_state(number); ++state)
            for (const int plane : layout_.owned(sender, state))
                for (const int other : layout_.owned(receiver, state)) use(plane, other, state);
    }
    [[nodiscard]] std::size_t count_elements(int number, int sender, int receiver) const {
        std::size_t rows = 0;
        for_each_row(number, sender, receiver, [&](int, int, int) { ++rows; });
        return rows * static_cast<std::size_t>(n_);
    }
    void unpack(const Message& message, Planes& to) const {
        const Complex* at = message.content.data();
        for_each_row(message.bucket, message.sender, rank_, [&](int plane, int other, int state) {
            Plane& values = to.at({state, other});
            for (int y = 0; y < n_; ++y) values[get_index(plane, y, !is_to_real_)] = *at++;
        });
    }

    MPI_Comm comm_;
    const Layout& layout_;
    int bucket_, n_, rank_ = 0, ranks_ = 1;
    bool is_to_real_;
    std::vector<Message> incoming_;
    std::vector<Plane> outgoing_;
    std::vector<MPI_Request> receives_, sends_;
};

}  // namespace car_parrinello
