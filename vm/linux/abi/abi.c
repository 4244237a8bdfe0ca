/* SPDX-License-Identifier: GPL-2.0-or-later */
/* abi.c - which kinds of guests there are */
#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/calls.h"

static const struct linux_abi *const kinds[] = {
	&abi_x86_64,
	&abi_arm64,
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
