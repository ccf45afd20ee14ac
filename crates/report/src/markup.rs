//! Markup of SVG and HTML: escaping, and the bundled type (Inter, SIL OFL, `assets/`).

pub(crate) const INTER_REGULAR: &[u8] = include_bytes!("../assets/Inter-Regular.otf");
pub(crate) const INTER_SEMIBOLD: &[u8] = include_bytes!("../assets/Inter-SemiBold.otf");

/// Text between tags or inside a quoted attribute.
pub(crate) fn escape_markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// RFC 4648, with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, byte| (word << 8) | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = (word >> (18 - 6 * place)) & 63;
            out.push(if place <= chunk.len() { char::from(DIGITS[digit as usize]) } else { '=' });
        }
    }
    out
}

/// A sentence for the page: what stands between backticks is code, and nothing else is markup.
pub(crate) fn with_code(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        // one of them has no partner
        return escape_markup(text);
    }
    let part = |(number, part): (usize, &&str)| {
        let part = escape_markup(part);
        if number % 2 == 1 { format!("<code>{part}</code>") } else { part }
    };
    parts.iter().enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_agrees_with_the_rfc() {
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn code_is_distinguished_from_text_and_nothing_else_is_markup() {
        assert_eq!(with_code("`a<b` of `c` & d"), "<code>a&lt;b</code> of <code>c</code> &amp; d");
        assert_eq!(with_code("an odd ` <b>"), "an odd ` &lt;b&gt;");
        assert_eq!(with_code(""), "");
    }
}
