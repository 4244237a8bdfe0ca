// SPDX-License-Identifier: GPL-2.0-or-later
// errors.cpp - as errors.c, with operator new and delete; in all of C++ that is
// right there is no error
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

struct alignas(64) Wide {
	char bytes[64];
};

// Has a part of a block for itself.
struct Own {
	static void *operator new(std::size_t size)
	{
		return static_cast<char *>(std::malloc(size + 16)) + 16;
	}
	static void operator delete(void *own)
	{
		std::free(static_cast<char *>(own) - 16);
	}
	int numbers[4];
};

static void behind()
{
	int *numbers = new int[11]; // allocated: numbers

	numbers[11] = 5; // write_behind: numbers
	delete[] numbers;
}

static void into_freed()
{
	Wide *wide = new Wide; // allocated: wide

	delete wide; // freed: wide
	wide->bytes[40] = 1; // write_freed: wide
}

static void rightly()
{
	std::map<int, std::string> map;
	std::vector<std::shared_ptr<std::string>> texts;
	alignas(std::string) char place[sizeof(std::string)];
	Own *own = new Own;

	for (int i = 0; i < 300; i++) {
		map[i * 37 % 100] = std::string(i, 'y');
		texts.push_back(std::make_shared<std::string>(i, 'z'));
	}
	own->numbers[3] = 1;
	delete own;
	(new (place) std::string(40, 'x'))->~basic_string();
	delete[] new (std::nothrow) char[7];
	try {
		throw std::string(100, 'x');
	} catch (const std::string &text) {
		texts.clear();
	}
}

int main()
{
	rightly();
	behind();
	into_freed();
	rightly();
	return 0;
}
