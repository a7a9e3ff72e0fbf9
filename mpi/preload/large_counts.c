// SPDX-License-Identifier: BSD-3-Clause
// MPI-4's functions with large counts, which mpi4py always uses. If the size in bytes, which is the same on
// all processes, fits into an int, the call is forwarded to the function with int counts.
#include <limits.h>

#include "preload.h"

#if MPI_VERSION >= 4
static bool fits_int(MPI_Count count, MPI_Datatype type) {
    MPI_Count size = 0;
    if (count < 0 || type == MPI_DATATYPE_NULL) return false;  // MPI will raise the error
    PMPI_Type_size_x(type, &size);
    return count <= INT_MAX && count * size <= INT_MAX;
}

#define NONE
#define PARAMETER , MPI_Request* request
#define ARGUMENT , request
/// Body of a function: calls the function with int counts, or the next definition.
#define FORM(name, is_small_call, small_form, large_form)                                                  \
    {                                                                                                      \
        NEXT_OF(name);                                                                                     \
        return !is_excluded_comm(comm) && is_intracomm(comm) && (is_small_call) ? small_form : large_form; \
    }
#define BCAST(name, parameter, argument)                                                           \
    SHIM_EXPORT int name##_c(void* buffer, MPI_Count count, MPI_Datatype type, int root,           \
                             MPI_Comm comm parameter)                                              \
        FORM(name##_c, fits_int(count, type), name(buffer, (int)count, type, root, comm argument), \
             next(buffer, count, type, root, comm argument))
#define COMBINE(name, parameter, argument)                                                                 \
    SHIM_EXPORT int name##_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,       \
                             MPI_Op op, MPI_Comm comm parameter)                                           \
        FORM(name##_c, fits_int(count, type), name(sendbuf, recvbuf, (int)count, type, op, comm argument), \
             next(sendbuf, recvbuf, count, type, op, comm argument))
#define REDUCE(name, parameter, argument)                                                            \
    SHIM_EXPORT int name##_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, \
                             MPI_Op op, int root, MPI_Comm comm parameter)                           \
        FORM(name##_c, fits_int(count, type),                                                        \
             name(sendbuf, recvbuf, (int)count, type, op, root, comm argument),                      \
             next(sendbuf, recvbuf, count, type, op, root, comm argument))
/// Blocks received have the same size as blocks sent.
#define EXCHANGE(name, parameter, argument)                                                                  \
    SHIM_EXPORT int name##_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, \
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm parameter)            \
        FORM(name##_c, fits_int(recvcount, recvtype),                                                        \
             name(sendbuf, (int)sendcount, sendtype, recvbuf, (int)recvcount, recvtype, comm argument),      \
             next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm argument))
/// `small` checks the buffer that is significant on all ranks.
#define WITH_ROOT(name, small, parameter, argument)                                                          \
    SHIM_EXPORT int name##_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, \
                             MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm parameter)  \
        FORM(                                                                                                \
            name##_c, small,                                                                                 \
            name(sendbuf, (int)sendcount, sendtype, recvbuf, (int)recvcount, recvtype, root, comm argument), \
            next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm argument))
#define IS_SMALL_SEND \
    (sendbuf == MPI_IN_PLACE ? fits_int(recvcount, recvtype) : fits_int(sendcount, sendtype))
#define IS_SMALL_RECEIVE \
    (recvbuf == MPI_IN_PLACE ? fits_int(sendcount, sendtype) : fits_int(recvcount, recvtype))

BCAST(MPI_Bcast, NONE, NONE)
BCAST(MPI_Ibcast, PARAMETER, ARGUMENT)
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
WITH_ROOT(MPI_Gather, IS_SMALL_SEND, NONE, NONE)
WITH_ROOT(MPI_Igather, IS_SMALL_SEND, PARAMETER, ARGUMENT)
WITH_ROOT(MPI_Scatter, IS_SMALL_RECEIVE, NONE, NONE)
WITH_ROOT(MPI_Iscatter, IS_SMALL_RECEIVE, PARAMETER, ARGUMENT)
#endif
