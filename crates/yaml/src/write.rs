//! A tree as YAML text, in blocks: reading it again gives the same tree.

use super::tree::{Node, Value, resolve};

impl Node {
    /// The tree as YAML; sections and lists are blocks, two blanks a level.
    pub fn to_yaml(&self) -> String {
        let mut out = String::new();
        match is_block(self) {
            true => block(self, 0, &mut out),
            false => out = scalar(&self.value) + "\n",
        }
        out
    }
}

/// Sections and lists that hold something.
fn is_block(node: &Node) -> bool {
    match &node.value {
        Value::List(items) => !items.is_empty(),
        Value::Map(entries) => !entries.is_empty(),
        _ => false,
    }
}

/// Writes a block whose first line is already indented.
fn block(node: &Node, indent: usize, out: &mut String) {
    let begin = |first: bool, out: &mut String| *out += &" ".repeat(if first { 0 } else { indent });
    match &node.value {
        Value::Map(entries) => {
            for (index, (key, value)) in entries.iter().enumerate() {
                begin(index == 0, out);
                *out += &format!("{}:", text(&key.text));
                if is_block(value) {
                    // the dash of a list is indent enough
                    let deeper = indent + if matches!(value.value, Value::List(_)) { 0 } else { 2 };
                    *out += &format!("\n{}", " ".repeat(deeper));
                    block(value, deeper, out);
                } else {
                    *out += &format!(" {}\n", scalar(&value.value));
                }
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                begin(index == 0, out);
                *out += "- ";
                match is_block(item) {
                    true => block(item, indent + 2, out),
                    false => *out += &(scalar(&item.value) + "\n"),
                }
            }
        }
        _ => {}
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Number(value) if value.is_nan() => ".nan".to_owned(),
        Value::Number(value) if value.is_infinite() => if *value > 0.0 { ".inf" } else { "-.inf" }.to_owned(),
        // `{:?}` keeps the point of a whole number, and every digit
        Value::Number(value) => format!("{value:?}"),
        Value::Text(value) => match resolve(value) {
            Value::Text(_) => text(value),
            _ => format!("'{value}'"),
        },
        Value::List(_) => "[]".to_owned(),
        Value::Map(_) => "{}".to_owned(),
    }
}

/// A text as it is, where YAML gives none of its signs a meaning, else in quotes.
fn text(text: &str) -> String {
    let is_sign = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
    if text.contains(is_sign) {
        let escape = |c: char| match c {
            '"' | '\\' => format!("\\{c}"),
            c if is_sign(c) => format!("\\u{:04x}", u32::from(c)),
            c => c.to_string(),
        };
        return format!("\"{}\"", text.chars().map(escape).collect::<String>());
    }
    let is_plain = text.starts_with(|c: char| c.is_alphanumeric() || "_/.(".contains(c))
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #");
    if is_plain { text.to_owned() } else { format!("'{}'", text.replace('\'', "''")) }
}

#[cfg(test)]
mod tests {
    use super::super::tree::parse;
    use super::*;

    fn same(a: &Node, b: &Node) -> bool {
        match (&a.value, &b.value) {
            (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
            (Value::Map(a), Value::Map(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k.text == l.text && same(a, b))
            }
            (a, b) => a == b,
        }
    }

    #[test]
    fn what_is_written_reads_back_to_the_same_tree() {
        let words =
            "~ true null 7 1e3 - #a a: it's ' [a] {a *a &a !a %a @a `a` | > ? http://x/y 20news .5x --- ... C:\\dir =";
        let spaced = [
            "",
            "- a",
            "a: b",
            "a #b",
            " a",
            "a ",
            "\"",
            "a\nb\n",
            "\ttab",
            "\\n",
            "\u{7f}",
            "\u{2028}",
            "größe ×2",
            "a, b",
        ];
        let texts = words.split(' ').chain(spaced).chain(["null "]);
        for value in texts {
            let quoted = format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"));
            let quoted = quoted.replace('\t', "\\t").replace('\u{7f}', "\\x7f").replace('\u{2028}', "\\u2028");
            let tree = parse(&format!("{{ {quoted}: [{quoted}, [[{quoted}], {{ k: {quoted} }}]], z: 1 }}"), 0).unwrap();
            let written = tree.to_yaml();
            assert!(parse(&written, 0).is_ok_and(|again| same(&again, &tree)), "{value:?}:\n{written}");
        }
        let tree = parse("{ a: [], b: {}, c: [[], [1, 2.0, 1e-9, -.inf]], d: { e: { f: ~ } }, g: .5 }", 0).unwrap();
        assert_eq!(
            tree.to_yaml(),
            "a: []\nb: {}\nc:\n- []\n- - 1\n  - 2.0\n  - 1e-9\n  - -.inf\nd:\n  e:\n    f: null\ng: 0.5\n"
        );
        assert!(same(&parse(&tree.to_yaml(), 0).unwrap(), &tree));
    }
}
