//! `experiment: text_sketch` — a sketch of a text file of the user's, of any size, one text a line: its directions, its bound, and Π in a file.
//!
//! The sketch is saved next to the results with the place in the file, every `save_every` texts and at the end. A run that was stopped resumes
//! there; a file that has grown is read from where it ended. Never more than the sketch, one buffer and one line are in memory.
//!
//! Several processes sketch a plain file with `--share K/N`: each takes a run of its lines and leaves its sketch in the store. The run that finds
//! all of them merges them in a tree, whose bound is as good. The sketch differs from that of one process; the table shows the number of pieces.

use std::path::Path;
use std::sync::Arc;

use landmark_data::feature_hashing::NgramHashParams;
use landmark_data::text_stream::{BadLine, LinePolicy};
use landmark_features::sketch::{Form, FrequentDirectionsParams, Projection};
use landmark_harness::config::values::ConfigPath;
use landmark_harness::config::{Reading, RunSettings};
use landmark_harness::facts::Facts;
use landmark_harness::layout::{About, Layout};
use landmark_harness::progress::Progress;
use landmark_harness::share::Share;
use landmark_harness::study::{Finished, Part, Study, StudyContext, StudyEntry, StudyError, StudyWork, row};
use landmark_report::{FigureKind, FigureSpec, Metric, ResultRow, Selection, Subject, TableKind, TableSpec};
use landmark_yaml::{Entry, Keys, Node, Problem, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

mod saved;
mod stream;

use stream::Stream;

pub const ENTRY: StudyEntry = StudyEntry {
    entry: Entry {
        id: "text_sketch",
        summary: "a sketch of a text file of yours, one text a line: its directions, its bound, and the projection",
        keys: Keys::of::<FileKey>().and::<Settings>().under("text_sketch"),
        source: "matrix-sketching paper, section 3",
    },
    read,
};

/// The saved sketch, next to the results.
const SAVED: &str = "stream.sketch";
/// Π, next to the results.
const PROJECTION: &str = "projection.npy";

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    /// columns 2^bits, longest n-gram
    hash: NgramHashParams,
    /// l, rows of the sketch
    sketch_rows: usize,
    /// `buffered` or `figure_1`
    form: Form,
    /// m, directions that are written to `projection.npy`
    dimension: usize,
    /// empty lines: `skip` (counted) or `error`
    empty: BadLine,
    /// lines that are not UTF-8: `skip` (counted) or `error`
    invalid_utf8: BadLine,
    /// texts between two saved sketches
    save_every: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            hash: NgramHashParams::default(),
            sketch_rows: 200,
            form: Form::default(),
            dimension: 100,
            empty: BadLine::default(),
            invalid_utf8: BadLine::default(),
            save_every: 100_000,
        }
    }
}

impl Settings {
    fn sketch(&self) -> FrequentDirectionsParams {
        FrequentDirectionsParams { rows: self.sketch_rows, form: self.form, buffer: None }
    }

    fn policy(&self) -> LinePolicy {
        LinePolicy { empty: self.empty, invalid_utf8: self.invalid_utf8 }
    }
}

/// The key of the file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileKey {
    /// the file, plain or gzip; relative to this one
    #[schemars(example = &"texts.txt")]
    file: ConfigPath,
}

#[derive(Debug, Clone)]
struct TextSketch {
    settings: Settings,
    file: ConfigPath,
}

fn read(node: &Node, reading: &Reading<'_>) -> Option<Arc<dyn Study>> {
    let problems = reading.problems;
    let section = Section::new(node, ENTRY.entry.id, problems)?;
    let file: Option<FileKey> = section.part();
    let settings: Settings = section.whole()?;
    match settings.hash.check() {
        Err(error) => section.refuse("hash", format!("`text_sketch.hash`: {error}")),
        Ok(hash) if settings.sketch_rows > hash.columns() => {
            let (rows, columns) = (settings.sketch_rows, hash.columns());
            let message =
                format!("`text_sketch.sketch_rows` is {rows}, but must be at most the {columns} columns of the hash");
            section.refuse("sketch_rows", message);
        }
        Ok(hash) => {
            if let Err(error) = settings.sketch().check_sizes(hash.columns()) {
                section.refuse("sketch_rows", format!("`text_sketch.sketch_rows`: {error}"));
            }
        }
    }
    if settings.dimension == 0 || settings.dimension > settings.sketch_rows {
        let Settings { dimension, sketch_rows, .. } = settings;
        let message = format!(
            "`text_sketch.dimension` is {dimension}, but must be between 1 and the {sketch_rows} rows of the sketch"
        );
        section.refuse("dimension", message);
    }
    if settings.save_every == 0 {
        section.refuse("save_every", "`text_sketch.save_every` is 0, but must be at least 1");
    }
    let FileKey { file } = file?;
    if !file.resolved.is_file() {
        let message = format!("`text_sketch.file` is `{}`, which does not exist", file.resolved.display());
        problems.add(
            Problem::new(message)
                .at(section.place())
                .help("a path in a configuration starts at the folder of that file"),
        );
    }
    Some(Arc::new(TextSketch { settings, file }))
}

impl TextSketch {
    /// Name of the file.
    fn name(&self) -> String {
        self.file.resolved.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }
}

impl Study for TextSketch {
    fn id(&self) -> &'static str {
        ENTRY.entry.id
    }

    fn settings(&self) -> Json {
        let mut settings = json!(self.settings);
        settings["file"] = json!(self.file);
        settings
    }

    fn open(&self, context: &StudyContext<'_>) -> Result<Box<dyn StudyWork>, StudyError> {
        let stream = Stream::new(&self.settings, self.file.resolved.clone(), context)?;
        let name = self.name();
        let Settings { sketch_rows, hash, .. } = &self.settings;
        let (bytes, bits) = (stream.bytes, hash.bits);
        Ok(Box::new(Sketching {
            description: format!("{bytes} bytes of `{name}`, sketched to {sketch_rows} rows of 2^{bits} columns"),
            notes: vec![format!(
                "`{SAVED}` holds the sketch and its place in the file: a run that was stopped, or a file that has grown, resumes there. `{PROJECTION}` holds Π ({} × m), \
                 a text's vector is its hashed row times Π.",
                stream.hash.columns()
            )],
            facts: json!({ "bytes": bytes }),
            stream,
            name,
            run: context.run.clone(),
        }))
    }

    fn share(&self, context: &StudyContext<'_>, share: Share) -> Result<Option<String>, StudyError> {
        Stream::new(&self.settings, self.file.resolved.clone(), context)?.sketch_share(share).map(Some)
    }

    fn layout(&self, _: &RunSettings, _: &Facts, rows: &[ResultRow]) -> Layout {
        let names = [
            ("texts", "texts"),
            ("pieces", "pieces sketched apart and merged"),
            ("empty", "empty lines, skipped"),
            ("invalid_utf8", "lines that are not UTF-8, skipped"),
            ("shrinks", "shrinks"),
            ("directions", "directions of Π"),
            ("bound", "Σδ, by which any direction may be short"),
            ("relative bound", "the same as a share of ‖X‖²_F (%)"),
            ("time", "seconds of the last run"),
        ];
        let line = |(id, name): &(&str, &str)| {
            let row = rows.iter().find(|row| row.subject.id == *id)?;
            Some(vec![(*name).to_owned(), row.metric.show(row.value)])
        };
        let lines = names.iter().filter_map(line).collect();
        let table = TableSpec::new(
            "table-stream",
            format!("The stream `{}`", self.name()),
            "Counts are those of the whole file, whichever run read them.",
            TableKind::plain(&["of the stream", "value"], [1], lines),
        );
        let figure = FigureSpec::new(
            "figure-directions",
            "Directions of the sketch",
            "The squared singular values of the sketch as shares of ‖X‖²_F, largest first: how much of the counts each direction of Π holds.",
            Selection { methods: vec!["direction".to_owned()], ..Selection::of(Metric::DirectionShare) },
            FigureKind::Spectrum { first: 1, last: self.settings.dimension as u64 },
        );
        Layout { tables: vec![table], figures: vec![figure], ..Layout::default() }
    }
}

struct Sketching {
    stream: Stream,
    name: String,
    run: RunSettings,
    description: String,
    notes: Vec<String>,
    facts: Json,
}

impl StudyWork for Sketching {
    fn about(&self) -> About<'_> {
        About { description: &self.description, stamps: &[], notes: &self.notes, facts: &self.facts }
    }

    fn parts(&self) -> Vec<Part> {
        let mut settings = json!(self.stream.settings);
        if let Json::Object(map) = &mut settings {
            map.shift_remove("save_every");
        }
        let key = json!({ "settings": settings, "bytes": self.stream.bytes, "fingerprint": self.stream.fingerprint });
        vec![Part { title: self.name.clone(), group: self.name.clone(), key }]
    }

    fn measure(&self, _: usize, _: &Finished<'_>, progress: &Progress) -> Result<Vec<ResultRow>, StudyError> {
        let (saved, seconds) = self.stream.read(progress)?;
        // reading of the file continues from the sketch as it is; what is reported is that of a finished one
        let mut finished = saved.sketch.clone();
        finished.finish()?;
        let projection = finished.projection(self.stream.settings.dimension)?;
        write_projection(&self.stream.folder, &projection)?;
        let (bound, place) = (finished.bound(), saved.place);
        let of = |id: &str, metric, value| {
            let subject = Subject { items: place.texts(), ..Subject::new(&self.name, id) };
            row(&self.run, subject, metric, value).seconds(seconds)
        };
        let mut rows = vec![
            of("texts", Metric::Count, place.texts() as f64),
            of("pieces", Metric::Count, saved.pieces as f64),
            of("empty", Metric::Count, place.empty as f64),
            of("invalid_utf8", Metric::Count, place.invalid_utf8 as f64),
            of("shrinks", Metric::Count, bound.shrinks as f64),
            of("directions", Metric::Count, projection.dimension() as f64),
            of("bound", Metric::SketchBound, bound.subtracted),
            of("relative bound", Metric::DirectionShare, bound.relative()),
            of("time", Metric::Seconds, seconds),
        ];
        let shares = projection.squares().iter().map(|square| square / bound.squared_norm.max(f64::MIN_POSITIVE));
        let direction =
            |(position, share): (u64, f64)| of("direction", Metric::DirectionShare, share).at("position", position);
        rows.extend((1..).zip(shares).map(direction));
        Ok(rows)
    }
}

fn write_projection(folder: &Path, projection: &Projection) -> Result<(), StudyError> {
    let path = folder.join(PROJECTION);
    let written = landmark_data::npy::write(&path, &projection.directions());
    Ok(written.map_err(|error| format!("cannot write `{}`: {error}", path.display()))?)
}
