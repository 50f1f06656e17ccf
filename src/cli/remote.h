// SPDX-License-Identifier: Apache-2.0
/* Commands run by a server: with --url, or HEARTH_URL, a command is not run here. What it was given becomes a request to the
 * path that runs it there (apirow.h), and what comes back is printed: the same output, messages and exit status.
 *
 * M1  What was given is sent, by flag, variable or file alike; defaults are the server's, which are the same.
 * M2  Options about this machine stay here: --output names a file that is written here. Given as flags, the others are
 *     errors, since the server would not follow them.
 * M3  --data-dir as a flag wins over HEARTH_URL; given both as flags, nobody knows what is meant.
 * M4  What is empty is refused here, since a server takes it for not given. */
#pragma once

#include "cli/apirow.h"

#define REMOTE_URL_DEFAULT "http://127.0.0.1:4040"

/* command_set.elsewhere: asks a server where --url names one. */
MUST_CHECK int remote_run(struct command_context *context, bool *ret_is_done, struct error *err);

/* Gets the answer of a path that takes no parameters, such as /api/v1/status, into `body` (initialised). Errors: those of
 * remotecall_perform; ERR_NOT_FOUND where no hearth answers; others as the server says. */
MUST_CHECK int remote_get(const char *url, const char *path, struct buffer *body, struct error *err);

/* The request that a command makes, for tests: its row and the parameters, encoded. Errors: ERR_USAGE. */
MUST_CHECK int remote_request(struct command_context *context, const struct apirow **ret_row, struct buffer *parameters,
                              struct error *err);
