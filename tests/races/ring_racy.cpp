/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ring_racy.cpp - a ring whose atomic ends move before its slots are full */
#include <atomic>
#include <memory>
#include <thread>

struct ring {
	int slots[16];
	std::atomic<unsigned> head{0}, tail{0};
};

static const int count = 100;
static int sum;

static void fill(ring *ring)
{
	for (int i = 0; i < count; i++) {
		unsigned tail = ring->tail.load(std::memory_order_relaxed);

		while (tail - ring->head.load(std::memory_order_acquire) == 16)
			std::this_thread::yield();
		ring->tail.store(tail + 1, std::memory_order_release);
		ring->slots[tail % 16] = i;	/* RACE:a */
	}
}

static void drain(ring *ring)
{
	for (int i = 0; i < count; i++) {
		unsigned head = ring->head.load(std::memory_order_relaxed);

		while (ring->tail.load(std::memory_order_acquire) == head)
			std::this_thread::yield();
		sum += ring->slots[head % 16];	/* RACE:a */
		ring->head.store(head + 1, std::memory_order_release);
	}
}

int main()
{
	auto ring = std::make_unique<struct ring>();
	std::thread one([&] { fill(ring.get()); });
	std::thread two([&] { drain(ring.get()); });

	one.join();
	two.join();
	return sum < 0;
}
