//go:build unix

package lockx

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/landfast/landfast/internal/fsops"
)

// turnFlags: never create by path, never follow a link, never hang on a FIFO.
const turnFlags = os.O_RDWR | syscall.O_NOFOLLOW | syscall.O_NONBLOCK

func sameFile(fi fs.FileInfo, info fsops.Info, _ string) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && fsops.ID{Dev: uint64(st.Dev), Ino: [2]uint64{uint64(st.Ino)}} == info.ID && info.Nlink > 0
}
