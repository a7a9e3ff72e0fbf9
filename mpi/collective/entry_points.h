// SPDX-License-Identifier: BSD-3-Clause
// Generates the entry points of an operation from its parameter names, which determine the types.
//
//     COLLECTIVE(bcast, buffer, count, datatype, root, comm) { return (struct arguments){...}; }
//
// defines topoloom_bcast, topoloom_ibcast and topoloom_bcast_init of topoloom_collective.h. The body that follows is
// that of describe_bcast. fortran/CMakeLists.txt generates the Fortran procedures from the same lines.
#ifndef TOPOLOOM_COLLECTIVE_ENTRY_POINTS_H
#define TOPOLOOM_COLLECTIVE_ENTRY_POINTS_H

#include "collective.h"

#define COLLECTIVE(name, ...)                                                                       \
    struct arguments describe_##name(PARAMETERS(__VA_ARGS__));                                      \
    int topoloom_##name(PARAMETERS(__VA_ARGS__)) {                                                  \
        const struct arguments arguments = describe_##name(__VA_ARGS__);                            \
        return run_blocking_call(&arguments);                                                       \
    }                                                                                               \
    int topoloom_i##name(PARAMETERS(__VA_ARGS__), topoloom_request* request) {                      \
        const struct arguments arguments = describe_##name(__VA_ARGS__);                            \
        return start_nonblocking_call(&arguments, request);                                         \
    }                                                                                               \
    int topoloom_##name##_init(PARAMETERS(__VA_ARGS__), MPI_Info info, topoloom_request* request) { \
        (void)info;                                                                                 \
        const struct arguments arguments = describe_##name(__VA_ARGS__);                            \
        return create_persistent_call(&arguments, request);                                         \
    }                                                                                               \
    struct arguments describe_##name(PARAMETERS(__VA_ARGS__))

#define DECLARE_buffer void* buffer
#define DECLARE_sendbuf const void* sendbuf
#define DECLARE_recvbuf void* recvbuf
#define DECLARE_count int count
#define DECLARE_sendcount int sendcount
#define DECLARE_recvcount int recvcount
#define DECLARE_sendcounts const int sendcounts[]
#define DECLARE_recvcounts const int recvcounts[]
#define DECLARE_displs const int displs[]
#define DECLARE_sdispls const int sdispls[]
#define DECLARE_rdispls const int rdispls[]
#define DECLARE_datatype MPI_Datatype datatype
#define DECLARE_sendtype MPI_Datatype sendtype
#define DECLARE_recvtype MPI_Datatype recvtype
#define DECLARE_op MPI_Op op
#define DECLARE_root int root
#define DECLARE_comm MPI_Comm comm

// PARAMETERS(sendbuf, count) becomes `const void* sendbuf, int count`, for one to nine names.
#define PARAMETERS_1(name) DECLARE_##name
#define PARAMETERS_2(name, ...) DECLARE_##name, PARAMETERS_1(__VA_ARGS__)
#define PARAMETERS_3(name, ...) DECLARE_##name, PARAMETERS_2(__VA_ARGS__)
#define PARAMETERS_4(name, ...) DECLARE_##name, PARAMETERS_3(__VA_ARGS__)
#define PARAMETERS_5(name, ...) DECLARE_##name, PARAMETERS_4(__VA_ARGS__)
#define PARAMETERS_6(name, ...) DECLARE_##name, PARAMETERS_5(__VA_ARGS__)
#define PARAMETERS_7(name, ...) DECLARE_##name, PARAMETERS_6(__VA_ARGS__)
#define PARAMETERS_8(name, ...) DECLARE_##name, PARAMETERS_7(__VA_ARGS__)
#define PARAMETERS_9(name, ...) DECLARE_##name, PARAMETERS_8(__VA_ARGS__)
#define SELECT_TENTH(_1, _2, _3, _4, _5, _6, _7, _8, _9, tenth, ...) tenth
#define PARAMETERS(...)                                                                             \
    SELECT_TENTH(__VA_ARGS__, PARAMETERS_9, PARAMETERS_8, PARAMETERS_7, PARAMETERS_6, PARAMETERS_5, \
                 PARAMETERS_4, PARAMETERS_3, PARAMETERS_2, PARAMETERS_1, )                          \
    (__VA_ARGS__)

#endif
