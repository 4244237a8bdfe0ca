/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virt_tree.c - the device tree of the machine "virt"
 *
 * Source: the bindings that Linux has in Documentation/devicetree/bindings.
 */
#include "vm/board/virt_tree.h"

#include <stdio.h>
#include <string.h>

#include "vm/board/device_tree.h"

/* References from node to node. */
enum { HANDLE_GIC = 1, HANDLE_CLOCK = 2 };

/* Of an interrupt: whose it is, how it is raised. */
enum { SHARED = 0, OWN = 1 };
#define LEVEL_HIGH 4u
#define LEVEL_LOW 8u
#define CORES_SHIFT 8u		/* of which cores: a bit each */

#define CLOCK_RATE 24000000u	/* of the peripherals */

void virt_tree_initrd(struct device_tree *tree, const struct virt_tree *about)
{
	if (!about->initrd_size)
		return;
	TREE_WIDE(tree, "linux,initrd-start", about->initrd);
	TREE_WIDE(tree, "linux,initrd-end", about->initrd + about->initrd_size);
}

static void put_chosen(struct device_tree *tree, const struct virt_tree *about)
{
	const struct virt_options *options = about->options;
	uint64_t seed;

	memcpy(&seed, options->seed, sizeof(seed));
	tree_begin(tree, "chosen");
	tree_text(tree, "stdout-path", "/pl011@9000000");
	tree_text(tree, "bootargs", options->append);
	tree_bytes(tree, "rng-seed", options->seed + sizeof(seed),
		   VIRT_SEED - sizeof(seed));
	TREE_WIDE(tree, "kaslr-seed", seed);
	virt_tree_initrd(tree, about);
	tree_end(tree);
}

static void put_memory(struct device_tree *tree, const struct virt_tree *about)
{
	tree_begin(tree, "memory@40000000");
	tree_text(tree, "device_type", "memory");
	TREE_WIDE(tree, "reg", VIRT_RAM, about->options->memory);
	tree_end(tree);
}

static void put_core(struct device_tree *tree, const struct virt_tree *about,
		     unsigned number)
{
	char name[16], compatible[80];

	snprintf(name, sizeof(name), "cpu@%u", number);
	snprintf(compatible, sizeof(compatible), "arm,%s",
		 about->options->model);
	tree_begin(tree, name);
	tree_text(tree, "device_type", "cpu");
	tree_text(tree, "compatible", compatible);
	TREE_NUMBERS(tree, "reg", number);
	tree_text(tree, "enable-method", "psci");
	tree_end(tree);
}

static void put_processor(struct device_tree *tree,
			  const struct virt_tree *about)
{
	tree_begin(tree, "cpus");
	TREE_NUMBERS(tree, "#address-cells", 1);
	TREE_NUMBERS(tree, "#size-cells", 0);
	for (unsigned i = 0; i < about->options->cores; i++)
		put_core(tree, about, i);
	tree_end(tree);
	tree_begin(tree, "psci");
	tree_bytes(tree, "compatible", "arm,psci-1.0\0arm,psci-0.2", 26);
	tree_text(tree, "method", "hvc");
	tree_end(tree);
}

static void put_timer(struct device_tree *tree, const struct virt_tree *about)
{
	uint32_t how = ((1u << about->options->cores) - 1) << CORES_SHIFT |
		       LEVEL_LOW;

	tree_begin(tree, "timer");
	tree_bytes(tree, "compatible", "arm,armv8-timer\0arm,armv7-timer", 32);
	tree_flag(tree, "always-on");
	TREE_NUMBERS(tree, "interrupts",
		     OWN, VIRT_PPI_SECURE, how,
		     OWN, VIRT_PPI_PHYSICAL, how,
		     OWN, VIRT_PPI_VIRTUAL, how,
		     OWN, VIRT_PPI_HIGHER, how);
	tree_end(tree);
}

static void put_gic(struct device_tree *tree)
{
	tree_begin(tree, "intc@8000000");
	tree_text(tree, "compatible", "arm,cortex-a15-gic");
	TREE_NUMBERS(tree, "#interrupt-cells", 3);
	tree_flag(tree, "interrupt-controller");
	TREE_WIDE(tree, "reg", VIRT_GIC_DISTRIBUTOR, VIRT_GIC_SIZE,
		  VIRT_GIC_PROCESSOR, VIRT_GIC_SIZE);
	TREE_NUMBERS(tree, "phandle", HANDLE_GIC);
	tree_end(tree);
}

static void put_clock(struct device_tree *tree)
{
	tree_begin(tree, "apb-pclk");
	tree_text(tree, "compatible", "fixed-clock");
	TREE_NUMBERS(tree, "#clock-cells", 0);
	TREE_NUMBERS(tree, "clock-frequency", CLOCK_RATE);
	tree_text(tree, "clock-output-names", "clk24mhz");
	TREE_NUMBERS(tree, "phandle", HANDLE_CLOCK);
	tree_end(tree);
}

static void put_console(struct device_tree *tree)
{
	tree_begin(tree, "pl011@9000000");
	tree_bytes(tree, "compatible", "arm,pl011\0arm,primecell", 24);
	TREE_WIDE(tree, "reg", VIRT_CONSOLE, VIRT_DEVICE_SIZE);
	TREE_NUMBERS(tree, "interrupts", SHARED, VIRT_SPI_CONSOLE, LEVEL_HIGH);
	TREE_NUMBERS(tree, "clocks", HANDLE_CLOCK, HANDLE_CLOCK);
	tree_bytes(tree, "clock-names", "uartclk\0apb_pclk", 17);
	tree_end(tree);
}

static void put_wall_clock(struct device_tree *tree)
{
	tree_begin(tree, "pl031@9010000");
	tree_bytes(tree, "compatible", "arm,pl031\0arm,primecell", 24);
	TREE_WIDE(tree, "reg", VIRT_CLOCK, VIRT_DEVICE_SIZE);
	TREE_NUMBERS(tree, "interrupts", SHARED, VIRT_SPI_CLOCK, LEVEL_HIGH);
	TREE_NUMBERS(tree, "clocks", HANDLE_CLOCK);
	tree_text(tree, "clock-names", "apb_pclk");
	tree_end(tree);
}

static void put_virtio(struct device_tree *tree, unsigned number)
{
	uint64_t at = VIRT_VIRTIO + number * VIRT_VIRTIO_SIZE;
	char name[40];

	snprintf(name, sizeof(name), "virtio_mmio@%llx",
		 (unsigned long long)at);
	tree_begin(tree, name);
	tree_text(tree, "compatible", "virtio,mmio");
	TREE_WIDE(tree, "reg", at, VIRT_VIRTIO_SIZE);
	TREE_NUMBERS(tree, "interrupts", SHARED, VIRT_SPI_VIRTIO + number,
		     LEVEL_HIGH);
	tree_flag(tree, "dma-coherent");
	tree_end(tree);
}

int virt_tree_make(struct output *out, const struct virt_tree *about)
{
	struct device_tree tree = { 0 };
	int rc;

	tree_begin(&tree, "");
	tree_text(&tree, "compatible", "linux,dummy-virt");
	tree_text(&tree, "model", "linux,dummy-virt");
	TREE_NUMBERS(&tree, "#address-cells", 2);
	TREE_NUMBERS(&tree, "#size-cells", 2);
	TREE_NUMBERS(&tree, "interrupt-parent", HANDLE_GIC);
	put_chosen(&tree, about);
	put_memory(&tree, about);
	put_processor(&tree, about);
	put_timer(&tree, about);
	put_gic(&tree);
	put_clock(&tree);
	put_console(&tree);
	put_wall_clock(&tree);
	for (unsigned i = 0; i < about->virtio; i++)
		put_virtio(&tree, i);
	tree_end(&tree);
	rc = device_tree_end(&tree, out);
	device_tree_release(&tree);
	return rc;
}
