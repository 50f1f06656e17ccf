// SPDX-License-Identifier: Apache-2.0
#include "base/notify.h"

#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* An abstract name has a NUL in front, where the variable has '@', and none behind. */
static int parse_name(const char *name, struct sockaddr_un *ret_address, socklen_t *ret_len, struct error *err)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t len = strlen(name);

    if ((name[0] != '/' && name[0] != '@') || len < 2)
        return error_set(err, ERR_INVALID, "NOTIFY_SOCKET: '%.64s' is neither an absolute path nor '@' and a name",
                         name);
    if (len >= sizeof(address.sun_path))
        return error_set(err, ERR_INVALID, "NOTIFY_SOCKET: a name of %zu bytes is too long; the most allowed is %zu",
                         len, sizeof(address.sun_path) - 1);
    memcpy(address.sun_path, name, len);
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    *ret_address = address;
    *ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (name[0] == '/'));
    return 0;
}

/* Gives an errno, or 0. */
static int send_lines(const char *lines, const struct sockaddr_un *address, socklen_t address_len)
{
    const struct timeval timeout = { .tv_sec = NOTIFY_TIMEOUT_SECONDS };
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int errnum = 0;

    if (fd < 0)
        return errno;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) < 0 ||
        TEMP_FAILURE_RETRY(
            sendto(fd, lines, strlen(lines), MSG_NOSIGNAL, (const struct sockaddr *)address, address_len)) < 0)
        errnum = errno;
    close(fd);
    return errnum;
}

int notify_send(const char *lines, struct error *err)
{
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address;
    socklen_t address_len = 0;
    int errnum;

    if (!name || !*name)
        return 0;
    if (parse_name(name, &address, &address_len, err) < 0)
        return -1;
    errnum = send_lines(lines, &address, address_len);
    if (errnum == 0)
        return 0;
    if (errnum == EAGAIN)
        return error_set(err, ERR_TIMEOUT, "NOTIFY_SOCKET: nobody read from '%s' for %d seconds", name,
                         NOTIFY_TIMEOUT_SECONDS);
    return error_set_errno(err, errnum, "NOTIFY_SOCKET: telling '%s'", name);
}

int notify_reloading(struct error *err)
{
    char lines[80];

    snprintf(lines, sizeof(lines), "RELOADING=1\nMONOTONIC_USEC=%" PRId64, clock_mono_ns() / 1000);
    return notify_send(lines, err);
}
