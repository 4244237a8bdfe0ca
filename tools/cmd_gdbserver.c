/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_gdbserver.c - cprec gdbserver: a recording for debuggers */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "debugger/server.h"
#include "library/cprec.h"
#include "replayer/session/session.h"
#include "tools/commands.h"
#include "tools/debug_notes.h"
#include "tools/gdbserver.h"
#include "tools/messages.h"
#include "tools/options.h"

static int run(struct options *options);

enum { OPTION_PORT = 256, OPTION_HOST, OPTION_STDIO, OPTION_FROM,
       OPTION_NO_DIVERSION, OPTION_OUTPUT, OPTION_DEBUG_DIR };

const struct command command_gdbserver = {
	.name = "gdbserver",
	.run = run,
	.arguments = "[FILE] --port=P",
	.summary = "let a debugger go through a recording",
	.usage = "gdbserver [OPTION...] [FILE] --port=P | --stdio",
	.about = "Waits for gdb, or another debugger that speaks its protocol,"
		 " and serves it until\n"
		 "it goes.  In gdb: target extended-remote :P",
	.options = (const struct option_info[]) {
		{ OPTION_PORT, "port", "P",
		  "the port of TCP to wait at; 0: any, which is told",
		  NULL, "stdio", NULL },
		{ OPTION_HOST, "host", "ADDR",
		  "the address to wait at; without this, only this\n"
		  "machine can connect", "port", NULL, NULL },
		{ OPTION_STDIO, "stdio", NULL,
		  "standard input and output are the connection",
		  NULL, "port", NULL },
		{ OPTION_FROM, "from", "T",
		  "where to begin: a time, or 'main'; without this, where a\n"
		  "signal ended the program, or at 'main'" },
		{ OPTION_NO_DIVERSION, "no-diversion", NULL,
		  "nothing can be changed, and no function called; else\n"
		  "that happens in a copy, which is thrown away" },
		{ OPTION_OUTPUT, "output", "FILE",
		  "write to this file what the program prints while it runs\n"
		  "forwards, instead of telling the debugger" },
		{ OPTION_DEBUG_DIR, "debug-dir", "DIR",
		  "where debugging information is looked for, too" },
		{ 0 }
	},
};

struct connection {
	const char *port, *host;
	int client;		/* -1: there is none */
};

/* ------- waiting for somebody ------- */

static void tell_port(int listener)
{
	char host[NI_MAXHOST], port[NI_MAXSERV];
	struct sockaddr_storage addr;
	socklen_t size = sizeof(addr);

	if (getsockname(listener, (struct sockaddr *)&addr, &size) ||
	    getnameinfo((struct sockaddr *)&addr, size, host, sizeof(host),
			port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	say_note("waiting at %s:%s", host, port);
}

static int listen_at(const struct addrinfo *at)
{
	const int one = 1;
	int listener = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC,
			      at->ai_protocol);

	if (listener < 0)
		return -1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!bind(listener, at->ai_addr, at->ai_addrlen) &&
	    !listen(listener, 1))
		return listener;
	close(listener);
	return -1;
}

static void accept_at(struct connection *connection, int listener)
{
	tell_port(listener);
	connection->client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (connection->client < 0)
		say("cannot wait at %s: %s", connection->port,
		    strerror(errno));
	close(listener);
}

static bool wait_for_client(void *context, int *in, int *out)
{
	struct connection *connection = context;
	const struct addrinfo wanted = {
		.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV,
	};
	struct addrinfo *at;
	int listener;
	int rc = getaddrinfo(connection->host ? connection->host : "127.0.0.1",
			     connection->port, &wanted, &at);

	if (rc) {
		say("cannot wait at %s: %s", connection->port,
		    gai_strerror(rc));
		return false;
	}
	listener = listen_at(at);
	freeaddrinfo(at);
	if (listener < 0)
		say("cannot wait at %s: %s", connection->port,
		    strerror(errno));
	else
		accept_at(connection, listener);
	*in = *out = connection->client;
	return connection->client >= 0;
}

/* ------- what the program prints ------- */

/* Whoever reads it may have gone. */
static void write_output(void *context, const char *bytes, size_t size)
{
	FILE *output = context;

	fwrite(bytes, 1, size, output);
	fflush(output);
}

static bool take_output(struct server_options *asked, const char *path)
{
	FILE *output = fopen(path, "we");

	if (!output) {
		say("'%s' cannot be opened: %s", path, strerror(errno));
		return false;
	}
	asked->printed = write_output;
	asked->printed_context = output;
	return true;
}

/* ------- the command ------- */

int gdbserver_serve(const char *path, const struct server_options *asked)
{
	struct server_options options = *asked;
	struct cprec_failure why = { "" };
	int rc = cprec_open(&options.recording, path, NULL, &why);

	if (rc) {
		say("%s", why.text);
		return EXIT_FAILED;
	}
	options.note = debug_note;
	rc = server_run(&options, &why);
	/* Why nobody came was told. */
	if (rc && *why.text)
		say("%s", why.text);
	cprec_close(options.recording);
	return rc ? EXIT_FAILED : EXIT_ANSWERED;
}

static int take_port(const struct options *options, int id, const char **out)
{
	uint64_t number;

	if (!number_parse(options->value, &number) || number > UINT16_MAX)
		return options_bad_value(options, id, "a number up to 65535");
	*out = options->value;
	return id;
}

static int run(struct options *options)
{
	struct connection connection = { .client = -1 };
	struct server_options asked = { .in = 0, .out = 1 };
	const char *path, *output = NULL;
	bool is_stdio = false;
	int id, status;

	while ((id = options_next(options)) >= 0) {
		if (id == OPTION_PORT)
			id = take_port(options, id, &connection.port);
		else if (id == OPTION_HOST)
			connection.host = options->value;
		else if (id == OPTION_STDIO)
			is_stdio = true;
		else if (id == OPTION_FROM)
			asked.from = options->value;
		else if (id == OPTION_NO_DIVERSION)
			asked.no_diversion = true;
		else if (id == OPTION_OUTPUT)
			output = options->value;
		else
			cprec_debug_folders(options->value);
		if (id < 0)
			break;
	}
	if (id == OPTIONS_END && !connection.port && !is_stdio)
		id = options_wrong(options, "--port or --stdio says where the"
				   " debugger is");
	path = options_recording(options, id);
	if (!path)
		return options->status;
	/* What interrupts a debugger, that tells us. */
	if (is_stdio)
		signal(SIGINT, SIG_IGN);
	if (connection.port) {
		asked.connect = wait_for_client;
		asked.context = &connection;
	}
	if (output && !take_output(&asked, output))
		return EXIT_FAILED;
	status = gdbserver_serve(path, &asked);
	if (asked.printed)
		fclose(asked.printed_context);
	if (connection.client >= 0)
		close(connection.client);
	return status;
}
