// SPDX-License-Identifier: GPL-2.0-or-later
// names.go - variables of packages of Go; see names.py
package main

import (
	"fmt"
	"syscall"
)

type Node struct {
	Id   int
	Name string
	Next *Node
}

var Counter int = 42
var Small int8 = -3
var Big uint64 = 1 << 63
var Ratio float64 = 2.5
var Third float32 = 0.25
var Flag bool = true
var Letter rune = 'x'
var Byte byte = 200
var Text string = "some text"
var Head *Node
var First = Node{1, "one", nil}
var Numbers = []int{5, 6, 7}
var Array = [4]uint16{1, 2, 3, 4}
var Zeros [40]int32
var Nodes = [2]Node{{2, "two", &First}, {3, "three", nil}}
var Complex complex128 = complex(1.5, -2)

func main() {
	Head = &Nodes[0]
	Counter += len(Numbers)
	syscall.Getppid()
	fmt.Println(Counter, Small, Big, Ratio, Third, Flag, Letter, Byte, Text,
		Head.Id, First, Array, Zeros[3], Nodes, Complex)
}
