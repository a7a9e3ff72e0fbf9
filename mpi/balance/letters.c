// SPDX-License-Identifier: BSD-3-Clause
// Carries the letters by which ranks decide.
#include <stdlib.h>
#include <string.h>

#include "balance.h"
#include "errors.h"

enum { short_words = 16 };

/// A letter that may still be under way.
struct sent {
    struct sent* next;
    MPI_Request request;
    int64_t words[];
};

struct letters {
    MPI_Comm comm;
    struct sent* sent;
    int64_t* received;
    size_t room;
    int status;
};

static int keep_status(struct letters* letters, int status) {
    letters->status = status;
    return status != MPI_SUCCESS;
}

static int send_letter(void* context, uint32_t to, int topic, const int64_t* words, size_t count) {
    struct letters* letters = context;
    struct sent* made = malloc(sizeof *made + count * sizeof *words);
    if (made == NULL) return keep_status(letters, MPI_ERR_NO_MEM);
    if (count > 0) memcpy(made->words, words, count * sizeof *words);
    made->next = letters->sent;
    letters->sent = made;
    return keep_status(letters, PMPI_Isend(made->words, (int)count, MPI_INT64_T, (int)to, topic,
                                           letters->comm, &made->request));
}

static int receive_letter(void* context, uint32_t from, int topic, const int64_t** words, size_t* count) {
    struct letters* letters = context;
    const int source = from == TOPOLOOM_ANY_RANK ? MPI_ANY_SOURCE : (int)from;
    MPI_Status found;
    int size = 0;
    int status = PMPI_Probe(source, topic, letters->comm, &found);
    if (status == MPI_SUCCESS) status = PMPI_Get_count(&found, MPI_INT64_T, &size);
    if (status != MPI_SUCCESS) return keep_status(letters, status);
    if ((size_t)size > letters->room || letters->received == NULL) {
        letters->room = size > short_words ? (size_t)size : short_words;
        free(letters->received);
        letters->received = malloc(letters->room * sizeof *letters->received);
        if (letters->received == NULL) return keep_status(letters, MPI_ERR_NO_MEM);
    }
    status = PMPI_Recv(letters->received, size, MPI_INT64_T, found.MPI_SOURCE, topic, letters->comm,
                       MPI_STATUS_IGNORE);
    *words = letters->received;
    *count = (size_t)size;
    return keep_status(letters, status);
}

int decide_by_messages(struct state* state, long long count, topoloom_own_plan* own) {
    struct letters letters = {.comm = state->own};
    const topoloom_carrier carrier = {&letters, send_letter, receive_letter};
    char error[256] = "";
    const int decided = topoloom_decide((uint32_t)state->rank, (uint32_t)state->ranks, count, &carrier, own,
                                        error, sizeof error);
    while (letters.sent != NULL) {
        struct sent* next = letters.sent->next;
        if (letters.status == MPI_SUCCESS)
            letters.status = PMPI_Wait(&letters.sent->request, MPI_STATUS_IGNORE);
        free(letters.sent);
        letters.sent = next;
    }
    free(letters.received);
    if (decided == 1) return raise_error(state->own, MPI_ERR_COUNT, "balance", "%s", error);
    return letters.status;
}
