//! A headless browser, for tests that look at a page as a reader does.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as the tests do")]

/// A browser without a window; a test that needs one reports it where there is none.
pub(crate) struct Browser {
    program: &'static str,
    folder: tempfile::TempDir,
}

impl Browser {
    pub(crate) fn find() -> Option<Self> {
        let is_program = |name: &&str| {
            std::process::Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
        };
        let program = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(is_program);
        if program.is_none() {
            eprintln!("skipped: no chromium on this machine");
        }
        program.map(|program| Self { program, folder: tempfile::tempdir().unwrap() })
    }

    /// The text it prints of a page.
    pub(crate) fn open(&self, page: &str, arguments: &[&str]) -> String {
        let path = self.folder.path().join("report.html");
        std::fs::write(&path, page).unwrap();
        let answer = std::process::Command::new(self.program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-sync", "--disable-background-networking", "--disable-component-update"])
            .args(["--hide-scrollbars"])
            .args(arguments)
            .arg(format!("--user-data-dir={}", self.folder.path().join("profile").display()))
            .arg(format!("file://{}", path.display()))
            .output()
            .unwrap();
        String::from_utf8_lossy(&answer.stdout).into_owned()
    }

    /// The picture a reader sees of it.
    pub(crate) fn photograph(&self, page: &str, size: (u32, u32), is_dark: bool) -> Picture {
        let path = self.folder.path().join("seen.png");
        let (shot, window) =
            (format!("--screenshot={}", path.display()), format!("--window-size={},{}", size.0, size.1));
        let scheme = format!("--blink-settings=preferredColorScheme={}", u8::from(!is_dark));
        self.open(page, &[&shot, &window, &scheme]);
        let mut reader = png::Decoder::new(std::fs::File::open(&path).unwrap()).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size()];
        let frame = reader.next_frame(&mut bytes).unwrap();
        let pixels = bytes.chunks_exact(frame.color_type.samples()).map(|pixel| [pixel[0], pixel[1], pixel[2]]);
        Picture { size: (frame.width, frame.height), pixels: pixels.collect() }
    }
}

pub(crate) struct Picture {
    pub(crate) size: (u32, u32),
    /// Red, green and blue, row by row.
    pub(crate) pixels: Vec<[u8; 3]>,
}
