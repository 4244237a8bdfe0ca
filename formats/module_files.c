/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module_files.c - see module_files.h */
#include "formats/module_files.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/region.h"

/* A module takes some 200 bytes of memory, but 6 of a chunk. */
#define CONTENT_MOST (4u << 20)

/* ------- encoding ------- */

void module_files_encode(struct output *out, const struct module_files *module)
{
	size_t length = strlen(module->path);

	assert(length && length <= REGION_NAME_MAX);
	assert(module->build_id.size <= BUILD_ID_MOST);
	output_text(out, module->path, length);
	output_varint(out, module->build_id.size);
	output_bytes(out, module->build_id.bytes, module->build_id.size);
	for (unsigned i = 0; i < MODULE_FILES; i++) {
		const struct kept_file *file = &module->files[i];

		assert(file->size <= KEPT_FILE_MOST);
		output_varint(out, file->size);
		if (!file->size)
			continue;
		assert(file->number);
		output_varint(out, file->member);
		output_varint(out, file->number);
	}
}

/* ------- decoding ------- */

static int take_path(struct input *in, struct module_files *module)
{
	size_t size;
	const char *path = input_text(in, REGION_NAME_MAX, &size);

	if (in->error)
		return in->error;
	if (!size)
		return ERR_CORRUPT;
	module->path = strndup(path, size);
	return module->path ? 0 : ERR_NO_MEMORY;
}

static int take_build_id(struct input *in, struct build_id *out)
{
	const uint8_t *bytes;

	out->size = input_count(in, BUILD_ID_MOST);
	bytes = input_bytes(in, out->size);
	if (in->error)
		return in->error;
	memcpy(out->bytes, bytes, out->size);
	return 0;
}

static int take_file(struct input *in, struct kept_file *out)
{
	out->size = input_count(in, KEPT_FILE_MOST);
	if (in->error || !out->size)
		return in->error;
	out->member = (uint32_t)input_count(in, UINT32_MAX);
	out->number = (uint32_t)input_count(in, UINT32_MAX);
	if (in->error)
		return in->error;
	return out->number ? 0 : ERR_CORRUPT;
}

static int take_module(struct input *in, struct module_files *module)
{
	int rc = take_path(in, module);

	if (!rc)
		rc = take_build_id(in, &module->build_id);
	for (unsigned i = 0; i < MODULE_FILES && !rc; i++)
		rc = take_file(in, &module->files[i]);
	return rc;
}

/* Takes them off again from `count` on. */
static void forget(struct module_list *modules, size_t count)
{
	while (modules->count > count)
		free(modules->list[--modules->count].path);
}

int module_files_decode(struct module_list *modules, const uint8_t *bytes,
			size_t size)
{
	struct input in = { bytes, bytes + size, 0 };
	size_t before = modules->count;
	int rc = size > CONTENT_MOST ? ERR_CORRUPT : 0;

	while (!rc && input_left(&in)) {
		struct module_files *module;

		if (array_room(modules->list, modules->count, modules->room)) {
			rc = ERR_NO_MEMORY;
			break;
		}
		module = &modules->list[modules->count++];
		*module = (struct module_files){ 0 };
		rc = take_module(&in, module);
	}
	if (rc)
		forget(modules, before);
	return rc;
}

void module_files_release(struct module_list *modules)
{
	forget(modules, 0);
	free(modules->list);
	*modules = (struct module_list){ 0 };
}

/* ------- looking up ------- */

const struct module_files *module_files_find(const struct module_list *modules,
					     const char *path)
{
	for (size_t i = 0; i < modules->count; i++)
		if (!strcmp(modules->list[i].path, path))
			return &modules->list[i];
	return NULL;
}

const char *build_id_text(char text[BUILD_ID_TEXT],
			  const struct build_id *build_id)
{
	text[0] = '\0';
	for (size_t i = 0; i < build_id->size; i++)
		snprintf(text + 2 * i, 3, "%02x", build_id->bytes[i]);
	return text;
}
