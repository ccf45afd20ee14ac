//! Texts of others before they are printed or kept: what looks like a secret is left out, and what a terminal would obey is shown.

/// Stands in place of a secret. Plain YAML, and allowed in an address.
pub const REDACTED: &str = "REDACTED";
/// Shortest secret that is looked for: a shorter one is found in texts that have nothing to do with it.
const SHORTEST: usize = 6;
/// Names of headers and settings that hold secrets.
const NAMES: [&str; 13] = [
    "authorization",
    "x-api-key",
    "api-key",
    "api_key",
    "apikey",
    "x-auth-token",
    "auth-token",
    "access-token",
    "access_token",
    "cookie",
    "password",
    "secret",
    "subscription-key",
];
const BEGINNINGS: [&str; 14] = [
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "hf_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
];

/// True of the name of a header or a query that holds a secret.
pub fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NAMES.iter().any(|known| name == *known || name.ends_with(&format!("-{known}")))
}

/// Secrets that are known, each left out wherever it stands.
#[derive(Clone, Default)]
pub struct Secrets(Vec<String>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

impl Secrets {
    /// Learns a secret; one of fewer than six bytes is none.
    pub fn add(&mut self, secret: &str) {
        let secret = secret.trim();
        if secret.len() >= SHORTEST && self.0.iter().all(|known| known != secret) {
            self.0.push(secret.to_owned());
            // a secret that holds another goes first
            self.0.sort_by_key(|known| std::cmp::Reverse(known.len()));
        }
    }

    /// The text without them, also where JSON or an address writes them otherwise.
    pub fn left_out(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.0 {
            for form in [secret.clone(), secret.replace('/', "\\/"), encoded(secret)] {
                if text.contains(&form) {
                    text = text.replace(&form, REDACTED);
                }
            }
        }
        text
    }
}

fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// The text without what looks like a secret: queries and passwords of addresses, values of headers such as `Authorization`, keys of well-known services.
pub fn redacted(text: &str) -> String {
    text.split_inclusive('\n').map(|line| without_keys(&without_values(&without_queries(line)))).collect()
}

fn ends_address(c: char) -> bool {
    c.is_whitespace() || "'\"`<>{}[]()".contains(c)
}

fn without_queries(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out += before;
        let end = after.find(ends_address).unwrap_or(after.len());
        let address = after[..end].trim_end_matches([',', ';', '.']);
        let host_end = address.find(['/', '?', '#']).unwrap_or(address.len());
        let (host, path) = address.split_at(host_end);
        match host.rsplit_once('@') {
            Some((_, host)) => out += &format!("{REDACTED}@{host}"),
            None => out += host,
        }
        match path.split_once('?') {
            Some((path, query)) if !query.is_empty() => out += &format!("{path}?{REDACTED}"),
            _ => out += path,
        }
        rest = &after[address.len()..];
    }
    out + rest
}

/// `name: value` and `name=value` of the names that hold secrets.
fn without_values(line: &str) -> String {
    let lower = line.to_ascii_lowercase();
    let (mut out, mut done) = (String::new(), 0);
    for (at, _) in lower.match_indices([':', '=']) {
        let name = lower[done..at].trim_end().trim_end_matches(['"', '\'']);
        let is_named = NAMES.iter().any(|known| {
            let before = name.strip_suffix(known).map(|before| before.chars().next_back());
            before.is_some_and(|before| before.is_none_or(|c| !c.is_alphanumeric()))
        });
        if at < done || !is_named {
            continue;
        }
        let start = at + 1 + (line[at + 1..].len() - line[at + 1..].trim_start().len());
        let value = &line[start..];
        let (open, ends): (usize, &[char]) = match value.chars().next() {
            Some('"') => (1, &['"']),
            Some('\'') => (1, &['\'']),
            _ => (0, &[',', '}', ']', '"', '\'', '`', '\n']),
        };
        let value = &value[open..];
        let end = value.find(ends).unwrap_or(value.len());
        // a block follows, or nothing
        let is_value = value[..end].chars().any(char::is_alphanumeric);
        if is_value {
            out += &line[done..start + open];
            out += REDACTED;
            done = start + open + value[..end].trim_end().len();
        }
    }
    out + &line[done..]
}

/// Keys of well-known services, tokens of the web, and what follows `Bearer` or `Basic`.
fn without_keys(line: &str) -> String {
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || "-_.~+/=".contains(c);
    let (mut out, mut rest, mut after_scheme) = (String::new(), line, false);
    while !rest.is_empty() {
        let end = rest.find(|c| !is_of_key(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let is_mixed = word.chars().any(|c| c.is_ascii_digit()) || word.chars().skip(1).any(|c| c.is_ascii_uppercase());
        let begins = BEGINNINGS.iter().any(|beginning| word.starts_with(beginning));
        let is_token = word.starts_with("eyJ") && word.len() >= 30 && word.contains('.');
        let is_key = is_token || (is_mixed && ((begins && word.len() >= 16) || (after_scheme && word.len() >= 8)));
        out += if is_key { REDACTED } else { word };
        if !word.is_empty() {
            after_scheme = word.eq_ignore_ascii_case("bearer") || word.eq_ignore_ascii_case("basic");
        }
        let next = behind.find(is_of_key).unwrap_or(behind.len());
        out += &behind[..next];
        rest = &behind[next..];
    }
    out
}

/// The text as it can be printed: what a terminal would obey stands there as `\u{1b}`; line breaks and tabs stay.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_obeyed(c) && !matches!(c, '\n' | '\t') { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    out
}

/// True of control characters, and of those that turn the direction of writing.
pub fn is_obeyed(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_secret_is_left_out_and_all_else_stays() {
        for (text, left) in [
            ("url: https://a.example/rerank?key=abc123, model: m", "url: https://a.example/rerank?REDACTED, model: m"),
            ("https://user:pass@a.example/x", "https://REDACTED@a.example/x"),
            ("headers: { Authorization: Bearer abc, X-Other: 1 }", "headers: { Authorization: REDACTED, X-Other: 1 }"),
            ("  \"X-Api-Key\": \"abc def\"\n", "  \"X-Api-Key\": \"REDACTED\"\n"),
            ("oracle.headers.Authorization=tiny", "oracle.headers.Authorization=REDACTED"),
            ("invalid key sk-proj-0123456789abcd.", "invalid key REDACTED"),
            ("Bearer dXNlcjpwYXNz was refused", "Bearer REDACTED was refused"),
        ] {
            assert_eq!(redacted(text), left);
            assert_eq!(redacted(left), left, "twice");
        }
        for text in [
            "key: OPENAI_API_KEY\nurl: http://localhost:8000/v1/rerank\n",
            "tokens_per_minute: 5, title: why? see https://a.example/b.",
            "the bearer of news, Basic authentication, sk-learn",
            "headers:\n  authorization:\n    x\n",
        ] {
            assert_eq!(redacted(text), text);
        }
    }

    #[test]
    fn a_known_secret_is_left_out_in_every_form_that_json_and_addresses_have() {
        let mut secrets = Secrets::default();
        secrets.add(" top/secret+word \n");
        secrets.add("1");
        let left = secrets.left_out("a top/secret+word, top\\/secret+word, top%2Fsecret%2Bword, 1");
        assert_eq!(left, "a REDACTED, REDACTED, REDACTED, 1");
        assert!(!format!("{secrets:?}").contains("top"));
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(escaped("a\u{1b}[2Jb\u{7}\r\u{9b}\u{202e}\n\tü"), "a\\u{1b}[2Jb\\u{7}\\u{d}\\u{9b}\\u{202e}\n\tü");
    }
}
