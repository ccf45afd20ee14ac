//! Chapters of the page that show the drawn items: spectrum, histogram, most similar pairs, outliers, hubs.

use landmark_core::rank::RankCmp;
use landmark_report::amounts::count;
use landmark_report::{Chapter, Listed, Mark, Near, Notation, Plot, PlotAxis};

use super::answers::Drawn;
use super::survey::Bin;
use super::{LINES, share};

pub(super) fn spectrum(eigenvalues: &[f64], n: usize, drawn: usize) -> Option<Chapter> {
    // eigenvalues of a uniform sample grow with its size
    let values: Vec<f64> = eigenvalues.iter().map(|value| value * (n as f64 / drawn.max(1) as f64)).collect();
    let squares = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>();
    if squares(&values) == 0.0 {
        return None;
    }
    let most = values.iter().copied().fold(0.0, |most: f64, value| most.max(value.abs()));
    let dots = |name: &str, ink: usize, sign: f64| {
        let of_sign = values.iter().enumerate().filter(|(_, value)| sign * **value > ROUNDING * most);
        let points: Vec<_> = of_sign.map(|(place, value)| ((place + 1) as f64, value.abs())).collect();
        Mark::Dots { name: name.to_owned(), ink, points, is_hollow: false }
    };
    let negative: Vec<f64> = values.iter().copied().filter(|&value| value < -ROUNDING * most).collect();
    let scaled = if n > drawn {
        format!(" They are those of the drawn items, times {:.1}.", n as f64 / drawn as f64)
    } else {
        String::new()
    };
    let words = match negative.len() {
        0 => "None is negative: the approximation is positive semidefinite".to_owned(),
        some => format!(
            "{} negative, with {:.1} % of the sum of squares: no set of plain vectors has all of the approximation",
            if some == 1 { "One is".to_owned() } else { format!("{some} are") },
            100.0 * squares(&negative) / squares(&values)
        ),
    };
    let caption = format!("Eigenvalues of the approximation, the largest first. {words}.{scaled}");
    Some(Chapter {
        plots: vec![Plot {
            title: "Size of the eigenvalues of the factors, the largest first".to_owned(),
            x: PlotAxis::linear("place by size", Notation::Whole),
            y: PlotAxis::linear("size of the eigenvalue", Notation::Fixed(2)).logarithmic(),
            marks: drawn_marks(vec![dots("positive", 0, 1.0), dots("negative", 1, -1.0)]),
        }],
        ..Chapter::new("spectrum", "Spectrum of the factors", caption)
    })
}

/// Share of the largest eigenvalue below which others are rounding.
const ROUNDING: f64 = 1e-9;

/// Those with something to draw.
fn drawn_marks(marks: Vec<Mark>) -> Vec<Mark> {
    let is_empty = |mark: &Mark| match mark {
        Mark::Bars { bars, .. } => bars.is_empty(),
        Mark::Curve { points, .. } => points.is_empty(),
        Mark::Dashed { points, .. } | Mark::Dots { points, .. } => points.is_empty(),
    };
    marks.into_iter().filter(|mark| !is_empty(mark)).collect()
}

/// Lower end of the counts of a histogram: below 1, so that a bar of one pair is seen.
const LEAST_BAR: f64 = 0.7;

pub(super) fn histogram(bins: &[Bin], is_given: bool) -> Chapter {
    let bars = |of: fn(&Bin) -> u64| -> Vec<[f64; 3]> {
        bins.iter().filter(|bin| of(bin) > 0).map(|bin| [bin.from, bin.to, of(bin) as f64]).collect()
    };
    let (exact, all): (u64, u64) =
        bins.iter().fold((0, 0), |(a, b), bin| (a + bin.exact, b + bin.exact + bin.estimated));
    let whole = Mark::Bars {
        name: "estimated".to_owned(),
        ink: 5,
        bars: if exact < all { bars(|bin| bin.exact + bin.estimated) } else { Vec::new() },
    };
    let caption = match is_given {
        true => format!(
            "Similarities of all {} pairs of drawn items, read off the matrix. Counts are on a logarithmic scale.",
            count(all)
        ),
        false => format!(
            "Similarities of all {} pairs of drawn items. {} of them were evaluated ({}); the factors estimate the others, which stand on top. Counts \
                 are on a logarithmic scale.",
            count(all),
            count(exact),
            share(exact, all)
        ),
    };
    Chapter {
        plots: vec![Plot {
            title: "Histogram of similarities".to_owned(),
            x: PlotAxis::linear("similarity", Notation::Fixed(2)),
            // a single pair has a bar that is seen, next to millions
            y: PlotAxis::linear("pairs", Notation::Whole).logarithmic().holding(&[LEAST_BAR]),
            marks: drawn_marks(vec![
                whole,
                Mark::Bars { name: "evaluated".to_owned(), ink: 0, bars: bars(|bin| bin.exact) },
            ]),
        }],
        ..Chapter::new("similarities", "Similarities of all pairs", caption)
    }
}

pub(super) fn pairs(pairs: &[(usize, usize, f64, bool)], drawn: &Drawn<'_>, is_given: bool) -> Option<Chapter> {
    let line = |&(first, second, score, is_exact): &(usize, usize, f64, bool)| {
        vec![Listed::Score { value: score, is_exact }, drawn.listed(first), drawn.listed(second)]
    };
    let lines: Vec<_> = pairs.iter().map(line).collect();
    let caption = match is_given {
        true => "Read off the matrix; `landmark mine` lists more of them.",
        false => "By the factors and the stored scores; `landmark mine` searches all items and scores what it finds.",
    };
    let chapter = Chapter::new("pairs", "Most similar pairs on the map", caption);
    (!lines.is_empty()).then(|| chapter.listing("", &["similarity", "first", "second"], lines))
}

pub(super) fn alone(near: &[Vec<Near>], drawn: &Drawn<'_>) -> Option<Chapter> {
    let mut nearest: Vec<(usize, Near)> =
        near.iter().enumerate().filter_map(|(item, list)| Some((item, *list.first()?))).collect();
    nearest.sort_by(|one, other| one.1.score.rank_cmp(&other.1.score).then(one.0.cmp(&other.0)));
    let line = |(item, near): &(usize, Near)| {
        vec![
            Listed::Score { value: near.score, is_exact: near.is_exact },
            drawn.listed(*item),
            drawn.listed(near.place),
        ]
    };
    let lines: Vec<_> = nearest.iter().take(LINES / 2).map(line).collect();
    let caption = "Items whose nearest neighbor is least similar: outliers, other languages, broken texts.";
    let head = ["similarity to the nearest", "item", "its nearest neighbor"];
    (!lines.is_empty()).then(|| Chapter::new("alone", "Outliers", caption).listing("", &head, lines))
}

pub(super) fn hubs(near: &[Vec<Near>], drawn: &Drawn<'_>) -> Option<Chapter> {
    let mut met = vec![0_u64; near.len()];
    near.iter().flatten().for_each(|near| met[near.place] += 1);
    let width = near.iter().map(Vec::len).max().filter(|&width| width > 0)?;
    let mut order: Vec<usize> = (0..met.len()).collect();
    order.sort_by_key(|&item| (std::cmp::Reverse(met[item]), item));
    let line = |&item: &usize| vec![Listed::Number(count(met[item]), met[item] as f64), drawn.listed(item)];
    let never = met.iter().filter(|&&times| times == 0).count() as u64;
    let caption = format!(
        "Items that are in the most lists of {width} nearest neighbors. The mean is {width} lists per item, and {} items are in none. A hub \
         without content (boilerplate, a very short text) spoils lists of neighbors.",
        count(never)
    );
    let lines = order.iter().take(LINES / 2).filter(|&&item| met[item] > 0).map(line).collect();
    Some(Chapter::new("hubs", "Hubs", caption).listing("", &["lists it is in", "item"], lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_of_one_pair_is_seen_next_to_a_bar_of_millions() {
        let bin = |place: usize, estimated| Bin { from: place as f64, to: place as f64 + 1.0, exact: 0, estimated };
        let chapter = histogram(&[bin(0, 4_000_000), bin(1, 0), bin(2, 1)], false);
        let plot = &chapter.plots[0];
        let [Mark::Bars { bars, .. }] = plot.marks.as_slice() else { panic!("{:?}", plot.marks) };
        assert_eq!(bars.len(), 2);
        assert!(plot.y.is_logarithmic);
        let [low, high, one] = [plot.y.holds[0], bars[0][2], bars[1][2]].map(f64::log10);
        assert!((one - low) / (high - low) > 0.02, "a fiftieth of the height at least");
    }
}
