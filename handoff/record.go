package handoff

import (
	"context"

	"github.com/landfast/landfast/handoff/ledger"
)

// Record appends a goal, answer, decision or next action and gives it as
// stored. On a nil error it is durable and has a verified snapshot. Errors:
// conflict (exit 3) where the input's expected revision or recovery generation
// is not the present one, refused (5) for input or a ledger that is not valid,
// busy (4), filesystem (6).
func (p *Project) Record(ctx context.Context, in ledger.RecordInput) (ledger.Record, error) {
	var out ledger.Record
	err := p.change(ctx, "record", func(l *ledger.Ledger, at ledger.At) (next *ledger.Ledger, err error) {
		next, out, err = l.Record(in, at)
		return next, err
	})
	return out, classify("record", err)
}

// Retract hides the newest version of a record or check; history keeps it.
// Errors as for Record; retracting what is already hidden is a conflict.
func (p *Project) Retract(ctx context.Context, in ledger.RetractInput) (ledger.Retraction, error) {
	var out ledger.Retraction
	err := p.change(ctx, "retract", func(l *ledger.Ledger, at ledger.At) (next *ledger.Ledger, err error) {
		next, out, err = l.Retract(in, at)
		return next, err
	})
	return out, classify("retract", err)
}
