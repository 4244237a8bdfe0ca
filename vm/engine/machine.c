/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine.c - an engine with page tables of the guest's own */
#include "vm/engine/engine_internal.h"

#include <string.h>

#include "formats/error.h"

/* No physical address is as high. */
#define PHYSICAL_END(kind)                                                     \
	((kind)->is_narrow ? UINT64_C(1) << 32 : UINT64_C(1) << 48)

#define SCTLR ENGINE_SYSTEM(3, 0, 1, 0, 0)
#define SCTLR_M UINT64_C(1)

/* ------- hooks ------- */

static void on_exception(uc_engine *uc, uint32_t number, void *user)
{
	struct engine *engine = user;
	const struct engine_exception exception = {
		.kind = number,
		.syndrome = engine->arm.exception->syndrome,
		.status = engine->arm.exception->short_syndrome,
		.address = engine->arm.exception->address,
	};

	(void)uc;
	engine->machine->exception(engine->context, &exception);
}

/* Who is told has dealt with it, and written PC. */
static bool on_invalid(uc_engine *uc, void *user)
{
	struct engine *engine = user;

	(void)uc;
	engine->machine->basic.invalid(engine->context);
	return true;
}

static unsigned name_of(const uc_arm64_cp_reg *reg)
{
	return ENGINE_SYSTEM(reg->op0, reg->op1, reg->crn, reg->crm, reg->op2);
}

/* Both return whether the instruction is done. */
static uint32_t on_read_system(uc_engine *uc, uc_arm64_reg to,
			       const uc_arm64_cp_reg *reg, void *user)
{
	struct engine *engine = user;
	uint64_t value;

	if (!engine->machine->read_system(engine->context, name_of(reg),
					  &value))
		return 0;
	if (to != UC_ARM64_REG_XZR)
		uc_reg_write(uc, to, &value);
	return 1;
}

static uint32_t on_write_system(uc_engine *uc, uc_arm64_reg from,
				const uc_arm64_cp_reg *reg, void *user)
{
	struct engine *engine = user;

	(void)uc;
	(void)from;
	return engine->machine->write_system(engine->context, name_of(reg),
					     reg->val);
}

static uint64_t on_read(uc_engine *uc, uint64_t offset, unsigned size,
			void *user)
{
	const struct hole *hole = user;
	struct engine *engine = hole->engine;

	(void)uc;
	return engine->machine->read(engine->context, hole->base + offset,
				     size);
}

static void on_write(uc_engine *uc, uint64_t offset, unsigned size,
		     uint64_t value, void *user)
{
	const struct hole *hole = user;
	struct engine *engine = hole->engine;

	(void)uc;
	engine->machine->write(engine->context, hole->base + offset, size,
			       value);
}

/* ------- opening ------- */

/* Before and behind each piece of RAM. */
static uc_err map_hole(struct engine *engine, unsigned i, uint64_t end)
{
	struct hole *hole = &engine->holes[i];

	hole->engine = engine;
	return hole->base == end ? UC_ERR_OK :
	       uc_mmio_map(engine->uc, hole->base, end - hole->base, on_read,
			   hole, on_write, hole);
}

static uc_err lay_out(struct engine *engine)
{
	uc_err err = UC_ERR_OK;
	unsigned i;

	for (i = 0; i < engine->ram_count && !err; i++) {
		const struct engine_ram *ram = &engine->rams[i];

		err = map_hole(engine, i, ram->base);
		if (!err)
			err = uc_mem_map_ptr(engine->uc, ram->base, ram->size,
					     UC_PROT_ALL, ram->host);
		engine->holes[i + 1].base = ram->base + ram->size;
	}
	if (!err)
		err = map_hole(engine, i, PHYSICAL_END(engine->kind));
	if (!err)
		err = uc_ctl_tlb_mode(engine->uc, UC_TLB_CPU);
	/* An empty list: it runs on until it is stopped. */
	return err ? err : uc_ctl_exits_enable(engine->uc);
}

static uc_err add_hooks(struct engine *engine)
{
	uc_engine *uc = engine->uc;
	uc_hook hook;
	bool has_system = engine->machine->read_system;
	uc_err err = uc_hook_add(uc, &hook, UC_HOOK_INTR, (void *)on_exception,
				 engine, 1, 0);

	if (!err && engine->machine->basic.invalid)
		err = uc_hook_add(uc, &hook, UC_HOOK_INSN_INVALID,
				  (void *)on_invalid, engine, 1, 0);
	if (!err && has_system)
		err = uc_hook_add(uc, &hook, UC_HOOK_INSN,
				  (void *)on_read_system, engine, 1, 0,
				  UC_ARM64_INS_MRS);
	if (!err && has_system)
		err = uc_hook_add(uc, &hook, UC_HOOK_INSN,
				  (void *)on_write_system, engine, 1, 0,
				  UC_ARM64_INS_MSR);
	return err ? err : uc_hook_add(uc, &hook, UC_HOOK_BLOCK,
				       (void *)calls_on_block, HOOK_USER, 1, 0);
}

static const struct model {
	const char *name;
	const struct engine_kind *kind;
	int number;
} models[] = {
	{ "cortex-a53", &engine_kind_arm64_machine, UC_CPU_ARM64_A53 },
	{ "cortex-a72", &engine_kind_arm64_machine, UC_CPU_ARM64_A72 },
	{ "cortex-m3", &engine_kind_cortex_m, UC_CPU_ARM_CORTEX_M3 },
	{ "cortex-m4", &engine_kind_cortex_m, UC_CPU_ARM_CORTEX_M4 },
	{ "cortex-m7", &engine_kind_cortex_m, UC_CPU_ARM_CORTEX_M7 },
};

static const struct model *find_model(enum arch arch, const char *name)
{
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (models[i].kind->arch == arch &&
		    !strcmp(models[i].name, name))
			return &models[i];
	return NULL;
}

static int open_model(struct engine *engine, int number, struct failure *why)
{
	uc_err err = engine_begin(engine, number);
	int rc;

	if (!err)
		err = lay_out(engine);
	rc = engine_complete(engine, err, why);
	if (rc)
		return rc;
	/* Now, because what is found out first is nobody's. */
	err = add_hooks(engine);
	if (err) {
		engine_close(engine);
		return failed(why, ERR_SYSTEM, "cannot start the engine: %s",
			      uc_strerror(err));
	}
	return 0;
}

static bool are_possible(const struct engine_kind *kind,
			 const struct engine_ram *rams, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (rams[i].base >= PHYSICAL_END(kind) ||
		    rams[i].size >= PHYSICAL_END(kind) - rams[i].base ||
		    (i && rams[i].base < rams[i - 1].base + rams[i - 1].size))
			return false;
	return count && count <= ENGINE_RAMS_MOST;
}

int engine_open_machine(struct engine **out, enum arch arch, const char *model,
			const struct engine_ram *rams, unsigned ram_count,
			const struct engine_machine_calls *calls, void *context,
			struct failure *why)
{
	const struct model *found = find_model(arch, model);
	struct engine *engine;
	int rc;

	if (!found)
		return failed(why, ERR_SYSTEM, "there is no processor '%s'",
			      model);
	if (!are_possible(found->kind, rams, ram_count))
		return failed(why, ERR_SYSTEM, "no processor has memory where"
			      " the machine's is");
	rc = engine_make(&engine, found->kind, &calls->basic, context, why);
	if (rc)
		return rc;
	engine->machine = calls;
	engine->ram_count = ram_count;
	memcpy(engine->rams, rams, ram_count * sizeof(*rams));
	rc = open_model(engine, found->number, why);
	if (!rc)
		*out = engine;
	return rc;
}

/* ------- translations ------- */

/*
 * The engine drops those of virtual addresses: while they are not translated,
 * they are physical ones.
 */
void engine_drop_ram(struct engine *engine, uint64_t addr)
{
	uint64_t control;

	if (engine->kind->is_narrow) {
		engine_drop(engine, addr, GUEST_PAGE);
		return;
	}
	control = engine_read_system(engine, SCTLR);
	engine_write_system(engine, SCTLR, control & ~SCTLR_M);
	engine_drop(engine, addr, GUEST_PAGE);
	engine_write_system(engine, SCTLR, control);
}
