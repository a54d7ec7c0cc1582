//! The attack table against a running `tenpass serve`: who is let in, from where, with what.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as the tests do")]

use serde_json::{Value, json};
use tenpass_tests::Tenpass;
use tenpass_tests::script::{ScriptServer, Scripted};
use tenpass_tests::serve::{Answer, Served};
use tungstenite::Message;

struct Place {
    served: Served,
    tenpass: Tenpass,
    _model: ScriptServer,
}

fn place() -> Place {
    let (tenpass, model) = (Tenpass::new(), ScriptServer::start(|_| Scripted::text("Fine.")));
    let served = Served::start(&tenpass, &model.spec(), &[]);
    Place { served, tenpass, _model: model }
}

/// Opens the printed address; the cookie.
fn enter(served: &Served) -> String {
    let path = served.entrance.split_once(&served.address.to_string()).unwrap().1.to_owned();
    let answer = served.request("GET", &path, &[], "");
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")), "{}", answer.head);
    let cookie = answer.header("set-cookie").unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    cookie.split(';').next().unwrap().to_owned()
}

fn check_headers(answer: &Answer, what: &str) {
    let csp = answer.header("content-security-policy").unwrap_or_else(|| panic!("{what}: {}", answer.head));
    assert!(
        csp.starts_with("default-src 'none'") && csp.contains("frame-ancestors 'none'") && !csp.contains("unsafe"),
        "{csp}"
    );
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("x-frame-options", "DENY"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{what}");
    }
    assert!(answer.header("access-control-allow-origin").is_none(), "{what}");
    assert!(answer.header("cache-control").is_some(), "{what}");
}

#[test]
fn the_address_works_once_and_nothing_is_answered_without_a_token() {
    let Place { served, .. } = &place();
    for path in [
        "/",
        "/blind",
        "/record",
        "/assets/app.js",
        "/api/session",
        "/api/threads",
        "/api/memory",
        "/metrics",
        "/v1/models",
        "/nothing",
    ] {
        for headers in [
            &[][..],
            &[("Authorization", "Bearer ")],
            &[("Authorization", "Bearer wrong")],
            &[("Authorization", "Basic dGVucGFzcw==")],
            &[("Cookie", "tenpass=x")],
        ] {
            let answer = served.request("GET", path, headers, "");
            assert_eq!(answer.status, 401, "{path} {headers:?}: {}", answer.body);
            check_headers(&answer, path);
        }
    }
    let page = served.request("GET", "/", &[("Accept", "text/html")], "");
    assert!(page.body.contains("tenpass serve --link") && page.body.starts_with("<!doctype html>"), "{}", page.body);
    assert_eq!(served.request("GET", "/healthz", &[], "").body, "ok\n");

    let token = served.entrance.split_once("token=").unwrap().1;
    for wrong in ["", &token[1..], &format!("{token}x"), &token.to_uppercase(), &served.token] {
        assert_eq!(served.request("GET", &format!("/enter?token={wrong}"), &[], "").status, 403, "{wrong}");
    }
    let cookie = enter(served);
    let again = served.request("GET", &format!("/enter?token={token}"), &[("Accept", "text/html")], "");
    assert!(again.status == 403 && again.body.contains("works once"), "{}", again.body);
    assert_eq!(served.request("GET", "/", &[("Cookie", &cookie)], "").status, 200);
    // A wrong bearer is wrong, whatever the cookie.
    assert_eq!(served.request("GET", "/", &[("Cookie", &cookie), ("Authorization", "Bearer x")], "").status, 401);
    // The token file is for its owner only.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let place = place();
        let file = place.tenpass.agent.path().join("serve.json");
        assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn evil_hosts_and_origins_meet_nothing() {
    let Place { served, .. } = &place();
    let (bearer, cookie) = (served.bearer(), enter(served));
    let port = served.address.port();
    let own = served.address.to_string();
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("127.0.0.1.nip.io:{port}"),
        format!("localhost.evil.example:{port}"),
        "127.0.0.1".to_owned(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("10.0.0.1:{port}"),
        format!("{own}@evil.example"),
        String::new(),
    ] {
        for path in ["/", "/healthz", "/api/session", "/enter?token=x"] {
            let answer = served.request("GET", path, &[("Host", &host), ("Authorization", &bearer)], "");
            assert_eq!(answer.status, 403, "{host} {path}: {}", answer.body);
            check_headers(&answer, path);
        }
    }
    // None, two, and one in the request line.
    let none = served.raw(format!("GET / HTTP/1.0\r\nAuthorization: {bearer}\r\n\r\n").as_bytes());
    assert_eq!(none.status, 403, "{}", none.head);
    let two = format!("GET / HTTP/1.0\r\nHost: {own}\r\nHost: evil.example\r\nAuthorization: {bearer}\r\n\r\n");
    assert!(matches!(served.raw(two.as_bytes()).status, 400 | 403));
    let absolute = format!(
        "GET http://evil.example/ HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\nAuthorization: {bearer}\r\n\r\n"
    );
    assert_eq!(served.raw(absolute.as_bytes()).status, 403);

    for origin in [
        "null",
        "http://evil.example",
        "https://evil.example",
        &format!("http://evil.example:{port}"),
        "http://localhost",
        "file://",
    ] {
        let answer = served.request("GET", "/api/session", &[("Origin", origin), ("Cookie", &cookie)], "");
        assert_eq!(answer.status, 403, "{origin}");
        assert_eq!(served.client_with(&[("Origin", origin), ("Cookie", &cookie)]).err(), Some(403), "{origin}");
        assert_eq!(served.client_with(&[("Origin", origin), ("Authorization", &bearer)]).err(), Some(403), "{origin}");
    }
    for site in ["cross-site", "same-site"] {
        let headers = [("Sec-Fetch-Site", site), ("Cookie", cookie.as_str())];
        assert_eq!(served.request("GET", "/api/session", &headers, "").status, 403, "{site}");
    }

    // The socket: a cookie needs our Origin, a program its token.
    let ours = format!("http://{own}");
    assert_eq!(served.client_with(&[]).err(), Some(401));
    assert_eq!(served.client_with(&[("Origin", &ours)]).err(), Some(401));
    assert_eq!(served.client_with(&[("Cookie", &cookie)]).err(), Some(403));
    assert!(served.client_with(&[("Cookie", &cookie), ("Origin", &ours)]).is_ok());
    assert!(served.client_with(&[("Authorization", &bearer)]).is_ok());
}

/// What each write needs, tried without one thing after the other.
#[test]
fn a_write_needs_its_method_its_type_and_the_mark() {
    let Place { served, .. } = &place();
    let (bearer, cookie) = (served.bearer(), enter(served));
    let writes = [
        ("POST", "/api/threads", "{}"),
        ("POST", "/api/links", "{}"),
        ("POST", "/api/turns/x/verdict", r#"{"verdict":"good"}"#),
        ("POST", "/api/turns/x/undo", "{}"),
        ("PUT", "/api/settings", r#"{"theme":"dark"}"#),
    ];
    for (method, path, body) in writes {
        let send = |headers: &[(&str, &str)]| served.request(method, path, headers, body).status;
        let json = ("Content-Type", "application/json");
        let passes = send(&[json, ("Cookie", &cookie), ("X-Tenpass", "1")]);
        assert!(matches!(passes, 200 | 404), "{path}: {passes}");
        assert_eq!(send(&[json, ("Authorization", &bearer)]), passes, "{path}");
        assert_eq!(send(&[json]), 401, "{path}");
        assert_eq!(send(&[json, ("Cookie", &cookie)]), 403, "{path} without the mark");
        assert_eq!(send(&[json, ("Cookie", &cookie), ("X-Tenpass", "0")]), 403, "{path}");
        for kind in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/jsonx",
            "",
        ] {
            let status = send(&[("Content-Type", kind), ("Cookie", &cookie), ("X-Tenpass", "1")]);
            assert_eq!(status, 415, "{path} as {kind:?}");
        }
        // What a simple request of a foreign page can send.
        assert_eq!(
            send(&[("Content-Type", "text/plain"), ("Cookie", &cookie), ("Origin", "http://evil.example")]),
            403
        );
        // GET has no effect, and a method that is none has neither.
        let got = served.request("GET", path, &[("Authorization", &bearer)], "").status;
        assert!(matches!(got, 200 | 405), "GET {path}: {got}");
        for method in ["PATCH", "TRACE", "CONNECT", "BREW"] {
            let answer = served.request(method, path, &[json, ("Authorization", &bearer)], "{}");
            assert!(matches!(answer.status, 400 | 403 | 404 | 405 | 415), "{method} {path}: {}", answer.status);
        }
        let preflight = served.request("OPTIONS", path, &[("Origin", "http://evil.example")], "");
        assert_eq!(preflight.status, 403);
    }
    assert_eq!(served.get("/api/settings")["theme"], "dark");
    assert_eq!(served.get("/api/threads")["threads"], json!([]), "nothing was stored");
    // A profile that asks less is not a page's to choose.
    let change = |body: &Value| served.write("PUT", "/api/settings", body);
    assert_eq!(change(&json!({ "profile": "voice" })).status, 400);
    assert_eq!(change(&json!({ "confirm": "off" })).status, 422);
    assert_eq!(change(&json!({ "theme": "<script>" })).json()["error"]["field"], "theme");
}

#[test]
fn paths_lead_nowhere_else() {
    let Place { served, tenpass, .. } = &place();
    let bearer = served.bearer();
    let secret = std::fs::read_to_string(tenpass.agent.path().join("serve.json")).unwrap();
    for path in [
        "/assets/../serve.json",
        "/assets/..%2f..%2fserve.json",
        "/assets/%2e%2e/%2e%2e/serve.json",
        "/assets/....//serve.json",
        "/assets/index.html",
        "/assets/index.html%00.js",
        "/assets/%2fetc%2fpasswd",
        "/assets//etc/passwd",
        "/assets/app.js%00",
        "/assets/.git",
        "/assets/app.js/",
        "/assets/APP.JS",
        "/assets/app%2ejs%2f",
        "/api/threads/..%2f..%2fetc",
        "/api/threads/..",
        "/api/threads/%00",
        "/api/threads/x",
        "/api/threads/00000000-0000-4000-8000-00000000000G",
        "/api/memory/..%2fx",
        "//evil.example/",
        "/%",
        "/enter/../api/session",
    ] {
        let answer = served.request("GET", path, &[("Authorization", &bearer)], "");
        assert!(matches!(answer.status, 400 | 404), "{path}: {} {}", answer.status, answer.body);
        assert!(!answer.body.contains(&served.token) && !answer.body.contains("root:"), "{path}");
        assert!(!secret.is_empty() && !answer.body.contains("pid"), "{path}");
    }
}

#[test]
fn bodies_and_heads_have_a_size() {
    let Place { served, .. } = &place();
    let bearer = served.bearer();
    let json = [("Content-Type", "application/json"), ("Authorization", bearer.as_str())];
    let large = format!("{{\"theme\":\"{}\"}}", "x".repeat(2 << 20));
    let answer = served.request("PUT", "/api/settings", &json, &large);
    assert!(matches!(answer.status, 413 | 0), "{}", answer.status);
    for body in ["", "{", "[1", "null", "\u{0}", &"[".repeat(100_000), "{\"theme\":1}"] {
        let answer = served.request("PUT", "/api/settings", &json, body);
        assert!(matches!(answer.status, 400 | 422), "{:?}: {}", &body[..body.len().min(20)], answer.status);
    }
    // A head that does not end, and one of many lines.
    let endless = format!("GET / HTTP/1.1\r\nHost: {}\r\nX: {}\r\n\r\n", served.address, "a".repeat(200_000));
    assert!(matches!(served.raw(endless.as_bytes()).status, 400 | 431 | 0));
    let many = format!("GET / HTTP/1.1\r\nHost: {}\r\n{}\r\n", served.address, "X: a\r\n".repeat(2_000));
    assert!(matches!(served.raw(many.as_bytes()).status, 400 | 431 | 0));
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"GET\r\n\r\n",
        b"\x00\x00\x00\x00\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        assert!(matches!(served.raw(garbage).status, 400 | 403 | 404 | 405 | 505 | 0));
    }
    // Two lengths are no request.
    let split = format!(
        "POST /api/threads HTTP/1.1\r\nHost: {}\r\nAuthorization: {bearer}\r\nContent-Type: application/json\r\n\
         Content-Length: 2\r\nContent-Length: 40\r\nConnection: close\r\n\r\n{{}}GET /enter HTTP/1.1\r\n\r\n",
        served.address
    );
    assert_eq!(served.raw(split.as_bytes()).status, 400);
    assert_eq!(served.request("GET", "/healthz", &[], "").status, 200, "it is still there");
}

#[test]
fn malformed_frames_are_answered_and_then_sent_away() {
    let Place { served, .. } = &place();
    let mut client = served.client();
    for frame in ["", "null", "{}", "[[[", r#"{"type":"say"}"#, r#"{"type":"root"}"#, "\u{0}", &"[".repeat(200_000)] {
        client.text(frame);
        let error = client.wait_for("error");
        assert!(!error["message"].as_str().unwrap().is_empty() && !error["hint"].as_str().unwrap().is_empty());
        assert!(error["message"].as_str().unwrap().len() < 300, "{error}");
    }
    // A large frame is an error, and the connection stays.
    client.text(&format!(r#"{{"type":"open","thread":"{}"}}"#, "x".repeat(300_000)));
    assert!(client.wait_for("error")["message"].as_str().unwrap().contains("bytes"));
    assert!(client.try_send(Message::binary(vec![0_u8; 33])));
    client.wait_for("error");
    let thread = client.open(None);
    assert_eq!(thread["type"], "thread");
    // Unknown threads are none of anybody's.
    client.send(&json!({ "type": "open", "thread": "../../etc/passwd" }));
    assert!(client.wait_for("error")["message"].as_str().unwrap().contains("no such thread"));
    // The twentieth is the last.
    while client.try_send(Message::text("{}")) && client.next().is_some() {}
    let end = client.seen.last().unwrap();
    assert_eq!((&end["type"], &end["code"]), (&json!("close"), &json!(1008)), "{end}");

    // A frame that is larger than anything ends the connection alone.
    let mut huge = served.client();
    let _ = huge.try_send(Message::text("x".repeat(3 << 20)));
    while huge.next().is_some() {}
    // A flood is not carried out.
    let mut flood = served.client();
    let stop = json!({ "type": "stop", "thread": "00000000-0000-4000-8000-000000000001" }).to_string();
    for _ in 0..100 {
        flood.text(&stop);
    }
    flood.find("error", "too many messages");
    assert_eq!(served.get("/api/session")["csrf"], "X-Tenpass", "it is still there");
}

#[test]
fn texts_of_a_model_cannot_act_on_the_page() {
    let attack =
        "<img src=x onerror=alert(1)> ![x](https://evil.example/?q=1) [a](javascript:alert(1)) \u{202e}abc\u{7}";
    let (tenpass, model) = (Tenpass::new(), ScriptServer::start(move |_| Scripted::text(attack)));
    let served = Served::start(&tenpass, &model.spec(), &[]);
    let mut client = served.client();
    let thread = client.open(None)["thread"].as_str().unwrap().to_owned();
    client.say(&thread, "<script>alert(1)</script>", "1");
    let finished = client.wait_for("finished");
    let html = finished["html"].as_str().unwrap();
    assert!(!html.contains("<img") && !html.contains("href=\"javascript"), "{html}");
    assert!(html.contains("[image: x]"), "{html}");
    for message in &client.seen {
        let text = message.to_string();
        assert!(!text.contains('\u{202e}') && !text.contains("\\u0007") && !text.contains("\\u202e"), "{text}");
    }
    let found = served.get("/api/threads?query=alert");
    assert!(!found["threads"][0]["title"].as_str().unwrap().is_empty());
}
