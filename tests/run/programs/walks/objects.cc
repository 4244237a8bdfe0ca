// SPDX-License-Identifier: GPL-2.0-or-later
// Virtual calls, constructors and destructors, templates, and exceptions.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct shape {
	virtual ~shape() = default;
	virtual int area() const = 0;
};

class square : public shape {
public:
	explicit square(int side) : side_(side) {}
	int area() const override { return side_ * side_; }

private:
	int side_;
};

class hole : public shape {
public:
	int area() const override
	{
		throw std::runtime_error("no area");
	}
};

template <typename Number>
Number limited(Number value, Number limit)
{
	if (value > limit)
		return limit;
	return value;
}

int total(const std::vector<std::unique_ptr<shape>> &shapes)
{
	int sum = 0;

	for (const auto &one : shapes) {
		try {
			sum += limited(one->area(), 20);
		} catch (const std::exception &error) {
			std::puts(error.what());
		}
	}
	return sum;
}

}  // namespace

int main()
{
	std::vector<std::unique_ptr<shape>> shapes;

	for (int side = 2; side < 6; side++)
		shapes.push_back(std::make_unique<square>(side));
	shapes.push_back(std::make_unique<hole>());
	std::printf("%d\n", total(shapes));
	std::printf("%.1f\n", limited(2.5, 2.0));
	return 0;
}
