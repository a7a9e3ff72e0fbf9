// SPDX-License-Identifier: BSD-3-Clause
// MPI-4's forms with large counts, by which mpi4py makes all calls where MPI has them. Those of few bytes, which are few for all
// processes, are the calls with small counts.
#include <limits.h>

#include "preload.h"

#if MPI_VERSION >= 4
static bool is_small(MPI_Count count, MPI_Datatype type) {
    MPI_Count size = 0;
    if (count < 0 || type == MPI_DATATYPE_NULL) return false;  // wrong, as MPI will say
    PMPI_Type_size_x(type, &size);
    return count <= INT_MAX && count * size <= INT_MAX;
}

#define NONE
#define PARAMETER , MPI_Request* request
#define ARGUMENT , request
/// The body of a function: the form with small counts, or what is behind ours.
#define FORM(name, small, small_form, large_form)                                         \
    {                                                                                     \
        DEFINITION(name);                                                                 \
        return !stays_mpis(comm) && is_within(comm) && (small) ? small_form : large_form; \
    }
#define BROADCAST(name, parameter, argument)                                                       \
    SHIM_EXPORT int name##_c(void* buffer, MPI_Count count, MPI_Datatype type, int root,           \
                             MPI_Comm comm parameter)                                              \
        FORM(name##_c, is_small(count, type), name(buffer, (int)count, type, root, comm argument), \
             next(buffer, count, type, root, comm argument))
#define COMBINE(name, parameter, argument)                                                              \
    SHIM_EXPORT int name##_c(const void* from, void* to, MPI_Count count, MPI_Datatype type, MPI_Op op, \
                             MPI_Comm comm parameter)                                                   \
        FORM(name##_c, is_small(count, type), name(from, to, (int)count, type, op, comm argument),      \
             next(from, to, count, type, op, comm argument))
#define REDUCE(name, parameter, argument)                                                                \
    SHIM_EXPORT int name##_c(const void* from, void* to, MPI_Count count, MPI_Datatype type, MPI_Op op,  \
                             int root, MPI_Comm comm parameter)                                          \
        FORM(name##_c, is_small(count, type), name(from, to, (int)count, type, op, root, comm argument), \
             next(from, to, count, type, op, root, comm argument))
/// What each gets from another is as large as what that sends.
#define EXCHANGE(name, parameter, argument)                                                      \
    SHIM_EXPORT int name##_c(const void* from, MPI_Count sent, MPI_Datatype sent_type, void* to, \
                             MPI_Count got, MPI_Datatype got_type, MPI_Comm comm parameter)      \
        FORM(name##_c, is_small(got, got_type),                                                  \
             name(from, (int)sent, sent_type, to, (int)got, got_type, comm argument),            \
             next(from, sent, sent_type, to, got, got_type, comm argument))
/// `small` is of the side that all have.
#define WITH_ROOT(name, small, parameter, argument)                                                          \
    SHIM_EXPORT int name##_c(const void* from, MPI_Count sent, MPI_Datatype sent_type, void* to,             \
                             MPI_Count got, MPI_Datatype got_type, int root, MPI_Comm comm parameter)        \
        FORM(name##_c, small, name(from, (int)sent, sent_type, to, (int)got, got_type, root, comm argument), \
             next(from, sent, sent_type, to, got, got_type, root, comm argument))
#define SENDS_LITTLE (from == MPI_IN_PLACE ? is_small(got, got_type) : is_small(sent, sent_type))
#define GETS_LITTLE (to == MPI_IN_PLACE ? is_small(sent, sent_type) : is_small(got, got_type))

BROADCAST(MPI_Bcast, NONE, NONE)
BROADCAST(MPI_Ibcast, PARAMETER, ARGUMENT)
REDUCE(MPI_Reduce, NONE, NONE)
REDUCE(MPI_Ireduce, PARAMETER, ARGUMENT)
COMBINE(MPI_Allreduce, NONE, NONE)
COMBINE(MPI_Iallreduce, PARAMETER, ARGUMENT)
COMBINE(MPI_Scan, NONE, NONE)
COMBINE(MPI_Iscan, PARAMETER, ARGUMENT)
COMBINE(MPI_Exscan, NONE, NONE)
COMBINE(MPI_Iexscan, PARAMETER, ARGUMENT)
COMBINE(MPI_Reduce_scatter_block, NONE, NONE)
COMBINE(MPI_Ireduce_scatter_block, PARAMETER, ARGUMENT)
EXCHANGE(MPI_Alltoall, NONE, NONE)
EXCHANGE(MPI_Ialltoall, PARAMETER, ARGUMENT)
EXCHANGE(MPI_Allgather, NONE, NONE)
EXCHANGE(MPI_Iallgather, PARAMETER, ARGUMENT)
WITH_ROOT(MPI_Gather, SENDS_LITTLE, NONE, NONE)
WITH_ROOT(MPI_Igather, SENDS_LITTLE, PARAMETER, ARGUMENT)
WITH_ROOT(MPI_Scatter, GETS_LITTLE, NONE, NONE)
WITH_ROOT(MPI_Iscatter, GETS_LITTLE, PARAMETER, ARGUMENT)
#endif
