/* SPDX-License-Identifier: GPL-2.0-or-later */
/* abi.c - which kinds of guests there are */
#include <string.h>

#include "formats/region.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/calls.h"

static const struct linux_abi *const kinds[] = {
	&abi_x86_64,
	&abi_arm64,
	&abi_i386,
	&abi_arm,
};

const struct linux_abi *linux_abi(unsigned arch)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i]->arch == arch)
			return kinds[i];
	return NULL;
}

const struct linux_abi *linux_abi_of_machine(unsigned machine,
					     unsigned elf_class)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i]->elf_machine == machine &&
		    kinds[i]->elf_class == elf_class)
			return kinds[i];
	return NULL;
}

const struct linux_call *abi_call(const struct linux_abi *abi, uint64_t number)
{
	const struct call_numbers *numbers = &abi->numbers;

	if (number < numbers->low_count)
		return numbers->low[number] ?
			       &linux_calls[numbers->low[number] - 1] :
			       NULL;
	for (size_t i = 0; i < numbers->other_count; i++)
		if (numbers->others[i].number == number)
			return &linux_calls[numbers->others[i].call];
	return NULL;
}

static uint64_t take_user(uint64_t value)
{
	return (uint16_t)value == UINT16_MAX ? UINT32_MAX : (uint16_t)value;
}

/* The argument that a letter is for; the registers behind it follow. */
static uint64_t take(char letter, const uint64_t *regs, unsigned *from)
{
	uint64_t value = regs[*from];

	*from += letter == 'p' ? 2 : letter == '-' ? 0 : 1;
	switch (letter) {
	case 'p':
		return value | regs[*from - 1] << 32;
	case 'P':
		return value * GUEST_PAGE;
	case 's':
		return (uint64_t)(int64_t)(int32_t)value;
	case 'u':
		return take_user(value);
	case 'c':
		return value & ~IPC_MARK;
	case '-':
		return 0;
	default:
		return value;
	}
}

void abi_take_arguments(const struct linux_abi *abi, uint64_t number,
			uint64_t args[CALL_ARGS])
{
	const struct call_numbers *numbers = &abi->numbers;
	const char *shape = numbers->shapes && number < numbers->low_count ?
				    numbers->shapes[number] : NULL;
	uint64_t regs[CALL_ARGS + 1] = { 0 }, last = 0;
	unsigned from = 0, to = 0;

	if (!shape)
		return;
	memcpy(regs, args, CALL_ARGS * sizeof(*args));
	for (; to < CALL_ARGS && from < CALL_ARGS; shape += *shape != 0) {
		uint64_t value = take(*shape, regs, &from);

		if (*shape == 'l')
			last = value;
		else if (*shape != 'x')
			args[to++] = value;
	}
	while (to < CALL_ARGS) {
		args[to++] = last;
		last = 0;
	}
}
