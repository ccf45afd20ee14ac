//! Numbers as a person reads them: counts, sizes, times.

/// `1234567.8` → `1,234,567.8`.
pub fn thousands(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("−", rest));
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut out = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

/// `1234567` as `1,234,567`.
pub fn count(number: u64) -> String {
    thousands(&number.to_string())
}

/// `1 pair`, `1,234 pairs`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// `45,900 of 124,750 pairs (37 %)`.
pub fn share(part: u64, whole: u64, noun: &str) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    let percent = match percent {
        p if p > 0.0 && p < 0.1 => "below 0.1".to_owned(),
        p if p < 9.95 && part > 0 && part < whole => format!("{p:.1}"),
        p => format!("{p:.0}"),
    };
    format!("{} of {} {noun} ({percent} %)", count(part), count(whole))
}

/// A size a person can compare.
pub fn bytes(number: u64) -> String {
    let mut size = number as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if size < 1000.0 {
            return if unit == "B" { format!("{number} B") } else { format!("{size:.1} {unit}") };
        }
        size /= 1000.0;
    }
    format!("{size:.1} TB")
}

/// A time a person can wait for.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 9.5e-4 => format!("{:.1} µs", s * 1e6),
        s if s < 0.95 => format!("{:.0} ms", s * 1e3),
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}
