// SPDX-License-Identifier: Apache-2.0
/* `hearth import`: files into a store. Each file is a write of its own and is acknowledged before the next is read, so
 * that memory does not depend on how many there are, and a bad one costs nothing but itself. */
#include "base/clock.h"
#include "base/json.h"
#include "base/progress.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/storage.h"
#include "cli/view.h"

struct import_config {
    struct input_config input;
    struct storage_config store;
    struct storage_keeping keeping;
    struct option_list labels;
    const char *time;
    const char *upload_id;
    bool is_json;
};

static const struct option_spec import_options[] = {
    /* No variables and no keys: other commands have a --label that filters, and the rest is different each time. */
    { "label", OPTION_LIST, FIELD(import_config, labels), NULL,
      "A label for every profile, as NAME=VALUE; wins over what the files say.", .value_name = "NAME=VALUE",
      .is_flag_only = true },
    { "time", OPTION_TEXT, FIELD(import_config, time), NULL,
      "When profiles that do not say it themselves began: a time like 2026-11-15T10:00:00Z, a date, seconds or "
      "milliseconds since 1970, now-1h, or 2h for two hours ago. Without it they end now.",
      .value_name = "TIME", .is_flag_only = true },
    { "upload-id", OPTION_TEXT, FIELD(import_config, upload_id), NULL,
      "Makes repeating safe: profiles that came under the same id and from the same place among the files are not "
      "written twice. File number N has the id ID/N.",
      .value_name = "ID", .is_flag_only = true },
    { "json", OPTION_BOOL, FIELD(import_config, is_json), "false", "Write the summary as JSON." },
};

/* What became of all files together. */
struct import_totals {
    uint64_t n_files; /* of which profiles were written, or were there already */
    uint64_t n_bad_files;
    uint64_t n_untried; /* since the store failed; the one it failed at among them */
    uint64_t n_written, n_duplicate, n_refused, n_samples;
    uint64_t n_rows;     /* what the profiles written were split into, each of one series */
    uint64_t n_own_time; /* profiles that had no use for --time */
    struct label_counts labels;
    struct error refusal; /* of the first profile that was refused */
};

struct import {
    struct command_context *context;
    const struct import_config *config;
    struct store *store;
    struct input input;
    struct series_label *labels;
    int64_t time_ns;
    struct buffer upload_id;
    struct import_totals totals;
};

static int parse_labels(struct import *import, struct error *err)
{
    struct option_list given = import->config->labels;

    import->labels = ARENA_ARRAY(import->context->arena, struct series_label, given.n, err);
    if (!import->labels)
        return -1;
    for (size_t i = 0; i < given.n; i++) {
        struct slice text = slice_from(given.items[i]);
        ptrdiff_t equals = slice_find_byte(text, '=');

        if (equals <= 0)
            return error_set(err, ERR_USAGE, "--label: '%.64s' is no label; write NAME=VALUE, like zone=eu-1",
                             given.items[i]);
        import->labels[i].name = slice_sub(text, 0, (size_t)equals);
        import->labels[i].value = slice_sub(text, (size_t)equals + 1, SIZE_MAX);
    }
    return 0;
}

static void add_label_counts(struct label_counts *sum, const struct label_counts *counts)
{
    sum->names_repaired += counts->names_repaired;
    sum->names_cut += counts->names_cut;
    sum->values_cut += counts->values_cut;
    sum->values_repaired += counts->values_repaired;
    sum->moved_to_samples += counts->moved_to_samples;
    sum->splits_moved += counts->splits_moved;
}

static void add_receipt(struct import_totals *totals, const struct store_receipt *receipt)
{
    if (receipt->n_refused > 0 && totals->n_refused == 0)
        totals->refusal = receipt->refusal;
    totals->n_files++;
    totals->n_written += receipt->n_written;
    totals->n_duplicate += receipt->n_duplicate;
    totals->n_refused += receipt->n_refused;
    totals->n_samples += receipt->n_samples;
    totals->n_rows += receipt->n_series;
    add_label_counts(&totals->labels, &receipt->labels);
}

/* Whether the next file may fare better: the error is about what was written, not about the store. */
static bool is_about_file(enum error_code code)
{
    return code == ERR_INVALID || code == ERR_UNSUPPORTED || code == ERR_LIMIT;
}

/* Writes the batch that was read. A file that the store refuses is told and counted; -1 when there is no point in going
 * on. */
static int write_batch(struct import *import, const char *path, struct error *err)
{
    const struct import_config *config = import->config;
    struct store_write write = { .tenant = slice_from(config->keeping.tenant),
                                 .batch = &import->input.batch,
                                 .upload_id = buffer_slice(&import->upload_id),
                                 .labels = import->labels,
                                 .n_labels = (uint32_t)config->labels.n,
                                 .time_ns = import->time_ns };
    struct store_receipt receipt;

    if (store_write(import->store, &write, &receipt, err) == 0) {
        add_receipt(&import->totals, &receipt);
        return 0;
    }
    error_wrap(err, "importing '%s'", input_name(path));
    if (!is_about_file(err->code))
        return -1;
    progress_hide();
    command_tell_error(import->context, err);
    import->totals.n_bad_files++;
    if (err->code == ERR_INVALID)
        import->totals.n_refused += import->input.batch.n_profiles;
    return 0;
}

static void count_own_times(struct import *import)
{
    const struct batch *batch = &import->input.batch;

    for (uint32_t i = 0; import->config->time && i < batch->n_profiles; i++)
        import->totals.n_own_time += batch->profiles[i].start_ns != 0;
}

static int import_file(struct import *import, size_t index, struct error *err)
{
    const struct import_config *config = import->config;
    const char *path = import->context->arguments.items[index];

    buffer_clear(&import->upload_id);
    if (config->upload_id)
        buffer_printf(&import->upload_id, "%s/%zu", config->upload_id, index + 1);
    if (buffer_check(&import->upload_id, err) < 0)
        return -1;
    if (input_read(&import->input, import->context, &config->input, path, err) < 0) {
        progress_hide();
        command_tell_error(import->context, err);
        import->totals.n_bad_files++;
        return 0;
    }
    count_own_times(import);
    return write_batch(import, path, err);
}

static int import_files(struct import *import, struct error *err)
{
    size_t n = import->context->arguments.n;
    int result = 0;

    progress_start("importing", n);
    for (size_t i = 0; i < n && result == 0; i++) {
        result = import_file(import, i, err);
        progress_step(i + 1);
        if (result < 0)
            import->totals.n_untried = n - i;
    }
    progress_finish();
    return result;
}

/* --- telling --- */

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void print_text(const struct import_totals *totals, struct buffer *out)
{
    buffer_printf(out, "%llu profile%s written from %llu file%s: %llu sample%s", (unsigned long long)totals->n_written,
                  plural(totals->n_written), (unsigned long long)totals->n_files, plural(totals->n_files),
                  (unsigned long long)totals->n_samples, plural(totals->n_samples));
    if (totals->n_rows > totals->n_written)
        buffer_printf(out, ", split by labels into %llu series", (unsigned long long)totals->n_rows);
    if (totals->n_duplicate)
        buffer_printf(out, "; %llu there already", (unsigned long long)totals->n_duplicate);
    if (totals->n_refused)
        buffer_printf(out, "; %llu refused", (unsigned long long)totals->n_refused);
    if (totals->n_bad_files)
        buffer_printf(out, "; %llu file%s failed", (unsigned long long)totals->n_bad_files,
                      plural(totals->n_bad_files));
    if (totals->n_untried)
        buffer_printf(out, "; %llu file%s left", (unsigned long long)totals->n_untried, plural(totals->n_untried));
    buffer_append_byte(out, '\n');
}

static void json_count(struct json *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_uint(json, value);
}

static void print_json(const struct import_totals *totals, struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_INDENTED);
    json_object_begin(&json);
    json_count(&json, "files", totals->n_files);
    json_count(&json, "files_failed", totals->n_bad_files);
    json_count(&json, "files_left", totals->n_untried);
    json_count(&json, "profiles_written", totals->n_written);
    json_count(&json, "profiles_duplicate", totals->n_duplicate);
    json_count(&json, "profiles_refused", totals->n_refused);
    json_count(&json, "samples", totals->n_samples);
    json_count(&json, "rows", totals->n_rows);
    json_key(&json, "labels");
    json_object_begin(&json);
    json_count(&json, "names_repaired", totals->labels.names_repaired);
    json_count(&json, "names_cut", totals->labels.names_cut);
    json_count(&json, "values_cut", totals->labels.values_cut);
    json_count(&json, "values_repaired", totals->labels.values_repaired);
    json_count(&json, "moved_to_samples", totals->labels.moved_to_samples);
    json_count(&json, "splits_moved", totals->labels.splits_moved);
    json_object_end(&json);
    json_object_end(&json);
    json_done(&json);
}

/* What happened to labels, and why profiles of files that were else taken were refused. */
static void warn_of_losses(const struct import *import)
{
    const struct import_totals *totals = &import->totals;
    const struct {
        uint64_t n;
        const char *what;
    } changes[] = {
        { totals->labels.names_repaired, "names of labels repaired" },
        { totals->labels.names_cut, "names of labels cut (--max-label-name)" },
        { totals->labels.values_cut, "values of labels cut (--max-label-value)" },
        { totals->labels.values_repaired, "values of labels repaired, since they were no UTF-8" },
        { totals->labels.moved_to_samples, "labels moved from the series to its samples (--max-series-labels)" },
        { totals->labels.splits_moved, "labels left with samples, since they have many values (--max-splits)" },
    };

    if (totals->n_own_time)
        command_warn(import->context, "--time was not used for %llu profile%s: a profile's own time wins",
                     (unsigned long long)totals->n_own_time, plural(totals->n_own_time));
    if (totals->refusal.code != ERR_OK)
        command_warn(import->context, "profiles refused; the first: %s", totals->refusal.text);
    for (size_t i = 0; i < ARRAY_LEN(changes); i++)
        if (changes[i].n)
            command_warn(import->context, "%llu %s", (unsigned long long)changes[i].n, changes[i].what);
}

static int print_summary(struct import *import, struct error *err)
{
    struct buffer out;

    buffer_init(&out, 0);
    if (import->config->is_json)
        print_json(&import->totals, &out);
    else
        print_text(&import->totals, &out);
    warn_of_losses(import);
    return view_finish(import->context, &out, 0, err);
}

/* --- the run --- */

/* Hours of the past are closed before the end: what was imported is as small as it gets. */
static int finish(struct import *import, struct error *err)
{
    int result;

    progress_start("closing hours", 0);
    result = store_maintain(import->store, err);
    progress_finish();
    return result < 0 ? error_wrap(err, "all profiles are kept, but not yet as small as they could be") : 0;
}

static int import_all(struct import *import, struct error *err)
{
    struct error ignored;

    if (import_files(import, err) < 0) {
        IGNORE(print_summary(import, &ignored), "the error that ended the import matters more");
        return -1;
    }
    if (print_summary(import, err) < 0 || finish(import, err) < 0)
        return -1;
    import->context->exit_status = import->totals.n_bad_files || import->totals.n_refused ? 1 : 0;
    return 0;
}

static int run(struct command_context *context, struct error *err)
{
    const struct import_config *config = context->config;
    struct import import = { .context = context, .config = config };
    int result;

    if (parse_labels(&import, err) < 0)
        return -1;
    if (config->time && storage_parse_time("time", config->time, clock_now_ns(), &import.time_ns, err) < 0)
        return -1;
    if (input_start(&import.input, &config->input, err) < 0)
        return -1;
    buffer_init(&import.upload_id, 0);
    result = storage_open_to_write(&config->store, &config->keeping, &import.store, err);
    if (result == 0)
        result = import_all(&import, err);
    store_close(import.store);
    buffer_done(&import.upload_id);
    input_close(&import.input);
    return result;
}

const struct command cmd_import = {
    .name = "import",
    .summary = "Put profiles from files into a store",
    .description =
        "Reads profiles in any format that 'hearth convert' reads and keeps them in a store, which is made if there is "
        "none. What has been written survives the death of the program at once.\n\n"
        "The series of a profile is its labels: attributes of its resource and of itself, those given with --label, "
        "and the labels of samples, which split a profile into several series. Ids, pids and threads stay with the "
        "samples. A profile without service_name belongs to unknown_service.\n\n"
        "A file that cannot be read is told, the others are still imported, and the exit status is 1. Importing a "
        "file again adds its profiles again, unless they carry ids of their own or --upload-id is given.",
    .config_bytes = sizeof(struct import_config),
    .options = { OPTION_GROUP("Options", import_options), STORAGE_GROUP(import_config, store),
                 STORAGE_KEEPING_GROUP(import_config, keeping), INPUT_GROUP(import_config, input) },
    .arguments = { { "FILE", COMMAND_ARGUMENT_FILE, 1, COMMAND_MANY, "Profiles to import; - is standard input." } },
    .examples = { { "hearth import --data-dir hearth-data cpu.pb.gz heap.pb.gz", "Puts two files into a store." },
                  { "hearth import --label service_name=api --label zone=eu-1 *.pb.gz",
                    "Says whose profiles they are." },
                  { "hearth import --time 2026-11-15T10:00:00Z checkout.folded",
                    "Says when a file was recorded that does not know it." },
                  { "curl -s localhost:6060/debug/pprof/heap | hearth import --label service_name=api -",
                    "Imports from a pipe." } },
    .run = run,
};
