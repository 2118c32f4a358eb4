package ledger

// Privacy is the fixed sentence of every view.
const Privacy = "This ledger stays on this machine as plain text; nothing is sent anywhere."

// View is the ledger as seen from one branch: the newest visible version of
// every id, in the order in which the ids first appeared.
type View struct {
	Revision           uint64      `json:"revision"`
	RecoveryID         string      `json:"recovery_id,omitempty"`
	Branch             *string     `json:"branch"`
	Head               *string     `json:"head"`
	Dirty              *bool       `json:"dirty"` // always null: finding out would run what the repository configures
	Records            []Record    `json:"records"`
	Checks             []CheckView `json:"checks"`
	OtherBranchRecords int         `json:"other_branch_records"` // versions of branch records that other branches hold
	Privacy            string      `json:"privacy"`
}

// CheckView is a receipt and what may be believed of it now.
type CheckView struct {
	Check
	Freshness     string   `json:"freshness"` // inputs-match or needs-recheck
	Reasons       []string `json:"reasons"`
	EvidenceTrust string   `json:"evidence_trust"`
}

// View is the ledger as seen from branch (nil: from no branch). Repo records
// are seen from everywhere. Receipts are given as needing a recheck: whether
// their inputs still match is for the caller, who can read files.
func (l *Ledger) View(branch *string) View {
	v := View{
		Revision: l.Revision, RecoveryID: l.RecoveryID, Branch: branch,
		Records: []Record{}, Checks: []CheckView{}, Privacy: Privacy,
	}
	place := map[string]int{} // record key → index in v.Records
	for i := range l.Records {
		r := &l.Records[i]
		if r.Tier == TierBranch && branchKey(r.Branch) != branchKey(branch) {
			v.OtherBranchRecords++
			continue
		}
		key := recordKey(r.ID, r.Tier, r.Branch)
		if at, seen := place[key]; seen {
			v.Records[at] = *r
			continue
		}
		place[key] = len(v.Records)
		v.Records = append(v.Records, *r)
	}
	hidden := l.hiding(branch)
	v.Records = keep(v.Records, func(r *Record) bool { return hidden[hideKey(CategoryRecord, r.ID, r.Tier)] < r.Revision })

	places := map[string]int{}
	for i := range l.Checks {
		c := &l.Checks[i]
		if branchKey(c.Branch) != branchKey(branch) {
			continue
		}
		cv := CheckView{Check: *c, Freshness: "needs-recheck", Reasons: []string{"inputs were not compared"}, EvidenceTrust: "local-unattested"}
		if at, seen := places[c.ID]; seen {
			v.Checks[at] = cv
			continue
		}
		places[c.ID] = len(v.Checks)
		v.Checks = append(v.Checks, cv)
	}
	v.Checks = keep(v.Checks, func(c *CheckView) bool { return hidden[hideKey(CategoryCheck, c.ID, TierBranch)] < c.Revision })
	return v
}

// hiding is the newest retraction of every id as it counts on a branch.
func (l *Ledger) hiding(branch *string) map[string]uint64 {
	m := map[string]uint64{}
	for i := range l.Retractions {
		r := &l.Retractions[i]
		m[hideKey(r.Category, r.ID, TierRepo)] = r.Revision
		if branchKey(r.Branch) == branchKey(branch) {
			m[hideKey(r.Category, r.ID, TierBranch)] = r.Revision
		}
	}
	return m
}

func hideKey(category, id, tier string) string { return category + "\x00" + tier + "\x00" + id }

func keep[T any](in []T, f func(*T) bool) []T {
	out := in[:0]
	for i := range in {
		if f(&in[i]) {
			out = append(out, in[i])
		}
	}
	return out
}
