// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/strategy/usual_schedule.hpp"

#include <bit>
#include <cstdint>

#include "topoloom/base/error.hpp"

namespace topoloom {

std::string usual_schedule(const Call& call) {
    const std::int64_t bytes = call.bytes.value;
    const double all = static_cast<double>(bytes) * (call.in_all ? 1 : static_cast<double>(call.ranks));
    const bool is_power = std::has_single_bit(call.ranks);
    switch (call.operation) {
        case Operation::barrier:
            return "dissemination";
        case Operation::bcast:
            return bytes < 12288 || call.ranks < 8 ? "binomial"
                   : is_power && bytes < 524288    ? "scatter-allgather(gather=doubling,cut=rounded-up)"
                                                   : "scatter-allgather(gather=ring,cut=rounded-up)";
        case Operation::reduce:
            return bytes <= 2048 ? "binomial" : "halving(fold=odd,order=near,cut=last)";
        case Operation::allreduce:
            return bytes <= 2048 ? "recursive-doubling(fold=even)" : "halving(fold=even,order=near,cut=last)";
        case Operation::scatter:
        case Operation::gather:
            return "binomial";
        case Operation::allgather:
            return all >= (is_power ? 524288 : 81920) ? "ring" : is_power ? "recursive-doubling" : "bruck";
        case Operation::reduce_scatter:
            return all < 524288 ? "halving(fold=even)" : "pairwise";
        case Operation::alltoall:
            return bytes <= 256 && call.ranks >= 8 ? "bruck" : bytes <= 32768 ? "at-once" : "pairwise";
        case Operation::scan:
        case Operation::exscan:
            return "recursive-doubling";
        default:
            fail(operation_name(call.operation), ": MPI libraries have no such collective");
    }
}

}  // namespace topoloom
