//! Which headers go on. To the server: all but those that concern this connection, this daemon or a browser. To the client: all
//! but those that concern the connection, and what only the server's own origin may say.

use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use throughline_providers::{Api, Upstream};

use crate::access::Token;

/// They describe one connection, in either direction.
const OF_CONNECTION: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// They are not for the server: where this daemon is, who asks it, and what a browser adds. Replies are asked for without
/// compression, so that they can be read on their way.
const NOT_FOR_SERVER: [&str; 11] = [
    "host",
    "content-length",
    "accept-encoding",
    "expect",
    "cookie",
    "origin",
    "referer",
    "forwarded",
    "via",
    "x-real-ip",
    "dnt",
];

const NOT_FOR_SERVER_BEGINNINGS: [&str; 4] = ["x-throughline-", "x-forwarded-", "sec-", "access-control-"];

/// They speak for the server's own origin, which this daemon is not. A redirect is shown without its target: a client that
/// followed it would send there what was meant for this daemon.
const NOT_FOR_CLIENT: [&str; 4] = ["set-cookie", "alt-svc", "strict-transport-security", "location"];

pub(crate) const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The headers of a request as they go on, with a key: the client's own, else the person's.
pub(super) fn to_server(headers: &HeaderMap, token: &Token, api: Api, upstream: &Upstream) -> HeaderMap {
    let named = named_by_connection(headers);
    let mut kept = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        let text = name.as_str();
        let is_ours = NOT_FOR_SERVER.contains(&text)
            || OF_CONNECTION.contains(&text)
            || NOT_FOR_SERVER_BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
            || named.iter().any(|other| other.eq_ignore_ascii_case(text));
        if !is_ours && !shows(token, value) {
            kept.append(name, value.clone());
        }
    }
    let has_key = kept.contains_key(header::AUTHORIZATION) || kept.contains_key(API_KEY);
    if let Some(key) = upstream.key.clone().filter(|_| !has_key) {
        let name = if api == Api::Anthropic { API_KEY } else { header::AUTHORIZATION };
        kept.insert(name, key);
    }
    for name in [header::AUTHORIZATION, API_KEY] {
        if let Some(value) = kept.get_mut(name) {
            value.set_sensitive(true);
        }
    }
    kept
}

/// Whether a value has our token in it, as it is or as the password of a basic authorization.
fn shows(token: &Token, value: &HeaderValue) -> bool {
    let word = value.to_str().ok().and_then(|text| text.split_once(' '));
    let basic = word.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"));
    let decoded = basic.and_then(|(_, text)| data_encoding::BASE64.decode(text.trim().as_bytes()).ok());
    token.stands_in(value.as_bytes()) || decoded.is_some_and(|decoded| token.stands_in(&decoded))
}

/// The headers of a reply as they go on.
pub(super) fn to_client(headers: &HeaderMap) -> HeaderMap {
    let named = named_by_connection(headers);
    let mut kept = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        let text = name.as_str();
        let is_dropped = OF_CONNECTION.contains(&text)
            || NOT_FOR_CLIENT.contains(&text)
            || text.starts_with("access-control-")
            || text.starts_with("x-throughline-")
            || named.iter().any(|other| other.eq_ignore_ascii_case(text));
        if !is_dropped {
            kept.append(name, value.clone());
        }
    }
    kept
}

/// Headers that `Connection` says to be its own.
fn named_by_connection(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(header::CONNECTION).iter().filter_map(|value: &HeaderValue| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(|name| name.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn sent(api: Api, key: Option<&str>, headers: &[(&'static str, &str)]) -> Vec<(String, String)> {
        let key = key.map(throughline_providers::Secret::new);
        let upstream = Upstream::new(api, Some("http://127.0.0.1:9"), key.as_ref()).unwrap();
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()))
            .collect();
        let sent = to_server(&headers, &Token::kept(TOKEN).unwrap(), api, &upstream);
        sent.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect()
    }

    #[test]
    fn the_token_goes_nowhere_and_a_clients_own_key_does() {
        let bearer = format!("Bearer {TOKEN}");
        let check = |api, key, headers: &[(&'static str, &str)], expected: &[(&str, &str)]| {
            let expected: Vec<_> = expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
            assert_eq!(sent(api, key, headers), expected);
        };
        check(Api::OpenAi, Some("sk-own"), &[("authorization", &bearer)], &[("authorization", "Bearer sk-own")]);
        check(Api::OpenAi, None, &[("authorization", &bearer)], &[]);
        check(
            Api::OpenAi,
            Some("sk-own"),
            &[("authorization", "Bearer sk-client")],
            &[("authorization", "Bearer sk-client")],
        );
        check(Api::Anthropic, Some("sk-own"), &[("x-api-key", TOKEN)], &[("x-api-key", "sk-own")]);
        check(
            Api::Anthropic,
            Some("sk-own"),
            &[("authorization", &bearer), ("x-api-key", "sk-client")],
            &[("x-api-key", "sk-client")],
        );
        let basic = |user: &str| format!("Basic {}", data_encoding::BASE64.encode(user.as_bytes()));
        let (ours, others) = (basic(&format!("ada:{TOKEN}")), basic("ada:hunter2"));
        check(Api::OpenAi, None, &[("x-api-key", TOKEN), ("authorization", &ours)], &[]);
        check(Api::OpenAi, None, &[("x-api-key", TOKEN), ("authorization", &others)], &[("authorization", &others)]);
        check(Api::OpenAi, None, &[("api-key", TOKEN), ("x-other", &format!("a {TOKEN} b"))], &[]);
    }

    #[test]
    fn what_a_browser_or_this_daemon_adds_stays_here() {
        let given = [
            ("host", "127.0.0.1:7077"),
            ("cookie", "throughline=1"),
            ("origin", "http://127.0.0.1:7077"),
            ("x-throughline-memory", "read"),
            ("connection", "close, x-hop"),
            ("x-hop", "1"),
            ("sec-fetch-site", "none"),
            ("anthropic-beta", "a"),
            ("x-stainless-lang", "python"),
        ];
        let sent = sent(Api::Anthropic, None, &given);
        let names: Vec<&str> = sent.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["anthropic-beta", "x-stainless-lang"]);
    }
}
