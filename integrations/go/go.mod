module github.com/mcprove/mcprove/integrations/go

go 1.19
