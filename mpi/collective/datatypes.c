// SPDX-License-Identifier: BSD-3-Clause
// Memory layout of datatypes. Packs, unpacks and copies elements.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "collective.h"

int describe_type(MPI_Datatype type, struct type_desc* desc) {
    *desc = (struct type_desc){.type = type, .size = 1, .extent = 1, .true_extent = 1, .is_contiguous = true};
    if (type == MPI_BYTE || type == MPI_CHAR) return MPI_SUCCESS;
    MPI_Count size = 0;
    MPI_Aint lower_bound = 0;
    int status = PMPI_Type_size_x(type, &size);
    if (status == MPI_SUCCESS) status = PMPI_Type_get_extent(type, &lower_bound, &desc->extent);
    if (status == MPI_SUCCESS) status = PMPI_Type_get_true_extent(type, &desc->true_lb, &desc->true_extent);
    desc->size = (MPI_Aint)size;
    desc->is_contiguous = size == desc->extent && size == desc->true_extent && desc->true_lb == 0;
    return status;
}

bool is_predefined_type(MPI_Datatype type, int* status) {
    int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
    *status = PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

/// MPI_Pack counts bytes in int, so long arrays are packed in several steps.
static int64_t get_max_elements_per_step(const struct type_desc* type) {
    enum { max_bytes = INT_MAX / 2 };
    const int64_t count = type->size > 0 ? max_bytes / type->size : max_bytes;
    return count > 0 ? count : 1;
}

int pack_elements(const struct type_desc* type, const char* from, int64_t count, char* bytes) {
    if (type->is_contiguous) {
        if (count > 0) memcpy(bytes, from, (size_t)(count * type->size));
        return MPI_SUCCESS;
    }
    const int64_t step = get_max_elements_per_step(type);
    for (int64_t done = 0; done < count; done += step) {
        const int part = (int)(count - done < step ? count - done : step);
        int position = 0;
        const int status = PMPI_Pack(from + done * type->extent, part, type->type, bytes + done * type->size,
                                     (int)(part * type->size), &position, MPI_COMM_SELF);
        if (status != MPI_SUCCESS) return status;
    }
    return MPI_SUCCESS;
}

int unpack_elements(const struct type_desc* type, const char* bytes, int64_t count, char* to) {
    if (type->is_contiguous) return pack_elements(type, bytes, count, to);
    const int64_t step = get_max_elements_per_step(type);
    for (int64_t done = 0; done < count; done += step) {
        const int part = (int)(count - done < step ? count - done : step);
        int position = 0;
        const int status = PMPI_Unpack(bytes + done * type->size, (int)(part * type->size), &position,
                                       to + done * type->extent, part, type->type, MPI_COMM_SELF);
        if (status != MPI_SUCCESS) return status;
    }
    return MPI_SUCCESS;
}

int copy_elements(const struct type_desc* type, const char* from, char* to, int64_t count) {
    if (type->is_contiguous) return pack_elements(type, from, count, to);
    char on_stack[4096];  // elements up to this size need no allocated memory
    const bool is_large = type->size > (MPI_Aint)sizeof on_stack;
    char* bytes = is_large ? malloc((size_t)type->size) : on_stack;
    if (bytes == NULL) return MPI_ERR_NO_MEM;
    const int64_t step = is_large || type->size == 0 ? 1 : (MPI_Aint)sizeof on_stack / type->size;
    int status = MPI_SUCCESS;
    for (int64_t done = 0; done < count && status == MPI_SUCCESS; done += step) {
        const int64_t part = count - done < step ? count - done : step;
        const MPI_Aint offset = (MPI_Aint)done * type->extent;
        status = pack_elements(type, from + offset, part, bytes);
        if (status == MPI_SUCCESS) status = unpack_elements(type, bytes, part, to + offset);
    }
    if (is_large) free(bytes);
    return status;
}
