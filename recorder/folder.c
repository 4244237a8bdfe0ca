/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folder.c - see folder.h */
#include "recorder/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vm/linux/linux.h"
#include "vm/linux/host/host.h"
#include "vm/memory/memory.h"

/* The server's own descriptors, behind the standard ones. */
#define SERVER_SOCKET 3
#define SERVER_PARENT 4
#define SERVER_FOLDER 5 /* if it is made already */
#define SERVER_HIGH 10 /* where they are on the way there */

/* Asks for the folder; other requests are numbers of processes. */
#define REQUEST_FOLDER 0

#define ANSWER_SECONDS 10 /* the longest wait for the server */
#define END_NAPS 20	  /* milliseconds for its end */

/* ------- the folder ------- */

static int hide(int fd)
{
	int hidden = linux_hide_descriptor(fd);

	if (hidden < 0)
		close(fd);
	return hidden < 0 ? -1 : hidden;
}

int folder_open(struct folder *folder, const char *path)
{
	const char *name = strrchr(path, '/');
	char *parent;
	int fd;

	*folder = FOLDER_NONE;
	parent = name ? strndup(path, (size_t)(name - path) + 1) : strdup(".");
	folder->name = family_folder(name ? name + 1 : path);
	if (!parent || !folder->name) {
		free(parent);
		return -ENOMEM;
	}
	fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		folder->parent = hide(fd);
	free(parent);
	return 0;
}

/* Whatever the umask is, it is its owner's. */
static int make(const struct folder *folder)
{
	bool is_new = !mkdirat(folder->parent, folder->name, 0700);
	int fd;

	if (!is_new && errno != EEXIST)
		return -errno;
	/* Some file systems, as FAT, have no rights that one can change. */
	if (is_new && fchmodat(folder->parent, folder->name, 0700, 0) &&
	    errno != EPERM && errno != EOPNOTSUPP)
		return -errno;
	fd = openat(folder->parent, folder->name,
		    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* A process whose number was given before has its recording beside that. */
static int create_in(int dir, struct family_member *member)
{
	char name[FAMILY_NAME_ROOM];
	int fd;

	member->turn = 0;
	do {
		member->turn++;
		family_name(name, member);
		fd = openat(dir, name,
			    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	} while (fd < 0 && errno == EEXIST);
	if (fd < 0)
		return -errno;
	fchmod(fd, 0600);
	return fd;
}

static int create(const struct folder *folder, struct family_member *member)
{
	int fd = folder->fd >= 0 ? create_in(folder->fd, member) : -ENOENT;
	int made;

	if (fd != -ENOENT)
		return fd;
	/* It could not be held, or was removed. */
	made = make(folder);
	if (made < 0)
		return made;
	fd = create_in(made, member);
	close(made);
	return fd;
}

/* ------- messages: a number, and perhaps a descriptor ------- */

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr header;
};

static int send_number(int to, int32_t number, int fd)
{
	union control control = { .bytes = { 0 } };
	struct iovec text = { &number, sizeof(number) };
	struct msghdr message = { .msg_iov = &text, .msg_iovlen = 1 };
	ssize_t size;

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	do {
		size = sendmsg(to, &message, MSG_NOSIGNAL);
	} while (size < 0 && errno == EINTR);
	return size == sizeof(number) ? 0 : -EIO;
}

/* `*fd` is -1 if there was none.  -EIO also if nobody is there any more. */
static int receive_number(int from, int32_t *number, int *fd)
{
	union control control = { .bytes = { 0 } };
	struct iovec text = { number, sizeof(*number) };
	struct msghdr message = {
		.msg_iov = &text,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const struct cmsghdr *header;
	ssize_t size;

	do {
		size = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
	} while (size < 0 && errno == EINTR);
	*fd = -1;
	header = size > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return size == sizeof(*number) ? 0 : -EIO;
}

/* ------- the server ------- */

static void serve(struct folder *folder)
{
	struct family_member member;
	int32_t request;
	int answer, fd;

	while (!receive_number(SERVER_SOCKET, &request, &answer)) {
		if (answer < 0)
			continue;
		if (request == REQUEST_FOLDER) {
			if (folder->fd < 0)
				folder->fd = make(folder);
			send_number(answer, folder->fd, folder->fd);
		} else {
			member.pid = (uint32_t)request;
			fd = create(folder, &member);
			send_number(answer, fd < 0 ? fd : (int)member.turn, fd);
			if (fd >= 0)
				close(fd);
		}
		close(answer);
	}
}

/* A copy of a descriptor that is in nobody's way, and then in its place. */
static bool place(int from, int to)
{
	return from < 0 || dup2(from, to) >= 0;
}

/* Closes all that other processes may be waiting to see closed. */
static bool let_go(struct folder *folder, int socket)
{
	int parent = fcntl(folder->parent, F_DUPFD, SERVER_HIGH);
	int made = folder->fd < 0 ? -1 :
				    fcntl(folder->fd, F_DUPFD, SERVER_HIGH);
	int null = 0;

	socket = fcntl(socket, F_DUPFD, SERVER_HIGH);
	if (socket < 0 || parent < 0 || !place(socket, SERVER_SOCKET) ||
	    !place(parent, SERVER_PARENT) || !place(made, SERVER_FOLDER))
		return false;
	folder->parent = SERVER_PARENT;
	folder->fd = made < 0 ? -1 : SERVER_FOLDER;
	while (null < SERVER_SOCKET)
		close(null++);
	do {
		null = open("/dev/null", O_RDWR);
	} while (null >= 0 && null < STDERR_FILENO);
	setsid();
	return !chdir("/") &&
	       !syscall(SYS_close_range,
			made < 0 ? SERVER_FOLDER : SERVER_FOLDER + 1,
			UINT_MAX, 0);
}

/*
 * In a copy of this process, of whose threads only the present one is there:
 * whatever another one was about to do will never be done, so nothing here
 * allocates.  It executes no program: by that, it would become a child that
 * wait(2) tells of.
 */
static _Noreturn void be_server(struct folder folder, int socket,
				struct memory *memory)
{
	title_show_own();
	memory_let_go(memory);
	if (let_go(&folder, socket))
		serve(&folder);
	_exit(0);
}

/* Whether nothing can be lost, as an ordinary user's process cannot. */
static bool has_plain_rights(void)
{
	uid_t real, effective, saved;
	gid_t group, effective_group, saved_group;

	return !getresuid(&real, &effective, &saved) && effective &&
	       real == effective && effective == saved &&
	       !getresgid(&group, &effective_group, &saved_group) &&
	       group == effective_group && effective_group == saved_group;
}

void folder_keep_rights(struct folder *folder, struct memory *memory)
{
	uint64_t all = UINT64_MAX, before;
	int ends[2];
	long pid;

	if (folder->server >= 0 || folder->parent < 0 || has_plain_rights() ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	/* Without a signal at its end, wait(2) passes it over. */
	pid = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	if (!pid)
		be_server(*folder, ends[1], memory);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(all));
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return;
	}
	folder->server = hide(ends[0]);
	folder->server_pid = (pid_t)pid;
	folder->server_parent = getpid();
}

/* ------- whoever needs a file ------- */

/* Returns a descriptor; `*number` is what came with it. */
static int ask_server(const struct folder *folder, uint32_t request,
		      int32_t *number)
{
	const struct timeval limit = { .tv_sec = ANSWER_SECONDS };
	int ends[2], fd, rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	rc = send_number(folder->server, (int32_t)request, ends[1]);
	close(ends[1]);
	if (!rc)
		rc = receive_number(ends[0], number, &fd);
	close(ends[0]);
	if (rc)
		return rc;
	if (fd < 0)
		return *number < 0 ? *number : -EIO;
	return fd;
}

void folder_make(struct folder *folder)
{
	int32_t number;
	int fd = -EIO;

	if (folder->fd >= 0 || folder->parent < 0)
		return;
	if (folder->server >= 0)
		fd = ask_server(folder, REQUEST_FOLDER, &number);
	if (fd < 0)
		fd = make(folder);
	if (fd >= 0)
		folder->fd = hide(fd);
}

void folder_drop_empty(const struct folder *folder)
{
	struct stat held, named;

	/* By now, another one may have its name. */
	if (folder->fd >= 0 && !fstat(folder->fd, &held) &&
	    !fstatat(folder->parent, folder->name, &named,
		     AT_SYMLINK_NOFOLLOW) &&
	    held.st_ino == named.st_ino && held.st_dev == named.st_dev)
		unlinkat(folder->parent, folder->name, AT_REMOVEDIR);
}

int folder_create(const struct folder *folder, struct family_member *member)
{
	int32_t turn;
	int fd = -EIO;

	if (folder->server >= 0)
		fd = ask_server(folder, member->pid, &turn);
	if (fd < 0)
		return create(folder, member);
	member->turn = (uint32_t)turn;
	return fd;
}

/* It ends when the last one has closed its socket. */
static void wait_for_server(const struct folder *folder)
{
	const struct timespec nap = { .tv_nsec = 1000000 };

	if (folder->server_parent != getpid())
		return;
	for (int i = 0; i < END_NAPS; i++) {
		if (waitpid(folder->server_pid, NULL, WNOHANG | __WALL))
			return;
		nanosleep(&nap, NULL);
	}
}

void folder_close(struct folder *folder)
{
	if (folder->fd >= 0)
		linux_close_hidden(folder->fd);
	if (folder->parent >= 0)
		linux_close_hidden(folder->parent);
	if (folder->server >= 0) {
		linux_close_hidden(folder->server);
		wait_for_server(folder);
	}
	free(folder->name);
	*folder = FOLDER_NONE;
}
