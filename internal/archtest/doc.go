// Package archtest holds the rules that the module's sources keep, as tests.
//
// A rule is a function from a source tree to the problems it finds. The same
// function runs over this module and, in its own test, over small trees that
// break the rule: a checker that can't fail proves nothing.
//
// The tree is parsed, not built. Files for every system are seen on every
// system, so an import that only Windows would compile fails the test on Linux.
//
// The rules: who may import whom and which third-party module belongs to whom
// ([Imports]); which functions of the standard library only fsx may use
// ([Writes]); documentation ([PackageDocs], [ExportedDocs]); what product code
// never does ([Habits]); paths in Markdown files ([MarkdownPaths]).
package archtest
