/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print_trace.c - see print_trace.h */
#include "tests/golden/print_trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/key_frame.h"
#include "formats/member.h"
#include "formats/meta.h"
#include "formats/module_files.h"
#include "formats/module_sums.h"
#include "formats/moments.h"
#include "formats/packet.h"
#include "formats/symbols.h"
#include "formats/trace_layout.h"
#include "tests/unit/page_items_sample.h"

/* A content, and what it became when it was encoded again. */
struct content {
	const struct chunk_info *info;
	const uint8_t *bytes;
	size_t size;
	struct output again;
	uint64_t doubt;		/* of the last key frame before */
};

static void print_meta(FILE *out, struct content *content, int *rc)
{
	struct meta meta = { 0 };

	*rc = meta_decode(&meta, content->bytes, content->size);
	if (*rc)
		return;
	for (size_t i = 0; i < meta.argc; i++)
		fprintf(out, "  argument %s\n", meta.argv[i]);
	fprintf(out, "  path %s in %s\n  host %s\n  made by %s\n", meta.path,
		meta.directory, meta.host, meta.made_by);
	fprintf(out, "  started %" PRIu64 " cache %u\n", meta.started,
		meta.cache_entries);
	fprintf(out, "  processor %s behaviour %" PRIu64 "\n  run ",
		meta.processor.model, meta.processor.behaviour);
	for (size_t i = 0; i < sizeof(meta.run); i++)
		fprintf(out, "%02x", meta.run[i]);
	fprintf(out, "\n  parent %u thread %u time %" PRIu64 "\n",
		meta.origin.parent, meta.origin.thread, meta.origin.time);
	meta_encode(&content->again, &meta);
	meta_release(&meta);
}

static void print_refs(FILE *out, const struct page_ref *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fprintf(out, "  page %#" PRIx64 " is %" PRIu64 "\n",
			list[i].page, list[i].id);
}

static void print_lists(FILE *out, const struct key_frame *frame)
{
	for (size_t i = 0; i < frame->region_count; i++) {
		const struct region *region = &frame->regions[i];

		fprintf(out, "  region %#" PRIx64 "-%#" PRIx64
			     " prot %u kind %d offset %#" PRIx64 " %s",
			region->start, region->end, region->prot, region->kind,
			region->offset, region->name);
		if (region->common)
			fprintf(out, " common %#" PRIx64, region->common);
		fputc('\n', out);
	}
	for (size_t i = 0; i < frame->doubt_count; i++)
		fprintf(out, "  doubt %" PRIu64 ": %" PRIu64
			     " pages from %#" PRIx64 "\n",
			frame->doubts[i].number, frame->doubts[i].count,
			frame->doubts[i].page);
	print_refs(out, frame->pages, frame->page_count);
}

static void print_key_frame(FILE *out, struct content *content, int *rc)
{
	const struct reg_table *table = reg_table(ARCH_X86_64);
	struct key_frame frame = { 0 };

	*rc = key_frame_decode(&frame, table, content->bytes, content->size);
	if (*rc)
		return;
	fprintf(out, "  time %" PRIu64 " steps %" PRIu64 " doubt %" PRIu64
		     " thread %u cache %u (%zu bytes)\n",
		frame.time, frame.steps, frame.doubt, frame.tid,
		frame.cache_entries, frame.cache_size);
	fprintf(out, "  rip %#" PRIx64 " rsp %#" PRIx64 "\n",
		reg_get(table, &frame.regs, table->pc),
		reg_get(table, &frame.regs, table->sp));
	print_lists(out, &frame);
	content->doubt = frame.doubt;
	key_frame_encode(&content->again, table, &frame);
	key_frame_release(&frame);
}

static void print_packet(FILE *out, const struct packet *packet)
{
	fprintf(out, "  %s", packet_name(packet->kind));
	if (packet_is_event(packet->kind))
		fprintf(out, " after %" PRIu64, packet->steps);
	if (packet->kind == PACKET_SLICE)
		fprintf(out, " slices %" PRIu64 " skipped %" PRIu64
			     " doubts %" PRIu64,
			packet->slices, packet->skipped, packet->doubts);
	fprintf(out, " number %" PRIu64 " result %" PRId64
		     " addr %#" PRIx64 " target %#" PRIx64 " size %#" PRIx64,
		packet->number, packet->result, packet->addr, packet->target,
		packet->size);
	fprintf(out, " prot %u kind %d offset %#" PRIx64 " name '%.*s'"
		     " source %d id %" PRIu64,
		packet->prot, packet->region, packet->offset,
		(int)packet->name_size, packet->name ? packet->name : "",
		packet->source, packet->page_id);
	for (uint64_t i = 0; packet->value && i < packet->size; i++)
		fprintf(out, " %02x", packet->value[i]);
	fputc('\n', out);
}

static void print_packets(FILE *out, struct content *content, int *rc)
{
	struct packet_state before = { .doubt = content->doubt };
	struct packet_state again = before;
	struct input in = { content->bytes, content->bytes + content->size, 0 };

	while (input_left(&in)) {
		struct packet packet;

		*rc = packet_decode(&in, &before, &packet);
		if (*rc)
			return;
		print_packet(out, &packet);
		packet_encode(&content->again, &again, &packet);
	}
}

static void print_bytes(FILE *out, struct content *content, int *rc)
{
	*rc = 0;
	for (size_t i = 0; i < content->size; i++)
		fprintf(out, "%s%02x", i % 16 ? " " : i ? "\n  " : "  ",
			content->bytes[i]);
	fputc('\n', out);
	output_bytes(&content->again, content->bytes, content->size);
}

static void print_patch(FILE *out, const struct page_item *item)
{
	const uint8_t *word = item->bytes + PAGE_MASK;

	for (unsigned i = 0; i < PAGE_WORDS; i++) {
		if (!(item->bytes[i / 8] & 1u << i % 8))
			continue;
		fprintf(out, "    word %u:", i);
		for (unsigned j = 0; j < 8; j++)
			fprintf(out, " %02x", *word++);
		fputc('\n', out);
	}
}

/* Of whole pages, only the bytes that are not 0. */
static void print_pages(FILE *out, struct content *content, int *rc)
{
	const struct chunk_info *info = content->info;
	struct page_item items[PAGE_ITEMS_MOST];
	struct page_batch again = { 0 };

	*rc = page_items_decode(items, info->stream, info->first,
				content->bytes, content->size);
	for (uint32_t i = 0; i < info->stream && !*rc; i++) {
		batch_add_item(&again, &items[i], info->first + i);
		if (!items[i].bytes) {
			fprintf(out, "  page %" PRIu64 " is page %" PRIu64
				" of member %u\n", info->first + i,
				items[i].place.id, items[i].place.member);
			continue;
		}
		fprintf(out, "  page %" PRIu64 " patches %" PRIu64 "\n",
			info->first + i, items[i].base);
		for (size_t j = 0; !items[i].base && j < GUEST_PAGE; j++)
			if (items[i].bytes[j])
				fprintf(out, "    byte %#zx: %02x\n", j,
					items[i].bytes[j]);
		if (items[i].base)
			print_patch(out, &items[i]);
	}
	page_batch_end(&again);
	output_bytes(&content->again, again.pages.bytes, again.pages.size);
	output_release(&again.pages);
}

static void print_index(FILE *out, struct content *content, int *rc)
{
	struct segment_index index = { 0 };

	*rc = segment_index_decode(&index, content->bytes, content->size);
	if (*rc)
		return;
	fprintf(out, "  steps %" PRIu64 "\n", index.steps);
	for (size_t i = 0; i < index.page_count; i++) {
		const struct page_touch *touch = &index.pages[i];

		fprintf(out, "  page %#" PRIx64 " how %u write %" PRIu64
			     " doubt %" PRIu64 " id %" PRIu64 "\n",
			touch->page, touch->how, touch->write_time,
			touch->doubt, touch->resolved_id);
	}
	segment_index_encode(&content->again, &index);
	segment_index_release(&index);
}

static void print_symbols(FILE *out, struct content *content, int *rc)
{
	struct symbols symbols = { 0 };

	*rc = symbols_decode(&symbols, content->bytes, content->size);
	if (*rc)
		return;
	fprintf(out, "  %s %#" PRIx64 "-%#" PRIx64 " offset %#" PRIx64 "\n",
		symbols.path, symbols.link_base, symbols.link_end,
		symbols.base_offset);
	for (size_t i = 0; i < symbols.count; i++)
		fprintf(out, "  %#" PRIx64 " size %" PRIu64 " type %d %s\n",
			symbols.list[i].addr, symbols.list[i].size,
			symbols.list[i].type, symbols.list[i].name);
	symbols_encode(&content->again, &symbols);
	symbols_release(&symbols);
}

static void print_summary(FILE *out, struct content *content, int *rc)
{
	struct summary summary = { 0 };

	*rc = summary_decode(&summary, content->bytes, content->size);
	if (*rc)
		return;
	fprintf(out, "  time %" PRIu64 " signal %u code %u\n", summary.time,
		summary.exit_signal, summary.exit_code);
	for (size_t i = 0; i < summary.thread_count; i++)
		fprintf(out, "  thread %u steps %" PRIu64 "\n",
			summary.threads[i].tid, summary.threads[i].steps);
	fprintf(out, "  hits %" PRIu64 " misses %" PRIu64 " touched %" PRIu64
		     " stored %" PRIu64 "\n",
		summary.cache_hits, summary.cache_misses,
		summary.touched_pages, summary.stored_pages);
	summary_encode(&content->again, &summary);
	summary_release(&summary);
}

static void print_program(FILE *out, struct content *content, int *rc)
{
	struct program_image image = { 0 };

	*rc = program_image_decode(&image, content->bytes, content->size);
	if (*rc)
		return;
	for (size_t i = 0; i < image.argc; i++)
		fprintf(out, "  argument %s\n", image.argv[i]);
	fprintf(out, "  path %s\n  directory %s\n", image.path,
		image.directory);
	program_image_encode(&content->again, &image);
	program_image_release(&image);
}

static void print_snapshot(FILE *out, struct content *content, int *rc)
{
	struct page_ref *list;
	size_t count;

	*rc = page_refs_decode(&list, &count, content->bytes, content->size);
	if (*rc)
		return;
	print_refs(out, list, count);
	page_refs_encode(&content->again, list, count);
	free(list);
}

static void print_moments(FILE *out, struct content *content, int *rc)
{
	struct moment *list;
	size_t count;

	*rc = moments_decode(&list, &count, content->bytes, content->size);
	if (*rc)
		return;
	for (size_t i = 0; i < count; i++)
		fprintf(out, "  moment t %" PRIu64 " clock %" PRId64 "\n",
			list[i].time, list[i].clock);
	moments_encode(&content->again, list, count);
	free(list);
}

static void print_member(FILE *out, struct content *content, int *rc)
{
	struct member member;

	*rc = member_decode(&member, content->bytes, content->size);
	if (*rc)
		return;
	fprintf(out, "  process %u turn %u run ", member.name.pid,
		member.name.turn);
	for (size_t i = 0; i < sizeof(member.run); i++)
		fprintf(out, "%02x", member.run[i]);
	fputc('\n', out);
	member_encode(&content->again, &member);
}

static void print_symbols_at(FILE *out, struct content *content, int *rc)
{
	struct symbols_at at;

	*rc = symbols_at_decode(&at, content->bytes, content->size);
	if (*rc)
		return;
	fprintf(out, "  member %u byte %" PRIu64 "\n", at.member, at.offset);
	symbols_at_encode(&content->again, &at);
}

static void print_module_files(FILE *out, struct content *content, int *rc)
{
	struct module_list modules = { 0 };
	char build_id[BUILD_ID_TEXT];

	*rc = module_files_decode(&modules, content->bytes, content->size);
	for (size_t i = 0; i < modules.count; i++) {
		const struct module_files *module = &modules.list[i];

		fprintf(out, "  %s build id %s\n", module->path,
			build_id_text(build_id, &module->build_id));
		for (unsigned j = 0; j < MODULE_FILES; j++)
			if (module->files[j].size)
				fprintf(out, "  file %u size %" PRIu64
					     " member %u number %u\n", j,
					module->files[j].size,
					module->files[j].member,
					module->files[j].number);
		module_files_encode(&content->again, module);
	}
	module_files_release(&modules);
}

static void print_module_sums(FILE *out, struct content *content, int *rc)
{
	struct module_sums sums = { 0 };

	*rc = module_sums_decode(&sums, content->bytes, content->size);
	for (size_t i = 0; i < sums.count; i++) {
		const struct module_sum *sum = &sums.list[i].sum;

		fprintf(out, "  %s size %" PRIu64 " checksum 0x%" PRIx64 "\n",
			sums.list[i].path, sum->size, sum->sum);
		module_sum_encode(&content->again, sums.list[i].path, sum);
	}
	module_sums_release(&sums);
}

typedef void print_content(FILE *out, struct content *content, int *rc);

static print_content *const printers[] = {
	[CHUNK_META] = print_meta,
	[CHUNK_KEY_FRAME] = print_key_frame,
	[CHUNK_EVENTS] = print_packets,
	[CHUNK_READS] = print_bytes,
	[CHUNK_PAGES] = print_pages,
	[CHUNK_INDEX] = print_index,
	[CHUNK_SYMBOLS] = print_symbols,
	[CHUNK_SUMMARY] = print_summary,
	[CHUNK_PROGRAM] = print_program,
	[CHUNK_SNAPSHOT] = print_snapshot,
	[CHUNK_MOMENTS] = print_moments,
	[CHUNK_MEMBER] = print_member,
	[CHUNK_SYMBOLS_AT] = print_symbols_at,
	[CHUNK_MODULE_FILES] = print_module_files,
	[CHUNK_PIECE] = print_bytes,
	[CHUNK_DEVICES] = print_bytes,
	[CHUNK_DISK] = print_snapshot,
	[CHUNK_MODULE_SUMS] = print_module_sums,
};

static int print_chunk(FILE *out, const struct trace_reader *reader,
		       size_t index, struct content *content,
		       struct failure *why)
{
	const struct chunk_info *info = trace_reader_info(reader, index);
	uint8_t *bytes;
	int rc = trace_reader_chunk(reader, index, &bytes, why);

	if (rc)
		return rc;
	fprintf(out, "%s: stream %u segment %u first %" PRIu64
		     " size %u\n",
		chunk_kind_name(info->kind), info->stream, info->segment,
		info->first, info->size);
	content->info = info;
	content->bytes = bytes;
	content->size = info->size;
	printers[info->kind](out, content, &rc);
	if (rc)
		rc = trace_reader_damaged(reader, index, rc, "a field", why);
	else if (content->again.size != info->size ||
		 memcmp(content->again.bytes, bytes, info->size) != 0)
		rc = trace_reader_damaged(reader, index, ERR_CORRUPT,
					  "has two encodings", why);
	output_clear(&content->again);
	free(bytes);
	return rc;
}

int print_trace(FILE *out, const char *path, struct failure *why)
{
	struct content content = { 0 };
	struct trace_reader *reader;
	int rc = trace_reader_open(&reader, path, why);

	if (rc)
		return rc;
	fprintf(out, "architecture %u %s\n", trace_reader_header(reader)->arch,
		trace_reader_is_complete(reader) ? "complete" : "incomplete");
	if (trace_reader_note(reader))
		fprintf(out, "%s\n", trace_reader_note(reader));
	for (size_t i = 0; i < trace_reader_count(reader) && !rc; i++)
		rc = print_chunk(out, reader, i, &content, why);
	output_release(&content.again);
	trace_reader_close(reader);
	return rc;
}
