// SPDX-License-Identifier: BSD-3-Clause
// What the Fortran modules call: handles are integers, and one function does all forms of an operation.
#include "topoloom_collective.h"

#define FORTRAN TOPOLOOM_COLLECTIVE_API int
#define TYPE(type) MPI_Type_f2c(type)
#define OP(op) MPI_Op_f2c(op)
#define COMM MPI_Comm_f2c(comm)
#define REST int comm, int form, topoloom_request *request

enum { blocking, started };

/// What CMakeLists.txt calls form 0, 1 and 2.
#define CALL(name, ...)                                               \
    return form == blocking  ? topoloom_##name(__VA_ARGS__)           \
           : form == started ? topoloom_i##name(__VA_ARGS__, request) \
                             : topoloom_##name##_init(__VA_ARGS__, MPI_INFO_NULL, request)

TOPOLOOM_COLLECTIVE_API void* topoloom_in_place_f(void) { return MPI_IN_PLACE; }

FORTRAN topoloom_alltoall_f(const void* from, int sent, int sent_type, void* to, int got, int got_type,
                            REST) {
    CALL(alltoall, from, sent, TYPE(sent_type), to, got, TYPE(got_type), COMM);
}
FORTRAN topoloom_alltoallv_f(const void* from, const int sent[], const int sent_at[], int sent_type, void* to,
                             const int got[], const int got_at[], int got_type, REST) {
    CALL(alltoallv, from, sent, sent_at, TYPE(sent_type), to, got, got_at, TYPE(got_type), COMM);
}
FORTRAN topoloom_allgather_f(const void* from, int sent, int sent_type, void* to, int got, int got_type,
                             REST) {
    CALL(allgather, from, sent, TYPE(sent_type), to, got, TYPE(got_type), COMM);
}
FORTRAN topoloom_allgatherv_f(const void* from, int sent, int sent_type, void* to, const int got[],
                              const int got_at[], int got_type, REST) {
    CALL(allgatherv, from, sent, TYPE(sent_type), to, got, got_at, TYPE(got_type), COMM);
}
FORTRAN topoloom_gather_f(const void* from, int sent, int sent_type, void* to, int got, int got_type,
                          int root, REST) {
    CALL(gather, from, sent, TYPE(sent_type), to, got, TYPE(got_type), root, COMM);
}
FORTRAN topoloom_gatherv_f(const void* from, int sent, int sent_type, void* to, const int got[],
                           const int got_at[], int got_type, int root, REST) {
    CALL(gatherv, from, sent, TYPE(sent_type), to, got, got_at, TYPE(got_type), root, COMM);
}
FORTRAN topoloom_scatter_f(const void* from, int sent, int sent_type, void* to, int got, int got_type,
                           int root, REST) {
    CALL(scatter, from, sent, TYPE(sent_type), to, got, TYPE(got_type), root, COMM);
}
FORTRAN topoloom_scatterv_f(const void* from, const int sent[], const int sent_at[], int sent_type, void* to,
                            int got, int got_type, int root, REST) {
    CALL(scatterv, from, sent, sent_at, TYPE(sent_type), to, got, TYPE(got_type), root, COMM);
}
FORTRAN topoloom_allreduce_f(const void* from, void* to, int count, int type, int op, REST) {
    CALL(allreduce, from, to, count, TYPE(type), OP(op), COMM);
}
FORTRAN topoloom_reduce_f(const void* from, void* to, int count, int type, int op, int root, REST) {
    CALL(reduce, from, to, count, TYPE(type), OP(op), root, COMM);
}
FORTRAN topoloom_reduce_scatter_f(const void* from, void* to, const int got[], int type, int op, REST) {
    CALL(reduce_scatter, from, to, got, TYPE(type), OP(op), COMM);
}
FORTRAN topoloom_reduce_scatter_block_f(const void* from, void* to, int got, int type, int op, REST) {
    CALL(reduce_scatter_block, from, to, got, TYPE(type), OP(op), COMM);
}
FORTRAN topoloom_scan_f(const void* from, void* to, int count, int type, int op, REST) {
    CALL(scan, from, to, count, TYPE(type), OP(op), COMM);
}
FORTRAN topoloom_exscan_f(const void* from, void* to, int count, int type, int op, REST) {
    CALL(exscan, from, to, count, TYPE(type), OP(op), COMM);
}
FORTRAN topoloom_bcast_f(void* buffer, int count, int type, int root, REST) {
    CALL(bcast, buffer, count, TYPE(type), root, COMM);
}
FORTRAN topoloom_barrier_f(REST) { CALL(barrier, COMM); }

FORTRAN topoloom_test_f(topoloom_request* request, int* flag) {
    return topoloom_test(request, flag, MPI_STATUS_IGNORE);
}
FORTRAN topoloom_wait_f(topoloom_request* request) { return topoloom_wait(request, MPI_STATUS_IGNORE); }
FORTRAN topoloom_testall_f(int count, topoloom_request requests[], int* flag) {
    return topoloom_testall(count, requests, flag, MPI_STATUSES_IGNORE);
}
FORTRAN topoloom_waitall_f(int count, topoloom_request requests[]) {
    return topoloom_waitall(count, requests, MPI_STATUSES_IGNORE);
}
