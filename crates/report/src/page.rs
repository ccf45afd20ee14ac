//! `report.html`: one file that needs nothing else. Type, figures, style and the few lines of script are inside; no address is ever asked.

use askama::Template;

use crate::claims::{ClaimVerdict, JudgedClaim, claims_sentence};
use crate::error::ReportError;
use crate::figure::{Drawing, Palette, draw_plot};
use crate::input::{HOW_TO_READ_A_MATRIX, ReportInput, how_to_read};
use crate::markup::{INTER_REGULAR, INTER_SEMIBOLD, base64, with_code};
use crate::matrix_page::{self, MatrixPage};
use crate::spec::FigureSpec;
use crate::table::{Mark, Table};

pub(super) struct Section<'a> {
    pub(super) input: &'a ReportInput<'a>,
    pub(super) outcome: Option<String>,
    pub(super) tables: Vec<Table>,
    pub(super) drawings: Vec<Drawing>,
}

/// Head of a page of several configurations.
pub(super) struct Cover<'a> {
    pub(super) title: &'a str,
    pub(super) claims: &'a [JudgedClaim],
    /// Configurations without results, each with the command that makes them.
    pub(super) missing: &'a [String],
    /// Configurations whose own pages it links to.
    pub(super) apart: &'a [ReportInput<'a>],
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: &'a str,
    cover: Option<CoverView<'a>>,
    sections: Vec<View<'a>>,
    how_to_read: &'static str,
    regular: String,
    semibold: String,
    inks: Vec<InkView>,
    /// Style and script of the parts that are about a matrix, where there are any.
    matrix_style: Option<&'static str>,
    matrix_script: Option<&'static str>,
}

struct CoverView<'a> {
    title: &'a str,
    outcome: Option<String>,
    claims: &'a [JudgedClaim],
    missing: &'a [String],
    apart: &'a [ReportInput<'a>],
}

struct InkView {
    name: &'static str,
    light: String,
    dark: &'static str,
}

struct View<'a> {
    input: &'a ReportInput<'a>,
    outcome: Option<&'a str>,
    /// Those that the cover does not show already.
    claims: &'a [JudgedClaim],
    paper: Option<&'a str>,
    tables: &'a [Table],
    figures: Vec<FigureView<'a>>,
    provenance: Vec<(String, String)>,
    /// The part about a factored matrix, as HTML.
    matrix: Option<String>,
    /// Anchors and titles of its chapters.
    contents: Vec<(&'a str, &'a str)>,
}

struct FigureView<'a> {
    id: &'a str,
    title: &'a str,
    caption: &'a str,
    svg: &'a str,
}

pub(super) fn render(cover: Option<Cover<'_>>, sections: &[Section<'_>]) -> Result<String, ReportError> {
    let views = sections.iter().map(|section| View::of(section, cover.is_some())).collect::<Result<Vec<_>, _>>()?;
    let has_matrix = sections.iter().any(|section| section.input.matrix.is_some());
    let sections_title = sections.first().map_or("", |section| section.input.title.as_str());
    let page = Page {
        title: cover.as_ref().map_or(sections_title, |cover| cover.title),
        sections: views,
        cover: cover.as_ref().map(|cover| CoverView {
            title: cover.title,
            outcome: claims_sentence(cover.claims).map(|text| text + "."),
            claims: cover.claims,
            missing: cover.missing,
            apart: cover.apart,
        }),
        how_to_read: if has_matrix {
            HOW_TO_READ_A_MATRIX
        } else {
            how_to_read(sections.iter().find_map(|section| section.input.reference))
        },
        regular: base64(INTER_REGULAR),
        semibold: base64(INTER_SEMIBOLD),
        inks: Palette::all().map(|ink| InkView { name: ink.name, light: ink.hex(), dark: ink.dark }).collect(),
        matrix_style: has_matrix.then_some(matrix_page::STYLE),
        matrix_script: has_matrix.then_some(matrix_page::SCRIPT),
    };
    Ok(page.render()?)
}

impl<'a> View<'a> {
    /// One configuration; what the cover shows is not shown again.
    fn of(section: &'a Section<'a>, has_cover: bool) -> Result<Self, ReportError> {
        let input = section.input;
        let figure = |(spec, drawing): (&'a FigureSpec, &'a Drawing)| FigureView {
            id: &spec.id,
            title: &spec.title,
            caption: &spec.caption,
            svg: &drawing.on_page,
        };
        let lead = input.matrix.map(|matrix| matrix.lead.as_str()).filter(|lead| !lead.is_empty());
        Ok(Self {
            input,
            outcome: lead.or(section.outcome.as_deref()),
            claims: if has_cover { &[] } else { &input.claims },
            paper: input.reference.map(|reference| reference.paper.as_str()),
            tables: &section.tables,
            figures: input.figures.iter().zip(&section.drawings).map(figure).collect(),
            provenance: flatten(&input.provenance),
            matrix: input
                .matrix
                .map(|matrix| matrix_page::render(&input.config_name, matrix, draw_plot))
                .transpose()?,
            contents: input.matrix.map(MatrixPage::contents).unwrap_or_default(),
        })
    }

    /// True if two of the chapters, figures and tables have this title, so that links to them need more words.
    fn is_twice(&self, title: &str) -> bool {
        let chapters = self.contents.iter().map(|(_, title)| *title);
        let figures = self.figures.iter().map(|figure| figure.title);
        let tables = self.tables.iter().map(|table| table.title.as_str());
        chapters.chain(figures).chain(tables).filter(|other| *other == title).count() > 1
    }
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

impl JudgedClaim {
    fn class(&self) -> &'static str {
        match self.verdict {
            ClaimVerdict::Holds => "good",
            ClaimVerdict::DoesNotHold => "bad",
            ClaimVerdict::Untested(_) => "faint",
        }
    }

    fn evidence(&self) -> &str {
        match &self.verdict {
            ClaimVerdict::Untested(why) => why,
            _ => &self.numbers,
        }
    }
}

impl Mark {
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
    use crate::browser::{Browser, Picture};
    use crate::fixture;

    fn fixture_page() -> String {
        let (rows, reference) = (fixture::rows(), fixture::reference());
        let rendered = crate::render(&fixture::input(&rows, &reference)).unwrap();
        let (_, page) = rendered.files.into_iter().find(|(name, _)| name == "report.html").unwrap();
        String::from_utf8(page).unwrap()
    }

    #[test]
    fn in_a_browser_the_page_fits_a_narrow_screen_and_its_tables_sort() {
        let Some(browser) = Browser::find() else { return };
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
        let seen = browser.open(&fixture_page().replace("</body>", probe), &["--window-size=500,900", "--dump-dom"]);
        assert!(seen.contains("fits true, least 0.072, most 14.172 ± 0.954, fonts 2"), "{seen}");
    }

    #[test]
    fn in_a_browser_it_is_seen_in_light_and_dark_on_a_desk_and_a_phone() {
        let Some(browser) = Browser::find() else { return };
        let page = fixture_page();
        let without_figures =
            page.replace("svg.wide, svg.narrow { display: block;", "svg.wide, svg.narrow { display: none !important;");
        assert_ne!(page, without_figures);
        let share = |picture: &Picture, is_it: &dyn Fn([u8; 3]) -> bool| {
            picture.pixels.iter().filter(|pixel| is_it(**pixel)).count() as f64 / picture.pixels.len() as f64
        };
        let brightness = |pixel: [u8; 3]| pixel.map(u32::from).iter().sum::<u32>() / 3;
        let is_colored = |pixel: [u8; 3]| pixel.iter().max().zip(pixel.iter().min()).is_some_and(|(a, b)| a - b > 90);
        for (size, is_dark) in [((1280, 9000), false), ((1280, 9000), true), ((420, 9000), false)] {
            let seen = browser.photograph(&page, size, is_dark);
            assert_eq!(seen.size, size);
            let ground = if is_dark { [0x0d, 0x0f, 0x12] } else { [0xf6, 0xf7, 0xf9] };
            assert_eq!(seen.pixels[0], ground);
            // type stands out from its paper
            let ink = share(&seen, &|pixel| if is_dark { brightness(pixel) > 170 } else { brightness(pixel) < 85 });
            assert!((0.002..0.3).contains(&ink), "{size:?}, dark {is_dark}: {ink} is ink");
            // what has colors besides verdicts and warnings is figures
            let bare = browser.photograph(&without_figures, size, is_dark);
            let [colored, bare] = [&seen, &bare].map(|picture| share(picture, &is_colored));
            assert!(colored > 1.5 * bare, "{size:?}, dark {is_dark}: {colored} is colored, {bare} without figures");
        }
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
