use proptest::prelude::*;

use super::table::{Rule, rules};
use super::*;
use crate::text::steps::check_linear;

fn check(text: &str, expected: &str) {
    let found = redact(text);
    assert_eq!((found.text.as_ref(), redact(expected).text.as_ref()), (expected, expected), "of {text:?}");
    assert_eq!(matches!(found.text, Cow::Borrowed(_)), text == expected);
}

/// An example of the table as text, and what it reads without its secret.
fn example(rule: &Rule) -> (String, String) {
    let text = rule.example.replace('¦', "").replace("\\n", "\n");
    let (before, rest) = text.split_once('«').unwrap();
    let (_, after) = rest.split_once('»').unwrap();
    (text.replace(['«', '»'], ""), format!("{before}[redacted:{}]{after}", rule.kind))
}

#[test]
fn every_rule_has_a_source_and_an_example_that_it_catches() {
    let lines = include_str!("rules.tsv").lines().filter(|line| !line.starts_with('#')).count();
    let all: Vec<Rule> = rules().collect();
    assert_eq!(all.len(), lines, "a line of the table cannot be read");
    assert!(all.len() >= 120, "{}", all.len());
    let mut missed = Vec::new();
    for rule in all.iter().filter(|rule| rule.form != "copula") {
        assert!(!rule.source.is_empty(), "{rule:?}");
        let (text, expected) = example(rule);
        let found = redact(&text).text.into_owned();
        if found != expected {
            missed.push(format!("{text:?} gives {found:?}, not {expected:?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn every_shape_of_the_table_is_read() {
    let shapes: usize = rules().filter(|rule| rule.form == "token").map(|rule| rule.pattern.split(' ').count()).sum();
    assert_eq!(TABLE.tokens().len(), shapes);
}

#[test]
fn known_tokens_go() {
    let body = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let known = "sk- openai-key sk-proj- openai-key sk-ant-api03- anthropic-key ghp_ github-token github_pat_ \
        github-token glpat- gitlab-token xoxb- slack-token AIza google-key rk_live_ stripe-key npm_ npm-token hf_ \
        hf-token";
    for (prefix, kind) in known.split(' ').step_by(2).zip(known.split(' ').skip(1).step_by(2)) {
        check(&format!("use {prefix}{body}."), &format!("use [redacted:{kind}]."));
        check(&format!("密钥{prefix}{body}，好"), &format!("密钥[redacted:{kind}]，好"));
        check(&format!("api_key = \"{prefix}{body}\""), &format!("api_key = \"[redacted:{kind}]\""));
    }
    check("AKIAIOSFODNN7EXAMPLE and", "[redacted:aws-key] and");
    check("jwt eyJhbGciOiJI.eyJzdWIiOiIx.SflKxw_-RJ.", "jwt [redacted:jwt].");
    let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";
    check(&format!("a\n{pem}\nb"), "a\n[redacted:private-key]\nb");
    check(&format!("a {}", &pem[..40]), "a [redacted:private-key]");
}

#[test]
fn labelled_values_go() {
    check("wifi password:\n  hunter2hunter2", "wifi password:\n  [redacted:password]");
    check("| password | hunter2hunter2 |", "| password | [redacted:password] |");
    check("pass: hunter2hunter2", "pass: [redacted:password]");
    check("client_secret: abcdefghijklmnopqrstuvwx", "client_secret: [redacted:secret]");
    check("api_key=abcdefghijklmnop", "api_key=[redacted:api-key]");
    check("the compass: north-east2", "the compass: north-east2");
    for (text, expected) in [
        ("password=hunter, x", "password=[redacted:password], x"),
        ("DB_PASSWORD: 'two words'", "DB_PASSWORD: '[redacted:password]'"),
        ("**Password:** correcthorse\n", "**Password:** [redacted:password]\n"),
        ("my password is hunter22!", "my password is [redacted:password]"),
        ("密码：abc12345，谢谢", "密码：[redacted:password]，谢谢"),
        (r#"{"apiKey":"abc-123-def","b":1}"#, r#"{"apiKey":"[redacted:api-key]","b":1}"#),
        (r#"{\"token\": \"abc123xyz\"}"#, r#"{\"token\": \"[redacted:token]\"}"#),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7", "AWS_SECRET_ACCESS_KEY=[redacted:secret]"),
        ("?access_token=abc123&x=1", "?access_token=[redacted:token]&x=1"),
        ("Authorization: Bearer x1", "Authorization: Bearer [redacted:bearer]"),
        ("'Authorization': 'Basic dXNlcjpw'", "'Authorization': 'Basic [redacted:basic-auth]'"),
        ("send Bearer abcdefgh12345678 now", "send Bearer [redacted:bearer] now"),
        ("postgres://me:p@ss@db/x", "postgres://me:[redacted:url-password]@db/x"),
        ("password=hunter22 = foo12345", "password=[redacted:password] = foo12345"),
    ] {
        check(text, expected);
    }
    assert_eq!(redact("pwd=abcdef token=a1b2c3 passwd=ghijkl").kinds, ["password", "token"]);
}

/// The forms that an audit of the first version found to leak.
#[test]
fn forms_that_leaked_go() {
    for (text, expected) in [
        ("SMTP_PASS=hunter22", "SMTP_PASS=[redacted:password]"),
        ("psql --password hunter22 -h db", "psql --password [redacted:password] -h db"),
        (
            "curl -su bob:hunter22 https://x.org; curl -u bob:hunter22 x",
            "curl -su bob:hunter22 https://x.org; curl -u bob:[redacted:password] x",
        ),
        (
            "Set-Cookie: sid=k3j9f8d7s6a5; Path=/; Max-Age=31536000",
            "Set-Cookie: sid=[redacted:cookie]; Path=/; Max-Age=31536000",
        ),
        ("https://k3j9f8d7s6a5q4w3e2r1@git.example.org/x", "https://[redacted:url-token]@git.example.org/x"),
        ("https://user@git.example.org/x", "https://user@git.example.org/x"),
        ("the password for the router is Tulip4411", "the password for the router is [redacted:password]"),
        ("Le mot de passe est Tulipe4411.", "Le mot de passe est [redacted:password]."),
        ("La contraseña del router es Tulipan4411.", "La contraseña del router es [redacted:password]."),
        (
            "password for ghp_abcdefghij0123456789 is Tulip4411",
            "password for [redacted:github-token] is [redacted:password]",
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn what_is_said_in_words_goes_when_a_machine_made_it() {
    let hex = "0123456789abcdef".repeat(4);
    check(&format!("my token is {hex}, keep it"), "my token is [redacted:token], keep it");
    check("my api key is abcd1234efgh5678ijkl", "my api key is [redacted:api-key]");
    check("My API key: abcd1234efgh5678ijkl.", "My API key: [redacted:api-key].");
    check("the secret is 'Zm9vYmFy/b3U4+cXV4eA9='", "the secret is '[redacted:secret]'");
    check("the access key = 550e8400-e29b-41d4-a716-446655440000", "the access key = [redacted:secret]");
    for text in [
        "the token is valid until 2026-03-01T12:00:00Z, the secret is 20260301T120000Z",
        "the secret is patience; the token is internationalization2",
        "the api key is in crates/server2/src/access/passes.rs",
        "private key: ~/.ssh/id_ed25519, access key: Ctrl+Alt+1",
        "the token is throughline-v0-12-3-linux-x86_64",
    ] {
        check(text, text);
    }
}

#[test]
fn what_opens_our_own_panel_goes() {
    let (digest, code) = ("0a".repeat(32), "aB3-_".repeat(9)[..43].to_owned());
    check(
        &format!("Cookie: a=b; throughline=1790000000.{digest}; c=d"),
        "Cookie: a=b; throughline=[redacted:panel-pass]; c=d",
    );
    check(
        &format!("http://127.0.0.1:4242/open?code={code} opens it"),
        "http://127.0.0.1:4242/open?code=[redacted:panel-link] opens it",
    );
    let harmless = "throughline=debug throughline=1.5 /open?code=abc";
    check(harmless, harmless);
}

#[test]
fn prose_and_placeholders_stay() {
    for text in [
        "my password: ask Bob\nthe token: it expired\nThe secret: be kind.\npassword: required\npassword: *******",
        "max_tokens: 128000, token: 2024-05-01; token = get_token() and password=${DB_PASSWORD} or $DB_PASSWORD",
        "PWD=/home/user/project1; bearer of bad news; Authorization: Bearer tokens",
        "sk-learn-is-a-library-of-python and risk-averse",
        "http://localhost:8080/@me?a=b mail me@example.org",
        "-----BEGIN CERTIFICATE-----",
        "密码：请联系管理员获取最新的密码",
        "docker run -u 1000:1000 -p 8080:80 image; the password on server01 was changed in 2024",
        "let token = tokens[i + 1]; self.password = config.password2; if token == Token::Comma {",
    ] {
        check(text, text);
    }
}

/// Text full of beginnings costs as much a byte of a large text as of a small one. `bearer-` over and over took 120 s a megabyte.
#[test]
fn redacting_is_linear() {
    for piece in ["bearer-", "://a:"] {
        check_linear(piece, 300, |text| redact(text).kinds);
    }
    let pieces = [
        "password=",
        "Cookie: a=",
        "mot de passe ",
        "bearer ",
        "Bearer a1-",
        "password: ",
        "pw='",
        "pw=\\\"",
        "token is ",
        "sk-",
        "eyJ-",
        "eyJaaaaaaaa.",
        "a@://",
        "cookie=a[redacted:",
        "-----BEGIN PRIVATE KEY",
        "-----BEGIN ",
        "--password ",
        "-u ",
        "curl -u a:",
        "密码是",
        "пароль",
        "AKIA",
        "[redacted:",
        "a-",
        "a_",
        "password for a b c d e f g h ",
        "0123456789abcdef",
        " ",
        "\n",
        "'",
        "\\",
        ":",
        "=",
        "open?code=",
        "1//0",
        "é",
    ];
    for piece in pieces {
        check_linear(piece, 700, |text| redact(text).kinds);
    }
}

const FRAGMENTS: &str = "password~token~secret~pwd~Authorization~Bearer ~Basic ~://~:~=~ is ~：~@~[redacted:~\"~'~\\~]~ ~\n~/~\
    &~[redacted:token]~sk-a1B2c3D4e5F6g7H8~process.env.~ghp_abcdefghij1234567890~AKIAIOSFODNN7EXAMPLE~hunter22~\
    hunter~api key~abcd1234efgh5678ijkl~open?code=~throughline=1.~--password ~curl -u ~Cookie: ~sid=~;~ for ~mot de passe~\
    eyJhbGciOiJI.eyJzdWIiOiIx.Sf~-----BEGIN PRIVATE KEY-----~-----END ~密码~é~**~$~(~.~a1";

proptest! {
    #[test]
    fn twice_is_once(parts in prop::collection::vec(prop_oneof![
        any::<String>(), "[ -~]{0,8}",
        prop::sample::select(FRAGMENTS.split('~').collect::<Vec<_>>()).prop_map(str::to_owned),
    ], 0..14)) {
        let text = parts.concat();
        let once = redact(&text).text.into_owned();
        prop_assert_eq!(redact(&once).text, once.as_str(), "of {:?}", text);
    }

    #[test]
    fn plain_words_stay(text in "([a-zà-ž]{1,20}[ ,.?!\n]{1,2}){0,20}") {
        prop_assert_eq!(redact(&text), Redacted { text: Cow::Borrowed(text.as_str()), kinds: Vec::new() });
    }
}
