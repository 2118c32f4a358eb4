package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// globals are the flags of every command.
type globals struct {
	Project string `help:"Project directory; default: found upwards from the current one." placeholder:"DIR"`
	Quiet   bool   `help:"Print results and errors only." short:"q"`
	Verbose bool   `help:"Say more on standard error." short:"v"`
	Color   string `help:"Colour: auto, always or never; nothing is coloured yet." enum:"auto,always,never" default:"auto"`
}

// command is a parsed command, ready to run.
type command interface {
	run(a *app) error
}

// branches are the top-level commands. Each builds only its own model: a small
// command must not pay for the flags of all the others.
var branches = []struct {
	name, help string
	parse      func(args []string, a *app) (command, error)
}{
	{"write", "write standard input to a file, durably", parseBranch[writeRoot]},
	{"handoff", "the project ledger: record, resume, retract, doctor, backup, recover", parseBranch[handoffRoot]},
	{"demo", "watch real files survive, in a temporary folder", parseBranch[demoRoot]},
	{"version", "print version and build settings", parseBranch[versionRoot]},
}

// branchRoot is the kong model of one branch.
type branchRoot interface {
	common() globals
	chosen(path string) command
}

// run is the whole program but for the process exit.
func run(args []string, a app) int {
	if len(args) > 0 && args[0] == demoChild {
		return runDemoChild(args[1:], a)
	}
	for i, arg := range args {
		// kong passes values through JSON, which would silently put U+FFFD in place
		// of such bytes: in a record's text, or in the path of a file.
		if !utf8.ValidString(arg) {
			return a.report(nil, usagef("argument %d is not valid UTF-8", i+1))
		}
	}
	name := firstWord(args)
	if name == "" || name == "help" {
		if len(args) == 0 {
			fmt.Fprint(a.stderr, topHelp())
			return 2
		}
		if name == "" && !slices.Contains(args, "-h") && !slices.Contains(args, "--help") {
			return a.report(args, usagef("no command is given"))
		}
		return a.printed(topHelp())
	}
	for _, b := range branches {
		if b.name != name {
			continue
		}
		cmd, err := b.parse(args, &a)
		if err == nil && cmd != nil {
			err = cmd.run(&a)
		}
		return a.report(args, err)
	}
	return a.report(args, &usageError{msg: fmt.Sprintf("unknown command %q", name), hint: suggest(name)})
}

// printed writes a text that was asked for.
func (a *app) printed(text string) int {
	if _, err := io.WriteString(a.stdout, text); err != nil {
		return a.report(nil, err)
	}
	return 0
}

// firstWord is the command's name: the first argument that is no flag and no
// flag's value.
func firstWord(args []string) string {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--project" || args[i] == "--color":
			i++
		case !strings.HasPrefix(args[i], "-"):
			return args[i]
		}
	}
	return ""
}

// suggest names the command that was probably meant.
func suggest(name string) string {
	for _, b := range branches {
		if strings.HasPrefix(b.name, name) || strings.HasPrefix(name, b.name) || near(name, b.name) {
			return "did you mean landfast " + b.name + "?"
		}
	}
	for _, sub := range []string{"resume", "record", "retract", "doctor", "backup", "recover"} {
		if name == sub {
			return "did you mean landfast handoff " + sub + "?"
		}
	}
	return "landfast -h lists the commands"
}

// near reports whether two words of the same length or one apart differ in one place.
func near(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) == len(b) {
		return i < len(a) && a[i+1:] == b[i+1:]
	}
	return a[i:] == b[i+1:]
}

func topHelp() string {
	var b strings.Builder
	b.WriteString("Usage: landfast [FLAGS] COMMAND …\n\nFiles that stay where they landed.\n\nCommands:\n")
	for _, c := range branches {
		fmt.Fprintf(&b, "  %-9s %s\n", c.name, c.help)
	}
	b.WriteString("\nFlags of every command:\n" +
		"  --project DIR              project directory; default: found upwards\n" +
		"  -q, --quiet                results and errors only\n" +
		"  -v, --verbose              say more on standard error\n" +
		"  --color auto|always|never  colour; nothing is coloured yet\n" +
		"\nExample:\n  landfast demo\n" +
		"\nlandfast COMMAND -h tells about one of them.\n")
	b.WriteString(exitHelp)
	return b.String()
}

const exitHelp = `
Exit status:
  0  done
  1  the thing asked about is not well
  2  wrong usage
  3  conflict: look again, then decide
  4  busy: try again
  5  refused: unsafe path, malformed, too large
  6  the filesystem failed
  130  interrupted by a signal before anything was published
`

// exitNow carries kong's wish to exit out of its parser: the process belongs to
// main.
type exitNow struct{ code int }

// parseBranch parses args with the model of one branch. A nil command without
// an error means that help was printed.
func parseBranch[T any, P interface {
	*T
	branchRoot
}](args []string, a *app) (cmd command, err error) {
	root := P(new(T))
	var out strings.Builder
	parser, err := kong.New(root, kong.Name("landfast"), kong.Writers(&out, &out),
		kong.Exit(func(code int) { panic(exitNow{code}) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: false}),
		kong.Help(func(o kong.HelpOptions, c *kong.Context) error {
			if err := kong.DefaultHelpPrinter(o, c); err != nil {
				return err
			}
			if e := exampleOf(c.Command()); e != "" {
				fmt.Fprint(&out, "\nExample:\n  "+e+"\n")
			}
			fmt.Fprint(&out, exitHelp)
			return nil
		}))
	if err != nil {
		return nil, fmt.Errorf("build the command line: %w", err) // a programmer's mistake, met by every test
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exitNow:
			cmd, err = nil, nil
			if _, werr := io.WriteString(a.stdout, out.String()); werr != nil {
				err = werr
			}
		default:
			panic(p)
		}
	}()
	ctx, err := parser.Parse(args)
	if err != nil {
		return nil, &usageError{msg: err.Error(), hint: "add -h for help"}
	}
	a.globals = root.common()
	return root.chosen(ctx.Command()), nil
}

// exampleOf finds the example of a command as kong names it, arguments included.
func exampleOf(path string) string {
	words := []string{"landfast"}
	for w := range strings.FieldsSeq(path) {
		if !strings.HasPrefix(w, "<") && !strings.HasPrefix(w, "[") {
			words = append(words, w)
		}
	}
	return examples[strings.Join(words, " ")]
}

// examples stand in the help of each command.
var examples = map[string]string{
	"landfast write":           "generate | landfast write report.json --new",
	"landfast demo":            "landfast demo",
	"landfast version":         "landfast version --json",
	"landfast handoff":         "landfast handoff resume",
	"landfast handoff resume":  "landfast handoff resume --json",
	"landfast handoff record":  `landfast handoff record --json '{"id":"ship","kind":"goal","text":"Ship 1.0","source":"roadmap"}'`,
	"landfast handoff retract": "landfast handoff retract ship --revision 3",
	"landfast handoff doctor":  "landfast handoff doctor --json",
	"landfast handoff backup":  "landfast handoff backup",
	"landfast handoff recover": "landfast handoff recover",
}
