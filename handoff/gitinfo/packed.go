package gitinfo

import (
	"bufio"
	"io"
	"io/fs"
	"strings"
)

// findPacked streams packed-refs (gitrepository-layout(5)): "ID SP ref" lines,
// comments beginning with #, peeled tags beginning with ^.
func findPacked(r io.Reader, ref string) (string, error) {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 4096), maxSmallFile)
	for s.Scan() {
		id, name, ok := strings.Cut(strings.TrimRight(s.Text(), "\r"), " ")
		if !ok || name != ref || strings.HasPrefix(id, "#") {
			continue
		}
		if !isID(id) {
			return "", errFormat
		}
		return id, nil
	}
	if err := s.Err(); err != nil {
		return "", err
	}
	return "", fs.ErrNotExist
}
