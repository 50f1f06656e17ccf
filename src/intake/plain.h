// SPDX-License-Identifier: Apache-2.0
/* One profile as the body of a request, headers saying the rest; and the answers of targets that were scraped.
 *
 * The plain exporter of public guides posts pprof, often packed twice, with X-Profile-Type (cpu, heap, allocs, mutex,
 * block, goroutine ...), X-Profile-Timestamp and X-Trace-ID. The service is a label of the samples (service_name or
 * service.name), a parameter of the query of that name, else the main binary. Any format that files may have is taken. */
#pragma once

#include "base/error.h"

struct intake_worker;

/* Takes the upload at hand. Errors: those of intake_take. */
MUST_CHECK int plain_take(struct intake_worker *worker, struct error *err);

/* The same for what a scraper fetched: labels are lines `name=value`. `__delta__` = "false" says that nothing counts from
 * the start of the process. */
MUST_CHECK int plain_take_scraped(struct intake_worker *worker, struct error *err);
