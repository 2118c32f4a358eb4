package lockx

import (
	"io/fs"
	"os"

	"github.com/landfast/landfast/internal/fsops"
)

// turnFlags: never create by path. There is no O_NOFOLLOW; sameFile looks.
const turnFlags = os.O_RDWR

// sameFile compares with what the path leads to without following a link: an
// os.FileInfo keeps its file id to itself. The turnstile was opened without
// sharing deletion, so the name stays with it meanwhile.
func sameFile(fi fs.FileInfo, info fsops.Info, path string) bool {
	at, err := os.Lstat(path)
	return err == nil && at.Mode().IsRegular() && os.SameFile(fi, at) && info.Nlink > 0
}
