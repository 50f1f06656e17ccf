// SPDX-License-Identifier: Apache-2.0
#include "base/address.h"

#include "base/test.h"

#include <stdio.h>

static void check_round_trip(const char *text, enum address_kind kind, const char *name, unsigned port)
{
    struct address address;
    struct error err;

    CHECK_OK(address_parse(slice_from(text), &address, &err), &err);
    CHECK_EQ(address.kind, kind);
    CHECK_TEXT(address.name, name);
    CHECK_EQ(address.port, port);
    CHECK_TEXT(address_format(&address).text, text);
}

static void check_refused(struct slice text, const char *words)
{
    struct address address = { .port = 7, .name = "untouched" };
    struct error err;

    CHECK_ERROR(address_parse(text, &address, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, words);
    CHECK_EQ(address.port, 7);
    CHECK_TEXT(address.name, "untouched");
}

TEST(address_reads_each_notation_and_writes_it_back)
{
    check_round_trip("localhost:4040", ADDRESS_TCP, "localhost", 4040);
    check_round_trip("127.0.0.1:0", ADDRESS_TCP, "127.0.0.1", 0);
    check_round_trip(":4317", ADDRESS_TCP, "", 4317);
    check_round_trip("[::]:65535", ADDRESS_TCP, "::", 65535);
    check_round_trip("[fe80::1]:80", ADDRESS_TCP, "fe80::1", 80);
    check_round_trip("unix:/run/hearth.sock", ADDRESS_UNIX, "/run/hearth.sock", 0);
}

TEST(address_says_what_is_wrong)
{
    check_refused(SLICE(""), "has no port; write HOST:PORT");
    check_refused(SLICE("localhost"), "'localhost' has no port");
    check_refused(SLICE("localhost:"), "port from 0 to 65535");
    check_refused(SLICE("localhost:65536"), "port from 0 to 65535");
    check_refused(SLICE("localhost:http"), "port from 0 to 65535");
    check_refused(SLICE("localhost:-1"), "port from 0 to 65535");
    check_refused(SLICE("::1:80"), "in brackets");
    check_refused(SLICE("[::1"), "in brackets");
    check_refused(SLICE("[localhost]:80"), "no IPv6 address between its brackets");
    check_refused(SLICE("[]:80"), "no IPv6 address between its brackets");
    check_refused(SLICE("[:80"), "no host name");
    check_refused(SLICE("[::1\0]:80"), "no IPv6 address between its brackets");
    check_refused(SLICE("http://localhost:80"), "several colons");
    check_refused(SLICE("a b:80"), "no host name");
    check_refused(SLICE("unix:"), "needs a path of 1 to 107 bytes");
    check_refused(SLICE("unix:a\0b"), "needs a path of 1 to 107 bytes");
}

TEST(address_holds_the_longest_names_and_no_longer)
{
    char text[400];
    struct address address;
    struct error err;

    snprintf(text, sizeof(text), "%0253d:1", 0);
    CHECK_OK(address_parse(slice_from(text), &address, &err), &err);
    CHECK_EQ(strlen(address.name), 253);
    snprintf(text, sizeof(text), "%0254d:1", 0);
    check_refused(slice_from(text), "no host name");
    snprintf(text, sizeof(text), "unix:%0107d", 0);
    CHECK_OK(address_parse(slice_from(text), &address, &err), &err);
    CHECK_TEXT(address_format(&address).text, text);
    snprintf(text, sizeof(text), "unix:%0108d", 0);
    check_refused(slice_from(text), "needs a path");
}
