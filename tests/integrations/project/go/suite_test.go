// The suite, and a server that is driven from Go; TestAWrongExpectation fails on purpose.
package project

import (
	"testing"

	"github.com/mcprove/mcprove/integrations/go"
)

func TestSuites(t *testing.T) {
	mcprove.Run(t, []string{"evals"}, mcprove.Options{Dir: ".."})
}

const server = "mcprove mock --tools-from ../evals/fixtures/library.mock.yaml"

func TestCallsAreJudged(t *testing.T) {
	reply := mcprove.Open(t, server).Call("search", map[string]any{"word": "whale"})
	reply.Expect(map[string]any{"contains": "Moby-Dick"})
	reply.Expect([]any{map[string]any{"target": "result.structuredContent.total", "matcher": map[string]any{"exact": 1}}})
}

func TestAWrongExpectation(t *testing.T) {
	mcprove.Open(t, server).Call("search", map[string]any{"word": "squid"}).Expect(map[string]any{"contains": "octopus"})
}
