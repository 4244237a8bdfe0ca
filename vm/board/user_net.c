/* SPDX-License-Identifier: GPL-2.0-or-later */
/* user_net.c - see user_net.h */
#include "vm/board/user_net.h"

#include <poll.h>
#include <slirp/libslirp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "formats/error.h"

struct user_net {
	Slirp *slirp;
	const struct user_net_calls *calls;

	/* While sockets are listed, or looked at. */
	struct pollfd *sockets;
	const struct pollfd *found;
	size_t count, room;
};

/* ------- what the library calls ------- */

static ssize_t send_packet(const void *frame, size_t size, void *opaque)
{
	const struct user_net *net = opaque;

	net->calls->receive(net->calls->context, frame, size);
	return (ssize_t)size;
}

/* The guest's frames are its own business. */
static void guest_error(const char *text, void *opaque)
{
	(void)text;
	(void)opaque;
}

static int64_t now(void *opaque)
{
	const struct user_net *net = opaque;

	return (int64_t)net->calls->now(net->calls->context);
}

/* Timers are for IPv6 alone; sockets are listed anew each time. */
static void *timer_new(SlirpTimerCb call, void *argument, void *opaque)
{
	(void)call;
	(void)argument;
	return opaque;
}

static void timer_free(void *timer, void *opaque)
{
	(void)timer;
	(void)opaque;
}

static void timer_mod(void *timer, int64_t time, void *opaque)
{
	(void)timer;
	(void)time;
	(void)opaque;
}

static void socket_changes(int socket, void *opaque)
{
	(void)socket;
	(void)opaque;
}

static void notify(void *opaque)
{
	(void)opaque;
}

/* libslirp 4.9 has other names for some functions, and warns of the old ones. */
#if SLIRP_CHECK_VERSION(4, 9, 0)
#define CONFIG_VERSION 6
#define fill_pollfds slirp_pollfds_fill_socket
#define register_poll register_poll_socket
#define unregister_poll unregister_poll_socket
#else
#define CONFIG_VERSION 1
#define fill_pollfds slirp_pollfds_fill
#define register_poll register_poll_fd
#define unregister_poll unregister_poll_fd
#endif

static const SlirpCb slirp_calls = {
	.send_packet = send_packet,
	.guest_error = guest_error,
	.clock_get_ns = now,
	.timer_new = timer_new,
	.timer_free = timer_free,
	.timer_mod = timer_mod,
	.register_poll = socket_changes,
	.unregister_poll = socket_changes,
	.notify = notify,
};

/* ------- making one ------- */

static struct in_addr address(uint8_t last)
{
	return (struct in_addr){ htonl(UINT32_C(0x0a000200) | last) };
}

int user_net_create(struct user_net **out, const struct user_net_calls *calls,
		    struct failure *why)
{
	const SlirpConfig config = {
		.version = CONFIG_VERSION,
		.in_enabled = true,
		.vnetwork = address(0),
		.vnetmask = { htonl(0xffffff00) },
		.vhost = address(2),
		.vdhcp_start = address(15),
		.vnameserver = address(3),
	};
	struct user_net *net = calloc(1, sizeof(*net));

	if (!net)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	net->calls = calls;
	net->slirp = slirp_new(&config, &slirp_calls, net);
	if (!net->slirp) {
		free(net);
		return failed(why, ERR_SYSTEM, "libslirp makes no network");
	}
	*out = net;
	return 0;
}

void user_net_destroy(struct user_net *net)
{
	if (!net)
		return;
	slirp_cleanup(net->slirp);
	free(net);
}

/* ------- what goes through it ------- */

void user_net_send(struct user_net *net, const uint8_t *frame, size_t size)
{
	slirp_input(net->slirp, frame, (int)size);
}

/* Its names of what may happen to a socket, and poll()'s. */
static const struct {
	int theirs;
	short ours;
} happenings[] = {
	{ SLIRP_POLL_IN, POLLIN }, { SLIRP_POLL_OUT, POLLOUT },
	{ SLIRP_POLL_PRI, POLLPRI }, { SLIRP_POLL_ERR, POLLERR },
	{ SLIRP_POLL_HUP, POLLHUP },
};

#define HAPPENINGS (sizeof(happenings) / sizeof(happenings[0]))

static int add_socket(int socket, int events, void *opaque)
{
	struct user_net *net = opaque;
	struct pollfd *at;

	if (net->count == net->room)
		return -1;
	at = &net->sockets[net->count];
	*at = (struct pollfd){ .fd = socket };
	for (size_t i = 0; i < HAPPENINGS; i++)
		if (events & happenings[i].theirs)
			at->events |= happenings[i].ours;
	return (int)net->count++;
}

static int found_of(int number, void *opaque)
{
	const struct user_net *net = opaque;
	int events = 0;

	if (number < 0 || (size_t)number >= net->count)
		return 0;
	for (size_t i = 0; i < HAPPENINGS; i++)
		if (net->found[number].revents & happenings[i].ours)
			events |= happenings[i].theirs;
	return events;
}

size_t user_net_sockets(struct user_net *net, struct pollfd *out, size_t room,
			uint64_t *wait)
{
	uint32_t most = (uint32_t)(*wait / 1000);

	net->sockets = out;
	net->room = room;
	net->count = 0;
	fill_pollfds(net->slirp, &most, add_socket, net);
	if (most < *wait / 1000)
		*wait = (uint64_t)most * 1000;
	return net->count;
}

void user_net_found(struct user_net *net, const struct pollfd *found,
		    size_t count)
{
	net->found = found;
	net->count = count;
	slirp_pollfds_poll(net->slirp, 0, found_of, net);
}
