/* SPDX-License-Identifier: GPL-2.0-or-later */
/* given_tree.c - see given_tree.h */
#include "vm/board/given_tree.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"
#include "vm/board/device_tree.h"
#include "vm/board/tree_reader.h"

/* What a node says of itself and of those in it. */
struct node {
	const char *name;
	bool is_looked_at;	/* all its properties are known */
	bool is_off, is_memory, is_core;
	struct input reg, ranges;
	bool has_ranges;
	bool is_flat;		/* addresses of those in it are the machine's */
	uint64_t address_cells, size_cells;
};

struct taking {
	const struct virt_tree *about;
	const char *path;
	struct tree_reader reader;
	struct device_tree tree;
	struct tree_absent *absent;
	struct node nodes[TREE_DEPTH + 1];	/* the first is around all */
	unsigned depth;
	bool has_chosen, has_memory;
	struct failure *why;
};

/* ------- what is there ------- */

static bool is_inside(const struct region *region, uint64_t addr, uint64_t size)
{
	return region->start <= addr && addr < region->end &&
	       size <= region->end - addr;
}

static bool is_there(const struct taking *taking, uint64_t addr, uint64_t size)
{
	for (size_t i = 0; i < taking->about->region_count; i++)
		if (is_inside(&taking->about->regions[i], addr, size))
			return true;
	return false;
}

static void note_absent(struct taking *taking, const struct node *node)
{
	struct tree_absent *absent = taking->absent;

	if (!absent->count++)
		snprintf(absent->first, sizeof(absent->first), "%s",
			 node->name);
}

static int check_memory(struct taking *taking, uint64_t addr, uint64_t size)
{
	uint64_t memory = taking->about->options->memory;
	const struct region ram = { .start = VIRT_RAM,
				    .end = VIRT_RAM + memory };

	if (is_inside(&ram, addr, size)) {
		taking->has_memory = true;
		return 0;
	}
	return failed(taking->why, ERR_INPUT, "the device tree '%s' has %llu"
		      " KiB of memory at 0x%llx, the machine has %llu MiB at"
		      " 0x%llx", taking->path, (unsigned long long)size >> 10,
		      (unsigned long long)addr,
		      (unsigned long long)memory >> 20,
		      (unsigned long long)VIRT_RAM);
}

/* Where its registers or its memory are. */
static int check_reg(struct taking *taking, struct node *node,
		     const struct node *around)
{
	struct input in = node->reg;

	while (input_left(&in)) {
		uint64_t addr = tree_number(&in,
					    (unsigned)around->address_cells);
		uint64_t size = tree_number(&in, (unsigned)around->size_cells);

		if (in.error)
			return ERR_CORRUPT;
		if (!size)
			continue;
		if (node->is_memory) {
			int rc = check_memory(taking, addr, size);

			if (rc)
				return rc;
		} else if (!is_there(taking, addr, size)) {
			note_absent(taking, node);
			return 0;
		}
	}
	return 0;
}

static void check_core(struct taking *taking, const struct node *node,
		       const struct node *around)
{
	struct input in = node->reg;

	if (tree_number(&in, (unsigned)around->address_cells) >=
	    taking->about->options->cores)
		note_absent(taking, node);
}

/* All that there is of the present node, but for the nodes in it. */
static int look(struct taking *taking)
{
	struct node *node = &taking->nodes[taking->depth];
	const struct node *around = node - 1;

	if (!taking->depth || node->is_looked_at)
		return 0;
	node->is_looked_at = true;
	node->is_flat = taking->depth == 1 ||
			(around->is_flat && node->has_ranges &&
			 !input_left(&node->ranges));
	/* Others have addresses of their own: a bus that must be asked. */
	if (node->is_off || around->address_cells > 2 ||
	    around->size_cells > 2)
		return 0;
	if (node->is_core)
		check_core(taking, node, around);
	else if (around->is_flat && around->address_cells)
		return check_reg(taking, node, around);
	return 0;
}

/* ------- taking it over ------- */

static bool is_chosen(const struct taking *taking)
{
	return taking->depth == 2 &&
	       !strcmp(taking->nodes[2].name, "chosen");
}

static void put_start(struct taking *taking)
{
	const struct virt_options *options = taking->about->options;

	taking->has_chosen = true;
	if (*options->append)
		tree_text(&taking->tree, "bootargs", options->append);
	virt_tree_initrd(&taking->tree, taking->about);
}

/* Whether this start says so itself. */
static bool is_replaced(const struct taking *taking, const char *name)
{
	if (!is_chosen(taking))
		return false;
	return strcmp(name, "bootargs") ?
		       taking->about->initrd_size &&
			       (!strcmp(name, "linux,initrd-start") ||
				!strcmp(name, "linux,initrd-end")) :
		       *taking->about->options->append;
}

static int begin_node(struct taking *taking, const struct tree_item *item)
{
	int rc = look(taking);

	if (rc)
		return rc;
	taking->nodes[++taking->depth] = (struct node){
		.name = item->name, .address_cells = 2, .size_cells = 1,
	};
	tree_begin(&taking->tree, item->name);
	if (is_chosen(taking))
		put_start(taking);
	return 0;
}

static int end_node(struct taking *taking)
{
	int rc = look(taking);

	if (rc)
		return rc;
	if (taking->depth == 1 && !taking->has_chosen) {
		tree_begin(&taking->tree, "chosen");
		put_start(taking);
		tree_end(&taking->tree);
	}
	tree_end(&taking->tree);
	taking->depth--;
	return 0;
}

static bool is_text(const struct tree_item *item, const char *text)
{
	return item->size == strlen(text) + 1 &&
	       !memcmp(item->bytes, text, item->size);
}

static void take_property(struct taking *taking, const struct tree_item *item)
{
	struct node *node = &taking->nodes[taking->depth];
	struct input in = { item->bytes, item->bytes + item->size, 0 };

	if (!strcmp(item->name, "#address-cells"))
		node->address_cells = tree_number(&in, 1);
	else if (!strcmp(item->name, "#size-cells"))
		node->size_cells = tree_number(&in, 1);
	else if (!strcmp(item->name, "reg"))
		node->reg = in;
	else if (!strcmp(item->name, "ranges")) {
		node->ranges = in;
		node->has_ranges = true;
	} else if (!strcmp(item->name, "status"))
		node->is_off = !is_text(item, "okay") && !is_text(item, "ok");
	else if (!strcmp(item->name, "device_type")) {
		node->is_memory = is_text(item, "memory");
		node->is_core = is_text(item, "cpu");
	}
	if (!is_replaced(taking, item->name))
		tree_bytes(&taking->tree, item->name, item->bytes, item->size);
}

static int take_reserved(struct taking *taking)
{
	uint64_t addr, size;
	int rc;

	for (;;) {
		rc = tree_reader_reserved(&taking->reader, &addr, &size);
		if (rc || !size)
			return rc;
		tree_reserve(&taking->tree, addr, size);
	}
}

static int take_items(struct taking *taking)
{
	struct tree_item item;
	int rc = take_reserved(taking);

	while (!rc) {
		rc = tree_reader_next(&taking->reader, &item);
		if (rc || item.kind == TREE_END)
			return rc;
		if (item.kind == TREE_NODE)
			rc = begin_node(taking, &item);
		else if (item.kind == TREE_NODE_END)
			rc = end_node(taking);
		else
			take_property(taking, &item);
	}
	return rc;
}

/* ------- what is wrong with it ------- */

static const char *other_kind(const struct start_file *file)
{
	static const char source[] = "/dts-v1/";

	if (file->size >= sizeof(source) &&
	    !memcmp(file->bytes, source, sizeof(source) - 1))
		return "it is source text: dtc makes one of it";
	return "it has no such header";
}

static int explain(const struct start_file *file, int rc, struct failure *why)
{
	switch (rc) {
	case ERR_TRUNCATED:
		return failed(why, ERR_INPUT, "the device tree '%s' was cut"
			      " off", file->path);
	case ERR_CORRUPT:
		return failed(why, ERR_INPUT, "the device tree '%s' is damaged",
			      file->path);
	case ERR_VERSION:
		return failed(why, ERR_INPUT, "the device tree '%s' is of"
			      " another version than 16 or 17", file->path);
	}
	return rc;
}

static int take(struct taking *taking, struct output *out,
		const struct start_file *file)
{
	int rc = tree_reader_begin(&taking->reader, file->bytes, file->size);

	if (!rc)
		rc = take_items(taking);
	if (rc)
		return explain(file, rc, taking->why);
	if (!taking->has_memory)
		return failed(taking->why, ERR_INPUT, "the device tree '%s'"
			      " has no memory", file->path);
	rc = device_tree_end(&taking->tree, out);
	return rc ? failed(taking->why, rc, "out of memory") : 0;
}

int given_tree_make(struct output *out, struct tree_absent *absent,
		    const struct virt_tree *about,
		    const struct start_file *file, struct failure *why)
{
	struct taking taking = {
		.about = about, .path = file->path, .absent = absent,
		.why = why,
	};
	int rc;

	*absent = (struct tree_absent){ 0 };
	if (!tree_is_one(file->bytes, file->size))
		return failed(why, ERR_INPUT, "'%s' is no device tree: %s",
			      file->path, other_kind(file));
	rc = take(&taking, out, file);
	device_tree_release(&taking.tree);
	return rc;
}
