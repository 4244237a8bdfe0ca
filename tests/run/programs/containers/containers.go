// SPDX-License-Identifier: GPL-2.0-or-later
// containers.go - what strings, slices and maps of Go hold; see containers.py
package main

import "syscall"

type point struct {
	x, y int
}

type order struct {
	customer string
	lines    []string
	prices   map[string]int
	at       *point
}

var (
	text     = "apple"
	numbers  = make([]int, 3, 8)
	none     []int
	words    = []string{"alpha", ""}
	points   = []point{{1, 2}, {3, 4}}
	nested   = [][]int{{1}, {}}
	part     = numbers[1:]
	ages     = map[string]int{"ann": 30}
	noMap    map[int]int
	empty    = map[int]bool{}
	large    = map[int]int{}
	shrunk   = map[string]bool{}
	byPoint  = map[point]string{{1, 2}: "there"}
	oneOrder = order{"ann", []string{"tea", "milk"}, map[string]int{"tea": 2},
		&point{1, 2}}
)

// stop is where containers.py looks.
//
//go:noinline
func stop() int {
	syscall.Getppid()
	return len(text) + len(numbers) + len(none) + len(words) +
		len(points) + len(nested) + len(part) + len(ages) +
		len(noMap) + len(empty) + len(large) + len(byPoint) +
		len(oneOrder.lines) + len(shrunk)
}

func main() {
	numbers[1] = 5
	for n := 0; n < 3000; n++ {
		large[n] = n * n
	}
	for n := 0; n < 40; n++ {
		shrunk[string(rune('a'+n%26))+string(rune('a'+n/26))] = true
	}
	for n := 0; n < 38; n++ {
		delete(shrunk, string(rune('a'+n%26))+string(rune('a'+n/26)))
	}
	stop()
}
