// SPDX-License-Identifier: Apache-2.0
#include "base/notify.h"

#include "base/clock.h"
#include "base/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A manager that listens at `name`, as NOTIFY_SOCKET has it, and is named there. */
static int listen_at(const char *name)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0 && strlen(name) < sizeof(address.sun_path));
    memcpy(address.sun_path, name, strlen(name));
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    CHECK_EQ(bind(fd, (struct sockaddr *)&address, len), 0);
    CHECK_EQ(setenv("NOTIFY_SOCKET", name, 1), 0);
    return fd;
}

/* The next message to the manager; fails the test when there is none. */
static struct slice received(int fd)
{
    static char text[512];
    ssize_t len = recv(fd, text, sizeof(text), MSG_DONTWAIT);

    CHECK(len >= 0);
    return slice_of(text, (size_t)len);
}

static void check_refused(const char *name, enum error_code code, const char *words)
{
    struct error err;

    CHECK_EQ(setenv("NOTIFY_SOCKET", name, 1), 0);
    CHECK_ERROR(notify_send("READY=1", &err), &err, code);
    CHECK_HAS(err.text, words);
    unsetenv("NOTIFY_SOCKET");
}

TEST(notify_without_a_manager_does_nothing)
{
    struct error err;

    unsetenv("NOTIFY_SOCKET");
    CHECK_OK(notify_send("READY=1", &err), &err);
    CHECK_EQ(setenv("NOTIFY_SOCKET", "", 1), 0);
    CHECK_OK(notify_send("READY=1", &err), &err);
    CHECK_OK(notify_reloading(&err), &err);
    unsetenv("NOTIFY_SOCKET");
}

TEST(notify_sends_each_message_whole_to_the_socket_of_a_path)
{
    struct error err;
    char path[100];
    int fd;

    snprintf(path, sizeof(path), "%s/manager", test_directory());
    fd = listen_at(path);
    CHECK_OK(notify_send("READY=1\nSTATUS=serving on 127.0.0.1:4040", &err), &err);
    CHECK_OK(notify_send("STOPPING=1", &err), &err);
    CHECK_TEXT(received(fd), "READY=1\nSTATUS=serving on 127.0.0.1:4040");
    CHECK_TEXT(received(fd), "STOPPING=1");
    close(fd);
    unsetenv("NOTIFY_SOCKET");
}

TEST(notify_sends_to_an_abstract_name)
{
    struct error err;
    char name[100];
    int fd;

    snprintf(name, sizeof(name), "@hearth-notify-test-%d", (int)getpid());
    fd = listen_at(name);
    CHECK_OK(notify_send("READY=1", &err), &err);
    CHECK_TEXT(received(fd), "READY=1");
    close(fd);
    unsetenv("NOTIFY_SOCKET");
}

TEST(notify_says_when_reloading_began)
{
    struct error err;
    char path[100], wanted[100];
    int fd;

    snprintf(path, sizeof(path), "%s/manager", test_directory());
    fd = listen_at(path);
    clock_fake_set(0);
    CHECK_OK(notify_reloading(&err), &err);
    snprintf(wanted, sizeof(wanted), "RELOADING=1\nMONOTONIC_USEC=%" PRId64, clock_mono_ns() / 1000);
    CHECK_TEXT(received(fd), wanted);
    close(fd);
    unsetenv("NOTIFY_SOCKET");
}

TEST(notify_says_what_is_wrong_with_the_socket)
{
    char name[150], path[100];

    check_refused("manager", ERR_INVALID, "NOTIFY_SOCKET: 'manager' is neither an absolute path nor '@' and a name");
    check_refused("vsock:2:1234", ERR_INVALID, "'vsock:2:1234' is neither");
    check_refused("@", ERR_INVALID, "'@' is neither");
    memset(name, 'x', sizeof(name) - 1);
    name[0] = '/';
    name[sizeof(name) - 1] = '\0';
    check_refused(name, ERR_INVALID, "NOTIFY_SOCKET: a name of 149 bytes is too long; the most allowed is 107");
    snprintf(path, sizeof(path), "%s/nobody", test_directory());
    check_refused(path, ERR_NOT_FOUND, "NOTIFY_SOCKET: telling '");
    check_refused(path, ERR_NOT_FOUND, "/nobody': No such file or directory");
}

TEST(notify_reports_a_manager_that_went_away)
{
    char path[100];

    snprintf(path, sizeof(path), "%s/manager", test_directory());
    close(listen_at(path));
    check_refused(path, ERR_IO, "Connection refused");
}
