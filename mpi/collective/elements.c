// SPDX-License-Identifier: BSD-3-Clause
// Elements of a datatype in memory: where their bytes are, and how to copy them.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "collective.h"

int describe_type(MPI_Datatype type, struct elements* elements) {
    *elements = (struct elements){.type = type, .size = 1, .extent = 1, .span = 1, .plain = true};
    if (type == MPI_BYTE || type == MPI_CHAR) return MPI_SUCCESS;
    MPI_Count size = 0;
    MPI_Aint low = 0;
    int status = PMPI_Type_size_x(type, &size);
    if (status == MPI_SUCCESS) status = PMPI_Type_get_extent(type, &low, &elements->extent);
    if (status == MPI_SUCCESS) status = PMPI_Type_get_true_extent(type, &elements->low, &elements->span);
    elements->size = (MPI_Aint)size;
    elements->plain = size == elements->extent && size == elements->span && elements->low == 0;
    return status;
}

enum { most_at_once = INT_MAX / 2 };

/// MPI_Pack counts in int: as many elements at a time as fit.
static int64_t elements_at_once(const struct elements* elements) {
    const int64_t count = elements->size > 0 ? most_at_once / elements->size : most_at_once;
    return count > 0 ? count : 1;
}

int pack_elements(const struct elements* elements, const char* from, int64_t count, char* bytes) {
    if (elements->plain) {
        if (count > 0) memcpy(bytes, from, (size_t)(count * elements->size));
        return MPI_SUCCESS;
    }
    const int64_t step = elements_at_once(elements);
    for (int64_t done = 0; done < count; done += step) {
        const int part = (int)(count - done < step ? count - done : step);
        int position = 0;
        const int status =
            PMPI_Pack(from + done * elements->extent, part, elements->type, bytes + done * elements->size,
                      (int)(part * elements->size), &position, MPI_COMM_SELF);
        if (status != MPI_SUCCESS) return status;
    }
    return MPI_SUCCESS;
}

int unpack_elements(const struct elements* elements, const char* bytes, int64_t count, char* to) {
    if (elements->plain) {
        if (count > 0) memcpy(to, bytes, (size_t)(count * elements->size));
        return MPI_SUCCESS;
    }
    const int64_t step = elements_at_once(elements);
    for (int64_t done = 0; done < count; done += step) {
        const int part = (int)(count - done < step ? count - done : step);
        int position = 0;
        const int status = PMPI_Unpack(bytes + done * elements->size, (int)(part * elements->size), &position,
                                       to + done * elements->extent, part, elements->type, MPI_COMM_SELF);
        if (status != MPI_SUCCESS) return status;
    }
    return MPI_SUCCESS;
}

int copy_elements(const struct elements* elements, const char* from, char* to, int64_t count) {
    if (elements->plain) return pack_elements(elements, from, count, to);
    char few[4096];  // so that only a larger element takes memory
    const bool is_large = elements->size > (MPI_Aint)sizeof few;
    char* bytes = is_large ? malloc((size_t)elements->size) : few;
    if (bytes == NULL) return MPI_ERR_NO_MEM;
    const int64_t step = is_large || elements->size == 0 ? 1 : (MPI_Aint)sizeof few / elements->size;
    int status = MPI_SUCCESS;
    for (int64_t done = 0; done < count && status == MPI_SUCCESS; done += step) {
        const int64_t part = count - done < step ? count - done : step;
        const MPI_Aint offset = (MPI_Aint)done * elements->extent;
        status = pack_elements(elements, from + offset, part, bytes);
        if (status == MPI_SUCCESS) status = unpack_elements(elements, bytes, part, to + offset);
    }
    if (is_large) free(bytes);
    return status;
}
