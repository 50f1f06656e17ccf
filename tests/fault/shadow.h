// SPDX-License-Identifier: Apache-2.0
/* The disk as it would be found after a power loss: a shadow of a directory that holds only what was synced.
 *
 * The model is POSIX at its word, which is harsher than any usual file system:
 *
 * H1  The content of a file survives as it was at its last fsync or fdatasync. sync_file_range, closing and renaming
 *     make nothing durable. A file never synced survives empty, if its name survives.
 * H2  Names (made, renamed, linked, removed; directories too) survive as they were at the last fsync of the directory
 *     they stand in. Syncing a file does not save its name.
 * H3  A directory keeps what was synced in it when it is renamed; it is lost with all in it when its own name is.
 * H4  What was there when the process began is durable.
 * H5  Each step leaves what was synced before as it was, so the process can be killed at any moment: a sync it was just
 *     doing is then done in part, as on a disk.
 *
 * A shadow is a flat directory: `f.ID` is the content of a file, `d.ID` the names in a directory, one a line:
 *
 *     f ID INODE NAME        d ID INODE NAME
 *
 * The root is `d.1`. Ids are never used again, inodes are. `ready` is made when all that H4 speaks of is there; before
 * that the shadow is worth nothing. survive.c builds the directory from it.
 *
 * Thread: any; one lock holds for all. errno is kept. */
#pragma once

#include <sys/types.h>

/* Takes `directory` as it is (H4) into the new directory `shadow`. Ends the process when it cannot. */
void shadow_start(const char *directory, const char *shadow);

/* Whoever changes names holds the shadow meanwhile, so that the shadow never sees a name before it was told. May be
 * taken again by who has it. */
void shadow_hold(void);
void shadow_release(void);

/* A new, empty file or directory has come to be at `path`. Held since before. */
void shadow_made(int directory_fd, const char *path);
/* The inode behind a name that is about to go away; 0 if there is none or it has other names. Held. */
ino_t shadow_inode_leaving(int directory_fd, const char *path);
/* That inode is gone now, and its number may come again. Held since before. */
void shadow_gone(ino_t inode);

/* Bytes from `offset` on have changed, or the length. */
void shadow_changed(int fd, off_t offset);
/* An fsync or fdatasync of a file or directory. */
void shadow_synced(int fd);
