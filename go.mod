module github.com/landfast/landfast

go 1.26.0

require (
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/gofrs/flock v0.13.2 // indirect
	github.com/google/renameio/v2 v2.0.2 // indirect
	golang.org/x/sys v0.50.0 // indirect
)
