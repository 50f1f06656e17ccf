// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/progress.h"
#include "cli/beside.h"
#include "cli/commands.h"
#include "cli/storage.h"
#include "cli/table.h"
#include "cli/view.h"

struct verify_config {
    struct storage_config store;
    bool is_repairing;
    bool is_json;
};

static const struct option_spec verify_options[] = {
    { "repair", OPTION_BOOL, FIELD(verify_config, is_repairing), "false",
      "Set what is damaged aside, into quarantine/ in the data directory, so that the rest is clean.",
      .is_flag_only = true },
    { "json", OPTION_BOOL, FIELD(verify_config, is_json), "false", "Write JSON." },
};

/* Findings are told as they come, since reading everything takes a while; as JSON they are gathered. */
struct findings {
    struct command_context *context;
    bool is_json;
    struct buffer out;
    struct json json;
};

static void take_finding(void *context, const char *line)
{
    struct findings *findings = context;

    if (findings->is_json) {
        json_text(&findings->json, line);
        return;
    }
    progress_hide();
    table_append_text(&findings->out, slice_from(line));
    buffer_append_byte(&findings->out, '\n');
    fwrite(findings->out.data, 1, findings->out.len, findings->context->out);
    fflush(findings->context->out);
    buffer_clear(&findings->out);
}

static void json_count(struct json *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_uint(json, value);
}

static void print_json_beside(struct json *json, const char *name, const struct hourly_verify *verify)
{
    json_key(json, name);
    json_object_begin(json);
    json_count(json, "days", verify->n_days);
    json_count(json, "values", verify->n_values);
    json_count(json, "rows", verify->n_rows);
    json_count(json, "bad_values", verify->n_bad_values);
    json_count(json, "bad_days", verify->n_bad_days);
    json_count(json, "repaired", verify->n_repaired);
    json_object_end(json);
}

/* The end of a line that says what was read. */
static void print_verdict(struct buffer *out, uint64_t n_bad_values, uint64_t n_bad_days, uint64_t n_repaired,
                          bool is_repairing)
{
    if (n_bad_values == 0 && n_bad_days == 0)
        buffer_append_text(out, "all is well\n");
    else
        buffer_printf(out, "%llu values and %llu days are damaged, %llu set aside%s\n",
                      (unsigned long long)n_bad_values, (unsigned long long)n_bad_days, (unsigned long long)n_repaired,
                      is_repairing ? "" : "; --repair sets them aside");
}

/* Nothing of stores that are empty. */
static void print_beside(struct buffer *out, const char *name, const struct hourly_verify *verify)
{
    if (verify->n_days == 0 && verify->n_bad_days == 0)
        return;
    buffer_printf(out, "%s: %llu days, %llu values and %llu rows read: ", name, (unsigned long long)verify->n_days,
                  (unsigned long long)verify->n_values, (unsigned long long)verify->n_rows);
    print_verdict(out, verify->n_bad_values, verify->n_bad_days, verify->n_repaired, verify->is_repairing);
}

static void print_summary(struct findings *findings, const struct store_verify *verify, const struct beside *beside,
                          const struct beside_verify *beside_verify)
{
    struct json *json = &findings->json;

    if (findings->is_json) {
        json_array_end(json);
        json_count(json, "days", verify->n_days);
        json_count(json, "values", verify->n_values);
        json_count(json, "rows", verify->n_rows);
        json_count(json, "samples", verify->n_samples);
        json_count(json, "bad_values", verify->n_bad_values);
        json_count(json, "bad_days", verify->n_bad_days);
        json_count(json, "repaired", verify->n_repaired);
        for (size_t i = 0; i < BESIDE_N; i++)
            print_json_beside(json, beside->stores[i].name, &beside_verify->stores[i]);
        json_object_end(json);
        json_done(json);
        return;
    }
    buffer_printf(&findings->out,
                  "%llu days, %llu values, %llu rows and %llu samples read: ", (unsigned long long)verify->n_days,
                  (unsigned long long)verify->n_values, (unsigned long long)verify->n_rows,
                  (unsigned long long)verify->n_samples);
    print_verdict(&findings->out, verify->n_bad_values, verify->n_bad_days, verify->n_repaired, verify->is_repairing);
    for (size_t i = 0; i < BESIDE_N; i++)
        print_beside(&findings->out, beside->stores[i].name, &beside_verify->stores[i]);
}

static int verify_store(struct findings *findings, struct store *store, struct beside *beside, struct error *err)
{
    const struct verify_config *config = findings->context->config;
    struct store_verify verify = { .is_repairing = config->is_repairing, .tell = take_finding, .context = findings };
    struct beside_verify beside_found = { 0 };
    int result;

    if (findings->is_json) {
        json_init(&findings->json, &findings->out, JSON_INDENTED);
        json_object_begin(&findings->json);
        json_key(&findings->json, "findings");
        json_array_begin(&findings->json);
    }
    command_progress(findings->context, "reading");
    result = store_verify(store, &verify, err) < 0 ? -1 : beside_verify(beside, &verify, &beside_found, err);
    command_progress_end(findings->context);
    if (result == 0)
        print_summary(findings, &verify, beside, &beside_found);
    findings->context->exit_status =
        verify.n_bad_values || verify.n_bad_days || beside_is_damaged(&beside_found) ? 1 : 0;
    return result;
}

static int run(struct command_context *context, struct error *err)
{
    const struct verify_config *config = context->config;
    struct findings findings = { .context = context, .is_json = config->is_json };
    AUTO(storage_use_end) struct storage_use use = { 0 };
    AUTO(beside_end) struct beside beside = { 0 };

    if ((config->is_repairing ? storage_use_to_change : storage_use_to_read)(context, &config->store, &use, err) < 0 ||
        beside_use(context, &config->store, !config->is_repairing, &beside, err) < 0)
        return -1;
    buffer_init(&findings.out, 0);
    return view_finish(context, &findings.out, verify_store(&findings, use.store, &beside, err), err);
}

const struct command cmd_verify = {
    .name = "verify",
    .summary = "Read all of a store and check it",
    .description = "Reads every value of every day, traces and metrics included, checks that it is whole and that what "
                   "it refers to is there, and "
                   "prints a line for each that is not. The exit status is 1 if there was any.\n\n"
                   "With --repair whatever is damaged is set aside, so that the rest answers without it; nothing is "
                   "thrown away.",
    .config_bytes = sizeof(struct verify_config),
    .options = { OPTION_GROUP("Options", verify_options), STORAGE_URL_GROUP(verify_config, store) },
    .examples = { { "hearth verify --data-dir hearth-data", "Checks a store, also one that is in use." },
                  { "hearth verify --repair", "Sets aside what is damaged." } },
    .run = run,
};
