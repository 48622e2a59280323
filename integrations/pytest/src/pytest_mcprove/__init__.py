"""Runs mcprove suites in pytest, and drives MCP servers from Python tests."""

from .driver import Driver, DriveError, ExpectationFailed, Reply, Server

__all__ = ["DriveError", "Driver", "ExpectationFailed", "Reply", "Server"]
