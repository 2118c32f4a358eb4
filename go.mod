module github.com/landfast/landfast

go 1.26.0
