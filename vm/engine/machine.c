/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine.c - an engine with page tables of the guest's own */
#include "vm/engine/engine_internal.h"

#include <string.h>

#include "formats/error.h"

/* No physical address is as high: all models have 40 to 44 bits. */
#define PHYSICAL_END (UINT64_C(1) << 44)

#define SCTLR ENGINE_SYSTEM(3, 0, 1, 0, 0)
#define SCTLR_M UINT64_C(1)

/* ------- hooks ------- */

static void on_exception(uc_engine *uc, uint32_t number, void *user)
{
	struct engine *engine = user;
	const struct engine_exception exception = {
		.kind = number,
		.syndrome = engine->arm.exception->syndrome,
		.address = engine->arm.exception->address,
	};

	(void)uc;
	engine->machine->exception(engine->context, &exception);
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

static uint64_t on_read_low(uc_engine *uc, uint64_t offset, unsigned size,
			    void *user)
{
	struct engine *engine = user;

	(void)uc;
	return engine->machine->read(engine->context, offset, size);
}

static void on_write_low(uc_engine *uc, uint64_t offset, unsigned size,
			 uint64_t value, void *user)
{
	struct engine *engine = user;

	(void)uc;
	engine->machine->write(engine->context, offset, size, value);
}

static uint64_t ram_end(const struct engine *engine)
{
	return engine->ram.base + engine->ram.size;
}

static uint64_t on_read_high(uc_engine *uc, uint64_t offset, unsigned size,
			     void *user)
{
	return on_read_low(uc, ram_end(user) + offset, size, user);
}

static void on_write_high(uc_engine *uc, uint64_t offset, unsigned size,
			  uint64_t value, void *user)
{
	on_write_low(uc, ram_end(user) + offset, size, value, user);
}

/* ------- opening ------- */

static uc_err lay_out(struct engine *engine)
{
	uc_engine *uc = engine->uc;
	const struct engine_ram *ram = &engine->ram;
	uc_err err = uc_mem_map_ptr(uc, ram->base, ram->size, UC_PROT_ALL,
				    ram->host);

	if (!err && ram->base)
		err = uc_mmio_map(uc, 0, ram->base, on_read_low, engine,
				  on_write_low, engine);
	if (!err)
		err = uc_mmio_map(uc, ram_end(engine),
				  PHYSICAL_END - ram_end(engine), on_read_high,
				  engine, on_write_high, engine);
	if (!err)
		err = uc_ctl_tlb_mode(uc, UC_TLB_CPU);
	/* An empty list: it runs on until it is stopped. */
	return err ? err : uc_ctl_exits_enable(uc);
}

static uc_err add_hooks(struct engine *engine)
{
	uc_engine *uc = engine->uc;
	uc_hook hook;
	uc_err err = uc_hook_add(uc, &hook, UC_HOOK_INTR, (void *)on_exception,
				 engine, 1, 0);

	if (!err)
		err = uc_hook_add(uc, &hook, UC_HOOK_INSN,
				  (void *)on_read_system, engine, 1, 0,
				  UC_ARM64_INS_MRS);
	if (!err)
		err = uc_hook_add(uc, &hook, UC_HOOK_INSN,
				  (void *)on_write_system, engine, 1, 0,
				  UC_ARM64_INS_MSR);
	return err ? err : uc_hook_add(uc, &hook, UC_HOOK_BLOCK,
				       (void *)calls_on_block, HOOK_USER, 1, 0);
}

static int model_number(const char *model)
{
	return strcmp(model, "cortex-a72") ? UC_CPU_ARM64_A53 :
					     UC_CPU_ARM64_A72;
}

int engine_open_machine(struct engine **out, const char *model,
			const struct engine_ram *ram,
			const struct engine_machine_calls *calls, void *context,
			struct failure *why)
{
	struct engine *engine;
	uc_err err;
	int rc;

	if (ram->base >= PHYSICAL_END || ram->size >= PHYSICAL_END - ram->base)
		return failed(why, ERR_SYSTEM, "no processor has memory where"
			      " the machine's is");
	rc = engine_make(&engine, &engine_kind_arm64_machine, &calls->basic,
			 context, why);
	if (rc)
		return rc;
	engine->machine = calls;
	engine->ram = *ram;
	err = engine_begin(engine, model_number(model));
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
	*out = engine;
	return 0;
}

/* ------- translations ------- */

/*
 * The engine drops those of virtual addresses: while they are not translated,
 * they are physical ones.
 */
void engine_drop_ram(struct engine *engine, uint64_t addr)
{
	uint64_t control = engine_read_system(engine, SCTLR);

	engine_write_system(engine, SCTLR, control & ~SCTLR_M);
	engine_drop(engine, addr, GUEST_PAGE);
	engine_write_system(engine, SCTLR, control);
}
