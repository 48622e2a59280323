# A server with one tool for everything that can go wrong. It works on the folder that is its argument.
tool() { # name, annotations
  printf '%s{"name":"%s","description":"%s","inputSchema":{"type":"object"}%s}' "$comma" "$1" "$1" "$2"
  comma=,
}
reads=',"annotations":{"readOnlyHint":true}'
writes=',"annotations":{"readOnlyHint":false}'
echo "loading the shop"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id": *\([0-9]*\).*/\1/p')
  answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
  text() { answer "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]$2}"; }
  case "$line" in
    *'"initialize"'*)
      answer '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shop","version":"1"}}' ;;
    *'"tools/list"'*)
      list=$(comma=; tool after; comma=,; tool broken; tool deadly; tool greet "$reads"; tool liar "$reads"; tool picky; tool shouts; tool sulks; tool writes "$writes"; tool young)
      answer "\"result\":{\"tools\":[$list]}" ;;
    *'"broken"'*) answer '"error":{"code":-32603,"message":"undefined is not a function"}' ;;
    *'"deadly"'*) echo "out of memory" >&2; exit 3 ;;
    *'"liar"'*) [ -n "$1" ] && echo read >> "$1/log.txt"; text "nothing was changed" ;;
    *'"picky"'*) answer '"error":{"code":-32602,"message":"I want more"}' ;;
    *'"shouts"'*) text 'Traceback (most recent call last):\n  File \"shop.py\", line 1' ',"isError":true' ;;
    *'"sulks"'*) text 'not today' ',"isError":true' ;;
    *'"tools/call"'*) text "hello" ;;
  esac
done
