/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_machine.c - see record_machine.h */
#include "tools/record_machine.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "formats/error.h"
#include "formats/processor.h"
#include "formats/registers.h"
#include "replayer/session/session.h"
#include "tools/commands.h"
#include "tools/drive_text.h"
#include "tools/machine_console.h"
#include "tools/machine_where.h"
#include "tools/messages.h"
#include "tools/programs.h"

#define MEMORY_DEFAULT (UINT64_C(512) << 20)

#define MACHINES "'virt', 'mps2-an385', 'mps2-an386' or 'mps2-an500'"

/* ------- options ------- */

void machine_options_init(struct machine_options *out)
{
	out->live.virt.model = processor_of(ARCH_AARCH64_MACHINE)->model;
	out->live.virt.memory = MEMORY_DEFAULT;
	out->live.virt.cores = 1;
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

static int take_cores(const struct options *options, int id, unsigned *out)
{
	uint64_t count;

	if (!number_parse(options->value, &count) || count < 1 ||
	    count > BOARD_CORES_MOST)
		return options_bad_value(options, id, "a number from 1 to 8");
	*out = (unsigned)count;
	return 0;
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
	case OPTION_TREE:
		out->live.virt.tree = options->value;
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
	case OPTION_CORES:
		return take_cores(options, id, &out->live.virt.cores);
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
	case OPTION_NO_REBOOT:
		out->ends_at_reset = true;
		break;
	case OPTION_TIME:
		if (strcmp(options->value, "real") &&
		    strcmp(options->value, "virtual"))
			return options_bad_value(options, id, "'virtual' or"
						 " 'real'");
		out->waits = !strcmp(options->value, "real");
		break;
	}
	return 0;
}

/* What only one kind of machine knows: those with a kernel, or firmware. */
static const struct {
	int id;
	bool is_of_kernels;
} known[] = {
	{ OPTION_KERNEL, true }, { OPTION_INITRD, true },
	{ OPTION_TREE, true }, { OPTION_MEMORY, true }, { OPTION_CPU, true },
	{ OPTION_CORES, true }, { OPTION_DRIVE, true },
	{ OPTION_NET, true }, { OPTION_CONSOLE, true },
	{ OPTION_FIRMWARE, false }, { OPTION_DEVICE, false },
};

bool machine_check(const struct options *options,
		   const struct machine_options *machine)
{
	const struct live_kind *kind = machine->live.kind;
	bool has_kernel = kind == &live_virt;
	const char *path = has_kernel ? machine->live.virt.kernel :
					machine->live.mps2.firmware;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].is_of_kernels == has_kernel ||
		    !options_has(options, known[i].id))
			continue;
		options_wrong(options, "the machine '%s' has no --%s",
			      kind->name, options_name(options, known[i].id));
		return false;
	}
	if (!path)
		options_wrong(options, has_kernel ?
			      "the machine's kernel is missing: --kernel" :
			      "the machine's firmware is missing: --firmware");
	return path;
}

/* ------- recording ------- */

/* Where the kernel was, if it can be found. */
static void add_place(const struct machine_options *options,
		      struct machine_ending *ending)
{
	size_t size = strlen(ending->text);

	machine_where(options->path, ending->text + size,
		      sizeof(ending->text) - size);
}

int machine_run(struct machine_options *options, bool quiet)
{
	struct machine_ending ending = { 0 };
	struct virt_options *virt = &options->live.virt;
	struct failure why;
	int rc;

	virt->clock = options->live.mps2.clock = (uint64_t)time(NULL);
	if (getrandom(virt->seed, sizeof(virt->seed), 0) < 0)
		memset(virt->seed, 1, sizeof(virt->seed));
	machine_console_set(options);
	machine_console_open();
	rc = machine_record(options, &ending, &why);
	machine_console_close();
	if (rc)
		return program_not_run(ERR_SYSTEM, &why);
	if (!quiet && ending.end == MACHINE_PANICKED)
		add_place(options, &ending);
	if (!quiet)
		machine_say_end(&ending);
	return machine_status(&ending);
}
