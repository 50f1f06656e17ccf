// SPDX-License-Identifier: Apache-2.0
/* Many clients at once: puts the requests of bench_requests.c, or one request again and again, to a server on this machine
 * and tells what that cost it.
 *
 *     senders [-connections N] [-rate R] [-count N] [-skip N] [-grpc yes] [-one yes] [-seconds N]
 *             -pid PID -port PORT FILE
 *
 * Each connection is kept and has one request under way at a time. Without -rate they are always busy (a closed loop):
 * the next request goes out when the last one is answered. With -rate requests come at random times, R a second on
 * average, whatever the server does (an open loop), and wait where all connections are busy; a request's time counts
 * from the moment it came, not from when it could be sent. With -skip the first N requests of the file are passed over.
 * With -one the file is a single HTTP/1.1 request, as it is on the wire, which is sent -count times. With -seconds no
 * request begins later than that.
 *
 * Prints "name value" lines: the server's CPU seconds per 1,000 requests and its memory, from /proc; the times from
 * request to answer; how many answers had which status; and what this program took itself, since it shares the
 * processors with the server. */
#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/slice.h"
#include "measure.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define MAX_CONNECTIONS  10000
#define MAX_ANSWER_BYTES 8192
#define MAX_STATUS       600
#define MAX_GRPC_STATUS  17
#define STALL_NS         (60 * CLOCK_NS_PER_SECOND) /* without any answer: the run is over */

/* A connection, with at most one request under way. */
struct sender {
    struct senders *senders;
    int fd;
    bool is_busy;
    uint64_t number; /* of the request */
    struct slice request;
    size_t n_sent;
    /* HTTP/1.1: what came of the answer. */
    char answer[MAX_ANSWER_BYTES];
    size_t answer_len;
    uint64_t body_left; /* of an answer whose head has come */
    /* HTTP/2. */
    nghttp2_session *session;
    struct slice frames; /* to send before more are asked for; borrowed of the session */
    int status, grpc_status;
};

struct senders {
    /* What is asked for. */
    int pid, port;
    uint32_t n_connections;
    double rate; /* 0 = a closed loop */
    uint64_t count, skip;
    int64_t seconds, end_ns; /* 0 = when all are answered */
    bool is_grpc, is_one;
    /* The requests. */
    const char *file, *file_end, *place;
    /* The run. */
    int epoll;
    struct sender *connections;
    struct sender **idle; /* a stack */
    uint32_t n_idle;
    int64_t *came_ns; /* of each request: when it was to be sent */
    double *times_ms; /* of each answer */
    uint64_t n_begun, n_answered;
    uint64_t statuses[MAX_STATUS], grpc_statuses[MAX_GRPC_STATUS];
};

static void die(const char *what)
{
    measure_die("senders", what);
}

static void *must_alloc(size_t bytes)
{
    struct error err;
    void *block = memory_alloc_zero(bytes, &err);

    if (!block)
        die(err.text);
    return block;
}

/* --- requests --- */

static void open_requests(struct senders *senders, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *map;

    if (fd < 0 || fstat(fd, &status) < 0 || status.st_size == 0)
        die("the file of requests cannot be read");
    map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (map == MAP_FAILED)
        die("the file of requests cannot be mapped");
    close(fd);
    senders->file = senders->place = map;
    senders->file_end = senders->file + status.st_size;
}

/* The next request of the file, or an empty slice. */
static struct slice next_request(struct senders *senders)
{
    struct slice request;

    if (senders->is_one)
        return slice_of(senders->file, (size_t)(senders->file_end - senders->file));
    if (senders->file_end - senders->place < 4)
        return SLICE("");
    request = slice_of(senders->place + 4, bytes_get_le32(senders->place));
    if ((size_t)(senders->file_end - senders->place - 4) < request.len)
        die("the file of requests is cut off");
    senders->place = request.ptr + request.len;
    return request;
}

/* Passes over what is to be skipped, and finds how many there are. */
static void count_requests(struct senders *senders)
{
    const char *first;
    uint64_t n = 0;

    if (senders->is_one) {
        if (senders->count == UINT64_MAX)
            die("-one needs -count");
        return;
    }
    for (uint64_t i = 0; i < senders->skip; i++)
        if (next_request(senders).len == 0)
            die("the file of requests has not that many to skip");
    first = senders->place;
    while (n < senders->count && next_request(senders).len > 0)
        n++;
    senders->place = first;
    senders->count = n;
    if (n == 0)
        die("the file of requests has none left");
}

/* Requests that come at random: the times between them are exponential, the same in each run. */
static void plan_arrivals(struct senders *senders, int64_t begun_ns)
{
    double at_ns = (double)begun_ns;

    for (uint64_t i = 0; i < senders->count; i++) {
        double random = (double)(hash_mix64(i + 1) >> 11) / 9007199254740992.0;

        at_ns += -log(1 - random) / senders->rate * 1e9;
        senders->came_ns[i] = (int64_t)at_ns;
    }
}

/* --- answers --- */

static void finish(struct sender *sender, int status)
{
    struct senders *senders = sender->senders;
    int64_t taken_ns = measure_real_ns() - senders->came_ns[sender->number];

    if (status < 100 || status >= MAX_STATUS)
        die("an answer has no status");
    senders->statuses[status]++;
    senders->times_ms[senders->n_answered++] = (double)taken_ns / 1e6;
    sender->is_busy = false;
    senders->idle[senders->n_idle++] = sender;
}

/* --- HTTP/1.1 --- */

/* The length of the answer's body, which a server of this machine always tells. */
static uint64_t body_length(const char *head)
{
    const char *field = strcasestr(head, "\ncontent-length:");

    return field ? strtoull(field + 16, NULL, 10) : 0;
}

/* The head is kept, the body is thrown away. */
static void take_http1(struct sender *sender, size_t n)
{
    const char *end;
    size_t head_len;

    if (sender->body_left == 0) {
        sender->answer_len += n;
        sender->answer[sender->answer_len] = 0;
        end = strstr(sender->answer, "\r\n\r\n");
        if (!end) {
            if (sender->answer_len == MAX_ANSWER_BYTES - 1)
                die("the head of an answer is too long");
            return;
        }
        head_len = (size_t)(end + 4 - sender->answer);
        sender->body_left = body_length(sender->answer);
        n = sender->answer_len - head_len;
        sender->answer_len = head_len;
    }
    if (n > sender->body_left)
        die("an answer is longer than it said");
    sender->body_left -= n;
    if (sender->body_left > 0)
        return;
    sender->answer_len = 0;
    finish(sender, atoi(sender->answer + 9));
}

/* Until nothing more is there: the connection tells of it once only. */
static void read_http1(struct sender *sender)
{
    static char waste[1 << 20];

    for (;;) {
        char *to = sender->body_left ? waste : sender->answer + sender->answer_len;
        size_t len = sender->body_left ? sizeof(waste) : MAX_ANSWER_BYTES - 1 - sender->answer_len;
        ssize_t n = recv(sender->fd, to, len, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0 || !sender->is_busy)
            die(sender->is_busy ? "a connection was closed before its answer" : "an idle connection was closed");
        take_http1(sender, (size_t)n);
    }
}

static void write_http1(struct sender *sender)
{
    while (sender->n_sent < sender->request.len) {
        ssize_t n =
            send(sender->fd, sender->request.ptr + sender->n_sent, sender->request.len - sender->n_sent, MSG_NOSIGNAL);

        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            die("a connection was closed while a request was sent");
        sender->n_sent += (size_t)n;
    }
}

/* --- HTTP/2 --- */

static ssize_t give_data(nghttp2_session *session, int32_t stream, uint8_t *out, size_t len, uint32_t *flags,
                         nghttp2_data_source *source, void *context)
{
    struct sender *sender = source->ptr;
    size_t n = MIN(len, sender->request.len - sender->n_sent);

    (void)session, (void)stream, (void)context;
    memcpy(out, sender->request.ptr + sender->n_sent, n);
    sender->n_sent += n;
    if (sender->n_sent == sender->request.len)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

static int take_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_len,
                       const uint8_t *value, size_t value_len, uint8_t flags, void *context)
{
    struct slice key = slice_of((const char *)name, name_len);
    struct sender *sender = context;

    (void)session, (void)frame, (void)value_len, (void)flags;
    if (slice_is(key, ":status"))
        sender->status = atoi((const char *)value); /* nghttp2 ends it with a NUL */
    else if (slice_is(key, "grpc-status"))
        sender->grpc_status = atoi((const char *)value);
    return 0;
}

static int end_stream(nghttp2_session *session, int32_t stream, uint32_t error_code, void *context)
{
    struct sender *sender = context;

    (void)session, (void)stream;
    if (error_code != NGHTTP2_NO_ERROR || sender->grpc_status < 0 || sender->grpc_status >= MAX_GRPC_STATUS)
        die("a call ended without the status of gRPC");
    sender->senders->grpc_statuses[sender->grpc_status]++;
    finish(sender, sender->status);
    return 0;
}

static void open_session(struct sender *sender)
{
    static const nghttp2_settings_entry settings[] = { { NGHTTP2_SETTINGS_ENABLE_PUSH, 0 } };
    nghttp2_session_callbacks *callbacks;

    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        die("no memory for HTTP/2");
    nghttp2_session_callbacks_set_on_header_callback(callbacks, take_header);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, end_stream);
    if (nghttp2_session_client_new(&sender->session, callbacks, sender) != 0 ||
        nghttp2_submit_settings(sender->session, NGHTTP2_FLAG_NONE, settings, ARRAY_LEN(settings)) != 0)
        die("no memory for HTTP/2");
    nghttp2_session_callbacks_del(callbacks);
}

#define NV(name, value)                                                                                                \
    {                                                                                                                  \
        (uint8_t *)(uintptr_t)(name), (uint8_t *)(uintptr_t)(value), sizeof(name) - 1, sizeof(value) - 1,              \
            NGHTTP2_NV_FLAG_NONE                                                                                       \
    }

static void submit_call(struct sender *sender)
{
    static const nghttp2_nv headers[] = {
        NV(":method", "POST"),
        NV(":scheme", "http"),
        NV(":authority", "localhost"),
        NV(":path", "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"),
        NV("content-type", "application/grpc"),
        NV("te", "trailers"),
        NV("grpc-encoding", "gzip"),
        NV("user-agent", "OpenTelemetry Collector/0.164.0 grpc-go/1.77.0"),
    };
    nghttp2_data_provider data = { .source.ptr = sender, .read_callback = give_data };

    sender->grpc_status = -1;
    sender->status = 0;
    if (nghttp2_submit_request(sender->session, NULL, headers, ARRAY_LEN(headers), &data, NULL) < 0)
        die("a call cannot be begun");
}

static void write_http2(struct sender *sender)
{
    for (;;) {
        ssize_t n;

        if (sender->frames.len == 0) {
            const uint8_t *bytes;
            ssize_t len = nghttp2_session_mem_send(sender->session, &bytes);

            if (len < 0)
                die(nghttp2_strerror((int)len));
            if (len == 0)
                return;
            sender->frames = slice_of((const char *)bytes, (size_t)len);
        }
        n = send(sender->fd, sender->frames.ptr, sender->frames.len, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0 && errno != EINTR)
            die("a connection was closed while a call was sent");
        sender->frames = slice_sub(sender->frames, (size_t)MAX(n, 0), SIZE_MAX);
    }
}

static void read_http2(struct sender *sender)
{
    char bytes[16384];
    ssize_t n;

    do {
        n = recv(sender->fd, bytes, sizeof(bytes), 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        if (n <= 0)
            die("a connection was closed");
        n = nghttp2_session_mem_recv(sender->session, (const uint8_t *)bytes, (size_t)n);
        if (n < 0)
            die(nghttp2_strerror((int)n));
    } while (n == sizeof(bytes));
    write_http2(sender); /* updates of windows, and what waited for them */
}

/* --- the run --- */

static void connect_sender(struct senders *senders, struct sender *sender)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)senders->port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = sender };
    int yes = 1;

    sender->senders = senders;
    sender->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (sender->fd < 0 || connect(sender->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        die("the server cannot be reached");
    setsockopt(sender->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    if (fcntl(sender->fd, F_SETFL, O_NONBLOCK) < 0 || epoll_ctl(senders->epoll, EPOLL_CTL_ADD, sender->fd, &event) < 0)
        die("a connection cannot be watched");
    if (senders->is_grpc)
        open_session(sender);
    senders->idle[senders->n_idle++] = sender;
}

static void open_connections(struct senders *senders)
{
    senders->epoll = epoll_create1(EPOLL_CLOEXEC);
    senders->connections = must_alloc(senders->n_connections * sizeof(*senders->connections));
    senders->idle = must_alloc(senders->n_connections * sizeof(*senders->idle));
    senders->came_ns = must_alloc(senders->count * sizeof(*senders->came_ns));
    senders->times_ms = must_alloc(senders->count * sizeof(*senders->times_ms));
    for (uint32_t i = 0; i < senders->n_connections; i++)
        connect_sender(senders, &senders->connections[i]);
}

static void close_connections(struct senders *senders)
{
    for (uint32_t i = 0; i < senders->n_connections; i++) {
        nghttp2_session_del(senders->connections[i].session);
        close(senders->connections[i].fd);
    }
    close(senders->epoll);
    memory_free(senders->connections);
    memory_free(senders->idle);
    memory_free(senders->came_ns);
    memory_free(senders->times_ms);
}

static void write_more(struct sender *sender)
{
    if (sender->senders->is_grpc)
        write_http2(sender);
    else if (sender->is_busy)
        write_http1(sender);
}

/* Gives requests that have come to connections that are idle. */
static void begin_requests(struct senders *senders)
{
    while (senders->n_idle > 0 && senders->n_begun < senders->count) {
        int64_t now_ns = measure_real_ns();
        struct sender *sender;

        if (senders->end_ns && now_ns >= senders->end_ns) {
            senders->count = senders->n_begun;
            return;
        }
        if (senders->rate == 0)
            senders->came_ns[senders->n_begun] = now_ns;
        else if (senders->came_ns[senders->n_begun] > now_ns)
            return;
        sender = senders->idle[--senders->n_idle];
        sender->is_busy = true;
        sender->number = senders->n_begun++;
        sender->request = next_request(senders);
        sender->n_sent = 0;
        if (senders->is_grpc)
            submit_call(sender);
        write_more(sender);
    }
}

/* Until something can be done: the next request comes, or nothing has been heard for long. */
static struct timespec next_wait(const struct senders *senders)
{
    int64_t wait_ns = STALL_NS;

    if (senders->rate > 0 && senders->n_begun < senders->count && senders->n_idle > 0) {
        int64_t left_ns = senders->came_ns[senders->n_begun] - measure_real_ns();

        wait_ns = MAX(left_ns, 0);
    }
    return (struct timespec){ wait_ns / CLOCK_NS_PER_SECOND, wait_ns % CLOCK_NS_PER_SECOND };
}

static void send_all(struct senders *senders)
{
    struct epoll_event events[256];

    while (senders->n_answered < senders->count) {
        struct timespec wait;
        int n;

        begin_requests(senders);
        wait = next_wait(senders);
        n = epoll_pwait2(senders->epoll, events, ARRAY_LEN(events), &wait, NULL);
        if (n < 0 && errno != EINTR)
            die("the connections cannot be watched");
        if (n == 0 && wait.tv_sec >= STALL_NS / CLOCK_NS_PER_SECOND)
            die("the server does not answer any more");
        for (int i = 0; i < n; i++) {
            struct sender *sender = events[i].data.ptr;

            if (events[i].events & EPOLLOUT)
                write_more(sender);
            if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
                (senders->is_grpc ? read_http2 : read_http1)(sender);
        }
    }
}

/* --- the outcome --- */

static double part(const struct senders *senders, double share)
{
    return senders->times_ms[(size_t)(share * (double)(senders->n_answered - 1))];
}

static void print_outcome(struct senders *senders, double seconds, double cpu_s, double own_cpu_s)
{
    double thousands = (double)senders->n_answered / 1e3;

    qsort(senders->times_ms, senders->n_answered, sizeof(*senders->times_ms), measure_by_value);
    printf("requests %llu\nseconds %.2f\nper_second %.0f\n", (unsigned long long)senders->n_answered, seconds,
           (double)senders->n_answered / seconds);
    printf("cpu_s_per_1000 %.3f\nsenders_cpu_s_per_1000 %.3f\n", cpu_s / thousands, own_cpu_s / thousands);
    printf("ack_p50_ms %.2f\nack_p99_ms %.2f\nack_max_ms %.2f\n", part(senders, 0.5), part(senders, 0.99),
           part(senders, 1));
    printf("hwm_mb %.1f\nrss_mb %.1f\n", measure_process_mb(senders->pid, "VmHWM"),
           measure_process_mb(senders->pid, "VmRSS"));
    for (int i = 0; i < MAX_STATUS; i++)
        if (senders->statuses[i])
            printf("status_%d %llu\n", i, (unsigned long long)senders->statuses[i]);
    for (int i = 0; i < MAX_GRPC_STATUS; i++)
        if (senders->grpc_statuses[i])
            printf("grpc_status_%d %llu\n", i, (unsigned long long)senders->grpc_statuses[i]);
}

static void parse(struct senders *senders, int argc, char **argv)
{
    static const char usage[] = "usage: senders [-connections N] [-rate R] [-count N] [-skip N] [-grpc yes] [-one yes] "
                                "[-seconds N] -pid PID -port PORT FILE";

    for (; argc > 2 && argv[1][0] == '-'; argc -= 2, argv += 2) {
        if (strcmp(argv[1], "-connections") == 0)
            senders->n_connections = (uint32_t)atoi(argv[2]);
        else if (strcmp(argv[1], "-rate") == 0)
            senders->rate = atof(argv[2]);
        else if (strcmp(argv[1], "-count") == 0)
            senders->count = strtoull(argv[2], NULL, 10);
        else if (strcmp(argv[1], "-skip") == 0)
            senders->skip = strtoull(argv[2], NULL, 10);
        else if (strcmp(argv[1], "-grpc") == 0)
            senders->is_grpc = strcmp(argv[2], "yes") == 0;
        else if (strcmp(argv[1], "-one") == 0)
            senders->is_one = strcmp(argv[2], "yes") == 0;
        else if (strcmp(argv[1], "-seconds") == 0)
            senders->seconds = atoll(argv[2]);
        else if (strcmp(argv[1], "-pid") == 0)
            senders->pid = atoi(argv[2]);
        else if (strcmp(argv[1], "-port") == 0)
            senders->port = atoi(argv[2]);
        else
            die(usage);
    }
    if (argc != 2 || senders->pid <= 0 || senders->port <= 0)
        die(usage);
    if (senders->n_connections < 1 || senders->n_connections > MAX_CONNECTIONS || senders->rate < 0)
        die("there are 1 to 10000 connections, and a rate is not negative");
    open_requests(senders, argv[1]);
}

int main(int argc, char **argv)
{
    struct senders senders = { .n_connections = 64, .count = UINT64_MAX };
    int64_t begun_ns, begun_own_ns;
    double begun_cpu_s;

    parse(&senders, argc, argv);
    count_requests(&senders);
    open_connections(&senders);
    begun_cpu_s = measure_process_cpu_s(senders.pid);
    begun_own_ns = clock_cpu_ns();
    begun_ns = measure_real_ns();
    senders.end_ns = senders.seconds ? begun_ns + senders.seconds * CLOCK_NS_PER_SECOND : 0;
    if (senders.rate > 0)
        plan_arrivals(&senders, begun_ns);
    send_all(&senders);
    print_outcome(&senders, (double)(measure_real_ns() - begun_ns) / 1e9,
                  measure_process_cpu_s(senders.pid) - begun_cpu_s, (double)(clock_cpu_ns() - begun_own_ns) / 1e9);
    close_connections(&senders);
    return 0;
}
