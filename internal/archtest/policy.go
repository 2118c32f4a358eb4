package archtest

// modulePath is the module whose sources are checked.
const modulePath = "github.com/landfast/landfast"

// A layer says which packages of this module a package may import, besides
// itself and the packages below itself.
type layer struct {
	dir   string
	may   []string // each allows only that directory, or with /... those below it too
	alone bool     // its sub-packages are not its own: each needs a layer
}

// base is what the toolkit's layers stand on.
var base = []string{"internal/fsops", "internal/procid"}

// layers is the house from the ground up. The longest matching directory
// counts. A directory that matches none is a problem: a new package decides its
// place here first.
var layers = []layer{
	{dir: ".", alone: true},
	{dir: "internal/fsops"},
	{dir: "internal/procid"},
	{dir: "fsx", may: base},
	{dir: "lockx", may: append([]string{"fsx"}, base...)},
	{dir: "durable", may: append([]string{"fsx", "lockx"}, base...)},
	{dir: "reap", may: append([]string{"fsx", "lockx", "durable"}, base...)},
	{dir: "supervisor", may: append([]string{"fsx", "lockx", "durable", "reap"}, base...)},

	// The domain knows no transport; the transports know the domain.
	{dir: "handoff", alone: true, may: append([]string{
		"fsx", "lockx", "durable", "reap", "handoff/ledger", "handoff/gitinfo", "handoff/secrets",
	}, base...)},
	// The format and the reading of git can't write, because they know nothing
	// that writes (H4).
	{dir: "handoff/ledger", may: []string{"handoff/secrets"}},
	{dir: "handoff/gitinfo"},
	{dir: "handoff/secrets"},
	{dir: "handoff/mcpserver", may: []string{"handoff", "handoff/ledger"}},
	{dir: "handoff/webview", may: []string{"handoff", "handoff/ledger"}},
	{dir: "handoff/clients", may: []string{"handoff", "durable", "fsx", "lockx"}},
	{dir: "handoff/remote", may: []string{"handoff", "handoff/ledger", "durable", "fsx", "lockx"}},

	// The command meets everyone, which is what lets supervisor and handoff not
	// know each other.
	{dir: "cmd/landfast", may: append([]string{
		"fsx", "lockx", "durable", "reap", "supervisor/...", "handoff/...",
	}, base...)},
	{dir: "platformtests", may: []string{
		"fsx", "lockx", "durable", "reap", "supervisor/...", "handoff/...", "internal/...",
	}},
	{dir: "internal", may: base}, // test support; see support
}

// support names the packages that exist for tests. Product code can't import
// them; they may import testing, write files and use test-only modules.
var support = []string{
	"internal/archtest",
	"internal/golden",
	"internal/simfs",
	"internal/testenv",
	"platformtests",
}

// An owner says where a third-party module may be imported.
type owner struct {
	module string
	dirs   []string
	tests  bool // tests and test support may import it wherever they are
}

// owners lists every third-party module. One that is not here has no place.
var owners = []owner{
	{module: "github.com/google/renameio/v2", dirs: []string{"fsx"}},
	{module: "golang.org/x/sys", dirs: []string{"fsx", "lockx", "supervisor", "handoff", "internal/procid"}, tests: true},
	{module: "github.com/gofrs/flock", dirs: []string{"lockx"}},
	{module: "github.com/kardianos/service", dirs: []string{"supervisor"}},
	{module: "golang.org/x/crypto", dirs: []string{"handoff"}},
	{module: "filippo.io/age", dirs: []string{"handoff"}},
	{module: "github.com/go-json-experiment/json", dirs: []string{"handoff"}},
	{module: "github.com/alecthomas/kong", dirs: []string{"cmd/landfast"}},
	{module: "github.com/pelletier/go-toml/v2", dirs: []string{"supervisor", "handoff/clients"}},
	{module: "github.com/fsnotify/fsnotify", dirs: []string{"supervisor"}},
	{module: "github.com/coreos/go-systemd/v22", dirs: []string{"supervisor"}},
	{module: "github.com/Microsoft/go-winio", dirs: []string{"supervisor"}},
	{module: "github.com/modelcontextprotocol/go-sdk", dirs: []string{"handoff/mcpserver"}},
	{module: "github.com/tailscale/hujson", dirs: []string{"handoff/clients"}},
	{module: "github.com/minio/minio-go/v7", dirs: []string{"handoff/remote/s3"}},

	{module: "github.com/hanwen/go-fuse/v2", tests: true},
	{module: "pgregory.net/rapid", tests: true},
	{module: "github.com/rogpeppe/go-internal", tests: true},
	{module: "github.com/chromedp/chromedp", tests: true},
}

// An allowance lets the files of a directory use functions that [Writes]
// refuses. It ends with its last use: an allowance without one is a problem.
type allowance struct {
	dir    string
	funcs  []string // as "os.MkdirTemp"
	reason string
}

var allowances = []allowance{
	{
		dir: "cmd/landfast", funcs: []string{"os.MkdirTemp", "os.RemoveAll"},
		reason: "the demo's own temporary folder, which holds nothing of the user's",
	},
}
