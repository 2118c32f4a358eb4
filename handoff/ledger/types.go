package ledger

// Format is the only value of the format field that this version writes.
const Format = "landfast/1"

// Size limits in bytes. A record may not fill the space that retracting and
// recovering need: there is always room to get out.
const (
	MaxBytes      = 2 << 20           // on reading, and for a recovered ledger
	maxRetracted  = MaxBytes - 4<<10  // after a retraction; a recovery id still fits
	maxRecorded   = MaxBytes - 64<<10 // after a record
	MaxInputBytes = 16 << 10          // of one record's JSON
	maxTextRunes  = 2000              // code points of a text
	maxRevision   = 1<<53 - 1         // the largest integer that every JSON reader keeps
)

// The kinds of record.
const (
	KindGoal     = "goal"
	KindAnswer   = "answer"
	KindDecision = "decision"
	KindNext     = "next"
)

// The tiers: a repo record is one whatever the branch, a branch record is one
// per branch.
const (
	TierRepo   = "repo"
	TierBranch = "branch"
)

// The categories that a retraction can name.
const (
	CategoryRecord = "record"
	CategoryCheck  = "check"
)

// Ledger is a whole ledger, its fields in the order in which they are written.
// Use [Parse] and [New]; the zero value is not a valid ledger.
type Ledger struct {
	Archive     *Archive     `json:"archive,omitzero"` // what compaction moved out
	Checks      []Check      `json:"checks"`
	Format      string       `json:"format"`
	LedgerID    string       `json:"ledger_id"` // UUID, drawn once
	Records     []Record     `json:"records"`
	RecoveryID  string       `json:"recovery_id,omitzero"` // UUID of the last recovery; later writes must carry it
	Retractions []Retraction `json:"retractions"`
	Revision    uint64       `json:"revision"`       // entries ever appended
	Rules       int          `json:"rules,omitzero"` // version of the screening rules of the last write
	UpdatedAt   string       `json:"updated_at,omitzero"`

	limit int // largest encoding in bytes; 0 is MaxBytes
}

// Archive says what compaction moved out of the ledger.
type Archive struct {
	Count  uint64 `json:"count"`
	Digest string `json:"digest"` // of the last archived entry; prev of the first live one
}

// Origin says where an entry that was merged or imported came from.
type Origin struct {
	Digest   string `json:"digest"`
	Ledger   string `json:"ledger"`
	Revision uint64 `json:"revision"`
}

// Record is one version of a goal, answer, decision or next action.
type Record struct {
	Answer       string  `json:"answer,omitzero"`
	Branch       *string `json:"branch"` // on which it was recorded; null where there was none
	ID           string  `json:"id"`
	Kind         string  `json:"kind"`
	ObservedHead *string `json:"observed_head"` // commit at that moment, or null
	Origin       *Origin `json:"origin,omitzero"`
	Prev         string  `json:"prev,omitzero"`
	RecordedAt   string  `json:"recorded_at"`
	Revision     uint64  `json:"revision"`
	Scope        string  `json:"scope"`
	Source       string  `json:"source"`
	Status       string  `json:"status"`
	Text         string  `json:"text"`
	Tier         string  `json:"tier"`
	Why          string  `json:"why,omitzero"`
}

// Check is the receipt of a command that was run.
type Check struct {
	Branch         *string           `json:"branch"`
	Command        []string          `json:"command"`
	Environment    string            `json:"environment"`
	Error          string            `json:"error,omitzero"`
	EvidenceSource string            `json:"evidence_source"`
	ExitCode       *uint32           `json:"exit_code"`
	ID             string            `json:"id"`
	Inputs         map[string]string `json:"inputs"` // path → SHA-256
	InputsStable   bool              `json:"inputs_stable"`
	ObservedHead   *string           `json:"observed_head"`
	Origin         *Origin           `json:"origin,omitzero"`
	OutputBytes    uint64            `json:"output_bytes"`
	OutputRetained bool              `json:"output_retained"`
	OutputSHA256   string            `json:"output_sha256"`
	Prev           string            `json:"prev,omitzero"`
	RecordedAt     string            `json:"recorded_at"`
	Revision       uint64            `json:"revision"`
	Runtime        string            `json:"runtime"`
	Scope          string            `json:"scope"`
	Signal         *string           `json:"signal,omitzero"`
	Signature      *Signature        `json:"signature,omitzero"`
	StartedAt      string            `json:"started_at"`
	TimedOut       bool              `json:"timed_out"`
	Title          string            `json:"title"`
}

// Signature is the signature of a check receipt.
type Signature struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Retraction hides the versions of one id up to its own revision.
type Retraction struct {
	Branch     *string `json:"branch"`
	Category   string  `json:"category"`
	ID         string  `json:"id"`
	Origin     *Origin `json:"origin,omitzero"`
	Prev       string  `json:"prev,omitzero"`
	RecordedAt string  `json:"recorded_at"`
	Revision   uint64  `json:"revision"`
}

// New is an empty ledger with this id (a UUID).
func New(id string) *Ledger {
	return &Ledger{Format: Format, LedgerID: id, Records: []Record{}, Checks: []Check{}, Retractions: []Retraction{}}
}
