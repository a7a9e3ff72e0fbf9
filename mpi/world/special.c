// SPDX-License-Identifier: BSD-3-Clause
// Calls on MPI_COMM_WORLD for which handing on another communicator is not enough.
#include <stdlib.h>
#include <strings.h>

#include "world.h"

typedef int (*get_attribute)(MPI_Comm, int, void*, int*);
typedef int (*set_errhandler)(MPI_Comm, MPI_Errhandler);
typedef void (*fortran_attribute)(MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*);

/// Attributes that MPI itself sets; only the real world has them all.
static bool is_predefined(int key) {
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

static MPI_Comm with_attribute(MPI_Comm comm, bool predefined) {
    return predefined ? MPI_COMM_WORLD : world_seen(comm);
}

#define GET_ATTRIBUTE(name)                                                       \
    SHIM_EXPORT int name(MPI_Comm comm, int key, void* value, int* found) {       \
        NEXT(name, get_attribute);                                                \
        return next(with_attribute(comm, is_predefined(key)), key, value, found); \
    }
GET_ATTRIBUTE(MPI_Comm_get_attr)
GET_ATTRIBUTE(PMPI_Comm_get_attr)
GET_ATTRIBUTE(MPI_Attr_get)
GET_ATTRIBUTE(PMPI_Attr_get)

// Errors that belong to no communicator are raised on the real world.
#define SET_ERRHANDLER(name)                                                  \
    SHIM_EXPORT int name(MPI_Comm comm, MPI_Errhandler handler) {             \
        NEXT(name, set_errhandler);                                           \
        const int status = next(comm, handler);                               \
        if (status != MPI_SUCCESS || world_seen(comm) == comm) return status; \
        return next(world_seen(comm), handler);                               \
    }
SET_ERRHANDLER(MPI_Comm_set_errhandler)
SET_ERRHANDLER(PMPI_Comm_set_errhandler)

// Of all of Fortran's bindings these do not call C's. MPICH numbers its keys one higher there.
#define FORTRAN_GET(name)                                                                                 \
    SHIM_EXPORT void name(MPI_Fint* comm, MPI_Fint* key, void* value, MPI_Fint* found, MPI_Fint* error) { \
        NEXT(name, fortran_attribute);                                                                    \
        const bool predefined = is_predefined((int)*key) || is_predefined((int)*key - 1);                 \
        MPI_Fint seen = MPI_Comm_c2f(with_attribute(MPI_Comm_f2c(*comm), predefined));                    \
        next(&seen, key, value, found, error);                                                            \
    }
#define FORTRAN_SET(name)                                                                \
    SHIM_EXPORT void name(MPI_Fint* comm, MPI_Fint* key, void* value, MPI_Fint* error) { \
        typedef void (*set_attribute)(MPI_Fint*, MPI_Fint*, void*, MPI_Fint*);           \
        NEXT(name, set_attribute);                                                       \
        MPI_Fint seen = MPI_Comm_c2f(world_seen(MPI_Comm_f2c(*comm)));                   \
        next(&seen, key, value, error);                                                  \
    }
FORTRAN_GET(mpi_comm_get_attr_)
FORTRAN_GET(mpi_comm_get_attr_f08_)
FORTRAN_GET(mpi_attr_get_)
FORTRAN_SET(mpi_comm_set_attr_)
FORTRAN_SET(mpi_comm_set_attr_f08_)
FORTRAN_SET(mpi_attr_put_)

#ifdef MPI_SESSION_NULL
// A session gives out the processes of the world without our knowing which communicator is made of them.
#define SESSION_INIT(name)                                                              \
    SHIM_EXPORT int name(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) { \
        typedef int (*session_init)(MPI_Info, MPI_Errhandler, MPI_Session*);            \
        NEXT(name, session_init);                                                       \
        if (world_renumbered == MPI_COMM_WORLD && getenv(shim.variable) != NULL)        \
            world_refuse("the program uses MPI sessions");                              \
        return next(info, handler, session);                                            \
    }
SESSION_INIT(MPI_Session_init)
SESSION_INIT(PMPI_Session_init)

#define GROUP_OF_SESSION(name)                                                         \
    SHIM_EXPORT int name(MPI_Session session, const char* set, MPI_Group* group) {     \
        typedef int (*group_of_session)(MPI_Session, const char*, MPI_Group*);         \
        NEXT(name, group_of_session);                                                  \
        if (world_renumbered != MPI_COMM_WORLD && strcasecmp(set, "mpi://WORLD") == 0) \
            return PMPI_Comm_group(world_renumbered, group);                           \
        return next(session, set, group);                                              \
    }
GROUP_OF_SESSION(MPI_Group_from_session_pset)
GROUP_OF_SESSION(PMPI_Group_from_session_pset)
#endif
