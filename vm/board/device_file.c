/* SPDX-License-Identifier: GPL-2.0-or-later */
/* device_file.c - see device_file.h */
#include "vm/board/device_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "vm/board/start_file.h"
#include "vm/board/state.h"

#define FILE_MOST (1u << 20)
#define BLANKS " \t\r"

static int is_wrong(const char *path, unsigned line, const char *what,
		    struct failure *why)
{
	return failed(why, ERR_INPUT, "'%s', line %u: %s", path, line, what);
}

/* A number that has 32 bits. */
static bool take_number(const char *word, uint32_t *out)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(word, &end, 0);
	*out = (uint32_t)value;
	return *word >= '0' && *word <= '9' && !*end && !errno &&
	       value <= UINT32_MAX;
}

/* What is wrong with a line; NULL: nothing.  No name: there is no register. */
static const char *take_line(char *line, struct device_register *out)
{
	char *rest, *word;

	*out = (struct device_register){ 0 };
	line[strcspn(line, "#")] = '\0';
	word = strtok_r(line, BLANKS, &rest);
	if (!word)
		return NULL;
	if (!take_number(word, &out->addr))
		return "it does not begin with an address of 32 bits";
	if (out->addr % 4)
		return "the address is no multiple of 4";
	word = strtok_r(NULL, BLANKS, &rest);
	if (!word || strlen(word) >= sizeof(out->name))
		return "a name of up to 31 bytes must follow the address";
	memcpy(out->name, word, strlen(word));
	word = strtok_r(NULL, BLANKS, &rest);
	if (word && !take_number(word, &out->value))
		return "behind the name is no value of 32 bits";
	word = word ? strtok_r(NULL, BLANKS, &rest) : NULL;
	out->is_read_only = word;
	if (word && (strcmp(word, "read-only") != 0 ||
		     strtok_r(NULL, BLANKS, &rest)))
		return "behind the value can only be 'read-only'";
	return NULL;
}

/* Keeps the order. */
static int add(struct device_registers *registers,
	       const struct device_register *one, struct failure *why)
{
	size_t i = registers->count;

	if (array_reserve(registers->list, registers->count + 1,
			  registers->room))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	while (i && registers->list[i - 1].addr > one->addr) {
		registers->list[i] = registers->list[i - 1];
		i--;
	}
	registers->list[i] = *one;
	registers->list[i].first = one->value;
	registers->count++;
	return 0;
}

static int read_lines(struct device_registers *out, char *text,
		      const char *path, struct failure *why)
{
	unsigned number = 0;
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		struct device_register one;
		const char *wrong = take_line(line, &one);
		int rc = 0;

		number++;
		if (wrong)
			return is_wrong(path, number, wrong, why);
		if (!*one.name)
			continue;
		if (device_registers_find(out, one.addr))
			return is_wrong(path, number, "there is already a"
					" register at this address", why);
		rc = add(out, &one, why);
		if (rc)
			return rc;
	}
	return 0;
}

int device_registers_read(struct device_registers *out, const char *path,
			  struct failure *why)
{
	struct start_file file;
	int rc = start_file_read(&file, path, "the description of devices",
				 FILE_MOST, why);

	if (rc)
		return rc;
	file.bytes[file.size] = '\0';
	rc = read_lines(out, (char *)file.bytes, path, why);
	start_file_release(&file);
	return rc;
}

void device_registers_reset(struct device_registers *registers)
{
	for (size_t i = 0; i < registers->count; i++)
		registers->list[i].value = registers->list[i].first;
}

#define OF_ALL(registers, member, limit)                                       \
	state_part(state, &(struct state_part){                                \
		.name = #member, .first = &(registers)->list->member,          \
		.size = sizeof((registers)->list->member),                     \
		.count = (registers)->count,                                   \
		.stride = sizeof(*(registers)->list), .most = (limit) })

void device_registers_state(struct device_registers *registers,
			    struct state *state)
{
	size_t count = registers->count;

	state_device(state, "register", 0);
	/* No more than could be read. */
	STATE_NUMBER(state, count, state->out ? UINT64_MAX : state->size / 4);
	if (array_reserve(registers->list, count, registers->room))
		state->damaged = true;
	if (state->damaged || !count)
		return;
	for (; registers->count < count; registers->count++)
		registers->list[registers->count] =
			(struct device_register){ 0 };
	OF_ALL(registers, addr, UINT32_MAX);
	OF_ALL(registers, value, UINT32_MAX);
	OF_ALL(registers, first, UINT32_MAX);
	OF_ALL(registers, is_read_only, 1);
}

void device_registers_release(struct device_registers *registers)
{
	free(registers->list);
	*registers = (struct device_registers){ 0 };
}

struct device_register *
device_registers_find(const struct device_registers *registers, uint64_t addr)
{
	for (size_t i = 0; i < registers->count; i++)
		if (registers->list[i].addr == (addr & ~UINT64_C(3)))
			return &registers->list[i];
	return NULL;
}
