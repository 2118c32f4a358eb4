package simfs

import (
	"hash/maphash"
	"io/fs"
	"maps"
	"slices"

	"github.com/landfast/landfast/internal/fsops"
)

// block is the grain in which content persists.
const block = 4096

// maxExhaustive is how many pending directory operations are combined in every
// way; more are cut to prefixes, all-but-one and only-one.
const maxExhaustive = 10

// Crashes calls visit with every distinct disk that a power cut may leave now,
// at most limit of them, until visit answers false, and reports how many it was.
// Each is a fresh filesystem of the same model.
func (f *FS) Crashes(limit int, visit func(*FS) bool) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := map[uint64]bool{}
	count := 0
	for _, use := range f.dirChoices() {
		stable := f.directoriesAfter(use)
		files := reachableFiles(stable, f.root)
		options := make([][]content, len(files))
		for i, n := range files {
			options[i] = n.contents()
		}
		for _, pick := range picks(options, limit) {
			after := f.materialise(stable, files, options, pick)
			key := after.key()
			if seen[key] {
				continue
			}
			seen[key] = true
			count++
			if !visit(after) || count >= limit {
				return count
			}
		}
	}
	return count
}

// dirChoices are the sets of pending directory operations that may persist.
func (f *FS) dirChoices() []func(int) bool {
	n := len(f.pending)
	var out []func(int) bool
	if f.model.Journal {
		for c := range n + 1 {
			out = append(out, func(i int) bool { return i < c })
		}
		return out
	}
	if n <= maxExhaustive {
		for mask := range 1 << n {
			out = append(out, func(i int) bool { return mask>>i&1 == 1 })
		}
		return out
	}
	for c := range n + 1 {
		out = append(out, func(i int) bool { return i < c })
	}
	for c := range n {
		out = append(out, func(i int) bool { return i != c }, func(i int) bool { return i == c })
	}
	return out
}

// directoriesAfter is the durable content of every directory with some of the
// pending operations.
func (f *FS) directoriesAfter(use func(int) bool) map[*node]map[string]*node {
	m := map[*node]map[string]*node{}
	get := func(d *node) map[string]*node {
		if m[d] == nil {
			c := make(map[string]*node, len(d.stable))
			maps.Copy(c, d.stable)
			m[d] = c
		}
		return m[d]
	}
	get(f.root)
	used := map[*dirOp]bool{}
	for i, op := range f.pending {
		es := get(op.dir)
		if use(i) && (op.after == nil || op.after.done || used[op.after]) {
			used[op] = true
			op.apply(es)
		}
	}
	// Directories without pending operations keep what they had.
	for queue := []*node{f.root}; len(queue) > 0; queue = queue[1:] {
		for _, c := range get(queue[0]) {
			if c.kind == fsops.Dir {
				queue = append(queue, c)
			}
		}
	}
	return m
}

func reachableFiles(stable map[*node]map[string]*node, root *node) []*node {
	var out []*node
	seen := map[*node]bool{}
	var visit func(d *node)
	visit = func(d *node) {
		for _, name := range names(stable[d]) {
			n := stable[d][name]
			if seen[n] {
				continue
			}
			seen[n] = true
			if n.kind == fsops.Dir {
				visit(n)
			} else if n.kind == fsops.Regular {
				out = append(out, n)
			}
		}
	}
	visit(root)
	return out
}

// content is what one file may hold after the cut.
type content struct {
	data []byte
	mode fs.FileMode
}

// contents are the possibilities: what is durable with any part of what is
// pending, in blocks, or the new length filled with zeros.
func (n *node) contents() []content {
	modes := []fs.FileMode{n.modeDur}
	if n.mode != n.modeDur {
		modes = append(modes, n.mode)
	}
	datas := [][]byte{n.durable}
	if len(n.pend) > 0 {
		var pieces []write
		for _, w := range n.pend {
			for off := 0; off < len(w.data); {
				size := min(block-int(w.off+int64(off))%block, len(w.data)-off)
				pieces = append(pieces, write{off: w.off + int64(off), data: w.data[off : off+size]})
				off += size
			}
		}
		build := func(use func(int) bool) {
			b := n.durable
			for i, p := range pieces {
				if use(i) {
					b = p.apply(b)
				}
			}
			datas = append(datas, b)
		}
		if len(pieces) <= 4 {
			for mask := 1; mask < 1<<len(pieces); mask++ {
				build(func(i int) bool { return mask>>i&1 == 1 })
			}
		} else {
			for c := range pieces {
				build(func(i int) bool { return i <= c })
				build(func(i int) bool { return i != c })
			}
		}
		if len(n.data) > len(n.durable) {
			datas = append(datas, append(slices.Clone(n.durable), make([]byte, len(n.data)-len(n.durable))...))
		}
	}
	var out []content
	for _, d := range datas {
		for _, m := range modes {
			out = append(out, content{d, m})
		}
	}
	return out
}

// picks are the combinations of the files' possibilities: all of them where that
// stays below limit, else one file varied at a time against all-old and all-new.
func picks(options [][]content, limit int) [][]int {
	total := 1
	for _, o := range options {
		if total <= limit {
			total *= len(o)
		}
	}
	var out [][]int
	if total <= limit {
		idx := make([]int, len(options))
		for {
			out = append(out, slices.Clone(idx))
			k := 0
			for k < len(idx) {
				if idx[k]++; idx[k] < len(options[k]) {
					break
				}
				idx[k] = 0
				k++
			}
			if k == len(idx) {
				return out
			}
		}
	}
	for _, newest := range []bool{false, true} {
		for i := range options {
			for c := range options[i] {
				idx := make([]int, len(options))
				if newest {
					for k := range idx {
						idx[k] = len(options[k]) - 1
					}
				}
				idx[i] = c
				out = append(out, idx)
			}
		}
	}
	return out
}

// materialise is the disk after the cut as a filesystem of its own.
func (f *FS) materialise(stable map[*node]map[string]*node, files []*node, options [][]content, pick []int) *FS {
	after := New(f.model)
	after.now = f.now
	copies := map[*node]*node{f.root: after.root}
	for i, n := range files {
		c := options[i][pick[i]]
		k := after.newNode(fsops.Regular, c.mode)
		k.data, k.durable, k.mtime, k.nlink = c.data, c.data, n.mtime, 0
		copies[n] = k
	}
	var build func(d *node)
	build = func(d *node) {
		for _, name := range names(stable[d]) {
			n := stable[d][name]
			k := copies[n]
			if k == nil {
				k = after.newNode(n.kind, n.mode)
				k.target, k.mtime, k.nlink = n.target, n.mtime, 0
				copies[n] = k
				if n.kind == fsops.Dir {
					build(n)
				}
			}
			k.nlink++
			copies[d].entries[name], copies[d].stable[name] = k, k
		}
	}
	build(f.root)
	return after
}

var seed = maphash.MakeSeed()

func (f *FS) key() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteString(f.Tree())
	return h.Sum64()
}
