/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine.c - opening an engine, running it, and what it keeps */
#include "vm/engine/engine_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/error.h"

/*
 * The engine does not survive its buffer for translations running full, or not
 * being there.  So the processor drops them all before (engine_blocks_most()):
 * measured, a translation takes some 1300 bytes.  Where address space is
 * limited (ulimit -v), the buffer is smaller and leaves some for others.
 */
#define TRANSLATIONS_MOST (512u << 20)
#define TRANSLATIONS_LEAST (16u << 20)
#define TRANSLATION_ROOM 2100
#define SPARE (224u << 20)

/* Nothing is ever executed there: an empty range for the hook. */
#define NO_FIRST (ENGINE_NEVER + 1)
#define NO_LAST (ENGINE_NEVER + 2)

/* All addresses. */
#define ALL_FIRST 0
#define ALL_LAST UINT64_MAX

_Thread_local struct engine *engine_entered;
_Thread_local struct engine *engine_executing;

/* ------- hooks ------- */

static enum vm_access access_of(uc_mem_type type)
{
	return type == UC_MEM_WRITE ? ACCESS_WRITE :
	       type == UC_MEM_FETCH ? ACCESS_FETCH : ACCESS_READ;
}

static unsigned engine_perms(unsigned prot)
{
	unsigned perms = 0;

	if (prot & MAY_READ)
		perms |= UC_PROT_READ;
	if (prot & MAY_WRITE)
		perms |= UC_PROT_WRITE;
	if (prot & MAY_EXEC)
		perms |= UC_PROT_EXEC;
	return perms;
}

static bool on_tlb_miss(uc_engine *uc, uint64_t addr, uc_mem_type type,
			uc_tlb_entry *entry, void *user)
{
	struct engine *engine = user;
	struct engine_page page = { 0 };

	(void)uc;
	if (access_of(type) != ACCESS_FETCH)
		addr = engine_untag(engine->kind, addr);
	addr |= engine->arm.above;
	if (!engine->calls->miss(engine->context, addr, access_of(type), &page))
		return false;
	entry->paddr = page.paddr;
	entry->perms = engine_perms(page.prot);
	return true;
}

static void on_syscall(uc_engine *uc, void *user)
{
	struct engine *engine = user;

	(void)uc;
	float_leave(engine);
	engine->calls->syscall(engine->context);
	float_enter(engine);
}

static void on_interrupt(uc_engine *uc, uint32_t number, void *user)
{
	struct engine *engine = user;
	const struct engine_kind *kind = engine->kind;

	(void)uc;
	float_leave(engine);
	if (!kind->syscall_insn && number == kind->syscall_exception)
		engine->calls->syscall(engine->context);
	else
		engine->calls->exception(engine->context, number);
	float_enter(engine);
}

static bool on_invalid(uc_engine *uc, void *user)
{
	struct engine *engine = user;

	(void)uc;
	float_leave(engine);
	engine->calls->invalid(engine->context);
	float_enter(engine);
	return false;
}

static uc_err add_hooks(struct engine *engine)
{
	static const struct {
		int type;
		void *call;
	} hooks[] = {
		{ UC_HOOK_TLB_FILL, (void *)on_tlb_miss },
		{ UC_HOOK_INTR, (void *)on_interrupt },
		{ UC_HOOK_INSN_INVALID, (void *)on_invalid },
	};
	uc_hook hook;
	uc_err err = UC_ERR_OK;

	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]) && !err; i++)
		err = uc_hook_add(engine->uc, &hook, hooks[i].type,
				  hooks[i].call, engine, 1, 0);
	if (!err && engine->kind->syscall_insn)
		err = uc_hook_add(engine->uc, &hook, UC_HOOK_INSN,
				  (void *)on_syscall, engine, 1, 0,
				  engine->kind->syscall_insn);
	if (!err)
		err = uc_hook_add(engine->uc, &hook, UC_HOOK_BLOCK,
				  (void *)calls_on_block, HOOK_USER, ALL_FIRST,
				  ALL_LAST);
	if (!err)
		engine->covered = layout_find_range(hook, ALL_FIRST, ALL_LAST);
	if (!err)
		err = uc_hook_add(engine->uc, &hook, UC_HOOK_CODE,
				  (void *)calls_on_instruction, HOOK_USER,
				  NO_FIRST, NO_LAST);
	if (!err)
		engine->hooked = layout_find_range(hook, NO_FIRST, NO_LAST);
	return err || (engine->covered && engine->hooked) ? err : UC_ERR_HOOK;
}

void engine_cover(struct engine *engine, bool all)
{
	if (!engine->covered)
		return;
	engine->covered[0] = all ? ALL_FIRST : NO_FIRST;
	engine->covered[1] = all ? ALL_LAST : NO_LAST;
}

void engine_hook(struct engine *engine, guest_addr first, guest_addr last)
{
	engine->hooked[0] = last ? first : NO_FIRST;
	engine->hooked[1] = last ? last : NO_LAST;
}

/* ------- opening ------- */

static bool is_free(size_t size)
{
	void *at = mmap(NULL, size, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at != MAP_FAILED)
		munmap(at, size);
	return at != MAP_FAILED;
}

/* 0 if there is no room for the smallest. */
static uint32_t translations_size(void)
{
	uint32_t size = TRANSLATIONS_MOST;

	while (size > TRANSLATIONS_LEAST && !is_free(size + SPARE))
		size /= 2;
	return is_free(size) ? size : 0;
}

uc_err engine_begin(struct engine *engine, int model)
{
	uc_err err;

	engine_enter(engine);
	err = uc_open(engine->kind->uc_arch, engine->kind->uc_mode,
		      &engine->uc);
	if (!err)
		err = uc_ctl_set_cpu_model(engine->uc, model);
	if (!err)
		err = uc_ctl_set_tcg_buffer_size(engine->uc,
						 engine->translations);
	return err;
}

static uc_err lay_out(struct engine *engine, uint8_t *arena, uint64_t size)
{
	uc_err err = uc_mem_map_ptr(engine->uc, 0, size, UC_PROT_ALL, arena);

	if (!err)
		err = uc_ctl_tlb_mode(engine->uc, UC_TLB_VIRTUAL);
	return err ? err : add_hooks(engine);
}

static uc_err start(struct engine *engine)
{
	uc_err err = engine->kind->start(engine);

	if (!err)
		err = uc_context_alloc(engine->uc, &engine->pristine);
	if (!err)
		err = uc_context_alloc(engine->uc, &engine->scratch);
	return err ? err : uc_context_save(engine->uc, engine->pristine);
}

int engine_complete(struct engine *engine, uc_err err, struct failure *why)
{
	const char *missing = NULL;
	int rc = 0;

	if (!err)
		err = start(engine);
	if (!err)
		missing = engine->kind->find(engine);
	if (err)
		rc = failed(why, ERR_SYSTEM, "cannot start the engine: %s",
			    uc_strerror(err));
	else if (missing)
		rc = failed(why, ERR_SYSTEM,
			    "the Unicorn Engine that cprec was built with is "
			    "not laid out as it should be: %s cannot be found",
			    missing);
	if (rc)
		engine_close(engine);
	return rc;
}

static const struct engine_kind *find_kind(enum arch arch)
{
	static const struct engine_kind *const kinds[] = {
		&engine_kind_x86, &engine_kind_arm64, &engine_kind_i386,
		&engine_kind_arm,
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i]->arch == arch)
			return kinds[i];
	return NULL;
}

/*
 * The tables in struct engine are large, and what is used of them lies far
 * apart.  In huge pages they take a few faults of the host, else hundreds.
 */
#define ENGINE_ROOM ((sizeof(struct engine) + HUGE_PAGE - 1) / HUGE_PAGE * \
		     HUGE_PAGE)

static struct engine *make_room(void)
{
	struct engine *engine = aligned_alloc(HUGE_PAGE, ENGINE_ROOM);

	if (engine) {
		madvise(engine, ENGINE_ROOM, MADV_HUGEPAGE);
		memset(engine, 0, sizeof(*engine));
	}
	return engine;
}

int engine_make(struct engine **out, const struct engine_kind *kind,
		const struct engine_calls *calls, void *context,
		struct failure *why)
{
	struct engine *engine = make_room();

	if (!engine)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	engine->kind = kind;
	engine->calls = calls;
	engine->context = context;
	engine->counter = &engine->own_counter;
	engine->may_inline = !getenv("CPREC_NO_INLINE");
	jumps_begin(&engine->jumps);
	engine->translations = translations_size();
	if (!engine->translations) {
		free(engine);
		return failed(why, ERR_NO_MEMORY, "cannot reserve address "
			      "space for translated code");
	}
	*out = engine;
	return 0;
}

/* Each way to be faster can be turned off, to find errors. */
static void choose_ways(struct engine *engine)
{
	engine->jumps.are_ours = !getenv("CPREC_NO_JUMPS");
	engine->jumps.are_inline = engine->jumps.are_ours &&
				   !getenv("CPREC_NO_SITES");
	engine->keeps = !getenv("CPREC_NO_KEPT") &&
			engine->translations == TRANSLATIONS_MOST &&
			is_free(TRANSLATIONS_MOST + 2 * KEPT_SIZE + SPARE);
	if (engine->keeps)
		engine->translations += KEPT_SIZE;
	engine->branches.are_direct = !getenv("CPREC_NO_BRANCHES");
	engine->direct.proves = !getenv("CPREC_NO_PROOFS");
	engine->vectors.are_inline = !getenv("CPREC_NO_VECTORS") &&
				     __builtin_cpu_supports("avx") &&
				     __builtin_cpu_supports("aes");
}

int engine_open(struct engine **out, enum arch arch, uint8_t *arena,
		uint64_t arena_size, const struct engine_calls *calls,
		void *context, struct failure *why)
{
	const struct engine_kind *kind = find_kind(arch);
	struct engine *engine;
	uc_err err;
	int rc;

	if (!kind)
		return failed(why, ERR_SYSTEM, "there is no processor of the "
			      "guest's architecture");
	rc = engine_make(&engine, kind, calls, context, why);
	if (rc)
		return rc;
	choose_ways(engine);
	err = engine_begin(engine, kind->model);
	if (!err)
		err = lay_out(engine, arena, arena_size);
	rc = engine_complete(engine, err, why);
	if (!rc)
		*out = engine;
	return rc;
}

void engine_close(struct engine *engine)
{
	if (!engine)
		return;
	engine_enter(engine);
	if (engine->pristine)
		uc_context_free(engine->pristine);
	if (engine->scratch)
		uc_context_free(engine->scratch);
	if (engine->uc)
		uc_close(engine->uc);
	if (engine->code_base)
		munmap(engine->counter, GUEST_PAGE);
	inline_release(engine);
	kept_release(engine);
	accesses_release(engine);
	engine_entered = NULL;
	free(engine);
}

uint32_t engine_blocks_most(const struct engine *engine)
{
	return (engine->translations - (engine->keeps ? KEPT_SIZE : 0)) /
	       TRANSLATION_ROOM;
}

const char *engine_name(void)
{
	static _Thread_local char text[32];
	unsigned major, minor;
	unsigned version = uc_version(&major, &minor);

	snprintf(text, sizeof(text), "unicorn %u.%u.%u", major, minor,
		 version >> 8 & 0xff);
	return text;
}

/* ------- running ------- */

enum engine_exit engine_run(struct engine *engine, guest_addr pc,
			    guest_addr until)
{
	uc_engine *uc = engine_enter(engine);
	struct engine *outer = engine_executing;

	engine->until = until;
	if (engine->kind->entry)
		pc = engine->kind->entry(engine, pc);
	engine_executing = engine;
	float_enter(engine);
	engine->error = uc_emu_start(uc, pc, until, 0, 0);
	float_leave(engine);
	engine_executing = outer;
	switch (engine->error) {
	case UC_ERR_OK:
		return ENGINE_RETURNED;
	case UC_ERR_INSN_INVALID:
	case UC_ERR_EXCEPTION:
		return ENGINE_REFUSED;
	case UC_ERR_FETCH_PROT:
	case UC_ERR_FETCH_UNMAPPED:
		return engine->machine ? ENGINE_UNFETCHED : ENGINE_FAILED;
	default:
		return ENGINE_FAILED;
	}
}

guest_addr engine_never(const struct engine *engine)
{
	return engine->kind->never;
}

const char *engine_error(const struct engine *engine)
{
	return uc_strerror(engine->error);
}

void engine_stop(struct engine *engine)
{
	engine->left = true;
	uc_emu_stop(engine->uc);
}

struct counter *engine_counter(struct engine *engine)
{
	return engine->counter;
}

void engine_run_uncounted(struct engine *engine)
{
	engine->uncounted = true;
}

void engine_run_counted(struct engine *engine)
{
	engine->uncounted = false;
}

bool engine_inlines(const struct engine *engine)
{
	return engine->has_inlined;
}

void engine_set_demands(struct engine *engine, const struct demand *demands)
{
	engine->demands = demands;
}

/* ------- translations ------- */

void engine_flush_tlb(struct engine *engine, bool code_stays)
{
	engine->jumps.stay = code_stays;
	uc_ctl_flush_tlb(engine_enter(engine));
	engine->jumps.stay = false;
}

void engine_drop(struct engine *engine, guest_addr addr, uint64_t size)
{
	if (engine->kind->is_narrow)
		drop_narrow(engine, addr, size);
	else
		uc_ctl_remove_cache(engine_enter(engine), addr, addr + size);
}

void engine_drop_all(struct engine *engine)
{
	uc_ctl_flush_tb(engine_enter(engine));
	memset(engine->known, 0, sizeof(engine->known));
	kept_forget(engine);
	accesses_forget_sites(engine);
	engine->checks.used = 0;
}

/* ------- contexts ------- */

struct engine_context *engine_context_create(struct engine *engine)
{
	struct engine_context *context = calloc(1, sizeof(*context));

	if (!context)
		return NULL;
	if (uc_context_alloc(engine_enter(engine), &context->bytes) ||
	    uc_context_save(engine->uc, context->bytes)) {
		engine_context_destroy(context);
		return NULL;
	}
	return context;
}

void engine_context_destroy(struct engine_context *context)
{
	if (!context)
		return;
	if (context->bytes)
		uc_context_free(context->bytes);
	free(context);
}

void engine_context_save(struct engine *engine, struct engine_context *context)
{
	uc_context_save(engine_enter(engine), context->bytes);
}

void engine_context_restore(struct engine *engine,
			    const struct engine_context *context)
{
	uc_context_restore(engine_enter(engine), context->bytes);
}

void engine_reset(struct engine *engine)
{
	uc_context_restore(engine_enter(engine), engine->pristine);
}
