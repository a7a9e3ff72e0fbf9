// SPDX-License-Identifier: BSD-3-Clause
// MPI's blocking collectives.
#include "preload.h"

SHIM_EXPORT int MPI_Barrier(MPI_Comm comm) {
    DEFINITION(MPI_Barrier);
    return (serves_barrier(blocking, comm) ? topoloom_barrier : next)(comm);
}

SHIM_EXPORT int MPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    DEFINITION(MPI_Alltoall);
    const bool ours =
        serves_alltoall(blocking, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    return (ours ? topoloom_alltoall : next)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                             comm);
}

SHIM_EXPORT int MPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                              const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
    DEFINITION(MPI_Alltoallv);
    const bool ours = serves_alltoallv(sendbuf, sendcounts, sendtype, recvbuf, recvcounts, recvtype, comm);
    return (ours ? topoloom_alltoallv : next)(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                              rdispls, recvtype, comm);
}

SHIM_EXPORT int MPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                              int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    DEFINITION(MPI_Allgather);
    const bool ours =
        serves_allgather(blocking, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    return (ours ? topoloom_allgather : next)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                              comm);
}

SHIM_EXPORT int MPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                               const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                               MPI_Comm comm) {
    DEFINITION(MPI_Allgatherv);
    const bool ours =
        serves_allgatherv(blocking, sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvtype, comm);
    return (ours ? topoloom_allgatherv : next)(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                               recvtype, comm);
}

SHIM_EXPORT int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm) {
    DEFINITION(MPI_Allreduce);
    const bool ours = serves_combining(blocking, TOPOLOOM_ALL_REDUCE, count, datatype, op, comm);
    return (ours ? topoloom_allreduce : next)(sendbuf, recvbuf, count, datatype, op, comm);
}

SHIM_EXPORT int MPI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    DEFINITION(MPI_Reduce_scatter);
    const bool ours = serves_reduce_scatter(blocking, recvcounts, datatype, op, comm);
    return (ours ? topoloom_reduce_scatter : next)(sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

SHIM_EXPORT int MPI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    DEFINITION(MPI_Reduce_scatter_block);
    const bool ours = serves_combining(blocking, TOPOLOOM_REDUCE_SCATTER, recvcount, datatype, op, comm);
    return (ours ? topoloom_reduce_scatter_block : next)(sendbuf, recvbuf, recvcount, datatype, op, comm);
}

SHIM_EXPORT int MPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                         MPI_Comm comm) {
    DEFINITION(MPI_Scan);
    const bool ours = serves_combining(blocking, TOPOLOOM_SCAN, count, datatype, op, comm);
    return (ours ? topoloom_scan : next)(sendbuf, recvbuf, count, datatype, op, comm);
}

SHIM_EXPORT int MPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm) {
    DEFINITION(MPI_Exscan);
    const bool ours = serves_combining(blocking, TOPOLOOM_EXSCAN, count, datatype, op, comm);
    return (ours ? topoloom_exscan : next)(sendbuf, recvbuf, count, datatype, op, comm);
}

SHIM_EXPORT int MPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    DEFINITION(MPI_Bcast);
    const bool ours = serves_bcast(blocking, buffer, count, datatype, root, comm);
    return (ours ? topoloom_bcast : next)(buffer, count, datatype, root, comm);
}

SHIM_EXPORT int MPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                           int root, MPI_Comm comm) {
    DEFINITION(MPI_Reduce);
    const bool ours = serves_reduce(blocking, count, datatype, op, root, comm);
    return (ours ? topoloom_reduce : next)(sendbuf, recvbuf, count, datatype, op, root, comm);
}

SHIM_EXPORT int MPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    DEFINITION(MPI_Gather);
    const bool ours =
        serves_gather(blocking, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    return (ours ? topoloom_gather : next)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                                           comm);
}

SHIM_EXPORT int MPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                            const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                            MPI_Comm comm) {
    DEFINITION(MPI_Gatherv);
    const bool ours = serves_gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvtype, root, comm);
    return (ours ? topoloom_gatherv : next)(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                            recvtype, root, comm);
}

SHIM_EXPORT int MPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                            int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    DEFINITION(MPI_Scatter);
    const bool ours =
        serves_scatter(blocking, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    return (ours ? topoloom_scatter : next)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                                            comm);
}

SHIM_EXPORT int MPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                             MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                             int root, MPI_Comm comm) {
    DEFINITION(MPI_Scatterv);
    const bool ours =
        serves_scatterv(sendbuf, sendcounts, sendtype, recvbuf, recvcount, recvtype, root, comm);
    return (ours ? topoloom_scatterv : next)(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                                             recvtype, root, comm);
}
