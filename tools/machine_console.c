/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_console.c - see machine_console.h */
#include "tools/machine_console.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/messages.h"

#define POLLED_MOST 257u	/* all connections, and input */

/* As QEMU has it: Ctrl-A, and then this. */
#define ESCAPE 0x01
#define ESCAPED_END 'x'

static struct console {
	bool is_terminal, escaped, is_closed;
	struct termios before;
} the_console;

/* A signal ends the machine as Ctrl-A x does. */
static volatile sig_atomic_t is_stopped;

static void on_signal(int number)
{
	(void)number;
	is_stopped = 1;
}

void machine_console_open(void)
{
	struct console *console = &the_console;
	const struct sigaction action = { .sa_handler = on_signal };
	struct termios raw;

	/* A file that may not grow is an error, which somebody is told. */
	signal(SIGXFSZ, SIG_IGN);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	console->is_terminal = !tcgetattr(STDIN_FILENO, &console->before);
	if (!console->is_terminal)
		return;
	raw = console->before;
	cfmakeraw(&raw);
	/* What cprec itself says begins in the first column. */
	raw.c_oflag |= OPOST;
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

void machine_console_close(void)
{
	const struct console *console = &the_console;

	if (console->is_terminal)
		tcsetattr(STDIN_FILENO, TCSANOW, &console->before);
}

/* Takes escapes out of what was typed; true if one ends the machine. */
static bool unescape(struct console *console, uint8_t *bytes, size_t *count)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count && console->is_terminal; i++) {
		uint8_t byte = bytes[i];

		if (!console->escaped && byte == ESCAPE) {
			console->escaped = true;
			continue;
		}
		if (console->escaped && byte == ESCAPED_END)
			return true;
		console->escaped = false;
		bytes[kept++] = byte;
	}
	if (console->is_terminal)
		*count = kept;
	return false;
}

/* Whether there is input; the sockets say themselves what they have. */
static bool wait_for(const struct machine_wait *wait, bool with_input)
{
	struct pollfd all[POLLED_MOST];
	const struct timespec most = {
		.tv_sec = (time_t)(wait->most / 1000000),
		.tv_nsec = (long)(wait->most % 1000000) * 1000,
	};
	size_t count = wait->count < POLLED_MOST ? wait->count :
						   POLLED_MOST - 1;

	all[0] = (struct pollfd){ with_input ? STDIN_FILENO : -1, POLLIN, 0 };
	for (size_t i = 0; i < count; i++)
		all[i + 1] = wait->sockets[i];
	if (ppoll(all, count + 1, &most, NULL) <= 0)
		return false;
	for (size_t i = 0; i < count; i++)
		wait->sockets[i].revents = all[i + 1].revents;
	return all[0].revents;
}

static enum machine_input take_input(void *context, uint8_t *bytes, size_t room,
				     size_t *count,
				     const struct machine_wait *wait)
{
	struct console *console = context;
	bool may_read = room && !console->is_closed;
	ssize_t got;

	if (is_stopped)
		return INPUT_STOPS;
	if (console->is_closed && !wait->count && !wait->most)
		return INPUT_CLOSED;
	if (!wait_for(wait, may_read))
		return is_stopped ? INPUT_STOPS :
		       console->is_closed ? INPUT_CLOSED : INPUT_NONE;
	got = read(STDIN_FILENO, bytes, room);
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return INPUT_NONE;
	console->is_closed = got <= 0;
	if (console->is_closed)
		return INPUT_CLOSED;
	*count = (size_t)got;
	if (unescape(console, bytes, count))
		return INPUT_STOPS;
	return *count ? INPUT_BYTES : INPUT_NONE;
}

/* Nobody need be there who reads it. */
static void write_output(void *context, const uint8_t *bytes, size_t count)
{
	(void)context;
	while (count) {
		ssize_t done = write(STDOUT_FILENO, bytes, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;
		bytes += done;
		count -= (size_t)done;
	}
}

static void warn(void *context, const char *text)
{
	(void)context;
	say_note("%s", text);
}

void machine_console_set(struct machine_options *options)
{
	options->input = take_input;
	options->output = write_output;
	options->warn = warn;
	options->context = &the_console;
}

static bool is_quiet(const struct machine_ending *ending)
{
	return ending->end == MACHINE_OFF || ending->end == MACHINE_EXITED;
}

void machine_say_end(const struct machine_ending *ending)
{
	static const char *const words[] = {
		[MACHINE_OFF] = "machine switched itself off",
		[MACHINE_RESET] = "machine reset itself",
		[MACHINE_STOPPED] = "machine was stopped",
		[MACHINE_IDLE] = "machine waits for what can never come",
		[MACHINE_LOCKED] = "machine is locked up",
		[MACHINE_PANICKED] = "machine's kernel panicked",
	};

	if (is_quiet(ending))
		return;
	if (ending->end >= MACHINE_EXITED)
		say_note("the machine's program exited with status %u",
			 ending->end - MACHINE_EXITED);
	else
		say_note("the %s%s%s", words[ending->end],
			 *ending->text ? ": " : "", ending->text);
}

int machine_status(const struct machine_ending *ending)
{
	if (ending->end >= MACHINE_EXITED)
		return (int)(ending->end - MACHINE_EXITED);
	return ending->end == MACHINE_LOCKED ||
	       ending->end == MACHINE_PANICKED ? EXIT_FAILED : EXIT_ANSWERED;
}
