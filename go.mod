module github.com/landfast/landfast

go 1.26.0

require (
	github.com/alecthomas/kong v1.17.0
	github.com/go-json-experiment/json v1.27.2
	github.com/gofrs/flock v0.13.2
	github.com/google/renameio/v2 v2.0.2
	github.com/rogpeppe/go-internal v1.16.0
	golang.org/x/sys v0.50.0
	pgregory.net/rapid v1.3.0
)

require golang.org/x/tools v0.26.0 // indirect
