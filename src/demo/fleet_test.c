// SPDX-License-Identifier: Apache-2.0
#include "demo/fleet.h"

#include "base/memory.h"
#include "base/test.h"
#include "wire/otlp.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define HOSTS 25

/* The thread sanitizer calls handlers later than the signal came: where a thread was is lost. */
#if defined(__SANITIZE_THREAD__)
#define IS_DELAYED true
#else
#define IS_DELAYED false
#endif

/* Keeps what was posted until there is enough. */
struct office {
    struct buffer bodies[2]; /* of the fleet's thread, until it has ended */
    _Atomic uint32_t n;
};

static int post(void *context, const char *path, struct slice body, struct error *err UNUSED)
{
    struct office *office = context;
    uint32_t n = atomic_load(&office->n);

    CHECK(strcmp(path, "/v1development/profiles") == 0);
    if (n < ARRAY_LEN(office->bodies)) {
        buffer_append_slice(&office->bodies[n], body);
        atomic_store(&office->n, n + 1);
    }
    return 0;
}

static bool has_label(const struct batch *batch, const struct profile *profile, const char *key, const char *value)
{
    const struct label *label = tables_find_label(&batch->tables, profile->resource, slice_from(key));

    return label && slice_is(tables_string(&batch->tables, label->text), value);
}

static bool has_function(const struct batch *batch, const char *name)
{
    for (uint32_t i = 0; i < batch->tables.n_functions; i++)
        if (slice_is(tables_string(&batch->tables, batch->tables.functions[i].name), name))
            return true;
    return false;
}

static void check_profile(const struct batch *batch, const struct profile *profile)
{
    CHECK(has_label(batch, profile, "service.name", "fleet"));
    CHECK(has_label(batch, profile, "service.version", "1.0.0") ||
          has_label(batch, profile, "service.version", "1.1.0"));
    CHECK(tables_find_label(&batch->tables, profile->resource, SLICE("region")) != NULL);
    CHECK(tables_find_label(&batch->tables, profile->resource, SLICE("pod")) != NULL);
    CHECK_EQ(profile->n_types, 2);
    CHECK_EQ(profile->duration_ns, FLEET_PERIOD_S * 1000000000ll);
    CHECK(profile->n_samples > 0 && profile_total(profile, 1) > 0);
}

/* The first turn has hosts 0, 10 and 20, the second 1, 11 and 21: all of one version each. */
static void check_request(const struct buffer *body, const char *first_pod)
{
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    CHECK_OK(otlp_decode(buffer_slice(body), &batch, &err), &err);
    CHECK_EQ(batch.n_profiles, 3);
    for (uint32_t i = 0; i < batch.n_profiles; i++)
        check_profile(&batch, &batch.profiles[i]);
    CHECK(has_label(&batch, &batch.profiles[0], "pod", first_pod));
    CHECK(!has_label(&batch, &batch.profiles[1], "pod", first_pod));
    CHECK(IS_DELAYED || has_function(&batch, "parse_json"));
    batch_done(&batch);
}

TEST(fleet_sends_the_profiles_of_its_hosts)
{
    struct office office = { 0 };
    struct fleet *fleet = NULL;
    struct error err;

    buffer_init(&office.bodies[0], 0);
    buffer_init(&office.bodies[1], 0);
    CHECK_OK(fleet_start(&(struct fleet_options){ .n_hosts = HOSTS, .world = { .post = post, .context = &office } },
                         &fleet, &err),
             &err);
    while (atomic_load(&office.n) < 2)
        usleep(10000);
    fleet_stop(fleet);
    check_request(&office.bodies[0], "fleet-00000");
    check_request(&office.bodies[1], "fleet-00001");
    buffer_done(&office.bodies[0]);
    buffer_done(&office.bodies[1]);
}

static int start_and_stop(void *context UNUSED, struct error *err)
{
    struct fleet *fleet;

    if (fleet_start(&(struct fleet_options){ .n_hosts = 1, .world = { .post = post, .context = context } }, &fleet,
                    err) < 0)
        return -1;
    fleet_stop(fleet);
    return 0;
}

TEST(fleet_reports_that_memory_ran_out)
{
    struct office office = { .n = 2 };

    test_each_allocation_failing(start_and_stop, &office);
    fleet_stop(NULL);
}
