// SPDX-License-Identifier: BSD-3-Clause
// List of the collectives that can be replaced, with their parameters. Define both macros before including this file.
// `condition` may use the parameters and an enum call_form `form`.
//   ALL_FORMS(Name, name, (parameters), (arguments), condition)      blocking, non-blocking and persistent
//   BLOCKING_ONLY(Name, name, (parameters), (arguments), condition)  only blocking: every library sends blocks of
//                                                                    different sizes directly, so replacing serves
//                                                                    only learning and traces
ALL_FORMS(Barrier, barrier, (MPI_Comm comm), (comm), can_replace_barrier(form, comm))
ALL_FORMS(Alltoall, alltoall,
          (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
           MPI_Datatype recvtype, MPI_Comm comm),
          (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
          can_replace_alltoall(form, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
ALL_FORMS(Allgather, allgather,
          (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
           MPI_Datatype recvtype, MPI_Comm comm),
          (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
          can_replace_allgather(form, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
ALL_FORMS(Allgatherv, allgatherv,
          (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
           const int displs[], MPI_Datatype recvtype, MPI_Comm comm),
          (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
          can_replace_allgatherv(form, sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvtype, comm))
ALL_FORMS(Allreduce, allreduce,
          (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
          (sendbuf, recvbuf, count, datatype, op, comm),
          can_replace_reduction(form, TOPOLOOM_ALLREDUCE, sendbuf, recvbuf, count, datatype, op, comm))
ALL_FORMS(Reduce_scatter, reduce_scatter,
          (const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
           MPI_Comm comm),
          (sendbuf, recvbuf, recvcounts, datatype, op, comm),
          can_replace_reduce_scatter(form, sendbuf, recvbuf, recvcounts, datatype, op, comm))
ALL_FORMS(Reduce_scatter_block, reduce_scatter_block,
          (const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
           MPI_Comm comm),
          (sendbuf, recvbuf, recvcount, datatype, op, comm),
          can_replace_reduction(form, TOPOLOOM_REDUCE_SCATTER, sendbuf, recvbuf, recvcount, datatype, op,
                                comm))
ALL_FORMS(Scan, scan,
          (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
          (sendbuf, recvbuf, count, datatype, op, comm),
          can_replace_reduction(form, TOPOLOOM_SCAN, sendbuf, recvbuf, count, datatype, op, comm))
ALL_FORMS(Exscan, exscan,
          (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
          (sendbuf, recvbuf, count, datatype, op, comm),
          can_replace_reduction(form, TOPOLOOM_EXSCAN, sendbuf, recvbuf, count, datatype, op, comm))
ALL_FORMS(Bcast, bcast, (void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm),
          (buffer, count, datatype, root, comm), can_replace_bcast(form, buffer, count, datatype, root, comm))
ALL_FORMS(Reduce, reduce,
          (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
           MPI_Comm comm),
          (sendbuf, recvbuf, count, datatype, op, root, comm),
          can_replace_reduce(form, sendbuf, recvbuf, count, datatype, op, root, comm))
ALL_FORMS(Gather, gather,
          (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
           MPI_Datatype recvtype, int root, MPI_Comm comm),
          (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
          can_replace_gather(form, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))
ALL_FORMS(Scatter, scatter,
          (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
           MPI_Datatype recvtype, int root, MPI_Comm comm),
          (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
          can_replace_scatter(form, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))
BLOCKING_ONLY(Alltoallv, alltoallv,
              (const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
               void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
               MPI_Comm comm),
              (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
              can_replace_alltoallv(form, sendbuf, sendcounts, sendtype, recvbuf, recvcounts, recvtype, comm))
BLOCKING_ONLY(Gatherv, gatherv,
              (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
               const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm),
              (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
              can_replace_gatherv(form, sendbuf, sendcount, sendtype, recvbuf, recvcounts, recvtype, root,
                                  comm))
BLOCKING_ONLY(Scatterv, scatterv,
              (const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
               void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
              (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
              can_replace_scatterv(form, sendbuf, sendcounts, sendtype, recvbuf, recvcount, recvtype, root,
                                   comm))

#undef ALL_FORMS
#undef BLOCKING_ONLY
