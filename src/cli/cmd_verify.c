// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/progress.h"
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

static void print_summary(struct findings *findings, const struct store_verify *verify)
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
        json_object_end(json);
        json_done(json);
        return;
    }
    buffer_printf(&findings->out,
                  "%llu days, %llu values, %llu rows and %llu samples read: ", (unsigned long long)verify->n_days,
                  (unsigned long long)verify->n_values, (unsigned long long)verify->n_rows,
                  (unsigned long long)verify->n_samples);
    if (verify->n_bad_values == 0 && verify->n_bad_days == 0)
        buffer_append_text(&findings->out, "all is well\n");
    else
        buffer_printf(&findings->out, "%llu values and %llu days are damaged, %llu set aside%s\n",
                      (unsigned long long)verify->n_bad_values, (unsigned long long)verify->n_bad_days,
                      (unsigned long long)verify->n_repaired, verify->is_repairing ? "" : "; --repair sets them aside");
}

static int verify_store(struct findings *findings, struct store *store, struct error *err)
{
    const struct verify_config *config = findings->context->config;
    struct store_verify verify = { .is_repairing = config->is_repairing, .tell = take_finding, .context = findings };
    int result;

    if (findings->is_json) {
        json_init(&findings->json, &findings->out, JSON_INDENTED);
        json_object_begin(&findings->json);
        json_key(&findings->json, "findings");
        json_array_begin(&findings->json);
    }
    command_progress(findings->context, "reading");
    result = store_verify(store, &verify, err);
    command_progress_end(findings->context);
    if (result == 0)
        print_summary(findings, &verify);
    findings->context->exit_status = verify.n_bad_values || verify.n_bad_days ? 1 : 0;
    return result;
}

static int run(struct command_context *context, struct error *err)
{
    const struct verify_config *config = context->config;
    struct findings findings = { .context = context, .is_json = config->is_json };
    AUTO(storage_use_end) struct storage_use use = { 0 };

    if ((config->is_repairing ? storage_use_to_change : storage_use_to_read)(context, &config->store, &use, err) < 0)
        return -1;
    buffer_init(&findings.out, 0);
    return view_finish(context, &findings.out, verify_store(&findings, use.store, err), err);
}

const struct command cmd_verify = {
    .name = "verify",
    .summary = "Read all of a store and check it",
    .description = "Reads every value of every day, checks that it is whole and that what it refers to is there, and "
                   "prints a line for each that is not. The exit status is 1 if there was any.\n\n"
                   "With --repair whatever is damaged is set aside, so that the rest answers without it; nothing is "
                   "thrown away.",
    .config_bytes = sizeof(struct verify_config),
    .options = { OPTION_GROUP("Options", verify_options), STORAGE_URL_GROUP(verify_config, store) },
    .examples = { { "hearth verify --data-dir hearth-data", "Checks a store, also one that is in use." },
                  { "hearth verify --repair", "Sets aside what is damaged." } },
    .run = run,
};
