//! `table*.tex`: one booktabs table a file, to be `\input` after `\usepackage{booktabs,graphicx}`. A table wider than the
//! line is shrunk to it.

use std::fmt::Write as _;

use crate::input::ReportInput;
use crate::spec::Caveat;
use crate::table::{Block, Cell, Mark, Table};

pub(super) fn table(table: &Table, input: &ReportInput<'_>) -> String {
    let mut out = String::from("% needs \\usepackage{booktabs,graphicx}\n");
    let _ = writeln!(out, "% made by: {}", input.command.replace('\n', " "));
    for caveat in &input.caveats {
        let _ = writeln!(out, "% {}", caveat.words().replace('\n', " "));
    }
    out.push_str("\\begin{table}\n\\centering\\small\n");
    let caveats: Vec<String> = input.caveats.iter().map(Caveat::words).collect();
    let warning =
        if caveats.is_empty() { String::new() } else { format!(" \\emph{{{}.}}", escape(&caveats.join("; "))) };
    let caption = format!("{}. {}", escape(table.title.trim_end_matches('.')), escape(&table.caption));
    let _ = writeln!(out, "\\caption{{{}{warning}}}", caption.trim_end());
    let _ = writeln!(out, "\\label{{tab:{}-{}}}", input.config_name, table.id);
    for (index, block) in table.blocks.iter().enumerate() {
        if index > 0 {
            out.push_str("\n\\medskip\n\n");
        }
        write_block(&mut out, block);
    }
    if !table.footnotes.is_empty() {
        out.push_str("\n\\smallskip\n{\\footnotesize\\raggedright\n");
        for (index, note) in table.footnotes.iter().enumerate() {
            let _ = writeln!(out, "$^{{{}}}$~{}\\par", index + 1, escape(note));
        }
        out.push_str("}\n");
    }
    out.push_str("\\end{table}\n");
    out
}

fn write_block(out: &mut String, block: &Block) {
    if !block.heading.is_empty() {
        let _ = writeln!(out, "\\textit{{{}}}\\\\[2pt]", escape(&block.heading));
    }
    let columns: String = block.head.iter().map(|head| if head.figures { 'r' } else { 'l' }).collect();
    let _ = writeln!(out, "\\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{%");
    let _ = writeln!(out, "\\begin{{tabular}}{{{columns}}}\n\\toprule");
    let heads: Vec<String> = block.head.iter().map(|head| escape(&head.text)).collect();
    let _ = writeln!(out, "{} \\\\\n\\midrule", heads.join(" & "));
    for line in &block.lines {
        let cells: Vec<String> = line.iter().map(cell).collect();
        let _ = writeln!(out, "{} \\\\", cells.join(" & "));
    }
    out.push_str("\\bottomrule\n\\end{tabular}}\n");
    if let Some(words) = block.folded_words() {
        let _ = writeln!(out, "\\\\{{\\footnotesize {words}}}");
    }
}

fn cell(cell: &Cell) -> String {
    let text = escape(&cell.text);
    let text = if cell.mark == Mark::Best { format!("\\textbf{{{text}}}") } else { text };
    let notes: Vec<String> = cell.notes.iter().map(usize::to_string).collect();
    if notes.is_empty() { text } else { format!("{text}$^{{{}}}$", notes.join(",")) }
}

/// Text that any LaTeX engine sets as it reads here.
fn escape(text: &str) -> String {
    // a Frobenius norm and an approximation are formulas: they go in before their signs are taken one by one
    let text = text.replace("‖_F", "\u{e000}");
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if characters.next_if_eq(&'\u{303}').is_some() {
            let _ = write!(out, "$\\tilde{{{character}}}$");
            continue;
        }
        match character {
            '\u{e000}' => out.push_str("$\\|_F$"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', character]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("$<$"),
            '>' => out.push_str("$>$"),
            '±' => out.push_str("$\\pm$"),
            '−' => out.push_str("$-$"),
            '×' => out.push_str("$\\times$"),
            '≤' => out.push_str("$\\le$"),
            '≥' => out.push_str("$\\ge$"),
            '·' => out.push_str("$\\cdot$"),
            '‖' => out.push_str("$\\|$"),
            '²' => out.push_str("$^2$"),
            '³' => out.push_str("$^3$"),
            'α' => out.push_str("$\\alpha$"),
            'γ' => out.push_str("$\\gamma$"),
            'Δ' => out.push_str("$\\Delta$"),
            'λ' => out.push_str("$\\lambda$"),
            'ρ' => out.push_str("$\\rho$"),
            '–' => out.push_str("--"),
            '…' => out.push_str("\\ldots{}"),
            '\u{a0}' => out.push('~'),
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_latex_gives_a_meaning_is_escaped() {
        assert_eq!(escape("50 % of K_s & {x}"), "50 \\% of K\\_s \\& \\{x\\}");
        assert_eq!(escape("−1.5 ± 0.1"), "$-$1.5 $\\pm$ 0.1");
        assert_eq!(escape("a\\b~c^d#$"), "a\\textbackslash{}b\\textasciitilde{}c\\textasciicircum{}d\\#\\$");
        assert_eq!(escape("Nyström γ"), "Nyström $\\gamma$");
        assert_eq!(escape("‖K − K̃‖_F"), "$\\|$K $-$ $\\tilde{K}$$\\|_F$");
    }
}
