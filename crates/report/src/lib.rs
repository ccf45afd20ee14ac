//! From rows to paper-ready tables, figures and one self-contained page.
//!
//! Each experiment describes what it wants with [`TableSpec`]s and [`FigureSpec`]s. A report that could be mistaken for the paper's is worse than
//! none: whatever was reduced is stamped on every table and takes the verdicts away, with the reason in a footnote.

use std::path::{Path, PathBuf};

pub mod amounts;
#[cfg(test)]
mod browser;
mod claims;
pub mod columns;
pub mod differences;
mod error;
mod figure;
#[cfg(test)]
mod fixture;
mod groups;
mod input;
mod latex;
mod markdown;
mod markup;
mod matrix_page;
mod outcome;
mod page;
mod plot;
mod reference;
mod results;
mod spec;
mod table;
mod verdict;

pub use claims::{
    Claim, ClaimVerdict, Claims, ClaimsError, Exhibit, JudgedClaim, KnownNames, Published, PublishedRun, claims_table,
    folders_of, index,
};
pub use error::ReportError;
pub use groups::half_width;
pub use input::ReportInput;
pub use matrix_page::{Chapter, Coloring, Confusion, ItemMap, Listed, Listing, MapLayout, MatrixPage, Near, Tile};
pub use plot::{Mark, Plot, PlotAxis};
pub use reference::{Fact, Reference, ReferenceError, ReferenceValue};
pub use results::{
    AXES, Axes, Axis, CellKey, Cost, Direction, FileError, Interval, Metric, MetricSpec, Notation, Place, ResultRow,
    ResultStore, ResultsError, Subject, Variant, cell_key, check_writable, refuse_links, rows_from_parquet, write_file,
};
pub use spec::{Caveat, FigureKind, FigureSpec, GraphPanel, Selection, TableKind, TableSpec, distinct};
pub use verdict::VerdictCounts;

/// Everything a report is written as, in memory.
#[derive(Debug, Clone)]
pub struct Rendered {
    /// File name and content: `summary.md`, `table*.tex`, `figure*.svg`, `figure*.png`, `report.html`.
    pub files: Vec<(String, Vec<u8>)>,
    /// Comparisons with the paper in its tables.
    pub verdicts: VerdictCounts,
}

impl Rendered {
    /// Writes all files into a folder, each whole or not at all; what is already there with the same bytes is left alone.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, ReportError> {
        let write = |(name, bytes): &(String, Vec<u8>)| {
            let path = folder.join(name);
            write_file(&path, bytes)?;
            Ok(path)
        };
        self.files.iter().map(write).collect()
    }
}

/// Renders a report: a pure function of its input.
pub fn render(input: &ReportInput<'_>) -> Result<Rendered, ReportError> {
    let section = section(input)?;
    let verdicts = outcome::verdict_counts(&section.tables);
    let mut files = vec![(
        "summary.md".to_string(),
        markdown::summary(input, section.outcome.as_deref(), &section.tables).into_bytes(),
    )];
    for table in &section.tables {
        files.push((format!("{}.tex", table.id), latex::table(table, input).into_bytes()));
    }
    for (spec, drawing) in input.figures.iter().zip(&section.drawings) {
        files.push((format!("{}.svg", spec.id), drawing.svg.clone().into_bytes()));
        files.push((format!("{}.png", spec.id), drawing.png.clone()));
    }
    files.push(("report.html".to_string(), page::render(None, &[section])?.into_bytes()));
    Ok(Rendered { files, verdicts })
}

/// Bytes of a page of several configurations above which it links to the page of each.
const LARGEST_PAGE: usize = 5_000_000;

/// Renders one page for several configurations: a whole paper, below its title, all of its claims, and what is not run yet. A page above
/// 5 MB links to `../NAME/report.html` of each configuration instead.
pub fn render_page(
    title: &str,
    claims: &[JudgedClaim],
    missing: &[String],
    inputs: &[ReportInput<'_>],
) -> Result<String, ReportError> {
    page_up_to(LARGEST_PAGE, title, claims, missing, inputs)
}

fn page_up_to(
    most: usize,
    title: &str,
    claims: &[JudgedClaim],
    missing: &[String],
    inputs: &[ReportInput<'_>],
) -> Result<String, ReportError> {
    let sections = inputs.iter().map(section).collect::<Result<Vec<_>, _>>()?;
    let page = page::render(Some(page::Cover { title, claims, missing, apart: &[] }), &sections)?;
    if page.len() <= most {
        return Ok(page);
    }
    page::render(Some(page::Cover { title, claims, missing, apart: inputs }), &[])
}

fn section<'a>(input: &'a ReportInput<'a>) -> Result<page::Section<'a>, ReportError> {
    check_ids(input)?;
    let tables: Vec<_> = input.tables.iter().map(|spec| table::Table::build(spec, input)).collect::<Result<_, _>>()?;
    let drawings = input.figures.iter().map(|spec| figure::draw(spec, input)).collect::<Result<_, _>>()?;
    let outcome = outcome::sentence(input, &tables).or_else(|| input.conclusion.clone());
    Ok(page::Section { input, outcome, tables, drawings })
}

fn check_ids(input: &ReportInput<'_>) -> Result<(), ReportError> {
    let ids = input.tables.iter().map(|table| &table.id).chain(input.figures.iter().map(|figure| &figure.id));
    let mut seen: Vec<&String> = Vec::new();
    for id in ids {
        if seen.contains(&id) {
            return Err(ReportError::SameId(id.clone()));
        }
        seen.push(id);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::OnceLock;

    fn fresh() -> Rendered {
        let (rows, reference) = (fixture::rows(), fixture::reference());
        render(&fixture::input(&rows, &reference)).unwrap()
    }

    fn rendered() -> &'static Rendered {
        static ONCE: OnceLock<Rendered> = OnceLock::new();
        ONCE.get_or_init(fresh)
    }

    fn text(rendered: &Rendered, name: &str) -> String {
        let (_, bytes) = rendered.files.iter().find(|(file, _)| file == name).unwrap();
        String::from_utf8(bytes.clone()).unwrap()
    }

    #[test]
    fn summary_reads_as_agreed() {
        insta::assert_snapshot!("summary", text(rendered(), "summary.md"));
    }

    #[test]
    fn latex_tables_read_as_agreed() {
        let rendered = rendered();
        insta::assert_snapshot!("table5_tex", text(rendered, "table5.tex"));
        insta::assert_snapshot!("table_entries_tex", text(rendered, "table_entries.tex"));
    }

    #[test]
    fn the_same_rows_give_the_same_bytes_whatever_the_order_of_work() {
        let first = rendered();
        let second = std::thread::spawn(fresh).join().unwrap();
        for ((name, first), (_, second)) in first.files.iter().zip(&second.files) {
            assert_eq!(blake3::hash(first), blake3::hash(second), "{name}");
        }
    }

    #[test]
    fn the_page_asks_no_address() {
        let page = text(rendered(), "report.html");
        let page = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        for sign in ["http:", "https:", "src=\"", "@import", "<link", "url(//"] {
            assert!(!page.contains(sign), "{sign}");
        }
        assert_eq!(page.matches("url(").count(), page.matches("url(data:").count());
    }

    #[test]
    fn figures_and_page_are_well_formed() {
        let rendered = rendered();
        for (name, bytes) in &rendered.files {
            if name.ends_with(".svg") || name.ends_with(".html") {
                let text = String::from_utf8(bytes.clone()).unwrap();
                assert_eq!(unbalanced(&text), None, "{name}");
            }
            if name.ends_with(".png") {
                assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n", "{name}");
            }
        }
    }

    /// The first tag that closes what was not open, or stays open.
    fn unbalanced(text: &str) -> Option<String> {
        const VOID: [&str; 2] = ["meta", "!doctype"];
        let mut open: Vec<&str> = Vec::new();
        // script and style hold no markup
        let strip = |text: &str, tag: &str| {
            let (before, rest) = text.split_once(&format!("<{tag}>")).unwrap_or((text, ""));
            let after = rest.split_once(&format!("</{tag}>")).map_or("", |(_, after)| after);
            format!("{before}{after}")
        };
        let text = strip(&strip(text, "style"), "script");
        for piece in text.split('<').skip(1) {
            let Some((tag, _)) = piece.split_once('>') else { return Some(piece.to_string()) };
            if tag.matches('"').count() % 2 == 1 {
                return Some(tag.to_string());
            }
            let name = tag.split([' ', '\n', '/']).find(|part| !part.is_empty()).unwrap_or("");
            if tag.starts_with('/') {
                if open.pop() != Some(name) {
                    return Some(tag.to_string());
                }
            } else if !tag.ends_with('/') && !VOID.contains(&name) {
                open.push(name);
            }
        }
        open.pop().map(str::to_string)
    }

    #[test]
    fn the_page_escapes_what_users_write() {
        let page = text(rendered(), "report.html");
        assert!(!page.contains("<mood>"));
        assert!(page.contains("&#60;mood&#62;") || page.contains("&lt;mood&gt;"));
    }

    #[test]
    fn links_to_a_figure_and_a_table_of_one_title_get_distinct_names() {
        let (rows, reference) = (fixture::rows(), fixture::reference());
        let mut input = fixture::input(&rows, &reference);
        input.figures[0].title.clone_from(&input.tables[0].title);
        let page = text(&render(&input).unwrap(), "report.html");
        let link = |kind: &str| format!("\">{} ({kind})</a></li>", input.tables[0].title);
        assert!(page.contains(&link("figure")) && page.contains(&link("table")));
        assert!(!text(rendered(), "report.html").contains(" (figure)</a></li>"));
    }

    #[test]
    fn a_whole_paper_fits_on_one_page() {
        let (rows, reference) = (fixture::rows(), fixture::reference());
        let one = fixture::input(&rows, &reference);
        let other = ReportInput { config_name: "second".into(), title: "Another table".into(), ..one.clone() };
        let missing = ["A third table: `landmark third.yaml`".to_owned()];
        let page = render_page("A paper", &one.claims.clone(), &missing, &[one.clone(), other]).unwrap();
        assert!(page.contains("<h1>A paper</h1>") && page.contains("1 of 2 claims of the paper holds"));
        assert!(page.contains("id=\"fixture-table5\"") && page.contains("id=\"second-table5\""));
        assert_eq!(page.matches("@font-face").count(), 2);
        assert!(page.contains("<li>A third table: <code>landmark third.yaml</code></li>"));
        assert!(!render_page("A paper", &[], &[], &[one]).unwrap().contains("Not run yet"));
    }

    #[test]
    fn a_page_above_its_size_links_to_the_page_of_each_configuration() {
        let (rows, reference) = (fixture::rows(), fixture::reference());
        let one = fixture::input(&rows, &reference);
        let whole = render_page("A paper", &one.claims, &[], std::slice::from_ref(&one)).unwrap();
        let split = page_up_to(whole.len() - 1, "A paper", &one.claims.clone(), &[], &[one]).unwrap();
        assert!(split.contains("<a href=\"../fixture/report.html\">") && split.contains("Claims of the paper"));
        assert!(!split.contains("id=\"fixture-table5\"") && split.len() < whole.len());
    }

    #[test]
    fn a_reduced_run_cannot_pass_for_the_papers() {
        let (rows, reference) = (fixture::rows(), fixture::reference());
        let mut input = fixture::input(&rows, &reference);
        input.caveats =
            vec![Caveat { dataset: None, text: "profile laptop: 600 documents".into(), breaks_comparison: true }];
        let rendered = render(&input).unwrap();
        let summary = text(&rendered, "summary.md");
        let is_word =
            |line: &str| ["within", "better", "worse", "not comparable"].iter().any(|word| line.contains(word));
        let of_methods = || summary.lines().filter(|line| line.starts_with("| S"));
        assert!(of_methods().count() > 0 && !of_methods().any(is_word), "{summary}");
        assert!(summary.contains("¹ not comparable with the paper: profile laptop: 600 documents"), "{summary}");
        for name in ["summary.md", "table5.tex", "table_rank.tex", "figure3.svg", "report.html"] {
            assert!(text(&rendered, name).contains("profile laptop: 600 documents"), "{name}");
        }
    }

    #[test]
    fn a_figure_without_a_row_and_a_repeated_id_are_refused() {
        let (rows, reference) = (fixture::rows(), fixture::reference());
        let mut input = fixture::input(&rows, &reference);
        input.figures[0].select.datasets = vec!["nowhere".into()];
        let error = render(&input).unwrap_err().to_string();
        assert!(error.contains("figure `figure3` has no row of `relative_error`"), "{error}");
        let mut input = fixture::input(&rows, &reference);
        input.tables[1].id = "figure3".into();
        assert!(render(&input).unwrap_err().to_string().contains("`figure3`"));
    }

    #[test]
    fn writing_twice_leaves_the_files_alone() {
        let folder = tempfile::tempdir().unwrap();
        let rendered = rendered();
        let paths = rendered.write(folder.path()).unwrap();
        let times =
            || -> Vec<_> { paths.iter().map(|path| std::fs::metadata(path).unwrap().modified().unwrap()).collect() };
        let before = times();
        std::thread::sleep(std::time::Duration::from_millis(20));
        rendered.write(folder.path()).unwrap();
        assert_eq!(times(), before);
    }
}
