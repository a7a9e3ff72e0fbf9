// SPDX-License-Identifier: BSD-3-Clause
// All-gather of the positions of equally many bodies per rank, by several algorithms.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bodies.hpp"

namespace nbody {

inline constexpr std::array gather_names{"library", "all-pairs", "hypercube", "ring", "broadcast"};

/// Gathers positions, and measures the time in MPI.
class Gather {
   public:
    Gather(MPI_Comm comm, std::string name, int bodies)
        : comm_(comm), name_(std::move(name)), bodies_(bodies) {
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &ranks_);
        all_.resize(get_size(ranks_));
        scratch_.resize(all_.size());
    }

    /// Calls `use(first, positions)` for parts of all positions, of which each is passed once. `first` is the global
    /// index of the first body. Only ring passes parts while others are in flight.
    template <class Use>
    void gather(const std::vector<Vector>& own, const Use& use) {
        if (name_ == "ring") return pass_around_ring(own, use);
        const double begin = MPI_Wtime();
        if (name_ == "library")
            MPI_Allgather(own.data(), count(1), MPI_DOUBLE, all_.data(), count(1), MPI_DOUBLE, comm_);
        else if (name_ == "all-pairs")
            exchange_all_pairs(own);
        else if (name_ == "hypercube")
            exchange_along_hypercube(own);
        else
            gather_and_broadcast(own);
        seconds_ += MPI_Wtime() - begin;
        use(std::size_t{0}, std::span<const Vector>(all_));
    }
    [[nodiscard]] double seconds() const { return seconds_; }

   private:
    [[nodiscard]] std::size_t get_size(int blocks) const {
        return static_cast<std::size_t>(blocks) * static_cast<std::size_t>(bodies_);
    }
    /// Number of doubles in some blocks of bodies.
    [[nodiscard]] int count(int blocks) const { return 3 * blocks * bodies_; }

    /// In step i, sends to the i-th next rank, and receives from the i-th previous rank.
    void exchange_all_pairs(const std::vector<Vector>& own) {
        std::ranges::copy(own, all_.data() + get_size(rank_));
        for (int i = 1; i < ranks_; ++i) {
            const int to = (rank_ + i) % ranks_, from = (rank_ + ranks_ - i) % ranks_;
            MPI_Sendrecv(own.data(), count(1), MPI_DOUBLE, to, 0, all_.data() + get_size(from), count(1),
                         MPI_DOUBLE, from, 0, comm_, MPI_STATUS_IGNORE);
        }
    }

    /// Recursive doubling among the largest power of two of ranks. A rank r below it also handles the block of rank
    /// r + cube, if any, which waits for the result. Blocks are in the order 0, cube, 1, cube + 1, ...
    void exchange_along_hypercube(const std::vector<Vector>& own) {
        const int cube = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks_))),
                  extra = ranks_ - cube;
        const auto get_place = [&](int rank) { return rank + std::min(rank, extra); };
        if (rank_ >= cube) {
            MPI_Send(own.data(), count(1), MPI_DOUBLE, rank_ - cube, 0, comm_);
            MPI_Recv(scratch_.data(), count(ranks_), MPI_DOUBLE, rank_ - cube, 0, comm_, MPI_STATUS_IGNORE);
        } else {
            Vector* const here = scratch_.data() + get_size(get_place(rank_));
            std::ranges::copy(own, here);
            if (rank_ < extra)
                MPI_Recv(here + bodies_, count(1), MPI_DOUBLE, rank_ + cube, 0, comm_, MPI_STATUS_IGNORE);
            for (int width = 1; width < cube; width *= 2) {
                const int first = rank_ & ~(width - 1), other = first ^ width;
                const int own_place = get_place(first), other_place = get_place(other);
                MPI_Sendrecv(scratch_.data() + get_size(own_place),
                             count(get_place(first + width) - own_place), MPI_DOUBLE, rank_ ^ width, 0,
                             scratch_.data() + get_size(other_place),
                             count(get_place(other + width) - other_place), MPI_DOUBLE, rank_ ^ width, 0,
                             comm_, MPI_STATUS_IGNORE);
            }
            if (rank_ < extra) MPI_Send(scratch_.data(), count(ranks_), MPI_DOUBLE, rank_ + cube, 0, comm_);
        }
        for (int rank = 0; rank < ranks_; ++rank) {
            const int place = rank < cube ? get_place(rank) : get_place(rank - cube) + 1;
            std::copy_n(scratch_.data() + get_size(place), bodies_, all_.data() + get_size(rank));
        }
    }

    void gather_and_broadcast(const std::vector<Vector>& own) {
        MPI_Gather(own.data(), count(1), MPI_DOUBLE, all_.data(), count(1), MPI_DOUBLE, 0, comm_);
        MPI_Bcast(all_.data(), count(ranks_), MPI_DOUBLE, 0, comm_);
    }

    /// Forwards the newest block to the next rank while `use` works on it.
    template <class Use>
    void pass_around_ring(const std::vector<Vector>& own, const Use& use) {
        std::vector<Vector> current = own, next(own.size());
        for (int i = 0; i < ranks_; ++i) {
            std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
            double begin = MPI_Wtime();
            if (i + 1 < ranks_) {
                MPI_Irecv(next.data(), count(1), MPI_DOUBLE, (rank_ + ranks_ - 1) % ranks_, 0, comm_,
                          &requests[0]);
                MPI_Isend(current.data(), count(1), MPI_DOUBLE, (rank_ + 1) % ranks_, 0, comm_, &requests[1]);
            }
            seconds_ += MPI_Wtime() - begin;
            use(get_size((rank_ + ranks_ - i) % ranks_), std::span<const Vector>(current));
            begin = MPI_Wtime();
            MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
            seconds_ += MPI_Wtime() - begin;
            current.swap(next);
        }
    }

    MPI_Comm comm_;
    std::string name_;
    int bodies_, rank_ = 0, ranks_ = 1;
    std::vector<Vector> all_, scratch_;
    double seconds_ = 0;
};

}  // namespace nbody
