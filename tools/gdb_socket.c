/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gdb_socket.c - see gdb_socket.h */
#include "tools/gdb_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "debugger/server.h"
#include "tools/commands.h"
#include "tools/gdbserver.h"

struct gdb_socket {
	struct sockaddr_un name;
	char *folder;		/* that it is in alone */
	int listener;
	int ends[2];		/* open for writing while this process lives */
};

/* ------- the socket ------- */

/* Only this user can look into the folder. */
static bool make_name(struct gdb_socket *made)
{
	const char *folder = getenv("TMPDIR");
	int size;

	made->name.sun_family = AF_UNIX;
	if (asprintf(&made->folder, "%s/cprec-gdb-XXXXXX",
		     folder && *folder == '/' ? folder : "/tmp") < 0)
		made->folder = NULL;
	/* gdb would take it for a host and a port. */
	if (!made->folder || strchr(made->folder, ':') ||
	    !mkdtemp(made->folder)) {
		free(made->folder);
		made->folder = NULL;
		return false;
	}
	size = snprintf(made->name.sun_path, sizeof(made->name.sun_path),
			"%s/socket", made->folder);
	return size < (int)sizeof(made->name.sun_path);
}

static bool listen_there(struct gdb_socket *made)
{
	made->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return made->listener >= 0 &&
	       !bind(made->listener, (const struct sockaddr *)&made->name,
		     sizeof(made->name)) &&
	       !listen(made->listener, 1) && !pipe(made->ends);
}

/* A connection that is there stays. */
static void remove_name(const struct gdb_socket *made)
{
	if (made->listener >= 0)
		unlink(made->name.sun_path);
	if (made->folder)
		rmdir(made->folder);
}

static void close_ends(struct gdb_socket *made)
{
	if (made->listener >= 0)
		close(made->listener);
	if (made->ends[0] >= 0)
		close(made->ends[0]);
}

/* ------- the server ------- */

static bool wait_for_gdb(void *context, int *in, int *out)
{
	struct gdb_socket *made = context;
	struct pollfd waited[] = {
		{ .fd = made->listener, .events = POLLIN },
		{ .fd = made->ends[0], .events = POLLIN },
	};

	*in = -1;
	while (poll(waited, 2, -1) < 0)
		;
	if (waited[0].revents)
		*in = accept4(made->listener, NULL, NULL, SOCK_CLOEXEC);
	*out = *in;
	remove_name(made);
	close_ends(made);
	free(made->folder);
	*made = (struct gdb_socket){ .listener = -1, .ends = { -1, -1 } };
	return *in >= 0;
}

/* What the terminal sends is for gdb, and so is what is typed. */
static void leave_terminal(void)
{
	int nothing = open("/dev/null", O_RDWR);

	setsid();
	if (nothing < 0)
		return;
	dup2(nothing, STDIN_FILENO);
	dup2(nothing, STDOUT_FILENO);
	if (nothing > STDERR_FILENO)
		close(nothing);
}

static void serve(struct gdb_socket *made, const char *path, const char *from)
{
	const struct server_options options = {
		.from = from, .connect = wait_for_gdb, .context = made,
	};
	int status;

	close(made->ends[1]);
	leave_terminal();
	status = gdbserver_serve(path, &options);
	/* gdb may never have come. */
	remove_name(made);
	exit(status);
}

/* gdb is not to have a child that it knows nothing of. */
static bool start(struct gdb_socket *made, const char *path, const char *from)
{
	pid_t between = fork(), server;
	int status;

	if (between < 0)
		return false;
	if (between)
		return waitpid(between, &status, 0) == between && !status;
	server = fork();
	if (!server)
		serve(made, path, from);
	_exit(server < 0);
}

char *gdb_socket_start(const char *path, const char *from)
{
	struct gdb_socket made = { .listener = -1, .ends = { -1, -1 } };
	char *name = NULL;

	if (make_name(&made) && listen_there(&made) &&
	    start(&made, path, from))
		name = strdup(made.name.sun_path);
	if (!name) {
		remove_name(&made);
		if (made.ends[1] >= 0)
			close(made.ends[1]);
	}
	close_ends(&made);
	free(made.folder);
	return name;
}
