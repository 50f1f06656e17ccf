// SPDX-License-Identifier: Apache-2.0
/* Tables of fields do most of it; what follows a table checks how its values go together. */
#include "scrape/scrapeconfig.h"

#include "base/clock.h"
#include "base/memory.h"
#include "scrape/scrapekinds_internal.h"

#define INTERVAL_DEFAULT_NS (15 * CLOCK_NS_PER_SECOND)
#define INTERVAL_MIN_NS     (CLOCK_NS_PER_SECOND / 10)
#define INTERVAL_MAX_NS     (86400 * CLOCK_NS_PER_SECOND)
#define TIMEOUT_MIN_NS      (CLOCK_NS_PER_SECOND / 1000)
#define TIMEOUT_DEFAULT_NS  (10 * CLOCK_NS_PER_SECOND)
#define REFRESH_DEFAULT_NS  (300 * CLOCK_NS_PER_SECOND)
#define ARENA_MAX_BYTES     (256u << 20)
#define SHOWN               64 /* bytes of a text in a message */

struct scrapeconfig_whole {
    struct scrapeconfig config; /* first, so that one is the other */
    struct arena arena;
};

/* --- readers of fields; their context is the arena --- */

/* The directory that holds `file`, with a slash. It is never empty: a file of the name "-" is not standard input. */
static struct slice directory_of(const char *file)
{
    struct slice path = slice_from(file);
    ptrdiff_t slash = slice_find_last_byte(path, '/');

    return slash < 0 ? SLICE("./") : slice_sub(path, 0, (size_t)slash + 1);
}

/* The name of a file, relative to the one that names it. */
static int read_path(const struct configtree *node, void *field, void *context, struct error *err)
{
    struct slice path;
    char *joined;

    if (configtree_text(node, &path, NULL, err) < 0)
        return -1;
    if (path.ptr[0] == '/') {
        *(struct slice *)field = path;
        return 0;
    }
    joined = arena_printf(context, err, "%.*s%.*s", SLICE_ARG(directory_of(node->file)), SLICE_ARG(path));
    if (!joined)
        return -1;
    *(struct slice *)field = slice_from(joined);
    return 0;
}

static int read_scheme(const struct configtree *node, void *field, void *context, struct error *err)
{
    if (node->kind != CONFIGTREE_TEXT || (!slice_is(node->text, "http") && !slice_is(node->text, "https")))
        return configtree_refuse(node, err, "'%.*s' is no scheme; write http or https",
                                 SLICE_ARG(slice_sub(node->text, 0, SHOWN)));
    *(struct slice *)field = node->text;
    return 0;
}

static int read_params(const struct configtree *node, void *field, void *context, struct error *err)
{
    const struct configtree *values;

    if (node->kind != CONFIGTREE_MAP)
        return configtree_refuse(node, err, "params is a map of lists, as in {name: [value]}");
    for (const struct configtree *param = node->first; param; param = param->next)
        if (configtree_texts(param, &values, NULL, err) < 0)
            return -1;
    *(const struct configtree **)field = node;
    return 0;
}

/* --- who asks --- */

struct basic_auth {
    struct slice username, password, password_file;
};

static const struct configtree_field basic_auth_fields[] = {
    { "username", configtree_text, offsetof(struct basic_auth, username) },
    { "password", configtree_any_text, offsetof(struct basic_auth, password) },
    { "password_file", read_path, offsetof(struct basic_auth, password_file) },
};

static int read_basic_auth(const struct configtree *node, void *field, void *context, struct error *err)
{
    struct scrapeconfig_http *http = field;
    struct basic_auth auth = { 0 };

    if (configtree_fill(node, basic_auth_fields, ARRAY_LEN(basic_auth_fields), &auth, context, err) < 0)
        return -1;
    if (auth.username.len == 0)
        return configtree_refuse(node, err, "basic_auth needs a username");
    if (auth.password.len > 0 && auth.password_file.len > 0)
        return configtree_refuse(node, err, "basic_auth has a password and a password_file; keep one of the two");
    http->username = auth.username;
    http->password = auth.password;
    http->password_file = auth.password_file;
    http->has_basic_auth = true;
    return 0;
}

struct authorization {
    struct slice type, credentials, credentials_file;
};

static const struct configtree_field authorization_fields[] = {
    { "type", configtree_text, offsetof(struct authorization, type) },
    { "credentials", configtree_text, offsetof(struct authorization, credentials) },
    { "credentials_file", read_path, offsetof(struct authorization, credentials_file) },
};

/* Takes one way to authorize; a second one is refused. */
static int take_authorization(const struct configtree *node, struct scrapeconfig_http *http,
                              const struct authorization *given, struct error *err)
{
    if (http->has_authorization)
        return configtree_refuse(node, err,
                                 "authorization, bearer_token and bearer_token_file mean the same; keep one of them");
    http->authorization_type = given->type;
    http->credentials = given->credentials;
    http->credentials_file = given->credentials_file;
    http->has_authorization = true;
    return 0;
}

static int read_authorization(const struct configtree *node, void *field, void *context, struct error *err)
{
    struct authorization given = { .type = SLICE("Bearer") };

    if (configtree_fill(node, authorization_fields, ARRAY_LEN(authorization_fields), &given, context, err) < 0)
        return -1;
    if ((given.credentials.len > 0) == (given.credentials_file.len > 0))
        return configtree_refuse(node, err, "authorization needs either credentials or a credentials_file");
    if (slice_equal_nocase(given.type, SLICE("basic")))
        return configtree_refuse(node, err, "authorization has no type 'basic'; write basic_auth instead");
    return take_authorization(node, field, &given, err);
}

static int read_bearer_token(const struct configtree *node, void *field, void *context, struct error *err)
{
    struct authorization given = { .type = SLICE("Bearer") };

    if (configtree_text(node, &given.credentials, NULL, err) < 0)
        return -1;
    return take_authorization(node, field, &given, err);
}

static int read_bearer_token_file(const struct configtree *node, void *field, void *context, struct error *err)
{
    struct authorization given = { .type = SLICE("Bearer") };

    if (read_path(node, &given.credentials_file, context, err) < 0)
        return -1;
    return take_authorization(node, field, &given, err);
}

static const struct configtree_field tls_fields[] = {
    { "ca_file", read_path, offsetof(struct scrapeconfig_http, ca_file) },
    { "cert_file", read_path, offsetof(struct scrapeconfig_http, cert_file) },
    { "key_file", read_path, offsetof(struct scrapeconfig_http, key_file) },
    { "server_name", configtree_text, offsetof(struct scrapeconfig_http, server_name) },
    { "insecure_skip_verify", configtree_bool, offsetof(struct scrapeconfig_http, skips_verification) },
};

static int read_tls(const struct configtree *node, void *field, void *context, struct error *err)
{
    struct scrapeconfig_http *http = field;

    if (configtree_fill(node, tls_fields, ARRAY_LEN(tls_fields), http, context, err) < 0)
        return -1;
    if ((http->cert_file.len > 0) != (http->key_file.len > 0))
        return configtree_refuse(node, err, "tls_config needs cert_file and key_file together, or neither");
    return 0;
}

/* --- whom --- */

static int read_labels(const struct configtree *node, void *field, void *context, struct error *err)
{
    if (configtree_text_map(node, field, NULL, err) < 0)
        return -1;
    for (const struct configtree *label = node->first; label; label = label->next)
        if (!relabel_is_name(label->key))
            return configtree_refuse(label, err, "'%.*s' is no label name; letters, digits and '_' are allowed",
                                     SLICE_ARG(slice_sub(label->key, 0, SHOWN)));
    return 0;
}

static const struct configtree_field group_fields[] = {
    { "targets", configtree_texts, offsetof(struct scrapeconfig_group, targets) },
    { "labels", read_labels, offsetof(struct scrapeconfig_group, labels) },
};

static int check_addresses(const struct configtree *targets, struct error *err)
{
    for (const struct configtree *target = targets ? targets->first : NULL; target; target = target->next) {
        struct slice address = target->text;

        if (slice_find_byte(address, '/') >= 0)
            return configtree_refuse(target, err,
                                     "'%.*s' is no target; write host:port, and the rest as scheme and path_prefix",
                                     SLICE_ARG(slice_sub(address, 0, SHOWN)));
        if (address.len == 0)
            return configtree_refuse(target, err, "a target is empty; write host:port");
    }
    return 0;
}

int scrapeconfig_read_groups(const struct configtree *list, struct arena *arena,
                             const struct scrapeconfig_group **ret_groups, size_t *ret_n, struct error *err)
{
    struct scrapeconfig_group *groups, *group;

    if (configtree_check_list(list, "a list of groups of targets", err) < 0)
        return -1;
    groups = group = ARENA_ARRAY(arena, struct scrapeconfig_group, list->n, err);
    if (!groups)
        return -1;
    for (const struct configtree *node = list->first; node; node = node->next, group++) {
        *group = (struct scrapeconfig_group){ 0 };
        if (configtree_fill(node, group_fields, ARRAY_LEN(group_fields), group, NULL, err) < 0 ||
            check_addresses(group->targets, err) < 0)
            return -1;
    }
    *ret_groups = groups;
    *ret_n = list->n;
    return 0;
}

static const struct configtree_field files_fields[] = {
    { "files", configtree_texts, offsetof(struct scrapeconfig_files, patterns) },
    { "refresh_interval", configtree_duration, offsetof(struct scrapeconfig_files, refresh_ns) },
};

/* --- a job --- */

/* Lists wait for the whole job to be read: kinds, for one, need the interval. */
struct job_reading {
    struct scrapeconfig_job job;
    const struct configtree *kinds, *groups, *files, *rules;
};

static int keep_node(const struct configtree *node, void *field, void *context, struct error *err)
{
    *(const struct configtree **)field = node;
    return 0;
}

#define JOB(field) offsetof(struct job_reading, job.field)
static const struct configtree_field job_fields[] = {
    { "job_name", configtree_text, JOB(name) },
    { "scrape_interval", configtree_duration, JOB(interval_ns) },
    { "scrape_timeout", configtree_duration, JOB(timeout_ns) },
    { "scheme", read_scheme, JOB(scheme) },
    { "params", read_params, JOB(params) },
    { "static_configs", keep_node, offsetof(struct job_reading, groups) },
    { "file_sd_configs", keep_node, offsetof(struct job_reading, files) },
    { "relabel_configs", keep_node, offsetof(struct job_reading, rules) },
    { "profiling_config", keep_node, offsetof(struct job_reading, kinds) },
    { "basic_auth", read_basic_auth, JOB(http) },
    { "authorization", read_authorization, JOB(http) },
    { "bearer_token", read_bearer_token, JOB(http) },
    { "bearer_token_file", read_bearer_token_file, JOB(http) },
    { "tls_config", read_tls, JOB(http) },
    { "proxy_url", configtree_text, JOB(http.proxy_url) },
    { "follow_redirects", configtree_bool, JOB(http.follows_redirects) },
};
#undef JOB

static int read_files(const struct configtree *list, struct scrapeconfig_job *job, struct arena *arena,
                      struct error *err)
{
    struct scrapeconfig_files *files, *at;

    if (configtree_check_list(list, "a list of maps with 'files'", err) < 0)
        return -1;
    files = at = ARENA_ARRAY(arena, struct scrapeconfig_files, list->n, err);
    if (!files)
        return -1;
    for (const struct configtree *node = list->first; node; node = node->next, at++) {
        *at = (struct scrapeconfig_files){ .refresh_ns = REFRESH_DEFAULT_NS, .directory = directory_of(node->file) };
        if (configtree_fill(node, files_fields, ARRAY_LEN(files_fields), at, NULL, err) < 0)
            return -1;
        if (!at->patterns || at->patterns->n == 0)
            return configtree_refuse(node, err, "file_sd_configs needs 'files', a list of names that may hold '*'");
    }
    job->files = files;
    job->n_files = list->n;
    return 0;
}

/* Rules that were made are counted at once, so that scrapeconfig_free finds them. */
static int read_rules(const struct configtree *list, struct scrapeconfig_job *job, struct arena *arena,
                      struct error *err)
{
    if (configtree_check_list(list, "a list of rules", err) < 0)
        return -1;
    if (list->n > SCRAPECONFIG_RULES_MAX) {
        error_set(err, ERR_LIMIT, "relabel_configs has %zu rules; at most %d are read", list->n,
                  SCRAPECONFIG_RULES_MAX);
        return configtree_blame(list, err);
    }
    job->rules = ARENA_ARRAY(arena, struct relabel_rule, list->n, err);
    if (!job->rules)
        return -1;
    for (const struct configtree *node = list->first; node; node = node->next, job->n_rules++)
        if (relabel_rule_init(&job->rules[job->n_rules], node, err) < 0)
            return -1;
    return 0;
}

static int check_job(const struct configtree *node, const struct scrapeconfig_job *job, struct error *err)
{
    if (job->name.len == 0)
        return configtree_refuse(node, err, "a job needs a job_name");
    if (job->interval_ns < INTERVAL_MIN_NS || job->interval_ns > INTERVAL_MAX_NS)
        return configtree_refuse(node, err, "scrape_interval of job '%.*s' must be 100ms to 1d",
                                 SLICE_ARG(slice_sub(job->name, 0, SHOWN)));
    if (job->timeout_ns < TIMEOUT_MIN_NS || job->timeout_ns > INTERVAL_MAX_NS)
        return configtree_refuse(node, err, "scrape_timeout of job '%.*s' must be 1ms to 1d",
                                 SLICE_ARG(slice_sub(job->name, 0, SHOWN)));
    if (job->http.has_basic_auth && job->http.has_authorization)
        return configtree_refuse(node, err, "job '%.*s' has basic_auth and another authorization; keep one of the two",
                                 SLICE_ARG(slice_sub(job->name, 0, SHOWN)));
    return 0;
}

static int read_job(const struct configtree *node, struct scrapeconfig_job *job, struct arena *arena, struct error *err)
{
    struct job_reading reading = {
        .job = { .scheme = SLICE("http"),
                 .interval_ns = INTERVAL_DEFAULT_NS,
                 .timeout_ns = TIMEOUT_DEFAULT_NS,
                 .http.follows_redirects = true },
    };

    if (configtree_fill(node, job_fields, ARRAY_LEN(job_fields), &reading, arena, err) < 0 ||
        check_job(node, &reading.job, err) < 0)
        return -1;
    *job = reading.job;
    if (scrapekinds_read(reading.kinds, job->interval_ns, arena, &job->kinds, &job->n_kinds, err) < 0)
        return -1;
    if (reading.groups && scrapeconfig_read_groups(reading.groups, arena, &job->groups, &job->n_groups, err) < 0)
        return -1;
    if (reading.files && read_files(reading.files, job, arena, err) < 0)
        return -1;
    return reading.rules ? read_rules(reading.rules, job, arena, err) : 0;
}

static int check_new_name(const struct configtree *node, const struct scrapeconfig_job *jobs, size_t n,
                          struct error *err)
{
    for (size_t i = 0; i < n; i++)
        if (slice_equal(jobs[i].name, jobs[n].name))
            return configtree_refuse(node, err, "there is a job '%.*s' already; give each a job_name of its own",
                                     SLICE_ARG(slice_sub(jobs[n].name, 0, SHOWN)));
    return 0;
}

static int read_jobs(const struct configtree *list, struct scrapeconfig_whole *whole, struct error *err)
{
    struct scrapeconfig_job *jobs;

    if (configtree_check_list(list, "a list of jobs", err) < 0)
        return -1;
    if (list->n > SCRAPECONFIG_JOBS_MAX) {
        error_set(err, ERR_LIMIT, "there are %zu jobs; at most %d are read", list->n, SCRAPECONFIG_JOBS_MAX);
        return configtree_blame(list, err);
    }
    jobs = arena_alloc_zero(&whole->arena, list->n * sizeof(*jobs), err);
    if (!jobs)
        return -1;
    whole->config.jobs = jobs;
    for (const struct configtree *node = list->first; node; node = node->next) {
        struct scrapeconfig_job *job = &jobs[whole->config.n++]; /* counted before, so that what it made is freed */

        if (read_job(node, job, &whole->arena, err) < 0 || check_new_name(node, jobs, whole->config.n - 1, err) < 0)
            return -1;
    }
    return 0;
}

int scrapeconfig_new(const struct configtree *section, struct scrapeconfig **ret_config, struct error *err)
{
    struct scrapeconfig_whole *whole = MEMORY_NEW(struct scrapeconfig_whole, err);
    AUTO(scrapeconfig_freep) struct scrapeconfig *config = whole ? &whole->config : NULL;

    if (!whole)
        return -1;
    arena_init(&whole->arena, ARENA_MAX_BYTES);
    if (section && section->kind != CONFIGTREE_NOTHING) {
        const struct configtree *own = configtree_copy(section, &whole->arena, err);

        if (!own || read_jobs(own, whole, err) < 0)
            return -1;
    }
    *ret_config = TAKE(config);
    return 0;
}

void scrapeconfig_free(struct scrapeconfig *config)
{
    struct scrapeconfig_whole *whole = (struct scrapeconfig_whole *)config;

    if (!whole)
        return;
    for (size_t i = 0; i < config->n; i++)
        for (size_t j = 0; j < config->jobs[i].n_rules; j++)
            relabel_rule_done(&config->jobs[i].rules[j]);
    arena_done(&whole->arena);
    memory_free(whole);
}

void scrapeconfig_freep(struct scrapeconfig **config)
{
    scrapeconfig_free(*config);
}
