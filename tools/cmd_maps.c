/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_maps.c - cprec maps: what was mapped */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/session/session.h"
#include "tools/commands.h"
#include "tools/dump_packets.h"
#include "tools/options.h"
#include "tools/print.h"
#include "tools/views.h"

/* Where names begin in /proc/PID/maps. */
#define NAME_COLUMN 73

static int run(struct options *options);

enum { OPTION_PROCESS = VIEW_OWN };

const struct command command_maps = {
	.name = "maps",
	.run = run,
	.arguments = "[FILE] [ADDR] [--at=T]",
	.summary = "what was mapped where",
	.usage = "maps [OPTION...] [FILE] [ADDR]",
	.about = "Lists what was mapped, as /proc/PID/maps does; with ADDR, an"
		 " address or a symbol,\n"
		 "what was mapped there.  Devices and numbers of files are not"
		 " recorded: they are 0.",
	.options = (const struct option_info[]) {
		VIEW_ROW_AT,
		{ OPTION_PROCESS, "process", "P",
		  "of a machine: what this process of its kernel has\n"
		  "mapped, a number or a name; without this, the one\n"
		  "that is present" },
		VIEW_ROW_DEBUG_DIR,
		{ VIEW_JSON, "json", NULL,
		  "one JSON object for each mapping: at, events,\n"
		  "addr, size, prot, region, file_offset, name" },
		{ 0 }
	},
};

/* ADDR; NULL: all. */
struct maps_command {
	const char *asked;
	const char *process;
	uint64_t addr;
	bool is_found;
	const struct view *view;
};

/* ------- printing ------- */

static void print_as_text(const struct region *mapping, const char *prot)
{
	const char *name = mapping->name ? mapping->name : "";
	int width = printf("%08" PRIx64 "-%08" PRIx64 " %s%c %08" PRIx64
			   " 00:00 0 ", mapping->start, mapping->end, prot,
			   mapping->kind == REGION_SHARED ? 's' : 'p',
			   mapping->offset);

	if (*name) {
		printf("%*s", width < NAME_COLUMN ? NAME_COLUMN - width : 0,
		       "");
		print_escaped(stdout, name, strlen(name));
	}
	putchar('\n');
}

static void print_mapping(const struct view *view,
			  const struct region *mapping)
{
	json_t *object = json_object();

	json_set_position(object, &view->at);
	dump_region(object, mapping);
	if (view->json) {
		print_json(object);
		return;
	}
	print_as_text(mapping,
		      json_string_value(json_object_get(object, "prot")));
	json_decref(object);
}

static int visit(void *context, const struct region *mapping)
{
	struct maps_command *command = context;

	if (command->asked && (command->addr < mapping->start ||
			       command->addr >= mapping->end))
		return 0;
	command->is_found = true;
	print_mapping(command->view, mapping);
	return 0;
}

/* ------- of a machine ------- */

/* It has no regions of its own: its kernel knows. */
static int visit_kernel(void *context, const struct kernel_mapping *mapping)
{
	const struct region region = {
		.start = mapping->start, .end = mapping->end,
		.prot = (mapping->reads ? MAY_READ : 0u) |
			(mapping->writes ? MAY_WRITE : 0u) |
			(mapping->executes ? MAY_EXEC : 0u),
		.kind = mapping->is_shared ? REGION_SHARED :
			mapping->file ? REGION_FILE : REGION_ANON,
		.offset = mapping->offset, .name = mapping->name,
	};

	return visit(context, &region);
}

static int each_of_kernel(struct view *view, struct maps_command *command,
			  struct failure *why)
{
	struct address_space space = { 0 };
	struct kernel_process process;
	int rc = opened_kernel(view->opened, why);

	if (!rc && command->process) {
		rc = kernel_find_process(view->opened->kernel, &view->at,
					 command->process, &process, why);
		space.has_table = true;
		space.table = process.table;
	}
	return rc ? rc : kernel_each_mapping(view->opened->kernel, &view->at,
					     &space, visit_kernel, command,
					     why);
}

/* ------- the command ------- */

static int each_mapping(struct view *view, struct maps_command *command,
			struct failure *why)
{
	if (command->process || recording_is_machine(view->recording))
		return each_of_kernel(view, command, why);
	return mappings_each(view->replayer, visit, command);
}

static int show(struct view *view, struct failure *why)
{
	struct maps_command *command = view->context;
	char at[POSITION_TEXT];
	int rc = 0;

	command->view = view;
	command->is_found = false;
	if (command->asked)
		rc = view_address(view, command->asked, &command->addr, why);
	if (!rc)
		rc = each_mapping(view, command, why);
	if (!rc && command->asked && !command->is_found)
		rc = failed(why, ERR_NOT_FOUND,
			    "0x%" PRIx64 " is not mapped at t=%s",
			    command->addr, position_text(at, &view->at));
	return rc;
}

static int run(struct options *options)
{
	struct maps_command command = { 0 };
	struct view view = {
		.show = show, .context = &command,
	};
	int id = 0, rc = 0;

	while (!rc && (id = options_next(options)) >= 0)
		if (id == OPTION_PROCESS)
			command.process = options->value;
		else
			rc = view_take_option(options, id, &view);
	if (!rc && id == OPTIONS_END)
		rc = view_take_word(options, &command.asked);
	return views_run(&view, options, rc ? rc : id);
}
