module project

go 1.19

require github.com/mcprove/mcprove/integrations/go v0.0.0

replace github.com/mcprove/mcprove/integrations/go => ../../../../integrations/go
