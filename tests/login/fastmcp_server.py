"""A FastMCP server with its own authorization server, in memory; all of it takes the scopes that are given."""
import sys

from fastmcp import FastMCP
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from fastmcp.server.dependencies import get_access_token
from mcp.server.auth.settings import ClientRegistrationOptions

port, scopes = int(sys.argv[1]), sys.argv[2:]
registration = ClientRegistrationOptions(enabled=True, valid_scopes=["read", "write"], default_scopes=["read"])
auth = InMemoryOAuthProvider(
    base_url=f"http://127.0.0.1:{port}", required_scopes=scopes, client_registration_options=registration
)
mcp = FastMCP("guarded", auth=auth)


@mcp.tool
def read() -> str:
    """The scopes of the caller."""
    return f"scopes {get_access_token().scopes}"


mcp.run(transport="http", host="127.0.0.1", port=port)
