/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names.cpp - namespaces, classes, templates, lambdas; see names.py */
#include <cstring>

extern "C" {
#include "mark.h"
}

namespace app {

int counter = 11;
static int hidden = 12;

namespace inner {
long depth = 13;
}

namespace {
int secret = 14;
}

enum class Mode { Off, On = 4 };
enum Plain { First, Second };

struct Point {
	int x, y;
	static int made;
	Point(int a, int b) : x(a), y(b) { made++; }
};
int Point::made = 0;

class Shape {
public:
	explicit Shape(const char *n) : name(n) {}
	virtual ~Shape() {}
	virtual int area() const { return 0; }
	const char *name;
protected:
	Mode mode = Mode::On;
};

class Square : public Shape {
public:
	Square(int s) : Shape("square"), side(s), at(1, 2) {}
	int area() const override { return side * side; }
	int grow(int by);
	int grow(long by) { return (int)by; }
	int side;
	Point at;
};

template <typename T, int N> struct Box {
	T items[N];
	static int boxes;
	T first() const { return items[0]; }
};
template <typename T, int N> int Box<T, N>::boxes = N;

struct Left { int l = 1; };
struct Right { int r = 2; };
struct Both : Left, Right { int b = 3; };

struct Empty {};

template <typename T> T twice(T value)
{
	static T last = value;
	last = value + value;
	return last;
}

int Square::grow(int by)
{
	static int grown = 0;
	int before = side;

	grown++;
	side += by;
	MARK();
	return before + grown;
}

} // namespace app

app::Box<int, 3> numbers = { { 1, 2, 3 } };
app::Box<app::Point, 2> points = { { app::Point(1, 2), app::Point(3, 4) } };
app::Square square(5);
app::Shape *shape = &square;
const app::Shape &reference = square;
int plain = 3;
int &alias = plain;
app::Both both;
app::Empty empty;
app::Mode mode = app::Mode::On;
app::Plain second = app::Second;
bool truth = true;
char16_t sixteen = u'x';
char32_t thirty_two = U'y';
const char32_t *wide = U"wide";
int app::Point::*member = &app::Point::y;
decltype(nullptr) null = nullptr;

int main()
{
	int captured = 21;
	auto lambda = [&captured, factor = 2](int n) {
		int inside = n * factor + captured;

		MARK();
		return inside;
	};
	int sum = square.grow(2) + lambda(4) + app::twice(3) +
		  (int)app::twice(2.5) + numbers.first() + app::hidden +
		  app::secret + square.grow(3L) + points.boxes +
		  numbers.boxes;

	return sum == 0 || shape->area() == 0 || reference.area() == 0 ||
	       alias + (points.first().*member) == 0;
}
