"""Drives a server from Python; `test_*_fails` fail on purpose, and tests/integrations/run looks at how."""

import pytest


def test_calls_are_judged(mcp_server):
    reply = mcp_server.call("search", {"word": "whale"})
    assert reply.structured["books"][0]["title"] == "Moby-Dick"
    assert reply.text == "1 book: Moby-Dick"
    reply.expect(contains="Moby-Dick", not_error=True)
    reply.expect([{"target": "result.structuredContent.total", "matcher": {"between": [1, 5]}}])
    mcp_server.read("library://rules", expect={"contains": "Two books"})
    mcp_server.prompt("recommend", {"mood": "curious"}, expect={"contains": "curious"})
    assert [tool["name"] for tool in mcp_server.list()["tools"]] == ["search", "borrow", "give_back"]


def test_the_session_keeps_its_state(mcp_server):
    assert mcp_server.call("borrow", {"id": 7}).text == "loan L-1 of book 7"
    assert mcp_server.call("borrow", {"id": 7}).is_error


def test_errors_can_be_expected(mcp_server):
    reply = mcp_server.call("burn")
    assert reply.error["code"] == -32602
    reply.expect(protocol_error=-32602)


def test_snapshots(mcp_server):
    mcp_server.call("search", {"word": "whale"}).snapshot("whale", "result.structuredContent")


@pytest.mark.mcp_server({"command": "mcprove", "args": ["mock", "--tools-from", "evals/fixtures/library.mock.yaml"]})
def test_a_marked_server(mcp_server):
    assert mcp_server.name == "library"


def test_a_wrong_expectation_fails(mcp_server):
    mcp_server.call("search", {"word": "squid"}).expect(contains="octopus")


def test_a_mistake_in_an_expectation_fails(mcp_server):
    mcp_server.call("search", {"word": "squid"}).expect(contain="octopus")
