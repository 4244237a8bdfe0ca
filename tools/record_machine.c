/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_machine.c - see record_machine.h */
#include "tools/record_machine.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/processor.h"
#include "formats/registers.h"
#include "replayer/session/session.h"
#include "tools/commands.h"
#include "tools/drive_text.h"
#include "tools/messages.h"
#include "tools/programs.h"

#define MEMORY_DEFAULT (UINT64_C(512) << 20)

#define MACHINES "'virt', 'mps2-an385', 'mps2-an386' or 'mps2-an500'"
#define POLLED_MOST 257u	/* all connections, and input */

/* As QEMU has it: Ctrl-A, and then this. */
#define ESCAPE 0x01
#define ESCAPED_END 'x'

/* ------- options ------- */

void machine_options_init(struct machine_options *out)
{
	out->live.virt.model = processor_of(ARCH_AARCH64_MACHINE)->model;
	out->live.virt.memory = MEMORY_DEFAULT;
	out->live.virt.append = out->live.mps2.append = "";
}

static int take_memory(const struct options *options, int id, uint64_t *out)
{
	if (number_parse_scaled(options->value, 1024, out) &&
	    *out >= VIRT_MEMORY_LEAST && *out <= VIRT_MEMORY_MOST &&
	    *out % VIRT_MEMORY_UNIT == 0)
		return 0;
	return options_bad_value(options, id, "whole megabytes, from 16m to"
				 " 64g");
}

static int take_device_file(const struct options *options, int id,
			    struct mps2_options *out)
{
	if (out->device_file_count == MPS2_DEVICE_FILES)
		return options_bad_value(options, id, "one of 8 files at most");
	out->device_files[out->device_file_count++] = options->value;
	return 0;
}

static int take_drive(const struct options *options, int id,
		      struct virt_options *out)
{
	const char *wanted;

	if (out->drive_count == VIRT_DRIVES)
		return options_wrong(options, "a machine has at most %u drives",
				     VIRT_DRIVES);
	wanted = drive_parse(options->value, &out->drives[out->drive_count]);
	if (wanted)
		return options_bad_value(options, id, wanted);
	out->drive_count++;
	return 0;
}

int machine_take_option(const struct options *options, int id,
			struct machine_options *out)
{
	switch (id) {
	case OPTION_MACHINE:
		out->live.kind = live_find(options->value);
		if (!out->live.kind)
			return options_bad_value(options, id, MACHINES);
		break;
	case OPTION_KERNEL:
		out->live.virt.kernel = options->value;
		break;
	case OPTION_INITRD:
		out->live.virt.initrd = options->value;
		break;
	case OPTION_APPEND:
		out->live.virt.append = out->live.mps2.append = options->value;
		break;
	case OPTION_FIRMWARE:
		out->live.mps2.firmware = options->value;
		break;
	case OPTION_DEVICE:
		return take_device_file(options, id, &out->live.mps2);
	case OPTION_MEMORY:
		return take_memory(options, id, &out->live.virt.memory);
	case OPTION_CPU:
		if (!processor_find(ARCH_AARCH64_MACHINE, options->value))
			return options_bad_value(options, id, "'cortex-a53' or"
						 " 'cortex-a72'");
		out->live.virt.model = options->value;
		break;
	case OPTION_NET:
		if (strcmp(options->value, "user") &&
		    strcmp(options->value, "none"))
			return options_bad_value(options, id, "'user' or"
						 " 'none'");
		out->live.virt.network = !strcmp(options->value, "user");
		break;
	case OPTION_CONSOLE:
		if (strcmp(options->value, "virtio") &&
		    strcmp(options->value, "pl011"))
			return options_bad_value(options, id, "'pl011' or"
						 " 'virtio'");
		out->live.virt.has_virtio_console =
			!strcmp(options->value, "virtio");
		break;
	case OPTION_DRIVE:
		return take_drive(options, id, &out->live.virt);
	}
	return 0;
}

/* ------- the console ------- */

struct console {
	bool is_terminal, escaped, is_closed;
	struct termios before;
};

/* A signal ends the machine as Ctrl-A x does. */
static volatile sig_atomic_t is_stopped;

static void on_signal(int number)
{
	(void)number;
	is_stopped = 1;
}

static void open_console(struct console *console)
{
	const struct sigaction action = { .sa_handler = on_signal };
	struct termios raw;

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

static void close_console(const struct console *console)
{
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
	if (console->is_closed && !wait->count)
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

/* ------- recording ------- */

static void say_end(const struct machine_ending *ending)
{
	static const char *const words[] = {
		[MACHINE_OFF] = "switched itself off",
		[MACHINE_RESET] = "reset itself",
		[MACHINE_STOPPED] = "was stopped",
		[MACHINE_IDLE] = "waits for what can never come",
		[MACHINE_LOCKED] = "is locked up",
	};

	if (ending->end >= MACHINE_EXITED)
		say_note("the machine's program exited with status %u",
			 ending->end - MACHINE_EXITED);
	else
		say_note("the machine %s%s%s", words[ending->end],
			 *ending->text ? ": " : "", ending->text);
}

static bool is_quiet_end(const struct machine_ending *ending)
{
	return ending->end == MACHINE_OFF || ending->end == MACHINE_EXITED;
}

int machine_run(struct machine_options *options, bool quiet)
{
	struct console console = { 0 };
	struct machine_ending ending = { 0 };
	struct failure why;
	int rc;

	options->live.virt.clock = (uint64_t)time(NULL);
	options->live.mps2.clock = options->live.virt.clock;
	if (getrandom(options->live.virt.seed, sizeof(options->live.virt.seed), 0) < 0)
		memset(options->live.virt.seed, 1, sizeof(options->live.virt.seed));
	options->input = take_input;
	options->output = write_output;
	options->warn = warn;
	options->context = &console;
	open_console(&console);
	rc = machine_record(options, &ending, &why);
	close_console(&console);
	if (rc)
		return program_not_run(ERR_SYSTEM, &why);
	if (!quiet && !is_quiet_end(&ending))
		say_end(&ending);
	if (ending.end >= MACHINE_EXITED)
		return (int)(ending.end - MACHINE_EXITED);
	return ending.end == MACHINE_LOCKED ? EXIT_FAILED : EXIT_ANSWERED;
}

const char *machine_missing(const struct machine_options *options)
{
	if (options->live.kind == &live_virt)
		return options->live.virt.kernel ? NULL :
		       "the machine's kernel is missing: --kernel";
	return options->live.mps2.firmware ? NULL :
	       "the machine's firmware is missing: --firmware";
}
