//! `landmark export`: the vectors of the items in a form that other programs read.

use crate::own_data::export::{Export, Exported, Form};
use landmark_harness::invocation::Invocation;
use miette::{IntoDiagnostic, Result};

use crate::own::Own;

/// The folder of what was exported, in that of the results.
const EXPORTED: &str = "export";

/// Writes the vectors in one form into a folder: what lies there now.
pub fn export(invocation: &Invocation, form: Form) -> Result<String> {
    let own = Own::open(invocation)?;
    let folder = invocation.out.clone().unwrap_or_else(|| own.folder.join(EXPORTED));
    let ids = own.ids();
    let texts = own.items.as_ref().map(|items| items.texts.as_slice());
    let Exported { text, files, facts } =
        Export { factors: &own.factors, ids: &ids, texts }.write(form, &folder).into_diagnostic()?;
    files.iter().for_each(|file| own.options.record.file(file));
    own.options.record.fact("vectors", facts);
    Ok(text + "\n")
}
