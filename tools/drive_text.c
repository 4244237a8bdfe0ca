/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drive_text.c - see drive_text.h */
#include "tools/drive_text.h"

#include <stdlib.h>
#include <string.h>

static const char no_memory[] = "memory, of which there is none left";

/* Takes what is before the next comma; NULL: there is no memory. */
static char *take_item(const char **text)
{
	char *item = malloc(strlen(*text) + 1), *end = item;

	for (; item && **text; (*text)++) {
		if (**text == ',' && *++*text != ',')
			break;
		*end++ = **text;
	}
	if (item)
		*end = '\0';
	return item;
}

/* "on", "off" or nothing. */
static bool take_switch(const char *value, bool *out)
{
	*out = !value || !strcmp(value, "on");
	return *out || !strcmp(value, "off");
}

/* The value of "key=value" if an item is of this key; "" if it has none. */
static const char *value_of(const char *item, const char *key)
{
	size_t size = strlen(key);

	if (strncmp(item, key, size) != 0)
		return NULL;
	return item[size] == '=' ? item + size + 1 :
				   item[size] ? NULL : "";
}

/* What QEMU has besides, as it is here, or as nobody can tell. */
static const struct {
	const char *key, *value;	/* NULL: any */
} other_items[] = {
	{ "if", "virtio" }, { "format", "raw" }, { "media", "disk" },
	{ "id", NULL }, { "cache", NULL }, { "aio", NULL },
	{ "discard", NULL },
};

static const char *take_other(const char *item)
{
	for (size_t i = 0; i < sizeof(other_items) / sizeof(*other_items); i++) {
		const char *value = value_of(item, other_items[i].key);

		if (value && *value && (!other_items[i].value ||
					!strcmp(value, other_items[i].value)))
			return NULL;
		if (value && !strcmp(other_items[i].key, "format"))
			return "a raw image (format=raw): 'qemu-img convert -O"
			       " raw' makes one";
	}
	return "FILE[,readonly][,snapshot], or QEMU's"
	       " file=FILE,if=virtio,format=raw";
}

static const char *take_path(const char *path, struct disk_options *out)
{
	out->path = strdup(path);
	return out->path ? NULL : no_memory;
}

static const char *take(const char *item, bool first, struct disk_options *out)
{
	const char *value;
	bool *on = NULL;

	if ((value = value_of(item, "file")) && *value)
		return take_path(value, out);
	if ((value = value_of(item, "readonly")) ||
	    (value = value_of(item, "read-only")))
		on = &out->readonly;
	else if ((value = value_of(item, "snapshot")))
		on = &out->snapshot;
	if (on && (!first || *value))
		return take_switch(*value ? value : NULL, on) ? NULL :
		       "'on' or 'off' there";
	if (first && *item && !strchr(item, '='))
		return take_path(item, out);
	return take_other(item);
}

const char *drive_parse(const char *text, struct disk_options *out)
{
	bool first = true;

	*out = (struct disk_options){ 0 };
	while (*text || first) {
		char *item = take_item(&text);
		const char *wanted = item ? take(item, first, out) :
					    no_memory;

		free(item);
		if (wanted)
			return wanted;
		first = false;
	}
	return out->path ? NULL : "the name of a FILE";
}
