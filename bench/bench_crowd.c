// SPDX-License-Identifier: Apache-2.0
/* What a server on this machine holds for those who cost it much and bring nothing.
 *
 *     crowd -pid PID -port PORT idle N       N connections that say nothing
 *     crowd -pid PID -port PORT kept N       N connections that have asked once, and stay
 *     crowd -pid PID -port PORT body BYTES   one request with a body of that size, told beforehand
 *     crowd -pid PID -port PORT chunks BYTES the same in chunks, so that the server learns its size as it comes
 *
 * Prints "name value" lines: the server's memory before, meanwhile and after, and how it answered the body. */
#include "base/memory.h"
#include "measure.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#define CHUNK_BYTES (64 << 10)
#define SETTLE_NS   (300 * 1000 * 1000) /* for the server to take in what was done */

struct crowd {
    int pid, port;
    double before_mb;
};

static void die(const char *what)
{
    measure_die("crowd", what);
}

static void settle(void)
{
    struct timespec time = { .tv_nsec = SETTLE_NS };

    nanosleep(&time, NULL);
}

static int connect_to(const struct crowd *crowd)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)crowd->port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        die("the server cannot be reached; there may be too few descriptors: see ulimit -n");
    return fd;
}

static void ask_once(int fd)
{
    static const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char answer[4096];

    if (send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) != sizeof(request) - 1 ||
        recv(fd, answer, sizeof(answer), 0) < 12 || strncmp(answer, "HTTP/1.1 200", 12) != 0)
        die("the server does not answer a plain question");
}

static void stand_idle(const struct crowd *crowd, long n, bool has_asked)
{
    struct error err;
    int *fds = memory_alloc_zero((size_t)n * sizeof(*fds), &err);

    if (!fds)
        die(err.text);
    for (long i = 0; i < n; i++) {
        fds[i] = connect_to(crowd);
        if (has_asked)
            ask_once(fds[i]);
    }
    settle();
    printf("connections %ld\nbefore_mb %.1f\nrss_mb %.1f\n", n, crowd->before_mb,
           measure_process_mb(crowd->pid, "VmRSS"));
    for (long i = 0; i < n; i++)
        close(fds[i]);
    settle();
    printf("after_mb %.1f\n", measure_process_mb(crowd->pid, "VmRSS"));
    memory_free(fds);
}

static bool has_answer(int fd)
{
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

    return poll(&poll_fd, 1, 0) > 0;
}

/* Sends one piece; false when the server does not take any more. */
static bool send_piece(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

/* Sends until the server answers, or all is sent; returns how much that was. */
static long long send_body(int fd, long long bytes, bool is_chunked)
{
    static char piece[CHUNK_BYTES];
    long long sent = 0;
    char size[16];

    snprintf(size, sizeof(size), "%x\r\n", CHUNK_BYTES);
    for (; sent < bytes && !has_answer(fd); sent += CHUNK_BYTES)
        if ((is_chunked && !send_piece(fd, size, strlen(size))) || !send_piece(fd, piece, sizeof(piece)) ||
            (is_chunked && !send_piece(fd, "\r\n", 2)))
            break;
    return sent;
}

static void send_large(const struct crowd *crowd, long long bytes, bool is_chunked)
{
    int fd = connect_to(crowd);
    char head[256], answer[4096] = "";
    double peak_mb = measure_process_mb(crowd->pid, "VmHWM");
    int64_t begun_ns = measure_real_ns();
    long long sent;

    if (is_chunked)
        snprintf(head, sizeof(head),
                 "POST /ingest?name=large HTTP/1.1\r\nHost: localhost\r\n"
                 "Transfer-Encoding: chunked\r\n\r\n");
    else
        snprintf(head, sizeof(head),
                 "POST /ingest?name=large HTTP/1.1\r\nHost: localhost\r\nContent-Length: %lld\r\n\r\n", bytes);
    if (!send_piece(fd, head, strlen(head)))
        die("the server closes at once");
    sent = send_body(fd, bytes, is_chunked);
    if (recv(fd, answer, sizeof(answer) - 1, 0) < 12)
        die("the server closes without an answer");
    printf("status %d\nsent_mb %.1f\nanswered_ms %.1f\n", atoi(answer + 9), (double)sent / 1e6,
           (double)(measure_real_ns() - begun_ns) / 1e6);
    close(fd);
    settle();
    printf("before_mb %.1f\nafter_mb %.1f\npeak_more_mb %.1f\n", crowd->before_mb,
           measure_process_mb(crowd->pid, "VmRSS"), measure_process_mb(crowd->pid, "VmHWM") - peak_mb);
}

int main(int argc, char **argv)
{
    static const char usage[] = "usage: crowd -pid PID -port PORT idle|kept|body|chunks NUMBER";
    struct crowd crowd = { 0 };
    const char *what;
    long long number;

    for (; argc > 2 && argv[1][0] == '-'; argc -= 2, argv += 2) {
        if (strcmp(argv[1], "-pid") == 0)
            crowd.pid = atoi(argv[2]);
        else if (strcmp(argv[1], "-port") == 0)
            crowd.port = atoi(argv[2]);
        else
            die(usage);
    }
    if (argc != 3 || crowd.pid <= 0 || crowd.port <= 0)
        die(usage);
    what = argv[1];
    number = atoll(argv[2]);
    if (number < 1)
        die(usage);
    crowd.before_mb = measure_process_mb(crowd.pid, "VmRSS");
    if (strcmp(what, "idle") == 0 || strcmp(what, "kept") == 0)
        stand_idle(&crowd, (long)number, strcmp(what, "kept") == 0);
    else if (strcmp(what, "body") == 0 || strcmp(what, "chunks") == 0)
        send_large(&crowd, number, strcmp(what, "chunks") == 0);
    else
        die(usage);
    return 0;
}
