//! `report.html`: one file that needs nothing else. Type, figures, style and the few lines of script are inside; no address is ever asked.

use askama::Template;

use super::figure::{Drawing, Palette};
use super::table::{Mark, Table};
use super::{INTER_REGULAR, INTER_SEMIBOLD, Rendered, ReportError, ReportInput, escape_markup};

/// One configuration on the page.
pub(super) struct Section<'a> {
    pub(super) input: &'a ReportInput<'a>,
    pub(super) tables: &'a [Table],
    pub(super) drawings: &'a [Drawing],
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: &'a str,
    sections: Vec<View<'a>>,
    how_to_read: &'static str,
    regular: String,
    semibold: String,
    inks: Vec<InkView>,
}

struct InkView {
    name: &'static str,
    light: String,
    dark: &'static str,
}

struct View<'a> {
    input: &'a ReportInput<'a>,
    paper: Option<&'a str>,
    tables: &'a [Table],
    figures: Vec<FigureView<'a>>,
    provenance: Vec<(String, String)>,
}

struct FigureView<'a> {
    id: &'a str,
    title: &'a str,
    caption: &'a str,
    svg: String,
}

/// Fills the page.
pub(super) fn render(sections: &[Section<'_>]) -> Result<String, ReportError> {
    let views = sections.iter().map(|section| View {
        input: section.input,
        paper: section.input.reference.map(|reference| reference.paper.as_str()),
        tables: section.tables,
        figures: section
            .input
            .figures
            .iter()
            .zip(section.drawings)
            .map(|(spec, drawing)| FigureView {
                id: &spec.id,
                title: &spec.title,
                caption: &spec.caption,
                svg: inline(&drawing.svg, &spec.title),
            })
            .collect(),
        provenance: flatten(&section.input.provenance),
    });
    let page = Page {
        title: sections.first().map_or("", |section| section.input.title.as_str()),
        sections: views.collect(),
        how_to_read: Rendered::HOW_TO_READ,
        regular: base64(INTER_REGULAR),
        semibold: base64(INTER_SEMIBOLD),
        inks: Palette::all().map(|ink| InkView { name: ink.name, light: ink.hex(), dark: ink.dark }).collect(),
    };
    Ok(page.render()?)
}

/// A figure for the page: colours become CSS variables, so that they follow the reader's light or dark screen; the paper rectangle goes.
fn inline(svg: &str, title: &str) -> String {
    let (_, body) = svg.split_once(">\n").unwrap_or(("", svg));
    let head = &svg[..svg.len() - body.len() - 2];
    let view_box =
        head.split_once("viewBox=\"").and_then(|(_, rest)| rest.split_once('"')).map_or("", |(value, _)| value);
    let width = head.split_once("width=\"").and_then(|(_, rest)| rest.split_once('"')).map_or("", |(value, _)| value);
    let mut body: String = body
        .lines()
        .enumerate()
        // line 0 is the title, line 1 the paper
        .filter(|(number, _)| *number > 1)
        .flat_map(|(_, line)| [line, "\n"])
        .collect();
    for ink in Palette::all() {
        body = body.replace(&format!("\"{}\"", ink.hex()), &format!("\"var(--{})\"", ink.name));
    }
    format!(
        "<svg viewBox=\"{view_box}\" style=\"--natural:{width}px\" role=\"img\" aria-label=\"{}\" stroke-linejoin=\"round\">\n{body}",
        escape_markup(title)
    )
}

/// `git.revision`, `0123abc`: one line per leaf.
fn flatten(value: &serde_json::Value) -> Vec<(String, String)> {
    fn walk(path: &str, value: &serde_json::Value, out: &mut Vec<(String, String)>) {
        use serde_json::Value;
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    walk(&path, value, out);
                }
            }
            Value::Array(values) if values.iter().all(|value| !value.is_object() && !value.is_array()) => {
                out.push((path.to_string(), values.iter().map(plain).collect::<Vec<_>>().join(", ")));
            }
            Value::Array(values) => {
                for (index, value) in values.iter().enumerate() {
                    walk(&format!("{path}.{index}"), value, out);
                }
            }
            Value::Null => {}
            leaf => out.push((path.to_string(), plain(leaf))),
        }
    }
    fn plain(value: &serde_json::Value) -> String {
        value.as_str().map_or_else(|| value.to_string(), str::to_string)
    }
    let mut out = Vec::new();
    walk("", value, &mut out);
    out
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
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

impl Mark {
    /// CSS class.
    fn class(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Best => "best",
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Even => "even",
            Self::Faint => "faint",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture;

    #[test]
    fn base64_agrees_with_the_rfc() {
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    /// Needs a browser; says so where there is none.
    #[test]
    fn in_a_browser_the_page_fits_a_narrow_screen_and_its_tables_sort() {
        let Some(browser) = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| is_program(name))
        else {
            eprintln!("skipped: no chromium on this machine");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let (rows, reference) = (fixture::rows(), fixture::reference());
        let page = crate::report::render_page(&[fixture::input(&rows, &reference)]).unwrap();
        // what a reader would do, then what he sees, as a line of the page
        let probe = "<script>
            const head = document.querySelectorAll('#fixture-table5 th button')[4];
            head.click();
            const text = () => document.querySelector('#fixture-table5 tbody tr').children[4].textContent;
            const up = text();
            head.click();
            const fits = document.documentElement.scrollWidth <= innerWidth;
            const font = [...document.fonts].length;
            document.body.innerHTML = `<p>fits ${fits}, least ${up}, most ${text()}, fonts ${font}</p>`;
        </script></body>";
        let path = folder.path().join("report.html");
        std::fs::write(&path, page.replace("</body>", probe)).unwrap();
        let answer = std::process::Command::new(browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--window-size=500,900",
                "--dump-dom",
            ])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg(format!("file://{}", path.display()))
            .output()
            .unwrap();
        let seen = String::from_utf8_lossy(&answer.stdout);
        assert!(seen.contains("fits true, least 0.072, most 14.172 ± 0.954, fonts 2"), "{seen}");
    }

    fn is_program(name: &str) -> bool {
        std::process::Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    }

    #[test]
    fn provenance_becomes_one_line_per_leaf() {
        let value =
            serde_json::json!({ "git": { "dirty": false }, "seeds": [1, 2], "none": null, "runs": [{ "n": 1 }] });
        let lines = flatten(&value);
        let expected = [("git.dirty", "false"), ("seeds", "1, 2"), ("runs.0.n", "1")];
        assert_eq!(lines, expected.map(|(key, value)| (key.to_string(), value.to_string())));
    }
}
