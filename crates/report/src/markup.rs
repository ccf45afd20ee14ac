//! Markup of SVG and HTML: escaping, and the bundled type (Inter, SIL OFL, `assets/`).

pub(crate) const INTER_REGULAR: &[u8] = include_bytes!("../assets/Inter-Regular.otf");
pub(crate) const INTER_SEMIBOLD: &[u8] = include_bytes!("../assets/Inter-SemiBold.otf");

/// Text between tags or inside a quoted attribute.
pub(crate) fn escape_markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
