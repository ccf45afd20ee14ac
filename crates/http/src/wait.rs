//! Time for which a server wants to be left alone, from the headers of its answer or from its body.
//!
//! `retry-after-ms: 1500`, `retry-after: 20`, `1m30s` or a date, and, where a quota is used up
//! (`x-ratelimit-remaining-requests: 0`), its `x-ratelimit-reset-requests: 1m30s`; the same for tokens, for a day, without a suffix, and
//! under the names `ratelimit-reset` and `anthropic-ratelimit-requests-reset`. A number that would be decades of seconds is a time since
//! 1970, in seconds or in milliseconds. A date is one of HTTP or `2026-10-21T07:29:00Z`. In a body: `retryDelay` of Google's
//! `error.details`, `retry_after`, and the headers of the provider that OpenRouter puts into `error.metadata.headers`.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;
use serde_json::Value as Json;

/// The longest wait that is distinguished from a longer one.
const LONGEST: Duration = Duration::from_secs(31 * 24 * 3600);

/// Wait that the headers ask for; `is_quota` where the answer states that a quota is used up (429).
pub(crate) fn asked_for(headers: &HeaderMap, is_quota: bool, now: SystemTime) -> Option<Duration> {
    let text = |value: &reqwest::header::HeaderValue| value.to_str().ok().map(|text| text.trim().to_owned());
    named(headers.iter().filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?))), is_quota, now)
}

pub(crate) fn asked_in(body: &Json, now: SystemTime) -> Option<Duration> {
    let error = body.get("error");
    let details = error.and_then(|error| error.get("details")).and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let places = [Some(body), error].into_iter().flatten().chain(details);
    let written = |value: &Json| match value {
        Json::Number(number) => Some(number.to_string()),
        Json::String(text) => Some(text.trim().to_owned()),
        _ => None,
    };
    let spans = places.filter_map(|place| {
        let after = ["retryDelay", "retry_after", "retryAfter"].into_iter().find_map(|name| place.get(name));
        let in_ms = place.get("retry_after_ms").and_then(Json::as_f64).and_then(|number| seconds(number / 1000.0));
        in_ms.or_else(|| retry_after(&written(after?)?, now))
    });
    let headers = error.and_then(|error| error.pointer("/metadata/headers")).and_then(Json::as_object);
    let headers =
        headers.into_iter().flatten().filter_map(|(name, value)| Some((name.to_lowercase(), written(value)?)));
    spans.chain(named(headers, true, now)).max().map(|wait| wait.min(LONGEST))
}

/// Wait that headers of these names, in lower case, and values ask for.
fn named(headers: impl Iterator<Item = (String, String)>, is_quota: bool, now: SystemTime) -> Option<Duration> {
    let headers: BTreeMap<String, String> =
        headers.filter(|(name, _)| name.starts_with("retry-after") || name.contains("ratelimit")).collect();
    let value = |name: &str| headers.get(name).map(String::as_str);
    let retry = value("retry-after-ms")
        .and_then(|text| seconds(text.parse::<f64>().ok()? / 1000.0))
        .or_else(|| value("retry-after").and_then(|text| retry_after(text, now)));
    let resets = headers.iter().filter(|(name, _)| name.contains("-reset")).filter_map(|(name, reset)| {
        let remaining = value(&name.replace("-reset", "-remaining")).and_then(|text| text.parse::<f64>().ok());
        // a server that names no number of remaining requests, only that the quota is used up
        let is_used_up = remaining.map_or(is_quota && retry.is_none(), |remaining| remaining <= 0.0);
        retry_after(reset, now).filter(|_| is_used_up)
    });
    resets.chain(retry).max().map(|wait| wait.min(LONGEST))
}

/// Seconds from now or since 1970, milliseconds since 1970, a span, or a date.
fn retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    let until = |then: SystemTime| then.duration_since(now).unwrap_or_default();
    let since_1970 = |number: f64| SystemTime::UNIX_EPOCH.checked_add(seconds(number)?).map(until);
    match text.parse::<f64>() {
        // from 2017 to 5138
        Ok(number) if (1.5e9..1e11).contains(&number) => since_1970(number),
        Ok(number) if (1.5e12..1e14).contains(&number) => since_1970(number / 1000.0),
        Ok(number) => seconds(number),
        Err(_) if !text.is_empty() => {
            span(text).or_else(|| httpdate::parse_http_date(text).ok().map(until)).or_else(|| iso_date(text).map(until))
        }
        Err(_) => None,
    }
}

/// `2026-10-21T07:29:00Z`, with a fraction or without, in UTC.
fn iso_date(text: &str) -> Option<SystemTime> {
    let (date, time) = text.strip_suffix('Z').or_else(|| text.strip_suffix("+00:00"))?.split_once(['T', ' '])?;
    let date: Vec<i64> = date.split('-').map(str::parse).collect::<Result<_, _>>().ok()?;
    let time: Vec<f64> = time.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    let (&[year, month, day], &[hour, minute, second]) = (date.as_slice(), time.as_slice()) else { return None };
    if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // days since 1970 of the proleptic Gregorian calendar, its years from March on
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    let since = days as f64 * 86400.0 + hour * 3600.0 + minute * 60.0 + second;
    SystemTime::UNIX_EPOCH.checked_add(seconds(since)?)
}

/// `1m30s`, `7.66s`, `250ms`, `2h`.
fn span(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let units = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        total += number
            * match &rest[..units] {
                "ms" => 1e-3,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                "d" => 86400.0,
                _ => return None,
            };
        rest = &rest[units..];
    }
    seconds(total)
}

fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number).ok()
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn asked(pairs: &[(&'static str, &'static str)]) -> Option<f64> {
        let headers =
            pairs.iter().map(|&(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let now = httpdate::parse_http_date("Wed, 21 Oct 2026 07:28:00 GMT").unwrap();
        asked_for(&headers.collect(), false, now).map(|wait| wait.as_secs_f64())
    }

    #[test]
    fn every_form_of_a_wait_is_understood() {
        assert_eq!(asked(&[]), None);
        assert_eq!(asked(&[("retry-after", "20")]), Some(20.0));
        assert_eq!(asked(&[("retry-after-ms", "1500"), ("retry-after", "20")]), Some(1.5));
        assert_eq!(asked(&[("retry-after", "Wed, 21 Oct 2026 07:29:00 GMT")]), Some(60.0));
        assert_eq!(asked(&[("retry-after", "Wed, 21 Oct 2020 07:29:00 GMT")]), Some(0.0));
        assert_eq!(
            asked(&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "1m30.5s")]),
            Some(90.5)
        );
        assert_eq!(asked(&[("x-ratelimit-remaining-requests", "3"), ("x-ratelimit-reset-requests", "1h")]), None);
        assert_eq!(asked(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "250ms")]), Some(0.25));
    }

    #[test]
    fn a_time_since_1970_and_a_date_are_a_wait_until_then() {
        // now is 2026-10-21T07:28:00Z = 1792567680
        let wait = |text: &'static str| asked(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", text)]);
        assert_eq!(wait("1792567740"), Some(60.0));
        assert_eq!(wait("1792567681500"), Some(1.5));
        assert_eq!(wait("2026-10-21T07:29:00Z"), Some(60.0));
        assert_eq!(wait("2026-10-21T07:28:00.250Z"), Some(0.25));
        assert_eq!(wait("2026-03-01T00:00:00Z"), Some(0.0));
        assert_eq!(wait("Wed, 21 Oct 2026 07:29:00 GMT"), Some(60.0));
        assert_eq!(asked(&[("retry-after", "1m30s")]), Some(90.0));
    }

    #[test]
    fn a_quota_of_the_day_is_a_wait_under_every_name() {
        for (remaining, reset) in [
            ("x-ratelimit-remaining-requests-day", "x-ratelimit-reset-requests-day"),
            ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
            ("ratelimit-remaining", "ratelimit-reset"),
        ] {
            assert_eq!(asked(&[(remaining, "0"), (reset, "54000")]), Some(54000.0), "{reset}");
            assert_eq!(asked(&[(remaining, "7"), (reset, "54000")]), None, "{reset}");
        }
        let headers =
            HeaderMap::from_iter([(HeaderName::from_static("x-ratelimit-reset"), HeaderValue::from_static("54000"))]);
        assert_eq!(asked_for(&headers, true, SystemTime::now()), Some(Duration::from_secs(54000)));
        assert_eq!(asked_for(&headers, false, SystemTime::now()), None, "no status states that a quota is used up");
    }

    #[test]
    fn a_wait_in_the_body_is_understood() {
        use serde_json::json;
        let now = httpdate::parse_http_date("Wed, 21 Oct 2026 07:28:00 GMT").unwrap();
        for (body, wanted) in [
            (
                json!({ "error": { "code": 429, "details": [{ "reason": "x" }, { "retryDelay": "38.5s" }] } }),
                Some(38.5),
            ),
            (json!({ "error": { "retry_after": 7 } }), Some(7.0)),
            (json!({ "retry_after_ms": 250 }), Some(0.25)),
            (
                json!({ "error": { "metadata": { "headers": {
                    "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1792567740000"
                } } } }),
                Some(60.0),
            ),
            (json!({ "error": "retry_after" }), None),
            (json!([1]), None),
        ] {
            assert_eq!(asked_in(&body, now).map(|wait| wait.as_secs_f64()), wanted, "{body}");
        }
    }

    #[test]
    fn nonsense_is_no_wait() {
        for text in ["", "soon", "-5", "NaN", "1e400", "5 parsecs"] {
            let header = HeaderValue::from_str(text).unwrap();
            let headers = HeaderMap::from_iter([(HeaderName::from_static("retry-after"), header)]);
            assert_eq!(asked_for(&headers, true, SystemTime::now()), None, "{text}");
        }
        assert_eq!(asked(&[("retry-after", "1e9")]), Some(LONGEST.as_secs_f64()));
    }
}
