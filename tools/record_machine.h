/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_machine.h - `cprec record --machine`: options, and the console
 */
#ifndef CPREC_TOOLS_RECORD_MACHINE_H
#define CPREC_TOOLS_RECORD_MACHINE_H

#include <stdbool.h>

#include "recorder/machine.h"
#include "tools/options.h"

/* Rows of the table of options, and their numbers. */
enum {
	OPTION_MACHINE = 512, OPTION_KERNEL, OPTION_INITRD, OPTION_APPEND,
	OPTION_MEMORY, OPTION_CPU, OPTION_FIRMWARE, OPTION_DEVICE,
	OPTION_DRIVE, OPTION_NET, OPTION_CONSOLE, OPTION_NO_REBOOT, OPTION_TIME,
	OPTION_CORES, OPTION_TREE,
};

#define MACHINE_ROWS                                                           \
	{ OPTION_MACHINE, "machine", "NAME",                                   \
	  "record a whole machine, not a program: virt, with an\n"            \
	  "AArch64 processor; mps2-an385, mps2-an386 or\n"                    \
	  "mps2-an500, with a Cortex-M3, M4 or M7; its console\n"             \
	  "is standard input and output, Ctrl-A x ends it" },                  \
	{ OPTION_KERNEL, "kernel", "IMAGE",                                    \
	  "the machine's kernel (arm64's 'Image')", .with = "machine" },       \
	{ OPTION_INITRD, "initrd", "FILE",                                     \
	  "its initial file system", .with = "machine" },                      \
	{ OPTION_APPEND, "append", "TEXT",                                     \
	  "the kernel's command line", .with = "machine" },                    \
	{ OPTION_TREE, "dtb", "FILE",                                          \
	  "its device tree, for the kernel; without this, it\n"                \
	  "says what the machine has", .with = "machine" },                    \
	{ OPTION_MEMORY, "memory", "N",                                        \
	  "how much memory it has, in bytes (m, g: times 1024\n"              \
	  "times 1024, ...); without this: 512m", .with = "machine" },         \
	{ OPTION_CPU, "cpu", "MODEL",                                          \
	  "its processor: cortex-a53 (without this) or\n"                     \
	  "cortex-a72", .with = "machine" },                                   \
	{ OPTION_CORES, "smp", "N",                                            \
	  "how many cores that has, 1 to 8; they take turns;\n"                \
	  "without this: 1", .with = "machine" },                              \
	{ OPTION_FIRMWARE, "firmware", "FILE",                                 \
	  "what a machine without a kernel executes: ELF, or\n"               \
	  "bytes for address 0", .with = "machine" },                          \
	{ OPTION_DEVICE, "device", "FILE",                                     \
	  "a description of further registers: lines of\n"                    \
	  "ADDRESS NAME [VALUE [read-only]]", .with = "machine" },             \
	{ OPTION_DRIVE, "drive", "FILE",                                       \
	  "a disk, whose raw image is FILE, and is changed;\n"                \
	  "FILE,readonly: it cannot be; FILE,snapshot: changes\n"             \
	  "end with the machine", .with = "machine" },                         \
	{ OPTION_NET, "net", "HOW",                                            \
	  "user: a network card, and what this user can reach;\n"             \
	  "without this: none", .with = "machine" },                           \
	{ OPTION_CONSOLE, "console", "DEVICE",                                 \
	  "which one standard input goes to: pl011 (without\n"                \
	  "this) or virtio", .with = "machine" },                              \
	{ OPTION_NO_REBOOT, "no-reboot", NULL,                                 \
	  "a reset ends the machine; without this, it begins\n"               \
	  "anew, and the recording goes on", .with = "machine" },              \
	{ OPTION_TIME, "time", "HOW",                                          \
	  "virtual (without this): where nothing is waited for,\n"            \
	  "idle time takes none; real: it takes as long as the\n"             \
	  "machine waits", .with = "machine" }

/* Takes one of them.  0, or OPTIONS_WRONG. */
int machine_take_option(const struct options *options, int id,
			struct machine_options *out);

/* With what nobody has said; no kernel yet. */
void machine_options_init(struct machine_options *out);

/* Whether it has all that its kind needs, and nothing that it does not know;
 * else prints a message. */
bool machine_check(const struct options *options,
		   const struct machine_options *machine);

/* Records it; says how it ended, unless `quiet`.  Returns the exit status. */
int machine_run(struct machine_options *options, bool quiet);

#endif
