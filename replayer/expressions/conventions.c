/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conventions.c - see conventions.h */
#include "replayer/expressions/conventions.h"

#include <dwarf.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/conventions_arm.h"
#include "replayer/expressions/float_shape.h"

/* How deep structures may be nested in a file that makes sense. */
#define DEPTH_MOST 32u

#define PART 8u			/* bytes that are classified as one */
#define PARTS_MOST 2u

enum class {
	CLASS_NONE,
	CLASS_NUMBER,
	CLASS_VECTOR,
	CLASS_UP,		/* the rest of the vector before */
	CLASS_FLOAT,		/* the widest kind */
	CLASS_MEMORY,
};

struct classes {
	enum class parts[PARTS_MOST];
	bool is_copy;		/* an address, of what was copied */
};

/* ------- classes of types ------- */

static enum class merge(enum class a, enum class b)
{
	if (a == b || b == CLASS_NONE)
		return a;
	if (a == CLASS_NONE)
		return b;
	if (a == CLASS_MEMORY || b == CLASS_MEMORY)
		return CLASS_MEMORY;
	if (a == CLASS_NUMBER || b == CLASS_NUMBER)
		return CLASS_NUMBER;
	return a == CLASS_FLOAT || b == CLASS_FLOAT ? CLASS_MEMORY :
						      CLASS_VECTOR;
}

static void set_all(struct classes *classes, enum class class)
{
	for (unsigned i = 0; i < PARTS_MOST; i++)
		classes->parts[i] = class;
}

/* What begins at `offset`, and is `size` bytes in a row of one class. */
static void add(struct classes *classes, uint64_t offset, uint64_t size,
		enum class class)
{
	if (offset + size > PARTS_MOST * PART) {
		set_all(classes, CLASS_MEMORY);
		return;
	}
	for (uint64_t i = offset / PART; i * PART < offset + size; i++)
		classes->parts[i] = merge(classes->parts[i], class);
}

/* "_Float128" and "__float128" are in vector registers; or all are. */
static bool is_quad(const struct context *context, const struct type *type)
{
	return context->types.has_quads ||
	       (type->name && strstr(type->name, "128"));
}

static void add_float(const struct context *context, struct classes *classes,
		      const struct type *type, uint64_t offset)
{
	if (type->size <= PART) {
		add(classes, offset, type->size, CLASS_VECTOR);
	} else if (!is_quad(context, type) || offset) {
		add(classes, offset, type->size, CLASS_FLOAT);
	} else {
		add(classes, 0, PART, CLASS_VECTOR);
		add(classes, PART, PART, CLASS_UP);
	}
}

static bool has_attribute(Dwarf_Die *die, unsigned name)
{
	return dwarf_hasattr_integrate(die, name);
}

static int classify(struct context *context, struct type *type,
		    uint64_t offset, struct classes *out, unsigned depth,
		    struct failure *why);

static int add_members(struct context *context, struct type *type,
		       uint64_t offset, struct classes *out, unsigned depth,
		       struct failure *why)
{
	const struct value of = { .type = type };
	struct member_walk walk = { .context = context, .of = &of,
				    .why = why };
	struct member member;
	int rc;

	while ((rc = member_next(&walk, &member)) > 0) {
		if (member.is_static)
			continue;
		if (member.bit_size)
			add(out, offset + member.offset, 1 +
			    (member.bit_offset + member.bit_size - 1) / 8,
			    CLASS_NUMBER);
		else
			rc = classify(context, member.type,
				      offset + member.offset, out, depth + 1,
				      why);
		if (rc < 0)
			break;
	}
	return rc;
}

static int add_elements(struct context *context, struct type *type,
			uint64_t offset, struct classes *out, unsigned depth,
			struct failure *why)
{
	struct type *element = type_target(type);
	int rc = 0;

	if (!element)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	for (uint64_t at = 0; element->size && at < type->size && !rc;
	     at += element->size)
		rc = classify(context, element, offset + at, out, depth + 1,
			      why);
	return rc;
}

/* Parts of structures that are not aligned are in memory. */
static bool is_aligned(const struct type *type, uint64_t offset)
{
	uint64_t size = type->kind == TYPE_COMPLEX ? type->size / 2 :
						     type->size;

	return !type_is_scalar(type) || !size || !(offset % size);
}

static int classify(struct context *context, struct type *type,
		    uint64_t offset, struct classes *out, unsigned depth,
		    struct failure *why)
{
	if (depth > DEPTH_MOST || type->size > PARTS_MOST * PART ||
	    !is_aligned(type, offset)) {
		set_all(out, CLASS_MEMORY);
		return 0;
	}
	switch (type->kind) {
	case TYPE_FLOAT:
		add_float(context, out, type, offset);
		return 0;
	case TYPE_COMPLEX:
		add(out, offset, type->size, CLASS_VECTOR);
		return 0;
	case TYPE_STRUCT:
	case TYPE_UNION:
		return add_members(context, type, offset, out, depth, why);
	case TYPE_ARRAY:
		if (!type_is_vector(type))
			return add_elements(context, type, offset, out, depth,
					    why);
		add(out, offset, PART, CLASS_VECTOR);
		if (type->size > PART)
			add(out, offset + PART, PART, CLASS_UP);
		return 0;
	case TYPE_VOID:
		return 0;
	default:
		add(out, offset, type->size, CLASS_NUMBER);
	}
	return 0;
}

/* ------- objects that must not be copied byte by byte ------- */

static bool is_copied(struct context *context, struct type *type,
		      unsigned depth);

/* "Class(const Class &)": its second parameter, behind the object. */
static bool takes_itself(struct context *context, struct type *class,
			 Dwarf_Die *function)
{
	Dwarf_Die die;
	struct type *type;

	if (dwarf_child(function, &die))
		return false;
	do {
		if (dwarf_tag(&die) != DW_TAG_formal_parameter ||
		    has_attribute(&die, DW_AT_artificial))
			continue;
		type = type_of_entry(&context->types, &die);
		type = type && type->kind == TYPE_REFERENCE ?
			       type_target(type) : NULL;
		return type && type->has_die &&
		       type->die.addr == class->die.addr;
	} while (!die_sibling(&die, &die));
	return false;
}

/* Destructors and copy constructors that the program has of its own. */
static bool is_special(struct context *context, struct type *class,
		       Dwarf_Die *function)
{
	const char *name = dwarf_diename(function);
	const char *own = dwarf_diename(&class->die);

	if (dwarf_tag(function) != DW_TAG_subprogram || !name ||
	    has_attribute(function, DW_AT_artificial) ||
	    has_attribute(function, DW_AT_defaulted))
		return false;
	return *name == '~' ||
	       (own && !strncmp(name, own, strlen(name)) &&
		strchr("<", own[strlen(name)]) &&
		takes_itself(context, class, function));
}

static bool has_special(struct context *context, struct type *type,
			unsigned depth)
{
	Dwarf_Die die;

	if (dwarf_child(&type->die, &die))
		return false;
	do {
		int tag = dwarf_tag(&die);
		struct type *part;

		if (is_special(context, type, &die))
			return true;
		if ((tag != DW_TAG_member || has_attribute(&die,
							   DW_AT_external)) &&
		    tag != DW_TAG_inheritance)
			continue;
		part = type_of_entry(&context->types, &die);
		if (part && is_copied(context, part, depth + 1))
			return true;
	} while (!die_sibling(&die, &die));
	return false;
}

static bool is_copied(struct context *context, struct type *type,
		      unsigned depth)
{
	Dwarf_Attribute attribute;
	Dwarf_Word how;

	if (type->language != LANGUAGE_CXX || !type_is_class(type) ||
	    !type->has_die || depth > DEPTH_MOST)
		return false;
	if (dwarf_attr(&type->die, DW_AT_calling_convention, &attribute) &&
	    !dwarf_formudata(&attribute, &how) &&
	    (how == DW_CC_pass_by_reference || how == DW_CC_pass_by_value))
		return how == DW_CC_pass_by_reference;
	return has_special(context, type, depth);
}

/* ------- all of a type ------- */

static int find_classes(struct context *context, struct type *type,
			struct classes *out, struct failure *why)
{
	int rc;

	*out = (struct classes) { .is_copy = is_copied(context, type, 0) };
	if (out->is_copy) {
		set_all(out, CLASS_NONE);
		out->parts[0] = CLASS_NUMBER;
		return 0;
	}
	rc = classify(context, type, 0, out, 0, why);
	if (out->parts[0] == CLASS_MEMORY || out->parts[1] == CLASS_MEMORY)
		set_all(out, CLASS_MEMORY);
	return rc;
}

static const struct classes copied = { .parts = { CLASS_NUMBER },
				       .is_copy = true };

static unsigned count(const struct classes *classes, enum class class)
{
	return (classes->parts[0] == class) + (classes->parts[1] == class);
}

/* ------- values ------- */

static int get(struct context *context, unsigned reg, unsigned from,
	       uint8_t *to, size_t size, struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	const struct reg_info *info = &table->regs[reg];
	const struct reg_file *file;
	int rc = context_register(context, reg, &file, why);

	if (!rc && from < info->size)
		memcpy(to, file->bytes + info->offset + from,
		       size < info->size - from ? size : info->size - from);
	return rc;
}

static int make(struct context *context, struct type *type, struct value *out,
		struct failure *why)
{
	*out = (struct value) {
		.type = type, .bytes = context_take(context, 4 * 16 + 16),
	};
	return out->bytes ? 0 : failed(why, ERR_NO_MEMORY, "out of memory");
}

/* Gathers what is in registers: the next ones of each kind. */
static int gather(struct context *context, const struct classes *classes,
		  const uint8_t *numbers, const uint8_t *vectors,
		  struct value *out, struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	int rc = 0;

	for (unsigned i = 0; i < PARTS_MOST && !rc; i++) {
		uint8_t *to = out->bytes + i * PART;

		switch (classes->parts[i]) {
		case CLASS_NUMBER:
			rc = get(context, *numbers++, 0, to, PART, why);
			break;
		case CLASS_VECTOR:
			rc = get(context, *vectors++, 0, to, PART, why);
			break;
		case CLASS_UP:
			rc = get(context, vectors[-1], PART, to, PART, why);
			break;
		case CLASS_FLOAT:
			rc = get(context, table->float_result, i * PART, to,
				 PART, why);
			break;
		default:
			break;
		}
	}
	return rc;
}

/* What is passed as an address is what is there. */
static void follow(const struct classes *classes, struct value *value)
{
	uint64_t addr;

	if (!classes->is_copy)
		return;
	memcpy(&addr, value->bytes, sizeof(addr));
	value->has_addr = true;
	value->addr = addr;
	value->bytes = NULL;
}

/* ------- of AArch64 ------- */

/*
 * Numbers of floating point alike have a vector register each; all else that is
 * a structure has general ones.
 */
static int find_shape(struct context *context, struct type *type,
		      struct classes *classes, struct float_shape *out,
		      struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	int rc;

	*out = (struct float_shape){ 0 };
	if (arch_of_code(table->arch) != ARCH_AARCH64)
		return 0;
	rc = float_shape_of(context, type, classes->is_copy, out, why);
	if (out->is_mixed)
		out->count = 0;
	if (rc < 0 || out->count || type_is_scalar(type) ||
	    classes->parts[0] == CLASS_MEMORY)
		return rc < 0 ? rc : 0;
	for (unsigned i = 0; i * PART < type->size && i < PARTS_MOST; i++)
		classes->parts[i] = CLASS_NUMBER;
	return 0;
}

static int gather_floats(struct context *context, struct type *type,
			 const struct float_shape *shape, unsigned first,
			 struct value *out, struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	int rc = make(context, type, out, why);

	for (unsigned i = 0; i < shape->count && !rc; i++)
		rc = get(context, table->vector_args[first + i], 0,
			 out->bytes + (size_t)i * shape->size, shape->size,
			 why);
	return rc;
}

/* ------- arguments ------- */

static int take_stack(struct context *context, struct arguments *taken,
		      struct type *type, const struct classes *classes,
		      struct value *out, struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	const unsigned word = reg_word(table);
	uint64_t size = classes->is_copy ? word : type->size;
	const struct reg_file *file;
	int rc = context_register(context, table->sp, &file, why);

	if (type_is_scalar(type) && size > PART && !reg_has_stack_args(table))
		taken->stack = (taken->stack + 15) & ~UINT64_C(15);
	*out = (struct value) {
		.type = type, .has_addr = true,
		/* Behind where the function returns to, if that is there. */
		.addr = rc ? 0 : reg_get(table, file, table->sp) +
				 table->arg_stack + taken->stack,
	};
	taken->stack += (size + word - 1) & ~(uint64_t)(word - 1);
	if (!rc && classes->is_copy) {
		rc = make(context, type, out, why);
		if (!rc)
			rc = context_read(context, out->addr, out->bytes, word,
					  why);
		follow(classes, out);
	}
	return rc;
}

static int float_argument(struct context *context, struct arguments *taken,
			  struct type *type, const struct float_shape *shape,
			  struct value *out, struct failure *why)
{
	const struct classes plain = { { CLASS_VECTOR } };
	unsigned first = taken->vectors;

	if (first + shape->count > VECTOR_ARGS_MOST) {
		taken->vectors = VECTOR_ARGS_MOST; /* nor do those behind it */
		return take_stack(context, taken, type, &plain, out, why);
	}
	taken->vectors += shape->count;
	return gather_floats(context, type, shape, first, out, why);
}

int argument_next(struct context *context, struct arguments *taken,
		  struct type *type, struct value *out, struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	struct float_shape shape;
	struct classes classes;
	int rc;
	unsigned numbers, vectors;

	if (arch_of_code(table->arch) == ARCH_ARM)
		return arm_argument(context, taken, type,
				    is_copied(context, type, 0), out, why);
	rc = find_classes(context, type, &classes, why);
	if (!rc)
		rc = find_shape(context, type, &classes, &shape, why);
	if (rc)
		return rc;
	if (shape.count)
		return float_argument(context, taken, type, &shape, out, why);
	numbers = count(&classes, CLASS_NUMBER);
	vectors = count(&classes, CLASS_VECTOR);
	if (table->large_by_address && classes.parts[0] == CLASS_MEMORY) {
		classes = copied;
		numbers = 1;
		vectors = 0;
	}
	if (reg_has_stack_args(table) || classes.parts[0] == CLASS_MEMORY ||
	    count(&classes, CLASS_FLOAT) ||
	    taken->numbers + numbers > table->arg_count ||
	    taken->vectors + vectors > VECTOR_ARGS_MOST)
		return take_stack(context, taken, type, &classes, out, why);
	rc = make(context, type, out, why);
	if (!rc)
		rc = gather(context, &classes, table->args + taken->numbers,
			    table->vector_args + taken->vectors, out, why);
	taken->numbers += numbers;
	taken->vectors += vectors;
	if (!rc)
		follow(&classes, out);
	return rc;
}

/* ------- results ------- */

/* Where arguments are on the stack, results are if they are no scalars. */
static bool is_stored(const struct type *type, const struct classes *classes)
{
	return classes->is_copy ||
	       !(type_is_scalar(type) || type->kind == TYPE_VOID) ||
	       (type->kind == TYPE_COMPLEX && type->size > PART);
}

int argument_of_result(struct context *context, struct arguments *taken,
		       struct type *result, struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	struct classes classes;
	int rc;

	if (arch_of_code(table->arch) == ARCH_ARM)
		return arm_argument_of_result(context, taken, result,
					      is_copied(context, result, 0),
					      why);
	rc = find_classes(context, result, &classes, why);
	if (!rc && reg_has_stack_args(table))
		taken->stack = is_stored(result, &classes) ? reg_word(table) :
							     0;
	else
		taken->numbers = !rc && !table->large_by_address &&
				 (classes.is_copy ||
				  classes.parts[0] == CLASS_MEMORY);
	return rc;
}

/* Where arguments are on the stack: a number of two registers, or one of x87. */
static int gather_words(struct context *context, struct type *type,
			struct value *out, struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	const unsigned word = reg_word(table);
	long double top = 0;
	int rc = 0;

	if (type->kind == TYPE_FLOAT) {
		rc = get(context, table->float_result, 0, (uint8_t *)&top, 10,
			 why);
		return rc ? rc : value_of_double(context, out, type, top, why);
	}
	for (unsigned i = 0; i < RESULTS_MOST && !rc; i++)
		rc = get(context, table->results[i], 0, out->bytes + i * word,
			 word, why);
	return rc;
}

int result_of(struct context *context, struct type *type, struct value *out,
	      struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	struct float_shape shape;
	struct classes classes;
	int rc;

	if (arch_of_code(table->arch) == ARCH_ARM)
		return arm_result(context, type, is_copied(context, type, 0),
				  out, why);
	rc = find_classes(context, type, &classes, why);
	if (!rc)
		rc = find_shape(context, type, &classes, &shape, why);
	if (rc)
		return rc;
	/* They come back where they would go. */
	if (shape.count)
		return gather_floats(context, type, &shape, 0, out, why);
	if (classes.parts[0] == CLASS_MEMORY ||
	    (reg_has_stack_args(table) && is_stored(type, &classes)))
		classes = copied;
	if (classes.is_copy && table->large_by_address)
		return failed(why, ERR_NOT_FOUND,
			      "no register tells where the result is");
	rc = make(context, type, out, why);
	if (!rc && reg_has_stack_args(table) && !classes.is_copy)
		rc = gather_words(context, type, out, why);
	else if (!rc)
		rc = gather(context, &classes, table->results,
			    table->vector_results, out, why);
	if (!rc)
		follow(&classes, out);
	return rc;
}
