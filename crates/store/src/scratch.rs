//! Columns that do not fit the memory granted: mapped temporary files without a name.
//!
//! A file is written in full when it is made, so that a full disk is an error there and not a fault of a later access. Its pages belong to the page
//! cache: they run at memory speed while there is memory to spare, and never count as the process's own. A dead process leaves nothing behind.
//! The files lie in the system's folder for temporary files (`TMPDIR`).

use std::io::{self, Write as _};

use memmap2::MmapMut;

const WRITTEN_AT_A_TIME: usize = 1 << 16;

pub(super) struct Slab(MmapMut);

impl Slab {
    /// `count` numbers, all NaN.
    pub(super) fn new(count: usize) -> io::Result<Self> {
        let mut file = tempfile::tempfile()?;
        let some = [f64::NAN; WRITTEN_AT_A_TIME];
        let mut left = count;
        while left > 0 {
            let now = left.min(WRITTEN_AT_A_TIME);
            file.write_all(bytemuck::cast_slice(&some[..now]))?;
            left -= now;
        }
        // SAFETY: the file has no name and no other handle, so nothing changes or truncates it.
        unsafe { MmapMut::map_mut(&file) }.map(Self)
    }

    /// The same numbers in a file of its own, for a forked child: two processes that write to one file would write over each other's.
    pub(super) fn copied(&self) -> io::Result<Self> {
        let mut copy = Self::new(self.values().len())?;
        copy.values_mut().copy_from_slice(self.values());
        Ok(copy)
    }

    pub(super) fn values(&self) -> &[f64] {
        bytemuck::cast_slice(&self.0)
    }

    pub(super) fn values_mut(&mut self) -> &mut [f64] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}
