// SPDX-License-Identifier: Apache-2.0
/* Reading pprof. Fields come in any order and interleaved, so that nothing can be resolved on the way. Hence:
 *
 *   walk       one walk over the top-level fields takes the scalars and notes where the others are; limits are checked
 *   tables     types, mappings and functions, now that the strings are known; their tables have the exact size at once
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
    map_done(&d->mappings_by_id.sparse);
    map_done(&d->functions_by_id.sparse);
    map_done(&d->frames_by_id.sparse);
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

/* Finds entries 1 to `n` - 1 by their ids, when these are not just 1 to n - 1 in order. */
static int index_ids(struct pprof_decoder *d, const char *what, const uint64_t *ids, uint32_t n,
                     struct pprof_ids *index, struct error *err)
{
    uint64_t repeated = 0, absent = 0, example = 0, max = 0;

    for (uint32_t entry = 1; entry < n; entry++)
        max = MAX(max, ids[entry]);
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

/* `is_sequence`: each id is its entry. */
static int build_index(struct pprof_decoder *d, const char *what, const uint64_t *ids, uint32_t n, bool is_sequence,
                       struct pprof_ids *index, struct error *err)
{
    if (UNLIKELY(!is_sequence))
        return index_ids(d, what, ids, n, index, err);
    index->n = n;
    return 0;
}

/* --- the walk --- */

static void decoder_init(struct pprof_decoder *d)
{
    const struct profile_limits *limits = &d->batch->limits;
    const uint64_t max_entries = UINT32_MAX - 1; /* ids are 32-bit and 0 is taken */

    d->strings = (struct pprof_notes){ .what = "strings", .max = MIN(limits->max_strings, max_entries) };
    d->samples = (struct pprof_notes){ .what = "samples", .max = MIN(limits->max_samples, max_entries) };
    d->types = (struct pprof_notes){ .what = "sample types", .max = PROFILE_MAX_TYPES };
    d->period_types = (struct pprof_notes){ .what = "period types", .max = max_entries };
    d->mappings = (struct pprof_notes){ .what = "mappings", .max = max_entries };
    d->locations = (struct pprof_notes){ .what = "locations", .max = max_entries };
    d->functions = (struct pprof_notes){ .what = "functions", .max = max_entries };
    d->comments = (struct pprof_notes){ .what = "comments", .max = max_entries };
    map_init(&d->mappings_by_id.sparse, 0);
    map_init(&d->functions_by_id.sparse, 0);
    map_init(&d->frames_by_id.sparse, 0);
}

/* Where fields with this tag are noted; NULL: it is a scalar or unknown. */
static inline struct pprof_notes *notes_of(struct pprof_decoder *d, uint32_t tag)
{
    switch (tag) {
    case PPROF_BYTES(PPROF_PROFILE_SAMPLE_TYPE): return &d->types;
    case PPROF_BYTES(PPROF_PROFILE_SAMPLE): return &d->samples;
    case PPROF_BYTES(PPROF_PROFILE_MAPPING): return &d->mappings;
    case PPROF_BYTES(PPROF_PROFILE_LOCATION): return &d->locations;
    case PPROF_BYTES(PPROF_PROFILE_FUNCTION): return &d->functions;
    case PPROF_BYTES(PPROF_PROFILE_STRING_TABLE): return &d->strings;
    case PPROF_BYTES(PPROF_PROFILE_PERIOD_TYPE): return &d->period_types;
    case PPROF_BYTES(PPROF_PROFILE_COMMENT): return &d->comments;
    default: return NULL;
    }
}

/* One more than is allowed: says how many there are. */
static PPROF_COLD int too_many(struct pprof_decoder *d, const struct pprof_notes *notes, struct error *err)
{
    struct protobuf_reader r = protobuf_reader_of(d->bytes);
    unsigned long long n = 0;
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        n += notes_of(d, tag) == notes;
        protobuf_skip(&r, tag);
    }
    return error_set(err, ERR_LIMIT, "pprof: %llu %s, the limit is %llu", n, notes->what,
                     (unsigned long long)notes->max);
}

/* Room for one more note at least. First as many as there usually are in so many bytes; never more than the bytes that
 * are left can hold. */
static PPROF_COLD int grow_notes(struct pprof_decoder *d, struct pprof_notes *notes, size_t left_bytes,
                                 struct error *err)
{
    uint64_t usual = d->bytes.len / 64 + 8;
    uint64_t capacity = notes->n + MIN(notes->n ? notes->n : usual, left_bytes / 2 + 1);
    struct slice *items;

    if (notes->n == notes->max)
        return too_many(d, notes, err);
    capacity = MIN(capacity, notes->max);
    items =
        arena_resize(&d->batch->arena, notes->items, notes->capacity * sizeof(*items), capacity * sizeof(*items), err);
    if (!items)
        return -1;
    notes->items = items;
    notes->capacity = capacity;
    return 0;
}

/* Notes a run of fields with this tag, the first of which was read already. */
static inline int note_run(struct pprof_decoder *d, struct protobuf_reader *outer, uint32_t tag,
                           struct pprof_notes *notes, struct error *err)
{
    struct protobuf_reader r = *outer; /* a copy of which nobody else has the address can live in registers */
    bool is_same;

    do {
        struct slice *next, *end;

        if (UNLIKELY(notes->n == notes->capacity) && grow_notes(d, notes, (size_t)(r.end - r.at), err) < 0)
            return -1;
        next = notes->items + notes->n;
        end = notes->items + notes->capacity;
        do {
            *next++ = protobuf_bytes(&r);
            is_same = protobuf_again(&r, tag);
        } while (is_same && next < end);
        notes->n = (uint64_t)(next - notes->items);
    } while (UNLIKELY(is_same));
    *outer = r;
    return 0;
}

/* A comment on its own is one of packed integers, alone. */
static int note_comment(struct pprof_decoder *d, struct protobuf_reader *r, struct error *err)
{
    const uint8_t *start = r->at;

    if (d->comments.n == d->comments.capacity && grow_notes(d, &d->comments, (size_t)(r->end - r->at), err) < 0)
        return -1;
    (void)protobuf_varint(r);
    d->comments.items[d->comments.n++] = slice_of(start, (size_t)(r->at - start));
    return 0;
}

static struct protobuf_reader read_scalar(struct protobuf_reader r, uint32_t tag, struct pprof_scalars *scalars)
{
    switch (tag) {
    case PPROF_VARINT(PPROF_PROFILE_DROP_FRAMES): scalars->drop_frames = protobuf_varint(&r); break;
    case PPROF_VARINT(PPROF_PROFILE_KEEP_FRAMES): scalars->keep_frames = protobuf_varint(&r); break;
    case PPROF_VARINT(PPROF_PROFILE_TIME_NANOS):
        scalars->is_concatenated |= scalars->time_nanos != 0;
        scalars->time_nanos = protobuf_varint(&r);
        break;
    case PPROF_VARINT(PPROF_PROFILE_DURATION_NANOS): scalars->duration_nanos = protobuf_varint(&r); break;
    case PPROF_VARINT(PPROF_PROFILE_PERIOD): scalars->period = protobuf_varint(&r); break;
    case PPROF_VARINT(PPROF_PROFILE_DEFAULT_SAMPLE_TYPE): scalars->default_type = protobuf_varint(&r); break;
    case PPROF_VARINT(PPROF_PROFILE_DOC_URL): scalars->doc_url = protobuf_varint(&r); break;
    default: protobuf_skip_unknown(&r, tag, PPROF_PROFILE_DOC_URL);
    }
    return r;
}

static PPROF_STEP int walk(struct pprof_decoder *d, struct error *err)
{
    struct protobuf_reader r = protobuf_reader_of(d->bytes);
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        struct pprof_notes *notes = notes_of(d, tag);

        if (LIKELY(notes)) {
            if (note_run(d, &r, tag, notes, err) < 0)
                return -1;
        } else if (tag == PPROF_VARINT(PPROF_PROFILE_COMMENT)) {
            if (note_comment(d, &r, err) < 0)
                return -1;
        } else {
            r = read_scalar(r, tag, &d->scalars);
        }
    }
    if (r.bad)
        return pprof_explain(d->bytes, &r, err);
    if (d->scalars.is_concatenated)
        return error_set(err, ERR_CORRUPT,
                         "pprof: time_nanos occurs twice: these are several profiles glued together; give them apart");
    if (d->types.n == 0 && d->samples.n != 0)
        return error_set(err, ERR_CORRUPT, "pprof: %llu samples but no sample_type that says what their values are",
                         (unsigned long long)d->samples.n);
    return 0;
}

/* --- tables --- */

/* The strings are where they were noted. Index 0 means "none", so string 0 must be empty. Where it is not, the writer
 * counted otherwise and every name is wrong. */
static int take_strings(struct pprof_decoder *d, struct error *err)
{
    struct tables *t = d->tables;

    if (d->strings.n == 0)
        return 0; /* the one of the empty tables */
    if (d->strings.items[0].len != 0) {
        struct slice head = slice_sub(d->strings.items[0], 0, 40);

        return error_set(err, ERR_CORRUPT, "pprof: string 0 must be empty, but is '%.*s'", SLICE_ARG(head));
    }
    d->strings.items[0] = SLICE("");
    t->strings = d->strings.items;
    t->n_strings = (uint32_t)d->strings.n;
    return 0;
}

static int make_tables(struct pprof_decoder *d, struct error *err)
{
    struct arena *arena = &d->batch->arena;
    struct tables *t = d->tables;

    if (tables_init_empty(t, arena, err) < 0 || take_strings(d, err) < 0)
        return -1;
    t->n_mappings = (uint32_t)d->mappings.n + 1;
    t->n_functions = (uint32_t)d->functions.n + 1;
    t->n_frames = (uint32_t)d->locations.n + 1;
    t->mappings = ARENA_ARRAY(arena, struct mapping, t->n_mappings, err);
    t->functions = t->mappings ? ARENA_ARRAY(arena, struct function, t->n_functions, err) : NULL;
    t->frames = t->functions ? ARENA_ARRAY(arena, struct frame, t->n_frames, err) : NULL;
    d->mapping_ids = t->frames ? ARENA_ARRAY(arena, uint64_t, t->n_mappings, err) : NULL;
    d->function_ids = d->mapping_ids ? ARENA_ARRAY(arena, uint64_t, t->n_functions, err) : NULL;
    d->location_ids = d->function_ids ? ARENA_ARRAY(arena, uint64_t, t->n_frames, err) : NULL;
    if (!d->location_ids)
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
    uint64_t n_comments = 0;

    if (!p)
        return -1;
    d->profile = p;
    d->batch->profiles = p;
    p->tables = d->tables;
    for (uint64_t i = 0; i < d->comments.n; i++)
        n_comments += protobuf_count_varints(d->comments.items[i]);
    if (n_comments > d->comments.max)
        return error_set(err, ERR_LIMIT, "pprof: %llu comments, the limit is %llu", (unsigned long long)n_comments,
                         (unsigned long long)d->comments.max);
    p->types = ARENA_ARRAY(arena, struct value_type, d->types.n, err);
    p->comments = p->types ? ARENA_ARRAY(arena, uint32_t, n_comments, err) : NULL;
    return p->comments ? 0 : -1;
}

/* These, and the steps below, note in `failed` what is wrong with the bytes. */
static void decode_value_type(struct pprof_decoder *d, struct slice bytes, const char *what, uint32_t index,
                              struct protobuf_reader *failed, struct value_type *type)
{
    struct protobuf_reader r = protobuf_reader_of(bytes);
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        switch (tag) {
        case PPROF_VARINT(PPROF_VALUE_TYPE_TYPE): type->type = string_id(d, protobuf_varint(&r), what, index); break;
        case PPROF_VARINT(PPROF_VALUE_TYPE_UNIT): type->unit = string_id(d, protobuf_varint(&r), what, index); break;
        default: protobuf_skip_unknown(&r, tag, PPROF_VALUE_TYPE_UNIT);
        }
    }
    protobuf_leave(failed, &r);
}

static void decode_mapping(struct pprof_decoder *d, struct protobuf_reader *failed, uint32_t entry)
{
    struct protobuf_reader r = protobuf_reader_of(d->mappings.items[entry - 1]);
    struct mapping mapping = { 0 };
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
    protobuf_leave(failed, &r);
}

static PPROF_COLD void decode_function(struct pprof_decoder *d, struct protobuf_reader *failed, uint32_t entry)
{
    struct protobuf_reader r = protobuf_reader_of(d->functions.items[entry - 1]);
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
    protobuf_leave(failed, &r);
}

/* A function of the usual form, else false and nothing done (protobuf.h, "reading at full speed"). */
static inline bool decode_function_fast(struct pprof_decoder *d, uint32_t entry)
{
    struct slice bytes = d->functions.items[entry - 1];
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

static void decode_comments(struct pprof_decoder *d, struct slice packed, struct protobuf_reader *failed)
{
    struct protobuf_reader r = protobuf_reader_of(packed);

    while (protobuf_more(&r)) {
        uint64_t string = protobuf_varint(&r);

        if (!r.bad)
            decode_comment(d, string);
    }
    protobuf_leave(failed, &r);
}

/* What there is little of. */
static int decode_few(struct pprof_decoder *d, struct error *err)
{
    struct protobuf_reader failed = { 0 };
    struct profile *p = d->profile;
    bool is_sequence = true;

    for (; p->n_types < d->types.n; p->n_types++) {
        p->types[p->n_types] = (struct value_type){ 0 };
        decode_value_type(d, d->types.items[p->n_types], "sample_type", p->n_types, &failed, &p->types[p->n_types]);
    }
    for (uint64_t i = 0; i < d->period_types.n; i++)
        decode_value_type(d, d->period_types.items[i], "period_type", 0, &failed, &p->period_type);
    for (uint64_t i = 0; i < d->comments.n; i++)
        decode_comments(d, d->comments.items[i], &failed);
    for (uint32_t entry = 1; entry < d->tables->n_mappings; entry++) {
        decode_mapping(d, &failed, entry);
        is_sequence &= d->mapping_ids[entry] == entry;
    }
    if (failed.bad)
        return pprof_explain(d->bytes, &failed, err);
    return build_index(d, "mapping", d->mapping_ids, d->tables->n_mappings, is_sequence, &d->mappings_by_id, err);
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
        d->function_ids[i] = location_id(d->locations.items[i - 1]);
    report_add(&d->batch->report, "functions have no ids; those of their locations taken", n - 1, "%u functions",
               n - 1);
}

static PPROF_STEP int decode_functions(struct pprof_decoder *d, struct error *err)
{
    struct protobuf_reader failed = { 0 };
    uint32_t n = d->tables->n_functions;
    bool is_sequence = true;

    for (uint32_t entry = 1; entry < n; entry++) {
        if (UNLIKELY(!decode_function_fast(d, entry)))
            decode_function(d, &failed, entry);
        is_sequence &= d->function_ids[entry] == entry;
    }
    if (failed.bad)
        return pprof_explain(d->bytes, &failed, err);
    if (n > 1 && d->function_ids[1] == 0 && n == d->tables->n_frames)
        name_functions(d);
    return build_index(d, "function", d->function_ids, n, is_sequence, &d->functions_by_id, err);
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
    line.function = pprof_find(&d->functions_by_id, function);
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
    struct protobuf_reader r = protobuf_reader_of(d->locations.items[entry - 1]);
    struct frame frame = { .first_line = (uint32_t)lines->n };
    uint32_t tag, n_lines = 0;
    uint64_t id = 0;

    while (protobuf_next(&r, &tag)) {
        switch (tag) {
        case PPROF_VARINT(PPROF_LOCATION_ID): id = protobuf_varint(&r); break;
        case PPROF_VARINT(PPROF_LOCATION_MAPPING_ID): {
            uint64_t mapping = protobuf_varint(&r);

            frame.mapping = pprof_find(&d->mappings_by_id, mapping);
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
        .function = pprof_find(&d->functions_by_id, function),
        .line = (uint32_t)line,
        .column = (uint32_t)column,
    };
    return at == end && (line | column) <= UINT32_MAX && ret_line->function != 0;
}

/* A location of the usual form, else false and nothing done. It is short, so that lengths of one byte cannot lie. */
static inline bool decode_location_fast(struct pprof_decoder *d, uint32_t entry, struct lines *lines,
                                        uint32_t max_lines)
{
    struct slice bytes = d->locations.items[entry - 1];
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
    mapping_entry = pprof_find(&d->mappings_by_id, mapping);
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
    bool is_sequence = true;

    lines.items = ARENA_ARRAY(&d->batch->arena, struct line, lines.capacity, err);
    if (!lines.items)
        return -1;
    for (uint32_t entry = 1; entry < t->n_frames; entry++) {
        if (UNLIKELY(!decode_location_fast(d, entry, &lines, MIN(max_lines, USUAL_LINES))) &&
            decode_location(d, &failed, entry, &lines, max_lines, err) < 0)
            return -1;
        is_sequence &= d->location_ids[entry] == entry;
    }
    if (failed.bad)
        return pprof_explain(d->bytes, &failed, err);
    t->lines = arena_resize(&d->batch->arena, lines.items, lines.capacity * sizeof(*lines.items),
                            lines.n * sizeof(*lines.items), err);
    t->n_lines = (uint32_t)lines.n;
    if (!t->lines)
        return -1;
    return build_index(d, "location", d->location_ids, t->n_frames, is_sequence, &d->frames_by_id, err);
}

/* --- the profile --- */

static void decode_default_type(struct pprof_decoder *d)
{
    struct profile *p = d->profile;
    struct slice name = tables_string(d->tables, string_id(d, d->scalars.default_type, "default_sample_type", 0));

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
    const struct pprof_scalars *scalars = &d->scalars;
    struct profile *p = d->profile;

    p->start_ns = (int64_t)scalars->time_nanos;
    p->duration_ns = (int64_t)scalars->duration_nanos;
    p->period = (int64_t)scalars->period;
    p->drop_frames = string_id(d, scalars->drop_frames, "drop_frames", 0);
    p->keep_frames = string_id(d, scalars->keep_frames, "keep_frames", 0);
    p->doc_url = string_id(d, scalars->doc_url, "doc_url", 0);
    decode_default_type(d);
    value_type_describe_all(p->types, p->n_types, d->tables, p->duration_ns);
    value_type_describe_all(&p->period_type, 1, d->tables, p->duration_ns);
}

int pprof_decode(struct slice bytes, struct batch *batch, struct error *err)
{
    AUTO(decoder_done) struct pprof_decoder d = { .bytes = bytes, .batch = batch, .tables = &batch->tables };

    if (bytes.len == 0)
        return error_set(err, ERR_CORRUPT, "pprof: the input is empty");
    decoder_init(&d);
    if (walk(&d, err) < 0 || make_tables(&d, err) < 0 || make_profile(&d, err) < 0 || decode_few(&d, err) < 0 ||
        decode_functions(&d, err) < 0 || decode_frames(&d, err) < 0)
        return -1;
    if (d.strings.n == 0) /* it comes last in most files, so it is what a cut one lacks */
        return error_set(err, ERR_CORRUPT,
                         "pprof: there is no string table, so nothing has a name; was the file cut short?");
    decode_header(&d);
    if (pprof_decode_samples(&d, err) < 0)
        return -1;
    batch->n_profiles = 1;
    return 0;
}
