// SPDX-License-Identifier: BSD-3-Clause
// MPI's persistent collectives, but those whose blocks differ and go straight to their rank in every library.
#include "preload.h"
#include "tokens.h"

#if HAS_TOKENS
SHIM_EXPORT int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    DEFINITION(MPI_Barrier_init);
    if (!serves_barrier(persistent, comm)) return next(comm, info, request);
    topoloom_request ours;
    return hand_out(topoloom_barrier_init(comm, info, &ours), &ours, request);
}

SHIM_EXPORT int MPI_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
    DEFINITION(MPI_Alltoall_init);
    if (!serves_alltoall(persistent, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
        return next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
    topoloom_request ours;
    const int made =
        topoloom_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, &ours);
    return hand_out(made, &ours, request);
}

SHIM_EXPORT int MPI_Allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                   MPI_Request* request) {
    DEFINITION(MPI_Allgather_init);
    if (!serves_allgather(persistent, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
        return next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
    topoloom_request ours;
    const int made = topoloom_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                             info, &ours);
    return hand_out(made, &ours, request);
}

SHIM_EXPORT int MPI_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                                    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    DEFINITION(MPI_Allgatherv_init);
    if (!serves_allgatherv(persistent, sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvtype, comm))
        return next(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info, request);
    topoloom_request ours;
    const int made = topoloom_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                              recvtype, comm, info, &ours);
    return hand_out(made, &ours, request);
}

SHIM_EXPORT int MPI_Allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                                   MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    DEFINITION(MPI_Allreduce_init);
    if (!serves_combining(persistent, TOPOLOOM_ALL_REDUCE, count, datatype, op, comm))
        return next(sendbuf, recvbuf, count, datatype, op, comm, info, request);
    topoloom_request ours;
    return hand_out(topoloom_allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, &ours), &ours,
                    request);
}

SHIM_EXPORT int MPI_Reduce_scatter_init(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                        MPI_Request* request) {
    DEFINITION(MPI_Reduce_scatter_init);
    if (!serves_reduce_scatter(persistent, recvcounts, datatype, op, comm))
        return next(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request);
    topoloom_request ours;
    const int made =
        topoloom_reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, &ours);
    return hand_out(made, &ours, request);
}

SHIM_EXPORT int MPI_Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount,
                                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                              MPI_Request* request) {
    DEFINITION(MPI_Reduce_scatter_block_init);
    if (!serves_combining(persistent, TOPOLOOM_REDUCE_SCATTER, recvcount, datatype, op, comm))
        return next(sendbuf, recvbuf, recvcount, datatype, op, comm, info, request);
    topoloom_request ours;
    const int made =
        topoloom_reduce_scatter_block_init(sendbuf, recvbuf, recvcount, datatype, op, comm, info, &ours);
    return hand_out(made, &ours, request);
}

SHIM_EXPORT int MPI_Scan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    DEFINITION(MPI_Scan_init);
    if (!serves_combining(persistent, TOPOLOOM_SCAN, count, datatype, op, comm))
        return next(sendbuf, recvbuf, count, datatype, op, comm, info, request);
    topoloom_request ours;
    return hand_out(topoloom_scan_init(sendbuf, recvbuf, count, datatype, op, comm, info, &ours), &ours,
                    request);
}

SHIM_EXPORT int MPI_Exscan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                                MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    DEFINITION(MPI_Exscan_init);
    if (!serves_combining(persistent, TOPOLOOM_EXSCAN, count, datatype, op, comm))
        return next(sendbuf, recvbuf, count, datatype, op, comm, info, request);
    topoloom_request ours;
    return hand_out(topoloom_exscan_init(sendbuf, recvbuf, count, datatype, op, comm, info, &ours), &ours,
                    request);
}

SHIM_EXPORT int MPI_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                               MPI_Info info, MPI_Request* request) {
    DEFINITION(MPI_Bcast_init);
    if (!serves_bcast(persistent, buffer, count, datatype, root, comm))
        return next(buffer, count, datatype, root, comm, info, request);
    topoloom_request ours;
    return hand_out(topoloom_bcast_init(buffer, count, datatype, root, comm, info, &ours), &ours, request);
}

SHIM_EXPORT int MPI_Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                                MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    DEFINITION(MPI_Reduce_init);
    if (!serves_reduce(persistent, count, datatype, op, root, comm))
        return next(sendbuf, recvbuf, count, datatype, op, root, comm, info, request);
    topoloom_request ours;
    return hand_out(topoloom_reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, info, &ours),
                    &ours, request);
}

SHIM_EXPORT int MPI_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                MPI_Request* request) {
    DEFINITION(MPI_Gather_init);
    if (!serves_gather(persistent, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))
        return next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request);
    topoloom_request ours;
    const int made = topoloom_gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                                          comm, info, &ours);
    return hand_out(made, &ours, request);
}

SHIM_EXPORT int MPI_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request) {
    DEFINITION(MPI_Scatter_init);
    if (!serves_scatter(persistent, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))
        return next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request);
    topoloom_request ours;
    const int made = topoloom_scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                                           comm, info, &ours);
    return hand_out(made, &ours, request);
}
#endif
