package lockx

import "testing"

func TestParseLocksFindsOnlyTheFilesFlock(t *testing.T) {
	const list = `1: POSIX  ADVISORY  WRITE 11 08:01:77 0 EOF
2: FLOCK  ADVISORY  READ  12 08:01:78 0 EOF
2: -> FLOCK  ADVISORY  WRITE 13 08:01:79 0 EOF
3: FLOCK  ADVISORY  WRITE 14 08:01:80 0 EOF
3: -> FLOCK  ADVISORY  WRITE 15 08:01:80 0 EOF
`
	for file, want := range map[string][2]bool{
		"08:01:77": {false, false}, // fcntl is another namespace
		"08:01:78": {true, true},
		"08:01:79": {false, false}, // a waiter holds nothing
		"08:01:80": {true, false},
		"08:02:80": {false, false},
		"08:01:8":  {false, false},
	} {
		listed, shared := parseLocks([]byte(list), file)
		if listed != want[0] || shared != want[1] {
			t.Errorf("%s: %v, %v; want %v", file, listed, shared, want)
		}
	}
}
