// SPDX-License-Identifier: BSD-3-Clause
// Calls on MPI_COMM_WORLD for which replacing the communicator is not enough.
#include <stdlib.h>
#include <strings.h>

#include "world.h"

typedef int (*get_attribute)(MPI_Comm, int, void*, int*);
typedef int (*set_errhandler)(MPI_Comm, MPI_Errhandler);
typedef void (*fortran_attribute)(MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*);

/// Whether MPI itself sets this attribute. Only the original MPI_COMM_WORLD has all predefined attributes.
static bool is_predefined_key(int key) {
    switch (key) {
        case MPI_TAG_UB:
        case MPI_HOST:
        case MPI_IO:
        case MPI_WTIME_IS_GLOBAL:
        case MPI_UNIVERSE_SIZE:
        case MPI_APPNUM:
        case MPI_LASTUSEDCODE:
            return true;
        default:
            return false;
    }
}

static MPI_Comm find_attribute_owner(MPI_Comm comm, bool is_predefined) {
    return is_predefined ? MPI_COMM_WORLD : replace_world(comm);
}

#define GET_ATTRIBUTE(mpi_function)                                                         \
    SHIM_EXPORT int mpi_function(MPI_Comm comm, int key, void* value, int* found) {         \
        NEXT(mpi_function, get_attribute);                                                  \
        return next(find_attribute_owner(comm, is_predefined_key(key)), key, value, found); \
    }
GET_ATTRIBUTE(MPI_Comm_get_attr)
GET_ATTRIBUTE(PMPI_Comm_get_attr)
GET_ATTRIBUTE(MPI_Attr_get)
GET_ATTRIBUTE(PMPI_Attr_get)

// MPI raises errors without a communicator on the original MPI_COMM_WORLD, so set the handler on both.
#define SET_ERRHANDLER(mpi_function)                                             \
    SHIM_EXPORT int mpi_function(MPI_Comm comm, MPI_Errhandler handler) {        \
        NEXT(mpi_function, set_errhandler);                                      \
        const int status = next(comm, handler);                                  \
        if (status != MPI_SUCCESS || replace_world(comm) == comm) return status; \
        return next(replace_world(comm), handler);                               \
    }
SET_ERRHANDLER(MPI_Comm_set_errhandler)
SET_ERRHANDLER(PMPI_Comm_set_errhandler)

// Only these Fortran bindings do not call the C functions. MPICH's Fortran keys are larger by one.
#define FORTRAN_GET(mpi_function)                                                                    \
    SHIM_EXPORT void mpi_function(MPI_Fint* comm, MPI_Fint* key, void* value, MPI_Fint* found,       \
                                  MPI_Fint* error) {                                                 \
        NEXT(mpi_function, fortran_attribute);                                                       \
        const bool is_predefined = is_predefined_key((int)*key) || is_predefined_key((int)*key - 1); \
        MPI_Fint replaced = MPI_Comm_c2f(find_attribute_owner(MPI_Comm_f2c(*comm), is_predefined));  \
        next(&replaced, key, value, found, error);                                                   \
    }
#define FORTRAN_SET(mpi_function)                                                                \
    SHIM_EXPORT void mpi_function(MPI_Fint* comm, MPI_Fint* key, void* value, MPI_Fint* error) { \
        typedef void (*set_attribute)(MPI_Fint*, MPI_Fint*, void*, MPI_Fint*);                   \
        NEXT(mpi_function, set_attribute);                                                       \
        MPI_Fint replaced = MPI_Comm_c2f(replace_world(MPI_Comm_f2c(*comm)));                    \
        next(&replaced, key, value, error);                                                      \
    }
FORTRAN_GET(mpi_comm_get_attr_)
FORTRAN_GET(mpi_comm_get_attr_f08_)
FORTRAN_GET(mpi_attr_get_)
FORTRAN_SET(mpi_comm_set_attr_)
FORTRAN_SET(mpi_comm_set_attr_f08_)
FORTRAN_SET(mpi_attr_put_)

#ifdef MPI_SESSION_NULL
// A session can create communicators of all processes, and these cannot be distinguished from other communicators.
#define SESSION_INIT(mpi_function)                                                              \
    SHIM_EXPORT int mpi_function(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) { \
        typedef int (*session_init)(MPI_Info, MPI_Errhandler, MPI_Session*);                    \
        NEXT(mpi_function, session_init);                                                       \
        if (world_renumbered == MPI_COMM_WORLD && getenv(world_shim.variable) != NULL)          \
            disable_renumbering("the program uses MPI sessions");                               \
        return next(info, handler, session);                                                    \
    }
SESSION_INIT(MPI_Session_init)
SESSION_INIT(PMPI_Session_init)

#define GROUP_FROM_SESSION(mpi_function)                                                   \
    SHIM_EXPORT int mpi_function(MPI_Session session, const char* set, MPI_Group* group) { \
        typedef int (*group_from_session)(MPI_Session, const char*, MPI_Group*);           \
        NEXT(mpi_function, group_from_session);                                            \
        if (world_renumbered != MPI_COMM_WORLD && strcasecmp(set, "mpi://WORLD") == 0)     \
            return PMPI_Comm_group(world_renumbered, group);                               \
        return next(session, set, group);                                                  \
    }
GROUP_FROM_SESSION(MPI_Group_from_session_pset)
GROUP_FROM_SESSION(PMPI_Group_from_session_pset)
#endif
