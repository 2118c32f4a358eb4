package gitinfo

import (
	"bufio"
	"io"
	"io/fs"
	"strings"
)

// findPacked streams packed-refs (gitrepository-layout(5)): "ID SP ref" lines,
// comments beginning with #, peeled tags beginning with ^. A ref that is not
// among the first max bytes of a longer file is not known to be absent.
func findPacked(r io.Reader, max int64, ref string) (string, error) {
	within := &io.LimitedReader{R: r, N: max + 1}
	s := bufio.NewScanner(within)
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
	if within.N == 0 {
		return "", errFormat
	}
	return "", fs.ErrNotExist
}
