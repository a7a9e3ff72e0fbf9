// SPDX-License-Identifier: BSD-3-Clause
// Wrappers of MPI's collectives, which call libtopoloom-collective or the next definition.
#include "generalized_requests.h"
#include "preload.h"
#include "self_messages.h"

#define UNPACK(...) __VA_ARGS__

/// Whether the call of a wrapper is replaced; counts it if not.
#define IS_REPLACED(name, condition) \
    (!is_excluded_call(comm, wrapped_##name, form) && count_decision(condition, wrapped_##name, form))

#define ALL_FORMS(Name, name, parameters, arguments, condition)                             \
    SHIM_EXPORT int MPI_##Name parameters {                                                 \
        NEXT_OF(MPI_##Name);                                                                \
        const enum call_form form = blocking;                                               \
        if (!IS_REPLACED(name, condition)) return next arguments;                           \
        const double start = get_start_time();                                              \
        return count_replaced_call(topoloom_##name arguments, wrapped_##name, form, start); \
    }
#define BLOCKING_ONLY ALL_FORMS
#include "wrapped_calls.h"

#define ALL_FORMS(Name, name, parameters, arguments, condition)                    \
    SHIM_EXPORT int MPI_I##name(UNPACK parameters, MPI_Request* request) {         \
        NEXT_OF(MPI_I##name);                                                      \
        const enum call_form form = nonblocking;                                   \
        topoloom_request ours;                                                     \
        if (!IS_REPLACED(name, condition)) return next(UNPACK arguments, request); \
        const int status = topoloom_i##name(UNPACK arguments, &ours);              \
        count_replaced_call(status, wrapped_##name, form, 0);                      \
        return create_generalized_request(status, &ours, request);                 \
    }
#define BLOCKING_ONLY(Name, name, parameters, arguments, condition)
#include "wrapped_calls.h"

#if HAS_SELF_MESSAGES
#define ALL_FORMS(Name, name, parameters, arguments, condition)                                 \
    SHIM_EXPORT int MPI_##Name##_init(UNPACK parameters, MPI_Info info, MPI_Request* request) { \
        NEXT_OF(MPI_##Name##_init);                                                             \
        const enum call_form form = persistent;                                                 \
        topoloom_request ours;                                                                  \
        if (!IS_REPLACED(name, condition)) return next(UNPACK arguments, info, request);        \
        const int status = topoloom_##name##_init(UNPACK arguments, info, &ours);               \
        count_replaced_call(status, wrapped_##name, form, 0);                                   \
        return create_self_message_request(status, &ours, request);                             \
    }
#define BLOCKING_ONLY(Name, name, parameters, arguments, condition)
#include "wrapped_calls.h"
#endif
