// SPDX-License-Identifier: GPL-2.0-or-later
// calls.go - functions of Go, and what they return; see go_calls.py
package main

import (
	"errors"
	"fmt"
	"sync"
)

type point struct{ x, y int }
type mixed struct {
	a int8
	f float64
	s string
}
type big struct{ v [5]int }
type none struct{}

// tell prints a function's name and what it has returned.
func tell(name string, results ...interface{}) {
	fmt.Print(name)
	for _, result := range results {
		fmt.Printf("|%v", result)
	}
	fmt.Println()
}

//go:noinline
func add(a, b int) int { return a + b }

//go:noinline
func div(a, b int) (q, r int) { q = a / b; r = a % b; return }

//go:noinline
func name(n int) string { return fmt.Sprint("n", n) }

//go:noinline
func parse(s string) (int, error) {
	if s == "" {
		return 0, errors.New("empty")
	}
	return len(s), nil
}

//go:noinline
func half(x float64, y float32) (float64, float32) { return x / 2, y / 2 }

//go:noinline
func mix(m mixed, p point) (point, mixed) {
	return point{p.y, p.x}, mixed{m.a + 1, m.f * 2, m.s + "!"}
}

//go:noinline
func huge(b big, n int) (big, int, big) { b.v[0]++; return b, n, big{} }

//go:noinline
func list(n int) []int { return make([]int, n) }

//go:noinline
func many(a, b, c, d, e, f, g, h, i, j, k int) (int, int, int, int, int,
	int, int, int, int, int, int) {
	return k, j, i, h, g, f, e, d, c, b, a
}

//go:noinline
func floats(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p float64) (float64,
	complex128) {
	return p, complex(o, a)
}

//go:noinline
func flag(b bool, c byte) (bool, byte, uint16) { return !b, c + 1, 7 }

//go:noinline
func array(a [1]int, z [2]int, n none, e [0]int) ([1]int, [2]int, none) {
	return a, z, n
}

//go:noinline
func unnamed(_ int, b int, _ string, c int) (_ int, d int) { return 1, b + c }

//go:noinline
func (p *point) move(dx int) int { p.x += dx; return p.x }

//go:noinline
func nothing(p *point) { p.x = 0 }

// Its stack grows, and is copied.
//
//go:noinline
func down(n int, pad [40]int) int {
	if n == 0 {
		return 0
	}
	pad[n%40]++
	return down(n-1, pad) + 1
}

// Threads take turns with it.
//
//go:noinline
func waits(c chan int, d chan int) int {
	n := <-c
	d <- n
	return n + 1
}

// look has variables of its own, where go_calls.py looks.
//
//go:noinline
func look(n int, text string) int {
	sum, small := n, int8(-3)
	words := []string{text, "b"}
	at := point{n, 2}
	for i := 0; i < n; i++ {
		twice := 2 * i
		sum += twice + at.y // mark: inside
	}
	at.move(sum)
	return sum + len(words) + int(small)
}

func wait(group *sync.WaitGroup, c, d chan int) {
	tell("main.waits", waits(c, d))
	group.Done()
}

func main() {
	tell("main.add", add(2, 3))
	q, r := div(17, 5)
	tell("main.div", q, r)
	tell("main.name", name(4))
	n, err := parse("abc")
	tell("main.parse", n, err == nil)
	x, y := half(5, 3)
	tell("main.half", x, y)
	p, m := mix(mixed{1, 2.5, "s"}, point{3, 4})
	tell("main.mix", p, m)
	one, seven, zeros := huge(big{[5]int{1, 2, 3, 4, 5}}, 7)
	tell("main.huge", one, seven, zeros)
	tell("main.list", list(3))
	k, j, i, h, g, f, e, d, c, b, a := many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
	tell("main.many", k, j, i, h, g, f, e, d, c, b, a)
	last, pair := floats(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
	tell("main.floats", last, pair)
	is, small, word := flag(true, 4)
	tell("main.flag", is, small, word)
	first, second, third := array([1]int{1}, [2]int{2, 3}, none{}, [0]int{})
	tell("main.array", first, second, third)
	left, right := unnamed(5, 6, "x", 7)
	tell("main.unnamed", left, right)
	tell("main.(*point).move", p.move(3))
	nothing(&p)
	tell("main.look", look(3, "a"))
	tell("main.down", down(200, [40]int{}))
	var group sync.WaitGroup
	to, from := make(chan int), make(chan int)
	for i := 0; i < 4; i++ {
		group.Add(1)
		go wait(&group, to, from)
	}
	for i := 0; i < 4; i++ {
		to <- i
		<-from
	}
	group.Wait()
}
