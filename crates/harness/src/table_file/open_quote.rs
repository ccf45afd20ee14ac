//! Quotes of a CSV file that are opened and never closed: a reader takes all that follows for one cell.

/// Byte at which a quote opens that the text never closes, by the rules of the reader: a quote opens at the beginning of a cell, and two
/// of them are one of the text.
pub(super) fn open_quote(text: &str, delimiter: char) -> Option<usize> {
    let delimiter = u8::try_from(delimiter).unwrap_or(b',');
    let (mut opened, mut is_beginning) = (None, true);
    let mut bytes = text.bytes().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        match opened {
            None if byte == b'"' && is_beginning => opened = Some(at),
            None => is_beginning = byte == delimiter || byte == b'\n' || byte == b'\r',
            Some(_) if byte == b'"' && bytes.next_if(|&(_, next)| next == b'"').is_none() => {
                (opened, is_beginning) = (None, false);
            }
            Some(_) => {}
        }
    }
    opened
}

#[cfg(test)]
mod tests {
    use super::open_quote;

    #[test]
    fn a_quote_is_open_where_no_other_ends_its_cell() {
        for (text, wanted) in [
            ("a,b\n1,\"two\n3,four\n", Some(6)),
            ("\"a,b\n", Some(0)),
            ("a,b\n1,\"two \"\"and\"\"\n", Some(6)),
            ("a,b\n1,\"two\"\"", Some(6)),
            ("a,b\r\n1,\"two, \"\"and\"\"\r\nmore\"\r\n3,\"\"\r\n", None),
            ("a,b\n1,tw\"o\n3,5\" long\n", None),
            ("a,b\n1,\"two\"s \"x\n", None),
            ("a;b\n1,\"two;3\n", None),
            ("", None),
        ] {
            assert_eq!(open_quote(text, if text.contains(';') { ';' } else { ',' }), wanted, "{text}");
        }
    }
}
