package handoff

import (
	"bytes"
	"context"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/handoff/ledger"
)

// maxPreview is the size limit of HANDOFF.md in bytes.
const maxPreview = 64 << 10

// preview renders HANDOFF.md.
func preview(l *ledger.Ledger, at ledger.At) []byte {
	return ledger.Markdown(viewOf(l, at), ledger.MarkdownOptions{MaxBytes: maxPreview})
}

// previewIsCurrent reports whether HANDOFF.md says what the ledger says.
func previewIsCurrent(state *fsx.Dir, l *ledger.Ledger, at ledger.At) bool {
	got, err := state.ReadFile(previewName, maxPreview)
	return err == nil && bytes.Equal(got, preview(l, at))
}

// refreshPreview writes HANDOFF.md without any flush: it can be made again from
// the ledger at any time. That it can't be written (a link or a directory lies
// there, the folder is read-only) never fails what was already committed.
func (p *Project) refreshPreview(state *fsx.Dir, l *ledger.Ledger, at ledger.At) {
	t, err := state.CreateTemp(previewName, fsx.Options{Mode: fileMode, Flush: fsx.FlushNone})
	if err != nil {
		return
	}
	if _, err := t.Write(preview(l, at)); err != nil {
		_ = t.Abort()
		return
	}
	_, _ = t.Replace(context.Background())
}
