// SPDX-License-Identifier: Apache-2.0
/* What is to be scraped: the section `scrape_configs` of a configuration file, in the shape that Prometheus gave it and
 * Parca extended by `profiling_config`. docs/guide/scraping.md describes every key.
 *
 * Names of files are relative to the file that names them. Texts borrow from the configuration, which never changes once
 * made: any number of threads may read it. */
#pragma once

#include "base/error.h"
#include "config/configtree.h"
#include "scrape/relabel.h"

#define SCRAPECONFIG_SECTION   "scrape_configs"
#define SCRAPECONFIG_JOBS_MAX  1024
#define SCRAPECONFIG_KINDS_MAX 32
#define SCRAPECONFIG_RULES_MAX 256

/* What the numbers of a kind of profile cover. */
enum scrapeconfig_window {
    SCRAPECONFIG_SINCE_START, /* all since the target began: deltas are to be made of what only rises */
    SCRAPECONFIG_SECONDS,     /* the `seconds` that the target is asked for */
    SCRAPECONFIG_SINCE_LAST,  /* since it was asked before: the target makes deltas itself (godeltaprof) */
};

/* A kind of profile that every target of a job is asked for. */
struct scrapeconfig_kind {
    struct slice key;  /* in pprof_config: "process_cpu", "godeltaprof_memory" */
    struct slice name; /* what the profiles are called: "process_cpu", "memory" */
    struct slice path; /* path_prefix included */
    enum scrapeconfig_window window;
    uint64_t seconds; /* SCRAPECONFIG_SECONDS; else 0 */
};

/* Addresses that share labels. */
struct scrapeconfig_group {
    const struct configtree *targets; /* a list of "host:port"; NULL = none */
    const struct configtree *labels;  /* a map; NULL = none */
};

/* One of file_sd_configs. */
struct scrapeconfig_files {
    const struct configtree *patterns; /* as glob(3) */
    struct slice directory;            /* what they are relative to */
    int64_t refresh_ns;
};

/* How to reach targets. Empty texts were not given. */
struct scrapeconfig_http {
    struct slice username, password, password_file;
    struct slice authorization_type, credentials, credentials_file; /* "Authorization: TYPE CREDENTIALS" */
    struct slice ca_file, cert_file, key_file, server_name;
    struct slice proxy_url;
    bool has_basic_auth, has_authorization;
    bool skips_verification;
    bool follows_redirects;
};

struct scrapeconfig_job {
    struct slice name, scheme;
    int64_t interval_ns;
    int64_t timeout_ns;              /* beyond the seconds that a profile takes */
    const struct configtree *params; /* a map of lists of texts; NULL = none */
    const struct scrapeconfig_kind *kinds;
    const struct scrapeconfig_group *groups;
    const struct scrapeconfig_files *files;
    struct relabel_rule *rules;
    size_t n_kinds, n_groups, n_files, n_rules;
    struct scrapeconfig_http http;
};

struct scrapeconfig {
    const struct scrapeconfig_job *jobs;
    size_t n;
};

/* Reads the section, of which nothing is kept by reference; NULL = no jobs. Errors: ERR_INVALID as "file:line:column:
 * ..." with what was found and what to do; ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int scrapeconfig_new(const struct configtree *section, struct scrapeconfig **ret_config, struct error *err);
/* Accepts NULL. */
void scrapeconfig_free(struct scrapeconfig *config);
void scrapeconfig_freep(struct scrapeconfig **config);

/* Reads a list of groups, as in static_configs and in the files of file_sd_configs, into an array in `arena`. Texts
 * borrow from `list`. Errors: ERR_INVALID with the place, ERR_MEMORY. */
MUST_CHECK int scrapeconfig_read_groups(const struct configtree *list, struct arena *arena,
                                        const struct scrapeconfig_group **ret_groups, size_t *ret_n, struct error *err);
