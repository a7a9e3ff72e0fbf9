// SPDX-License-Identifier: BSD-3-Clause
// Collectives that operation, ranks, bytes and root define completely: all except many-to-many.
#pragma once

#include <array>

#include "topoloom/schedule/collective.hpp"

inline constexpr std::array single_call_operations = {
    topoloom::Operation::bcast,          topoloom::Operation::reduce,    topoloom::Operation::scatter,
    topoloom::Operation::gather,         topoloom::Operation::allgather, topoloom::Operation::allreduce,
    topoloom::Operation::reduce_scatter, topoloom::Operation::alltoall,  topoloom::Operation::barrier,
    topoloom::Operation::scan,           topoloom::Operation::exscan};
