// SPDX-License-Identifier: BSD-3-Clause
// Wrappers of MPI's collectives, which call libtopoloom-collective or the next definition.
#include "generalized_requests.h"
#include "preload.h"
#include "self_messages.h"

#define UNPACK(...) __VA_ARGS__

#define ALL_FORMS(Name, name, parameters, arguments, condition)                           \
    SHIM_EXPORT int MPI_##Name parameters {                                               \
        NEXT_OF(MPI_##Name);                                                              \
        const enum call_form form = blocking;                                             \
        return (!is_excluded_comm(comm) && condition ? topoloom_##name : next) arguments; \
    }
#define BLOCKING_ONLY ALL_FORMS
#include "wrapped_calls.h"

#define ALL_FORMS(Name, name, parameters, arguments, condition)                                       \
    SHIM_EXPORT int MPI_I##name(UNPACK parameters, MPI_Request* request) {                            \
        NEXT_OF(MPI_I##name);                                                                         \
        const enum call_form form = nonblocking;                                                      \
        topoloom_request ours;                                                                        \
        if (is_excluded_comm(comm) || !condition) return next(UNPACK arguments, request);             \
        return create_generalized_request(topoloom_i##name(UNPACK arguments, &ours), &ours, request); \
    }
#define BLOCKING_ONLY(Name, name, parameters, arguments, condition)
#include "wrapped_calls.h"

#if HAS_SELF_MESSAGES
#define ALL_FORMS(Name, name, parameters, arguments, condition)                                 \
    SHIM_EXPORT int MPI_##Name##_init(UNPACK parameters, MPI_Info info, MPI_Request* request) { \
        NEXT_OF(MPI_##Name##_init);                                                             \
        const enum call_form form = persistent;                                                 \
        topoloom_request ours;                                                                  \
        if (is_excluded_comm(comm) || !condition) return next(UNPACK arguments, info, request); \
        const int status = topoloom_##name##_init(UNPACK arguments, info, &ours);               \
        return create_self_message_request(status, &ours, request);                             \
    }
#define BLOCKING_ONLY(Name, name, parameters, arguments, condition)
#include "wrapped_calls.h"
#endif
