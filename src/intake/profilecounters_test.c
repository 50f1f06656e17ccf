// SPDX-License-Identifier: Apache-2.0
#include "intake/profilecounters.h"

#include "base/clock.h"
#include "base/test.h"

static const struct profilecounters_type cpu = { { "process_cpu", 11 }, { "cpu", 3 }, { "nanoseconds", 11 } };

static struct profilecounters *begin(uint32_t max_rows, const char *labels)
{
    struct profilecounters *counters = NULL;
    struct error err;

    clock_fake_set(1000 * CLOCK_NS_PER_SECOND);
    CHECK_OK(profilecounters_new(&(struct profilecounters_options){ max_rows, labels }, &counters, &err), &err);
    return counters;
}

static void add(struct profilecounters *counters, const char *service, const char *value, int64_t amount)
{
    struct slice values[PROFILECOUNTERS_MAX_LABELS] = { slice_from(value) };

    profilecounters_add(counters, &cpu, SLICE(""), slice_from(service), values, amount);
}

TEST(profilecounters_add_up_by_type_service_and_labels)
{
    static const struct profilecounters_type others[] = {
        { { "memory", 6 }, { "alloc_space", 11 }, { "bytes", 5 } },
        { { "mutex", 5 }, { "delay", 5 }, { "nanoseconds", 11 } },
        { { "wall", 4 }, { "wall", 4 }, { "microseconds", 12 } },
        { { "wall", 4 }, { "wall", 4 }, { "count", 5 } },
        { { "process_cpu", 11 }, { "samples", 7 }, { "count", 5 } },
    };
    struct profilecounters *counters = begin(100, "env");
    struct slice none[PROFILECOUNTERS_MAX_LABELS] = { { "", 0 } };
    struct buffer out;

    add(counters, "api", "production", 1500000000);
    add(counters, "api", "production", 1);
    add(counters, "api", "a\"\\\nb", 1);
    add(counters, "api", "", -5);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        profilecounters_add(counters, &others[i], SLICE("team"), SLICE("api"), none, 3000);
    buffer_init(&out, 0);
    profilecounters_write(counters, &out);
    CHECK_TEXT(buffer_slice(&out),
               "# HELP hearth_profiles_alloc_space_total What profiles of alloc_space come to.\n"
               "# TYPE hearth_profiles_alloc_space_total counter\n"
               "hearth_profiles_alloc_space_total{tenant=\"team\",service_name=\"api\"} 3000\n"
               "# HELP hearth_profiles_cpu_total What profiles of cpu come to, in seconds.\n"
               "# TYPE hearth_profiles_cpu_total counter\n"
               "hearth_profiles_cpu_total{service_name=\"api\",env=\"a\\\"\\\\\\nb\"} 0.000000001\n"
               "hearth_profiles_cpu_total{service_name=\"api\",env=\"production\"} 1.500000001\n"
               "# HELP pyroscope_profiles_cpu_total What profiles of cpu come to, in seconds.\n"
               "# TYPE pyroscope_profiles_cpu_total counter\n"
               "pyroscope_profiles_cpu_total{service_name=\"api\",env=\"a\\\"\\\\\\nb\"} 0.000000001\n"
               "pyroscope_profiles_cpu_total{service_name=\"api\",env=\"production\"} 1.500000001\n"
               "# HELP hearth_profiles_cpu_samples_total What profiles of cpu_samples come to.\n"
               "# TYPE hearth_profiles_cpu_samples_total counter\n"
               "hearth_profiles_cpu_samples_total{tenant=\"team\",service_name=\"api\"} 3000\n"
               "# HELP hearth_profiles_mutex_delay_total What profiles of mutex_delay come to, in seconds.\n"
               "# TYPE hearth_profiles_mutex_delay_total counter\n"
               "hearth_profiles_mutex_delay_total{tenant=\"team\",service_name=\"api\"} 0.000003000\n"
               "# HELP hearth_profiles_wall_total What profiles of wall come to, in seconds.\n"
               "# TYPE hearth_profiles_wall_total counter\n"
               "hearth_profiles_wall_total{tenant=\"team\",service_name=\"api\"} 0.003000000\n"
               "# HELP hearth_profiles_wall_count_total What profiles of wall_count come to.\n"
               "# TYPE hearth_profiles_wall_count_total counter\n"
               "hearth_profiles_wall_count_total{tenant=\"team\",service_name=\"api\"} 3000\n");
    buffer_done(&out);
    profilecounters_free(counters);
}

TEST(profilecounters_beyond_the_most_count_for_other_until_some_stand_still)
{
    struct profilecounters *counters = begin(2, "");
    struct buffer out;

    add(counters, "a", "", 1000000000);
    add(counters, "b", "", 1000000000);
    add(counters, "c", "", 1000000000);
    add(counters, "d", "", 1000000000);
    buffer_init(&out, 0);
    profilecounters_write(counters, &out);
    CHECK_HAS(buffer_slice(&out), "{service_name=\"other\"} 2.0");
    clock_fake_advance(3601 * CLOCK_NS_PER_SECOND);
    add(counters, "b", "", 1000000000);
    add(counters, "c", "", 1000000000);
    add(counters, "c", "", 1000000000);
    buffer_clear(&out);
    profilecounters_write(counters, &out);
    CHECK_HAS(buffer_slice(&out), "{service_name=\"b\"} 2.0");
    CHECK_HAS(buffer_slice(&out), "{service_name=\"c\"} 2.0");
    CHECK(!memmem(out.data, out.len, "\"a\"", 3));
    buffer_done(&out);
    profilecounters_free(counters);
}

TEST(profilecounters_take_words_for_labels)
{
    struct profilecounters *counters;
    struct error err;

    CHECK_ERROR(profilecounters_new(&(struct profilecounters_options){ 1, "env,1st" }, &counters, &err), &err,
                ERR_INVALID);
    CHECK_HAS(err.text, "'1st'");
    CHECK_ERROR(profilecounters_new(&(struct profilecounters_options){ 1, "a,b,c,d,e,f,g,h,i" }, &counters, &err), &err,
                ERR_INVALID);
    CHECK_HAS(err.text, "more than 8");
}

static int make_step(void *context UNUSED, struct error *err)
{
    struct profilecounters *counters;

    if (profilecounters_new(&(struct profilecounters_options){ 4, "env" }, &counters, err) < 0)
        return -1;
    add(counters, "a", "x", 1); /* without memory it is not counted */
    profilecounters_free(counters);
    return 0;
}

TEST(profilecounters_survive_failing_allocations)
{
    test_each_allocation_failing(make_step, NULL);
}
