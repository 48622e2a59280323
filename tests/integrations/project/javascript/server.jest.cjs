// Drives a server from Jest; the last test fails on purpose, and tests/integrations/run looks at how.
const { mcpServer } = require("@mcprove/jest");

const server = mcpServer("mcprove mock --tools-from evals/fixtures/library.mock.yaml");

test("calls are judged", async () => {
  const reply = await server().call("search", { word: "whale" });
  expect(reply.structured.books[0].title).toBe("Moby-Dick");
  await reply.expect({ contains: "Moby-Dick", not_error: true });
  await server().read("library://rules", { expect: { contains: "Two books" } });
  await server().prompt("recommend", { mood: "curious" }, { expect: { contains: "curious" } });
});

test("each test has a fresh server", async () => {
  expect((await server().call("borrow", { id: 7 })).isError).toBe(false);
  expect((await server().call("borrow", { id: 7 })).isError).toBe(true);
});

test("fresh again", async () => {
  expect((await server().call("borrow", { id: 7 })).isError).toBe(false);
});

test("messages say what to do here, and a session may be closed", async () => {
  const reply = await server().call("search", { word: "squid" });
  await expect(reply.snapshot("never stored")).rejects.toThrow("`jest --updateSnapshot` stores it");
  await server().close();
});

test("a wrong expectation fails", async () => {
  await (await server().call("search", { word: "squid" })).expect({ contains: "octopus" });
});
