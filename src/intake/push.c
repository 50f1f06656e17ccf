// SPDX-License-Identifier: Apache-2.0
#include "intake/push.h"

#include "intake/intakework_internal.h"
#include "intake/pushmessage.h"

#define GODELTAPROF "godeltaprof_"

/* Reads a UUID, with or without dashes. */
static bool parse_uuid(struct slice text, uint8_t id[static 16])
{
    size_t n = 0;
    uint8_t any = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        int digit = c >= '0' && c <= '9'                     ? c - '0'
                    : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                             : -1;

        if (c == '-')
            continue;
        if (digit < 0 || n == 32)
            return false;
        id[n / 2] = (uint8_t)(n % 2 ? id[n / 2] | digit : digit << 4);
        any |= (uint8_t)digit;
        n++;
    }
    return n == 32 && any != 0;
}

static int read_labels(struct intake_worker *worker, const struct pushmessage_series *series,
                       struct intakework_labels *labels, struct intakework_delivery *delivery, struct error *err)
{
    if (intakework_labels_init(worker, series->n_labels, labels, err) < 0)
        return -1;
    for (uint32_t i = 0; i < series->n_labels; i++) {
        struct slice name = series->labels[i].name, value = series->labels[i].value;

        if (slice_is(name, "__delta__")) {
            delivery->is_delta |= slice_is(value, "false");
        } else if (slice_is(name, "__session_id__")) {
            delivery->session = value;
        } else if (slice_is(name, SERIES_NAME_LABEL) && slice_starts_with(value, SLICE(GODELTAPROF))) {
            delivery->is_delta = true;
            intakework_labels_add(labels, name, slice_sub(value, strlen(GODELTAPROF), SIZE_MAX));
        } else if (name.len > 0) {
            intakework_labels_add(labels, name, value);
        }
    }
    delivery->labels = labels;
    return 0;
}

/* -1 with the story; nothing is counted then. */
static int decode_sample(struct intake_worker *worker, const struct pushmessage_sample *sample, struct error *err)
{
    struct slice content;

    if (intakework_part(worker, sample->profile, &content, err) < 0 ||
        intakework_decode(worker, content, format_find(SLICE("pprof")), err) < 0)
        return -1;
    if (!parse_uuid(sample->id, worker->batch.profiles[0].profile_id))
        memset(worker->batch.profiles[0].profile_id, 0, sizeof(worker->batch.profiles[0].profile_id));
    return 0;
}

static void take_sample(struct intake_worker *worker, const struct pushmessage_sample *sample,
                        const struct intakework_delivery *delivery)
{
    struct slice service = intakework_labels_find(delivery->labels, SERIES_SERVICE_LABEL);
    struct error err;

    if (sample->profile.len == 0)
        intakework_accept(worker, service, 1, INTAKE_EMPTY);
    else if (decode_sample(worker, sample, &err) < 0)
        intakework_reject(worker, service, 1, &err);
    else
        IGNORE(intakework_store(worker, &worker->batch, delivery, &err), "it was counted as rejected");
}

int push_take(struct intake_worker *worker, bool is_json, struct error *err)
{
    struct pushmessage message;
    struct slice content;

    if (intakework_body(worker, &content, err) < 0)
        return -1;
    if ((is_json ? pushmessage_decode_json(content, &worker->arena, &message, err)
                 : pushmessage_decode(content, &worker->arena, &message, err)) < 0)
        return -1;
    for (uint32_t i = 0; i < message.n; i++) {
        const struct pushmessage_series *series = &message.series[i];
        struct intakework_delivery delivery = { 0 };
        struct intakework_labels labels;

        if (read_labels(worker, series, &labels, &delivery, err) < 0)
            return -1;
        for (uint32_t k = 0; k < series->n_samples; k++)
            take_sample(worker, &series->samples[k], &delivery);
    }
    if (worker->receipt.n_profiles == 0)
        return error_set(err, ERR_INVALID, "the request holds no profiles: %u series, none with samples", message.n);
    return 0;
}
