//! Tiles of a stream: runs of bytes of one file, sketched apart; what the workers make of them lies beside the plan until it is merged.

use landmark_report::amounts::bytes;
use miette::{IntoDiagnostic, Result};

use super::{Cut, TileSize, TileWorker, TiledWork, WorkerContext};
use crate::invocation::UsageError;
use crate::job::JobError;
use crate::run::{self, RunError};
use crate::scale::{TilePlan, TileRange};
use crate::study::{self, DonePiece, Shardable, Study, StudyError};

/// Doing a study in pieces.
pub(super) struct StreamWork<'a> {
    worker: &'a WorkerContext,
    study: Box<dyn Shardable>,
}

impl<'a> StreamWork<'a> {
    /// Opens the stream; refuses a study that has no pieces.
    pub(super) fn open(worker: &'a WorkerContext, study: &dyn Study) -> Result<Box<dyn TiledWork + 'a>> {
        let folder = run::results_folder(&worker.config, &worker.options);
        let store = run::store_address(&worker.config, &worker.options);
        let place = study::StudyContext {
            run: &worker.config.run,
            data: worker.options.data.as_deref(),
            folder: &folder,
            store: &store,
        };
        let study = study.shardable(&place).map_err(explained)?.ok_or_else(|| worker.indivisible())?;
        Ok(Box::new(Self { worker, study }))
    }

    fn check(&self, plan: &TilePlan) -> Result<()> {
        self.worker.check(plan, self.study.identity().map_err(explained)?, "the file or the settings of its sketch")
    }

    /// Name of the document in which the workers leave what they make of a tile.
    fn document(plan: &TilePlan, tile: usize) -> String {
        format!("{}.sketch", plan.tile_name(tile))
    }
}

impl TiledWork for StreamWork<'_> {
    fn plan(&self, size: TileSize, there: Option<&TilePlan>) -> Result<Cut> {
        if size.sample.is_some() {
            let help = "leave it out: how fast the file is sketched is measured without a call";
            return Err(UsageError::new(
                "`--sample` calls a similarity function, and a stream has none",
                Some(help.to_owned()),
            )
            .into());
        }
        let subject = self.study.identity().map_err(explained)?;
        // the same file cut by another timing is the plan that is there
        if let Some(there) = there.filter(|there| !size.is_given() && there.subject == subject.to_hex()) {
            let progress = self.worker.progress(there)?;
            let left = there.tiles.iter().zip(progress.done).filter(|(_, is_done)| !is_done);
            return Ok(Cut { plan: there.clone(), left: left.map(|(tile, _)| tile.size).sum() });
        }
        let seconds_each = self.study.seconds_per_byte().map_err(explained)?;
        let pieces = self.study.cut(size.at(seconds_each)).map_err(explained)?;
        let plan = TilePlan::of_stream(subject, &pieces, seconds_each).into_diagnostic()?;
        Ok(Cut { left: plan.size(), plan })
    }

    fn price(&self, _: u64) -> Option<f64> {
        None
    }

    fn begin<'a>(&'a self, plan: &'a TilePlan) -> Result<Box<dyn TileWorker + 'a>> {
        self.check(plan)?;
        Ok(Box::new(Sketcher { labour: self, plan }))
    }

    fn gather(&self, plan: &TilePlan) -> Result<()> {
        self.check(plan)?;
        let (store, name) = (&self.worker.store, &self.worker.config.run.name);
        let mut pieces = (0..plan.tiles.len()).map(|tile| -> Result<DonePiece, StudyError> {
            let (document, mark) = (Self::document(plan, tile), plan.tile_name(tile));
            let place = store.plan_document_address(name, &document);
            let lost = || format!("`{place}` is gone: remove `{mark}.done` beside it, and start a worker");
            let content = store.plan_document(name, &document)?.ok_or_else(lost)?;
            Ok(DonePiece { place: place.into(), content })
        });
        Ok(self.study.gather(&mut pieces).map_err(explained)?)
    }

    fn amount(&self, size: u64) -> String {
        bytes(size)
    }

    fn rate(&self, seconds_each: f64) -> String {
        // above 0, and below what memory does
        format!("{}/s", bytes((1.0 / seconds_each) as u64))
    }

    fn done(&self) -> &'static str {
        "sketched"
    }
}

/// A worker with its file.
struct Sketcher<'a> {
    labour: &'a StreamWork<'a>,
    plan: &'a TilePlan,
}

impl TileWorker for Sketcher<'_> {
    fn work(&self, tile: usize) -> Result<u64> {
        let StreamWork { worker, study } = self.labour;
        let TileRange::Bytes(from, to) = self.plan.tiles[tile].part else { return Err(worker.indivisible()) };
        let sketch = study.work(from..to).map_err(explained)?;
        let document = StreamWork::document(self.plan, tile);
        worker.store.write_plan_document(&worker.config.run.name, &document, sketch).into_diagnostic()?;
        Ok(to - from)
    }
}

/// As a run reports it.
fn explained(error: StudyError) -> RunError {
    RunError::Plan(Box::new(JobError::from(error)))
}
