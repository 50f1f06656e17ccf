// SPDX-License-Identifier: Apache-2.0
/* Reading pprof. Fields come in any order and interleaved, so that nothing can be resolved on the way. Hence:
 *
 *   survey     one walk over the top-level fields counts each kind, takes the scalars, and looks into samples just far
 *              enough to count frames and labels. Limits are checked, and every table gets its exact size at once.
 *   tables     a second walk decodes strings, mappings and functions; locations and samples are noted
 *   frames     the locations, now that mappings and functions are known by id
 *   samples    the samples, now that frames are (pprof_samples.c)
 *
 * Hot loops hold no error paths: readers fail silently (protobuf.h, R2) and warnings are made in cold functions. */
#include "profile/valuetype.h"
#include "wire/pprof.h"
#include "wire/pprof_internal.h"

uint32_t pprof_find_sparse(const struct pprof_ids *ids, uint64_t id)
{
    const uint32_t *entry = map_find(&ids->sparse, id);

    return entry ? *entry : 0;
}

static void decoder_done(struct pprof_decoder *d)
{
    map_done(&d->mappings.sparse);
    map_done(&d->functions.sparse);
    map_done(&d->frames.sparse);
}

static PPROF_COLD uint32_t string_missing(struct pprof_decoder *d, uint64_t id, const char *what, uint32_t index)
{
    report_add(&d->batch->report, "string index outside the string table; left empty", 1, "%s %u, string %llu of %u",
               what, index, (unsigned long long)id, d->tables->n_strings);
    return 0;
}

/* A checked string index. `what` and `index` name the place, should it have to be told. */
static inline uint32_t string_id(struct pprof_decoder *d, uint64_t id, const char *what, uint32_t index)
{
    if (UNLIKELY(id >= d->tables->n_strings))
        return string_missing(d, id, what, index);
    return (uint32_t)id;
}

static PPROF_COLD uint32_t line_number_bad(struct pprof_decoder *d, uint64_t number, const char *what, uint32_t index)
{
    report_add(&d->batch->report, "line or column outside 0 to 4294967295; left unknown", 1, "%s %u: %lld", what, index,
               (long long)number);
    return 0;
}

static inline uint32_t line_number(struct pprof_decoder *d, uint64_t number, const char *what, uint32_t index)
{
    if (UNLIKELY(number > UINT32_MAX))
        return line_number_bad(d, number, what, index);
    return (uint32_t)number;
}

/* Entries with ids that are not just 1 to n in order. */
static int index_ids(struct pprof_decoder *d, const char *what, const uint64_t *ids, uint32_t n, uint64_t max,
                     struct pprof_ids *index, struct error *err)
{
    uint64_t repeated = 0, absent = 0, example = 0;

    if (max <= (uint64_t)4 * n + 1024) {
        index->dense = arena_alloc_zero(&d->batch->arena, (max + 1) * sizeof(*index->dense), err);
        if (!index->dense)
            return -1;
        index->n = max + 1;
    }
    for (uint32_t entry = 1; entry < n; entry++) {
        if (ids[entry] == 0) {
            absent++;
            continue;
        }
        if (pprof_find(index, ids[entry]) != 0) {
            repeated++;
            example = ids[entry];
        }
        if (index->dense)
            index->dense[ids[entry]] = entry;
        else if (map_set(&index->sparse, ids[entry], entry, err) < 0)
            return -1;
    }
    if (repeated)
        report_add(&d->batch->report, "several entries with the same id; the last is used", repeated, "%s id %llu",
                   what, (unsigned long long)example);
    if (absent)
        report_add(&d->batch->report, "entry without an id; nothing can refer to it", absent, "%s", what);
    return 0;
}

static int build_index(struct pprof_decoder *d, const char *what, const uint64_t *ids, uint32_t n,
                       struct pprof_ids *index, struct error *err)
{
    uint64_t max = 0;
    bool is_sequence = true;

    for (uint32_t entry = 1; entry < n; entry++) {
        max = MAX(max, ids[entry]);
        is_sequence &= ids[entry] == entry;
    }
    if (LIKELY(is_sequence)) {
        index->n = n;
        return 0;
    }
    return index_ids(d, what, ids, n, max, index, err);
}

/* --- survey --- */

struct sample_survey {
    struct protobuf_reader r;
    uint64_t n_frames;
    uint64_t n_labels;
};

static inline struct sample_survey survey_sample(struct slice sample)
{
    struct protobuf_reader r = protobuf_reader_of(sample);
    uint64_t n_frames = 0, n_labels = 0;
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        switch (tag) {
        case PPROF_BYTES(PPROF_SAMPLE_LOCATION_ID): n_frames += protobuf_count_varints(protobuf_bytes(&r)); break;
        case PPROF_VARINT(PPROF_SAMPLE_LOCATION_ID):
            (void)protobuf_varint(&r);
            n_frames++;
            break;
        case PPROF_BYTES(PPROF_SAMPLE_VALUE): (void)protobuf_bytes(&r); break;
        case PPROF_VARINT(PPROF_SAMPLE_VALUE): (void)protobuf_varint(&r); break;
        case PPROF_BYTES(PPROF_SAMPLE_LABEL):
            (void)protobuf_bytes(&r);
            n_labels++;
            break;
        default: protobuf_skip_unknown(&r, tag, PPROF_SAMPLE_LABEL);
        }
    }
    return (struct sample_survey){ r, n_frames, n_labels };
}

/* The fields of the first walk that are few. */
static struct protobuf_reader survey_field(struct protobuf_reader r, uint32_t tag, struct pprof_survey *survey)
{
    switch (tag) {
    case PPROF_BYTES(PPROF_PROFILE_SAMPLE_TYPE):
        (void)protobuf_bytes(&r);
        survey->types++;
        break;
    case PPROF_BYTES(PPROF_PROFILE_MAPPING):
        (void)protobuf_bytes(&r);
        survey->mappings++;
        break;
    case PPROF_VARINT(PPROF_PROFILE_DROP_FRAMES): survey->drop_frames = protobuf_varint(&r); break;
    case PPROF_VARINT(PPROF_PROFILE_KEEP_FRAMES): survey->keep_frames = protobuf_varint(&r); break;
    case PPROF_VARINT(PPROF_PROFILE_TIME_NANOS):
        survey->is_concatenated |= survey->time_nanos != 0;
        survey->time_nanos = protobuf_varint(&r);
        break;
    case PPROF_VARINT(PPROF_PROFILE_DURATION_NANOS): survey->duration_nanos = protobuf_varint(&r); break;
    case PPROF_BYTES(PPROF_PROFILE_PERIOD_TYPE): (void)protobuf_bytes(&r); break;
    case PPROF_VARINT(PPROF_PROFILE_PERIOD): survey->period = protobuf_varint(&r); break;
    case PPROF_VARINT(PPROF_PROFILE_COMMENT):
        (void)protobuf_varint(&r);
        survey->comments++;
        break;
    case PPROF_BYTES(PPROF_PROFILE_COMMENT): survey->comments += protobuf_count_varints(protobuf_bytes(&r)); break;
    case PPROF_VARINT(PPROF_PROFILE_DEFAULT_SAMPLE_TYPE): survey->default_type = protobuf_varint(&r); break;
    case PPROF_VARINT(PPROF_PROFILE_DOC_URL): survey->doc_url = protobuf_varint(&r); break;
    default: protobuf_skip_unknown(&r, tag, PPROF_PROFILE_DOC_URL);
    }
    return r;
}

static int check_count(const char *what, uint64_t n, uint64_t limit, struct error *err)
{
    if (n <= limit)
        return 0;
    return error_set(err, ERR_LIMIT, "pprof: %llu %s, the limit is %llu", (unsigned long long)n, what,
                     (unsigned long long)limit);
}

static int check_survey(const struct pprof_decoder *d, struct error *err)
{
    const struct pprof_survey *survey = &d->survey;
    const struct profile_limits *limits = &d->batch->limits;
    const uint64_t max_entries = UINT32_MAX - 1; /* ids are 32-bit and 0 is taken */

    if (survey->is_concatenated)
        return error_set(err, ERR_CORRUPT,
                         "pprof: time_nanos occurs twice: these are several profiles glued together; give them apart");
    if (survey->types == 0 && survey->samples != 0)
        return error_set(err, ERR_CORRUPT, "pprof: %llu samples but no sample_type that says what their values are",
                         (unsigned long long)survey->samples);
    if (check_count("strings", survey->strings, MIN(limits->max_strings, max_entries), err) < 0 ||
        check_count("samples", survey->samples, MIN(limits->max_samples, max_entries), err) < 0 ||
        check_count("sample types", survey->types, PROFILE_MAX_TYPES, err) < 0 ||
        check_count("mappings", survey->mappings, max_entries, err) < 0 ||
        check_count("locations", survey->locations, max_entries, err) < 0 ||
        check_count("functions", survey->functions, max_entries, err) < 0 ||
        check_count("comments", survey->comments, max_entries, err) < 0 ||
        check_count("frames in all samples", survey->frames, max_entries, err) < 0 ||
        check_count("labels", survey->labels, max_entries, err) < 0)
        return -1;
    return 0;
}

/* Passes over a run of fields with this tag, the first of which was read already; how many there are. */
static inline uint64_t survey_run(struct protobuf_reader *r, uint32_t tag)
{
    uint64_t n = 0;

    do {
        (void)protobuf_bytes(r);
        n++;
    } while (protobuf_again(r, tag));
    return n;
}

static PPROF_STEP int survey_all(struct pprof_decoder *d, struct error *err)
{
    struct protobuf_reader r = protobuf_reader_of(d->bytes);
    struct pprof_survey *survey = &d->survey;
    uint64_t n_strings = 0, n_functions = 0, n_locations = 0;
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        switch (tag) { /* the four kinds that make up nearly all fields are here, the rest out of the way */
        case PPROF_BYTES(PPROF_PROFILE_STRING_TABLE): n_strings += survey_run(&r, tag); break;
        case PPROF_BYTES(PPROF_PROFILE_FUNCTION): n_functions += survey_run(&r, tag); break;
        case PPROF_BYTES(PPROF_PROFILE_LOCATION): n_locations += survey_run(&r, tag); break;
        case PPROF_BYTES(PPROF_PROFILE_SAMPLE): {
            struct sample_survey sample = survey_sample(protobuf_bytes(&r));

            survey->samples++;
            survey->frames += sample.n_frames;
            survey->labels += sample.n_labels;
            survey->labelled_samples += sample.n_labels != 0;
            protobuf_leave(&r, &sample.r);
            break;
        }
        default: r = survey_field(r, tag, survey);
        }
    }
    survey->strings = n_strings;
    survey->functions = n_functions;
    survey->locations = n_locations;
    if (r.bad)
        return pprof_explain(d->bytes, &r, err);
    return check_survey(d, err);
}

/* --- tables --- */

static int make_tables(struct pprof_decoder *d, struct error *err)
{
    struct arena *arena = &d->batch->arena;
    const struct pprof_survey *survey = &d->survey;
    struct tables *t = d->tables;

    if (tables_init_empty(t, arena, err) < 0)
        return -1;
    t->n_strings = (uint32_t)MAX(survey->strings, 1);
    t->n_mappings = (uint32_t)survey->mappings + 1;
    t->n_functions = (uint32_t)survey->functions + 1;
    t->n_frames = (uint32_t)survey->locations + 1;
    t->strings = ARENA_ARRAY(arena, struct slice, t->n_strings, err);
    t->mappings = t->strings ? ARENA_ARRAY(arena, struct mapping, t->n_mappings, err) : NULL;
    t->functions = t->mappings ? ARENA_ARRAY(arena, struct function, t->n_functions, err) : NULL;
    t->frames = t->functions ? ARENA_ARRAY(arena, struct frame, t->n_frames, err) : NULL;
    d->mapping_ids = t->frames ? ARENA_ARRAY(arena, uint64_t, t->n_mappings, err) : NULL;
    d->function_ids = d->mapping_ids ? ARENA_ARRAY(arena, uint64_t, t->n_functions, err) : NULL;
    d->location_ids = d->function_ids ? ARENA_ARRAY(arena, uint64_t, t->n_frames, err) : NULL;
    d->locations = d->location_ids ? ARENA_ARRAY(arena, struct slice, survey->locations, err) : NULL;
    d->samples = d->locations ? ARENA_ARRAY(arena, struct slice, survey->samples, err) : NULL;
    if (!d->samples)
        return -1;
    t->mappings[0] = (struct mapping){ 0 };
    t->functions[0] = (struct function){ 0 };
    t->frames[0] = (struct frame){ 0 };
    return 0;
}

static int make_profile(struct pprof_decoder *d, struct error *err)
{
    struct arena *arena = &d->batch->arena;
    struct profile *p = ARENA_NEW(arena, struct profile, err);

    if (!p)
        return -1;
    d->profile = p;
    d->batch->profiles = p;
    p->tables = d->tables;
    p->types = ARENA_ARRAY(arena, struct value_type, d->survey.types, err);
    p->comments = p->types ? ARENA_ARRAY(arena, uint32_t, d->survey.comments, err) : NULL;
    return p->comments ? 0 : -1;
}

static void decode_value_type(struct pprof_decoder *d, struct protobuf_reader *outer, const char *what, uint32_t index,
                              struct value_type *type)
{
    struct protobuf_reader r = protobuf_message(outer);
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        switch (tag) {
        case PPROF_VARINT(PPROF_VALUE_TYPE_TYPE): type->type = string_id(d, protobuf_varint(&r), what, index); break;
        case PPROF_VARINT(PPROF_VALUE_TYPE_UNIT): type->unit = string_id(d, protobuf_varint(&r), what, index); break;
        default: protobuf_skip_unknown(&r, tag, PPROF_VALUE_TYPE_UNIT);
        }
    }
    protobuf_leave(outer, &r);
}

static void decode_mapping(struct pprof_decoder *d, struct protobuf_reader *outer)
{
    struct protobuf_reader r = protobuf_message(outer);
    struct mapping mapping = { 0 };
    uint32_t entry = ++d->n_mappings;
    uint64_t id = 0;
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        switch (tag) {
        case PPROF_VARINT(PPROF_MAPPING_ID): id = protobuf_varint(&r); break;
        case PPROF_VARINT(PPROF_MAPPING_MEMORY_START): mapping.start = protobuf_varint(&r); break;
        case PPROF_VARINT(PPROF_MAPPING_MEMORY_LIMIT): mapping.limit = protobuf_varint(&r); break;
        case PPROF_VARINT(PPROF_MAPPING_FILE_OFFSET): mapping.offset = protobuf_varint(&r); break;
        case PPROF_VARINT(PPROF_MAPPING_FILENAME):
            mapping.file = string_id(d, protobuf_varint(&r), "mapping", entry - 1);
            break;
        case PPROF_VARINT(PPROF_MAPPING_BUILD_ID):
            mapping.build_id = string_id(d, protobuf_varint(&r), "mapping", entry - 1);
            break;
        case PPROF_VARINT(PPROF_MAPPING_FIRST_FLAG):
        case PPROF_VARINT(PPROF_MAPPING_FIRST_FLAG + 1):
        case PPROF_VARINT(PPROF_MAPPING_FIRST_FLAG + 2):
        case PPROF_VARINT(PPROF_MAPPING_LAST_FLAG): {
            uint32_t flag = 1u << (PROTOBUF_FIELD(tag) - PPROF_MAPPING_FIRST_FLAG);

            mapping.flags = protobuf_varint(&r) ? mapping.flags | flag : mapping.flags & ~flag;
            break;
        }
        default: protobuf_skip_unknown(&r, tag, PPROF_MAPPING_LAST_FLAG);
        }
    }
    d->tables->mappings[entry] = mapping;
    d->mapping_ids[entry] = id;
    protobuf_leave(outer, &r);
}

static PPROF_COLD struct protobuf_reader decode_function(struct pprof_decoder *d, struct slice bytes, uint32_t entry)
{
    struct protobuf_reader r = protobuf_reader_of(bytes);
    struct function function = { 0 };
    uint64_t id = 0;
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        switch (tag) {
        case PPROF_VARINT(PPROF_FUNCTION_ID): id = protobuf_varint(&r); break;
        case PPROF_VARINT(PPROF_FUNCTION_NAME):
            function.name = string_id(d, protobuf_varint(&r), "function", entry - 1);
            break;
        case PPROF_VARINT(PPROF_FUNCTION_SYSTEM_NAME):
            function.system_name = string_id(d, protobuf_varint(&r), "function", entry - 1);
            break;
        case PPROF_VARINT(PPROF_FUNCTION_FILENAME):
            function.file = string_id(d, protobuf_varint(&r), "function", entry - 1);
            break;
        case PPROF_VARINT(PPROF_FUNCTION_START_LINE):
            function.start_line = line_number(d, protobuf_varint(&r), "function", entry - 1);
            break;
        default: protobuf_skip_unknown(&r, tag, PPROF_FUNCTION_START_LINE);
        }
    }
    d->tables->functions[entry] = function;
    d->function_ids[entry] = id;
    return r;
}

/* A function of the usual form, else false and nothing done (protobuf.h, "reading at full speed"). */
static inline bool decode_function_fast(struct pprof_decoder *d, struct slice bytes, uint32_t entry)
{
    const uint8_t *at = (const uint8_t *)bytes.ptr, *end = at + bytes.len;
    uint64_t id = 0, name = 0, system_name = 0, file = 0, start_line = 0;

    if (UNLIKELY(!protobuf_has_margin(end, d->bytes)))
        return false;
    if (*at == PPROF_VARINT(PPROF_FUNCTION_ID))
        at = protobuf_varint_unchecked(at + 1, end, &id);
    if (*at == PPROF_VARINT(PPROF_FUNCTION_NAME))
        at = protobuf_varint_unchecked(at + 1, end, &name);
    if (*at == PPROF_VARINT(PPROF_FUNCTION_SYSTEM_NAME))
        at = protobuf_varint_unchecked(at + 1, end, &system_name);
    if (*at == PPROF_VARINT(PPROF_FUNCTION_FILENAME))
        at = protobuf_varint_unchecked(at + 1, end, &file);
    if (*at == PPROF_VARINT(PPROF_FUNCTION_START_LINE))
        at = protobuf_varint_unchecked(at + 1, end, &start_line);
    if (UNLIKELY(at != end || MAX(MAX(name, system_name), file) >= d->tables->n_strings || start_line > UINT32_MAX))
        return false;
    d->tables->functions[entry] = (struct function){
        .name = (uint32_t)name,
        .system_name = (uint32_t)system_name,
        .file = (uint32_t)file,
        .start_line = (uint32_t)start_line,
    };
    d->function_ids[entry] = id;
    return true;
}

static void decode_comment(struct pprof_decoder *d, uint64_t string)
{
    struct profile *p = d->profile;

    p->comments[p->n_comments] = string_id(d, string, "comment", p->n_comments);
    p->n_comments++;
}

static void decode_comments(struct pprof_decoder *d, struct protobuf_reader *outer)
{
    struct protobuf_reader r = protobuf_message(outer);

    while (protobuf_more(&r)) {
        uint64_t string = protobuf_varint(&r);

        if (!r.bad)
            decode_comment(d, string);
    }
    protobuf_leave(outer, &r);
}

/* The fields of the second walk that are few. */
static struct protobuf_reader decode_field(struct pprof_decoder *d, struct protobuf_reader r, uint32_t tag)
{
    struct profile *p = d->profile;

    switch (tag) {
    case PPROF_BYTES(PPROF_PROFILE_SAMPLE_TYPE):
        p->types[p->n_types] = (struct value_type){ 0 };
        decode_value_type(d, &r, "sample_type", p->n_types, &p->types[p->n_types]);
        p->n_types++;
        break;
    case PPROF_BYTES(PPROF_PROFILE_MAPPING): decode_mapping(d, &r); break;
    case PPROF_BYTES(PPROF_PROFILE_PERIOD_TYPE): decode_value_type(d, &r, "period_type", 0, &p->period_type); break;
    case PPROF_VARINT(PPROF_PROFILE_COMMENT): decode_comment(d, protobuf_varint(&r)); break;
    case PPROF_BYTES(PPROF_PROFILE_COMMENT): decode_comments(d, &r); break;
    default: protobuf_skip(&r, tag);
    }
    return r;
}

/* Index 0 means "none", so string 0 must be empty. Where it is not, the writer counted otherwise and every name is wrong. */
static int check_string_zero(struct pprof_decoder *d, struct error *err)
{
    struct slice *zero = &d->tables->strings[0];

    if (d->survey.strings != 0 && zero->len != 0) {
        struct slice head = slice_sub(*zero, 0, 40);

        return error_set(err, ERR_CORRUPT, "pprof: string 0 must be empty, but is '%.*s'", SLICE_ARG(head));
    }
    *zero = SLICE("");
    return 0;
}

/* Notes a run of fields with this tag, the first of which was read already; the place behind the last. */
static inline struct slice *note_run(struct protobuf_reader *r, uint32_t tag, struct slice *note)
{
    do {
        *note++ = protobuf_bytes(r);
    } while (protobuf_again(r, tag));
    return note;
}

static uint64_t location_id(struct slice location)
{
    struct protobuf_reader r = protobuf_reader_of(location);
    uint64_t id = 0;
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        if (tag == PPROF_VARINT(PPROF_LOCATION_ID))
            id = protobuf_varint(&r);
        else
            protobuf_skip(&r, tag);
    }
    return id;
}

/* An old profiler of .NET wrote functions without ids, one for each location and called by the location's id. */
static PPROF_COLD void name_functions(struct pprof_decoder *d)
{
    uint32_t n = d->tables->n_functions;

    for (uint32_t i = 1; i < n; i++)
        if (d->function_ids[i] != 0)
            return;
    for (uint32_t i = 1; i < n; i++)
        d->function_ids[i] = location_id(d->locations[i - 1]);
    report_add(&d->batch->report, "functions have no ids; those of their locations taken", n - 1, "%u functions",
               n - 1);
}

static PPROF_STEP int decode_tables(struct pprof_decoder *d, struct error *err)
{
    struct protobuf_reader r = protobuf_reader_of(d->bytes);
    struct slice *string = d->tables->strings, *location = d->locations, *sample = d->samples;
    uint32_t n_functions = 0;
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        switch (tag) {
        case PPROF_BYTES(PPROF_PROFILE_STRING_TABLE): string = note_run(&r, tag, string); break;
        case PPROF_BYTES(PPROF_PROFILE_FUNCTION): {
            struct slice function = protobuf_bytes(&r);

            if (UNLIKELY(!decode_function_fast(d, function, ++n_functions))) {
                struct protobuf_reader slow = decode_function(d, function, n_functions);

                protobuf_leave(&r, &slow);
            }
            break;
        }
        case PPROF_BYTES(PPROF_PROFILE_LOCATION): location = note_run(&r, tag, location); break;
        case PPROF_BYTES(PPROF_PROFILE_SAMPLE): sample = note_run(&r, tag, sample); break;
        default: r = decode_field(d, r, tag);
        }
    }
    if (r.bad)
        return pprof_explain(d->bytes, &r, err);
    if (check_string_zero(d, err) < 0)
        return -1;
    if (d->tables->n_functions > 1 && d->function_ids[1] == 0 && d->tables->n_functions == d->tables->n_frames)
        name_functions(d);
    if (build_index(d, "mapping", d->mapping_ids, d->tables->n_mappings, &d->mappings, err) < 0 ||
        build_index(d, "function", d->function_ids, d->tables->n_functions, &d->functions, err) < 0)
        return -1;
    return 0;
}

/* --- frames --- */

static PPROF_COLD void reference_missing(struct pprof_decoder *d, const char *kind, const char *what, uint64_t id,
                                         uint32_t entry)
{
    report_add(&d->batch->report, kind, 1, "location %u, %s %llu", entry - 1, what, (unsigned long long)id);
}

/* False when it names no function that exists; then it says nothing and is dropped. */
static bool decode_line(struct pprof_decoder *d, struct protobuf_reader *outer, uint32_t entry, struct line *ret_line)
{
    struct protobuf_reader r = protobuf_message(outer);
    struct line line = { 0 };
    uint64_t function = 0;
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        switch (tag) {
        case PPROF_VARINT(PPROF_LINE_FUNCTION_ID): function = protobuf_varint(&r); break;
        case PPROF_VARINT(PPROF_LINE_LINE):
            line.line = line_number(d, protobuf_varint(&r), "location", entry - 1);
            break;
        case PPROF_VARINT(PPROF_LINE_COLUMN):
            line.column = line_number(d, protobuf_varint(&r), "location", entry - 1);
            break;
        default: protobuf_skip_unknown(&r, tag, PPROF_LINE_COLUMN);
        }
    }
    protobuf_leave(outer, &r);
    line.function = pprof_find(&d->functions, function);
    if (line.function == 0) {
        reference_missing(d, "line refers to a missing function; line dropped", "function", function, entry);
        return false;
    }
    *ret_line = line;
    return true;
}

/* The lines of all frames, in one array that grows: how many there are is not worth a walk of its own. */
struct lines {
    struct line *items;
    uint64_t n;
    uint64_t capacity;
};

static PPROF_COLD int grow_lines(struct arena *arena, struct lines *lines, struct error *err)
{
    uint64_t capacity = lines->capacity + lines->capacity / 2 + 64;
    struct line *items;

    if (lines->n >= UINT32_MAX)
        return error_set(err, ERR_LIMIT, "pprof: more than %u lines in all locations", UINT32_MAX);
    items = arena_resize(arena, lines->items, lines->capacity * sizeof(*items), capacity * sizeof(*items), err);
    if (!items)
        return -1;
    lines->items = items;
    lines->capacity = capacity;
    return 0;
}

static PPROF_COLD void lines_cut(struct pprof_decoder *d, uint32_t entry, uint32_t max)
{
    report_add(&d->batch->report, "location has more lines than allowed; the outermost are cut", 1,
               "location %u, over %u", entry - 1, max);
}

static PPROF_COLD int decode_location(struct pprof_decoder *d, struct protobuf_reader *failed, uint32_t entry,
                                      struct lines *lines, uint32_t max_lines, struct error *err)
{
    struct protobuf_reader r = protobuf_reader_of(d->locations[entry - 1]);
    struct frame frame = { .first_line = (uint32_t)lines->n };
    uint32_t tag, n_lines = 0;
    uint64_t id = 0;

    while (protobuf_next(&r, &tag)) {
        switch (tag) {
        case PPROF_VARINT(PPROF_LOCATION_ID): id = protobuf_varint(&r); break;
        case PPROF_VARINT(PPROF_LOCATION_MAPPING_ID): {
            uint64_t mapping = protobuf_varint(&r);

            frame.mapping = pprof_find(&d->mappings, mapping);
            if (UNLIKELY(frame.mapping == 0 && mapping != 0))
                reference_missing(d, "location refers to a missing mapping; left without", "mapping", mapping, entry);
            break;
        }
        case PPROF_VARINT(PPROF_LOCATION_ADDRESS): frame.address = protobuf_varint(&r); break;
        case PPROF_BYTES(PPROF_LOCATION_LINE):
            if (UNLIKELY(n_lines >= max_lines)) {
                (void)protobuf_bytes(&r);
                lines_cut(d, entry, max_lines);
                break;
            }
            if (UNLIKELY(lines->n == lines->capacity) && grow_lines(&d->batch->arena, lines, err) < 0)
                return -1;
            if (decode_line(d, &r, entry, &lines->items[lines->n])) {
                lines->n++;
                n_lines++;
            }
            break;
        case PPROF_VARINT(PPROF_LOCATION_IS_FOLDED): frame.flags = protobuf_varint(&r) ? FRAME_IS_FOLDED : 0; break;
        default: protobuf_skip_unknown(&r, tag, PPROF_LOCATION_IS_FOLDED);
        }
    }
    frame.n_lines = (uint16_t)n_lines;
    d->tables->frames[entry] = frame;
    d->location_ids[entry] = id;
    protobuf_leave(failed, &r);
    return 0;
}

/* Lines of a location of the usual form, at most. */
#define USUAL_LINES 8u

/* A line of the usual form, else false. */
static inline bool decode_line_fast(const struct pprof_decoder *d, const uint8_t *at, const uint8_t *end,
                                    struct line *ret_line)
{
    uint64_t function = 0, line = 0, column = 0;

    if (*at == PPROF_VARINT(PPROF_LINE_FUNCTION_ID))
        at = protobuf_varint_unchecked(at + 1, end, &function);
    if (*at == PPROF_VARINT(PPROF_LINE_LINE))
        at = protobuf_varint_unchecked(at + 1, end, &line);
    if (UNLIKELY(*at == PPROF_VARINT(PPROF_LINE_COLUMN)))
        at = protobuf_varint_unchecked(at + 1, end, &column);
    *ret_line = (struct line){
        .function = pprof_find(&d->functions, function),
        .line = (uint32_t)line,
        .column = (uint32_t)column,
    };
    return at == end && (line | column) <= UINT32_MAX && ret_line->function != 0;
}

/* A location of the usual form, else false and nothing done. It is short, so that lengths of one byte cannot lie. */
static inline bool decode_location_fast(struct pprof_decoder *d, uint32_t entry, struct lines *lines,
                                        uint32_t max_lines)
{
    struct slice bytes = d->locations[entry - 1];
    const uint8_t *at = (const uint8_t *)bytes.ptr, *end = at + bytes.len;
    struct line *line = lines->items + lines->n;
    uint64_t id = 0, mapping = 0, address = 0;
    uint32_t n_lines = 0, mapping_entry;

    if (UNLIKELY(bytes.len >= 0x80 || !protobuf_has_margin(end, d->bytes) || lines->capacity - lines->n < USUAL_LINES))
        return false;
    if (*at == PPROF_VARINT(PPROF_LOCATION_ID))
        at = protobuf_varint_unchecked(at + 1, end, &id);
    if (*at == PPROF_VARINT(PPROF_LOCATION_MAPPING_ID))
        at = protobuf_varint_unchecked(at + 1, end, &mapping);
    if (*at == PPROF_VARINT(PPROF_LOCATION_ADDRESS))
        at = protobuf_varint_unchecked(at + 1, end, &address);
    while (at < end && *at == PPROF_BYTES(PPROF_LOCATION_LINE)) {
        uint8_t len = at[1];

        at += 2;
        if (UNLIKELY(len > end - at || n_lines >= max_lines || !decode_line_fast(d, at, at + len, line++)))
            return false;
        at += len;
        n_lines++;
    }
    mapping_entry = pprof_find(&d->mappings, mapping);
    if (UNLIKELY(at != end || (mapping_entry == 0 && mapping != 0)))
        return false;
    d->tables->frames[entry] = (struct frame){
        .address = address,
        .mapping = mapping_entry,
        .first_line = (uint32_t)lines->n,
        .n_lines = (uint16_t)n_lines,
    };
    d->location_ids[entry] = id;
    lines->n += n_lines;
    return true;
}

static PPROF_STEP int decode_frames(struct pprof_decoder *d, struct error *err)
{
    struct tables *t = d->tables;
    struct protobuf_reader failed = { 0 };
    struct lines lines = { .capacity = t->n_frames + t->n_frames / 4 + USUAL_LINES };
    uint32_t max_lines = MIN(d->batch->limits.max_depth, UINT16_MAX);

    lines.items = ARENA_ARRAY(&d->batch->arena, struct line, lines.capacity, err);
    if (!lines.items)
        return -1;
    for (uint32_t entry = 1; entry < t->n_frames && !failed.bad; entry++)
        if (UNLIKELY(!decode_location_fast(d, entry, &lines, MIN(max_lines, USUAL_LINES))) &&
            decode_location(d, &failed, entry, &lines, max_lines, err) < 0)
            return -1;
    if (failed.bad)
        return pprof_explain(d->bytes, &failed, err);
    t->lines = arena_resize(&d->batch->arena, lines.items, lines.capacity * sizeof(*lines.items),
                            lines.n * sizeof(*lines.items), err);
    t->n_lines = (uint32_t)lines.n;
    return t->lines ? build_index(d, "location", d->location_ids, t->n_frames, &d->frames, err) : -1;
}

/* --- the profile --- */

static void decode_default_type(struct pprof_decoder *d)
{
    struct profile *p = d->profile;
    struct slice name = tables_string(d->tables, string_id(d, d->survey.default_type, "default_sample_type", 0));

    p->default_type = PROFILE_NO_TYPE;
    if (name.len == 0)
        return;
    for (uint32_t i = 0; i < p->n_types; i++) {
        if (slice_equal(tables_string(d->tables, p->types[i].type), name)) {
            p->default_type = i;
            return;
        }
    }
    report_add(&d->batch->report, "default_sample_type names no sample type; ignored", 1, "'%.*s'", SLICE_ARG(name));
}

static void decode_header(struct pprof_decoder *d)
{
    const struct pprof_survey *survey = &d->survey;
    struct profile *p = d->profile;

    p->start_ns = (int64_t)survey->time_nanos;
    p->duration_ns = (int64_t)survey->duration_nanos;
    p->period = (int64_t)survey->period;
    p->drop_frames = string_id(d, survey->drop_frames, "drop_frames", 0);
    p->keep_frames = string_id(d, survey->keep_frames, "keep_frames", 0);
    p->doc_url = string_id(d, survey->doc_url, "doc_url", 0);
    decode_default_type(d);
    value_type_describe_all(p->types, p->n_types, d->tables, p->duration_ns);
    value_type_describe_all(&p->period_type, 1, d->tables, p->duration_ns);
}

int pprof_decode(struct slice bytes, struct batch *batch, struct error *err)
{
    AUTO(decoder_done) struct pprof_decoder d = { .bytes = bytes, .batch = batch, .tables = &batch->tables };

    if (bytes.len == 0)
        return error_set(err, ERR_CORRUPT, "pprof: the input is empty");
    map_init(&d.mappings.sparse, 0);
    map_init(&d.functions.sparse, 0);
    map_init(&d.frames.sparse, 0);
    if (survey_all(&d, err) < 0 || make_tables(&d, err) < 0 || make_profile(&d, err) < 0 ||
        decode_tables(&d, err) < 0 || decode_frames(&d, err) < 0)
        return -1;
    if (d.survey.strings == 0) /* it comes last in most files, so it is what a cut one lacks */
        return error_set(err, ERR_CORRUPT,
                         "pprof: there is no string table, so nothing has a name; was the file cut short?");
    decode_header(&d);
    if (pprof_decode_samples(&d, err) < 0)
        return -1;
    batch->n_profiles = 1;
    return 0;
}
