//! Time for which a server wants to be left alone, from the headers of its answer.
//!
//! `retry-after-ms: 1500`, `retry-after: 20`, `1m30s` or a date, and, where a quota is used up
//! (`x-ratelimit-remaining-requests: 0`), its `x-ratelimit-reset-requests: 1m30s`; the same for tokens, and without a suffix.
//! A number that would be decades of seconds is a time since 1970, in seconds or in milliseconds. A date is one of HTTP or
//! `2026-10-21T07:29:00Z`.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

/// Nobody waits longer on the word of a header.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Wait that the headers ask for.
pub(crate) fn asked_for(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let retry = value("retry-after-ms")
        .and_then(|text| seconds(text.parse::<f64>().ok()? / 1000.0))
        .or_else(|| value("retry-after").and_then(|text| retry_after(text, now)));
    let resets = ["", "-requests", "-tokens"].into_iter().filter_map(|quota| {
        let remaining: f64 = value(&format!("x-ratelimit-remaining{quota}"))?.parse().ok()?;
        let reset = value(&format!("x-ratelimit-reset{quota}")).filter(|_| remaining <= 0.0)?;
        retry_after(reset, now)
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
        asked_for(&headers.collect(), now).map(|wait| wait.as_secs_f64())
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
    fn nonsense_is_no_wait() {
        for text in ["", "soon", "-5", "NaN", "1e400", "5 parsecs"] {
            let header = HeaderValue::from_str(text).unwrap();
            let headers = HeaderMap::from_iter([(HeaderName::from_static("retry-after"), header)]);
            assert_eq!(asked_for(&headers, SystemTime::now()), None, "{text}");
        }
        assert_eq!(asked(&[("retry-after", "1e9")]), Some(LONGEST.as_secs_f64()));
    }
}
