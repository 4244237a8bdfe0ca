/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86_64_cpuinfo.c - /proc/cpuinfo of the guest's processor
 *
 * Programs look there for what CPUID would tell them, so it is made of the
 * same numbers.  Only how fast the processor is comes from the host.
 *
 * Source: Intel 64 SDM volume 2, CPUID; Linux's names of the flags and its
 * order of lines, as /proc/cpuinfo has them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vm/arch/x86/guest.h"
#include "vm/linux/abi/x86_64_internal.h"

/* Names of bits 0 to 31; "" is one that Linux does not show. */
static const char *const basic_edx[32] = {
	"fpu", "vme", "de", "pse", "tsc", "msr", "pae", "mce", "cx8", "apic",
	"", "sep", "mtrr", "pge", "mca", "cmov", "pat", "pse36", "pn",
	"clflush", "", "dts", "acpi", "mmx", "fxsr", "sse", "sse2", "ss", "ht",
	"tm", "ia64", "pbe",
};

static const char *const extended_edx[32] = {
	"", "", "", "", "", "", "", "", "", "", "", "syscall", "", "", "", "",
	"", "", "", "mp", "nx", "", "mmxext", "", "", "fxsr_opt", "pdpe1gb",
	"rdtscp", "", "lm", "3dnowext", "3dnow",
};

static const char *const basic_ecx[32] = {
	"pni", "pclmulqdq", "dtes64", "monitor", "ds_cpl", "vmx", "smx", "est",
	"tm2", "ssse3", "cid", "sdbg", "fma", "cx16", "xtpr", "pdcm", "",
	"pcid", "dca", "sse4_1", "sse4_2", "x2apic", "movbe", "popcnt",
	"tsc_deadline_timer", "aes", "xsave", "", "avx", "f16c", "rdrand",
	"hypervisor",
};

static const char *const extended_ecx[32] = {
	"lahf_lm", "cmp_legacy", "svm", "extapic", "cr8_legacy", "abm",
	"sse4a", "misalignsse", "3dnowprefetch", "osvw", "ibs", "xop",
	"skinit", "wdt", "", "lwp", "fma4", "tce", "", "nodeid_msr", "", "tbm",
	"topoext", "perfctr_core", "perfctr_nb", "", "bpext", "ptsc",
	"perfctr_llc", "mwaitx", "", "",
};

static void print_bits(FILE *out, uint32_t bits, const char *const names[32])
{
	for (unsigned i = 0; i < 32; i++)
		if (bits >> i & 1 && *names[i])
			fprintf(out, " %s", names[i]);
}

/*
 * Between the processor's flags Linux shows some of its own, which hold for
 * every processor of this kind.
 */
static void print_flags(FILE *out)
{
	struct vm_cpuid basic = vm_cpuid(1, 0);
	struct vm_cpuid extended = vm_cpuid(0x80000001, 0);

	fputs("flags\t\t:", out);
	print_bits(out, basic.edx, basic_edx);
	print_bits(out, extended.edx, extended_edx);
	fputs(" constant_tsc rep_good nopl cpuid", out);
	print_bits(out, basic.ecx, basic_ecx);
	print_bits(out, extended.ecx, extended_ecx);
	fputc('\n', out);
}

static void print_vendor(FILE *out)
{
	struct vm_cpuid id = vm_cpuid(0, 0);
	uint32_t name[3] = { id.ebx, id.edx, id.ecx };

	fprintf(out, "vendor_id\t: %.12s\n", (const char *)name);
}

static void print_model_name(FILE *out)
{
	struct vm_cpuid parts[3];
	char name[sizeof(parts) + 1] = "";

	for (uint32_t i = 0; i < 3; i++)
		parts[i] = vm_cpuid(0x80000002 + i, 0);
	memcpy(name, parts, sizeof(parts));
	fprintf(out, "model name\t: %s\n", name + strspn(name, " "));
}

static void print_model(FILE *out)
{
	uint32_t version = vm_cpuid(1, 0).eax;
	uint32_t family = version >> 8 & 15, model = version >> 4 & 15;

	if (family == 6 || family == 15)
		model |= version >> 12 & 0xf0;
	if (family == 15)
		family += version >> 20 & 0xff;
	fprintf(out, "cpu family\t: %u\nmodel\t\t: %u\n", family, model);
	print_model_name(out);
	fprintf(out, "stepping\t: %u\n", version & 15);
}

/* The largest one. */
static void print_cache(FILE *out)
{
	uint64_t size = 0;

	for (uint32_t i = 0; vm_cpuid(4, i).eax & 31; i++) {
		struct vm_cpuid cache = vm_cpuid(4, i);

		size = ((uint64_t)(cache.ebx >> 22) + 1) *
		       ((cache.ebx >> 12 & 0x3ff) + 1) *
		       ((cache.ebx & 0xfff) + 1) * ((uint64_t)cache.ecx + 1);
	}
	fprintf(out, "cache size\t: %llu KB\n",
		(unsigned long long)size / 1024);
}

/* Copies the line of the host's file that begins so, if it has one. */
static void copy_line(FILE *out, const char *begin)
{
	FILE *in = fopen("/proc/cpuinfo", "re");
	char *line = NULL;
	size_t room = 0;

	while (in && getline(&line, &room, in) > 0) {
		if (strncmp(line, begin, strlen(begin)))
			continue;
		fputs(line, out);
		break;
	}
	free(line);
	if (in)
		fclose(in);
}

void x86_64_print_cpuinfo(FILE *out, unsigned processor)
{
	uint32_t apic = vm_cpuid(1, 0).ebx >> 24;
	uint32_t line = (vm_cpuid(1, 0).ebx >> 8 & 0xff) * 8;
	uint32_t address = vm_cpuid(0x80000008, 0).eax;

	fprintf(out, "processor\t: %u\n", processor);
	print_vendor(out);
	print_model(out);
	copy_line(out, "cpu MHz");
	print_cache(out);
	fprintf(out,
		"physical id\t: 0\nsiblings\t: 1\ncore id\t\t: 0\n"
		"cpu cores\t: 1\napicid\t\t: %u\ninitial apicid\t: %u\n"
		"fpu\t\t: yes\nfpu_exception\t: yes\ncpuid level\t: %u\n"
		"wp\t\t: yes\n",
		apic, apic, vm_cpuid(0, 0).eax);
	print_flags(out);
	copy_line(out, "bogomips");
	fprintf(out,
		"clflush size\t: %u\ncache_alignment\t: %u\n"
		"address sizes\t: %u bits physical, %u bits virtual\n"
		"power management:\n\n",
		line, line, address & 0xff, address >> 8 & 0xff);
}
