//! Secrets out of text: what a person or an assistant wrote goes in, the same text with keys, tokens and passwords
//! replaced by `[redacted:kind]` comes out, before anything is stored or logged.
//!
//! A label stays, only its value goes. Redacting twice changes nothing, clean text is not copied, nothing panics. In
//! doubt a value that looks like a secret goes, while prose about passwords stays. One pass over the bytes, written by
//! hand: no pattern is compiled at start.

mod value;

use std::{borrow::Cow, ops::Range};

use value::{Value, is_placeholder, looks_random};

/// Text without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The text; borrowed where nothing was found.
    pub text: Cow<'a, str>,
    /// What was found, each kind once, in order.
    pub kinds: Vec<&'static str>,
}

/// Replaces every secret in `text`.
pub fn redact(text: &str) -> Redacted<'_> {
    replaced(text, false)
}

/// The same, with as many line breaks as before: for text whose lines are cited.
pub fn redact_keeping_lines(text: &str) -> Redacted<'_> {
    replaced(text, true)
}

fn replaced(text: &str, keeps_lines: bool) -> Redacted<'_> {
    let mut scanner = Scanner { text, bytes: text.as_bytes(), done: 0, in_authority: false };
    let (mut out, mut kinds, mut at) = (String::new(), Vec::new(), 0);
    while at < text.len() {
        let Some((range, kind)) = scanner.secret_at(at) else {
            at += 1;
            continue;
        };
        out.extend([&text[scanner.done..range.start], MARKER, kind, "]"]);
        if keeps_lines {
            out.extend(text[range.clone()].matches('\n'));
        }
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
        scanner.done = range.end;
        at = range.end;
    }
    if kinds.is_empty() {
        return Redacted { text: Cow::Borrowed(text), kinds };
    }
    out.push_str(&text[scanner.done..]);
    Redacted { text: Cow::Owned(out), kinds }
}

const MARKER: &str = "[redacted:";

/// A long value is judged by its beginning, so that a text full of beginnings takes linear time.
const WINDOW: usize = 256;

/// Tokens known by their first characters.
struct Known {
    prefixes: &'static [&'static str],
    kind: &'static str,
    /// At least so many characters follow.
    min: usize,
    /// Characters allowed besides letters and digits.
    also: &'static [u8],
}

impl Known {
    fn begins_with(&self, first: u8) -> bool {
        self.prefixes.iter().any(|prefix| prefix.as_bytes().first() == Some(&first))
    }
}

/// The longer of two prefixes comes first.
const KNOWN: &[Known] = &[
    Known { prefixes: &["sk-ant-"], kind: "anthropic-key", min: 16, also: b"-_" },
    Known { prefixes: &["sk-"], kind: "openai-key", min: 16, also: b"-_" },
    Known { prefixes: &["sk_live_", "rk_live_", "sk_test_"], kind: "stripe-key", min: 16, also: b"" },
    Known { prefixes: &["github_pat_"], kind: "github-token", min: 20, also: b"_" },
    Known { prefixes: &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], kind: "github-token", min: 20, also: b"" },
    Known { prefixes: &["glpat-"], kind: "gitlab-token", min: 16, also: b"-_" },
    Known { prefixes: &["xoxb-", "xoxp-", "xoxa-", "xoxs-", "xoxr-"], kind: "slack-token", min: 10, also: b"-" },
    Known { prefixes: &["AIza"], kind: "google-key", min: 35, also: b"-_" },
    Known { prefixes: &["npm_"], kind: "npm-token", min: 36, also: b"" },
    Known { prefixes: &["hf_"], kind: "hf-token", min: 30, also: b"" },
    Known { prefixes: &["xapp-"], kind: "slack-token", min: 10, also: b"-" },
    Known { prefixes: &["ya29.", "GOCSPX-"], kind: "google-key", min: 20, also: b"-_" },
    Known { prefixes: &["SG."], kind: "sendgrid-key", min: 40, also: b"-_." },
    Known { prefixes: &["dop_v1_"], kind: "digitalocean-token", min: 40, also: b"" },
    Known { prefixes: &["shpat_", "shpss_"], kind: "shopify-token", min: 30, also: b"" },
    Known { prefixes: &["pypi-"], kind: "pypi-token", min: 40, also: b"-_" },
    Known { prefixes: &["gsk_", "xai-"], kind: "api-key", min: 30, also: b"" },
    Known { prefixes: &["AGE-SECRET-KEY-1"], kind: "private-key", min: 30, also: b"" },
];

/// How a label is judged: passwords may be plain words, the others are long and random.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    Password,
    Random,
    Authorization,
}

/// Ends of names, in lower case without `-` and `_`, that announce a secret.
const LABELS: &[(&str, Rule, &[&str])] = &[
    ("password", Rule::Password, &["password", "passwd", "passphrase", "pwd", "passwort", "kennwort", "contraseña"]),
    ("password", Rule::Password, &["пароль", "密码", "密碼", "口令", "パスワード", "비밀번호"]),
    ("api-key", Rule::Random, &["apikey"]),
    ("secret", Rule::Random, &["secret", "secretkey", "accesskey", "accountkey", "privatekey", "密钥"]),
    ("token", Rule::Random, &["token", "令牌"]),
    ("authorization", Rule::Authorization, &["authorization"]),
];

/// Labels that people write in two words.
const KEYS: &[&str] = &["api key", "secret key", "access key", "account key", "private key"];

/// Where a secret stands, and its kind.
type Found = (Range<usize>, &'static str);

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// The end of the last secret. Labels are not looked for before it, as they would not be in the redacted text.
    done: usize,
    /// Between `://` and the first character that ends user, password and host.
    in_authority: bool,
}

impl Scanner<'_> {
    fn secret_at(&mut self, at: usize) -> Option<Found> {
        let (before, here) = self.bytes.split_at(at);
        let found = match here[0] {
            b'-' if here.starts_with(b"-----BEGIN ") => self.private_key_end(at).map(|end| (at..end, "private-key")),
            b':' if self.in_authority && !before.ends_with(&MARKER.as_bytes()[..MARKER.len() - 1]) => {
                self.in_authority = false;
                self.url_password(at + 1)
            }
            b':' | b'=' | b' ' | b'|' | 0xe6 | 0xef => self.labelled(at),
            // Only ASCII goes on with a word: Chinese text touches what it quotes.
            b if b.is_ascii_alphabetic() && !before.last().is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') => {
                let rest = &self.text[at..];
                let found = known_token(rest).or_else(|| bearer(rest)).or_else(|| own_pass(rest));
                found.map(|(range, kind)| (at + range.start..at + range.end, kind))
            }
            _ => None,
        };
        let opens = here[0] == b'/' && before.ends_with(b":/");
        self.in_authority = opens || self.in_authority && !is_authority_end(here[0]);
        found
    }

    /// The end of a PEM private key; a torn one goes on to the end of the text.
    fn private_key_end(&self, at: usize) -> Option<usize> {
        const LONGEST_TITLE: usize = 64;
        let title = &self.text[at + "-----BEGIN ".len()..];
        let title = &title[..title.floor_char_boundary(LONGEST_TITLE)];
        title[..title.find("-----")?].contains("PRIVATE KEY").then_some(())?;
        let Some(footer) = self.text[at..].find("-----END ") else { return Some(self.text.len()) };
        let name = at + footer + "-----END ".len();
        Some(self.text[name..].find("-----").map_or(self.text.len(), |dashes| name + dashes + 5))
    }

    /// A value after a label.
    fn labelled(&self, at: usize) -> Option<Found> {
        let rest = &self.text[at..];
        let separators = ["：", "＝", ":", "=", "|", " is: ", " is ", "是"];
        let separator = separators.into_iter().find(|s| rest.starts_with(s)).filter(|_| !rest.starts_with("://"))?;
        let (kind, rule, name) = self.label_before(at)?;
        let wordy = matches!(separator, " is: " | " is " | "是") || name.contains(' ');
        if wordy && rule == Rule::Authorization {
            return None;
        }
        let firm = separator == "=" || separator == "＝";
        let after = rest[separator.len()..].trim_start_matches([':', '=', '>']);
        let after = next_line(after.trim_start_matches([' ', '\t'])).trim_start_matches([' ', '\t']);
        let after = after.strip_prefix("**").unwrap_or(after).trim_start_matches([' ', '\t']);
        let (range, kind) = match rule {
            Rule::Authorization => authorization(after)?,
            Rule::Password | Rule::Random => {
                let value = Value::quoted(after).unwrap_or_else(|| Value::bare(after));
                // `PWD=/home/…` is a folder.
                if name.ends_with("pwd") && value.text.starts_with(['/', '~', '.'])
                    || !value.is_secret(rule, firm, wordy)
                {
                    return None;
                }
                (value.range(after), kind_of(value.text, kind))
            }
        };
        let base = self.text.len() - after.len();
        Some((base + range.start..base + range.end, kind))
    }

    /// The password between `user:` and the last `@` before the host, since a password may hold one.
    fn url_password(&self, start: usize) -> Option<Found> {
        let rest = &self.bytes[start..];
        let end = rest.iter().position(|b| is_authority_end(*b) && *b != b'@').unwrap_or(rest.len());
        let password = &self.text[start..start + end];
        let password = &password[..password.rfind('@')?];
        let hidden = password.is_empty() || password.contains(MARKER) || is_placeholder(password);
        (!hidden).then(|| (start..start + password.len(), "url-password"))
    }

    /// The label that ends before `at`, perhaps in quotes, with the whole name in lower case.
    fn label_before(&self, at: usize) -> Option<(&'static str, Rule, String)> {
        const LONGEST: usize = 64;
        const MOST_CLOSING: usize = 8;
        let before = &self.text[self.done..at];
        let before = &before[before.ceil_char_boundary(before.len().saturating_sub(LONGEST))..];
        let closing = |c: char| matches!(c, '"' | '\'' | '`' | '\\' | ']' | '*' | ' ');
        let named = before.trim_end_matches(closing);
        let name = &named[named.trim_end_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-')).len()..];
        let is_marker = named[..named.len() - name.len()].ends_with(MARKER);
        if name.is_empty() || is_marker || before.len() - named.len() > MOST_CLOSING {
            return None;
        }
        let in_two_words = KEYS.iter().find(|words| {
            let start = named.len().checked_sub(words.len());
            start.is_some_and(|start| named.is_char_boundary(start) && named[start..].eq_ignore_ascii_case(words))
        });
        let name = in_two_words.copied().unwrap_or(name);
        let name: String = name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect();
        let is_short = matches!(name.as_str(), "pass" | "pw");
        let joined = name.replace(' ', "");
        let label = LABELS.iter().find(|(_, _, ends)| is_short || ends.iter().any(|end| joined.ends_with(end)));
        label.map(|(kind, rule, _)| (*kind, *rule, name))
    }
}

/// The value may stand on the line below its label.
fn next_line(text: &str) -> &str {
    text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text)
}

/// A token of a known shape at the beginning of `text`.
fn known_token(text: &str) -> Option<Found> {
    let bytes = text.as_bytes();
    match bytes.first()? {
        b'e' => jwt_length(bytes).map(|end| (0..end, "jwt")),
        b'A' if bytes.starts_with(b"AKIA") || bytes.starts_with(b"ASIA") => {
            let run = run_length(&bytes[..bytes.len().min(WINDOW)], b"_");
            let upper = bytes[..run].iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
            (run == 20 && upper).then_some((0..20, "aws-key"))
        }
        first if KNOWN.iter().any(|known| known.begins_with(*first)) => {
            let starts = |prefix: &&&str| text.starts_with(**prefix);
            let (known, prefix) = KNOWN.iter().find_map(|k| Some((k, k.prefixes.iter().find(starts)?)))?;
            let all = &bytes[prefix.len()..];
            let body = &all[..run_length(&all[..all.len().min(WINDOW)], known.also)];
            // `sk-learn-…` and other words with hyphens have no digit or no long part.
            let dense = body.split(|b| *b == b'-').any(|part| part.len() >= 10) && body.iter().any(u8::is_ascii_digit);
            let found = body.len() >= known.min && (dense || *prefix != "sk-");
            found.then(|| (0..prefix.len() + run_length(all, known.also), known.kind))
        }
        _ => None,
    }
}

/// The kind of a value that is one known token as a whole, else that of its label.
fn kind_of(value: &str, label: &'static str) -> &'static str {
    known_token(value).filter(|(range, _)| range.end == value.len()).map_or(label, |(_, kind)| kind)
}

fn run_length(bytes: &[u8], also: &[u8]) -> usize {
    bytes.iter().position(|b| !b.is_ascii_alphanumeric() && !also.contains(b)).unwrap_or(bytes.len())
}

/// `eyJ….….…`: header, payload, signature, and further parts where it is encrypted.
fn jwt_length(bytes: &[u8]) -> Option<usize> {
    let header = &bytes[..bytes.len().min(16 * WINDOW)];
    let mut end = header.starts_with(b"eyJ").then(|| run_length(header, b"-_")).filter(|run| *run >= 10)?;
    let mut parts = 1;
    while bytes.get(end) == Some(&b'.') && parts < 5 {
        let part = run_length(&bytes[end + 1..], b"-_");
        // Unsigned ones end with a full stop; a later one ends the sentence.
        (end, parts) = if part == 0 && parts > 2 { (end, 5) } else { (end + 1 + part, parts + 1) };
    }
    (parts >= 3 && end >= 24).then_some(end)
}

/// `Bearer` and a long token, without any label.
fn bearer(text: &str) -> Option<Found> {
    let (scheme, _) = text.split_at_checked(6)?;
    let (range, token) = scheme.eq_ignore_ascii_case("bearer").then(|| next_word(text, 6)).flatten()?;
    (token.len() >= 16 && looks_random(token)).then(|| (range, kind_of(token, "bearer")))
}

/// What opens this program's own panel: the cookie of a browser, or the code of a one-time link.
fn own_pass(text: &str) -> Option<Found> {
    const DIGEST: usize = 64;
    const CODE: usize = 43;
    if let Some(pass) = text.strip_prefix("throughline=") {
        let expiry = pass.bytes().take_while(u8::is_ascii_digit).count();
        let digest = pass[expiry..].strip_prefix('.').filter(|_| expiry > 0)?;
        let is_whole = digest.bytes().take(DIGEST).filter(u8::is_ascii_hexdigit).count() == DIGEST;
        let start = text.len() - pass.len();
        return is_whole.then(|| (start..text.len() - digest.len() + DIGEST, "panel-pass"));
    }
    let code = text.strip_prefix("open?code=")?;
    let start = text.len() - code.len();
    let length = run_length(code.as_bytes(), b"-_");
    (length >= CODE).then(|| (start..start + length, "panel-link"))
}

/// The credentials of an `Authorization` header, after their scheme.
fn authorization(after: &str) -> Option<Found> {
    const SCHEMES: &[(&str, &str)] = &[("bearer", "bearer"), ("basic", "basic-auth"), ("token", "token")];
    let opened = after.len() - after.trim_start_matches(['\\', '"', '\'', '`']).len();
    let scheme_end = opened + run_length(&after.as_bytes()[opened..], b"-");
    let (_, kind) = SCHEMES.iter().find(|(name, _)| after[opened..scheme_end].eq_ignore_ascii_case(name))?;
    let (range, token) = next_word(after, scheme_end)?;
    let prose = token.bytes().all(|b| b.is_ascii_lowercase());
    (!prose && !is_placeholder(token)).then(|| (range, kind_of(token, kind)))
}

/// The token after the white space at `from`.
fn next_word(text: &str, from: usize) -> Option<(Range<usize>, &str)> {
    let rest = text[from..].trim_start_matches([' ', '\t']);
    let start = text.len() - rest.len();
    let token = rest[..run_length(rest.as_bytes(), b"-._~+/=")].trim_end_matches('.');
    (start > from && !token.is_empty()).then_some((start..start + token.len(), token))
}

fn is_authority_end(b: u8) -> bool {
    b.is_ascii_whitespace() || matches!(b, b'/' | b'@' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &str) {
        let found = redact(text);
        assert_eq!((found.text.as_ref(), redact(expected).text.as_ref()), (expected, expected), "of {text:?}");
        assert_eq!(matches!(found.text, Cow::Borrowed(_)), text == expected);
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
        let long = body.repeat(3);
        for known in KNOWN {
            for prefix in known.prefixes {
                check(&format!("use {prefix}{long}!"), &format!("use [redacted:{}]!", known.kind));
            }
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
        ] {
            check(text, text);
        }
    }

    const FRAGMENTS: &str = "password~token~secret~pwd~Authorization~Bearer ~Basic ~://~:~=~ is ~：~@~[redacted:~\"~'~\\~]~ ~\n~/~\
        &~[redacted:token]~sk-a1B2c3D4e5F6g7H8~process.env.~ghp_abcdefghijklmnopqrstuv~AKIAIOSFODNN7EXAMPLE~hunter22~\
        hunter~api key~abcd1234efgh5678ijkl~open?code=~throughline=1.~\
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
}
