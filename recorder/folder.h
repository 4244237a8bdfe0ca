/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folder.h - the folder of a recording, where those of children are made too
 *
 * It is held open, so that it may be renamed.  And the program may change its
 * user and groups, which the recorder, being the same process, does too: before
 * the first such change a server is started, a process with the rights that
 * there were, which makes files for all that descend from this one.  It ends
 * with the last of them.
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

#define TRACE_SUFFIX ".cpr"

struct memory;

struct folder {
	int fd;	    /* of the folder; -1: it cannot be held */
	int server; /* where it takes requests; -1: there is none */
	pid_t server_pid;
	pid_t server_parent; /* who waits for its end */
	char *stem;	     /* "trace" of "trace.cpr" */
};

/* Holds the folder of the recording `path`. */
int folder_open(struct folder *folder, const char *path);

/* Waits a moment for the server's end, if it is about to. */
void folder_close(struct folder *folder);

/*
 * The rights of this process are about to change: starts a server that keeps
 * them.  It has no use for the guest's `memory`.
 */
void folder_keep_rights(struct folder *folder, struct memory *memory);

/*
 * Makes "trace.PID.cpr", where an older file gets ".old" behind its name.
 * Returns a descriptor for writing.
 */
int folder_create(const struct folder *folder, uint32_t pid);

#endif
