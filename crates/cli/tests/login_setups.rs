//! Set-ups of servers behind a login as they are found in the field: `doctor` finds what is wrong, and `login` copes with what hosts
//! cope with.
//!
//! Long because it is three tables of set-ups.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use super::login::Person;
use super::login_field::{
    Field, RESOURCE, ROOT, SERVER, Script, answer, as_json, moved, page, resource, server, tokens, with,
};

/// What `doctor` says: the step, the id and the fix of each fault.
fn doctor(field: &Field) -> Vec<(String, String, String)> {
    let ran = Person::new().doctor(&field.url());
    let found: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.text()));
    let steps = found["login"]["steps"].as_array().unwrap_or_else(|| panic!("no login: {found}"));
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    let mut faults = Vec::new();
    for step in steps {
        for fault in step["faults"].as_array().expect("faults") {
            let fix = format!("{} | {}", text(&fault["message"]), text(&fault["fix"]));
            faults.push((text(&step["step"]), text(&fault["id"]), fix));
        }
    }
    faults
}

/// Odd set-ups that hosts cope with.
const FINE: &[(&str, Script)] = &[
    ("everything as it should be", |_, _| None),
    ("no CORS headers, and OPTIONS refused", |ask, _| (ask.method == "OPTIONS").then(|| answer(405, &[], b""))),
    ("a mark of the byte order before the metadata", |ask, base| {
        let with_mark = |value: Value| [&b"\xef\xbb\xbf"[..], value.to_string().as_bytes()].concat();
        match ask.path() {
            RESOURCE => Some(answer(200, &[("content-type", "application/json")], &with_mark(resource(base)))),
            SERVER => Some(answer(200, &[("content-type", "application/json")], &with_mark(server(base)))),
            _ => None,
        }
    }),
    ("chunked metadata", |ask, base| {
        (ask.path() == RESOURCE).then(|| {
            let text = resource(base).to_string();
            let (first, second) = text.split_at(20);
            let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
            format!("{head}{}{}0\r\n\r\n", chunk(first), chunk(second)).into_bytes()
        })
    }),
    ("metadata of another content type", |ask, base| {
        (ask.path() == RESOURCE)
            .then(|| answer(200, &[("content-type", "text/plain")], resource(base).to_string().as_bytes()))
    }),
    ("metadata behind two redirects", |ask, base| match ask.path() {
        RESOURCE => Some(moved(301, "/one")),
        "/one" => Some(moved(302, &format!("{base}/two"))),
        "/two" => Some(as_json(200, &resource(base))),
        _ => None,
    }),
    ("a challenge in lower case, with spaces and other schemes", |ask, base| {
        (ask.path() == "/mcp").then(|| {
            let bearer = format!("bearer  SCOPE = \"mcp\" ,  Resource_Metadata =\"{base}{RESOURCE}\"");
            answer(401, &[("www-authenticate", "Basic realm=\"a, b\""), ("www-authenticate", &bearer)], b"")
        })
    }),
    ("a challenge of a gateway before the one that counts", |ask, base| {
        (ask.path() == "/mcp" && ask.header("authorization").is_none()).then(|| {
            let bearer = format!("Bearer resource_metadata=\"{base}{RESOURCE}\", scope=\"mcp\"");
            let (gateway, dpop) = ("Bearer realm=\"gateway\"", "DPoP algs=\"ES256\"");
            let all = [gateway, bearer.as_str(), dpop].map(|challenge| ("www-authenticate", challenge));
            answer(401, &all, b"")
        })
    }),
    ("metadata at the root alone, which the challenge does not name", |ask, base| match ask.path() {
        "/mcp" => Some(answer(401, &[("www-authenticate", "Bearer scope=\"mcp\"")], b"")),
        RESOURCE => Some(answer(404, &[], b"")),
        ROOT => Some(as_json(200, &resource(base))),
        _ => None,
    }),
    ("an issuer with a path and a slash in both places", |ask, base| match ask.path() {
        RESOURCE => {
            Some(as_json(200, &with(resource(base), &json!({"authorization_servers": [format!("{base}/tenant/")]}))))
        }
        "/.well-known/oauth-authorization-server/tenant" => {
            Some(as_json(200, &with(server(base), &json!({"issuer": format!("{base}/tenant/")}))))
        }
        SERVER => Some(answer(404, &[], b"")),
        _ => None,
    }),
    ("OpenID Connect metadata alone, at the appended path", |ask, base| match ask.path() {
        RESOURCE => {
            Some(as_json(200, &with(resource(base), &json!({"authorization_servers": [format!("{base}/realms/a")]}))))
        }
        "/realms/a/.well-known/openid-configuration" => {
            Some(as_json(200, &with(server(base), &json!({"issuer": format!("{base}/realms/a")}))))
        }
        SERVER => Some(answer(404, &[], b"")),
        _ => None,
    }),
    ("client id metadata documents in place of registration", |ask, base| {
        let fields = json!({"registration_endpoint": null, "client_id_metadata_document_supported": true});
        (ask.path() == SERVER).then(|| as_json(200, &with(server(base), &fields)))
    }),
    ("fields of other types and unknown ones", |ask, base| {
        let fields = json!({"scopes_supported": "mcp", "x-more": [1, {"y": null}], "jwks_uri": 5});
        (ask.path() == SERVER).then(|| as_json(200, &with(server(base), &fields)))
    }),
    ("a scheme in upper case", |ask, base| {
        let resource_of = format!("HTTP{}/mcp", base.trim_start_matches("http"));
        (ask.path() == RESOURCE).then(|| as_json(200, &with(resource(base), &json!({"resource": resource_of}))))
    }),
];

#[test]
fn odd_set_ups_that_hosts_cope_with_are_not_blamed() {
    for (name, script) in FINE {
        let field = Field::start(*script);
        let faults = doctor(&field);
        assert!(faults.is_empty(), "{name}: {faults:?}");
        // What is not blamed is also coped with, unless a client is wanted that the user has to have.
        if !name.starts_with("client id metadata") {
            let login = Person::new().log_in(&field.url());
            assert_eq!(login.code(), Some(0), "{name}: {}", login.text());
        }
    }
}

/// Answers that are about something else than a login.
#[test]
fn a_wrong_path_is_not_a_login() {
    let wrong = |script: Script| {
        let field = Field::start(script);
        let ran = Person::new().doctor(&format!("{}/wrong", field.base));
        serde_json::from_str::<Value>(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.text()))["login"]
            .clone()
    };
    assert_eq!(wrong(|_, _| None), Value::Null);
    // The document of the right path is at the root.
    let named = wrong(|ask, base| (ask.path() == ROOT).then(|| as_json(200, &resource(base))));
    assert_eq!(named["steps"][0]["outcome"], "not-reached", "{named}");
    assert_eq!(named["steps"][1]["faults"][0]["id"], "login-resource-mismatch", "{named}");
}

const CHALLENGE: &str = "challenge";
const METADATA: &str = "resource metadata";
const AUTHORIZATION: &str = "authorization server metadata";

/// Broken set-ups: the step, the id and a part of the explanation or the fix.
const BROKEN: &[(&str, Script, (&str, &str, &str))] = &[
    (
        "403 in place of 401",
        |ask, _| (ask.path() == "/mcp").then(|| answer(403, &[], b"")),
        (CHALLENGE, "login-forbidden", "answer with 401"),
    ),
    (
        "400 in place of 401",
        |ask, _| (ask.path() == "/mcp").then(|| as_json(400, &json!({"error": "missing token"}))),
        (CHALLENGE, "login-forbidden", "answered with HTTP 400; hosts begin a login on 401 alone"),
    ),
    (
        "500 in place of 401",
        |ask, _| (ask.path() == "/mcp").then(|| answer(500, &[], b"KeyError: 'authorization'")),
        (CHALLENGE, "login-forbidden", "answered with HTTP 500"),
    ),
    (
        "404 in place of 401",
        |ask, _| (ask.path() == "/mcp").then(|| answer(404, &[], b"")),
        (CHALLENGE, "login-forbidden", "answered with HTTP 404"),
    ),
    (
        "an error of JSON-RPC in place of 401",
        |ask, _| {
            let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "Unauthorized"}});
            (ask.path() == "/mcp").then(|| as_json(200, &error))
        },
        (CHALLENGE, "login-forbidden", "HTTP 200 and the error `Unauthorized`"),
    ),
    (
        "401 without a header",
        |ask, _| (ask.path() == "/mcp").then(|| answer(401, &[], b"")),
        (CHALLENGE, "login-no-challenge", "WWW-Authenticate: Bearer"),
    ),
    (
        "a page to log in with 200",
        |ask, _| (ask.path() == "/mcp").then(|| page(200)),
        (CHALLENGE, "login-page-instead-of-challenge", "answer with 401"),
    ),
    (
        "a redirect to a page to log in",
        |ask, _| (ask.path() == "/mcp").then(|| moved(302, "/login?next=%2Fmcp")),
        (CHALLENGE, "login-redirected", "answer with 401"),
    ),
    (
        "a redirect to the same path with a slash",
        |ask, base| (ask.path() == "/mcp").then(|| moved(307, &format!("{base}/mcp/"))),
        (CHALLENGE, "login-redirected", "connect to the URL that it redirects to"),
    ),
    (
        "the challenge names another URL",
        |ask, base| {
            (ask.path() == "/mcp").then(|| {
                let text = format!("Bearer scope=\"mcp\", resource_metadata=\"{base}/mcp{ROOT}\"");
                answer(401, &[("www-authenticate", &text)], b"")
            })
        },
        (METADATA, "login-resource-metadata-elsewhere", "oauth-protected-resource/mcp\"`"),
    ),
    (
        "an unquoted URL with a query",
        |ask, base| {
            (ask.path() == "/mcp").then(|| {
                let text = format!("Bearer resource_metadata={base}{RESOURCE}, scope=mcp");
                answer(401, &[("www-authenticate", &text)], b"")
            })
        },
        (CHALLENGE, "login-unquoted-challenge", "write `resource_metadata=\"http://"),
    ),
    (
        "authorization_servers is a string",
        |ask, base| {
            (ask.path() == RESOURCE)
                .then(|| as_json(200, &with(resource(base), &json!({"authorization_servers": base}))))
        },
        (METADATA, "login-no-authorization-server", "a string as `authorization_servers`, not a list"),
    ),
    (
        "authorization_servers has a name",
        |ask, base| {
            (ask.path() == RESOURCE)
                .then(|| as_json(200, &with(resource(base), &json!({"authorization_servers": ["login.example.com"]}))))
        },
        (METADATA, "login-no-authorization-server", "`login.example.com`, which is not a URL"),
    ),
    (
        "metadata is a list",
        |ask, _| (ask.path() == RESOURCE).then(|| answer(200, &[("content-type", "application/json")], b"[]")),
        (METADATA, "login-resource-metadata-not-json", "not a JSON object"),
    ),
    (
        "metadata is cut off",
        |ask, _| {
            (ask.path() == RESOURCE).then(|| answer(200, &[("content-type", "application/json")], b"{\"resource\":"))
        },
        (METADATA, "login-resource-metadata-not-json", "not a JSON object"),
    ),
    (
        "metadata is compressed, asked or not",
        |ask, _| {
            (ask.path() == RESOURCE).then(|| {
                answer(
                    200,
                    &[("content-type", "application/json"), ("content-encoding", "gzip")],
                    b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xabV*J-\xce/-JNU\xb2R\xca())\xb0\xd2\xd7",
                )
            })
        },
        (METADATA, "login-resource-metadata-not-json", "encoded with `gzip`"),
    ),
    (
        "metadata redirects for ever",
        |ask, _| (ask.path() == RESOURCE).then(|| moved(302, RESOURCE)),
        (METADATA, "login-resource-metadata-missing", "redirects more than 3 times"),
    ),
    (
        "metadata fails",
        |ask, _| (ask.path() == RESOURCE).then(|| answer(500, &[], b"")),
        (METADATA, "login-resource-metadata-missing", "HTTP 500"),
    ),
    (
        "resource without the path",
        |ask, base| (ask.path() == RESOURCE).then(|| as_json(200, &with(resource(base), &json!({"resource": base})))),
        (METADATA, "login-resource-parent", "publish `\"resource\": \"http://127.0.0.1"),
    ),
    (
        "resource with a slash",
        |ask, base| {
            (ask.path() == RESOURCE)
                .then(|| as_json(200, &with(resource(base), &json!({"resource": format!("{base}/mcp/")}))))
        },
        (METADATA, "login-resource-parent", "publish `\"resource\":"),
    ),
    (
        "resource of another scheme, as behind a proxy",
        |ask, base| {
            let resource_of = format!("https{}/mcp", base.trim_start_matches("http"));
            (ask.path() == RESOURCE).then(|| as_json(200, &with(resource(base), &json!({"resource": resource_of}))))
        },
        (METADATA, "login-resource-mismatch", "`resource` is `https://127.0.0.1"),
    ),
    (
        "resource with another name of the host",
        |ask, base| {
            let resource_of = format!("{}/mcp", base.replace("127.0.0.1", "localhost"));
            (ask.path() == RESOURCE).then(|| as_json(200, &with(resource(base), &json!({"resource": resource_of}))))
        },
        (METADATA, "login-resource-mismatch", "but you connect to `http://127.0.0.1"),
    ),
    (
        "resource is not there",
        |ask, base| (ask.path() == RESOURCE).then(|| as_json(200, &with(resource(base), &json!({"resource": null})))),
        (METADATA, "login-resource-mismatch", "has no `resource`"),
    ),
    (
        "tokens in the query",
        |ask, base| {
            (ask.path() == RESOURCE)
                .then(|| as_json(200, &with(resource(base), &json!({"bearer_methods_supported": ["header", "query"]}))))
        },
        (METADATA, "login-query-token", "a token in a URL ends up in logs"),
    ),
    (
        "a server of 2025-03-26",
        |ask, _| match ask.path() {
            "/mcp" => Some(answer(401, &[("www-authenticate", "Bearer scope=\"mcp\"")], b"")),
            RESOURCE => Some(answer(404, &[], b"")),
            _ => None,
        },
        (METADATA, "login-resource-metadata-older", "serve the document of RFC 9728"),
    ),
    (
        "no metadata at all",
        |ask, _| match ask.path() {
            "/mcp" => Some(answer(401, &[("www-authenticate", "Bearer scope=\"mcp\"")], b"")),
            RESOURCE | SERVER => Some(answer(404, &[], b"")),
            _ => None,
        },
        (METADATA, "login-resource-metadata-missing", "serve the document of RFC 9728"),
    ),
    (
        "a page in the place of the authorization server's metadata",
        |ask, _| (ask.path().starts_with("/.well-known/o") && ask.path() != RESOURCE).then(|| page(200)),
        (AUTHORIZATION, "login-server-metadata-missing", "`text/html; charset=utf-8`, not a JSON object"),
    ),
    (
        "an authorization server that does not listen",
        |ask, base| {
            (ask.path() == RESOURCE)
                .then(|| as_json(200, &with(resource(base), &json!({"authorization_servers": ["http://127.0.0.1:1"]}))))
        },
        (AUTHORIZATION, "login-server-metadata-missing", "make it reachable"),
    ),
    (
        "the URL of metadata in the place of the issuer",
        |ask, base| {
            let listed = json!({"authorization_servers": [format!("{base}{SERVER}")]});
            (ask.path() == RESOURCE).then(|| as_json(200, &with(resource(base), &listed)))
        },
        (AUTHORIZATION, "login-server-metadata-missing", "list the issuer, not the URL of its metadata"),
    ),
    (
        "https where there is no TLS",
        |ask, base| {
            let issuer = format!("https{}", base.trim_start_matches("http"));
            (ask.path() == RESOURCE)
                .then(|| as_json(200, &with(resource(base), &json!({"authorization_servers": [issuer]}))))
        },
        (AUTHORIZATION, "login-server-metadata-missing", "with a certificate that clients trust"),
    ),
    (
        "OAuth metadata at the appended path",
        |ask, base| match ask.path() {
            RESOURCE => {
                Some(as_json(200, &with(resource(base), &json!({"authorization_servers": [format!("{base}/tenant")]}))))
            }
            "/tenant/.well-known/oauth-authorization-server" => {
                Some(as_json(200, &with(server(base), &json!({"issuer": format!("{base}/tenant")}))))
            }
            _ => None,
        },
        (AUTHORIZATION, "login-server-metadata-missing", "/.well-known/oauth-authorization-server/tenant"),
    ),
    (
        "an issuer with one more slash",
        |ask, base| {
            (ask.path() == SERVER).then(|| as_json(200, &with(server(base), &json!({"issuer": format!("{base}/")}))))
        },
        (AUTHORIZATION, "login-issuer-mismatch", "identical, to the last slash"),
    ),
    (
        "no issuer",
        |ask, base| (ask.path() == SERVER).then(|| as_json(200, &with(server(base), &json!({"issuer": null})))),
        (AUTHORIZATION, "login-issuer-mismatch", "publish `\"issuer\":"),
    ),
    (
        "http in production",
        |ask, base| {
            (ask.path() == SERVER).then(|| {
                as_json(200, &with(server(base), &json!({"token_endpoint": "http://login.example.com/token"})))
            })
        },
        (AUTHORIZATION, "login-not-encrypted", "serve `token_endpoint` over https"),
    ),
    (
        "no PKCE",
        |ask, base| {
            (ask.path() == SERVER)
                .then(|| as_json(200, &with(server(base), &json!({"code_challenge_methods_supported": null}))))
        },
        (AUTHORIZATION, "login-no-pkce", "support PKCE with S256"),
    ),
    (
        "PKCE as a string",
        |ask, base| {
            (ask.path() == SERVER)
                .then(|| as_json(200, &with(server(base), &json!({"code_challenge_methods_supported": "S256"}))))
        },
        (AUTHORIZATION, "login-no-pkce", "\"code_challenge_methods_supported\": [\"S256\"]"),
    ),
    (
        "no endpoint for tokens",
        |ask, base| (ask.path() == SERVER).then(|| as_json(200, &with(server(base), &json!({"token_endpoint": null})))),
        (AUTHORIZATION, "login-endpoint-missing", "publish `token_endpoint`"),
    ),
    (
        "no code flow",
        |ask, base| {
            (ask.path() == SERVER)
                .then(|| as_json(200, &with(server(base), &json!({"grant_types_supported": ["client_credentials"]}))))
        },
        (AUTHORIZATION, "login-no-code-flow", "without `authorization_code`"),
    ),
    (
        "no response types",
        |ask, base| {
            (ask.path() == SERVER)
                .then(|| as_json(200, &with(server(base), &json!({"response_types_supported": null}))))
        },
        (AUTHORIZATION, "login-no-code-flow", "RFC 8414 requires it"),
    ),
    (
        "an endpoint without a host",
        |ask, base| {
            let endpoint = json!({"authorization_endpoint": "/authorize"});
            (ask.path() == SERVER).then(|| as_json(200, &with(server(base), &endpoint)))
        },
        (AUTHORIZATION, "login-not-encrypted", "write the whole URL of `authorization_endpoint`"),
    ),
    (
        "a page in the place of the keys",
        |ask, base| match ask.path() {
            SERVER => Some(as_json(200, &with(server(base), &json!({"jwks_uri": format!("{base}/keys")})))),
            "/keys" => Some(page(200)),
            _ => None,
        },
        (AUTHORIZATION, "login-no-keys", "serve the keys"),
    ),
    (
        "registration is closed",
        |ask, base| {
            (ask.path() == SERVER).then(|| as_json(200, &with(server(base), &json!({"registration_endpoint": null}))))
        },
        ("client registration", "login-registration-closed", "--client-id ID"),
    ),
];

#[test]
fn doctor_names_what_is_broken_and_nothing_else() {
    let mut wrong = String::new();
    for (name, script, (step, id, part)) in BROKEN {
        let faults = doctor(&Field::start(*script));
        let is_named = |(at, found, fix): &(String, String, String)| at == step && found == id && fix.contains(part);
        if faults.len() != 1 || !faults.iter().all(is_named) {
            let _ = writeln!(wrong, "{name}: {faults:#?}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The answers of endpoints, and what `login` makes of them: no text if it copes.
const ANSWERS: &[(&str, Script, Option<&str>)] = &[
    (
        "registration answers with 200",
        |ask, _| (ask.path() == "/register").then(|| as_json(200, &json!({"client_id": "client-1"}))),
        None,
    ),
    (
        "registration without an id",
        |ask, _| (ask.path() == "/register").then(|| as_json(201, &json!({"client_id": 5}))),
        Some("registered a client without a `client_id`"),
    ),
    (
        "registration answers with a page",
        |ask, _| (ask.path() == "/register").then(|| page(200)),
        Some("registered a client without a `client_id`"),
    ),
    (
        "tokens as a form",
        |ask, _| {
            (ask.path() == "/token").then(|| {
                answer(
                    200,
                    &[("content-type", "application/x-www-form-urlencoded")],
                    b"access_token=a&token_type=bearer",
                )
            })
        },
        Some("HTTP 200: `application/x-www-form-urlencoded`, not a JSON object"),
    ),
    (
        "tokens after a redirect",
        |ask, _| (ask.path() == "/token").then(|| moved(307, "/token2")),
        Some("redirects: HTTP 307 to `/token2`"),
    ),
    (
        "an error with 200",
        |ask, _| {
            (ask.path() == "/token")
                .then(|| as_json(200, &json!({"error": "bad_verification_code", "error_description": "it expired"})))
        },
        Some("refused (HTTP 200): bad_verification_code: it expired"),
    ),
    (
        "another type of token",
        |ask, _| (ask.path() == "/token").then(|| as_json(200, &with(tokens(), &json!({"token_type": "mac"})))),
        Some("of the type `mac`"),
    ),
    (
        "no type of token",
        |ask, _| (ask.path() == "/token").then(|| as_json(200, &with(tokens(), &json!({"token_type": null})))),
        None,
    ),
    (
        "a type in lower case",
        |ask, _| (ask.path() == "/token").then(|| as_json(200, &with(tokens(), &json!({"token_type": "bearer"})))),
        None,
    ),
    (
        "a lifetime as a string",
        |ask, _| (ask.path() == "/token").then(|| as_json(200, &with(tokens(), &json!({"expires_in": "3600"})))),
        None,
    ),
    (
        "a lifetime with a fraction",
        |ask, _| (ask.path() == "/token").then(|| as_json(200, &with(tokens(), &json!({"expires_in": 3600.5})))),
        None,
    ),
    (
        "a lifetime without an end",
        |ask, _| (ask.path() == "/token").then(|| as_json(200, &with(tokens(), &json!({"expires_in": u64::MAX})))),
        None,
    ),
    (
        "a negative lifetime",
        |ask, _| (ask.path() == "/token").then(|| as_json(200, &with(tokens(), &json!({"expires_in": -1})))),
        None,
    ),
    (
        "scopes as a list",
        |ask, _| (ask.path() == "/token").then(|| as_json(200, &with(tokens(), &json!({"scope": ["mcp"]})))),
        None,
    ),
    (
        "no refresh token, no scope, no lifetime",
        |ask, _| {
            let fields = json!({"refresh_token": "", "scope": null, "expires_in": null});
            (ask.path() == "/token").then(|| as_json(200, &with(tokens(), &fields)))
        },
        None,
    ),
    (
        "no answer at all",
        |ask, _| (ask.path() == "/token").then(Vec::new),
        Some("closed the connection without an answer"),
    ),
];

#[test]
fn login_copes_with_what_endpoints_answer_or_says_what_is_wrong() {
    let mut wrong = String::new();
    let nothing = Person::new().log_in(&format!("{}/wrong/path", Field::start(|_, _| None).base));
    assert!(nothing.stderr.contains("nothing is at this URL (HTTP 404)"), "{}", nothing.text());
    let open = Field::start(|ask, _| {
        let served = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
        Some(if ask.path() == "/mcp" { as_json(200, &served) } else { answer(404, &[], b"") })
    });
    let open = Person::new().log_in(&open.url());
    assert_eq!(open.code(), Some(2), "{}", open.text());
    assert!(open.stderr.contains("the server asks for no login"), "{}", open.text());
    for (name, script, error) in ANSWERS {
        let field = Field::start(*script);
        let person = Person::new();
        let login = person.log_in(&field.url());
        let is_right = match error {
            None => login.code() == Some(0) && login.stdout.contains("scopes mcp"),
            Some(part) => login.code() == Some(2) && login.stderr.contains(part) && !login.stderr.contains("panicked"),
        };
        if !is_right {
            let _ = writeln!(wrong, "{name}: {:?} {}", login.code(), login.text());
        }
        // The browser shows the same.
        let shown = login.pages.first().map_or("", String::as_str);
        let wanted = if error.is_none() { "You are logged in" } else { "The login failed" };
        if !shown.is_empty() && !shown.contains(wanted) {
            let _ = writeln!(wrong, "{name}: the page says {shown}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The page to log in waits for a user who does not come.
#[test]
fn a_run_that_nobody_signs_in_for_says_so() {
    let field = Field::start(|ask, _| (ask.path() == "/authorize").then(|| page(200)));
    let person = Person::new();
    let suite = format!(
        "servers:\n  guarded:\n    url: {}\n    auth: {{oauth: {{flow: authorization_code, browser: true}}}}\n\
         tools:\n  - {{name: one, tool: whoami, expect: {{contains: ' '}}}}\n",
        field.url()
    );
    fs::write(person.path().join("suite.yaml"), suite).expect("written");
    let ran = person.run(&["run", "suite.yaml", "--timeout", "1s"]);
    assert_eq!(ran.code(), Some(2), "{}", ran.text());
    assert!(
        ran.stdout.contains("no user signed in within 1 s") && ran.stdout.contains("mcprove login URL"),
        "{}",
        ran.text()
    );
}
