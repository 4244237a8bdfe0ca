/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folder.h - the folder of a family, where the recordings of children are made
 *
 * It is made before the first child is, and held open from then on, by all that
 * descend from the first process: it may be renamed.  And the program may
 * change its user and groups, which the recorder, being the same process, does
 * too: before the first such change a server is started, a process with the
 * rights that there were, which makes the folder and the files in it for all
 * that descend from this one.  It ends with the last of them.
 *
 * The server is a child of the process that needed it first, but none that
 * wait(2) tells of; it has no descriptors but its own, no terminal, and takes
 * no signals.  Each request brings a socket to answer at.
 *
 * Ownership:  folder_open() fills in a structure whose descriptors
 *             folder_close() closes; after a fork, each process does so.
 * Errors:     negative errno values.
 * Threads:    one at a time.
 */
#ifndef CPREC_RECORDER_FOLDER_H
#define CPREC_RECORDER_FOLDER_H

#include <stdint.h>
#include <sys/types.h>

#include "formats/family_path.h"

struct memory;

struct folder {
	int parent; /* of the folder that it is in; -1: it cannot be held */
	int fd;	    /* of it; -1: it is not made, or cannot be held */
	int server; /* where it takes requests; -1: there is none */
	pid_t server_pid;
	pid_t server_parent; /* who waits for its end */
	char *name;	     /* "trace.cpr.d" for "trace.cpr" */
};

/* What is neither made nor held. */
#define FOLDER_NONE ((struct folder){ .parent = -1, .fd = -1, .server = -1 })

/* Gets ready to make the folder for the recording `path`. */
int folder_open(struct folder *folder, const char *path);

/* Makes it, if it is not made.  If it cannot be, folder_create() tells. */
void folder_make(struct folder *folder);

/* Removes it if it is empty: a process that was to be in it never began. */
void folder_drop_empty(const struct folder *folder);

/* Waits a moment for the server's end, if it is about to. */
void folder_close(struct folder *folder);

/*
 * The rights of this process are about to change: starts a server that keeps
 * them.  It has no use for the guest's `memory`.
 */
void folder_keep_rights(struct folder *folder, struct memory *memory);

/*
 * Makes the file of a process, whose number `member` has; sets its turn.
 * Returns a descriptor for writing.
 */
int folder_create(const struct folder *folder, struct family_member *member);

#endif
