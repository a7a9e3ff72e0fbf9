// SPDX-License-Identifier: BSD-3-Clause
// Gathers the counts of all ranks, and prints them on rank 0: for each group of communicators, a line
// for each replaced function, and a line for each reason to leave calls to MPI.
#include "replacement_report.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_counters.h"

static const char* const call_names[wrapped_call_count] = {
#define ALL_FORMS(Name, name, parameters, arguments, condition) [wrapped_##name] = #name,
#define BLOCKING_ONLY ALL_FORMS
#include "wrapped_calls.h"
};

static const char* const left_reasons[left_reason_count] = {
    [left_gains_nothing] = "no schedule is predicted to save time",
    [left_one_host] = "all ranks are on one host",
    [left_direct_sends] = "MPI sends blocks of different sizes directly, too",
    [left_unsupported_comm] = "setup needs memory and an intracommunicator within MPI_COMM_WORLD",
    [left_no_thread] = "there is no progress thread (needs progress=1 and MPI_THREAD_MULTIPLE)",
    [left_before_setup] = "no blocking collective on the communicator came before",
    [left_program_op] = "the reduction operator is user-defined",
};

enum { group_row = -1 };
/// The counts of a function with one form in a group, without pointers. Rows of a group follow a row that stands for
/// the group itself.
struct row {
    char name[max_comm_name], description[max_description];
    int ranks;
    int call;  // enum wrapped_call, or group_row
    enum call_form form;
    uint64_t comms;
    struct call_counts counts;
};

struct rows {
    struct row* rows;
    int count, capacity;
    bool has_memory;
};

static bool has_calls(const struct call_counts* counts) {
    uint64_t calls = counts->replaced;
    for (int i = 0; i < left_reason_count; ++i) calls += counts->left[i];
    return calls > 0;
}

static void append_row(struct rows* rows, const struct comm_group* group, int call, int form,
                       const struct call_counts* counts) {
    if (rows->count == rows->capacity && rows->has_memory) {
        const int capacity = rows->capacity == 0 ? 64 : 2 * rows->capacity;
        struct row* larger = realloc(rows->rows, (size_t)capacity * sizeof *larger);
        rows->has_memory = larger != NULL;
        if (larger != NULL) {
            rows->rows = larger;
            rows->capacity = capacity;
        }
    }
    if (!rows->has_memory) return;
    struct row* row = &rows->rows[rows->count++];
    memset(row, 0, sizeof *row);
    memcpy(row->name, group->name, sizeof row->name);
    if (call == group_row) memcpy(row->description, group->description, sizeof row->description);
    row->ranks = group->ranks;
    row->comms = group->comms;
    row->form = (enum call_form)form;
    row->call = call;
    if (counts != NULL) memcpy(&row->counts, counts, sizeof *counts);
}

static void append_group(const struct comm_group* group, void* data) {
    append_row(data, group, group_row, blocking, NULL);
    for (int call = 0; call < wrapped_call_count; ++call) {
        for (int form = 0; form < call_form_count; ++form) {
            const struct call_counts* counts = atomic_load(&group->calls[form][call]);
            if (counts != NULL && has_calls(counts)) append_row(data, group, call, form, counts);
        }
    }
}

// ---- merging -----------------------------------------------------------------------------------------------------

/// Larger communicators first, then by name, function and form.
static int compare_rows(const void* a, const void* b) {
    const struct row *x = a, *y = b;
    if (x->ranks != y->ranks) return x->ranks > y->ranks ? -1 : 1;
    const int names = strcmp(x->name, y->name);
    if (names != 0) return names;
    if (x->call != y->call) return x->call < y->call ? -1 : 1;
    return (x->form > y->form) - (x->form < y->form);
}

static void merge_schedules(struct call_counts* into, const struct call_counts* from) {
    into->has_more_schedules |= from->has_more_schedules;
    for (int i = 0; i < max_schedules && from->schedules[i][0] != '\0'; ++i) {
        int at = 0;
        while (at < max_schedules && into->schedules[at][0] != '\0' &&
               strcmp(into->schedules[at], from->schedules[i]) != 0)
            ++at;
        if (at < max_schedules)
            memcpy(into->schedules[at], from->schedules[i], max_schedule_text);
        else
            into->has_more_schedules = true;
    }
}

static void merge_row(struct row* into, const struct row* from) {
    struct call_counts* sum = &into->counts;
    const struct call_counts* more = &from->counts;
    into->comms += from->comms;
    sum->replaced += more->replaced;
    for (int i = 0; i < left_reason_count; ++i) sum->left[i] += more->left[i];
    sum->predicted += more->predicted;
    sum->measured += more->measured;
    sum->ours += more->ours;
    sum->usual += more->usual;
    sum->measured_seconds += more->measured_seconds;
    merge_schedules(sum, more);
}

static int merge_rows(struct row* rows, int count) {
    int kept = 0;
    qsort(rows, (size_t)count, sizeof *rows, compare_rows);
    for (int i = 0; i < count; ++i) {
        if (kept > 0 && compare_rows(&rows[kept - 1], &rows[i]) == 0)
            merge_row(&rows[kept - 1], &rows[i]);
        else
            rows[kept++] = rows[i];
    }
    return kept;
}

// ---- printing ----------------------------------------------------------------------------------------------------

static void print_seconds(FILE* out, double seconds) {
    const double size = seconds < 0 ? -seconds : seconds;
    if (size >= 1)
        fprintf(out, "%.3g s", seconds);
    else if (size >= 1e-3)
        fprintf(out, "%.3g ms", 1e3 * seconds);
    else
        fprintf(out, "%.3g us", 1e6 * seconds);
}

/// Begins a line about a group.
static void print_group(FILE* out, const struct row* group) {
    const unsigned long long comms = group->comms;
    fputs("topoloom: collectives: ", out);
    if (group->name[0] != '\0' && comms == 1)
        fprintf(out, "%s (%d ranks): ", group->name, group->ranks);
    else if (comms == 1)
        fprintf(out, "1 communicator of %d ranks: ", group->ranks);
    else
        fprintf(out, "%llu communicators%s%s of %d ranks: ", comms, group->name[0] == '\0' ? "" : " named ",
                group->name, group->ranks);
}

static void print_function(FILE* out, const struct row* row) {
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", row->form == nonblocking ? "i" : "", call_names[row->call],
             row->form == persistent ? "_init" : "");
    if (name[0] >= 'a' && name[0] <= 'z') name[0] = (char)(name[0] - 'a' + 'A');
    fprintf(out, "MPI_%s", name);
}

static void print_replaced(FILE* out, const struct row* row) {
    const struct call_counts* counts = &row->counts;
    print_function(out, row);
    fprintf(out, ": %llu replaced (", (unsigned long long)counts->replaced);
    for (int i = 0; i < max_schedules && counts->schedules[i][0] != '\0'; ++i)
        fprintf(out, "%s%s", i == 0 ? "" : ", ", counts->schedules[i]);
    fprintf(out, "%s)", counts->has_more_schedules ? ", ..." : "");
    if (counts->predicted > 0) {
        const double saved = counts->usual - counts->ours;
        const bool is_rounding = saved < 1e-9 * counts->usual && saved > -1e-9 * counts->usual;
        fputs(", predicted to save ", out);
        print_seconds(out, is_rounding ? 0 : saved);
        fputs(" of ", out);
        print_seconds(out, counts->usual);
    }
    if (counts->measured > 0) {
        fputs(", measured ", out);
        print_seconds(out, counts->measured_seconds);
    }
    fputc('\n', out);
}

static void print_left(FILE* out, const struct row* group, const struct row* end, int reason) {
    bool is_first = true;
    for (const struct row* row = group + 1; row != end; ++row) {
        if (row->counts.left[reason] == 0) continue;
        if (is_first) print_group(out, group);
        if (is_first) fprintf(out, "left to MPI, as %s: ", left_reasons[reason]);
        fprintf(out, "%s%llu ", is_first ? "" : ", ", (unsigned long long)row->counts.left[reason]);
        print_function(out, row);
        is_first = false;
    }
    if (!is_first) fputc('\n', out);
}

/// Prints the functions that are replaced, then those that are left to MPI, by reason.
static void print_rows_of_group(FILE* out, const struct row* group, const struct row* end) {
    for (const struct row* row = group + 1; row != end; ++row) {
        if (row->counts.replaced == 0) continue;
        print_group(out, group);
        print_replaced(out, row);
    }
    for (int reason = 0; reason < left_reason_count; ++reason) print_left(out, group, end, reason);
}

static bool is_printed_before(const struct row* rows, const struct row* row) {
    for (; rows != row; ++rows)
        if (strcmp(rows->description, row->description) == 0) return true;
    return false;
}

/// Prints all rows in one write, so that other output is not interleaved.
static void print_rows(const struct row* rows, int count) {
    char* text = NULL;
    size_t length = 0;
    FILE* out = open_memstream(&text, &length);
    if (out == NULL) return;
    const struct row* end = rows + count;
    for (const struct row* row = rows; row != end; ++row)
        if (row->description[0] != '\0' && !is_printed_before(rows, row))
            fprintf(out, "topoloom: collectives: %s\n", row->description);
    for (const struct row* group = rows; group != end;) {
        const struct row* next = group + 1;
        while (next != end && next->call != group_row) ++next;
        print_rows_of_group(out, group, next);
        group = next;
    }
    fclose(out);
    fwrite(text, 1, length, stderr);
    fflush(stderr);
    free(text);
}

// ---- gathering ---------------------------------------------------------------------------------------------------

/// Broadcasts from rank 0 whether it has the memory, so that the other ranks do not hang.
static bool agree_on_memory(bool has_memory) {
    int agreed = has_memory;
    return PMPI_Bcast(&agreed, 1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS && agreed;
}

/// Computes the displacements of the ranks' rows. Returns the number of all rows, or 0 if it does not fit into an int.
static int compute_displacements(const int* counts, int* displacements, int ranks) {
    int64_t sum = 0;
    for (int r = 0; r < ranks; ++r) {
        displacements[r] = (int)sum;
        sum += counts[r];
        if (sum > INT_MAX) return 0;
    }
    return (int)sum;
}

/// Gathers the rows on rank 0, and prints them. `counts` has two numbers for each rank on rank 0.
static void gather_rows(const struct rows* own, int* counts, int rank, int ranks) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    struct row* all = NULL;
    int total = 0;
    if (PMPI_Gather(&own->count, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS) return;
    if (rank == 0) {
        total = compute_displacements(counts, counts + ranks, ranks);
        all = total == 0 ? NULL : malloc((size_t)total * sizeof *all);
    }
    if (agree_on_memory(all != NULL)) {
        PMPI_Type_contiguous(sizeof *all, MPI_BYTE, &type);
        PMPI_Type_commit(&type);
        PMPI_Gatherv(own->rows, own->count, type, all, counts, rank == 0 ? counts + ranks : NULL, type, 0,
                     MPI_COMM_WORLD);
        PMPI_Type_free(&type);
        if (rank == 0) print_rows(all, merge_rows(all, total));
    }
    free(all);
}

void print_replacement_report(bool is_loaded_on_all) {
    int rank = 0, ranks = 0, is_counting = is_counting_calls();
    // The environment may differ between ranks; rank 0's settings apply, as in setup.
    if (is_loaded_on_all && PMPI_Bcast(&is_counting, 1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS) return;
    if (!is_counting) return;
    struct rows own = {.has_memory = true};
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    visit_comm_groups(append_group, &own);
    if (!is_loaded_on_all) {
        if (own.count > 0) print_rows(own.rows, merge_rows(own.rows, own.count));
        free(own.rows);
        return;
    }
    int* counts = rank == 0 ? malloc(2 * (size_t)ranks * sizeof *counts) : NULL;
    if (agree_on_memory(counts != NULL)) gather_rows(&own, counts, rank, ranks);
    free(counts);
    free(own.rows);
}
