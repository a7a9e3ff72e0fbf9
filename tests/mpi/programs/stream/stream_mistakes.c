// SPDX-License-Identifier: BSD-3-Clause
// Mistakes of programs with streams, on three ranks: `stream_mistakes WHAT`; WHAT is a mistake, or
// `returned` (all mistakes that return an error).
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_stream.h>

static topoloom_stream inner;
static int abandoned;  // status of the call in the handler

static int take(void* context, const void* items, int count) {
    (void)items;
    if (context != NULL) topoloom_stream_wait(inner);
    return count;
}

static int abandon_stream_in_handler(void* context, const void* items, int count) {
    (void)context, (void)items;
    abandoned = topoloom_stream_abandon(&inner);
    return count;
}

static int try_abandon_in_handler(void) {
    const long value = 1;
    topoloom_stream_create(MPI_COMM_WORLD, sizeof value, abandon_stream_in_handler, NULL, NULL, &inner);
    topoloom_stream_push(inner, &value, 0);
    topoloom_stream_flush(inner);
    topoloom_stream_wait(inner);
    topoloom_stream_free(&inner);
    return abandoned;
}

/// Pushes to a stream of variable sizes by a call for a fixed size.
static int push_variable_items(int many) {
    const long value = 1;
    const int self = 0;
    long long pushed = 0;
    topoloom_stream stream = NULL;
    topoloom_stream_create(MPI_COMM_WORLD, TOPOLOOM_STREAM_VARIABLE, take, NULL, NULL, &stream);
    const int status = many ? topoloom_stream_push_many(stream, &value, &self, 1, &pushed)
                            : topoloom_stream_push(stream, &value, self);
    topoloom_stream_wait(stream);
    topoloom_stream_free(&stream);
    return pushed == 0 ? status : MPI_SUCCESS;
}

static int try_options(topoloom_stream_options options, int item_bytes) {
    topoloom_stream stream = NULL;
    return topoloom_stream_create(MPI_COMM_WORLD, item_bytes, take, NULL, &options, &stream);
}

static int try_mesh(const int* extents, const int* order) {
    return try_options((topoloom_stream_options){.dimensions = 2, .extents = extents, .order = order}, 8);
}

static const char* const mistakes[] = {
    "rank",  "negative", "done",    "size",       "bound",  "bucket",  "flush",    "item",     "pull",
    "wait",  "free",     "handler", "dimensions", "extent", "extents", "twice",    "stranger", "unequal",
    "stall", "network",  "auto",    "huge",       "chosen", "largest", "variable", "many"};

static int make_mistake(const char* what) {
    long value = 1;
    topoloom_stream stream = NULL, pulled = NULL;
    const int has_context = strcmp(what, "handler") == 0;
    topoloom_stream_create(MPI_COMM_WORLD, sizeof value, take, has_context ? &value : NULL, NULL, &stream);
    topoloom_stream_create(MPI_COMM_WORLD, sizeof value, NULL, NULL, NULL, &pulled);
    int ranks = 0, status = MPI_SUCCESS, bytes = 0;
    const void* item = NULL;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(what, "rank") == 0) status = topoloom_stream_push(stream, &value, ranks);
    if (strcmp(what, "negative") == 0) status = topoloom_stream_push(stream, &value, -1);
    if (strcmp(what, "size") == 0) status = topoloom_stream_push_bytes(stream, &value, 3, 0);
    if (strcmp(what, "bound") == 0) status = try_options((topoloom_stream_options){.memory_bytes = 5000}, 8);
    if (strcmp(what, "bucket") == 0) status = try_options((topoloom_stream_options){.bucket_bytes = 10}, 8);
    if (strcmp(what, "flush") == 0) status = try_options((topoloom_stream_options){.flush_timeout = -1}, 8);
    if (strcmp(what, "stall") == 0) status = try_options((topoloom_stream_options){.stall_timeout = -1}, 8);
    if (strcmp(what, "item") == 0) status = try_options((topoloom_stream_options){.flush_timeout = 1}, -4);
    if (strcmp(what, "huge") == 0) status = try_options((topoloom_stream_options){0}, INT_MAX);
    if (strcmp(what, "chosen") == 0)
        status = try_options((topoloom_stream_options){.dimensions = TOPOLOOM_STREAM_AUTO}, INT_MAX);
    if (strcmp(what, "largest") == 0)
        status = try_options((topoloom_stream_options){.bucket_bytes = INT_MAX, .memory_bytes = 1}, 8);
    if (strcmp(what, "variable") == 0) status = push_variable_items(0);
    if (strcmp(what, "many") == 0) status = push_variable_items(1);
    if (strcmp(what, "abandon") == 0) status = try_abandon_in_handler();
    if (strcmp(what, "dimensions") == 0) status = try_options((topoloom_stream_options){.dimensions = 5}, 8);
    if (strcmp(what, "network") == 0)
        status = try_options((topoloom_stream_options){.dimensions = TOPOLOOM_STREAM_AUTO, .alpha = -1}, 8);
    if (strcmp(what, "auto") == 0) {
        const int extents[] = {ranks, 1};
        const topoloom_stream_options options = {.dimensions = TOPOLOOM_STREAM_AUTO, .extents = extents};
        status = try_options(options, 8);
    }
    if (strcmp(what, "extent") == 0) status = try_mesh((const int[]){ranks, 0}, NULL);
    if (strcmp(what, "extents") == 0) status = try_mesh((const int[]){1, 2}, NULL);
    if (strcmp(what, "twice") == 0) status = try_mesh(NULL, (const int[]){1, 1, 0});
    if (strcmp(what, "stranger") == 0) status = try_mesh(NULL, (const int[]){1, 3, 0});
    if (strcmp(what, "unequal") == 0) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        status = try_mesh(rank == 0 ? (const int[]){2, 2} : (const int[]){3, 1}, NULL);
    }
    if (strcmp(what, "pull") == 0) status = topoloom_stream_pull(stream, &item, &bytes);
    if (strcmp(what, "wait") == 0) status = topoloom_stream_wait(pulled);
    if (strcmp(what, "done") == 0) {
        topoloom_stream_done(stream);
        status = topoloom_stream_push(stream, &value, 0);
        topoloom_stream_wait(stream);
    }
    if (strcmp(what, "free") == 0) {
        topoloom_stream_push(stream, &value, 0);
        status = topoloom_stream_free(&stream);
        topoloom_stream_wait(stream);
    }
    if (has_context) {
        inner = stream;
        topoloom_stream_push(stream, &value, 0);
        status = MPI_SUCCESS;
        topoloom_stream_wait(stream);
        status = MPI_ERR_OTHER;  // reached if the inner wait returns
    }
    topoloom_stream_free(&stream);
    topoloom_stream_free(&pulled);
    return status;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const char* what = argc > 1 ? argv[1] : "returned";
    int rank = 0, right = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "returned") != 0) {
        make_mistake(what);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int count = (int)(sizeof mistakes / sizeof *mistakes);
    for (int i = 0; i < count; ++i) {
        const int status = make_mistake(mistakes[i]);
        if (status <= MPI_SUCCESS) fprintf(stderr, "%s was no error\n", mistakes[i]);
        const int has_reason = status > MPI_SUCCESS && topoloom_stream_error(status)[0] != '\0';
        if (has_reason || strcmp(mistakes[i], "handler") == 0) ++right;
    }
    if (rank == 0) printf("%d of %d mistakes were returned\n", right, count);
    MPI_Finalize();
    return 0;
}
