//! One request and what came of it.

use std::time::{Duration, SystemTime};

use landmark_core::untrusted::{Secrets, escaped, names_a_secret, redacted};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::Value as Json;
use url::Url;

use crate::error::HttpError;
use crate::params::HttpParams;
use crate::rating::shortened;
use crate::spend_limit::Usage;
use crate::wait;

#[derive(Debug)]
pub(crate) struct Connection {
    client: Client,
    url: Url,
    answer_bytes: usize,
    /// What a server may send back, and nobody is shown.
    secrets: Secrets,
    proxy: Option<String>,
}

#[derive(Debug)]
pub(crate) enum Reply {
    Json(Json),
    NoJson(String),
    /// 413, or 422, which some servers answer to a batch above their limit.
    TooLarge {
        status: StatusCode,
        excerpt: String,
    },
}

#[derive(Debug)]
pub(crate) enum Fault {
    Final(HttpError),
    Again(Again),
}

#[derive(Debug)]
pub(crate) struct Again {
    pub(crate) what: String,
    pub(crate) wait: Option<Duration>,
    pub(crate) is_overwhelmed: bool,
    pub(crate) may_be_charged: bool,
}

impl Connection {
    pub(crate) fn new(params: &HttpParams, url: &Url) -> Result<Self, HttpError> {
        let refused = |what: String| HttpError::Client { url: public(url).to_string(), what };
        let mut secrets = secrets_of_query(url);
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in &params.headers {
            let header = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok());
            // the error does not repeat the value
            let (header, mut content) =
                header.ok_or_else(|| refused(format!("`headers.{name}` has characters that no header takes")))?;
            if names_a_secret(name) {
                content.set_sensitive(true);
                secrets.add(value);
                secrets.add(value.split_once(' ').map_or("", |(_, token)| token));
            }
            headers.insert(header, content);
        }
        if let Some(name) = &params.key {
            let key = std::env::var(name).ok().filter(|key| !key.is_empty());
            let key = key.ok_or_else(|| HttpError::NoKey { name: name.clone(), url: public(url).to_string() })?;
            secrets.add(&key);
            let value = HeaderValue::try_from(format!("Bearer {}", key.trim()));
            // the error does not repeat the key
            let mut value =
                value.map_err(|_| refused(format!("the key in `{name}` has characters that no header takes")))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        // an error means that it is installed already
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = Client::builder()
            .default_headers(headers)
            .timeout(params.timeout())
            .pool_max_idle_per_host(params.in_flight)
            .redirect(same_host());
        if let Some(file) = &params.certificate {
            let pem = std::fs::read(file).map_err(|error| refused(format!("`{}`: {error}", file.display())))?;
            let certificates = Certificate::from_pem_bundle(&pem)
                .map_err(|error| refused(format!("`{}` holds no certificate: {error}", file.display())))?;
            client = certificates.into_iter().fold(client, reqwest::ClientBuilder::add_root_certificate);
        }
        // a server of this machine is asked at once, whatever proxy the environment sets for others
        if is_loopback(url) {
            client = client.no_proxy();
        }
        let client = client.build().map_err(|error| refused(in_words(&error)))?;
        let proxy = proxy_of(url, &|name| std::env::var(name).ok());
        Ok(Self { client, url: url.clone(), answer_bytes: params.answer_bytes, secrets, proxy })
    }

    /// Posts a body, and reads what comes back.
    pub(crate) async fn post(&self, body: &str) -> Result<(Reply, Option<Usage>), Fault> {
        let request = self.client.post(self.url.clone()).body(body.to_owned());
        let Answered { status, text, wait } = self.send(request, self.answer_bytes, |_| false).await?;
        let excerpt = || shortened(&String::from_utf8_lossy(&text));
        if matches!(status.as_u16(), 413 | 422) {
            return Ok((Reply::TooLarge { status, excerpt: excerpt() }, None));
        }
        let Ok(json) = serde_json::from_slice::<Json>(&text) else { return Ok((Reply::NoJson(excerpt()), None)) };
        // the status that the error in the body stands for
        match status_in(&json).and_then(|code| StatusCode::from_u16(code).ok()) {
            Some(code) if matches!(code.as_u16(), 408 | 425 | 429 | 500..=599) => Err(Fault::Again(Again {
                what: format!("{status} with an error in its body: {}", excerpt()),
                wait: wait.max(wait::asked_in(&json, SystemTime::now())),
                is_overwhelmed: matches!(code.as_u16(), 429 | 503),
                may_be_charged: false,
            })),
            Some(code) if matches!(code.as_u16(), 400 | 413 | 422) => {
                Ok((Reply::TooLarge { status: code, excerpt: excerpt() }, None))
            }
            Some(code) => {
                let status = format!("{status} with the error {} in its body", code.as_u16());
                Err(self.refused(&status, &excerpt(), next_step(code.as_u16())))
            }
            None => {
                let usage = Usage::of(&json);
                Ok((Reply::Json(json), usage))
            }
        }
    }

    /// One request about a job of many, at an address of the same server: its body as (type, bytes), none to read.
    pub(crate) async fn about_jobs(
        &self,
        url: &Url,
        body: Option<(&str, Vec<u8>)>,
        most_bytes: usize,
    ) -> Result<Vec<u8>, Fault> {
        let request = match body {
            Some((kind, bytes)) => self.client.post(url.clone()).header(CONTENT_TYPE, kind).body(bytes),
            None => self.client.request(Method::GET, url.clone()),
        };
        // a conflict is with what the server is doing still
        let Answered { status, text, .. } = self.send(request, most_bytes, |status| status == 409).await?;
        if status.is_success() {
            return Ok(text);
        }
        Err(self.refused(
            &status.to_string(),
            &shortened(&String::from_utf8_lossy(&text)),
            "ask for fewer requests a job by `oracle.batch.requests`",
        ))
    }

    /// Sends a request and reads the answer, where it is one that can be used: 2xx, 413, 422.
    async fn send(
        &self,
        request: RequestBuilder,
        most_bytes: usize,
        may_pass: impl Fn(u16) -> bool,
    ) -> Result<Answered, Fault> {
        // a connection that was never made carried nothing
        let through = self.proxy.as_ref().map_or_else(String::new, |proxy| format!(" through {proxy}"));
        let lost = |error: &reqwest::Error| Again {
            what: in_words(error) + &through,
            wait: None,
            is_overwhelmed: error.is_timeout(),
            may_be_charged: !error.is_connect(),
        };
        let response = request.send().await.map_err(|error| match error.is_builder() || error.is_redirect() {
            true => self.refused(&in_words(&error), "", "look at `oracle.url`"),
            false if is_untrusted(&error) => {
                let next_step =
                    "an authority of your own is named by `oracle.certificate`; look at the name in `oracle.url`, too";
                self.refused("with a certificate that is not trusted", &in_words(&error), next_step)
            }
            false => Fault::Again(lost(&error)),
        })?;
        let status = response.status();
        let wait = wait::asked_for(response.headers(), status.as_u16() == 429, SystemTime::now());
        let text = read(response, most_bytes).await.map_err(|error| match error {
            Unread::Broken(error) => Fault::Again(lost(&error)),
            Unread::TooLong => self.refused(
                &format!("more than {most_bytes} bytes"),
                "",
                "raise `oracle.answer_bytes` if that is right",
            ),
        })?;
        let text = self.secrets.left_out(&String::from_utf8_lossy(&text)).into_bytes();
        let excerpt = || shortened(&String::from_utf8_lossy(&text));
        match status.as_u16() {
            200..=299 | 413 | 422 => Ok(Answered { status, text, wait }),
            408 | 425 | 429 | 500..=599 => {
                let in_body =
                    serde_json::from_slice(&text).ok().and_then(|body| wait::asked_in(&body, SystemTime::now()));
                Err(Fault::Again(Again {
                    what: format!("{status}: {}", excerpt()),
                    wait: wait.max(in_body),
                    is_overwhelmed: matches!(status.as_u16(), 429 | 503),
                    may_be_charged: matches!(status.as_u16(), 408 | 500 | 502 | 504),
                }))
            }
            code if may_pass(code) => {
                let what = format!("{status}: {}", excerpt());
                Err(Fault::Again(Again { what, wait, is_overwhelmed: false, may_be_charged: false }))
            }
            code => Err(self.refused(&status.to_string(), &excerpt(), next_step(code))),
        }
    }

    fn refused(&self, status: &str, excerpt: &str, next_step: &'static str) -> Fault {
        let excerpt = if excerpt.is_empty() { "nothing else" } else { excerpt }.to_owned();
        Fault::Final(HttpError::Refused {
            url: public(&self.url).to_string(),
            status: status.to_owned(),
            excerpt,
            next_step,
        })
    }
}

fn next_step(code: u16) -> &'static str {
    match code {
        300..=399 => "it points elsewhere, and the key is not sent there; write that address into `oracle.url`",
        401 | 403 => "look at `oracle.key`: the variable that it names must hold the key of this server",
        402 => "look at the credit of this account",
        404 | 405 => "look at `oracle.url`, path and all, and at `oracle.model`",
        _ => "look at `oracle.request` and `oracle.fields`, which state what is sent",
    }
}

/// The error in the body of a success, of the whole answer or of its first choice.
pub(crate) fn error_in(body: &Json) -> Option<&Json> {
    let is_one = |error: &&Json| match error {
        Json::Null | Json::Bool(false) => false,
        Json::String(text) => !text.is_empty(),
        Json::Object(fields) => !fields.is_empty(),
        Json::Array(list) => !list.is_empty(),
        Json::Bool(true) | Json::Number(_) => true,
    };
    [body.get("error"), body.pointer("/choices/0/error")].into_iter().flatten().find(is_one)
}

/// The status that the error in a body stands for: its `code` or `status` in digits, or the name of its kind. `choices` that are null are
/// those of a provider that is full.
pub(crate) fn status_in(body: &Json) -> Option<u16> {
    let of_full = body.get("choices").is_some_and(Json::is_null).then_some(503);
    let Some(error) = error_in(body) else { return of_full };
    let fields = ["code", "status", "status_code", "type"].map(|name| error.get(name));
    let outside = ["code", "status"].map(|name| body.get(name));
    let given = || fields.into_iter().chain(outside).flatten();
    let digits = |value: &Json| value.as_u64().or_else(|| value.as_str()?.parse().ok());
    let number =
        given().filter_map(digits).find_map(|code| u16::try_from(code).ok().filter(|code| (400..600).contains(code)));
    number.or_else(|| given().filter_map(Json::as_str).find_map(status_of_kind)).or(of_full)
}

/// The status for which servers use the name of a kind of error.
fn status_of_kind(kind: &str) -> Option<u16> {
    const KINDS: [(&str, u16); 11] = [
        ("rate_limit", 429),
        ("resource_exhausted", 429),
        ("insufficient_quota", 429),
        ("overloaded", 503),
        ("unavailable", 503),
        ("server_error", 500),
        ("context_length", 413),
        ("string_above_max_length", 413),
        ("invalid_api_key", 401),
        ("authentication", 401),
        ("invalid_request", 400),
    ];
    let kind = kind.to_lowercase();
    KINDS.iter().find(|(name, _)| kind.contains(name)).map(|&(_, status)| status)
}

struct Answered {
    status: StatusCode,
    text: Vec<u8>,
    wait: Option<Duration>,
}

async fn read(mut response: Response, most_bytes: usize) -> Result<Vec<u8>, Unread> {
    let mut text = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(Unread::Broken)? {
        if text.len() + chunk.len() > most_bytes {
            return Err(Unread::TooLong);
        }
        text.extend_from_slice(&chunk);
    }
    Ok(text)
}

enum Unread {
    Broken(reqwest::Error),
    TooLong,
}

/// Redirects are followed on the host itself: the key is for no other.
fn same_host() -> Policy {
    Policy::custom(|attempt| {
        let first = attempt.previous().first().map(Url::origin);
        if attempt.previous().len() > 3 || first.is_none_or(|first| first != attempt.url().origin()) {
            attempt.stop()
        } else {
            attempt.follow()
        }
    })
}

fn secrets_of_query(url: &Url) -> Secrets {
    const NAMES: [&str; 6] = ["key", "token", "sig", "signature", "code", "auth"];
    let mut secrets = Secrets::default();
    for (name, value) in url.query_pairs() {
        let looks_like_one = value.len() >= 16 && value.bytes().any(|byte| byte.is_ascii_digit());
        if looks_like_one || names_a_secret(&name) || NAMES.contains(&name.to_ascii_lowercase().as_str()) {
            secrets.add(&value);
        }
    }
    secrets
}

/// An address without what might be secret: query and fragment.
pub(crate) fn public(url: &Url) -> Url {
    let mut public = url.clone();
    public.set_query(None);
    public.set_fragment(None);
    public
}

/// An error and its causes; the address is reported elsewhere, without its query.
fn in_words(error: &reqwest::Error) -> String {
    let mut words = match error {
        error if error.is_timeout() => "did not answer in time".to_owned(),
        error if error.is_connect() => "cannot be reached".to_owned(),
        error if error.is_body() || error.is_decode() => "broke off its answer".to_owned(),
        _ => "broke the connection".to_owned(),
    };
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        cause = error.source();
        if cause.is_none() {
            words = format!("{words} ({error})");
        }
    }
    words
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name.eq_ignore_ascii_case("localhost") || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// The proxy that the environment names for an address: `the proxy http://10.0.0.1:3128 of http_proxy`.
fn proxy_of(url: &Url, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    if is_loopback(url) {
        return None;
    }
    let host = url.host_str()?;
    let excepted = |name: &&str| {
        let name = name.trim().trim_start_matches('.');
        !name.is_empty() && (name == "*" || host == name || host.ends_with(&format!(".{name}")))
    };
    let exceptions = variable("no_proxy").or_else(|| variable("NO_PROXY")).unwrap_or_default();
    if exceptions.split(',').any(|name| excepted(&name)) {
        return None;
    }
    let names: [&str; 4] = match url.scheme() {
        "https" => ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
        _ => ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"],
    };
    let set = |name: &&str| variable(name).filter(|value| !value.is_empty());
    let (name, value) = names.iter().find_map(|name| Some((name, set(name)?)))?;
    Some(format!("the proxy {} of `{name}`", escaped(&redacted(&value))))
}

/// True where the server's certificate was refused: no repetition betters that.
fn is_untrusted(error: &reqwest::Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if let Some(rustls::Error::InvalidCertificate(_)) = error.downcast_ref() {
            return true;
        }
        // the source of an I/O error is that of the error inside, which it skips
        let inside = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        cause = match inside {
            Some(inside) => Some(inside),
            None => error.source(),
        };
    }
    false
}

/// Wait before the next attempt: a tenth of a second, doubled each time, at most half a minute; the half of it is chance, so that those
/// that failed together do not return together.
pub(crate) fn backoff(attempts: u32) -> Duration {
    let longest = 0.1 * f64::from(1_u32 << attempts.saturating_sub(1).min(9));
    Duration::from_secs_f64(longest.min(30.0) * (0.5 + 0.5 * rand::random::<f64>()))
}

#[cfg(test)]
mod tests {
    use url::Url;

    #[test]
    fn a_proxy_of_the_environment_is_named_without_its_password_and_not_for_this_machine() {
        let environment = |name: &str| match name {
            "http_proxy" => Some("http://me:secret@10.0.0.1:3128".to_owned()),
            "no_proxy" => Some("localdomain, .corp".to_owned()),
            _ => None,
        };
        let proxy = |url: &str| super::proxy_of(&Url::parse(url).unwrap(), &environment);
        let named = proxy("http://api.example.org/rerank").unwrap();
        assert!(
            named.contains("10.0.0.1:3128") && named.contains("`http_proxy`") && !named.contains("secret"),
            "{named}"
        );
        for url in [
            "http://127.0.0.1:8080/rerank",
            "http://localhost/rerank",
            "http://[::1]:80/rerank",
            "http://a.corp/rerank",
            "https://api.example.org/rerank",
        ] {
            assert_eq!(proxy(url), None, "{url}");
        }
    }

    #[test]
    fn an_error_in_the_body_of_a_success_is_that_error() {
        use serde_json::json;
        for (body, wanted) in [
            (json!({ "error": { "code": 429, "message": "busy" } }), Some(429)),
            (json!({ "error": { "code": "503" } }), Some(503)),
            (json!({ "error": { "message": "busy", "code": null }, "code": 502 }), Some(502)),
            (json!({ "error": { "code": "rate_limit_exceeded", "type": "requests" } }), Some(429)),
            (json!({ "error": { "code": 8, "status": "RESOURCE_EXHAUSTED" } }), Some(429)),
            (json!({ "type": "error", "error": { "type": "overloaded_error" } }), Some(503)),
            (json!({ "error": { "type": "invalid_request_error", "code": "context_length_exceeded" } }), Some(413)),
            (json!({ "choices": [{ "error": { "code": 502 }, "message": { "content": "" } }] }), Some(502)),
            (json!({ "choices": null }), Some(503)),
            (json!({ "error": { "code": 400 } }), Some(400)),
            (json!({ "error": "something" }), None),
            (json!({ "error": null, "choices": [] }), None),
            (json!({ "error": "", "code": 500 }), None),
            (json!({ "score": 1.0 }), None),
        ] {
            assert_eq!(super::status_in(&body), wanted, "{body}");
        }
    }
}
