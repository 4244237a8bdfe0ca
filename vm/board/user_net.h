/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * user_net.h - a network for the guest, made of this process's own sockets
 *
 * The guest is 10.0.2.15 behind a router, 10.0.2.2, by which it reaches what
 * this process can reach; the router is this machine, too.  10.0.2.3 answers
 * for names.  IPv4 only.
 *
 * Source: libslirp, as QEMU's "-netdev user" has it.
 *
 * Ownership:  user_net_destroy() ends it, and all connections.
 * Errors:     ERR_SYSTEM, ERR_NO_MEMORY.
 */
#ifndef CPREC_VM_BOARD_USER_NET_H
#define CPREC_VM_BOARD_USER_NET_H

#include <stddef.h>
#include <stdint.h>

struct failure;
struct pollfd;
struct user_net;

struct user_net_calls {
	/* A frame for the guest. */
	void (*receive)(void *context, const uint8_t *frame, size_t size);

	/* The guest's time, in nanoseconds. */
	uint64_t (*now)(void *context);
	void *context;
};

/* `calls` stay the caller's. */
int user_net_create(struct user_net **out, const struct user_net_calls *calls,
		    struct failure *why);
void user_net_destroy(struct user_net *net);

/* A frame of the guest's. */
void user_net_send(struct user_net *net, const uint8_t *frame, size_t size);

/*
 * What is to be waited for, at most so long, in microseconds: how many of them
 * there are.  Then the same ones, as they were found.
 */
size_t user_net_sockets(struct user_net *net, struct pollfd *out, size_t room,
			uint64_t *wait);
void user_net_found(struct user_net *net, const struct pollfd *found,
		    size_t count);

#endif
