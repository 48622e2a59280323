// Package mcprove runs mcprove suites in `go test`, and drives MCP servers from Go tests.
//
// The mcprove program does the work: it is looked up on the PATH, or named by the environment variable MCPROVE.
package mcprove

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// Options say how suites are run.
type Options struct {
	// Args are arguments of `mcprove run`, such as "--tag", "smoke".
	Args []string
	// Dir is the folder that paths are relative to; the package's when empty.
	Dir string
}

// Run runs each test of the suites as a subtest, in a subtest for each file.
func Run(t *testing.T, suites []string, options Options) {
	t.Helper()
	driver, err := Start(options.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer driver.Close()
	var found struct {
		Tests   []suiteTest `json:"tests"`
		Usable  bool        `json:"usable"`
		Message string      `json:"message"`
	}
	params := map[string]any{"args": append(append([]string{}, suites...), options.Args...)}
	if err := driver.Request("collect", params, &found); err != nil {
		t.Fatal(err)
	}
	if !found.Usable {
		t.Fatal(found.Message)
	}
	for start := 0; start < len(found.Tests); {
		end := start
		for end < len(found.Tests) && found.Tests[end].File == found.Tests[start].File {
			end++
		}
		tests := found.Tests[start:end]
		t.Run(tests[0].File, func(t *testing.T) {
			for _, test := range tests {
				test := test
				t.Run(test.title(), func(t *testing.T) { driver.runTest(t, test, options.Args) })
			}
		})
		start = end
	}
}

type suiteTest struct {
	Name    string  `json:"name"`
	File    string  `json:"file"`
	Line    int     `json:"line"`
	Variant *string `json:"variant"`
	Trial   int     `json:"trial"`
	Skip    *string `json:"skip"`
}

func (test suiteTest) title() string {
	title := test.Name
	if test.Variant != nil {
		title += " [" + *test.Variant + "]"
	}
	if test.Trial > 1 {
		title += fmt.Sprintf(" (trial %d)", test.Trial)
	}
	return title
}

type testResult struct {
	suiteTest
	Verdict string  `json:"verdict"`
	Reason  *string `json:"reason"`
	Message string  `json:"message"`
}

func (driver *Driver) runTest(t *testing.T, test suiteTest, args []string) {
	t.Helper()
	if test.Skip != nil {
		t.Skip(*test.Skip)
	}
	params := map[string]any{
		"args":  append([]string{test.File}, args...),
		"tests": []any{map[string]any{"file": test.File, "name": test.Name}},
	}
	var answer struct {
		Results []testResult `json:"results"`
	}
	if err := driver.Request("run", params, &answer); err != nil {
		t.Fatal(err)
	}
	for _, result := range answer.Results {
		if result.title() != test.title() {
			continue
		}
		switch result.Verdict {
		case "passed":
		case "skipped":
			if result.Reason != nil {
				t.Skip(*result.Reason)
			}
			t.Skip()
		default:
			t.Fatalf("%s:%d: %s", test.File, test.Line, result.Message)
		}
		return
	}
	t.Fatal("mcprove did not report a result for this test")
}

// Driver is a running `mcprove drive`.
type Driver struct {
	program string
	command *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Reader
	mutex   sync.Mutex
	id      int
	// True after the first reply: the program is mcprove.
	answered bool
}

// Start starts the program in a folder; the current one when it is empty.
func Start(dir string) (*Driver, error) {
	program := os.Getenv("MCPROVE")
	if program == "" {
		program = "mcprove"
	}
	preventCaching()
	command := exec.Command(program, "drive")
	command.Dir = dir
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("`%s` could not be started: %w; install mcprove, or set MCPROVE to its full path", program, err)
	}
	return &Driver{program: program, command: command, input: input, output: bufio.NewReader(output)}, nil
}

// Error is a request that could not be done: a mistake in it, or a server that could not be reached.
type Error struct {
	Kind     string `json:"kind"`
	Message  string `json:"message"`
	Help     string `json:"help"`
	Evidence string `json:"evidence"`
}

func (err *Error) Error() string {
	text := err.Message
	if err.Evidence != "" {
		text += "\n  it sent: " + err.Evidence
	}
	if err.Help != "" {
		text += "\n  help: " + err.Help
	}
	return text
}

// Request sends a request and decodes its result.
func (driver *Driver) Request(method string, params any, result any) error {
	driver.mutex.Lock()
	defer driver.mutex.Unlock()
	driver.id++
	line, err := json.Marshal(map[string]any{"id": driver.id, "method": method, "params": params})
	if err != nil {
		return err
	}
	if _, err := driver.input.Write(append(line, '\n')); err != nil {
		return driver.ended()
	}
	answer, err := driver.output.ReadBytes('\n')
	if err != nil {
		return driver.ended()
	}
	var reply struct {
		ID     int             `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  *Error          `json:"error"`
	}
	if err := json.Unmarshal(answer, &reply); err != nil || reply.ID != driver.id || reply.Result == nil && reply.Error == nil {
		// Another program may never end.
		_ = driver.command.Process.Kill()
		shown := fmt.Sprintf("%.80s", strings.TrimSpace(string(answer)))
		return &Error{Message: fmt.Sprintf("`%s drive` sent `%s`, which is no reply", driver.program, shown), Help: anotherProgram}
	}
	driver.answered = true
	if reply.Error != nil {
		return reply.Error
	}
	return json.Unmarshal(reply.Result, result)
}

const anotherProgram = "if this is not mcprove, set MCPROVE to the full path of the program"

func (driver *Driver) ended() error {
	ended := &Error{Message: fmt.Sprintf("`%s drive` ended; its standard error says why", driver.program)}
	if !driver.answered {
		ended.Help = anotherProgram
	}
	return ended
}

// preventCaching makes `go test` run the package again the next time. Go keeps the result of a package whose own files and
// variables are as before, and knows nothing of the suites and servers that the program reads and starts. A log of the
// package's inputs that Go cannot read is how it learns that there are others.
func preventCaching() {
	inputs := flag.Lookup("test.testlogfile")
	if inputs == nil || inputs.Value.String() == "" {
		return
	}
	log, err := os.OpenFile(inputs.Value.String(), os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer log.Close()
	// Further than the test itself writes.
	_, _ = log.WriteAt([]byte("read-by-mcprove\n"), 1<<24)
}

// Close ends the program, and with it all of its servers.
func (driver *Driver) Close() {
	driver.input.Close()
	_ = driver.command.Wait()
}

// Server is an open session with a server.
type Server struct {
	t       testing.TB
	driver  *Driver
	session int
	Name    string
	Version string
}

// Open starts or reaches a server for a test: a command line, or a map as `server` in an assertion file. It is closed when
// the test ends.
func Open(t testing.TB, server any) *Server {
	t.Helper()
	driver, err := Start("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(driver.Close)
	var opened struct {
		Session int `json:"session"`
		Server  struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"server"`
	}
	if err := driver.Request("open", map[string]any{"server": server}, &opened); err != nil {
		t.Fatal(err)
	}
	return &Server{t: t, driver: driver, session: opened.Session, Name: opened.Server.Name, Version: opened.Server.Version}
}

// Reply is the reply of a server.
type Reply struct {
	server     *Server
	Number     int             `json:"reply"`
	Outcome    string          `json:"outcome"`
	Result     json.RawMessage `json:"result"`
	Text       string          `json:"text"`
	IsError    bool            `json:"is_error"`
	Structured json.RawMessage `json:"structured"`
	Passed     bool            `json:"passed"`
	Message    string          `json:"message"`
	Error      *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// Call calls a tool.
func (server *Server) Call(tool string, args map[string]any) *Reply {
	server.t.Helper()
	if args == nil {
		args = map[string]any{}
	}
	return server.ask("call", map[string]any{"session": server.session, "tool": tool, "args": args})
}

// Read reads a resource.
func (server *Server) Read(uri string) *Reply {
	server.t.Helper()
	return server.ask("read", map[string]any{"session": server.session, "uri": uri})
}

// Prompt gets a prompt.
func (server *Server) Prompt(name string, arguments map[string]string) *Reply {
	server.t.Helper()
	if arguments == nil {
		arguments = map[string]string{}
	}
	return server.ask("prompt", map[string]any{"session": server.session, "name": name, "arguments": arguments})
}

func (server *Server) ask(method string, params map[string]any) *Reply {
	server.t.Helper()
	reply := &Reply{server: server}
	if err := server.driver.Request(method, params, reply); err != nil {
		server.t.Fatal(err)
	}
	// An error of the protocol is an answer, which may be expected later; silence is not.
	if reply.Outcome != "result" && reply.Outcome != "error" {
		server.t.Fatal(reply.Message)
	}
	return reply
}

// Expect judges the reply with mcprove's checks and matchers; the test fails if it is not as expected.
func (reply *Reply) Expect(expect any) *Reply {
	server := reply.server
	server.t.Helper()
	var judged struct {
		Passed  bool   `json:"passed"`
		Message string `json:"message"`
	}
	params := map[string]any{"session": server.session, "reply": reply.Number, "expect": expect}
	if err := server.driver.Request("expect", params, &judged); err != nil {
		server.t.Fatal(err)
	}
	if !judged.Passed {
		server.t.Fatal(judged.Message)
	}
	return reply
}
